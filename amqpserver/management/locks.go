package management

import "minibus/internal/amqp"

// renewLock serves renew-lock: every lock gets a whole lock duration from now, or none does (LOCK-4 to LOCK-6).
func renewLock(c *call, a args) {
	tokens, err := a.tokens("lock-tokens")
	if err != nil {
		c.fail(err)
		return
	}
	untils, err := c.Queue.Renew(tokens)
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
