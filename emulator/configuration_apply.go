package emulator

import (
	"cmp"
	"slices"
	"strings"
)

// Apply creates the entities that are missing and updates changeable settings that differ. With prune it deletes the
// entities that the list does not have, else it leaves them alone (DEC-7). A setting that differs and can't be
// changed is an error that says how to go on. An entity may forward to one that stands behind it in the list (FWD-2).
// All of it is one change in the journal: if anything is refused or the commit fails nothing has changed. Apply
// returns what it did once that is durable.
func (c Configuration) Apply(list []EntityConfig, prune bool) ([]Planned, error) {
	ns := c.ns
	ns.admin.Lock()
	defer ns.admin.Unlock()
	plan := c.planAll(list, prune)
	if err := c.refusal(plan, list); err != nil {
		return plan, err
	}
	b := batch{ns: ns, fresh: make(map[string]*Topic)}
	for i := range plan {
		if err := b.add(&plan[i]); err != nil {
			b.undo()
			return plan, err
		}
	}
	if err := b.commit(); err != nil {
		b.undo()
		return plan, err
	}
	for _, finish := range b.finish {
		finish()
	}
	for i := range plan {
		c.tell(&plan[i])
	}
	return plan, nil
}

// Ensure is [Configuration.Apply] for the configuration at the start, which deletes nothing (DEC-7).
func (c Configuration) Ensure(list []EntityConfig) error {
	_, err := c.Apply(list, false)
	return err
}

// batch is a change of many entities, as one change in the journal. The caller holds ns.admin, and has tried the
// change before.
type batch struct {
	ns      *Namespace
	fresh   map[string]*Topic // that are made, by path in lower case
	leaving []*deletion
	updates []*subscriptionUpdate
	ops     []Op
	finish  []func() // what follows the commit, in its order
}

// subscriptionUpdate is a change of a subscription's settings or rules.
type subscriptionUpdate struct {
	subscriptionChange
	options SubscriptionOptions // without rules
	rules   []*rule             // nil: they stay
}

// add adds what is to be done to an entity.
func (b *batch) add(p *Planned) error {
	switch p.Action {
	case ActionDelete:
		b.remove(p.entity)
	case ActionCreate:
		return b.create(p)
	case ActionChange:
		return b.change(p)
	}
	return nil
}

// remove retires an entity, unless its topic took it along.
func (b *batch) remove(q *Entity) {
	d := &deletion{}
	d.retire(q, nil)
	b.ops = append(b.ops, d.ops()...)
	b.leaving = append(b.leaving, d)
	b.finish = append(b.finish, func() {
		b.ns.catalog.remove(d.all)
		d.finish()
	})
}

func (b *batch) put(q *Entity, options any, updated int64) error {
	encoded, err := q.usage.encode(options, updated)
	b.ops = append(b.ops, Op{Kind: OpPutEntity, Entity: EntityRecord{ID: q.id, Kind: q.kind, Path: q.path,
		Options: encoded}})
	return err
}

func (b *batch) create(p *Planned) error {
	switch ns := b.ns; {
	case p.New.Queue != nil:
		q := newEntity(ns, ns.newRow(), KindQueue, p.Path, *p.New.Queue)
		b.finish = append(b.finish, func() { ns.Entities().add(q) })
		return b.put(q, *p.New.Queue, q.usage.updated)
	case p.New.Topic != nil:
		t := newTopic(ns, ns.newRow(), p.Path, *p.New.Topic)
		b.fresh[strings.ToLower(p.Path)] = t
		b.finish = append(b.finish, func() { ns.Entities().add(t.Entity) })
		return b.put(t.Entity, t.settings, t.usage.updated)
	default:
		return b.subscribe(p)
	}
}

// subscribe makes a subscription of a topic that exists or is made too.
func (b *batch) subscribe(p *Planned) error {
	t := b.fresh[strings.ToLower(p.topic)]
	if t == nil {
		var err error
		if t, err = b.ns.catalog.findTopic(p.topic); err != nil {
			return err
		}
	}
	o := *p.New.Subscription
	s := newSubscription(t, b.ns.newRow(), subscriptionPath(t.path, o.Name), o)
	op, err := s.prepare(o.Rules)
	if err != nil {
		return err
	}
	b.ops = append(b.ops, op)
	b.finish = append(b.finish, func() { t.admit(s) })
	return nil
}

// change changes the settings of an entity that exists.
func (b *batch) change(p *Planned) error {
	ns, q := b.ns, p.entity
	switch {
	case p.New.Queue != nil:
		b.finish = append(b.finish, func() { q.become(*p.New.Queue) })
		return b.put(q, *p.New.Queue, ns.Now())
	case p.New.Topic != nil:
		b.finish = append(b.finish, func() { q.topic.become(*p.New.Topic) })
		return b.put(q, *p.New.Topic, ns.Now())
	}
	u := &subscriptionUpdate{options: *p.New.Subscription}
	u.s = q.subscription
	u.options.Name, u.options.Client = u.s.name, u.s.client
	u.options.Queue.EnablePartitioning = u.s.topic.counters.partitioned()
	if o := u.options.Rules; !sameRules(o, p.Old.Subscription.Rules) {
		var err error
		if u.rules, err = u.s.compileAll(o, ns.Now(), ns.Profile()); err != nil {
			return err
		}
	}
	u.options.Rules = nil
	b.updates = append(b.updates, u)
	b.finish = append(b.finish, func() {
		q.mu.Lock()
		q.applyOptionsLocked(u.options.Queue)
		q.mu.Unlock()
	})
	return nil
}

// commit writes the change and waits. As with every change of rules, those of subscriptions count from the place of
// the change in the journal: all topics and subscriptions concerned are locked while it is appended.
func (b *batch) commit() error {
	if len(b.ops) == 0 && len(b.updates) == 0 {
		return nil
	}
	if b.ns.stage.Load() == stageGone {
		return namespaceNotFound(b.ns.name)
	}
	return await(func(done Completion) {
		var locked []*Entity
		for _, u := range b.updates {
			locked = append(locked, u.s.topic.Entity, u.s.Entity)
		}
		slices.SortFunc(locked, func(x, y *Entity) int { return cmp.Compare(x.id, y.id) })
		locked = slices.Compact(locked)
		for _, q := range locked {
			q.mu.Lock()
		}
		begun, err := b.beginLocked()
		if err == nil {
			b.ns.journal.Append(&Change{Ops: b.ops, Done: CompletionFunc(func(err error) {
				for _, u := range begun {
					u.Completed(err)
				}
				done.Completed(err)
			})})
		}
		unlockAll(locked)
		if err != nil {
			done.Completed(err)
		}
	})
}

// beginLocked puts the changes of subscriptions in force, all or none.
func (b *batch) beginLocked() ([]*subscriptionUpdate, error) {
	for _, u := range b.updates {
		u.next = decisions{settings: u.options, rules: u.s.rules, updated: b.ns.Now()}
		if u.rules != nil {
			u.s.topic.order(u.rules)
			u.next.rules = u.rules
		}
		op, err := u.s.record(u.next)
		if err != nil {
			return nil, err
		}
		b.ops = append(b.ops, op)
	}
	for _, u := range b.updates {
		u.done = CompletionFunc(func(error) {})
		u.s.beginLocked(u.next)
	}
	return b.updates, nil
}

// undo lets the entities go on that were to be deleted.
func (b *batch) undo() {
	for _, d := range b.leaving {
		d.undo()
	}
}
