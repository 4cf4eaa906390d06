package storetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"minibus/emulator"
)

// Snapshots implements [emulator.SnapshotStore].
func (m *Memory) Snapshots(namespace int64) (all []emulator.SnapshotRecord) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.content.snapshots {
		if r.Namespace == namespace {
			all = append(all, r)
		}
	}
	return all
}

// SaveSnapshot implements [emulator.SnapshotStore].
func (m *Memory) SaveSnapshot(
	ctx context.Context, r *emulator.SnapshotRecord, instead int64, begun, done emulator.Completion,
) {
	finish := func(c *memoryContent) error {
		if err := ctx.Err(); err != nil {
			c.dropCopy(r.Number)
			return err
		}
		c.snapshots[r.Number] = *r
		c.dropCopy(instead)
		return nil
	}
	begin := func(c *memoryContent) error { return c.copyOf(c.numbers[r.Namespace], r.Number, r) }
	m.try(begin, emulator.CompletionFunc(func(err error) {
		if begun.Completed(err); err == nil {
			m.try(finish, done)
		}
	}))
}

// CopySnapshot implements [emulator.SnapshotStore].
func (m *Memory) CopySnapshot(ctx context.Context, number, to int64, done emulator.Completion) {
	m.try(func(c *memoryContent) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return c.copyOf(number, to, nil)
	}, done)
}

// LoadCopy implements [emulator.SnapshotStore].
func (m *Memory) LoadCopy(number int64, l emulator.Loader) error { return m.load(number, l) }

// AdoptCopy implements [emulator.SnapshotStore].
func (m *Memory) AdoptCopy(r emulator.NamespaceRecord, number int64, done emulator.Completion) {
	r.Options = bytes.Clone(r.Options)
	m.try(func(c *memoryContent) error {
		old := c.numbers[r.ID]
		if c.owners[number] != r.ID || old == 0 {
			return fmt.Errorf("the namespace %d has no copy %d", r.ID, number)
		}
		first, _ := emulator.RowsOf(old)
		firstOf, _ := emulator.RowsOf(number)
		c.next[number] = max(c.next[number], c.next[old]-first+firstOf)
		c.namespaces[r.ID], c.numbers[r.ID] = r, number
		c.removeNumber(old)
		return nil
	}, done)
}

// DropCopy implements [emulator.SnapshotStore].
func (m *Memory) DropCopy(number int64, done emulator.Completion) {
	m.try(func(c *memoryContent) error { c.dropCopy(number); return nil }, done)
}

// try does something to the content in its place among the changes.
func (m *Memory) try(f func(c *memoryContent) error, done emulator.Completion) {
	m.put(memoryItem{namespace: &namespaceChange{try: f, done: done}})
}

// dropCopy removes a snapshot, or a copy that is not adopted.
func (c *memoryContent) dropCopy(number int64) {
	delete(c.snapshots, number)
	if c.owners[number] != 0 && c.numbers[c.owners[number]] != number {
		c.removeNumber(number)
	}
}

// copyOf copies what has the ids of a number to another one.
func (c *memoryContent) copyOf(number, to int64, r *emulator.SnapshotRecord) error {
	owner := c.owners[number]
	if owner == 0 {
		return &emulator.Error{Code: emulator.CodeNotFound, Text: fmt.Sprintf("the number %d is not stored", number)}
	}
	c.owners[to], c.nextNamespace = owner, max(c.nextNamespace, to+1)
	first, _ := emulator.RowsOf(number)
	firstTo, _ := emulator.RowsOf(to)
	by := firstTo - first
	all := c.of(number)
	for id, e := range all.entities {
		e.ID += by
		c.entities[id+by] = e
	}
	var bytes int64
	for row, m := range all.rows {
		bytes += m.Size
		c.bodies[m.Body+by] = c.bodies[m.Body]
		m.Row += by
		m.Entity += by
		m.Body += by
		c.rows[row+by] = m
	}
	for k, seq := range all.last {
		k.entity += by
		c.last[k] = seq
	}
	for k, s := range all.sessions {
		k.entity += by
		c.sessions[k] = s
	}
	for k, at := range all.duplicates {
		k.entity += by
		c.duplicates[k] = at
	}
	c.next[to] = max(c.next[number], first) + by
	if r != nil {
		r.Entities, r.Messages = int64(len(all.entities)), int64(len(all.rows))
		r.Bytes = bytes
	}
	return nil
}

// owns reports whether a namespace has the ids of a number.
func (c *memoryContent) owns(number int64) bool {
	return number != 0 && c.numbers[cmp.Or(c.owners[number], -1)] == number
}
