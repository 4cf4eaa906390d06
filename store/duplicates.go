package store

import (
	"fmt"

	"minibus/emulator"
)

// The keys of duplicate detection (DUP-16). A key costs next to nothing, because all keys that a commit remembers
// for an entity in the same millisecond share a row. Forgetting writes only an instant into the row of the entity;
// the writer removes older rows between the batches, a bounded number at a time.
const (
	keySize      = 16
	keysPerGroup = 64  // 1 KiB, which a page of the index keeps without overflow
	pruneRows    = 200 // rows of the table history that one step removes
)

// pruneSQL removes the oldest rows of an entity from before an instant, ?3+1 of them and the rest of the last one's
// millisecond, so that every run makes progress.
const pruneSQL = `DELETE FROM history WHERE entity=?1 AND at<=coalesce(
	(SELECT at FROM history WHERE entity=?1 AND at<?2 ORDER BY at LIMIT 1 OFFSET ?3), ?2-1)`

// duplicates writes the keys of duplicate detection.
type duplicates struct {
	w       *writer
	pending []remembered   // keys that the open transaction is still to write
	prunes  []*entityState // entities with forgotten keys to be removed

	add, setFrom, prune *stmt
}

// remembered is a row of the table history that is not yet written.
type remembered struct {
	entity *entityState
	at     int64
	keys   []byte
}

func (d *duplicates) prepare() error {
	return prepareAll(d.w.conn, map[string]**stmt{
		"INSERT OR IGNORE INTO history(ns, entity, at, keys) VALUES(?,?,?,?)": &d.add,
		"UPDATE entity SET history_from=? WHERE id=?":                         &d.setFrom,
		pruneSQL: &d.prune,
	})
}

// remember adds a key to the group of its entity and millisecond.
func (d *duplicates) remember(op *emulator.Op) error {
	e, err := d.w.entities.live(op.Record.Entity)
	if err != nil {
		return err
	}
	at := op.Record.Enqueued
	if len(op.Data) != keySize {
		text := fmt.Sprintf("a duplicate key of %d bytes", len(op.Data))
		return &emulator.Error{Code: emulator.CodeInternal, Text: text}
	}
	if at < e.keysFrom { // the clock went back: the new key must not count as forgotten
		if err := d.forgetBefore(e, at); err != nil {
			return err
		}
	}
	if e.group < len(d.pending) {
		g := &d.pending[e.group]
		if g.entity == e && g.at == at && len(g.keys) < keysPerGroup*keySize {
			g.keys = append(g.keys, op.Data...)
			return nil
		}
	}
	e.group = len(d.pending)
	if e.group == cap(d.pending) {
		d.pending = append(d.pending, remembered{})
	} else {
		d.pending = d.pending[:e.group+1] // reuses the old buffer
	}
	g := &d.pending[e.group]
	*g = remembered{entity: e, at: at, keys: append(g.keys[:0], op.Data...)}
	return nil
}

// write puts the gathered keys into the open transaction.
func (d *duplicates) write() error {
	for _, g := range d.pending {
		d.add.bindInts(g.entity.rows.number, g.entity.id, g.at)
		d.add.bindBlob(4, g.keys)
		if err := d.add.exec(); err != nil {
			return fmt.Errorf("write the duplicate keys of %s: %w", g.entity.path, err)
		}
	}
	d.pending = d.pending[:0]
	return nil
}

// forget forgets the keys from before an instant. It does nothing for a deleted entity.
func (d *duplicates) forget(entity, before int64) error {
	e := d.w.entities.byID[entity]
	if e == nil || e.dead || before <= e.keysFrom {
		return nil
	}
	if err := d.forgetBefore(e, before); err != nil {
		return err
	}
	d.pruneLater(e)
	return nil
}

func (d *duplicates) forgetBefore(e *entityState, from int64) error {
	if err := d.setFrom.run(from, e.id); err != nil {
		return fmt.Errorf("mark the duplicate keys of %s: %w", e.path, err)
	}
	old := e.keysFrom
	e.keysFrom = from
	d.w.undo = append(d.w.undo, func() { e.keysFrom = old })
	return nil
}

// pruneLater queues e for the removal of its forgotten keys.
func (d *duplicates) pruneLater(e *entityState) {
	if !e.pruning {
		e.pruning = true
		d.prunes = append(d.prunes, e)
	}
}

// pruneSome removes some forgotten keys of the entity that has waited longest, and reports whether there were any.
// After a failure, for example on a full disk, they stay until the next forgetting or start.
func (d *duplicates) pruneSome() bool {
	if len(d.prunes) == 0 {
		return false
	}
	e := d.prunes[0]
	end := e.dead // the sweep removes its keys
	if !end {
		err := d.w.tx.aside(func() (err error) {
			end, err = d.pruneRows(e.id, e.keysFrom)
			return err
		})
		if err != nil {
			d.w.s.log.Warn("removing old keys of duplicate detection failed; it goes on later",
				"entity", e.path, "error", err)
			end = true
		}
	}
	if end {
		e.pruning = false
		d.prunes = d.prunes[1:]
		d.w.vacuum.look = true
	}
	return true
}

// pruneRows removes some rows from before an instant and reports whether those were the last.
func (d *duplicates) pruneRows(entity, before int64) (end bool, err error) {
	if err := d.prune.run(entity, before, pruneRows-1); err != nil {
		return false, fmt.Errorf("remove old duplicate keys: %w", err)
	}
	return d.w.conn.changes() < pruneRows, nil
}
