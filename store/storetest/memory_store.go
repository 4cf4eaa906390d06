package storetest

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"minibus/emulator"
)

// namespaceChange is a change of the list of namespaces.
type namespaceChange struct {
	put  emulator.NamespaceRecord // unless its id is 0
	with []emulator.EntityRecord
	drop int64 // 0: none
	try  func(c *memoryContent) error
	done emulator.Completion
}

// Namespaces implements [emulator.Store].
func (m *Memory) Namespaces() ([]emulator.NamespaceRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	byID := func(a, b emulator.NamespaceRecord) int { return cmp.Compare(a.ID, b.ID) }
	return slices.SortedFunc(maps.Values(m.content.namespaces), byID), nil
}

// BeginBatch implements [emulator.Store]. Changes do not wait here.
func (m *Memory) BeginBatch() { m.batches.Add(1) }

// EndBatch implements [emulator.Store].
func (m *Memory) EndBatch() { m.batches.Add(-1) }

// OpenBatches returns how many callers of BeginBatch have not yet called EndBatch.
func (m *Memory) OpenBatches() int { return int(m.batches.Load()) }

// NextNamespace implements [emulator.Store].
func (m *Memory) NextNamespace() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.content.nextNamespace
}

// PutNamespace implements [emulator.Store].
func (m *Memory) PutNamespace(r emulator.NamespaceRecord, entities []emulator.EntityRecord, done emulator.Completion) {
	r.Options = bytes.Clone(r.Options)
	m.put(memoryItem{namespace: &namespaceChange{put: r, with: entities, done: done}})
}

// DeleteNamespace implements [emulator.Store].
func (m *Memory) DeleteNamespace(id int64, done emulator.Completion) {
	m.put(memoryItem{namespace: &namespaceChange{drop: id, done: done}})
}

// Journal implements [emulator.Store].
func (m *Memory) Journal(id int64) emulator.Journal {
	if id == emulator.DefaultNamespaceID {
		return m
	}
	return &memoryJournal{Memory: m, id: id}
}

// number returns that of the rows of a namespace.
func (m *Memory) number(namespace int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.content.numbers[namespace]
}

func (m *Memory) record(namespace int64) emulator.NamespaceRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.content.namespaces[namespace]
}

// memoryJournal is the journal of a namespace that is not the default one.
type memoryJournal struct {
	*Memory
	id int64
}

func (j *memoryJournal) Load(l emulator.Loader) error { return j.load(j.number(j.id), l) }
func (j *memoryJournal) NextRow() int64               { return j.nextRow(j.number(j.id)) }
func (j *memoryJournal) Secret() [16]byte             { return j.record(j.id).Secret }
func (j *memoryJournal) Created() int64               { return j.record(j.id).Created }

// apply changes the list, and removes everything in a namespace that is dropped.
func (nc *namespaceChange) apply(c *memoryContent) error {
	switch {
	case nc.try != nil:
		return nc.try(c)
	case nc.drop != 0:
		delete(c.namespaces, nc.drop)
		delete(c.numbers, nc.drop)
		for number, owner := range c.owners {
			if owner == nc.drop {
				delete(c.snapshots, number)
				c.removeNumber(number)
			}
		}
		return nil
	}
	id := nc.put.ID
	if _, ok := c.namespaces[id]; !ok {
		c.numbers[id], c.owners[id] = id, id
	}
	c.namespaces[id] = nc.put
	c.nextNamespace = max(c.nextNamespace, id+1)
	for _, e := range nc.with {
		c.putEntity(e)
	}
	return nil
}

// removeNumber removes all with ids of a number.
func (c *memoryContent) removeNumber(number int64) {
	delete(c.owners, number)
	in := within(number)
	maps.DeleteFunc(c.entities, func(id int64, _ emulator.EntityRecord) bool { return in(id) })
	maps.DeleteFunc(c.rows, func(id int64, _ emulator.MessageRecord) bool { return in(id) })
	maps.DeleteFunc(c.bodies, func(id int64, _ []byte) bool { return in(id) })
	maps.DeleteFunc(c.last, func(k counterKey, _ int64) bool { return in(k.entity) })
	maps.DeleteFunc(c.sessions, func(k sessionKey, _ memorySession) bool { return in(k.entity) })
	maps.DeleteFunc(c.duplicates, func(k duplicateKey, _ int64) bool { return in(k.entity) })
}

// of returns a copy of what has the ids of a number, but for the bodies.
func (c *memoryContent) of(number int64) *memoryContent {
	in := within(number)
	return &memoryContent{
		entities:   kept(c.entities, in),
		rows:       kept(c.rows, in),
		last:       kept(c.last, func(k counterKey) bool { return in(k.entity) }),
		sessions:   kept(c.sessions, func(k sessionKey) bool { return in(k.entity) }),
		duplicates: kept(c.duplicates, func(k duplicateKey) bool { return in(k.entity) }),
	}
}

// within returns a function that tells ids of a number from others.
func within(number int64) func(id int64) bool {
	return func(id int64) bool { return emulator.NamespaceOf(id) == number }
}

// kept returns a copy of what a map has under some of its keys.
func kept[K comparable, V any](all map[K]V, keep func(K) bool) map[K]V {
	some := make(map[K]V)
	for k, v := range all {
		if keep(k) {
			some[k] = v
		}
	}
	return some
}
