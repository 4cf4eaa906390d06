package emulator

import (
	"math"
	"slices"
	"strings"
	"sync"

	"minibus/internal/entitypath"
)

// catalog finds entities by name and lists them by path. Both cost the same with ten entities and with ten thousand:
// a page of a list is cut out of what is kept in order.
type catalog struct {
	mu     sync.RWMutex       // never held while waiting
	byKey  map[string]*Entity // by lower-case path
	byPath map[EntityKind][]*Entity
	affine map[string]*Entity // subscriptions of JMS clients, by lower-case name: no two topics have the same (JMS-7)
}

func newCatalog() catalog {
	return catalog{byKey: make(map[string]*Entity), byPath: make(map[EntityKind][]*Entity),
		affine: make(map[string]*Entity)}
}

// anyKind stands for all kinds of entities.
const anyKind EntityKind = 0

func (c *catalog) add(q *Entity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byKey[strings.ToLower(q.path)] = q
	list := c.byPath[q.kind]
	i, _ := slices.BinarySearchFunc(list, q, comparePaths)
	c.byPath[q.kind] = slices.Insert(list, i, q)
	if s := q.subscription; s != nil && s.client != nil {
		c.affine[strings.ToLower(s.name)] = q
	}
}

// remove removes entities at once.
func (c *catalog) remove(all []*Entity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range all {
		delete(c.byKey, strings.ToLower(q.path))
		list := c.byPath[q.kind]
		if i, found := slices.BinarySearchFunc(list, q, comparePaths); found {
			c.byPath[q.kind] = slices.Delete(list, i, i+1)
		}
		if s := q.subscription; s != nil && s.client != nil {
			delete(c.affine, strings.ToLower(s.name))
		}
	}
}

// become makes c have the entities of another catalog, at once and instead of its own. The other one must not be used
// any more.
func (c *catalog) become(other *catalog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byKey, c.byPath, c.affine = other.byKey, other.byPath, other.affine
}

// clear removes all entities.
func (c *catalog) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.byKey)
	clear(c.byPath)
	clear(c.affine)
}

func comparePaths(a, b *Entity) int { return strings.Compare(a.path, b.path) }

// page returns a part of the entities of a kind, in the ordinal order of their paths, and how many there are in all.
func (c *catalog) page(kind EntityKind, skip, top int) (page []*Entity, total int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := c.byPath[kind]
	page = list[min(max(skip, 0), len(list)):]
	return slices.Clone(page[:min(max(top, 0), len(page))]), len(list)
}

// entities returns the entities of a kind by path.
func (c *catalog) entities(kind EntityKind) (list []*Entity) {
	for _, k := range []EntityKind{KindQueue, KindTopic, KindSubscription} {
		if kind == anyKind || kind == k {
			page, _ := c.page(k, 0, math.MaxInt)
			list = append(list, page...)
		}
	}
	return list
}

func (c *catalog) vacant(path string) error {
	if c.lookUp(path) != nil {
		return alreadyExists(path)
	}
	return nil
}

// lookUp returns the entity with that path, of any kind, or nil.
func (c *catalog) lookUp(path string) *Entity {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byKey[strings.ToLower(path)]
}

// find returns the entity of that kind with that path, or CodeNotFound.
func (c *catalog) find(path string, kind EntityKind) (*Entity, error) {
	q := c.lookUp(path)
	if q == nil || q.kind != kind {
		return nil, c.missing(path)
	}
	return q, nil
}

// missing is the service's answer for a path at which there is nothing: for a subscription of a topic that exists it
// names both (ERR-4).
func (c *catalog) missing(path string) *Error {
	if topic, name, ok := entitypath.SplitSubscription(path); ok {
		if t := c.lookUp(topic); t != nil && t.topic != nil {
			return NotFound(subscriptionName(t.topic, name))
		}
	}
	return NotFound(path)
}

// Entities creates, changes, deletes and lists the entities of a namespace. Changes wait until they are durable.
type Entities struct{ ns *Namespace }

// Entities returns the part that creates, changes, deletes and lists the entities of the namespace.
func (ns *Namespace) Entities() Entities { return Entities{ns} }

// Page returns part of the entities of a kind by path, and how many there are in all. Of subscriptions use
// [Entities.Subscriptions].
func (es Entities) Page(kind EntityKind, skip, top int) (page []*Entity, total int) {
	return es.ns.catalog.page(kind, skip, top)
}

// Queues returns all queues by path.
func (es Entities) Queues() []*Queue {
	return mapped(es.ns.catalog.entities(KindQueue), func(q *Entity) *Queue { return &Queue{q} })
}

// cantForwardTo says why nothing can be forwarded to a path; nil: it can.
func (c *catalog) cantForwardTo(path string) error {
	target := c.lookUp(path)
	if target == nil {
		return c.missing(path)
	}
	if target.subscription != nil {
		return target.may.missing() // FWD-1
	}
	target.mu.Lock()
	defer target.mu.Unlock()
	return target.may.takeForwards()
}
