package storetest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"minibus/emulator"
)

// memoryContent holds the committed rows of a [Memory]; it survives Reopen.
type memoryContent struct {
	entities   map[int64]emulator.EntityRecord
	rows       map[int64]emulator.MessageRecord
	bodies     map[int64][]byte
	last       map[counterKey]int64
	sessions   map[sessionKey]memorySession
	duplicates map[duplicateKey]int64
	next       map[int64]int64 // by number

	namespaces    map[int64]emulator.NamespaceRecord
	numbers       map[int64]int64 // of the rows of a namespace, by its id
	owners        map[int64]int64 // ids of namespaces, by number of rows
	snapshots     map[int64]emulator.SnapshotRecord
	nextNamespace int64

	undo []func() // undoes what the change in hand did
}

type (
	counterKey struct {
		entity    int64
		partition uint8
	}
	sessionKey struct {
		entity int64
		id     string
	}
	duplicateKey struct {
		entity int64
		key    [16]byte
	}
	memorySession struct {
		state   []byte
		updated int64
	}
)

func newMemoryContent() *memoryContent {
	first := emulator.NamespaceRecord{
		ID: emulator.DefaultNamespaceID, Created: time.Now().UnixMilli(), Secret: [16]byte([]byte("0123456789abcdef")),
	}
	return &memoryContent{
		entities:   map[int64]emulator.EntityRecord{},
		rows:       map[int64]emulator.MessageRecord{},
		bodies:     map[int64][]byte{},
		last:       map[counterKey]int64{},
		sessions:   map[sessionKey]memorySession{},
		duplicates: map[duplicateKey]int64{},
		next:       map[int64]int64{},

		namespaces:    map[int64]emulator.NamespaceRecord{first.ID: first},
		numbers:       map[int64]int64{first.ID: first.ID},
		owners:        map[int64]int64{first.ID: first.ID},
		snapshots:     map[int64]emulator.SnapshotRecord{},
		nextNamespace: first.ID + 1,
	}
}

// put sets a value of one of the maps, and drop removes one, until the change fails.
func put[K comparable, V any](c *memoryContent, m map[K]V, k K, v V) {
	keep(c, m, k)
	m[k] = v
}

func drop[K comparable, V any](c *memoryContent, m map[K]V, k K) {
	keep(c, m, k)
	delete(m, k)
}

// dropIf removes all values with some keys.
func dropIf[K comparable, V any](c *memoryContent, m map[K]V, which func(K, V) bool) {
	for k, v := range m {
		if which(k, v) {
			drop(c, m, k)
		}
	}
}

// keep notes what is to be undone if the change fails.
func keep[K comparable, V any](c *memoryContent, m map[K]V, k K) {
	old, had := m[k]
	c.undo = append(c.undo, func() {
		delete(m, k)
		if had {
			m[k] = old
		}
	})
}

// apply runs all operations of a change, or none.
func (c *memoryContent) apply(ch *emulator.Change) error {
	c.undo = c.undo[:0]
	for i := range ch.Ops {
		if err := c.applyOp(&ch.Ops[i]); err != nil {
			for _, f := range slices.Backward(c.undo) {
				f()
			}
			return err
		}
	}
	return nil
}

func (c *memoryContent) applyOp(op *emulator.Op) error {
	r := op.Record
	ns := emulator.NamespaceOf(cmp.Or(r.Entity, r.Body, r.Row, op.Entity.ID))
	if !c.owns(ns) {
		return internal("namespace %d is not stored", ns)
	}
	switch op.Kind {
	case emulator.OpInsert:
		return op.Each(c.insert)
	case emulator.OpUpdate:
		return c.update(op)
	case emulator.OpDelete:
		drop(c, c.rows, r.Row)
		if op.DropBody {
			drop(c, c.bodies, r.Body)
		}
		return nil
	case emulator.OpPutEntity:
		c.putEntity(op.Entity)
		return nil
	case emulator.OpDeleteEntity:
		return c.removeEntity(op.Entity.ID)
	case emulator.OpPruneDuplicates:
		dropIf(c, c.duplicates, func(k duplicateKey, at int64) bool { return k.entity == r.Entity && at < r.Enqueued })
		return nil
	}
	if err := c.known(r.Entity); err != nil {
		return err
	}
	switch op.Kind {
	case emulator.OpCounter:
		put(c, c.last, counterKey{r.Entity, op.Partition}, r.Seq)
	case emulator.OpSessionState:
		k := sessionKey{r.Entity, r.SessionID}
		if drop(c, c.sessions, k); op.Data != nil {
			put(c, c.sessions, k, memorySession{bytes.Clone(op.Data), r.Enqueued})
		}
	case emulator.OpDuplicate:
		put(c, c.duplicates, duplicateKey{r.Entity, [16]byte(op.Data)}, r.Enqueued)
	default:
		return fmt.Errorf("apply operation of unknown kind %d", op.Kind)
	}
	return nil
}

func internal(format string, args ...any) error {
	return &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf(format, args...)}
}

func (c *memoryContent) insert(op *emulator.Op) error {
	r := op.Record
	if err := c.known(r.Entity); err != nil {
		return err
	}
	if _, there := c.rows[r.Row]; there {
		return internal("message row %d exists already", r.Row)
	}
	r.Overlay, r.System = bytes.Clone(r.Overlay), bytes.Clone(r.System)
	put(c, c.rows, r.Row, r)
	if op.Data != nil {
		put(c, c.bodies, r.Body, bytes.Clone(op.Data))
	}
	c.use(r.Row)
	c.use(r.Body)
	c.draw(op)
	return nil
}

// update writes the changeable columns.
func (c *memoryContent) update(op *emulator.Op) error {
	if err := c.known(op.Record.Entity); err != nil {
		return err
	}
	old, there := c.rows[op.Record.Row]
	if !there {
		return internal("message row %d is not stored", op.Record.Row)
	}
	r := op.Record
	r.Overlay, r.System = bytes.Clone(r.Overlay), bytes.Clone(r.System)
	r.Body, r.Size = old.Body, old.Size
	r.MessageID = old.MessageID
	r.HasSession, r.SessionID = old.HasSession, old.SessionID
	put(c, c.rows, r.Row, r)
	c.draw(op)
	return nil
}

// draw notes the number of an operation, if it was drawn.
func (c *memoryContent) draw(op *emulator.Op) {
	if op.DrawsNumber {
		put(c, c.last, counterKey{op.Record.Entity, op.Partition}, op.Record.Seq)
	}
}

// use notes that an id is used.
func (c *memoryContent) use(id int64) {
	ns := emulator.NamespaceOf(id)
	c.next[ns] = max(c.next[ns], id+1)
}

func (c *memoryContent) known(entity int64) error {
	if _, ok := c.entities[entity]; !ok {
		return emulator.NotFound(fmt.Sprint(entity))
	}
	return nil
}

func (c *memoryContent) putEntity(e emulator.EntityRecord) {
	e.Last = nil
	e.Options = bytes.Clone(e.Options)
	put(c, c.entities, e.ID, e)
	c.use(e.ID)
}

// removeEntity removes an entity with everything in it, and bodies that no message has any more.
func (c *memoryContent) removeEntity(id int64) error {
	if err := c.known(id); err != nil {
		return err
	}
	drop(c, c.entities, id)
	dropIf(c, c.rows, func(_ int64, r emulator.MessageRecord) bool { return r.Entity == id })
	dropIf(c, c.last, func(k counterKey, _ int64) bool { return k.entity == id })
	dropIf(c, c.sessions, func(k sessionKey, _ memorySession) bool { return k.entity == id })
	dropIf(c, c.duplicates, func(k duplicateKey, _ int64) bool { return k.entity == id })
	used := map[int64]bool{}
	for _, r := range c.rows {
		used[r.Body] = true
	}
	dropIf(c, c.bodies, func(body int64, _ []byte) bool { return !used[body] })
	return nil
}

func (c *memoryContent) read(r *emulator.BodyRead) {
	if len(r.Bodies) != len(r.IDs) {
		r.Bodies = make([][]byte, len(r.IDs))
	}
	for i, id := range r.IDs {
		r.Bodies[i] = bytes.Clone(c.bodies[id])
	}
	if k := r.State; k != nil {
		r.Bodies = [][]byte{bytes.Clone(c.sessions[sessionKey{k.Entity, k.SessionID}].state)}
	}
}
