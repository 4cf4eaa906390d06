package management

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"

	goamqp "github.com/Azure/go-amqp"
)

func settle(f *fixture, ctx Context, tokens any, status string, more ...amqp.Pair) answer {
	f.Helper()
	fields := amqp.Map{{Key: "lock-tokens", Value: tokens}, {Key: "disposition-status", Value: status}}
	return f.requestTo(ctx, "update-disposition", append(fields, more...))
}

// The messages in these tests were received on a link that has closed.
func TestLOCK9_LOCK15_SettleByTokenFromElsewhere(t *testing.T) {
	tests := []struct {
		status                      string
		active, deferred, deadCount int64
	}{
		{"completed", 0, 0, 0},
		{"abandoned", 1, 0, 0},
		{"defered", 1, 1, 0}, // deferred messages count as active (DEF-11)
		{"deferred", 1, 1, 0},
		{"Suspended", 0, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.status, func(t *testing.T) {
			inBubble(t, func(f *fixture) {
				f.send("a")
				a := settle(f, f.ctx, uuids(f.take(emulator.Main, 1)), tt.status)
				a.want(f, 200, "")
				if a.Value != nil {
					f.Errorf("the reply has the body %v, want none", a.Value)
				}
				counts := f.queue.Counts()
				if counts.Active != tt.active || counts.DeadLetter != tt.deadCount {
					f.Errorf("counts %+v, want %d active and %d dead-lettered", counts, tt.active, tt.deadCount)
				}
				if got := int64(len(f.take(emulator.Main, 1))); got != tt.active-tt.deferred {
					f.Errorf("%d messages to receive, want %d", got, tt.active-tt.deferred)
				}
			})
		})
	}
}

func TestLOCK15_OneBadTokenSettlesNone(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b")
		ds := f.take(emulator.Main, 2)
		settle(f, f.ctx, append(uuids(ds), amqp.UUID{7}), "completed").want(f, 410, "com.microsoft:message-lock-lost")
		if n := f.queue.Counts().Active; n != 2 {
			f.Fatalf("%d messages left, want 2", n)
		}
		settle(f, f.ctx, uuids(ds), "completed").want(f, 200, "")
		if n := f.queue.Counts().Active; n != 0 {
			f.Errorf("%d messages left, want 0", n)
		}
	})
}

func TestLOCK7_SettleWithALostLock(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("twice", "late")
		ds := f.take(emulator.Main, 2)
		settle(f, f.ctx, uuids(ds[:1]), "completed").want(f, 200, "")
		time.Sleep(lockDuration + time.Second)
		for _, status := range []string{"completed", "abandoned", "defered", "suspended"} {
			settle(f, f.ctx, uuids(ds[:1]), status).want(f, 410, "com.microsoft:message-lock-lost")
			settle(f, f.ctx, uuids(ds[1:]), status).want(f, 410, "com.microsoft:message-lock-lost")
			settle(f, f.ctx, []amqp.UUID{{1}}, status).want(f, 410, "com.microsoft:message-lock-lost")
		}
	})
}

func TestLOCK14_PropertiesToModifyAreMerged(t *testing.T) {
	inBubble(t, func(f *fixture) {
		raw := marshal(f, &goamqp.Message{
			ApplicationProperties: map[string]any{"kept": int32(1), "changed": "old"},
			Data:                  [][]byte{{1}},
		})
		f.sendRaw(raw)
		settle(f, f.ctx, uuids(f.take(emulator.Main, 1)), "abandoned", amqp.Pair{
			Key: "properties-to-modify",
			Value: amqp.Map{ // keys as symbol (JS), string and binary (old Python); the last of two wins
				{Key: amqp.Symbol("changed"), Value: "first"}, {Key: "changed", Value: "new"},
				{Key: []byte("added"), Value: int64(2)},
			},
		}).want(f, 200, "")
		var m goamqp.Message
		if err := m.UnmarshalBinary(f.take(emulator.Main, 1)[0].Append(nil)); err != nil {
			f.Fatal(err)
		}
		want := map[string]any{"kept": int32(1), "changed": "new", "added": int64(2)}
		if !reflect.DeepEqual(m.ApplicationProperties, want) {
			f.Errorf("properties %v, want %v", m.ApplicationProperties, want)
		}
	})
}

// TestLOCK14_ValuesOfDotNetAreTakenAsOnALink: TimeSpan, DateTimeOffset and Uri are described values, and allowed as
// properties.
func TestLOCK14_ValuesOfDotNetAreTakenAsOnALink(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		var modified amqp.Map
		for name, v := range map[string]any{"timespan": int64(5), "datetime-offset": int64(6), "uri": "sb://x"} {
			modified = append(modified, amqp.Pair{Key: name,
				Value: amqp.Described{Descriptor: amqp.Symbol("com.microsoft:" + name), Value: v}})
		}
		toModify := amqp.Pair{Key: "properties-to-modify", Value: modified}
		settle(f, f.ctx, uuids(f.take(emulator.Main, 1)), "abandoned", toModify).want(f, 200, "")
		raw := f.take(emulator.Main, 1)[0].Append(nil)
		for _, p := range modified {
			encoded, err := amqp.AppendValue(amqp.AppendString(nil, p.Key.(string)), p.Value)
			if err != nil || !bytes.Contains(raw, encoded) {
				f.Errorf("%s did not arrive (%v)", p.Key, err)
			}
		}
	})
}

func TestDLQ8_ReasonAndDescriptionOnlyWhenGiven(t *testing.T) {
	tests := []struct {
		name string
		more amqp.Map
		want map[string]any
	}{
		{"neither", nil, nil},
		{"null", amqp.Map{{Key: "deadletter-reason", Value: nil}}, nil},
		{"both", amqp.Map{{Key: "deadletter-reason", Value: "r"}, {Key: "deadletter-description", Value: "d"}},
			map[string]any{"DeadLetterReason": "r", "DeadLetterErrorDescription": "d"}},
		{"reason over a property of its name", amqp.Map{{Key: "deadletter-reason", Value: "r"},
			{Key: "properties-to-modify",
				Value: amqp.Map{{Key: "DeadLetterReason", Value: "x"}, {Key: "n", Value: int32(1)}}}},
			map[string]any{"DeadLetterReason": "r", "n": int32(1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(f *fixture) {
				f.send("a")
				settle(f, f.ctx, uuids(f.take(emulator.Main, 1)), "suspended", tt.more...).want(f, 200, "")
				var m goamqp.Message
				if err := m.UnmarshalBinary(f.take(emulator.DeadLetter, 1)[0].Append(nil)); err != nil {
					f.Fatal(err)
				}
				if len(m.ApplicationProperties)+len(tt.want) > 0 &&
					!reflect.DeepEqual(m.ApplicationProperties, tt.want) {
					f.Errorf("properties %v, want %v", m.ApplicationProperties, tt.want)
				}
			})
		})
	}
}

func TestDLQ4_DeadLetterInTheDeadLetterQueueIsRefused(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		settle(f, f.ctx, uuids(f.take(emulator.Main, 1)), "suspended").want(f, 200, "")
		token := uuids(f.take(emulator.DeadLetter, 1))
		settle(f, f.deadLetters(), token, "suspended").want(f, 400, "amqp:not-allowed")
		settle(f, f.deadLetters(), token, "completed").want(f, 410, "com.microsoft:message-lock-lost") // LOCK-24
		if n := len(f.take(emulator.DeadLetter, 1)); n != 1 {
			f.Errorf("%d messages to receive, want the refused one at once", n)
		}
	})
}

func (f *fixture) sendRaw(raw []byte) {
	f.Helper()
	m := f.scan(raw)
	f.await(func(c emulator.Completion) error { return f.queue.Send([]message.Message{m}, c) })
}
