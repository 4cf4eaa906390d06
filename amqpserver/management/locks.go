package management

import (
	"minibus/emulator"
	"minibus/internal/amqp"
)

// renewLock serves renew-lock: every lock gets a whole lock duration from now, or none does (LOCK-4 to LOCK-6). For
// messages of a session nothing changes, and the reply has the end of the session's lock (SESS-21). A rollback does not
// undo a renewal in a transaction, and after the end of the transaction a renewal fails.
func renewLock(c *call, a args) {
	tokens, err := a.tokens("lock-tokens")
	if err != nil {
		c.fail(err)
		return
	}
	c.Fault.TakeLocks(c.Queue, tokens)
	renew := c.Queue.Renew
	if c.Tx != nil {
		renew = func(tokens []emulator.LockToken) ([]int64, error) { return c.Tx.Renew(c.Queue, tokens) }
	}
	untils, err := renew(tokens)
	if err != nil {
		c.fail(err)
		return
	}
	expirations := make([]amqp.Timestamp, len(untils))
	for i, ms := range untils {
		expirations[i] = amqp.Timestamp(ms)
	}
	c.ok(32+8*len(untils), func(dst []byte) []byte {
		return appendField(dst, "expirations", func(dst []byte) []byte {
			return amqp.AppendTimestampArray(dst, expirations)
		})
	})
}
