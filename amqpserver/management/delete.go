package management

import (
	"minibus/emulator"
	"minibus/internal/amqp"
)

// batchDeleteMessages serves batch-delete-messages. It deletes available messages that were enqueued at or before an
// instant, the oldest first (BDEL-1, DEC-33); with sessions only those of the receiver's session (BDEL-4). The reply
// has the count, or is 204 if there was nothing to delete (BDEL-6).
func batchDeleteMessages(c *call, a args) error {
	const countKey = "message-count"
	count, err := a.count(countKey, 1, emulator.MaxBatchDelete)
	if err != nil {
		return err
	}
	before, err := a.int64("enqueued-time-utc")
	if err != nil {
		return err
	}
	holder, err := c.holder(a)
	if err != nil {
		return err
	}
	return c.Queue.DeleteBatch(c.Sub, count, before, holder, c.Client, func(n int, err error) {
		switch {
		case err != nil:
			c.fail(err)
		case n == 0:
			c.empty()
		default:
			c.okField(32, countKey, func(dst []byte) []byte { return amqp.AppendInt(dst, int32(n)) })
		}
	})
}
