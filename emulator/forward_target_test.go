package emulator_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// fill sends about a queue's quota of the profile "emulator".
func (b *broker) fill() {
	b.t.Helper()
	m := b.encodeAll([]*goamqp.Message{goamqp.NewMessage(make([]byte, 255<<10))})
	for range 411 {
		done := newOutcome()
		if err := b.q.Send(m, done); err != nil {
			return
		}
		<-done
	}
	b.t.Fatal("the queue takes more than its quota")
}

func TestFWD15_BothDirectionsAtOnceFromManyGoroutines(t *testing.T) {
	bubble(t, emulator.QueueOptions{ForwardTo: "other", ForwardDeadLetteredMessagesTo: "sink"}, func(b *broker) {
		b.create("sink", emulator.QueueOptions{})
		other := b.create("other", emulator.QueueOptions{ForwardTo: "q", ForwardDeadLetteredMessagesTo: "sink"})
		const senders, each = 8, 100
		var all sync.WaitGroup
		for i := range senders {
			q := []*emulator.Entity{b.q, other.q}[i%2]
			all.Go(func() {
				for range each {
					done := newOutcome()
					if err := q.Send(b.encodeAll(texts("x")), done); err != nil {
						t.Errorf("send: %v", err)
					}
					<-done
				}
			})
			all.Go(func() { // transactions lock both as well
				w := b.beginCross("q")
				for range 50 {
					w.send(other, text("x"))
					w.send(b, text("x"))
				}
				done := newOutcome()
				if err := w.Commit(done); err != nil {
					t.Errorf("commit: %v", err)
				}
				<-done
			})
		}
		all.Wait()
		synctest.Wait()
		b.on("sink").wantCounts(senders*(each+100), 0, 0, 0)
	})
}

func TestFWD5_FWD6_DLQR4_TargetWithSessions(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		target := b.create("target", sessionful)
		w := target.next()
		b.send(inSession("s", "s:1"), text("none"), inSession("t", "t:1"), inSession("s", "s:2"), inSession("", "empty"))
		synctest.Wait()
		equal(t, "session that is accepted next", w.id(), "s")
		equal(t, "in the session", bodies(w.take(9)), "s:1 s:2")
		equal(t, "in the session of the empty string", bodies(target.peekSession("")), "empty")
		equalSlices(t, "dead-lettered at the source", b.deadReasons(emulator.DeadLetter), "none=Session id is null.")
		g := b.oneFrom(emulator.DeadLetter)
		equal(t, "description", g.property(emulator.DeadLetterErrorDescription),
			any("Session enabled entity doesn't allow a message whose session identifier is null."))
		b.restart()
		equal(t, "in the session after a restart", bodies(b.on("target").accept("s").take(9)), "s:1 s:2")
	})
}

func TestFWD11_FWD12_TargetThatDoesNotTakeThem(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		break_       func(b *broker)
	}{
		{"deleted", "MessagingEntityNotFoundException", func(b *broker) { _ = b.ns.Entities().Delete("target") }},
		{"disabled", "MessagingEntityDisabledException", func(b *broker) {
			b.set(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
		}},
		{"full", "QuotaExceededException", (*broker).fill},
		{"disabled for senders", "", func(b *broker) {
			b.set(func(o *emulator.QueueOptions) { o.Status = emulator.StatusSendDisabled })
		}},
		{"disabled for receivers", "", func(b *broker) {
			b.set(func(o *emulator.QueueOptions) { o.Status = emulator.StatusReceiveDisabled })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubbleWith(t, strict, forwarding, func(b *broker) {
				target := b.create("target", emulator.QueueOptions{})
				c.break_(target)
				b.sendTexts("a", "b")
				synctest.Wait()
				if c.reason == "" {
					b.wantCounts(0, 0, 0, 0)
					target.wantCounts(2, 0, 0, 0)
					return
				}
				equalSlices(t, "dead-lettered at the source", b.deadReasons(emulator.DeadLetter), "a="+c.reason, "b="+c.reason)
				count := b.q.Counts()
				equal(t, "in the transfer dead-letter queue", count.TransferDeadLetter, 0)
				equal(t, "delivery count", b.oneFrom(emulator.DeadLetter).count(), 0)
				equal(t, "setting", b.q.Options().ForwardTo, "target")
			})
		})
	}
}

func TestFWD11_FWD12_FailedDeadLetteringIsTriedAgain(t *testing.T) {
	o := forwarding
	o.MaxDeliveryCount = 1
	bubble(t, o, func(b *broker) { // its target was never there
		b.sendTexts("a")
		wait(time.Minute)
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "a=MessagingEntityNotFoundException")
		b.j.Pause()
		done := newOutcome()
		if err := b.q.Send(b.encodeAll(texts("b")), done); err != nil {
			t.Fatalf("send: %v", err)
		}
		b.j.Resume()
		if err := <-done; err != nil {
			t.Fatalf("send: %v", err)
		}
		b.j.FailNext(3, errDisk)
		wait(time.Minute)
		b.wantCounts(0, 2, 0, 0)
		gs := b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
		equal(t, "reason", gs[1].property(emulator.DeadLetterReason), any("MessagingEntityNotFoundException"))
	})
}

func TestFWD11_DEC28_DeadLettersWaitForTheirTarget(t *testing.T) {
	bubble(t, emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "target"}, func(b *broker) {
		b.deadLetterOne(text("a"))
		wait(time.Minute)
		b.wantCounts(0, 1, 0, 0)
		target := b.create("target", emulator.QueueOptions{Status: emulator.StatusDisabled})
		wait(time.Minute)
		b.wantCounts(0, 1, 0, 0)
		target.set(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
		wait(2 * time.Second)
		b.wantCounts(0, 0, 0, 0)
		equal(t, "in the target", bodies(target.receive(5)), "a")
	})
}

func TestFWD14_SettingItLaterForwardsTheBacklog(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		b.deferOne(text("deferred"))
		b.sendTexts("locked", "abandoned", "active")
		locked := b.receive(2)
		b.schedule(at("scheduled", soon(2*time.Minute)))
		b.update(func(o *emulator.QueueOptions) { o.ForwardTo = "target" })
		wait(0)
		equal(t, "at first", bodies(target.peek()), "active")
		b.settle(emulator.Abandon, locked[1])
		equal(t, "once it was abandoned", bodies(target.peek()), "active abandoned")
		wait(time.Minute)
		equal(t, "once the lock had ended", bodies(target.peek()), "active abandoned locked")
		wait(time.Minute)
		equal(t, "once it was due", bodies(target.peek()), "active abandoned locked scheduled")
		b.wantCounts(1, 0, 0, 1)
		b.send(at("by annotation", soon(time.Minute)))
		b.update(func(o *emulator.QueueOptions) { o.ForwardTo = "" })
		wait(time.Minute)
		b.sendTexts("stays")
		equal(t, "left after the end of the forward", bodies(b.receive(5)), "by annotation stays")
		target.wantCounts(4, 0, 0, 0)
	})
}

func TestFWD15_DEC29_CyclesEndByTheHopLimit(t *testing.T) {
	bubble(t, emulator.QueueOptions{ForwardTo: "other"}, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{ForwardTo: "q"})
		b.sendTexts("a", "b")
		synctest.Wait()
		b.wantCounts(0, 2, 0, 0)
		other.sendTexts("c")
		synctest.Wait()
		other.wantCounts(0, 1, 0, 0)
		itself := b.create("self", emulator.QueueOptions{ForwardTo: "self"})
		itself.sendTexts("d")
		synctest.Wait()
		equalSlices(t, "dead-lettered", itself.deadReasons(emulator.DeadLetter), "d=MaxTransferHopCountExceeded")
		equal(t, "enqueued number", annotation[int64](itself.oneFrom(emulator.DeadLetter), "x-opt-enqueue-sequence-number"), 1)
	})
}

func TestFWD17_StatusOfTheSource(t *testing.T) {
	for status, forwards := range map[emulator.Status]bool{
		emulator.StatusReceiveDisabled: false, emulator.StatusDisabled: false, emulator.StatusSendDisabled: true,
	} {
		t.Run(string(status), func(t *testing.T) {
			bubble(t, emulator.QueueOptions{}, func(b *broker) {
				target := b.create("target", emulator.QueueOptions{})
				b.sendTexts("a")
				b.update(func(o *emulator.QueueOptions) { o.ForwardTo, o.Status = "target", status })
				wait(time.Minute)
				equal(t, "forwarded", target.q.Counts().Active == 1, forwards)
				b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
				wait(0)
				target.wantCounts(1, 0, 0, 0)
			})
		})
	}
}

func TestDEL4_ForwardsToAQueueThatIsDeletedAndMadeAgain(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		b.create("target", emulator.QueueOptions{})
		b.sendTexts("a")
		synctest.Wait()
		if err := b.ns.Entities().Delete("target"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		b.sendTexts("b")
		synctest.Wait()
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "b=MessagingEntityNotFoundException")
		equal(t, "setting", b.q.Options().ForwardTo, "target")
		target := b.create("target", emulator.QueueOptions{})
		b.sendTexts("c")
		synctest.Wait()
		gs := target.receive(5)
		equal(t, "in the new target", bodies(gs), "c")
		equal(t, "number", gs[0].seq(), 1)
	})
}

func TestFWD3_SourceIsDeletedWhileItForwards(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		b.j.Pause()
		done, deleted := newOutcome(), newOutcome()
		if err := b.q.Send(b.encodeAll(texts("a")), done); err != nil {
			t.Fatalf("send: %v", err)
		}
		go func() { deleted <- b.ns.Entities().Delete("q") }()
		synctest.Wait()
		b.j.Resume()
		if err := errors.Join(<-done, <-deleted); err != nil {
			t.Fatalf("send and delete: %v", err)
		}
		synctest.Wait()
		if n := target.q.Counts().Active; n > 1 {
			t.Errorf("the target has %d messages", n)
		}
		b.stop()
		b.j.Memory = b.j.Reopen()
		b.open()
		if n := b.on("target").q.Counts().Active; n > 1 {
			t.Errorf("the target has %d messages after a restart", n)
		}
	})
}

func TestBodies_ForwardedOnesKeepTheBudget(t *testing.T) {
	const size, budget = 32 << 10, 320 << 10
	bubbleWith(t, emulator.Options{BodyBudget: budget}, emulator.QueueOptions{}, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		for range 64 {
			b.send(goamqp.NewMessage(make([]byte, size)))
		}
		b.update(func(o *emulator.QueueOptions) { o.ForwardTo = "target" })
		wait(0)
		target.wantCounts(64, 0, 0, 0)
		all, own := target.q.InMemory().Bodies()
		if all != own || all > 2*budget {
			t.Errorf("%d bytes in memory, %d of the target's, with a budget of %d", all, own, budget)
		}
		target.drain()
		all, _ = target.q.InMemory().Bodies()
		equal(t, "bytes in memory at the end", all, 0)
	})
}
