package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
)

func TestTIME1_EnqueuedTimeIsTheBrokersClockAtAcceptance(t *testing.T) {
	clock := &steppingClock{back: 100 * 24 * time.Hour}
	bubbleWith(t, emulator.Options{Clock: clock}, emulator.QueueOptions{}, func(b *broker) {
		sent := now().Add(-clock.back)
		b.sendTexts("a")
		wait(time.Minute)
		equal(t, "enqueued time", b.one().enqueued(), sent)
	})
}

func TestTIME2_EnqueuedTimeStaysThroughAbandonExpiryAndDeferral(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		sent := now()
		b.sendTexts("a")
		wait(time.Minute)
		g := b.one()
		equal(t, "delivered late", g.enqueued(), sent)
		b.settle(emulator.Abandon, g)
		g = b.one()
		equal(t, "abandoned", g.enqueued(), sent)
		wait(time.Minute)
		g = b.one()
		equal(t, "after lock expiry", g.enqueued(), sent)
		b.settle(emulator.Defer, g)
		wait(time.Minute)
		equal(t, "deferred", b.fetch(1).enqueued(), sent)
		b.restart()
		equal(t, "after restart", b.peekOne(emulator.Main, 0).enqueued(), sent)
	})
}

func TestTIME3_SCHED12_ActivationTimeIsNeverBeforeTheDueTime(t *testing.T) {
	// Bubbles start at a full second; steps that are no whole milliseconds show where rounding would go wrong.
	for _, step := range []time.Duration{0, 300 * time.Microsecond, 999 * time.Microsecond} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			time.Sleep(step)
			sent := now()
			due := now().Add(5 * time.Second)
			b.send(at("a", due))
			g := b.peekOne(emulator.Main, 0)
			equal(t, "submission time while scheduled", g.enqueued(), sent)
			equal(t, "due time while scheduled", annotation[time.Time](g, "x-opt-scheduled-enqueue-time").UTC(), due)
			wait(time.Until(due) - time.Nanosecond)
			equal(t, "received before it is due", len(b.receive(1)), 0)
			wait(time.Millisecond)
			g = b.one()
			if g.enqueued().Before(due) || g.enqueued().After(due.Add(time.Second)) {
				t.Errorf("activated at %v, due at %v", g.enqueued(), due)
			}
		})
	}
}

func TestTIME4_PROP5_ExpiryIsEnqueuedTimePlusEffectiveTTL(t *testing.T) {
	cases := []struct {
		name         string
		message, def time.Duration
		want         time.Duration
	}{
		{"the message's", 90 * time.Second, 0, 90 * time.Second},
		{"the entity's", 0, time.Hour, time.Hour},
		{"the smaller one", time.Hour, 90 * time.Second, 90 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, emulator.QueueOptions{DefaultMessageTimeToLive: c.def}, func(b *broker) {
				m := withTTL("a", c.message)
				created, expires := now().Add(-time.Hour), now().Add(time.Hour)
				m.Properties = properties("id")
				m.Properties.CreationTime, m.Properties.AbsoluteExpiryTime = &created, &expires
				b.send(m)
				wait(time.Second)
				for _, g := range append(b.peek(), b.one()) {
					equal(t, "ttl in the header", g.Header.TTL, c.want)
					equal(t, "creation time", g.Properties.CreationTime.UTC(), g.enqueued())
					equal(t, "expiry time", g.Properties.AbsoluteExpiryTime.UTC(), g.enqueued().Add(c.want))
				}
			})
		})
	}
}

func TestTIME6_DLQ9_DeadLetterCopyKeepsNumberAndTime(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		sent := now()
		b.sendTexts("a", "b", "c")
		wait(10 * time.Second)
		gs := b.receive(3)
		// In the order of dying, they would come out the other way round.
		for i := range gs {
			b.settle(emulator.DeadLetterOutcome, gs[len(gs)-1-i])
		}
		dead := b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 3)
		equal(t, "order", bodies(dead), "a b c")
		equalSlices(t, "numbers", seqsOf(dead), 1, 2, 3)
		for _, g := range append(dead, b.peekFrom(emulator.DeadLetter, 0, 3)...) {
			equal(t, "enqueued time", g.enqueued(), sent)
		}
	})
}

func TestTIME7_ResolutionIsMilliseconds(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		start := now()
		b.sendTexts("a")
		time.Sleep(999 * time.Microsecond)
		b.sendTexts("b")
		time.Sleep(time.Microsecond)
		b.sendTexts("c")
		gs := b.receive(3)
		equal(t, "a", gs[0].enqueued(), start)
		equal(t, "b, 999 microseconds later", gs[1].enqueued(), start)
		equal(t, "c, a millisecond later", gs[2].enqueued(), start.Add(time.Millisecond))
	})
}
