package emulator_test

import (
	"testing"
	"testing/synctest"

	"minibus/emulator"
)

func TestDLQ6_DLQ13_DeadLettersOfSessionsAreForPlainReceivers(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "t:1")
		h := b.accept("s")
		b.settle(emulator.DeadLetterOutcome, h.take(1)...)
		equal(t, "received after it", bodies(h.take(1)), "s:2")
		b.settle(emulator.DeadLetterOutcome, b.accept("t").take(1)...)
		gs := b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)
		equal(t, "dead-lettered", bodies(gs), "s:1 t:1")
		equal(t, "session id", *gs[0].Properties.GroupID, "s")
		b.restart()
		equal(t, "dead-lettered, after a restart", bodies(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)), "s:1 t:1")
	})
}

func TestDLQ7_DLQ6_DeferredDeadLettersNeedNoSession(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1")
		b.settle(emulator.DeadLetterOutcome, b.accept("s").take(1)...)
		b.settle(emulator.Defer, b.oneFrom(emulator.DeadLetter))
		gs, err := b.byNumber(emulator.DeadLetter, emulator.PeekLock, 1)
		if err != nil || len(gs) != 1 {
			t.Fatalf("receive by number: %v", err)
		}
	})
}

func TestDEF9_DEF13_DEF14_DeferredMessagesOfSessions(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "t:3")
		h, other := b.accept("s"), b.accept("t")
		b.settle(emulator.Defer, h.take(1)...)
		equal(t, "received after the deferred one", bodies(h.take(1)), "s:2")
		_, err := b.byNumber(emulator.Main, emulator.PeekLock, 1)
		wantCode(t, "without a session", err, emulator.CodeNotAllowed)
		_, err = other.fetch(emulator.PeekLock, 1)
		wantCode(t, "with another session", err, emulator.CodeMessageNotFound)
		gs, err := h.fetch(emulator.PeekLock, 1)
		if err != nil {
			t.Fatalf("receive by number: %v", err)
		}
		equal(t, "locked until", gs[0].until(), h.until())
		b.settle(emulator.Abandon, gs...)
		gs, err = h.fetch(emulator.ReceiveAndDelete, 1)
		if err != nil {
			t.Fatalf("receive and delete by number: %v", err)
		}
		equalSlices(t, "delivery counts", countsOf(gs), 2)
		_, err = h.fetch(emulator.PeekLock, 1)
		wantCode(t, "once more", err, emulator.CodeMessageNotFound)
	})
}

func TestRAD3_RAD5_ReceiveAndDeleteInASession(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "t:1", "s:3")
		h := &holder{receiver: &receiver{b: b}}
		a := h.accept()
		a.Mode = emulator.ReceiveAndDelete
		var err error
		if h.c, err = b.q.Sessions().Accept("s", a); err != nil {
			t.Fatalf("accept: %v", err)
		}
		ds := h.pull(3)
		equal(t, "received", bodies(b.written(ds)), "s:1 s:2 s:3")
		h.c.Return(ds[1:])
		h.c.Close()
		synctest.Wait()
		equal(t, "what did not reach the wire", bodies(b.accept("s").take(5)), "s:2 s:3")
	})
}

func TestRAD5_SESS26_ReturnedMessageFindsItsForgottenSession(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1")
		h := &holder{receiver: &receiver{b: b}}
		a := h.accept()
		a.Mode = emulator.ReceiveAndDelete
		var err error
		if h.c, err = b.q.Sessions().Accept("s", a); err != nil {
			t.Fatalf("accept: %v", err)
		}
		b.j.Pause()
		ds := h.pull(1)
		h.c.Return(ds) // before its removal is written
		h.c.Close()
		b.j.Resume()
		synctest.Wait()
		equal(t, "sessions", b.q.InMemory().Sessions(), 1)
		equal(t, "received", bodies(b.accept("s").take(5)), "s:1")
		equal(t, "next session while it is held", b.nextID(), "none")
	})
}

func TestPEEK7_PeekOfASessionNeedsNoLock(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "t:2", "s:3")
		b.accept("s").take(1)
		equal(t, "one session", bodies(b.peekSession("s")), "s:1 s:3")
		equal(t, "all sessions", bodies(b.peek()), "s:1 t:2 s:3")
		equal(t, "a session that is not there", len(b.peekSession("u")), 0)
		equal(t, "sessions in memory", b.q.InMemory().Sessions(), 2)
	})
}

func TestORD4_SESS10_DisabledQueueGrantsNoSessionUntilItIsEnabled(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		w := b.next()
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusReceiveDisabled })
		b.sendSession("s:1")
		equal(t, "granted while disabled", w.granted(), 0)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
		equal(t, "granted", w.granted(), 1)
	})
}
