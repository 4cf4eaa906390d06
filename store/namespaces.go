package store

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"minibus/emulator"
)

// A change of the list of namespaces or snapshots has one operation, of a kind that only the store knows. So
// it has its place among the other changes, and fails as they do.
const (
	// Entity has the id, the name and the options of the namespace, Data its secret, Record.Enqueued says when it was
	// created.
	opPutNamespace emulator.OpKind = 200 + iota

	opDeleteNamespace // Entity.ID is that of the namespace
	opBeginCopy       // Entity.ID is the number of the copy
	opAdoptCopy       // as opPutNamespace, and Record.Row is the number of the copy
	opDropCopy        // Entity.ID is the number of the copy
	opPutDocument     // Entity.Path is the key, Data the document
	opDeleteDocument  // Entity.Path is the key
)

// namespaces knows the namespaces, and writes them and the reservations of their ids.
type namespaces struct {
	w        *writer
	outgrown []*rowRange // those that used ids beyond their reservations in the open transaction
	buried   []*rowRange // those that the open transaction deletes

	mu        sync.Mutex // the writer holds it to change these, others to read them
	byNumber  map[int64]*rowRange
	current   map[int64]*rowRange // by the id of the namespace that has it
	snapshots map[int64]emulator.SnapshotRecord
	next      int64 // lower ids of namespaces and numbers were used

	unloaded int // how many of those at the start have not been loaded yet

	store, mark, nextRow                     *stmt
	own, leave, number, putSnapshot, forgets *stmt
}

// rowRange holds what the writer knows about the rows of a number: those of a namespace, of a snapshot, or of a copy
// that is being made.
type rowRange struct {
	number   int64
	record   emulator.NamespaceRecord // of the namespace to which it belongs
	dead     bool                     // deleted; the sweeper removes its rows
	high     int64                    // greatest row, body or entity id stored so far
	reserved int64                    // lower ids may have been used: the committed value of next_row
	opened   int64                    // reserved at the start of the process or of the namespace
	outgrown bool                     // it is in namespaces.outgrown
	adopted  bool                     // its tombstones of an earlier process are known
}

// prepare makes the statements and reads what is stored.
func (n *namespaces) prepare() error {
	c := n.w.conn
	err := prepareAll(c, map[string]**stmt{
		`INSERT INTO namespace(id, created, next_row, name, secret, options, deleted) VALUES(?,?,?,?,?,?,0)
			ON CONFLICT(id) DO UPDATE SET created=excluded.created, name=excluded.name, secret=excluded.secret,
				options=excluded.options`: &n.store,
		"UPDATE namespace SET deleted=1 WHERE id=?1 OR owner=?1": &n.mark,
		"UPDATE namespace SET next_row=? WHERE id=?":             &n.nextRow,

		`INSERT INTO namespace(id, created, next_row, owner, name, secret, deleted)
			VALUES(?,?,?,?,'',zeroblob(16),0)`: &n.own,
		"UPDATE namespace SET deleted=1 WHERE id=? AND owner IS NOT NULL": &n.leave,
		"UPDATE namespace SET number=? WHERE id=?":                        &n.number,
		`INSERT INTO snapshot(number, namespace, saved, now, frozen, entities, messages, bytes, name)
			VALUES(?,?,?,?,?,?,?,?,?)`: &n.putSnapshot,
		"DELETE FROM snapshot WHERE number=?1 OR namespace=?2": &n.forgets,
	})
	if err != nil {
		return err
	}
	if n.next, err = c.queryInt("SELECT seq+1 FROM sqlite_sequence WHERE name='namespace'"); err != nil {
		return err
	}
	return n.read()
}

// read reads what is stored. Namespaces come before the numbers that they own.
func (n *namespaces) read() error {
	numbers := map[int64]int64{} // of the rows of a namespace, by id
	err := n.readSnapshots()
	if err != nil {
		return err
	}
	const all = `SELECT id, created, next_row, name, secret, options, deleted, owner, number FROM namespace
		ORDER BY owner IS NOT NULL`
	return n.w.conn.each(all, func(st *stmt) error {
		rows := &rowRange{number: st.columnInt(0), reserved: st.columnInt(2), dead: st.columnInt(6) != 0}
		rows.high, rows.opened = rows.reserved-1, rows.reserved
		n.byNumber[rows.number] = rows
		if owner := st.columnInt(7); owner != 0 {
			if of := n.byNumber[owner]; of != nil {
				rows.record = of.record
			}
			n.classify(rows, numbers[owner] == rows.number)
			return nil
		}
		rows.record = emulator.NamespaceRecord{
			ID: rows.number, Created: st.columnInt(1),
			Name: string(st.columnView(3)), Options: bytes.Clone(st.columnView(5)),
		}
		if k := copy(rows.record.Secret[:], st.columnView(4)); k != len(rows.record.Secret) {
			return fmt.Errorf("the secret of namespace %d has %d bytes: %w", rows.record.ID, k, errMalformed)
		}
		if numbers[rows.number] = st.columnInt(8); numbers[rows.number] == 0 {
			numbers[rows.number] = rows.number
		}
		n.classify(rows, !rows.dead && numbers[rows.number] == rows.number)
		return nil
	})
}

// classify notes whether the rows of a number are those of its namespace. If not, and they are no snapshot either, they
// are to be removed.
func (n *namespaces) classify(rows *rowRange, current bool) {
	if _, kept := n.snapshots[rows.number]; !current {
		rows.dead = rows.dead || !kept
	}
	if current && !rows.dead {
		n.current[rows.record.ID] = rows
		n.unloaded++
	}
}

// live returns the namespace of a row, a body or an entity.
func (n *namespaces) live(id int64) (*rowRange, error) {
	if rows := n.byNumber[emulator.NamespaceOf(id)]; rows != nil && !rows.dead {
		return rows, nil
	}
	return nil, noNamespace(emulator.NamespaceOf(id))
}

func noNamespace(id int64) error {
	return &emulator.Error{Code: emulator.CodeNotFound, Text: fmt.Sprintf("namespace %d is not stored", id)}
}

// put stores or updates a namespace.
func (n *namespaces) put(op *emulator.Op) error {
	r := emulator.NamespaceRecord{
		ID: op.Entity.ID, Name: op.Entity.Path, Options: op.Entity.Options,
		Created: op.Record.Enqueued, Secret: [16]byte(op.Data),
	}
	rows := n.current[r.ID]
	if rows == nil && n.byNumber[r.ID] != nil {
		return noNamespace(r.ID)
	}
	first, _ := emulator.RowsOf(r.ID)
	n.store.bindInts(r.ID, r.Created, first)
	n.store.bindText(4, r.Name)
	n.store.bindBlob(5, r.Secret[:])
	n.store.bindTextOrNull(6, string(r.Options))
	if err := n.store.exec(); err != nil {
		return fmt.Errorf("store namespace %s: %w", r.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if rows == nil {
		rows = &rowRange{number: r.ID, record: r, high: first - 1, reserved: first, opened: first}
		n.byNumber[r.ID], n.current[r.ID] = rows, rows
		n.next = max(n.next, r.ID+1)
		n.onUndo(func() {
			delete(n.byNumber, r.ID)
			delete(n.current, r.ID)
		})
		return nil
	}
	old := rows.record
	rows.record = r
	n.onUndo(func() { rows.record = old })
	return nil
}

func (n *namespaces) onUndo(f func()) {
	n.w.undo = append(n.w.undo, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		f()
	})
}

// bury marks a namespace as deleted, with its snapshots.
func (n *namespaces) bury(id int64) error {
	rows := n.current[id]
	if rows == nil {
		return noNamespace(id)
	}
	if err := n.mark.run(id); err != nil {
		return fmt.Errorf("delete namespace %s: %w", rows.record.Name, err)
	}
	if err := n.forgets.run(0, id); err != nil {
		return fmt.Errorf("delete the snapshots of namespace %s: %w", rows.record.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	before := maps.Clone(n.snapshots)
	maps.DeleteFunc(n.snapshots, func(_ int64, r emulator.SnapshotRecord) bool { return r.Namespace == id })
	delete(n.current, id)
	n.onUndo(func() { n.snapshots, n.current[id] = before, rows })
	if n.byNumber[id] == nil { // its first rows are gone, and its row stays until the end
		n.byNumber[id] = &rowRange{number: id, record: rows.record, high: -1}
	}
	for _, x := range n.byNumber {
		if x.record.ID == id && !x.dead {
			n.buryLocked(x)
		}
	}
	return nil
}

// buryLocked leaves the rows of a number to the sweeper, once that is committed.
func (n *namespaces) buryLocked(rows *rowRange) {
	k := len(n.buried)
	n.buried, rows.dead = append(n.buried, rows), true
	n.onUndo(func() { n.buried, rows.dead = n.buried[:k], false })
}

// use notes that an id of a namespace is used.
func (n *namespaces) use(rows *rowRange, id int64) {
	rows.high = max(rows.high, id)
	if rows.high >= rows.reserved && !rows.outgrown {
		rows.outgrown = true
		n.outgrown = append(n.outgrown, rows)
	}
}

// reserveIDs reserves more ids, in the open transaction, where the last block is used up.
func (n *namespaces) reserveIDs() error {
	for _, rows := range n.outgrown {
		if err := n.writeNextRow(rows, rows.high+rowBlock); err != nil {
			return err
		}
	}
	return nil
}

func (n *namespaces) writeNextRow(rows *rowRange, next int64) error {
	if err := n.nextRow.run(next, rows.number); err != nil {
		return fmt.Errorf("reserve row ids: %w", err)
	}
	return nil
}

// giveBackIDs gives back the ids that are reserved and not used.
func (n *namespaces) giveBackIDs() error {
	for _, rows := range n.byNumber {
		if rows.high+1 == rows.reserved {
			continue
		}
		if err := n.writeNextRow(rows, rows.high+1); err != nil {
			return err
		}
	}
	return nil
}

// afterCommit makes the open transaction's view of namespaces the committed one.
func (n *namespaces) afterCommit() {
	for _, rows := range n.outgrown {
		rows.reserved = rows.high + rowBlock
		rows.outgrown = false
	}
	n.outgrown = n.outgrown[:0]
	if len(n.buried) == 0 {
		return
	}
	maps.DeleteFunc(n.w.entities.byID, func(_ int64, e *entityState) bool { return e.rows.dead })
	n.w.copier.endOfDead()
	n.w.sweeper.clear(n.buried...)
	n.buried = n.buried[:0]
}

// dropOutgrown forgets what the open transaction reserved, after a failure.
func (n *namespaces) dropOutgrown() {
	for _, rows := range n.outgrown {
		rows.outgrown = false
	}
	n.outgrown = n.outgrown[:0]
}

// forget forgets a namespace of which nothing is left.
func (n *namespaces) forget(rows *rowRange) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byNumber, rows.number)
}

// list returns the namespaces that are not deleted, by id.
func (n *namespaces) list() (all []emulator.NamespaceRecord) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, rows := range n.current {
		all = append(all, rows.record)
	}
	slices.SortFunc(all, func(a, b emulator.NamespaceRecord) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
