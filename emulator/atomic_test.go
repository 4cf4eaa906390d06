package emulator_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// held runs f while commits are held back, and returns the outcome that f's operation has in the end.
func (b *broker) held(fail bool, start func(o outcome) error, meanwhile func()) error {
	b.t.Helper()
	b.j.Pause()
	o := newOutcome()
	if err := start(o); err != nil {
		b.t.Fatalf("start the operation: %v", err)
	}
	synctest.Wait()
	meanwhile()
	if fail {
		b.failOnce()
	}
	b.j.Resume()
	err := <-o
	synctest.Wait()
	return err
}

func TestTXN2_TXN17_NothingIsAvailableBeforeTheCommitIsWritten(t *testing.T) {
	for _, fail := range []bool{false, true} {
		bubble(t, emulator.QueueOptions{LockDuration: 5 * time.Minute}, func(b *broker) {
			b.deadLetterOne(text("dead"))
			b.sendTexts("released", "completed")
			gs := b.receive(2)
			dead := b.oneFrom(emulator.DeadLetter)
			w := b.begin()
			w.settle(b, emulator.Release, gs[0])
			w.settle(b, emulator.Complete, gs[1])
			w.settle(b, emulator.Abandon, dead)
			err := b.held(fail, func(o outcome) error { return w.Commit(o) }, func() {
				equal(t, "available before the commit", len(b.receive(5)), 0)
				equal(t, "available in the dead-letter queue before the commit", len(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)), 0)
			})
			equal(t, "commit failed", err != nil, fail)
			if fail { // TXN-6
				equal(t, "available after a failed commit", len(b.receive(5))+len(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)), 0)
				b.settle(emulator.Complete, gs[0], gs[1], dead)
				b.wantCounts(0, 0, 0, 0)
				return
			}
			equal(t, "available after the commit", bodies(b.receive(5)), "released")
			equal(t, "in the dead-letter queue", bodies(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)), "dead")
		})
	}
}

func TestTXN2_SESS20_ReleaseInATransactionIsNotOvertaken(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		w := b.begin()
		w.settle(b, emulator.Release, h.take(1)...)
		w.send(b, inSession("s", "s:3"))
		if err := b.held(false, func(o outcome) error { return w.Commit(o) }, func() {
			equal(t, "overtaken by", len(h.take(5)), 0)
		}); err != nil {
			t.Errorf("commit: %v", err)
		}
		equal(t, "after the commit", bodies(h.take(5)), "s:1 s:2 s:3")
	})
}

func TestLOCK15_OneCallForSeveralSubQueuesIsAllOrNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 5 * time.Minute}, func(b *broker) {
		b.deadLetterOne(text("dead"))
		b.sendTexts("a")
		tokens := tokensOf([]*got{b.one(), b.oneFrom(emulator.DeadLetter)})
		abandon := func(o outcome) error { return b.q.Settle(tokens, emulator.Settlement{Outcome: emulator.Abandon}, o) }
		nothing := func() {
			b.t.Helper()
			equal(t, "available", len(b.receive(5))+len(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)), 0)
		}
		if err := b.held(true, abandon, nothing); err == nil {
			t.Error("an abandon that could not be written succeeded")
		}
		nothing()
		if err := b.held(false, abandon, nothing); err != nil {
			t.Errorf("abandon once more: %v", err)
		}
		equal(t, "available", bodies(b.receive(5))+" "+bodies(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)), "a dead")
	})
}

func TestTXN3_TXN8_TXN16_RefusedOperationIsNone(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{})
		off := b.create("off", emulator.QueueOptions{Status: emulator.StatusDisabled})
		gone := [1]lockToken{{1}}
		w := b.begin()
		for what, refused := range map[string]error{
			"send":    w.Send(off.q, b.encodeAll(texts("x"))),
			"settle":  w.Settle(b.q, gone[:], emulator.Settlement{}),
			"cancel":  w.CancelScheduled(b.q, []int64{7}),
			"too big": w.Send(b.q, b.encodeAll([]*goamqp.Message{text(string(make([]byte, 300<<10)))})),
		} {
			if refused == nil {
				t.Errorf("%s was not refused", what)
			}
		}
		if _, err := w.Renew(b.q, gone[:]); err == nil {
			t.Error("renew was not refused")
		}
		wait(time.Hour) // its time has not begun
		equal(t, "can be bound to another entity before one has taken an operation", w.Rebind(false, "other"), true)
		w.send(other, text("a"))
		wantCode(t, "send to the entity that refused", w.Send(b.q, b.encodeAll(texts("x"))), emulator.CodeNotAllowed)
		wait(2*time.Minute - time.Second)
		w.commit()
		other.wantCounts(1, 0, 0, 0)
		equal(t, "can be bound to another entity afterwards", w.Rebind(true, "q"), false)
	})
}

func TestRAD5_DEL1_ReturnedWhileADeletionFails(t *testing.T) {
	for _, failReturn := range []bool{false, true} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("a", "b")
			r, ds := b.deleting(2)
			synctest.Wait()
			if failReturn { // and was to be tried again when the deletion began
				b.failOnce()
				r.c.Return(ds[:1])
				synctest.Wait()
			}
			err := b.held(true, func(o outcome) error {
				go func() { o <- b.ns.Entities().Delete("q") }()
				return nil
			}, func() {
				r.c.Return(ds)
				wait(2 * time.Second)
			})
			if err == nil {
				t.Fatal("a deletion that could not be written succeeded")
			}
			wait(2 * time.Second)
			b.wantCounts(2, 0, 0, 0)
			b.restart()
			equal(t, "there after a restart", bodies(b.receive(5)), "a b")
		})
	}
}

// TestDUP2_DuplicateOfAMessageThatCouldNotBeStored is about a change that fails alone: of those behind it only the ones
// that rely on it must fail.
func TestDUP2_DuplicateOfAMessageThatCouldNotBeStored(t *testing.T) {
	errAlone := errors.New("too big for the store")
	for name, topic := range map[string]bool{"queue": false, "topic": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, emulator.QueueOptions{}, func(b *broker) {
				to := b.twice(topic)
				b.create("source", emulator.QueueOptions{ForwardTo: "twice"})
				b.j.Pause()
				first, second, batch, other, commit := newOutcome(), newOutcome(), newOutcome(), newOutcome(), newOutcome()
				b.j.FailAlone(errAlone)
				w := b.begin()
				if err := errors.Join(
					to.q.Send(b.encodeAll([]*goamqp.Message{withID("a")}), first),
					to.q.Send(b.encodeAll([]*goamqp.Message{withID("a")}), second),
					to.q.Send(b.encodeAll([]*goamqp.Message{withID("b"), withID("a")}), batch),
					to.q.Send(b.encodeAll([]*goamqp.Message{withID("c")}), other),
					w.Send(to.q, b.encodeAll([]*goamqp.Message{withID("a"), withID("d")})),
					w.Commit(commit),
				); err != nil {
					t.Fatalf("send: %v", err)
				}
				b.j.Resume()
				for what, o := range map[string]outcome{"first": first, "duplicate": second, "batch with a duplicate": batch, "transaction": commit} {
					if err := <-o; !errors.Is(err, errAlone) {
						t.Errorf("%s: %v", what, err)
					}
				}
				if err := <-other; err != nil {
					t.Errorf("another message: %v", err)
				}
				synctest.Wait()
				for _, id := range []string{"a", "b", "d"} {
					to.send(withID(id))
				}
				equal(t, "stored", bodies(b.on(arrival[topic]).peek()), "c a b d")
			})
		})
	}
}

// arrival is where messages arrive that are sent to what twice makes.
var arrival = map[bool]string{false: "twice", true: "twice/Subscriptions/s"}

// twice makes an entity with duplicate detection.
func (b *broker) twice(topic bool) *broker {
	b.t.Helper()
	if !topic {
		return b.create("twice", deduplicating)
	}
	o := emulator.TopicOptions{RequiresDuplicateDetection: true, Subscriptions: []emulator.SubscriptionOptions{{Name: "s"}}}
	if _, err := b.ns.Entities().CreateTopic("twice", o); err != nil {
		b.t.Fatalf("create topic: %v", err)
	}
	return b.on("twice")
}

func TestDUP13_FWD3_ForwardedDuplicateOfAMessageThatCouldNotBeStored(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		to := b.create("target", deduplicating)
		failures := 0
		b.j.onTransfer(to.q.ID(), func() {
			if failures++; failures == 1 {
				b.failOnce()
			}
		})
		b.send(withID("a"))
		b.wantTransfer(1) // it is tried again in a second
		b.j.FailAlone(errDisk)
		if err := b.held(false, func(o outcome) error {
			return to.q.Send(b.encodeAll([]*goamqp.Message{withID("a")}), o)
		}, func() { wait(time.Second) }); err == nil {
			t.Error("the first send did not fail")
		}
		b.wantTransfer(1)
		wait(time.Second)
		equal(t, "in the target", bodies(to.receive(5)), "a")
		b.wantTransfer(0)
	})
}

func TestDC2_LOCK14_EXP8_AbandonOfAnExpiredMessageCountsAndChangesIt(t *testing.T) {
	for what, end := range map[string]struct {
		do    func(b *broker, g *got)
		count uint32
		mark  any
	}{
		"abandon":  {func(b *broker, g *got) { b.settleWith(emulator.Abandon, b.properties("mark", int64(7)), g) }, 1, int64(7)},
		"lock end": {func(*broker, *got) { wait(time.Minute) }, 1, nil}, // DC-3
		"release":  {func(b *broker, g *got) { b.settle(emulator.Release, g) }, 0, nil},
	} {
		o := emulator.QueueOptions{DeadLetteringOnExpiration: true, MaxDeliveryCount: 1}
		bubble(t, o, func(b *broker) {
			b.send(withTTL("a", time.Second))
			g := b.one()
			wait(2 * time.Second)
			end.do(b, g)
			dead := b.peekOne(emulator.DeadLetter, 0)
			equal(t, what+": delivery count", dead.count(), end.count)
			equal(t, what+": changed property", dead.property("mark"), end.mark)
			equal(t, what+": reason", dead.property(emulator.DeadLetterReason), any("TTLExpiredException")) // EXP-9
		})
	}
}
