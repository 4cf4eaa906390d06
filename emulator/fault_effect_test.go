package emulator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// wantBroken fails unless an operation failed as the store does, and left nothing behind.
func (b *broker) wantBroken(what string, err error, code emulator.Code) {
	b.t.Helper()
	wantCode(b.t, what, err, code)
	if !strings.Contains(err.Error(), "of Minibus") {
		b.t.Errorf("%s: %q does not name the fault", what, err)
	}
	b.verify(true)
}

// TestFaultFailsTheJournal: the client gets an error, the marks are undone, and nothing of it is there after a restart.
func TestFaultFailsTheJournal(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: time.Minute}, func(b *broker) {
		b.sendTexts("1", "2")
		f := b.inject(emulator.FaultOptions{Kind: emulator.FaultFailJournal, Entity: "q", Count: 7,
			Operations: []emulator.Operation{emulator.OperationSend, emulator.OperationSettle, emulator.OperationManage}})
		b.wantBroken("send", b.trySend(text("x")), emulator.CodeInternal)
		done := newOutcome()
		if _, err := b.q.Schedule(b.encodeAll(texts("x")), done); err != nil {
			t.Fatal(err)
		}
		b.wantBroken("schedule", <-done, emulator.CodeInternal)
		g := b.one()
		for _, o := range []emulator.Outcome{emulator.Complete, emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome} {
			b.wantBroken("settle", b.trySettle(o, nil, g.token()), emulator.CodeInternal)
		}
		tx := b.begin()
		tx.send(b, text("x"))
		b.wantBroken("commit of a transaction", tx.tryCommit(), emulator.CodeInternal)
		wait(time.Minute)
		b.settle(emulator.Abandon, b.one()) // releases: the lock was as before, and ended by itself
		equal(t, "hits", f.Hits(), 7)
		b.send(text("3"))
		equal(t, "messages", sortedBodies(b.peek()), "1 2 3")
		b.restart()
		equal(t, "messages after a restart", sortedBodies(b.peek()), "1 2 3")
	})
}

func sortedBodies(gs []*got) string {
	var list []string
	for _, g := range gs {
		list = append(list, g.body())
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestFaultFailsTheJournalOfAFullDisk, and of what is received and deleted, which stays.
func TestFaultFailsTheJournalOfAFullDisk(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		f := b.inject(emulator.FaultOptions{Kind: emulator.FaultFailJournal, Condition: "resource-limit-exceeded", Count: 1})
		b.wantBroken("send", b.trySend(text("x")), emulator.CodeQuotaExceeded)
		b.sendTexts("1")
		equal(t, "state", f.State(), emulator.FaultSpent)
		f = b.inject(emulator.FaultOptions{Kind: emulator.FaultFailJournal, Operations: []emulator.Operation{emulator.OperationReceive}, Count: 1})
		equal(t, "received", len(b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)), 0)
		equal(t, "received the next time", len(b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)), 1)
		equal(t, "hits", f.Hits(), 1)
		b.verify(true)
	})
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		b.inject(emulator.FaultOptions{Kind: emulator.FaultFailJournal, Operations: []emulator.Operation{emulator.OperationManage}, Count: 1})
		wantCode(t, "set the state", h.setState([]byte("x")), emulator.CodeInternal)
		state, err := h.c.SessionState()
		equal(t, "state", string(state), "")
		equal(t, "error", err, nil)
		if err := h.setState([]byte("y")); err != nil {
			t.Error(err)
		}
	})
}

// TestFaultsFailureFailsAlone: what others send meanwhile is stored.
func TestFaultsFailureFailsAlone(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{})
		b.inject(emulator.FaultOptions{Kind: emulator.FaultFailJournal, Entity: "q", Count: 1})
		b.j.Pause()
		var outcomes []outcome
		for _, q := range []*emulator.Entity{b.q, other.q, b.q} {
			done := newOutcome()
			if err := q.Send(b.encodeAll(texts("x")), done); err != nil {
				t.Fatal(err)
			}
			outcomes = append(outcomes, done)
		}
		b.j.Resume()
		wantCode(t, "the first", <-outcomes[0], emulator.CodeInternal)
		equal(t, "of another entity", <-outcomes[1], nil)
		equal(t, "the next", <-outcomes[2], nil)
		b.verify(true)
	})
}

// TestFaultTakesLocks as if their time were over: the message is available again with one delivery more, and dead after the last.
func TestFaultTakesLocks(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{MaxDeliveryCount: 2}, func(b *broker) {
		m := text("1")
		m.Properties = properties("id")
		b.send(m)
		f := b.inject(emulator.FaultOptions{Kind: emulator.FaultLoseLock})
		for range 2 {
			g := b.one()
			f.TakeLocks(b.q, tokensOf([]*got{g, g}))
			wantCode(t, "complete", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
			_, err := b.q.Renew(tokensOf([]*got{g}), nil)
			wantCode(t, "renew", err, emulator.CodeMessageLockLost)
			wait(time.Second)
			b.verify(true)
		}
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "1=MaxDeliveryCountExceeded")
		equalSlices(t, "life", b.life("id"), "sent q 1", "delivered q 1", "lock expired q 1 count 1", "delivered q 1 count 1",
			"lock expired q 1 count 2", "dead-lettered q 1 count 2 MaxDeliveryCountExceeded")
		(*emulator.Fault)(nil).TakeLocks(b.q, nil)
		(*emulator.Fault)(nil).TakeSession(nil)
	})
}

// TestFaultTakesSessions as if the time of their locks were over, and the lock of one message of a session alone, which is next again.
func TestFaultTakesSessions(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "s:3")
		h := b.accept("s")
		gs := h.take(2)
		b.inject(emulator.FaultOptions{Kind: emulator.FaultLoseLock}).TakeLocks(b.q, tokensOf(gs[:1]))
		wantCode(t, "complete", b.trySettle(emulator.Complete, nil, gs[0].token()), emulator.CodeMessageLockLost)
		b.settle(emulator.Complete, gs[1])
		wait(time.Millisecond)
		again := h.take(5)
		equal(t, "received again", bodies(again), "s:1 s:3")
		equalSlices(t, "delivery counts", countsOf(again), 1, 0)
		lose := b.inject(emulator.FaultOptions{Kind: emulator.FaultLoseSession})
		lose.TakeLocks(b.q, tokensOf(again))
		equal(t, "told", len(h.lost()), 1)
		wantCode(t, "what the holder is told", h.lost()[0], emulator.CodeSessionLockLost)
		wantCode(t, "complete", b.trySettle(emulator.Complete, nil, again[0].token()), emulator.CodeMessageLockLost)
		wait(time.Millisecond)
		h = b.accept("s")
		equalSlices(t, "delivery counts of the next holder", countsOf(h.take(5)), 2, 1)
		lose.TakeSession(h.c)
		lose.TakeSession(h.c)
		_, err := h.c.RenewSession()
		wantCode(t, "renew the session", err, emulator.CodeSessionLockLost)
		equal(t, "told once", len(h.lost()), 1)
		wait(time.Millisecond)
		b.verify(true)
	})
}
