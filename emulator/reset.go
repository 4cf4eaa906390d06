package emulator

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"minibus/emulator/clock"
)

// Reset makes the namespace as if it were new: it has the entities of the list and no others, all of them empty, and
// its clock shows the machine's time. The list is that of a configuration, and a list that is refused changes
// nothing. The entities are new ones, so their sequence numbers begin anew (DEL-3). Links of an entity that is there
// again are told to attach again, which clients do by themselves; those of others are told that it is gone. Faults
// are removed. All entities are replaced by one change of the journal. Reset returns once that is durable.
func (ns *Namespace) Reset(list []EntityConfig) error {
	ns.steering.Lock()
	defer ns.steering.Unlock()
	ns.admin.Lock()
	defer ns.admin.Unlock()
	if ns.stage.Load() == stageGone {
		return namespaceNotFound(ns.name)
	}
	records, err := ns.entitiesOf(list, ns.Clock().machineTime())
	if err != nil {
		return err
	}
	paths := make(map[string]bool, len(records))
	for _, e := range records {
		paths[strings.ToLower(e.Path)] = true
	}
	r := replacement{ns: ns}
	if err := r.write(paths, func() error { return r.put(records) }); err != nil {
		return err
	}
	ns.fresh.Store(ns.common.record.Next())
	ns.Faults().RemoveAll()
	ns.Clock().restart(clock.State{})
	if err := r.load(records); err != nil {
		return err
	}
	if ns.Options().Time == (clock.State{}) {
		return nil
	}
	return ns.Clock().keepLocked(clock.State{})
}

// entitiesOf returns what the journal keeps of the entities of a list, with ids of this namespace, topics before
// their subscriptions. The entities are made in another namespace, so every check that there is counts. They are
// created at now, in milliseconds.
func (ns *Namespace) entitiesOf(list []EntityConfig, now int64) ([]EntityRecord, error) {
	if len(list) == 0 {
		return nil, nil
	}
	stage := &notebook{byID: make(map[int64]EntityRecord)}
	trial, err := Open(stage, Options{Name: ns.name, Limits: ns.Profile(), Clock: stoppedClock(instant(now))})
	if err != nil {
		return nil, err
	}
	defer trial.Close()
	if err := trial.Configuration().ensure(list); err != nil {
		return nil, err
	}
	records := slices.SortedFunc(maps.Values(stage.byID),
		func(x, y EntityRecord) int { return cmp.Compare(x.ID, y.ID) })
	for i := range records {
		records[i].ID = ns.newRow()
	}
	return records, nil
}

// notebook is a rehearsal that writes down the entities.
type notebook struct {
	dryRunJournal
	mu   sync.Mutex
	byID map[int64]EntityRecord
}

func (n *notebook) Append(c *Change) {
	n.mu.Lock()
	for _, op := range c.Ops {
		if op.Kind == OpPutEntity {
			n.byID[op.Entity.ID] = op.Entity
		}
	}
	n.mu.Unlock()
	n.dryRunJournal.Append(c)
}

// replacement puts other entities in the place of all that a namespace has. The caller holds ns.admin.
type replacement struct {
	ns  *Namespace
	old deletion
}

// write ends what is under way and commits the change. If that fails the entities go on. The lower-case paths are
// those of the entities that come.
func (r *replacement) write(paths map[string]bool, commit func() error) error {
	all := r.ns.catalog.entities(anyKind)
	for _, q := range all {
		q.replaced.Store(paths[strings.ToLower(q.path)])
	}
	r.old.retireAll(r.ns)
	err := commit()
	if err != nil {
		for _, q := range all {
			q.replaced.Store(false)
		}
		r.ns.stage.Store(stageThere)
		r.old.undo()
	}
	return err
}

// put commits the entities that come instead of those that were there.
func (r *replacement) put(records []EntityRecord) error {
	var ops []Op
	for _, q := range r.old.all {
		ops = append(ops, Op{Kind: OpDeleteEntity, Entity: EntityRecord{ID: q.id, Kind: q.kind, Path: q.path}})
	}
	for _, e := range records {
		ops = append(ops, Op{Kind: OpPutEntity, Entity: e})
	}
	if len(ops) == 0 {
		return nil
	}
	return r.ns.Entities().commit(ops...)
}

// load makes the entities.
func (r *replacement) load(records []EntityRecord) error {
	entities := newCatalog()
	l := newLoader(r.ns, &entities)
	for _, e := range records {
		if err := l.LoadEntity(e); err != nil {
			return err
		}
	}
	if err := l.finish(); err != nil {
		return err
	}
	return r.become(l)
}

// become lets the new entities be found instead of the old ones, whose clients are told then.
func (r *replacement) become(l *loader) error {
	r.ns.catalog.become(l.catalog)
	r.ns.stage.Store(stageThere)
	err := l.catchUp()
	r.old.finish()
	return err
}
