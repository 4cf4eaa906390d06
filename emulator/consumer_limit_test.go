package emulator_test

import (
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

func TestConsumer_LimitWithholdsLargerMessages(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		large := strings.Repeat("x", 2000)
		b.sendTexts("a", large, "b")
		r, other := b.receiver(emulator.Main, emulator.PeekLock), b.receiver(emulator.Main, emulator.PeekLock)
		r.c.Limit(1000)
		ds := r.c.Take(nil, 10)
		equal(t, "taken", bodies(b.written(ds)), "a")
		size := r.c.OverLimit()
		if size < len(large) || size > len(large)+100 {
			t.Errorf("a message of %d bytes is withheld", size)
		}
		r.c.Limit(size)
		equal(t, "taken with room for it", bodies(b.written(r.c.Take(nil, 1))), large)
		equal(t, "withheld then", r.c.OverLimit(), 0)
		equal(t, "left for another consumer", bodies(other.take(10)), "b")
	})
}

func TestConsumer_LimitLeavesTheMessageToOthers(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		poked := 0
		other, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { poked++ })
		if err != nil {
			t.Fatalf("attach consumer: %v", err)
		}
		r := b.receiver(emulator.Main, emulator.PeekLock)
		r.c.Limit(1000)
		r.c.Take(nil, 10)
		other.Take(nil, 10)
		large := strings.Repeat("x", 2000)
		b.sendTexts(large) // r comes first
		equal(t, "taken", len(r.c.Take(nil, 10)), 0)
		equal(t, "pokes of the other one", poked, 1)
		equal(t, "taken by the other one", bodies(b.written(other.Take(nil, 10))), large)
	})
}

func TestConsumer_LimitDoesNotKeepExpiredMessages(t *testing.T) {
	clock := &lateClock{}
	bubbleWith(t, emulator.Options{Clock: clock}, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(b *broker) {
		b.send(withTTL(strings.Repeat("x", 2000), time.Second), text("b"))
		clock.late.Store(true)
		wait(time.Minute)
		r := b.receiver(emulator.Main, emulator.PeekLock)
		r.c.Limit(1000)
		equal(t, "received", bodies(r.take(5)), "b")
		equal(t, "withheld", r.c.OverLimit(), 0)
		b.wantCounts(1, 1, 0, 0)
	})
}
