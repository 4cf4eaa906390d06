package store

import (
	"fmt"

	"minibus/emulator"
)

// The history of duplicate detection (DUP-16). A key costs next to nothing, because all keys that a commit remembers
// for an entity in the same millisecond share a row. Forgetting writes only an instant into the row of the entity;
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

// history writes the keys of duplicate detection.
type history struct {
	w       *writer
	pending []remembered   // keys that the open transaction is still to write
	prunes  []*entityState // entities with forgotten keys to be removed

	add, setFrom, prune *stmt
}

// remembered is a row of history that is not yet written.
type remembered struct {
	entity *entityState
	at     int64
	keys   []byte
}

func (h *history) prepare() error {
	return prepareAll(h.w.conn, map[string]**stmt{
		"INSERT OR IGNORE INTO history(ns, entity, at, keys) VALUES(?,?,?,?)": &h.add,
		"UPDATE entity SET history_from=? WHERE id=?":                         &h.setFrom,
		pruneSQL: &h.prune,
	})
}

// remember adds a key to the group of its entity and millisecond.
func (h *history) remember(op *emulator.Op) error {
	e, err := h.w.entities.live(op.Record.Entity)
	if err != nil {
		return err
	}
	at := op.Record.Enqueued
	if len(op.Data) != keySize {
		return &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("history key of %d bytes", len(op.Data))}
	}
	if at < e.historyFrom { // the clock went back: the new key must not count as forgotten
		if err := h.forgetBefore(e, at); err != nil {
			return err
		}
	}
	if e.group < len(h.pending) {
		g := &h.pending[e.group]
		if g.entity == e && g.at == at && len(g.keys) < keysPerGroup*keySize {
			g.keys = append(g.keys, op.Data...)
			return nil
		}
	}
	e.group = len(h.pending)
	if e.group == cap(h.pending) {
		h.pending = append(h.pending, remembered{})
	} else {
		h.pending = h.pending[:e.group+1] // reuses the old buffer
	}
	g := &h.pending[e.group]
	g.entity, g.at, g.keys = e, at, append(g.keys[:0], op.Data...)
	return nil
}

// write puts the gathered keys into the open transaction.
func (h *history) write() error {
	for _, g := range h.pending {
		h.w.copies.remembered(g.entity.id, g.at, g.keys)
		h.add.bindInts(g.entity.space.number, g.entity.id, g.at)
		if err := h.add.bindBlob(4, g.keys); err != nil {
			return err
		}
		if err := h.add.exec(); err != nil {
			return fmt.Errorf("write the history of %s: %w", g.entity.path, err)
		}
	}
	return nil
}

// forget forgets the keys from before an instant. It does nothing for a deleted entity.
func (h *history) forget(entity, before int64) error {
	e := h.w.entities.byID[entity]
	if e == nil || e.dead || before <= e.historyFrom {
		return nil
	}
	if err := h.forgetBefore(e, before); err != nil {
		return err
	}
	h.pruneLater(e)
	return nil
}

func (h *history) forgetBefore(e *entityState, from int64) error {
	if err := h.setFrom.run(from, e.id); err != nil {
		return fmt.Errorf("mark the history of %s: %w", e.path, err)
	}
	old := e.historyFrom
	e.historyFrom = from
	h.w.undo = append(h.w.undo, func() { e.historyFrom = old })
	return nil
}

// pruneLater queues e for the removal of its forgotten keys.
func (h *history) pruneLater(e *entityState) {
	if !e.pruning {
		e.pruning = true
		h.prunes = append(h.prunes, e)
	}
}

// pruneSome removes some forgotten keys of the entity that has waited longest. After a failure, for example on a full
// disk, they stay until the next forgetting or start.
func (h *history) pruneSome() {
	e := h.prunes[0]
	end := e.dead // the sweep removes its history
	if !end {
		err := h.w.tx.aside(func() (err error) {
			end, err = h.pruneRows(e.id, e.historyFrom)
			return err
		})
		if err != nil {
			h.w.s.log.Warn("removing old keys of duplicate detection failed; it goes on later",
				"entity", e.path, "error", err)
			end = true
		}
	}
	if end {
		e.pruning = false
		h.prunes = h.prunes[1:]
		h.w.vacuum.look = true
	}
}

// pruneRows removes some rows of history from before an instant and reports whether those were the last.
func (h *history) pruneRows(entity, before int64) (end bool, err error) {
	if err := h.prune.run(entity, before, pruneRows-1); err != nil {
		return false, fmt.Errorf("remove old history: %w", err)
	}
	return h.w.conn.changes() < pruneRows, nil
}
