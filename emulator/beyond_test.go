package emulator_test

import (
	"slices"
	"strings"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// TestBeyondAzure notes, once for each kind and entity, what relaxed takes and the service refuses.
func TestBeyondAzure(t *testing.T) {
	bubbleWith(t, emulator.Options{}, emulator.QueueOptions{}, func(b *broker) {
		kinds := func() (list []string) {
			for _, f := range b.q.Why(emulator.Question{}).Findings {
				if f.Code == emulator.FindBeyondAzure {
					list = append(list, f.Text)
				}
			}
			return list
		}
		b.send(goamqp.NewMessage([]byte("usual")))
		equal(t, "notes of a usual message", len(kinds()), 0)
		for range 2 {
			m := goamqp.NewMessage(nil)
			m.ApplicationProperties = map[string]any{"large": strings.Repeat("x", 33<<10)}
			b.send(m)
		}
		m := goamqp.NewMessage(nil)
		m.Properties = &goamqp.MessageProperties{MessageID: strings.Repeat("i", 129)}
		b.send(m)
		if err := b.ns.CheckBatch("other", 4501); err != nil {
			t.Errorf("a large batch: %v", err)
		}
		notes := kinds()
		equal(t, "notes", len(notes), 2) // the batch was to another entity
		for _, want := range []string{"refused 2 operations", "'large'", "QUO-8", "refused 1 operation", "MessageId", "QUO-9"} {
			if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, want) }) {
				t.Errorf("no note has %q: %q", want, notes)
			}
		}
	})
	bubbleWith(t, emulator.Options{Limits: emulator.ProfileStandard}, emulator.QueueOptions{}, func(b *broker) {
		m := goamqp.NewMessage(nil)
		m.ApplicationProperties = map[string]any{"large": strings.Repeat("x", 33<<10)}
		wantCode(t, "send", b.trySend(m), emulator.CodeQuotaExceeded)
		if d := b.q.Why(emulator.Question{}); d.Has(emulator.FindBeyondAzure) {
			t.Error("what is refused here is noted as what only Azure would refuse")
		}
	})
}
