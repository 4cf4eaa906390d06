package emulator_test

import (
	"fmt"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestSESS6_SESS12_AcceptByIDBeforeThereIsAMessage(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		equal(t, "session", h.id(), "s")
		equal(t, "received", len(h.c.Take(nil, 2)), 0)
		b.sendSession("s:1", "other:1", "s:2")
		if h.notices() == 0 {
			t.Error("the holder was not told of a message of its session")
		}
		equal(t, "received", bodies(h.take(5)), "s:1 s:2")
		equal(t, "next session, which does not wait for the held one", b.nextID(), "other")
	})
}

func TestSESS7_HeldSessionIsRefusedAtOnce(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		_, err := b.tryAccept("s")
		wantCode(t, "accept", err, emulator.CodeSessionLocked)
		equal(t, "text", err.Error(), "The requested session 's' cannot be accepted. It may be locked by another receiver.")
		h.c.Close()
		b.accept("s")
	})
}

func TestSESS8_AcceptNextWaitsForAMessage(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.accept("held")
		w := b.next()
		wait(5 * time.Second)
		b.sendSession("held:1")
		equal(t, "granted", w.granted(), 0)
		b.sendSession("s:1")
		equal(t, "granted", w.granted(), 1)
		equal(t, "session", w.id(), "s")
		equal(t, "lock counts from the grant", w.until(), now().Add(10*time.Second))
		equal(t, "received", bodies(w.take(5)), "s:1")
	})
}

func TestSESS9_CancelledAcceptLocksNothing(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		w := b.next()
		w.cancel()
		w.cancel()
		equal(t, "accepts that are remembered", b.q.InMemory().Accepts(), 0)
		b.sendSession("s:1")
		equal(t, "granted", w.granted(), 0)
		b.accept("s")
	})
}

func TestSESS10_DEC26_LowestFirstAvailableNumber(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("c:1", "a:2", "b:3", "c:4", "a:5")
		h := b.accept("c")
		b.settle(emulator.Complete, h.take(1)...)
		h.c.Close() // the first of c is number 4 now
		for _, want := range []string{"a", "b", "c", "none"} {
			equal(t, "next session", b.nextID(), want)
		}
	})
}

func TestSESS10_DEC26_WaitingAcceptsAreFirstComeFirstServed(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		ws := []*acceptNext{b.next(), b.next(), b.next(), b.next()}
		ws[1].cancel()
		b.sendSession("x:1", "y:2", "x:3")
		equal(t, "first", ws[0].id(), "x")
		equal(t, "cancelled", ws[1].granted(), 0)
		equal(t, "third", ws[2].id(), "y")
		equal(t, "fourth", ws[3].granted(), 0)
		ws[0].c.Close()
		equal(t, "fourth", ws[3].granted(), 1)
		equal(t, "fourth", ws[3].id(), "x")
	})
}

func TestSESS11_EXP14_DEF10_SCHED20_SessionsThatAcceptNextDoesNotOffer(t *testing.T) {
	o := sessionful
	o.LockDuration = 5 * time.Minute
	bubble(t, o, func(b *broker) {
		b.sendSession("completed:1", "deferred:2")
		for _, id := range []string{"completed", "deferred", "state"} {
			h := b.accept(id)
			switch gs := h.take(1); id {
			case "completed":
				b.settle(emulator.Complete, gs...)
			case "deferred":
				b.settle(emulator.Defer, gs...)
			case "state":
				if err := h.setState([]byte("x")); err != nil {
					t.Fatalf("set state: %v", err)
				}
			}
			h.c.Close()
		}
		due := inSession("scheduled", "scheduled:3")
		due.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": soon(2 * time.Minute)}
		b.send(due)
		expires := inSession("expired", "expired:4")
		expires.Header = &goamqp.MessageHeader{TTL: time.Minute}
		b.send(expires)
		wait(time.Minute)
		equal(t, "next session", b.nextID(), "none")
		w := b.next()
		wait(time.Minute)
		equal(t, "once it was due", w.id(), "scheduled")
		b.restart()
		equal(t, "next session after a restart", b.nextID(), "scheduled")
		equal(t, "and then", b.nextID(), "none")
	})
}

func TestSCHED20_ScheduledMessageDoesNotBlockItsSession(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		m := inSession("s", "s:later")
		m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": soon(5 * time.Second)}
		b.send(m)
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		equal(t, "received", bodies(h.take(5)), "s:1 s:2")
		wait(5 * time.Second)
		gs := h.take(5)
		equal(t, "received when it was due", bodies(gs), "s:later")
		equal(t, "number", gs[0].seq(), 4)
	})
}

func TestSESS34_EmptyStringIsAnID(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1")
		b.send(inSession("", "empty"))
		h := b.accept("")
		equal(t, "session", h.id(), "")
		equal(t, "received", bodies(h.take(5)), "empty")
		h.c.Close()
		equal(t, "next sessions", fmt.Sprintf("%q %q", b.nextID(), b.nextID()), `"s" ""`)
		b.restart()
		equal(t, "received after a restart", bodies(b.accept("").take(5)), "empty")
	})
}
