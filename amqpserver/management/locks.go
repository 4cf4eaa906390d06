package management

import (
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
	var untils []int64
	if c.Tx != nil {
		untils, err = c.Tx.Renew(c.Queue, tokens)
	} else {
		untils, err = c.Queue.Renew(tokens, c.Client)
	}
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
