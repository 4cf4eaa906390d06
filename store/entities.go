package store

import (
	"fmt"
	"slices"

	"minibus/emulator"
)

// entityState holds what the writer knows about an entity.
type entityState struct {
	id       int64
	path     string
	dead     bool  // deleted; the sweep removes its rows
	firstRow int64 // lower bound of its row ids

	counters []counter // those drawn from since the start
	drawn    bool      // some of them are not yet written

	historyFrom int64 // keys remembered before this instant (ms) are forgotten
	pruning     bool  // it is in writer.prunes
	group       int   // index of its youngest group in writer.history; stale if the group there is another entity's
}

// counter is the last number drawn from a partition.
type counter struct {
	partition uint8
	drawn     bool // not yet written
	seq       int64
}

// holds notes that a row belongs to e: a row moved here can be older than e.
func (e *entityState) holds(row int64) { e.firstRow = min(e.firstRow, row) }

// live returns the state of an entity that exists and is not deleted.
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

// putEntity stores or updates an entity. An update keeps the counters.
func (w *writer) putEntity(rec *emulator.EntityRecord) error {
	e := w.entities[rec.ID]
	switch {
	case e == nil:
		e = &entityState{id: rec.ID, firstRow: w.high + 1}
		w.entities[rec.ID] = e
		w.undo = append(w.undo, func() { delete(w.entities, rec.ID) })
	case e.dead:
		return emulator.NotFound(rec.Path)
	}
	oldPath := e.path
	w.undo = append(w.undo, func() { e.path = oldPath })
	e.path = rec.Path
	w.high = max(w.high, rec.ID)
	st := w.st.putEntity
	st.bindInt(1, rec.ID)
	st.bindInt(2, int64(rec.Kind))
	if err := st.bindText(3, rec.Path); err != nil {
		return err
	}
	if err := st.bindTextOrNull(4, string(rec.Options)); err != nil {
		return err
	}
	if err := st.exec(); err != nil {
		return fmt.Errorf("store entity %s: %w", rec.Path, err)
	}
	return nil
}

func (w *writer) buryEntity(id int64) error {
	e, err := w.live(id)
	if err != nil {
		return err
	}
	w.st.buryEntity.bindInt(1, id)
	if err := w.st.buryEntity.exec(); err != nil {
		return fmt.Errorf("delete entity %s: %w", e.path, err)
	}
	e.dead = true
	w.undo = append(w.undo, func() { e.dead = false })
	w.buried = append(w.buried, e)
	return nil
}

// draw notes the number that op drew. The last one counts, not the greatest (SEQ-6).
func (w *writer) draw(e *entityState, op *emulator.Op) {
	i := slices.IndexFunc(e.counters, func(c counter) bool { return c.partition == op.Partition })
	if i < 0 {
		i = len(e.counters)
		e.counters = append(e.counters, counter{partition: op.Partition})
	}
	e.counters[i].seq, e.counters[i].drawn = op.Record.Seq, true
	if !e.drawn {
		e.drawn = true
		w.drawn = append(w.drawn, e)
	}
}

// writePending writes what the operations so far have gathered: counters, each once, and the history of duplicate
// detection.
func (w *writer) writePending() error {
	for _, e := range w.drawn {
		for _, c := range e.counters {
			if !c.drawn {
				continue
			}
			w.st.count.bindInt(1, e.id)
			w.st.count.bindInt(2, int64(c.partition))
			w.st.count.bindInt(3, c.seq)
			if err := w.st.count.exec(); err != nil {
				return fmt.Errorf("write the counter of %s: %w", e.path, err)
			}
		}
	}
	if err := w.writeHistory(); err != nil {
		return err
	}
	w.dropPending()
	return nil
}

// dropPending forgets the gathered counters and keys.
func (w *writer) dropPending() {
	for _, e := range w.drawn {
		e.drawn = false
		for i := range e.counters {
			e.counters[i].drawn = false
		}
	}
	w.drawn, w.history = w.drawn[:0], w.history[:0]
}

// reserveRows reserves more ids, in the open transaction, when the last block is used up.
func (w *writer) reserveRows() error {
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
	if w.high >= w.reserved {
		w.reserved = w.high + rowBlock
	}
	for _, e := range w.buried {
		w.startSweep(e)
	}
	w.gone, w.leaving = append(w.gone, w.leaving...), w.leaving[:0]
	w.undo, w.buried = w.undo[:0], w.buried[:0]
}

// forget returns to the committed view.
func (w *writer) forget() {
	w.dropPending()
	w.takeBack(0, 0)
}

// takeBack undoes the changes to the writer's view since undo and buried had the given lengths.
func (w *writer) takeBack(undo, buried int) {
	for i := len(w.undo) - 1; i >= undo; i-- {
		w.undo[i]()
	}
	w.undo, w.buried = w.undo[:undo], w.buried[:buried]
}
