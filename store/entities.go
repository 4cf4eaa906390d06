package store

import (
	"fmt"
	"slices"

	"minibus/emulator"
)

// entities knows the entities, and writes them, their counters and the states of their sessions.
type entities struct {
	w      *writer
	byID   map[int64]*entityState
	drawn  []*entityState // with counters that the open transaction is still to write
	buried []*entityState // those that the open transaction deletes

	store, mark, putCount     *stmt
	putSession, removeSession *stmt
}

// entityState holds what the writer knows about an entity.
type entityState struct {
	id       int64
	rows     *rowRange
	path     string
	dead     bool  // deleted; the sweep removes its rows
	firstRow int64 // lower bound of its row ids

	counters []counter // those drawn from since the start
	drawn    bool      // some of them are not yet written

	keysFrom int64 // keys remembered before this instant (ms) are forgotten
	pruning  bool  // it is in duplicates.prunes
	group    int   // index of its youngest group in duplicates.pending; stale if the group there is another entity's
}

// counter is the last number drawn from a partition.
type counter struct {
	partition uint8
	drawn     bool // not yet written
	seq       int64
}

// prepare makes the statements and reads what is stored.
func (es *entities) prepare() error {
	err := prepareAll(es.w.conn, map[string]**stmt{
		`INSERT INTO entity(id, ns, kind, path, options, deleted, history_from) VALUES(?,?,?,?,?,0,0)
			ON CONFLICT(id) DO UPDATE SET kind=excluded.kind, path=excluded.path, options=excluded.options`: &es.store,
		"UPDATE entity SET deleted=1 WHERE id=?": &es.mark,
		`INSERT INTO counter(ns, entity, partition, last_seq) VALUES(?,?,?,?)
			ON CONFLICT DO UPDATE SET last_seq=excluded.last_seq`: &es.putCount,
		`INSERT INTO session(ns, entity, updated, id, state) VALUES(?,?,?,?,?)
			ON CONFLICT(entity, id) DO UPDATE SET updated=excluded.updated, state=excluded.state`: &es.putSession,
		"DELETE FROM session WHERE entity=? AND id=?": &es.removeSession,
	})
	if err != nil {
		return err
	}
	return es.w.conn.each("SELECT id, path, history_from, deleted FROM entity", func(st *stmt) error {
		id := st.columnInt(0)
		rows := es.w.namespaces.byNumber[emulator.NamespaceOf(id)]
		if rows == nil {
			return fmt.Errorf("the entity %d has no namespace: %w", id, errMalformed)
		}
		if es.w.namespaces.current[rows.record.ID] == rows {
			es.byID[id] = &entityState{
				id: id, rows: rows, path: string(st.columnView(1)),
				keysFrom: st.columnInt(2), dead: st.columnInt(3) != 0,
			}
		}
		return nil
	})
}

// live returns the state of an entity that exists and is not deleted.
func (es *entities) live(id int64) (*entityState, error) {
	e := es.byID[id]
	if e == nil {
		return nil, emulator.NotFound(fmt.Sprint(id))
	}
	if e.dead {
		return nil, emulator.NotFound(e.path)
	}
	return e, nil
}

// put stores or updates an entity. An update keeps the counters.
func (es *entities) put(rec *emulator.EntityRecord) error {
	e := es.byID[rec.ID]
	switch {
	case e == nil:
		rows, err := es.w.namespaces.live(rec.ID)
		if err != nil {
			return err
		}
		e = &entityState{id: rec.ID, rows: rows, firstRow: rows.high + 1}
		es.byID[rec.ID] = e
		es.w.undo = append(es.w.undo, func() { delete(es.byID, rec.ID) })
	case e.dead:
		return emulator.NotFound(rec.Path)
	}
	oldPath := e.path
	es.w.undo = append(es.w.undo, func() { e.path = oldPath })
	e.path = rec.Path
	es.w.namespaces.use(e.rows, rec.ID)
	es.store.bindInts(rec.ID, e.rows.number, int64(rec.Kind))
	es.store.bindText(4, rec.Path)
	es.store.bindTextOrNull(5, string(rec.Options))
	if err := es.store.exec(); err != nil {
		return fmt.Errorf("store entity %s: %w", rec.Path, err)
	}
	return nil
}

// bury marks an entity as deleted.
func (es *entities) bury(id int64) error {
	e, err := es.live(id)
	if err != nil {
		return err
	}
	if err := es.mark.run(id); err != nil {
		return fmt.Errorf("delete entity %s: %w", e.path, err)
	}
	k := len(es.buried)
	es.buried, e.dead = append(es.buried, e), true
	es.w.undo = append(es.w.undo, func() { es.buried, e.dead = es.buried[:k], false })
	return nil
}

// count notes a number that no message keeps.
func (es *entities) count(op *emulator.Op) error {
	e, err := es.live(op.Record.Entity)
	if err == nil {
		es.draw(e, op.Partition, op.Record.Seq)
	}
	return err
}

// draw notes a number that was drawn from e. The last one counts, not the greatest (SEQ-6).
func (es *entities) draw(e *entityState, partition uint8, seq int64) {
	i := slices.IndexFunc(e.counters, func(c counter) bool { return c.partition == partition })
	if i < 0 {
		i = len(e.counters)
		e.counters = append(e.counters, counter{partition: partition})
	}
	e.counters[i].seq, e.counters[i].drawn = seq, true
	if !e.drawn {
		e.drawn = true
		es.drawn = append(es.drawn, e)
	}
}

// writeCounters puts the counters drawn from into the open transaction.
func (es *entities) writeCounters() error {
	for _, e := range es.drawn {
		for i := range e.counters {
			c := &e.counters[i]
			if !c.drawn {
				continue
			}
			if err := es.putCount.run(e.rows.number, e.id, int64(c.partition), c.seq); err != nil {
				return fmt.Errorf("write the counter of %s: %w", e.path, err)
			}
			c.drawn = false
		}
		e.drawn = false
	}
	es.drawn = es.drawn[:0]
	return nil
}

// dropCounters forgets the counters that are not written, after a failure.
func (es *entities) dropCounters() {
	for _, e := range es.drawn {
		e.drawn = false
		for i := range e.counters {
			e.counters[i].drawn = false
		}
	}
	es.drawn = es.drawn[:0]
}

// setSession stores or removes the state of a session (SESS-22).
func (es *entities) setSession(op *emulator.Op) error {
	r := &op.Record
	e, err := es.live(r.Entity)
	if err != nil {
		return err
	}
	st := es.putSession
	if op.Data == nil {
		st = es.removeSession
		st.bindInt(1, r.Entity)
		st.bindText(2, r.SessionID)
	} else {
		if len(op.Data) > maxInline {
			defer st.shrink(5)
		}
		st.bindInts(emulator.NamespaceOf(r.Entity), r.Entity, r.Enqueued)
		st.bindText(4, r.SessionID)
		st.bindBlob(5, op.Data)
	}
	if err := st.exec(); err != nil {
		return fmt.Errorf("write the state of session %q of %s: %w", r.SessionID, e.path, err)
	}
	return nil
}
