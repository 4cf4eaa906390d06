package emulator_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

// sendBatch sends messages as one transfer, as the front end takes it, and returns a pointer that is nil once the transfer is
// not in memory any more.
func (b *broker) sendBatch(msgs ...*goamqp.Message) weak.Pointer[byte] {
	b.t.Helper()
	var raw []byte
	for _, m := range msgs {
		encoded, err := m.MarshalBinary()
		if err != nil {
			b.t.Fatalf("encode message: %v", err)
		}
		raw = binary.BigEndian.AppendUint32(append(raw, 0, 0x53, 0x75, 0xb0), uint32(len(encoded)))
		raw = append(raw, encoded...)
	}
	raw = bytes.Clone(raw)
	parts, err := message.Batch(raw)
	if err != nil {
		b.t.Fatalf("parse batch: %v", err)
	}
	done := newOutcome()
	if err := b.q.Send(parts, done); err != nil || <-done != nil {
		b.t.Fatalf("send: %v", err)
	}
	return weak.Make(&raw[0])
}

func TestBatch_MessageThatStaysHoldsOnlyItself(t *testing.T) {
	for name, budget := range map[string]int64{"in memory": 0, "on disk": 1} {
		t.Run(name, func(t *testing.T) {
			topicBubbleWith(t, emulator.Options{BodyBudget: budget}, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
				for _, target := range []*broker{b, b.on("q")} {
					transfer := target.sendBatch(
						withTTL(strings.Repeat("x", 100<<10), time.Second), text("stays"), at("later", now().Add(time.Hour)),
						withTTL(strings.Repeat("x", 100<<10), time.Second))
					wait(2 * time.Second)
					b.j.forget()
					runtime.GC()
					if transfer.Value() != nil {
						t.Errorf("%s: the whole batch is in memory", target.q.Path())
					}
					all, _ := b.q.InMemory().Bodies()
					if faults := b.ns.Verify(); len(faults) > 0 || (all > 0) != (budget == 0) {
						t.Errorf("%d bytes in memory, %v", all, faults)
					}
				}
				equal(t, "left in the queue", b.on("q").one().body(), "stays")
				equal(t, "left in a subscription", b.sub("b").one().body(), "stays")
			})
		})
	}
}
