package emulator_test

import (
	"testing"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

const (
	traceParent  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	otherContext = "00-ffffffffffffffffffffffffffffffff-b7ad6b7169203331-00"
)

// TestRecordKeepsTheContextOfTheSender if it is to, of queues and of topics.
func TestRecordKeepsTheContextOfTheSender(t *testing.T) {
	for name, c := range map[string]struct {
		properties map[string]any
		kept       bool
		want       string
	}{
		"off":            {map[string]any{"traceparent": traceParent}, false, ""},
		"traceparent":    {map[string]any{"traceparent": traceParent, "Diagnostic-Id": otherContext}, true, traceParent},
		"Diagnostic-Id":  {map[string]any{"a": int32(1), "Diagnostic-Id": traceParent}, true, traceParent},
		"of old clients": {map[string]any{"Diagnostic-Id": "|a.b.1.2."}, true, ""},
		"no text":        {map[string]any{"traceparent": int32(1)}, true, ""},
		"none":           {nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := recorded()
			if c.kept {
				o.Record.KeepContexts()
			}
			bubbleWith(t, o, emulator.QueueOptions{}, func(b *broker) {
				m := text("a")
				m.Properties, m.ApplicationProperties = properties("first"), c.properties
				b.send(m)
				events, _ := b.ns.History().Events(0, emulator.EventFilter{MessageID: "first"})
				n := 0
				for e := range events {
					if n++; e.TraceParent != c.want || e.MessageID != "first" {
						t.Errorf("the event has the id %q and the context %q, want %q", e.MessageID, e.TraceParent, c.want)
					}
				}
				if n != 1 {
					t.Errorf("%d messages have the id", n)
				}
			})
		})
	}
}

// TestContextsCostNothingWhereTheyAreNotKept: a sender's context makes no difference then.
func TestContextsCostNothingWhereTheyAreNotKept(t *testing.T) {
	allocations := func(kept bool, property string) (n float64) {
		o := recorded()
		if kept {
			o.Record.KeepContexts()
		}
		bubbleWith(t, o, emulator.QueueOptions{}, func(b *broker) {
			m := text("a")
			m.Properties, m.ApplicationProperties = properties("first"), map[string]any{property: traceParent}
			encoded := encode(t, m)
			n = testing.AllocsPerRun(200, func() {
				if err := b.q.Send([]message.Message{encoded}, emulator.CompletionFunc(func(error) {})); err != nil {
					t.Error(err)
				}
			})
		})
		return n
	}
	usual := allocations(false, "another-one")
	if got := allocations(false, "traceparent"); got != usual {
		t.Errorf("a send with a context takes %v allocations, without one %v", got, usual)
	}
	if got := allocations(true, "traceparent"); got != usual+1 {
		t.Errorf("a send whose context is kept takes %v allocations, without one %v", got, usual)
	}
}
