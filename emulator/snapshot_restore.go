package emulator

import (
	"cmp"
	"context"
	"strings"

	"minibus/emulator/clock"
)

// Restore makes the namespace what it was when a snapshot was saved: it has those entities and no others, with the same messages, numbers, states of
// sessions and remembered ids, and its clock shows what it showed then. It is frozen if it was frozen; else it goes on from there, as far behind the machine's clock
// or ahead of it as that makes it. So what was due in an hour is due in an hour again. The keys, the port, the aliases and the limits of the namespace stay.
//
// Links of an entity that is there again are told to attach again, which clients do by themselves; those of others are told that it is gone. Transactions that are
// open are rolled back, jobs end. What clients hold is available again. RestoreSnapshot returns once all is durable: a crash leaves the old state or the restored one.
//
// Errors: CodeNotFound without the snapshot, or when the namespace is deleted meanwhile; that of ctx if it ends before clients notice anything; others leave the namespace as it was.
func (s Snapshots) Restore(ctx context.Context, name string) (SnapshotRecord, error) {
	ns := s.ns
	ns.saving.Lock()
	defer ns.saving.Unlock()
	r, err := s.Get(name)
	if err != nil {
		return r, err
	}
	number, err := s.newNumber()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return r, err
	}
	if err := await(func(done Completion) { ns.home.store.CopySnapshot(ctx, r.Number, number, done) }); err != nil {
		return r, cmp.Or(ctx.Err(), s.orGone(err))
	}
	if err := s.restore(ctx, &r, number); err != nil {
		return r, s.orGone(err)
	}
	return r, nil
}

// restore puts what is in a copy in the place of what the namespace has. It is loaded before anything ends, so that clients wait for less.
func (s Snapshots) restore(ctx context.Context, r *SnapshotRecord, number int64) error {
	entities := newCatalog()
	l := newLoader(s.ns, &entities)
	l.now = r.Now
	err := s.ns.home.store.LoadCopy(number, l)
	if err == nil {
		err = l.finish()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return s.adopt(r, number, l)
	}
	return s.dropCopy(number, err)
}

// adopt makes the copy what the namespace has, and what was loaded of it what clients find.
func (s Snapshots) adopt(r *SnapshotRecord, number int64, l *loader) error {
	ns := s.ns
	ns.steering.Lock()
	defer ns.steering.Unlock()
	ns.admin.Lock()
	defer ns.admin.Unlock()
	if ns.stage.Load() == stageGone {
		return namespaceNotFound(ns.name)
	}
	o := ns.Options()
	o.Time = s.timeOf(r)
	record, err := ns.record(o)
	if err != nil {
		return s.dropCopy(number, err)
	}
	paths := make(map[string]bool, len(l.byID))
	for _, q := range l.byID {
		paths[strings.ToLower(q.path)] = true
	}
	x := replacement{ns: ns}
	err = x.write(paths, func() error {
		return await(func(done Completion) { ns.home.store.AdoptCopy(record, number, done) })
	})
	if err != nil {
		return s.dropCopy(number, err)
	}
	ns.settings.Store(&o)
	s.goOnWith(number, l)
	ns.Clock().restart(o.Time)
	for _, q := range l.byID {
		if s := q.subscription; s != nil {
			s.reach.since = ns.Now()
		}
	}
	return x.become(l)
}

// dropCopy removes a copy that an error makes useless, and returns the error.
func (s Snapshots) dropCopy(number int64, err error) error {
	_ = await(func(done Completion) { s.ns.home.store.DropCopy(number, done) }) // a start would do it, too
	return err
}

// timeOf returns what the clock becomes.
func (s Snapshots) timeOf(r *SnapshotRecord) clock.State {
	ns := s.ns
	if _, ok := ns.clock.(*clock.System); !ok {
		return ns.Options().Time
	}
	if r.Frozen {
		return clock.State{Frozen: r.Now}
	}
	return clock.State{Ahead: r.Now - ns.Clock().machineTime()}
}

// goOnWith draws ids behind all that the namespace ever used, apart from the number, so that no two messages have the same made id.
func (s Snapshots) goOnWith(number int64, l *loader) {
	ns := s.ns
	last := ns.lastRow.Load()
	before, _ := RowsOf(NamespaceOf(last))
	first, _ := RowsOf(number)
	ns.lastRow.Store(max(last-before+first, l.lastRow, ns.home.store.Journal(ns.id).NextRow()-1))
}
