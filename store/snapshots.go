package store

import (
	"context"
	"fmt"
	"maps"

	"minibus/emulator"
)

// A snapshot is a copy of the rows of a namespace, with ids of another number (snapshot_copy.go). The table snapshot
// has its name and when it was saved. A number counts as a snapshot once it has a row there.

// Snapshots implements [emulator.SnapshotStore].
func (s *Store) Snapshots(namespace int64) (all []emulator.SnapshotRecord) {
	n := &s.writer.namespaces
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.snapshots {
		if r.Namespace == namespace {
			all = append(all, r)
		}
	}
	return all
}

// SaveSnapshot implements [emulator.SnapshotStore].
func (s *Store) SaveSnapshot(
	ctx context.Context, r *emulator.SnapshotRecord, instead int64, begun, done emulator.Completion,
) {
	c := &snapshotCopy{ctx: ctx, snapshot: r, instead: instead, to: &rowRange{number: r.Number}, done: done}
	s.beginCopy(r.Namespace, c, begun)
}

// CopySnapshot implements [emulator.SnapshotStore].
func (s *Store) CopySnapshot(ctx context.Context, number, to int64, done emulator.Completion) {
	c := &snapshotCopy{ctx: ctx, of: number, to: &rowRange{number: to}, done: done}
	s.beginCopy(0, c, emulator.CompletionFunc(func(err error) {
		if err != nil {
			done.Completed(err)
		}
	}))
}

// beginCopy begins a copy in its place among the changes of a namespace.
func (s *Store) beginCopy(namespace int64, c *snapshotCopy, begun emulator.Completion) {
	number := c.to.number
	s.writer.copier.asked.Store(number, c)
	s.change(namespace, emulator.CompletionFunc(func(err error) {
		s.writer.copier.asked.Delete(number)
		begun.Completed(err)
	}), emulator.Op{Kind: opBeginCopy, Entity: emulator.EntityRecord{ID: number}})
}

// LoadCopy implements [emulator.SnapshotStore].
func (s *Store) LoadCopy(number int64, l emulator.Loader) error {
	if _, err := s.loads.load(number, l); err != nil {
		return fmt.Errorf("load a snapshot from database %s: %w", s.path, err)
	}
	return nil
}

// AdoptCopy implements [emulator.SnapshotStore].
func (s *Store) AdoptCopy(r emulator.NamespaceRecord, number int64, done emulator.Completion) {
	op := putNamespaceOp(r)
	op.Kind, op.Record.Row = opAdoptCopy, number
	s.change(r.ID, done, op)
}

// DropCopy implements [emulator.SnapshotStore].
func (s *Store) DropCopy(number int64, done emulator.Completion) {
	s.change(0, done, emulator.Op{Kind: opDropCopy, Entity: emulator.EntityRecord{ID: number}})
}

// readSnapshots reads the list.
func (n *namespaces) readSnapshots() error {
	const all = "SELECT number, namespace, saved, now, frozen, entities, messages, bytes, name FROM snapshot"
	return n.w.conn.each(all, func(st *stmt) error {
		r := emulator.SnapshotRecord{
			Number: st.columnInt(0), Namespace: st.columnInt(1), Name: string(st.columnView(8)),
			Saved: st.columnInt(2), Now: st.columnInt(3), Frozen: st.columnInt(4) != 0,
			Entities: st.columnInt(5), Messages: st.columnInt(6), Bytes: st.columnInt(7),
		}
		n.snapshots[r.Number] = r
		return nil
	})
}

// reserve makes a number that a namespace owns, for a copy of from.
func (n *namespaces) reserve(from, to *rowRange) error {
	first, _ := emulator.RowsOf(from.number)
	firstTo, _ := emulator.RowsOf(to.number)
	to.record, to.high = from.record, from.high-first+firstTo
	to.adopted = true
	to.reserved, to.opened = to.high+1, to.high+1
	if err := n.own.run(to.number, from.record.Created, to.reserved, from.record.ID); err != nil {
		return fmt.Errorf("reserve a number for a copy: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	next := n.next
	n.byNumber[to.number], n.next = to, max(next, to.number+1)
	n.onUndo(func() {
		delete(n.byNumber, to.number)
		n.next = next
	})
	return nil
}

// storeSnapshot makes a finished copy a snapshot, and returns what is to be called when that is committed.
func (n *namespaces) storeSnapshot(r *emulator.SnapshotRecord, instead int64) (stored func(), err error) {
	old := n.byNumber[instead]
	if old != nil {
		if err := n.removeSnapshot(instead); err != nil {
			return nil, fmt.Errorf("replace the snapshot %s: %w", r.Name, err)
		}
	}
	frozen := int64(0)
	if r.Frozen {
		frozen = 1
	}
	n.putSnapshot.bindInts(r.Number, r.Namespace, r.Saved, r.Now, frozen, r.Entities, r.Messages, r.Bytes)
	n.putSnapshot.bindText(9, r.Name)
	if err := n.putSnapshot.exec(); err != nil {
		return nil, fmt.Errorf("store the snapshot %s: %w", r.Name, err)
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.snapshots[r.Number] = *r
		delete(n.snapshots, instead)
		if old != nil {
			old.dead = true
			n.w.sweeper.clear(old)
		}
	}, nil
}

// removeSnapshot marks the rows of a number as deleted and removes its row as a snapshot, if it has one.
func (n *namespaces) removeSnapshot(number int64) error {
	if err := n.leave.run(number); err != nil {
		return err
	}
	return n.forgets.run(number, 0)
}

// drop marks a snapshot, or a copy that is not adopted, as deleted. One that is not there is no error.
func (n *namespaces) drop(number int64) error {
	rows := n.byNumber[number]
	if rows == nil || rows.dead {
		return nil
	}
	if n.current[rows.record.ID] == rows {
		text := fmt.Sprintf("the number %d is that of a namespace", number)
		return &emulator.Error{Code: emulator.CodeInternal, Text: text}
	}
	if err := n.removeSnapshot(number); err != nil {
		return fmt.Errorf("delete a snapshot of namespace %s: %w", rows.record.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	before := maps.Clone(n.snapshots)
	delete(n.snapshots, number)
	n.onUndo(func() { n.snapshots = before })
	n.buryLocked(rows)
	return nil
}

// adopt makes a copy what a namespace has.
func (n *namespaces) adopt(op *emulator.Op) error {
	id := op.Entity.ID
	old, rows := n.current[id], n.byNumber[op.Record.Row]
	if old == nil || rows == nil || rows.dead || rows.record.ID != id {
		return noNamespace(id)
	}
	if err := n.put(op); err != nil {
		return err
	}
	if err := n.number.run(rows.number, id); err != nil {
		return fmt.Errorf("restore namespace %s: %w", old.record.Name, err)
	}
	if err := n.leave.run(old.number); err != nil {
		return fmt.Errorf("restore namespace %s: %w", old.record.Name, err)
	}
	first, _ := emulator.RowsOf(old.number)
	firstOf, _ := emulator.RowsOf(rows.number)
	n.use(rows, old.high-first+firstOf)
	n.mu.Lock()
	defer n.mu.Unlock()
	before := *rows
	rows.record, rows.opened = old.record, rows.high+1
	n.current[id] = rows
	n.onUndo(func() {
		rows.record, rows.opened = before.record, before.opened
		n.current[id] = old
	})
	n.buryLocked(old)
	return n.w.entities.adopt(rows)
}

// adopt takes in the entities of a copy that a namespace has from now on.
func (es *entities) adopt(rows *rowRange) error {
	first, last := emulator.RowsOf(rows.number)
	es.w.undo = append(es.w.undo, func() {
		maps.DeleteFunc(es.byID, func(_ int64, e *entityState) bool { return e.rows == rows })
	})
	all := fmt.Sprintf("SELECT id, path, history_from FROM entity WHERE id BETWEEN %d AND %d", first, last)
	return es.w.conn.each(all, func(st *stmt) error {
		id := st.columnInt(0)
		es.byID[id] = &entityState{
			id: id, rows: rows, path: string(st.columnView(1)), keysFrom: st.columnInt(2), firstRow: first,
		}
		return nil
	})
}
