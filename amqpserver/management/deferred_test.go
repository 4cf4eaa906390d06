package management

import (
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"

	goamqp "github.com/Azure/go-amqp"
)

func receive(f *fixture, numbers, mode any) answer {
	f.Helper()
	return f.request("receive-by-sequence-number", amqp.Map{
		{Key: "sequence-numbers", Value: numbers}, {Key: "receiver-settle-mode", Value: mode},
	})
}

func TestDEF3_PeekLockByNumber(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.deferred(1)
		msgs, tokens := messages(f, receive(f, []int64{1}, uint32(1)))
		m := msgs[0]
		token, ok := tokens[0].(goamqp.UUID)
		if !ok || m.DeliveryAnnotations["x-opt-lock-token"] != token {
			f.Fatalf("lock-token %v beside annotation %v", tokens[0], m.DeliveryAnnotations)
		}
		until, _ := m.Annotations["x-opt-locked-until"].(time.Time)
		if want := time.Now().Add(lockDuration).Truncate(time.Millisecond); !until.Equal(want) {
			f.Errorf("locked until %v, want %v", until, want)
		}
		if m.Annotations["x-opt-message-state"] != int32(1) || m.Header.DeliveryCount != 1 {
			f.Errorf("state %v, delivery count %d; want 1 and 1", m.Annotations["x-opt-message-state"],
				m.Header.DeliveryCount)
		}
		settle(f, f.ctx, []amqp.UUID{amqp.UUID(token)}, "completed").want(f, 200, "")
		receive(f, []int64{1}, uint32(1)).want(f, 404, "com.microsoft:message-not-found")
	})
}

func TestDEF3_RAD3_ReceiveAndDeleteByNumber(t *testing.T) {
	for _, mode := range []any{uint32(0), uint8(0), int64(0), false} {
		inBubble(t, func(f *fixture) {
			f.deferred(1)
			msgs, tokens := messages(f, receive(f, []int64{1}, mode))
			if len(msgs) != 1 || tokens[0] != nil || msgs[0].DeliveryAnnotations["x-opt-lock-token"] != nil {
				f.Errorf("mode %T: %d messages, tokens %v", mode, len(msgs), tokens)
			}
			receive(f, []int64{1}, mode).want(f, 404, "com.microsoft:message-not-found")
		})
	}
}

func TestDEF3_ModesThatMeanPeekLock(t *testing.T) {
	for _, mode := range []any{nil, uint32(1), uint8(1), int64(1), true} {
		inBubble(t, func(f *fixture) {
			f.deferred(1)
			if msgs, tokens := messages(f, receive(f, []int64{1}, mode)); len(msgs) != 1 || tokens[0] == nil {
				f.Errorf("mode %T: %d messages, tokens %v", mode, len(msgs), tokens)
			}
		})
	}
}

func TestDEF4_ResultOrderFollowsTheRequest(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.deferred(4)
		tests := []struct {
			numbers any
			want    []int64
		}{
			{[]int64{3, 1}, []int64{3, 1}},
			{amqp.List{uint64(4), int32(2)}, []int64{4, 2}},
		}
		for _, tt := range tests {
			a := receive(f, tt.numbers, true)
			if got := numbers(f, a); !slices.Equal(got, tt.want) {
				f.Errorf("received %v, want %v", got, tt.want)
			}
		}
		a := receive(f, amqp.List{}, uint32(1))
		a.want(f, 200, "")
		if got := field[[]any](f, a, "messages"); len(got) != 0 {
			f.Errorf("received %v for no numbers", got)
		}
	})
}

func TestDEF5_AllOrNothing(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.deferred(2)
		f.send("active")
		receive(f, []int64{2}, uint32(1)).want(f, 200, "")
		for name, numbers := range map[string][]int64{"locked": {1, 2}, "active": {1, 3}, "unknown": {1, 99}} {
			a := receive(f, numbers, uint32(1))
			if a.code != 404 || a.condition != "com.microsoft:message-not-found" ||
				!strings.HasPrefix(a.text, "Failed to lock one or more specified messages.") {
				f.Errorf("%s: %d %q %q", name, a.code, a.condition, a.text)
			}
		}
		receive(f, []int64{1}, nil).want(f, 200, "") // 1 was never locked; no mode means peek-lock
		receive(f, []int64{1}, nil).want(f, 404, "com.microsoft:message-not-found")
	})
}

func TestDEF12_DeferredInTheDeadLetterQueue(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		settle(f, f.ctx, uuids(f.take(emulator.Main, 1)), "suspended").want(f, 200, "")
		f.ctx = f.deadLetters()
		settle(f, f.ctx, uuids(f.take(emulator.DeadLetter, 1)), "defered").want(f, 200, "")
		if got := numbers(f, receive(f, []int64{1}, uint32(1))); len(got) != 1 {
			f.Errorf("received %v, want 1", got)
		}
	})
}

func TestReceiveByNumberIgnoresSessionIDOnAPlainQueue(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.deferred(1)
		f.request("receive-by-sequence-number", amqp.Map{
			{Key: "sequence-numbers", Value: []int64{1}}, {Key: "receiver-settle-mode", Value: uint8(1)},
			{Key: "session-id", Value: "s"},
		}).want(f, 200, "")
	})
}

func TestReceiveRefusesAnUnknownMode(t *testing.T) {
	inBubble(t, func(f *fixture) {
		for _, mode := range []any{uint32(2), int32(-1), "second"} {
			a := receive(f, []int64{1}, mode)
			a.want(f, 400, "com.microsoft:argument-error")
			if !strings.Contains(a.text, "'receiver-settle-mode'") {
				f.Errorf("text %q does not name the key", a.text)
			}
		}
	})
}

// Messages are received by their numbers once there is memory for their reply, and not locked before.
func TestReceiveDeferred_ReservesMemoryFirst(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.deferred(2)
		reserved := 0
		free := f.ctx
		f.ctx.Reserve = func(bytes int, then func(error)) {
			reserved += bytes
			then(&emulator.Error{Code: emulator.CodeServerBusy, Text: "There is no room."})
		}
		receive(f, []int64{1, 2}, uint32(1)).want(f, 503, "com.microsoft:server-busy")
		if reserved == 0 {
			f.Error("no memory was asked for")
		}
		f.ctx = free
		if msgs, _ := messages(f, receive(f, []int64{1, 2}, uint32(1))); len(msgs) != 2 {
			f.Errorf("%d messages", len(msgs))
		}
	})
}
