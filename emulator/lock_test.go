package emulator_test

import (
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestLOCK1_ExclusiveForTheLockDuration(t *testing.T) {
	for _, c := range []struct {
		option, want time.Duration
	}{{0, time.Minute}, {5 * time.Second, 5 * time.Second}, {5 * time.Minute, 5 * time.Minute}} {
		bubble(t, emulator.QueueOptions{LockDuration: c.option}, func(b *broker) {
			b.sendTexts("a")
			equal(t, "locked for", b.one().until().Sub(now()), c.want)
			wait(c.want - time.Millisecond)
			equal(t, "received a millisecond before the end", len(b.receive(1)), 0)
			wait(time.Millisecond)
			equal(t, "received at the end", len(b.receive(1)), 1)
		})
	}
}

func TestLOCK2_PRE1_ClockStartsWhenTheMessageIsTaken(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a")
		wait(time.Minute)
		taken := now()
		ds := b.receiver(emulator.Main, emulator.PeekLock).pull(1)
		wait(3 * time.Second) // in a buffer, not yet on the wire
		g := b.written(ds)[0]
		equal(t, "locked until", g.until(), taken.Add(10*time.Second))
		equal(t, "LockedUntil", ds[0].LockedUntil(), taken.Add(10*time.Second).UnixMilli())
		wait(7 * time.Second)
		wantCode(t, "complete after the end", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
	})
}

func TestLOCK3_PROP3_TokenPerDelivery(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		seen := map[lockToken]bool{}
		for range 5 {
			for _, g := range b.receive(2) {
				token := g.DeliveryAnnotations["x-opt-lock-token"]
				equal(t, "token in the delivery annotations", token, any(goamqp.UUID(g.token())))
				equal(t, "delivery annotations", len(g.DeliveryAnnotations), 1)
				equal(t, "version and variant", [2]byte{g.token()[6] >> 4, g.token()[8] >> 6}, [2]byte{4, 2})
				if seen[g.token()] {
					t.Errorf("token %v twice", g.token())
				}
				seen[g.token()] = true
				b.settle(emulator.Release, g)
			}
		}
		for _, g := range append(b.peek(), b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 2)...) {
			if len(g.DeliveryAnnotations) > 0 || g.has("x-opt-locked-until") {
				t.Errorf("lock data without a lock: %v %v", g.DeliveryAnnotations, g.Annotations)
			}
		}
	})
}

func TestLOCK4_RenewSetsNowPlusDuration(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		for range 20 { // far longer than one lock
			wait(7 * time.Second)
			untils, err := b.q.Renew([]lockToken{gs[1].token(), gs[0].token()}, nil)
			if err != nil {
				t.Fatalf("renew: %v", err)
			}
			want := now().Add(10 * time.Second).UnixMilli()
			equalSlices(t, "locked until", untils, want, want)
		}
		wait(10*time.Second - time.Millisecond)
		equal(t, "received before the last renewal ends", len(b.receive(2)), 0)
		b.settle(emulator.Complete, gs[0])
		wait(time.Millisecond)
		equal(t, "received after it", bodies(b.receive(2)), "b")
	})
}

func TestLOCK5_RenewOfADeadTokenIsLockLost(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		b.settle(emulator.Complete, gs[0])
		wait(10 * time.Second)
		for name, token := range map[string]lockToken{"settled": gs[0].token(), "expired": gs[1].token(), "unknown": {1}} {
			_, err := b.q.Renew([]lockToken{token}, nil)
			wantCode(t, name, err, emulator.CodeMessageLockLost)
			if !strings.HasPrefix(err.Error(), "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue") {
				t.Errorf("%s: text %q", name, err)
			}
		}
	})
}

func TestLOCK6_RenewIsAllOrNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		wait(5 * time.Second)
		_, err := b.q.Renew([]lockToken{g.token(), {1}}, nil)
		wantCode(t, "renew with an unknown token", err, emulator.CodeMessageLockLost)
		wait(5 * time.Second)
		equal(t, "received at the end of the first lock", len(b.receive(1)), 1)
	})
}

func TestLOCK8_DC3_AfterExpiryReceivableAtItsPlaceCountPlusOne(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		g := b.one()
		wait(10 * time.Second)
		wantCode(t, "the old token", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		gs := b.receive(2)
		equal(t, "order", bodies(gs), "a b")
		equalSlices(t, "delivery counts", countsOf(gs), 1, 0)
	})
}

func TestLOCK9_LOCK10_LOCK11_DC9_LockOutlivesLinkAndConnection(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("complete", "abandon", "defer", "dead-letter", "renew", "leave")
		r := b.receiver(emulator.Main, emulator.PeekLock)
		gs := r.take(6)
		r.c.Close() // the link, and the connection with it, are gone
		wait(5 * time.Second)
		equal(t, "still locked for others", len(b.receive(6)), 0)
		b.settle(emulator.Complete, gs[0])
		b.settle(emulator.Abandon, gs[1])
		b.settle(emulator.Defer, gs[2])
		b.settle(emulator.DeadLetterOutcome, gs[3])
		if _, err := b.q.Renew(tokensOf(gs[4:5]), nil); err != nil {
			t.Errorf("renew: %v", err)
		}
		again := b.receive(6)
		equal(t, "abandoned", bodies(again), "abandon")
		equal(t, "its count: exactly one more", again[0].count(), 1)
		wait(5 * time.Second)
		left := b.receive(6)
		equal(t, "after its lock ended", bodies(left), "leave")
		equal(t, "its count", left[0].count(), 1)
		wait(5 * time.Second)
		equal(t, "after the renewed lock ended", bodies(b.receive(1)), "abandon")
	})
}

func TestLOCK17_DEC23_UpdateTellsLinksAndKeepsMessageLocks(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		g := b.one()
		var told []error
		cancel := b.q.Watch(emulator.Main, func(err error) { told = append(told, err) })
		b.update(func(*emulator.QueueOptions) {})
		equal(t, "told of an update that changes nothing", len(told), 0)
		b.update(func(o *emulator.QueueOptions) { o.UserMetadata = "x" }) // nothing that a link depends on
		if len(told) != 1 {
			t.Fatalf("told %d times", len(told))
		}
		wantCode(t, "what links are told", told[0], emulator.CodeDetached)
		b.settle(emulator.Complete, g)
		equal(t, "backlog keeps its number", b.one().seq(), 2)
		cancel()
		b.update(func(o *emulator.QueueOptions) { o.UserMetadata = "y" })
		equal(t, "told after cancel", len(told), 1)
	})
}

func TestLOCK18_NewLockDurationCountsForLaterLocks(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 30 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		old, renewed := b.one(), b.one()
		b.update(func(o *emulator.QueueOptions) { o.LockDuration = 10 * time.Second })
		equal(t, "new lock", b.one().until().Sub(now()), 10*time.Second)
		untils, err := b.q.Renew(tokensOf([]*got{renewed}), nil)
		if err != nil {
			t.Fatalf("renew: %v", err)
		}
		equal(t, "renewed lock", untils[0], now().Add(10*time.Second).UnixMilli())
		wait(29 * time.Second)
		b.settle(emulator.Complete, old)
	})
}

func TestLOCK20_ManyUnsettledDeliveries(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts(make([]string, 6000)...)
		gs := b.receive(6000)
		equal(t, "received", len(gs), 6000)
		for i := len(gs) - 1; i >= 0; i -= 7 {
			b.settle(emulator.Complete, gs[i])
		}
		wait(time.Minute)
		b.wantCounts(6000-6000/7-1, 0, 0, 0)
		equal(t, "again after expiry", len(b.receive(6000)), 6000-6000/7-1)
	})
}

func TestLOCK21_WithdrawnCreditChangesNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		r := b.receiver(emulator.Main, emulator.PeekLock)
		for range 20 {
			equal(t, "taken from an empty queue", len(r.take(5)), 0)
		}
		b.sendTexts("a")
		gs := r.take(5)
		equalSlices(t, "delivery counts", countsOf(gs), 0)
	})
}

func TestLOCK22_WaitingReceiverHoldsNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		changes, _ := b.j.seen()
		w := b.waiting("w", emulator.PeekLock, 100)
		wait(time.Hour)
		after, _ := b.j.seen()
		equal(t, "changes in the journal", after, changes)
		b.sendTexts("a")
		sent := now()
		wait(time.Second)
		ds := w.take(100)
		equal(t, "locked from the moment it is taken", ds[0].LockedUntil(), sent.Add(time.Second+time.Minute).UnixMilli())
	})
}

func TestLOCK8_FailedLockEndIsTriedAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		b.failOnce()
		wait(10 * time.Second)
		equal(t, "received while the end is not written", len(b.receive(2)), 0)
		wantCode(t, "the old token", b.trySettle(emulator.Complete, nil, gs[0].token()), emulator.CodeMessageLockLost)
		wait(2 * time.Second)
		again := b.receive(2)
		equal(t, "received", bodies(again), "a b")
		equalSlices(t, "delivery counts", countsOf(again), 1, 1)
	})
}
