package store

import (
	"fmt"

	"minibus/emulator"
)

// The history of duplicate detection (DUP-16). A key costs next to nothing, because all keys that a commit remembers for an
// entity in the same millisecond share a row. Forgetting writes only an instant into the row of the entity;
// the writer removes older rows between the batches, a bounded number at a time.
const (
	keySize      = 16
	keysPerGroup = 64  // 1 KiB, which a page of the index keeps without overflow
	pruneRows    = 200 // rows of history that one step removes
)

// pruneSQL removes the oldest rows of an entity from before an instant, ?3+1 of them and the rest of the last one's
// millisecond, so that every run makes progress.
const pruneSQL = `DELETE FROM history WHERE entity=?1 AND at<=coalesce(
	(SELECT at FROM history WHERE entity=?1 AND at<?2 ORDER BY at LIMIT 1 OFFSET ?3), ?2-1)`

// remembered is a row of history that is not yet written.
type remembered struct {
	entity *entityState
	at     int64
	keys   []byte
}

// remember adds a key to the group of its entity and millisecond.
func (w *writer) remember(op *emulator.Op) error {
	e, err := w.live(op.Record.Entity)
	if err != nil {
		return err
	}
	at := op.Record.Enqueued
	if len(op.Data) != keySize {
		return &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("history key of %d bytes", len(op.Data))}
	}
	if at < e.historyFrom { // the clock went back: the new key must not count as forgotten
		if err := w.setHistoryFrom(e, at); err != nil {
			return err
		}
	}
	if e.group < len(w.history) {
		g := &w.history[e.group]
		if g.entity == e && g.at == at && len(g.keys) < keysPerGroup*keySize {
			g.keys = append(g.keys, op.Data...)
			return nil
		}
	}
	e.group = len(w.history)
	if e.group == cap(w.history) {
		w.history = append(w.history, remembered{})
	} else {
		w.history = w.history[:e.group+1] // reuses the old buffer
	}
	g := &w.history[e.group]
	g.entity, g.at, g.keys = e, at, append(g.keys[:0], op.Data...)
	return nil
}

// writeHistory puts the gathered keys into the open transaction.
func (w *writer) writeHistory() error {
	st := w.st.remember
	for _, g := range w.history {
		st.bindInt(1, g.entity.id)
		st.bindInt(2, g.at)
		if err := st.bindBlob(3, g.keys); err != nil {
			return err
		}
		if err := st.exec(); err != nil {
			return fmt.Errorf("write the history of %s: %w", g.entity.path, err)
		}
	}
	return nil
}

// pruneHistory forgets the keys from before an instant. It does nothing for a deleted entity.
func (w *writer) pruneHistory(entity, before int64) error {
	e := w.entities[entity]
	if e == nil || e.dead || before <= e.historyFrom {
		return nil
	}
	if err := w.setHistoryFrom(e, before); err != nil {
		return err
	}
	w.prune(e)
	return nil
}

func (w *writer) setHistoryFrom(e *entityState, from int64) error {
	w.st.forgetBefore.bindInt(1, from)
	w.st.forgetBefore.bindInt(2, e.id)
	if err := w.st.forgetBefore.exec(); err != nil {
		return fmt.Errorf("mark the history of %s: %w", e.path, err)
	}
	old := e.historyFrom
	e.historyFrom = from
	w.undo = append(w.undo, func() { e.historyFrom = old })
	return nil
}

// prune queues e for the removal of its forgotten keys.
func (w *writer) prune(e *entityState) {
	if !e.pruning {
		e.pruning = true
		w.prunes = append(w.prunes, e)
	}
}

// pruneSome removes some forgotten keys of the entity that has waited longest. After a failure, for example on a full
// disk, they stay until the next forgetting or start.
func (w *writer) pruneSome() {
	e := w.prunes[0]
	end := e.dead // the sweep removes its history
	if !end {
		var err error
		end, err = w.inTransaction(func() (bool, error) { return w.pruneRows(e.id, e.historyFrom) })
		if err != nil {
			w.s.log.Warn("removing old keys of duplicate detection failed; it goes on later", "entity", e.path, "error", err)
			end = true
		}
	}
	if end {
		e.pruning = false
		w.prunes = w.prunes[1:]
		w.care.look = true
	}
}

// pruneRows removes some rows of history from before an instant and reports whether those were the last.
func (w *writer) pruneRows(entity, before int64) (end bool, err error) {
	w.st.prune.bindInt(1, entity)
	w.st.prune.bindInt(2, before)
	w.st.prune.bindInt(3, pruneRows-1)
	if err := w.st.prune.exec(); err != nil {
		return false, fmt.Errorf("remove old history: %w", err)
	}
	return w.conn.changes() < pruneRows, nil
}
