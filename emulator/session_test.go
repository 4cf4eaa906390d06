package emulator_test

import (
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// sessionful is a queue with sessions, whose locks last ten seconds.
var sessionful = emulator.QueueOptions{RequiresSession: true, LockDuration: 10 * time.Second}

func TestSESS1_RequiresSessionIsFixedAtCreation(t *testing.T) {
	for _, requires := range []bool{true, false} {
		bubble(t, emulator.QueueOptions{RequiresSession: requires}, func(b *broker) {
			_, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{RequiresSession: !requires})
			wantCode(t, "update", err, emulator.CodeArgument)
			equal(t, "requires sessions", b.q.Options().RequiresSession, requires)
			b.restart()
			equal(t, "requires sessions after a restart", b.q.Options().RequiresSession, requires)
		})
	}
}

func TestSESS2_SendWithoutASessionIDIsRefused(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		err := b.trySend(text("a"))
		wantCode(t, "send", err, emulator.CodeNotAllowed)
		if !strings.HasPrefix(err.Error(), "The SessionId was not set on a message, and it cannot be sent to the entity.") {
			t.Errorf("text %q", err)
		}
		wantCode(t, "batch", b.trySend(inSession("s", "a"), text("b")), emulator.CodeNotAllowed)
		_, err = b.q.Schedule(b.encodeAll([]*goamqp.Message{at("a", soon(time.Minute))}), newOutcome())
		wantCode(t, "schedule", err, emulator.CodeNotAllowed)
		b.wantCounts(0, 0, 0, 0)
		b.send(inSession("", "the empty string is an id"))
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestSESS4_PlainQueueKeepsAndIgnoresTheSessionID(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(inSession("s", "a"), text("b"), inSession("t", "c"))
		gs := b.receive(3)
		equal(t, "received", bodies(gs), "a b c")
		equal(t, "session id", *gs[0].Properties.GroupID, "s")
	})
}

func TestSESS5_DEC19_WrongKindOfReceiver(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		_, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
		wantCode(t, "plain receiver", err, emulator.CodeNotAllowed)
		equal(t, "text", err.Error(), "It is not possible for an entity that requires sessions to create a non-sessionful message receiver.")
		plain := b.create("plain", emulator.QueueOptions{})
		_, err = plain.tryAccept("s")
		wantCode(t, "session receiver", err, emulator.CodeNotAllowed)
		wantText(t, "session receiver", err, "RequiresSession")
		_, err = plain.q.Sessions().AcceptNext(emulator.Accept{}, nil)
		wantCode(t, "next session", err, emulator.CodeNotAllowed)
		_, err = plain.q.Sessions().BrowseState("s")
		wantCode(t, "session state", err, emulator.CodeNotAllowed)
	})
}

func TestSESS12_SESS13_OneLockForAllMessages(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		accepted := now()
		equal(t, "session locked until", h.until(), accepted.Add(10*time.Second))
		wait(4 * time.Second)
		first := h.take(1)[0]
		equal(t, "message locked until", first.until(), accepted.Add(10*time.Second))
		until, err := h.c.RenewSession()
		if err != nil {
			t.Fatalf("renew: %v", err)
		}
		equal(t, "renewed until", until, accepted.Add(14*time.Second).UnixMilli())
		b.sendSession("s:3")
		wait(9 * time.Second)
		equal(t, "message received after the renewal locked until", h.take(1)[0].until(), accepted.Add(14*time.Second))
		b.settle(emulator.Complete, first)
		for range 50 { // as often as it likes
			if _, err := h.c.RenewSession(); err != nil {
				t.Fatalf("renew: %v", err)
			}
			wait(9 * time.Second)
		}
		equal(t, "received", bodies(h.take(5)), "s:3")
	})
}

func TestSESS14_SESS15_WhatNeedsTheLockFailsWithoutIt(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1")
		h := b.accept("s")
		gs := h.take(1)
		wait(10 * time.Second)
		if len(h.lost()) != 1 {
			t.Fatalf("the holder was told %d times that its lock is lost", len(h.lost()))
		}
		wantCode(t, "what the holder is told", h.lost()[0], emulator.CodeSessionLockLost)
		equal(t, "text", h.lost()[0].Error(), "The session lock has expired on the MessageSession. Accept a new MessageSession.")
		_, err := h.c.RenewSession()
		wantCode(t, "renew", err, emulator.CodeSessionLockLost)
		_, err = h.c.SessionState()
		wantCode(t, "get state", err, emulator.CodeSessionLockLost)
		wantCode(t, "set state", h.setState([]byte("x")), emulator.CodeSessionLockLost)
		_, err = h.fetch(emulator.PeekLock, 1)
		wantCode(t, "receive by number", err, emulator.CodeSessionLockLost)
		wantCode(t, "delete", b.q.DeleteBatch(emulator.Main, 1, now().UnixMilli(), h.c, nil, nil), emulator.CodeSessionLockLost)
		wantCode(t, "complete", b.trySettle(emulator.Complete, nil, gs[0].token()), emulator.CodeMessageLockLost)
		equal(t, "received", len(h.take(1)), 0)
		h.c.Close()
		equal(t, "received by somebody else", bodies(b.accept("s").take(1)), "s:1")
	})
}

func TestSESS14_PlainReceiverHasNoSession(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		c := b.receiver(emulator.Main, emulator.PeekLock).c
		_, ok := c.SessionID()
		equal(t, "has a session", ok, false)
		_, err := c.RenewSession()
		wantCode(t, "renew", err, emulator.CodeSessionLockLost)
	})
}

func TestSESS15_DC10_DC11_ExpiryCountsWhatWasDelivered(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "s:3")
		h := b.accept("s")
		h.take(2)
		wait(10 * time.Second)
		gs := b.accept("s").take(5)
		equal(t, "received", bodies(gs), "s:1 s:2 s:3")
		equalSlices(t, "delivery counts", countsOf(gs), 1, 1, 0)
	})
}

func TestSESS15_DC7_ExpiryDeadLettersAtTheMaximum(t *testing.T) {
	o := sessionful
	o.MaxDeliveryCount = 1
	bubble(t, o, func(b *broker) {
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		h.take(1)
		wait(10 * time.Second)
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "s:1=MaxDeliveryCountExceeded")
		equal(t, "received next", bodies(b.accept("s").take(5)), "s:2")
	})
}

func TestSESS16_SESS19_DeliveriesOfAnEarlierLockAreDead(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		old := h.take(1)[0]
		h.c.Close()
		wantCode(t, "complete after the close", b.trySettle(emulator.Complete, nil, old.token()), emulator.CodeMessageLockLost)
		again := b.accept("s")
		fresh := again.take(1)[0]
		equal(t, "received again", fresh.body(), old.body())
		wantCode(t, "complete with the old token", b.trySettle(emulator.Complete, nil, old.token()), emulator.CodeMessageLockLost)
		b.settle(emulator.Complete, fresh)
	})
}

func TestSESS17_SettledTwice(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1")
		g := b.accept("s").take(1)[0]
		b.settle(emulator.Complete, g)
		wantCode(t, "complete", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
	})
}

func TestSESS18_DC9_PRE4_CloseFreesAtOnceInOrderWithoutCounting(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "s:3", "s:4", "s:5")
		h := b.accept("s")
		gs := h.take(4)
		b.settle(emulator.Complete, gs[1])
		b.settle(emulator.Defer, gs[2])
		h.c.Close()
		h.c.Close()
		equal(t, "told of a lost lock", len(h.lost()), 0)
		gs = b.accept("s").take(5)
		equal(t, "received", bodies(gs), "s:1 s:4 s:5")
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0, 0)
	})
}

func TestSESS18_CloseFreesDeferredMessagesThatNobodyReceivedBefore(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "s:3")
		h := b.accept("s")
		b.settle(emulator.Defer, h.take(3)[2])
		b.restart()
		h = b.accept("s")
		if gs, err := h.fetch(emulator.PeekLock, 3); err != nil || len(gs) != 1 {
			t.Fatalf("receive by number: %v", err)
		}
		h.c.Close()
		h = b.accept("s")
		gs, err := h.fetch(emulator.PeekLock, 3)
		if err != nil {
			t.Fatalf("receive by number after the close: %v", err)
		}
		equalSlices(t, "delivery count", countsOf(gs), 1)
	})
}

func TestSESS21_RenewOfAMessageChangesNothing(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1")
		h := b.accept("s")
		g := h.take(1)[0]
		wait(4 * time.Second)
		untils, err := b.q.Renew(tokensOf([]*got{g}), nil)
		if err != nil {
			t.Fatalf("renew: %v", err)
		}
		equal(t, "renewed until", untils[0], h.until().UnixMilli())
		equal(t, "session locked until", h.until(), g.until())
	})
}

func TestSESS26_SessionIsForgottenWhenNothingIsLeftOfIt(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		gs := h.take(2)
		b.settle(emulator.Complete, gs[0])
		b.settle(emulator.DeadLetterOutcome, gs[1])
		if err := h.setState([]byte("x")); err != nil {
			t.Fatalf("set state: %v", err)
		}
		h.c.Close()
		equal(t, "sessions with a state", b.q.InMemory().Sessions(), 1)
		h = b.accept("s")
		if err := h.setState(nil); err != nil {
			t.Fatalf("clear state: %v", err)
		}
		equal(t, "held sessions", b.q.InMemory().Sessions(), 1)
		h.c.Close()
		equal(t, "sessions of which nothing is left", b.q.InMemory().Sessions(), 0)
		b.failOnce()
		if err := b.trySend(inSession("failed", "x")); err == nil {
			t.Error("the send did not fail")
		}
		equal(t, "sessions after a failed send", b.q.InMemory().Sessions(), 0)
		b.accept("never").c.Close()
		equal(t, "sessions that were only accepted", b.q.InMemory().Sessions(), 0)
		m := inSession("expires", "x")
		m.Header = &goamqp.MessageHeader{TTL: time.Minute}
		b.send(m)
		wait(time.Minute)
		equal(t, "sessions whose message expired", b.q.InMemory().Sessions(), 0)
	})
}

func TestSESS30_CreditDoesNotKeepTheLock(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		h.c.Take(nil, 10)
		wait(9 * time.Second)
		b.sendSession("s:1")
		h.c.Take(nil, 10)
		wait(time.Second)
		equal(t, "told of a lost lock", len(h.lost()), 1)
	})
}

func TestSESS32_EachEntityHasItsOwnSessions(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		other := b.create("other", sessionful)
		h := b.accept("s")
		if err := h.setState([]byte("x")); err != nil {
			t.Fatalf("set state: %v", err)
		}
		oh := other.accept("s")
		if state, err := oh.c.SessionState(); err != nil || state != nil {
			t.Errorf("state in the other queue: %q, %v", state, err)
		}
	})
}

func TestDEC23_LOCK17_UpdateFreesTheSessionsAtOnce(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		h.take(1)
		b.update(func(*emulator.QueueOptions) {})
		equal(t, "told of an update that changes nothing", len(h.lost()), 0)
		b.update(func(o *emulator.QueueOptions) { o.UserMetadata = "x" })
		if len(h.lost()) != 1 {
			t.Fatalf("the holder was told %d times", len(h.lost()))
		}
		wantCode(t, "what the holder is told", h.lost()[0], emulator.CodeDetached)
		gs := b.accept("s").take(5)
		equal(t, "received", bodies(gs), "s:1 s:2")
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
	})
}

func TestDEC21_SESS22_SessionsAfterARestart(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("b:1", "a:2", "b:3", "a:4")
		h := b.accept("b")
		if err := h.setState([]byte("state of b")); err != nil {
			t.Fatalf("set state: %v", err)
		}
		h.take(1)
		b.restart()
		w := b.next()
		equal(t, "next session", w.id(), "b")
		gs := w.take(5)
		equal(t, "received", bodies(gs), "b:1 b:3")
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
		state, err := w.c.SessionState()
		equal(t, "state", string(state), "state of b")
		equal(t, "error", err, nil)
		equal(t, "and then", b.nextID(), "a")
	})
}
