package management

import (
	"minibus/emulator"
	"minibus/internal/amqp"
)

// batchDeleteMessages serves batch-delete-messages: available messages that were enqueued at or before an instant are
// deleted, the oldest first (BDEL-1, DEC-33), in a session those of its receiver's (BDEL-4). The reply says how many;
// none is 204 (BDEL-6).
func batchDeleteMessages(c *call, a args) {
	const countKey = "message-count"
	count, err := a.count(countKey, 1, emulator.MaxBatchDelete)
	if err != nil {
		c.fail(err)
		return
	}
	before, err := a.int64("enqueued-time-utc")
	if err != nil {
		c.fail(err)
		return
	}
	holder, err := c.holder(a)
	if err != nil {
		c.fail(err)
		return
	}
	err = c.Queue.DeleteBatch(c.Sub, count, before, holder, func(n int, err error) {
		switch {
		case err != nil:
			c.fail(err)
		case n == 0:
			c.empty()
		default:
			c.ok(32, func(dst []byte) []byte {
				return appendField(dst, countKey, func(dst []byte) []byte { return amqp.AppendInt(dst, int32(n)) })
			})
		}
	})
	if err != nil {
		c.fail(err)
	}
}
