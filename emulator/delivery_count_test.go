package emulator_test

import (
	"fmt"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestDC1_PROP4_PROP12_StartsAtZeroWhateverTheSenderSays(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		m := text("a")
		m.Header = &goamqp.MessageHeader{DeliveryCount: 7}
		b.send(m)
		equal(t, "peeked", b.peekOne(emulator.Main, 0).count(), 0)
		g := b.one()
		equal(t, "delivered", g.count(), 0)
		equal(t, "DeliveryCount", g.d.DeliveryCount(), 0)
	})
}

func TestDC2_AbandonAddsOne(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		for want := range uint32(5) {
			g := b.one()
			equal(t, "delivery count", g.count(), want)
			equal(t, "body", g.body(), "a")
			b.settle(emulator.Abandon, g)
		}
		b.restart()
		equal(t, "after a restart", b.one().count(), 5)
		equal(t, "the other message's", b.one().count(), 0)
	})
}

func TestDC4_DeferAddsOne(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seq := b.deferOne(text("a"))
		g := b.fetch(seq)
		equal(t, "deferred once", g.count(), 1)
		b.settle(emulator.Defer, g)
		equal(t, "deferred twice", b.fetch(seq).count(), 2)
	})
}

func TestDC5_AbandonOfADeferredDeliveryKeepsItDeferred(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seq := b.deferOne(text("a"))
		b.settle(emulator.Abandon, b.fetch(seq))
		equal(t, "received the ordinary way", len(b.receive(1)), 0)
		b.wantCounts(1, 0, 0, 1)
		g := b.fetch(seq)
		equal(t, "delivery count", g.count(), 2)
		b.settle(emulator.Release, g)
		equal(t, "after a release", b.fetch(seq).count(), 2)
	})
}

func TestDC6_CompleteDeadLetterAndRenewChangeNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		for range 20 {
			if _, err := b.q.Renew(tokensOf([]*got{g}), nil); err != nil {
				t.Fatalf("renew: %v", err)
			}
		}
		b.settle(emulator.DeadLetterOutcome, g)
		equal(t, "dead-lettered at first delivery", b.oneFrom(emulator.DeadLetter).count(), 0)
		seq := b.deferOne(text("b"))
		b.settle(emulator.DeadLetterOutcome, b.fetch(seq))
		equal(t, "deferred, then dead-lettered", b.oneFrom(emulator.DeadLetter).count(), 1)
	})
}

func TestDC7_DLQR1_DeliveredExactlyMaxDeliveryCountTimes(t *testing.T) {
	for _, c := range []struct{ option, want int }{{0, 10}, {1, 1}, {3, 3}} {
		for _, how := range []string{"abandon", "expiry"} {
			t.Run(fmt.Sprintf("%d by %s", c.want, how), func(t *testing.T) {
				bubble(t, emulator.QueueOptions{MaxDeliveryCount: c.option}, func(b *broker) {
					b.sendTexts("a")
					for i := range c.want {
						g := b.one()
						equal(t, "delivery count", g.count(), uint32(i))
						if how == "abandon" {
							b.settleWith(emulator.Abandon, b.properties("k", "v"), g)
						} else {
							wait(time.Minute)
						}
					}
					b.wantCounts(0, 1, 0, 0)
					equal(t, "peek of the queue", len(b.peek()), 0)
					for range 2 { // and the same from the journal
						g := b.peekOne(emulator.DeadLetter, 0)
						equal(t, "delivery count", g.count(), uint32(c.want))
						equal(t, "number", g.seq(), 1)
						equal(t, "reason", g.property("DeadLetterReason"), any("MaxDeliveryCountExceeded"))
						equal(t, "description", g.property("DeadLetterErrorDescription"),
							any(fmt.Sprintf("Message could not be consumed after %d delivery attempts.", c.want)))
						if how == "abandon" {
							equal(t, "modified property", g.property("k"), any("v"))
						}
						b.restart()
					}
				})
			})
		}
	}
}

func TestDC8_DEC34_UnchangedInTheDeadLetterQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{MaxDeliveryCount: 2}, func(b *broker) {
		b.deadLetterOne(text("a"))
		for i := range 5 {
			g := b.oneFrom(emulator.DeadLetter)
			equal(t, "delivery count", g.count(), 0)
			switch i % 3 {
			case 0:
				b.settle(emulator.Abandon, g)
			case 1:
				wait(time.Minute)
			case 2:
				b.settleWith(emulator.Abandon, b.properties("k", "v"), g)
			}
		}
		g := b.oneFrom(emulator.DeadLetter)
		equal(t, "properties are merged all the same", g.property("k"), any("v"))
		b.wantCounts(0, 1, 0, 0)
	})
}

func TestDC12_ExpiredInABufferCounts(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.receiver(emulator.Main, emulator.PeekLock).pull(1) // prefetched, never shown to anybody
		wait(time.Minute)
		equal(t, "delivery count", b.one().count(), 1)
	})
}

func TestDC13_DEC31_DeferralThatReachesTheMaximumStaysDeferred(t *testing.T) {
	bubble(t, emulator.QueueOptions{MaxDeliveryCount: 2}, func(b *broker) {
		seq := b.deferOne(text("a"))
		b.settle(emulator.Defer, b.fetch(seq))
		b.wantCounts(1, 0, 0, 1)
		g := b.fetch(seq)
		equal(t, "delivery count", g.count(), 2)
		b.settle(emulator.Defer, g)
		b.wantCounts(1, 0, 0, 1)
		b.settle(emulator.Abandon, b.fetch(seq)) // a failed delivery is checked
		b.wantCounts(0, 1, 0, 0)
		equal(t, "delivery count there", b.oneFrom(emulator.DeadLetter).count(), 4)
	})
}

func TestDC16_LoweredMaximumCountsFromTheNextFailure(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		for range 5 {
			b.settle(emulator.Abandon, b.one())
		}
		b.update(func(o *emulator.QueueOptions) { o.MaxDeliveryCount = 2 })
		b.wantCounts(1, 0, 0, 0)
		g := b.one()
		equal(t, "delivery count", g.count(), 5)
		b.settle(emulator.Release, g)
		b.wantCounts(1, 0, 0, 0)
		b.settle(emulator.Abandon, b.one())
		b.wantCounts(0, 1, 0, 0)
	})
}
