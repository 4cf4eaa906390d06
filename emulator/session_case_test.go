package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
)

func TestSESS35_SESS7_IDsAreTheSameInAnyCase(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("ORDER-1:1", "order-1:2", "Größe:3", "GRÖSSE:4")
		h := b.accept("Order-1")
		equal(t, "id, as the receiver calls it", h.id(), "Order-1")
		gs := h.take(5)
		equal(t, "received", bodies(gs), "ORDER-1:1 order-1:2")
		equal(t, "the message's own spelling", *gs[0].Properties.GroupID, "ORDER-1")
		equal(t, "the other's", *gs[1].Properties.GroupID, "order-1")
		_, err := b.tryAccept("oRDER-1")
		wantCode(t, "accept", err, emulator.CodeSessionLocked)
		equal(t, "text", err.Error(), "The requested session 'oRDER-1' cannot be accepted. It may be locked by another receiver.")
		equal(t, "next session", b.nextID(), "Größe")
		equal(t, "and then", b.nextID(), "GRÖSSE") // another letter, not another case
		b.settle(emulator.Complete, gs...)
		h.c.Close()
		equal(t, "nothing is left of it", b.nextID(), "none")
	})
}

func TestSESS35_SESS22_OneState(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("B:1")
		b.withState("one", "ORDER")
		b.withState("two", "order")
		b.restart()
		equal(t, "state", b.stateOf("Order"), "two")
		equalSlices(t, "listed", b.sessions(true, time.Time{}, 0, 10), "B", "ORDER")
		equalSlices(t, "the second page", b.sessions(true, time.Time{}, 1, 10), "ORDER")
		if err := b.writeState("orDer", []byte("three")); err != nil {
			t.Fatalf("write state: %v", err)
		}
		equal(t, "state without the lock", b.stateOf("ORDER"), "three")
		b.withState("", "oRDER")
		b.restart()
		equal(t, "cleared", b.stateOf("ORDER"), "none")
		equalSlices(t, "listed", b.sessions(true, time.Time{}, 0, 10), "B")
	})
}

func TestSESS35_MessagesKeepTheirSpellingThroughARestart(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "S:2")
		b.deferInSession("s")
		b.restart()
		h := b.accept("S")
		gs, err := b.fetchAs(h.c, emulator.PeekLock, 1)
		if err != nil {
			t.Fatalf("receive by number: %v", err)
		}
		gs = append(gs, h.take(5)...)
		equal(t, "received", bodies(gs), "s:1 S:2")
		equal(t, "first", *gs[0].Properties.GroupID, "s")
		equal(t, "second", *gs[1].Properties.GroupID, "S")
		equal(t, "peeked in the other spelling", bodies(b.peekSession("s")), "s:1 S:2")
	})
}

// deferInSession defers the first message of a session.
func (b *broker) deferInSession(id string) {
	b.t.Helper()
	h := b.accept(id)
	b.settle(emulator.Defer, h.take(1)...)
	h.c.Close()
}

func TestSESS35_WhatSelectsASession(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("a:1", "A:2", "b:3")
		h := b.accept("b")
		b.settle(emulator.DeadLetterOutcome, h.take(1)...)
		h.c.Close()
		list, more, err := b.q.Sessions().List("", true, 1)
		if err != nil || len(list) != 1 || list[0].ID != "a" || list[0].Active != 2 || more {
			t.Errorf("sessions: %+v, more %v, %v", list, more, err)
		}
		list, _, err = b.q.Sessions().List("A", false, 5)
		if err != nil || len(list) != 0 {
			t.Errorf("sessions behind A: %+v, %v", list, err)
		}
		x, err := b.q.Sessions().Get("A")
		equal(t, "known as", x.ID, "a")
		equal(t, "error", err, nil)
		shown, _ := b.numbers(emulator.Browse{Max: 10, Select: emulator.Selection{SessionID: new("A")}})
		equal(t, "browsed", shown, "1 2")
		shown, _ = b.numbers(emulator.Browse{Sub: emulator.DeadLetter, Max: 10, Select: emulator.Selection{SessionID: new("B")}})
		equal(t, "browsed in the dead-letter queue", shown, "3")
		b.accept("A")
		if err := b.q.Sessions().Break("a", nil); err != nil {
			t.Errorf("break: %v", err)
		}
	})
}

// TestSESS35_StatesOfAnOlderVersion starts with a journal in which spellings of an id have states of their own.
func TestSESS35_StatesOfAnOlderVersion(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.withState("newer", "s")
		now := time.Now().UnixMilli()
		for id, at := range map[string]int64{"S": now - 2, "ſ": now} { // the last one is another letter
			done := newOutcome()
			b.j.Append(&emulator.Change{Done: done, Ops: []emulator.Op{{Kind: emulator.OpSessionState, Data: []byte("older"),
				Record: emulator.MessageRecord{Entity: b.q.ID(), SessionID: id, Enqueued: at}}}})
			if err := <-done; err != nil {
				t.Fatalf("write a state of %q: %v", id, err)
			}
		}
		b.restart()
		equal(t, "the newest counts", b.stateOf("S"), "newer")
		equalSlices(t, "listed", b.sessions(true, time.Time{}, 0, 10), "s", "ſ")
		b.withState("", "S")
		equal(t, "cleared", b.stateOf("s"), "none")
		b.restart()
		equal(t, "the older one does not come back", b.stateOf("s"), "none")
	})
}

func TestSESS35_PART2_ASessionIsInOnePartition(t *testing.T) {
	o := sessionful
	o.EnablePartitioning = true
	bubble(t, o, func(b *broker) {
		b.sendSession("ORDER-1:1", "order-1:2", "Order-1:3")
		gs := b.accept("order-1").take(5)
		equal(t, "in their order", bodies(gs), "ORDER-1:1 order-1:2 Order-1:3")
		equal(t, "partitions", gs[0].seq()>>48 == gs[2].seq()>>48 && gs[1].seq()>>48 == gs[2].seq()>>48, true)
	})
}
