package emulator

import (
	"slices"
	"strings"
)

// catalog finds entities by name and lists them by path. Both cost the same with ten entities and with ten thousand: a page
// of a list is cut out of what is kept in order.
type catalog struct {
	byKey  map[string]*Entity // by lower-case path
	byPath map[EntityKind][]*Entity
}

func newCatalog() catalog {
	return catalog{byKey: make(map[string]*Entity), byPath: make(map[EntityKind][]*Entity)}
}

func (c *catalog) add(q *Entity) {
	c.byKey[strings.ToLower(q.path)] = q
	list := c.byPath[q.kind]
	i, _ := slices.BinarySearchFunc(list, q, comparePaths)
	c.byPath[q.kind] = slices.Insert(list, i, q)
}

func (c *catalog) remove(q *Entity) {
	delete(c.byKey, strings.ToLower(q.path))
	list := c.byPath[q.kind]
	if i, found := slices.BinarySearchFunc(list, q, comparePaths); found {
		c.byPath[q.kind] = slices.Delete(list, i, i+1)
	}
}

func comparePaths(a, b *Entity) int { return strings.Compare(a.path, b.path) }

// page returns a part of the entities of a kind, in the ordinal order of their paths.
func (c *catalog) page(kind EntityKind, skip, top int) []*Entity {
	list := c.byPath[kind]
	list = list[min(max(skip, 0), len(list)):]
	return slices.Clone(list[:min(max(top, 0), len(list))])
}

// Page returns part of the entities of a kind by path, and how many there are in all. Of subscriptions use
// [Namespace.Subscriptions].
func (ns *Namespace) Page(kind EntityKind, skip, top int) (page []*Entity, total int) {
	ns.mu.RLock()
	defer ns.mu.RUnlock()
	return ns.catalog.page(kind, skip, top), len(ns.catalog.byPath[kind])
}
