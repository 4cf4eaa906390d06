package storetest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"minibus/emulator"
)

// memoryContent holds the committed rows of a [Memory]; it survives Reopen.
type memoryContent struct {
	entities map[int64]emulator.EntityRecord
	rows     map[int64]emulator.MessageRecord
	bodies   map[int64][]byte
	last     map[counterKey]int64
	sessions map[sessionKey]memorySession
	history  map[historyKey]int64
	next     map[int64]int64 // by number

	namespaces    map[int64]emulator.NamespaceRecord
	numbers       map[int64]int64 // of the rows of a namespace, by its id
	owners        map[int64]int64 // ids of namespaces, by number of rows
	snapshots     map[int64]emulator.SnapshotRecord
	nextNamespace int64
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
	historyKey struct {
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
		entities: map[int64]emulator.EntityRecord{},
		rows:     map[int64]emulator.MessageRecord{},
		bodies:   map[int64][]byte{},
		last:     map[counterKey]int64{},
		sessions: map[sessionKey]memorySession{},
		history:  map[historyKey]int64{},
		next:     map[int64]int64{},

		namespaces:    map[int64]emulator.NamespaceRecord{first.ID: first},
		numbers:       map[int64]int64{first.ID: first.ID},
		owners:        map[int64]int64{first.ID: first.ID},
		snapshots:     map[int64]emulator.SnapshotRecord{},
		nextNamespace: first.ID + 1,
	}
}

// apply runs all operations of a change, or none.
func (c *memoryContent) apply(ch *emulator.Change) error {
	var undo []func()
	for i := range ch.Ops {
		back, err := c.applyOp(&ch.Ops[i])
		if err != nil {
			for j := len(undo) - 1; j >= 0; j-- {
				undo[j]()
			}
			return err
		}
		undo = append(undo, back)
	}
	return nil
}

func (c *memoryContent) applyOp(op *emulator.Op) (undo func(), err error) {
	r := op.Record
	ns := emulator.NamespaceOf(cmp.Or(r.Entity, r.Body, r.Row, op.Entity.ID))
	if !c.owns(ns) {
		return nil, &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("namespace %d is not stored", ns)}
	}
	switch op.Kind {
	case emulator.OpInsert:
		var undo []func()
		err := op.Each(func(one *emulator.Op) error {
			own := *one
			back, err := c.insert(&own)
			undo = append(undo, back)
			return err
		})
		back := func() {
			for _, f := range slices.Backward(undo) {
				f()
			}
		}
		if err != nil {
			undo = undo[:len(undo)-1]
			back()
		}
		return back, err
	case emulator.OpUpdate:
		return c.update(op)
	case emulator.OpDelete:
		return c.remove(op)
	case emulator.OpCounter:
		if err := c.known(r.Entity); err != nil {
			return nil, err
		}
		return c.draw(op), nil
	case emulator.OpSessionState:
		return c.setSession(op)
	case emulator.OpDuplicate:
		return c.remember(op)
	case emulator.OpPruneDuplicates:
		return c.prune(r.Entity, r.Enqueued), nil
	case emulator.OpPutEntity:
		return c.putEntity(op.Entity), nil
	case emulator.OpDeleteEntity:
		if err := c.known(op.Entity.ID); err != nil {
			return nil, err
		}
		return c.removeEntity(op.Entity.ID), nil
	}
	return nil, fmt.Errorf("apply operation of unknown kind %d", op.Kind)
}

func (c *memoryContent) insert(op *emulator.Op) (func(), error) {
	r := op.Record
	if err := c.known(r.Entity); err != nil {
		return nil, err
	}
	if _, ok := c.rows[r.Row]; ok {
		return nil, &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("message row %d exists already", r.Row)}
	}
	r.Overlay, r.System = bytes.Clone(r.Overlay), bytes.Clone(r.System)
	c.rows[r.Row] = r
	if op.Data != nil {
		c.bodies[r.Body] = bytes.Clone(op.Data)
	}
	c.use(r.Row)
	c.use(r.Body)
	back := func() {}
	if op.DrawsNumber {
		back = c.draw(op)
	}
	return func() {
		back()
		delete(c.rows, r.Row)
		if op.Data != nil {
			delete(c.bodies, r.Body)
		}
	}, nil
}

func (c *memoryContent) update(op *emulator.Op) (func(), error) {
	r := op.Record
	if err := c.known(r.Entity); err != nil {
		return nil, err
	}
	old, ok := c.rows[r.Row]
	if !ok {
		return nil, &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("message row %d is not stored", r.Row)}
	}
	now := old
	now.Entity, now.EnqueuedSeq, now.Hops, now.Source = r.Entity, r.EnqueuedSeq, r.Hops, r.Source
	now.Sub, now.Seq, now.State, now.Enqueued, now.TTL = r.Sub, r.Seq, r.State, r.Enqueued, r.TTL
	now.Scheduled, now.DeliveryCount, now.Reason = r.Scheduled, r.DeliveryCount, r.Reason
	now.Overlay, now.System = bytes.Clone(r.Overlay), bytes.Clone(r.System)
	c.rows[r.Row] = now
	back := func() {}
	if op.DrawsNumber {
		back = c.draw(op)
	}
	return func() { back(); c.rows[r.Row] = old }, nil
}

func (c *memoryContent) remove(op *emulator.Op) (func(), error) {
	row, body := op.Record.Row, op.Record.Body
	old, had := c.rows[row]
	data, hadBody := c.bodies[body]
	delete(c.rows, row)
	if op.DropBody {
		delete(c.bodies, body)
	}
	return func() {
		if had {
			c.rows[row] = old
		}
		if hadBody {
			c.bodies[body] = data
		}
	}, nil
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

func (c *memoryContent) putEntity(e emulator.EntityRecord) (undo func()) {
	old, had := c.entities[e.ID]
	e.Last = nil
	e.Options = bytes.Clone(e.Options)
	c.entities[e.ID] = e
	c.use(e.ID)
	return func() {
		delete(c.entities, e.ID)
		if had {
			c.entities[e.ID] = old
		}
	}
}

func (c *memoryContent) removeEntity(id int64) (undo func()) {
	before := *c
	c.entities, c.rows, c.bodies = maps.Clone(c.entities), maps.Clone(c.rows), maps.Clone(c.bodies)
	c.last, c.sessions, c.history = maps.Clone(c.last), maps.Clone(c.sessions), maps.Clone(c.history)
	delete(c.entities, id)
	maps.DeleteFunc(c.rows, func(_ int64, r emulator.MessageRecord) bool { return r.Entity == id })
	maps.DeleteFunc(c.last, func(k counterKey, _ int64) bool { return k.entity == id })
	maps.DeleteFunc(c.sessions, func(k sessionKey, _ memorySession) bool { return k.entity == id })
	maps.DeleteFunc(c.history, func(k historyKey, _ int64) bool { return k.entity == id })
	c.dropOrphans()
	return func() { *c = before }
}

func (c *memoryContent) dropOrphans() {
	used := map[int64]bool{}
	for _, r := range c.rows {
		used[r.Body] = true
	}
	maps.DeleteFunc(c.bodies, func(id int64, _ []byte) bool { return !used[id] })
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
