package storetest

import (
	"errors"
	"testing"

	"minibus/emulator"
)

func TestMemoryConformance(t *testing.T) {
	Run(t, func(*testing.T) (Journal, func() Journal) {
		m := NewMemory()
		return m, func() Journal { m = m.Reopen(); return m }
	})
}

func TestMemoryFailNextFailsWhatIsQueuedBehind(t *testing.T) {
	m := NewMemory()
	h := &harness{t: t, Journal: m, next: m.NextRow()}
	q := h.queue("q")
	broken := errors.New("broken")
	m.Pause()
	m.FailNext(1, broken)
	a, b := h.begin(h.message(q, 1, "x")), h.begin(h.message(q, 2, "x"))
	m.Resume()
	if errA, errB := <-a, <-b; !errors.Is(errA, broken) || !errors.Is(errB, broken) {
		t.Errorf("results are %v and %v, want both broken", errA, errB)
	}
	h.flush()
	h.must(h.message(q, 1, "x"))
	if got := m.Reopen().content.last[counterKey{q, 0}]; got != 1 {
		t.Errorf("last number is %d, want 1", got)
	}
}

func TestMemoryPauseHoldsEverythingBack(t *testing.T) {
	m := NewMemory()
	h := &harness{t: t, Journal: m, next: m.NextRow()}
	q := h.queue("q")
	commits := m.Commits()
	m.Pause()
	res := h.begin(h.message(q, 1, "x"))
	m.Append(&emulator.Change{})
	if m.Commits() != commits || len(res) != 0 {
		t.Error("something was committed during the pause")
	}
	m.Resume()
	if err := <-res; err != nil {
		t.Error(err)
	}
}

// The domain's tests show with this that it keeps the contract, on which the order of changes in a database depends.
func TestMemoryRefusesChangesOfARowBeforeItsLastIsCompleted(t *testing.T) {
	m := NewMemory()
	h := &harness{t: t, Journal: m, next: m.NextRow()}
	q := h.queue("q")
	op := h.message(q, 1, "x")
	m.Pause()
	inserted := h.begin(op)
	remove := &emulator.Change{Ops: []emulator.Op{{Kind: emulator.OpDelete, Record: op.Record, DropBody: true}}}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a message was removed before it was stored")
			}
		}()
		m.Append(remove)
	}()
	m.Resume()
	if err := <-inserted; err != nil {
		t.Fatal(err)
	}
	m.Append(remove)
	m.WaitUntilWhole()
	if n, _ := m.Stored(); n != 0 {
		t.Errorf("%d messages are stored, want 0", n)
	}
}

func TestMemoryKeepsNamespaces(t *testing.T) {
	RunStore(t, func(*testing.T) (Store, func() Store) {
		m := NewMemory()
		return m, func() Store { m = m.Reopen(); return m }
	})
}
