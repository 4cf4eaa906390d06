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

// A change of the list of namespaces is a change with one operation, of a kind that only the store knows. So it has its place among the
// other changes, and fails as they do.
const (
	opPutNamespace    emulator.OpKind = 200 + iota // name, id and options are those of Op.Entity, Data is the secret, Record.Enqueued when it was created
	opDeleteNamespace                              // the id is that of Op.Entity
)

// namespaces knows the namespaces, and writes them and the reservations of their ids.
type namespaces struct {
	w        *writer
	outgrown []*space // those that used ids beyond their reservations in the open transaction
	buried   []*space // those that the open transaction deletes

	mu   sync.Mutex // the writer holds it to change these, others to read them
	byID map[int64]*space
	next int64 // lower ids of namespaces were used

	unloaded int // how many of those at the start have not been loaded yet

	store, mark, nextRow *stmt
}

// space holds what the writer knows about a namespace.
type space struct {
	record   emulator.NamespaceRecord
	dead     bool  // deleted; the sweeper removes its rows
	high     int64 // greatest row, body or entity id stored so far
	reserved int64 // lower ids may have been used: the committed value of next_row
	opened   int64 // reserved at the start of the process or of the namespace
	outgrown bool  // it is in namespaces.outgrown
	adopted  bool  // marks has the messages that were marked before the start
}

// prepare makes the statements and reads what is stored.
func (n *namespaces) prepare() error {
	c := n.w.conn
	err := prepareAll(c, map[string]**stmt{
		`INSERT INTO namespace(id, created, next_row, name, secret, options, deleted) VALUES(?,?,?,?,?,?,0)
			ON CONFLICT(id) DO UPDATE SET created=excluded.created, name=excluded.name, secret=excluded.secret, options=excluded.options`: &n.store,
		"UPDATE namespace SET deleted=1 WHERE id=?":  &n.mark,
		"UPDATE namespace SET next_row=? WHERE id=?": &n.nextRow,
	})
	if err != nil {
		return err
	}
	if n.next, err = c.queryInt("SELECT seq+1 FROM sqlite_sequence WHERE name='namespace'"); err != nil {
		return err
	}
	return c.each("SELECT id, created, next_row, name, secret, options, deleted FROM namespace", func(st *stmt) error {
		sp := &space{record: emulator.NamespaceRecord{
			ID: st.columnInt(0), Created: st.columnInt(1), Name: string(st.columnView(3)), Options: bytes.Clone(st.columnView(5)),
		}}
		if k := copy(sp.record.Secret[:], st.columnView(4)); k != len(sp.record.Secret) {
			return fmt.Errorf("the secret of namespace %d has %d bytes: %w", sp.record.ID, k, errMalformed)
		}
		sp.reserved, sp.dead = st.columnInt(2), st.columnInt(6) != 0
		sp.high, sp.opened = sp.reserved-1, sp.reserved
		n.byID[sp.record.ID] = sp
		if !sp.dead {
			n.unloaded++
		}
		return nil
	})
}

// live returns the namespace of a row, a body or an entity.
func (n *namespaces) live(id int64) (*space, error) {
	if sp := n.byID[emulator.NamespaceOf(id)]; sp != nil && !sp.dead {
		return sp, nil
	}
	return nil, noNamespace(emulator.NamespaceOf(id))
}

func noNamespace(id int64) error {
	return &emulator.Error{Code: emulator.CodeNotFound, Text: fmt.Sprintf("namespace %d is not stored", id)}
}

// put stores or updates a namespace.
func (n *namespaces) put(op *emulator.Op) error {
	r := emulator.NamespaceRecord{
		ID: op.Entity.ID, Name: op.Entity.Path, Created: op.Record.Enqueued, Secret: [16]byte(op.Data), Options: op.Entity.Options,
	}
	sp := n.byID[r.ID]
	if sp != nil && sp.dead {
		return noNamespace(r.ID)
	}
	first, _ := emulator.RowsOf(r.ID)
	n.store.bindInts(r.ID, r.Created, first)
	err := cmp.Or(n.store.bindText(4, r.Name), n.store.bindBlob(5, r.Secret[:]), n.store.bindTextOrNull(6, string(r.Options)))
	if err == nil {
		err = n.store.exec()
	}
	if err != nil {
		return fmt.Errorf("store namespace %s: %w", r.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if sp == nil {
		sp = &space{record: r, high: first - 1, reserved: first, opened: first}
		n.byID[r.ID], n.next = sp, max(n.next, r.ID+1)
		n.onUndo(func() { delete(n.byID, r.ID) })
		return nil
	}
	old := sp.record
	sp.record = r
	n.onUndo(func() { sp.record = old })
	return nil
}

func (n *namespaces) onUndo(f func()) {
	n.w.undo = append(n.w.undo, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		f()
	})
}

// bury marks a namespace as deleted.
func (n *namespaces) bury(id int64) error {
	sp := n.byID[id]
	if sp == nil || sp.dead {
		return noNamespace(id)
	}
	if err := n.mark.run(id); err != nil {
		return fmt.Errorf("delete namespace %s: %w", sp.record.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	k := len(n.buried)
	n.buried, sp.dead = append(n.buried, sp), true
	n.onUndo(func() { n.buried, sp.dead = n.buried[:k], false })
	return nil
}

// use notes that an id of a namespace is used.
func (n *namespaces) use(sp *space, id int64) {
	sp.high = max(sp.high, id)
	if sp.high >= sp.reserved && !sp.outgrown {
		sp.outgrown = true
		n.outgrown = append(n.outgrown, sp)
	}
}

// reserveIDs reserves more ids, in the open transaction, where the last block is used up.
func (n *namespaces) reserveIDs() error {
	for _, sp := range n.outgrown {
		if err := n.writeNextRow(sp, sp.high+rowBlock); err != nil {
			return err
		}
	}
	return nil
}

func (n *namespaces) writeNextRow(sp *space, next int64) error {
	if err := n.nextRow.run(next, sp.record.ID); err != nil {
		return fmt.Errorf("reserve row ids: %w", err)
	}
	return nil
}

// giveBackIDs gives back the ids that are reserved and not used.
func (n *namespaces) giveBackIDs() error {
	for _, sp := range n.byID {
		if sp.high+1 == sp.reserved {
			continue
		}
		if err := n.writeNextRow(sp, sp.high+1); err != nil {
			return err
		}
	}
	return nil
}

// settle makes the open transaction's view of namespaces the committed one.
func (n *namespaces) settle() {
	for _, sp := range n.outgrown {
		sp.reserved = sp.high + rowBlock
	}
	n.dropOutgrown()
	if len(n.buried) == 0 {
		return
	}
	maps.DeleteFunc(n.w.entities.byID, func(_ int64, e *entityState) bool { return e.space.dead })
	n.w.sweeper.clear(n.buried...)
	n.buried = n.buried[:0]
}

func (n *namespaces) dropOutgrown() {
	for _, sp := range n.outgrown {
		sp.outgrown = false
	}
	n.outgrown = n.outgrown[:0]
}

// forget forgets a namespace of which nothing is left.
func (n *namespaces) forget(sp *space) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byID, sp.record.ID)
}

// list returns the namespaces that are not deleted, by id.
func (n *namespaces) list() (all []emulator.NamespaceRecord) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, sp := range n.byID {
		if !sp.dead {
			all = append(all, sp.record)
		}
	}
	slices.SortFunc(all, func(a, b emulator.NamespaceRecord) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
