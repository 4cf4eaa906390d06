package management

import (
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/internal/amqp"
)

func peek(f *fixture, from, count any, more ...amqp.Pair) answer {
	f.Helper()
	fields := amqp.Map{{Key: "from-sequence-number", Value: from}, {Key: "message-count", Value: count}}
	return f.request("peek-message", append(fields, more...))
}

// numbers returns the sequence numbers of the messages in a reply.
func numbers(f *fixture, a answer) (out []int64) {
	f.Helper()
	msgs, _ := messages(f, a)
	for _, m := range msgs {
		n, ok := m.Annotations["x-opt-sequence-number"].(int64)
		if !ok {
			f.Fatalf("x-opt-sequence-number is %T, want a long", m.Annotations["x-opt-sequence-number"])
		}
		out = append(out, n)
	}
	return out
}

func TestPEEK5_PastTheEndIs204(t *testing.T) {
	inBubble(t, func(f *fixture) {
		check := func(from int64) {
			a := peek(f, from, int32(10))
			a.want(f, 204, "")
			if a.Value != nil || a.text != "" {
				f.Errorf("answer %v %q, want neither body nor text", a.Value, a.text)
			}
		}
		check(0)
		f.send("a", "b")
		check(3)
		for range 2 { // the broker keeps no cursor
			if got := numbers(f, peek(f, int64(2), int32(10))); len(got) != 1 || got[0] != 2 {
				f.Errorf("peek from 2 gave %v", got)
			}
		}
	})
}

// The SDKs write the two numbers as long and int; other clients may use any integer type.
func TestPeekTakesEveryIntegerType(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b", "c")
		for _, v := range []any{int8(2), int16(2), int32(2), int64(2), uint8(2), uint16(2), uint32(2), uint64(2)} {
			if got := numbers(f, peek(f, v, v)); len(got) != 2 || got[0] != 2 {
				f.Errorf("peek of 2 from 2 as %T gave %v", v, got)
			}
		}
	})
}

func TestPEEK6_AtMost250AndNoMoreThanTheReplyHolds(t *testing.T) {
	inBubble(t, func(f *fixture) {
		bodies := make([]string, 300)
		for i := range bodies {
			bodies[i] = strings.Repeat("x", 100)
		}
		f.send(bodies...)
		if got := numbers(f, peek(f, int64(0), int32(2_000_000_000))); len(got) != 250 || got[249] != 250 {
			f.Errorf("%d messages, want 250", len(got))
		}
		if got := numbers(f, peek(f, int64(0), int32(7))); len(got) != 7 {
			f.Errorf("%d messages, want 7", len(got))
		}
		f.ctx.MaxReplyBytes = 1000
		if got := numbers(f, peek(f, int64(0), int32(100))); len(got) == 0 || len(got) > 9 {
			f.Errorf("%d messages of over 100 bytes in a reply of 1000", len(got))
		}
		f.ctx.MaxReplyBytes = 1
		if got := numbers(f, peek(f, int64(0), int32(100))); len(got) != 1 {
			f.Errorf("%d messages, want one: an empty reply would mean the end", len(got))
		}
	})
}

func TestPEEK12_CountMustBePositiveAndFromMayBeNegative(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		for _, n := range []int32{0, -1} {
			a := peek(f, int64(0), n)
			a.want(f, 400, "com.microsoft:argument-error")
			if !strings.Contains(a.text, "'message-count'") || !strings.Contains(a.text, "greater than 0") {
				f.Errorf("text %q does not say what is wrong", a.text)
			}
		}
		if got := numbers(f, peek(f, int64(-5), int32(1))); len(got) != 1 {
			f.Errorf("peek from -5 gave %v, want the first message", got)
		}
	})
}

func TestPEEK14_OmitMessageBody(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("12345")
		for _, omit := range []any{true, false, nil} {
			msgs, tokens := messages(f, peek(f, int64(0), int32(1), amqp.Pair{Key: "omit-message-body", Value: omit}))
			size, marked := msgs[0].DeliveryAnnotations["omitted-message-body-size"].(int64)
			if omit == true {
				if len(msgs[0].Data) != 0 || !marked || size <= 0 {
					f.Errorf("omitted: body %v, size %v", msgs[0].Data, msgs[0].DeliveryAnnotations)
				}
			} else if string(msgs[0].GetData()) != "12345" || marked {
				f.Errorf("not omitted: body %v, annotations %v", msgs[0].Data, msgs[0].DeliveryAnnotations)
			}
			if tokens[0] != nil {
				f.Errorf("a peeked message has the lock token %v", tokens[0])
			}
		}
		a := peek(f, int64(0), int32(1), amqp.Pair{Key: "omit-message-body", Value: "yes"})
		a.want(f, 400, "com.microsoft:argument-error")
	})
}

func TestPEEK9_PeekOfTheDeadLetterQueue(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b")
		settle(f, f.ctx, uuids(f.take(emulator.Main, 1)), "suspended").want(f, 200, "")
		f.ctx = f.deadLetters()
		if got := numbers(f, peek(f, int64(0), int32(10))); len(got) != 1 || got[0] != 1 {
			f.Errorf("the dead-letter queue shows %v, want 1", got)
		}
	})
}

func TestPeekIgnoresSessionIDOnAPlainQueue(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		if got := numbers(f, peek(f, int64(0), int32(1), amqp.Pair{Key: "session-id", Value: "s"})); len(got) != 1 {
			f.Errorf("peek gave %v, want one message", got)
		}
	})
}
