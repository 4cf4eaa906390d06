package management

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
)

func TestFWD4_RequestsToAnEntityThatForwards(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ctx.Queue = f.create("source", emulator.QueueOptions{ForwardTo: "orders"})
		requests := map[string]func() answer{
			"peek-message":               func() answer { return peek(f, int64(0), int32(1)) },
			"schedule-message":           func() answer { return schedule(f, amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}}) },
			"cancel-scheduled-message":   func() answer { return cancel(f, []int64{1}) },
			"receive-by-sequence-number": func() answer { return receive(f, []int64{1}, uint32(1)) },
			"batch-delete-messages":      func() answer { return remove(f, int32(1), time.Now()) },
		}
		const text = "Cannot create a message browser on an entity with auto-forwarding enabled."
		for _, tx := range []*emulator.Transaction{nil, f.ns.Begin(false, "")} {
			f.ctx.Tx = tx
			for name, request := range requests {
				if tx != nil && !operations["com.microsoft:"+name].transactional {
					continue
				}
				if a := request(); a.code != 400 || a.condition != "amqp:not-allowed" || a.text != text {
					f.Errorf("%s: %d %q %q", name, a.code, a.condition, a.text)
				}
			}
		}
		f.ctx = f.deadLetters()
		f.ctx.Tx = nil
		peek(f, int64(0), int32(1)).want(f, 204, "")
		receive(f, []int64{1}, uint32(1)).want(f, 404, "com.microsoft:message-not-found")
		remove(f, int32(1), time.Now()).want(f, 204, "")
	})
}
