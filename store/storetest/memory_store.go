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
	drop int64                    // 0: none
	done emulator.Completion
}

// Namespaces implements [emulator.Store].
func (m *Memory) Namespaces() ([]emulator.NamespaceRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.content.namespaces), func(a, b emulator.NamespaceRecord) int { return cmp.Compare(a.ID, b.ID) }), nil
}

// NextNamespace implements [emulator.Store].
func (m *Memory) NextNamespace() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.content.nextNamespace
}

// PutNamespace implements [emulator.Store].
func (m *Memory) PutNamespace(r emulator.NamespaceRecord, done emulator.Completion) {
	r.Options = bytes.Clone(r.Options)
	m.put(memoryItem{namespace: &namespaceChange{put: r, done: done}})
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

func (j *memoryJournal) Load(l emulator.Loader) error { return j.load(j.id, l) }
func (j *memoryJournal) NextRow() int64               { return j.nextRow(j.id) }
func (j *memoryJournal) Secret() [16]byte             { return j.record(j.id).Secret }
func (j *memoryJournal) Created() int64               { return j.record(j.id).Created }

// apply changes the list, and removes everything in a namespace that is dropped.
func (nc *namespaceChange) apply(c *memoryContent) {
	if nc.drop != 0 {
		delete(c.namespaces, nc.drop)
		c.removeNamespace(nc.drop)
		return
	}
	c.namespaces[nc.put.ID] = nc.put
	c.nextNamespace = max(c.nextNamespace, nc.put.ID+1)
}

func (c *memoryContent) removeNamespace(id int64) {
	in := within(id)
	maps.DeleteFunc(c.entities, func(id int64, _ emulator.EntityRecord) bool { return in(id) })
	maps.DeleteFunc(c.rows, func(id int64, _ emulator.MessageRecord) bool { return in(id) })
	maps.DeleteFunc(c.bodies, func(id int64, _ []byte) bool { return in(id) })
	maps.DeleteFunc(c.last, func(k counterKey, _ int64) bool { return in(k.entity) })
	maps.DeleteFunc(c.sessions, func(k sessionKey, _ memorySession) bool { return in(k.entity) })
	maps.DeleteFunc(c.history, func(k historyKey, _ int64) bool { return in(k.entity) })
}

// of returns a copy of what is in a namespace, but for the bodies.
func (c *memoryContent) of(namespace int64) *memoryContent {
	in := within(namespace)
	return &memoryContent{
		entities: kept(c.entities, in),
		rows:     kept(c.rows, in),
		last:     kept(c.last, func(k counterKey) bool { return in(k.entity) }),
		sessions: kept(c.sessions, func(k sessionKey) bool { return in(k.entity) }),
		history:  kept(c.history, func(k historyKey) bool { return in(k.entity) }),
	}
}

// within returns a function that tells ids of a namespace from others.
func within(namespace int64) func(id int64) bool {
	return func(id int64) bool { return emulator.NamespaceOf(id) == namespace }
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
