package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// writeState writes a session's state without its lock.
func (b *broker) writeState(id string, state []byte) error {
	done := newOutcome()
	if err := b.q.Sessions().SetState(id, state, done); err != nil {
		return err
	}
	return <-done
}

func TestSessionsAreListedAndTheirStateIsWritten(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.send(inSession("b", "1"), inSession("b", "2"), inSession("a", "3"))
		if err := b.writeState("c", []byte("state")); err != nil {
			t.Fatal(err)
		}
		h := b.accept("b")
		h.c.Take(nil, 1)
		list, more, err := b.q.Sessions().List("", true, 2)
		if err != nil || !more || len(list) != 2 {
			t.Fatalf("the first page: %+v, %v, %v", list, more, err)
		}
		equal(t, "a", list[0], emulator.SessionInfo{ID: "a", Active: 1})
		equal(t, "b", list[1], emulator.SessionInfo{ID: "b", Active: 2, Locked: 1, Held: true, Until: h.until().UnixMilli()})
		list, more, err = b.q.Sessions().List("b", false, 2)
		if err != nil || more || len(list) != 1 {
			t.Fatalf("the second page: %+v, %v, %v", list, more, err)
		}
		equal(t, "c", list[0], emulator.SessionInfo{ID: "c", State: 5, HasState: true, Updated: now().UnixMilli()})
		b.restart()
		state, err := b.q.Sessions().State("c")
		equal(t, "state after a restart", string(state), "state")
		if err == nil {
			err = b.writeState("c", nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.q.Sessions().Get("c")
		wantCode(t, "a session without anything", err, emulator.CodeNotFound)
		wantCode(t, "clear its state", b.writeState("c", nil), emulator.CodeNotFound)
		equal(t, "sessions", b.q.InMemory().Sessions(), 2)
		plain := b.create("plain", emulator.QueueOptions{})
		wantCode(t, "state on a queue without sessions", plain.writeState("c", nil), emulator.CodeNotAllowed)
		wantCode(t, "break on a queue without sessions", plain.q.Sessions().Break("c", nil), emulator.CodeNotAllowed)
	})
}

func TestSESS15_ABrokenSessionLockIsLostAsIfItsTimeWereOver(t *testing.T) {
	bubbleWith(t, emulator.Options{Record: emulator.NewRecord(1 << 20)}, sessionful, func(b *broker) {
		b.send(inSession("s", "a"), inSession("s", "b"))
		h := b.accept("s")
		g := b.written(h.c.Take(nil, 1))[0]
		if err := b.q.Sessions().Break("s", &emulator.Client{Container: "control API", Remote: "127.0.0.1:7"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var history []string
		events, _ := b.ns.History().Events(0, emulator.EventFilter{Kinds: []emulator.EventKind{emulator.EventSessionBroken}, Entity: "q"})
		for e := range events {
			history = append(history, e.String())
		}
		equalSlices(t, "history", history, "the lock of session 's', held by a receiver inside the process, in q was broken by an HTTP request from 127.0.0.1:7")
		lost := h.lost()
		if len(lost) != 1 {
			t.Fatalf("the holder was told %v", lost)
		}
		wantCode(t, "what the holder learns", lost[0], emulator.CodeSessionLockLost)
		wantCode(t, "a settlement", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		_, err := h.c.RenewSession()
		wantCode(t, "a renewal", err, emulator.CodeSessionLockLost)
		wantCode(t, "another break", b.q.Sessions().Break("s", nil), emulator.CodeNotAllowed)
		wantCode(t, "a break of no session", b.q.Sessions().Break("x", nil), emulator.CodeNotFound)
		again := b.accept("s")
		gs := b.written(again.c.Take(nil, 2))
		equal(t, "messages", bodies(gs), "a b")
		equalSlices(t, "delivery counts", countsOf(gs), 1, 0)
		wait(time.Second)
		b.verify(true)
	})
}
