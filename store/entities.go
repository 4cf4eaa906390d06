package store

import (
	"fmt"

	"minibus/emulator"
)

// entityState is what the writer knows of an entity: its counter, and whether it is deleted.
type entityState struct {
	id       int64
	path     string
	dead     bool  // deleted; its rows are being removed in the background
	firstRow int64 // none of its rows has a smaller id
	lastSeq  int64 // last number drawn, as the open transaction will leave it
	saved    int64 // last number drawn, as committed
}

// live returns the state of an entity into which messages may be put.
func (w *writer) live(id int64) (*entityState, error) {
	e := w.entities[id]
	if e == nil {
		return nil, emulator.NotFound(fmt.Sprint(id))
	}
	if e.dead {
		return nil, emulator.NotFound(e.path)
	}
	return e, nil
}

// draw raises the counter of e.
func (w *writer) draw(e *entityState, seq int64) {
	if seq <= e.lastSeq {
		return
	}
	if e.lastSeq == e.saved {
		w.raised = append(w.raised, e)
	}
	if w.alone {
		old := e.lastSeq
		w.undo = append(w.undo, func() { e.lastSeq = old })
	}
	e.lastSeq = seq
}

// writeCounters puts the raised counters, and the reservation of ids, into the open transaction.
func (w *writer) writeCounters() error {
	for _, e := range w.raised {
		w.st.raise.bindInt(1, e.lastSeq)
		w.st.raise.bindInt(2, e.id)
		if err := w.st.raise.exec(); err != nil {
			return fmt.Errorf("write the counter of %s: %w", e.path, err)
		}
	}
	if w.high >= w.reserved {
		return w.writeNextRow(w.high + rowBlock)
	}
	return nil
}

func (w *writer) writeNextRow(next int64) error {
	w.st.nextRow.bindInt(1, next)
	if err := w.st.nextRow.exec(); err != nil {
		return fmt.Errorf("reserve row ids: %w", err)
	}
	return nil
}

// settle makes the open transaction's view of entities the committed one.
func (w *writer) settle() {
	for _, e := range w.raised {
		e.saved = e.lastSeq
	}
	if w.high >= w.reserved {
		w.reserved = w.high + rowBlock
	}
	for _, e := range w.buried {
		w.startSweep(e)
	}
	w.clearPending()
}

// forget returns to the committed view.
func (w *writer) forget() {
	w.takeBack(0, 0)
	for _, e := range w.raised {
		e.lastSeq = e.saved
	}
	w.clearPending()
}

// takeBack undoes what was noted of entities since undo and buried had the given lengths.
func (w *writer) takeBack(undo, buried int) {
	for i := len(w.undo) - 1; i >= undo; i-- {
		w.undo[i]()
	}
	w.undo, w.buried = w.undo[:undo], w.buried[:buried]
}

func (w *writer) clearPending() {
	w.raised, w.undo, w.buried = w.raised[:0], w.undo[:0], w.buried[:0]
}
