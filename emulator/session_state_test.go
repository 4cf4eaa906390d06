package emulator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// stateOf reads a session's state without a lock.
func (b *broker) stateOf(id string) string {
	b.t.Helper()
	state, err := b.q.Sessions().BrowseState(id)
	if err != nil {
		b.t.Fatalf("browse state of session %q: %v", id, err)
	}
	if state == nil {
		return "none"
	}
	return string(state)
}

// withState gives sessions a state.
func (b *broker) withState(state string, ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		h := b.accept(id)
		if err := h.setState([]byte(state)); err != nil {
			b.t.Fatalf("set state of session %q: %v", id, err)
		}
		h.c.Close()
	}
}

func TestSESS22_StateSurvivesEverythingUntilItIsCleared(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		state, err := h.c.SessionState()
		if state != nil || err != nil {
			t.Errorf("state that was never set: %q, %v", state, err)
		}
		for _, value := range []string{"one", "\x00binary\xff"} {
			if err := h.setState([]byte(value)); err != nil {
				t.Fatalf("set state: %v", err)
			}
			state, _ = h.c.SessionState()
			equal(t, "state", string(state), value)
		}
		b.sendSession("s:1")
		b.settle(emulator.Complete, h.take(1)...)
		h.c.Close()
		h = b.accept("s")
		state, _ = h.c.SessionState()
		equal(t, "state for the next holder", string(state), "\x00binary\xff")
		wait(time.Minute)
		b.update(func(*emulator.QueueOptions) {})
		b.restart()
		equal(t, "state after a restart", b.stateOf("s"), "\x00binary\xff")
	})
}

func TestSESS22_NothingClears(t *testing.T) {
	for name, nothing := range map[string][]byte{"null": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, sessionful, func(b *broker) {
				b.withState("x", "s")
				h := b.accept("s")
				if err := h.setState(nothing); err != nil {
					t.Fatalf("clear state: %v", err)
				}
				if state, err := h.c.SessionState(); state != nil || err != nil {
					t.Errorf("state: %q, %v", state, err)
				}
				b.restart()
				equal(t, "state after a restart", b.stateOf("s"), "none")
			})
		})
	}
}

func TestSESS22_FailedSetLeavesTheState(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.withState("old", "s")
		h := b.accept("s")
		b.failOnce()
		if err := h.setState([]byte("new")); !errors.Is(err, errDisk) {
			t.Errorf("set state: %v", err)
		}
		equal(t, "state", b.stateOf("s"), "old")
		equal(t, "size", b.q.Counts().SizeBytes, 3)
		fresh := b.accept("fresh")
		b.failOnce()
		if err := fresh.setState([]byte("new")); !errors.Is(err, errDisk) {
			t.Errorf("set state: %v", err)
		}
		fresh.c.Close()
		equal(t, "sessions", b.q.InMemory().Sessions(), 1)
	})
}

func TestSESS22_StateIsReadableOnceItIsDurable(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		b.j.Pause()
		first, second := newOutcome(), newOutcome()
		if err := errors.Join(h.c.SetSessionState([]byte("x"), first), h.c.SetSessionState([]byte("y"), second)); err != nil {
			t.Fatalf("set state: %v", err)
		}
		equal(t, "state before the commit", b.stateOf("s"), "none")
		h.c.Close() // what is under way is written all the same
		b.j.Resume()
		if err := errors.Join(<-first, <-second); err != nil {
			t.Fatalf("set state: %v", err)
		}
		equal(t, "state", b.stateOf("s"), "y")
	})
}

func TestSESS23_StateIsLimitedAndCounted(t *testing.T) {
	o := sessionful
	o.MaxMessageSizeInKilobytes = 1
	bubble(t, o, func(b *broker) {
		equal(t, "limit", b.q.Sessions().MaxState(), 1024)
		h := b.accept("s")
		if err := h.setState(make([]byte, 1024)); err != nil {
			t.Errorf("state of the limit's size: %v", err)
		}
		equal(t, "size", b.q.Counts().SizeBytes, 1024)
		wantCode(t, "state above the limit", h.setState(make([]byte, 1025)), emulator.CodeMessageTooLarge)
		b.restart()
		equal(t, "size after a restart", b.q.Counts().SizeBytes, 1024)
		if err := b.accept("s").setState(make([]byte, 24)); err != nil {
			t.Errorf("smaller state: %v", err)
		}
		equal(t, "size of the smaller state", b.q.Counts().SizeBytes, 24)
	})
}

func TestSESS23_StateOfASubscriptionHasTheTopicsLimit(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{MaxMessageSizeInKilobytes: 1024}, []emulator.SubscriptionOptions{{Name: "s", Queue: sessionful}}, func(b *broker) {
		for _, limit := range []int64{1024 << 10, 300 << 10} {
			s := b.sub("s")
			equal(t, "limit", s.q.Sessions().MaxState(), limit)
			h := s.accept("x")
			if err := h.setState(make([]byte, limit)); err != nil {
				t.Errorf("state of the limit's size: %v", err)
			}
			wantCode(t, "state above the limit", h.setState(make([]byte, limit+1)), emulator.CodeMessageTooLarge)
			if _, err := b.ns.Entities().UpdateTopic("t", emulator.TopicOptions{MaxMessageSizeInKilobytes: 300}); err != nil {
				t.Fatalf("update topic: %v", err)
			}
			b = b.again()
		}
	})
}

func TestSESS24_DEC20_BrowsingNeedsNoLock(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.withState("x", "s")
		b.accept("s")
		equal(t, "state of a held session", b.stateOf("s"), "x")
		equal(t, "state of a session that is not there", b.stateOf("t"), "none")
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
		_, err := b.q.Sessions().BrowseState("s")
		wantCode(t, "state in a disabled queue", err, emulator.CodeEntityDisabled)
	})
}

func TestSESS25_TXN1_StateTakesPartInTransactions(t *testing.T) {
	for _, commit := range []bool{true, false} {
		bubble(t, sessionful, func(b *broker) {
			b.sendSession("s:1")
			b.withState("before", "s")
			h := b.accept("s")
			w := b.begin()
			w.settle(b, emulator.Complete, h.take(1)...)
			w.setState(h, "one")
			w.setState(h, "two")
			state, err := h.c.SessionState()
			equal(t, "state before the end", string(state), "before")
			equal(t, "error", err, nil)
			want := "before"
			if commit {
				w.commit()
				want = "two"
			} else {
				w.Rollback()
			}
			equal(t, "state", b.stateOf("s"), want)
			h.c.Close()
			b.verify(true)
			b.restart()
			equal(t, "state after a restart", b.stateOf("s"), want)
		})
	}
}

func (w *work) setState(h *holder, state string) {
	w.b.t.Helper()
	if err := w.SetSessionState(h.c, []byte(state)); err != nil {
		w.b.t.Fatalf("set state in a transaction: %v", err)
	}
}

func TestSESS25_SESS26_StateThatIsRolledBackLeavesNothing(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		w := b.begin()
		w.setState(h, "x")
		h.c.Close()
		equal(t, "sessions", b.q.InMemory().Sessions(), 1)
		w.Rollback()
		equal(t, "sessions", b.q.InMemory().Sessions(), 0)
		h = b.accept("s")
		w = b.begin()
		w.setState(h, "x")
		b.failOnce()
		if err := w.tryCommit(); err == nil {
			t.Error("committed")
		}
		h.c.Close()
		equal(t, "sessions", b.q.InMemory().Sessions(), 0)
	})
}

func TestSESS25_TXN18_StateOfASessionThatIsLostBeforeTheCommit(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		w := b.begin()
		w.setState(h, "x")
		wait(time.Minute)
		b.accept("s")
		wantCode(t, "commit", w.tryCommit(), emulator.CodeSessionLockLost)
		equal(t, "state", b.stateOf("s"), "none")
		wantCode(t, "set state without the lock", b.begin().SetSessionState(h.c, []byte("x")), emulator.CodeSessionLockLost)
	})
}

func TestSESS25_SESS23_StateThatIsTooLong(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		h := b.accept("s")
		err := b.begin().SetSessionState(h.c, make([]byte, b.q.Sessions().MaxState()+1))
		wantCode(t, "set state", err, emulator.CodeMessageTooLarge)
	})
}

func TestSESS25_TXN8_TXN14_StateOnOtherEntitiesAndPartitions(t *testing.T) {
	o := sessionful
	o.EnablePartitioning = true
	bubble(t, o, func(b *broker) {
		w := b.begin()
		w.send(b, inSession("s", "1"))
		w.setState(b.accept("S"), "x")
		wantCode(t, "another partition", w.SetSessionState(b.accept("t").c, nil), emulator.CodeNotAllowed)
		other := b.create("other", sessionful)
		wantCode(t, "another entity", w.SetSessionState(other.accept("s").c, nil), emulator.CodeNotAllowed)
		w.commit()
		equal(t, "state", b.stateOf("s"), "x")
		w = b.begin()
		w.setState(b.accept("next"), "x")
		wantCode(t, "send to another partition", w.Send(b.q, b.encodeAll([]*goamqp.Message{inSession("t", "2")})), emulator.CodeNotAllowed)
	})
}

func TestSESS27_SESS29_ModeAListsActiveMessagesAndStates(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("active:1", "locked:1", "deferred:1", "dead:1", "gone:1")
		b.accept("locked").take(1)
		for id, o := range map[string]emulator.Outcome{
			"deferred": emulator.Defer, "dead": emulator.DeadLetterOutcome, "gone": emulator.Complete,
		} {
			h := b.accept(id)
			b.settle(o, h.take(1)...)
			h.c.Close()
		}
		b.withState("x", "state")
		m := inSession("scheduled", "x")
		m.Annotations = map[any]any{"x-opt-scheduled-enqueue-time": soon(time.Hour)}
		b.send(m)
		b.accept("nothing")
		equalSlices(t, "sessions", b.sessions(true, time.Time{}, 0, 100), "active", "locked", "state")
		b.restart()
		equalSlices(t, "sessions after a restart", b.sessions(true, time.Time{}, 0, 100), "active", "locked", "state")
	})
}

func TestSESS27_ModeBListsStatesUpdatedAfterAnInstant(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("message:1")
		b.withState("x", "old", "renewed", "cleared")
		wait(time.Minute)
		cut := now()
		wait(time.Minute)
		b.withState("y", "renewed", "new")
		b.withState("", "cleared")
		equalSlices(t, "updated after the instant", b.sessions(false, cut, 0, 100), "new", "renewed")
		equalSlices(t, "all that have a state", b.sessions(false, time.UnixMilli(0), 0, 100), "new", "old", "renewed")
		equalSlices(t, "in the future", b.sessions(false, now().Add(time.Hour), 0, 100))
		b.restart()
		equalSlices(t, "updated after the instant, after a restart", b.sessions(false, cut, 0, 100), "new", "renewed")
	})
}

func TestSESS28_PagesReturnEachSessionOnce(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		equalSlices(t, "sessions of an empty queue", b.sessions(true, time.Time{}, 0, 100))
		var want []string
		for i := range 120 {
			want = append(want, fmt.Sprintf("session-%03d", i))
			b.sendSession(want[i] + ":x")
		}
		var have []string
		for _, n := range []int{100, 20, 0} {
			page := b.sessions(true, time.Time{}, len(have), 100)
			equal(t, "sessions on the page", len(page), n)
			have = append(have, page...)
		}
		if !slices.Equal(have, want) {
			t.Errorf("sessions %q", have)
		}
		equal(t, "page of a negative size", len(b.sessions(true, time.Time{}, -5, -1)), 0)
	})
}

// States stay in memory while there is room, with bodies in one budget, and are read from the disk otherwise. After a
// start they are on disk.
func TestSESS22_StatesKeepToTheBudget(t *testing.T) {
	const budget, states, size = 1 << 20, 300, 10 << 10
	bubbleWith(t, emulator.Options{BodyBudget: budget}, sessionful, func(b *broker) {
		state := func(i int) string { return fmt.Sprint(i, strings.Repeat("x", size)) }
		for i := range states {
			b.withState(state(i), fmt.Sprint("s", i))
		}
		all, _ := b.q.InMemory().Bodies()
		if all < budget/2 || all > budget+size {
			t.Errorf("%d bytes are in memory, with a budget of %d", all, budget)
		}
		check := func() {
			t.Helper()
			for i := range states {
				if got := b.stateOf(fmt.Sprint("s", i)); got != state(i) {
					t.Fatalf("state %d is %.20q with %d bytes", i, got, len(got))
				}
			}
			equalSlices(t, "faults", b.ns.Verify())
		}
		check()
		b.restart()
		if all, _ = b.q.InMemory().Bodies(); all != 0 {
			t.Errorf("%d bytes are in memory after a start", all)
		}
		check()
		b.withState("short", "s0")
		equal(t, "a new state", b.stateOf("s0"), "short")
		h := b.accept("s1")
		if got, err := h.c.SessionState(); err != nil || string(got) != state(1) {
			t.Errorf("its holder reads %.20q, %v", got, err)
		}
		h.c.Close()
		for i := range states {
			b.withState("", fmt.Sprint("s", i))
		}
		if all, _ = b.q.InMemory().Bodies(); all != 0 {
			t.Errorf("%d bytes are counted without states", all)
		}
	})
}

// A state that was cleared while it was being read is none, and one that can't be read is no state that was cleared.
func TestSESS22_StateThatIsReadWhileItChanges(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 1}, sessionful, func(b *broker) {
		b.withState(strings.Repeat("x", 200<<10), "s")
		b.restart()
		b.j.setReads(errDisk, 0)
		if state, err := b.q.Sessions().BrowseState("s"); !errors.Is(err, errDisk) {
			t.Errorf("%.20q, %v", state, err)
		}
		b.j.setReads(nil, 0)
		b.j.Pause()
		type result struct {
			state []byte
			err   error
		}
		got := make(chan result, 1)
		if err := b.q.Sessions().SetState("s", nil, emulator.CompletionFunc(func(error) {})); err != nil {
			t.Fatal(err)
		}
		if err := b.q.Sessions().FetchState("s", nil, func(state []byte, err error) { got <- result{state, err} }); err != nil {
			t.Fatal(err)
		}
		b.j.Resume()
		if r := <-got; r.state != nil || r.err != nil {
			t.Errorf("%.20q, %v", r.state, r.err)
		}
	})
}

// The states of a namespace that has much give way to one that has little.
func TestBudget_StatesGiveWay(t *testing.T) {
	const budget = 2 << 20
	houseBubble(t, emulator.Options{BodyBudget: budget}, []string{"orders", "stocks"}, func(h *house) {
		b := h.in("orders")
		q, err := b.ns.Entities().CreateQueue("sessions", emulator.QueueOptions{RequiresSession: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 400 {
			done := make(chan error, 1)
			err := q.Sessions().SetState(fmt.Sprint(i), make([]byte, 10<<10), emulator.CompletionFunc(func(err error) { done <- err }))
			if err != nil || <-done != nil {
				t.Fatal(err)
			}
		}
		h.in("stocks").store10K(80)
		synctest.Wait()
		if _, small := h.held("stocks"); small < 80*10<<10 {
			t.Errorf("the small one has %d bytes in memory: not all of its messages", small)
		}
		if all, states := q.InMemory().Bodies(); states > budget || all > budget+20<<10 {
			t.Errorf("states have %d bytes in memory, the process %d", states, all)
		}
		if err := b.ns.Entities().Delete("sessions"); err != nil {
			t.Fatal(err)
		}
		h.in("stocks").drain()
		if all, _ := h.held("stocks"); all != 0 {
			t.Errorf("%d bytes are counted of what is deleted", all)
		}
	})
}
