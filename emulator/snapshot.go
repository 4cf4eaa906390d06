package emulator

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"minibus/emulator/clock"
)

// MaxSnapshots is how many snapshots a namespace may have.
const MaxSnapshots = 100

// Snapshots saves what is in a namespace, and restores it. One of its operations runs at a time.
type Snapshots struct{ ns *Namespace }

// Snapshots returns the part that saves and restores what is in the namespace.
func (ns *Namespace) Snapshots() Snapshots { return Snapshots{ns} }

// List returns the snapshots of the namespace by name.
func (s Snapshots) List() []SnapshotRecord {
	ns := s.ns
	if ns.home == nil || ns.stage.Load() == stageGone {
		return nil
	}
	all := ns.home.store.Snapshots(ns.id)
	slices.SortFunc(all, func(a, b SnapshotRecord) int {
		byName := strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		return cmp.Or(byName, strings.Compare(a.Name, b.Name))
	})
	return all
}

// Get returns the snapshot with a name, compared without case. It fails with CodeNotFound.
func (s Snapshots) Get(name string) (SnapshotRecord, error) {
	if s.ns.stage.Load() == stageGone {
		return SnapshotRecord{}, namespaceNotFound(s.ns.name)
	}
	for _, r := range s.List() {
		if strings.EqualFold(r.Name, name) {
			return r, nil
		}
	}
	return SnapshotRecord{}, errorf(CodeNotFound, "", "The namespace '%s' has no snapshot '%.60s'.", s.ns.name, name)
}

// Save saves what is in the namespace at one moment, and returns when that is durable: every entity with its settings
// and numbers, every message in its state, the states of sessions, the ids that duplicate detection remembers, and
// what the clock shows. All that was acknowledged before the call is in it. Locks are not saved: a locked message is
// available in the snapshot. Changes of the namespace may wait in the store until all but the bodies is saved.
//
// With replace the snapshot takes the place of one with the same name, which stays if saving fails. Errors:
// CodeArgument for a name that no snapshot can have, CodeAlreadyExists without replace, CodeQuotaExceeded where there
// are too many or the disk is full, CodeNotFound when the namespace is deleted meanwhile, CodeNotAllowed for a
// namespace that has no broker, and that of ctx if it ends before the snapshot is whole. Then nothing of it is left.
func (s Snapshots) Save(ctx context.Context, name string, replace bool) (SnapshotRecord, error) {
	ns := s.ns
	if err := checkSnapshotName(name); err != nil {
		return SnapshotRecord{}, err
	}
	ns.saving.Lock()
	defer ns.saving.Unlock()
	old, err := s.Get(name)
	switch {
	case err == nil && !replace:
		return SnapshotRecord{}, errorf(CodeAlreadyExists, "", "The namespace '%s' has a snapshot '%s' already. "+
			"Replace it, or choose another name.", ns.name, old.Name)
	case err != nil && len(s.List()) >= MaxSnapshots:
		return SnapshotRecord{}, errorf(CodeQuotaExceeded, "", "The namespace '%s' has %d snapshots, and can't have "+
			"more. Delete one.", ns.name, MaxSnapshots)
	}
	number, err := s.newNumber(ctx)
	if err != nil {
		return SnapshotRecord{}, err
	}
	r := &SnapshotRecord{Number: number, Namespace: ns.id, Name: name, Saved: ns.Clock().machineTime()}
	done := make(chan error, 1)
	err = s.begin(ctx, r, old.Number, CompletionFunc(func(err error) { done <- err }))
	if err == nil {
		err = <-done
	}
	if err != nil {
		return SnapshotRecord{}, cmp.Or(ctx.Err(), s.orNotFound(err))
	}
	return *r, nil
}

// checkSnapshotName fails for a name that no snapshot can have.
func checkSnapshotName(name string) error {
	good := len(name) > 0 && len(name) <= MaxName && !strings.ContainsAny(name[:1], "-._")
	for i := 0; good && i < len(name); i++ {
		c := name[i]
		good = 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'
	}
	if good {
		return nil
	}
	return errorf(CodeArgument, "", "The name '%.60s' of a snapshot is invalid. A name has 1 to %d letters, digits, "+
		"hyphens, dots and underscores, and begins with a letter or a digit.", name, MaxName)
}

// begin returns when the moment of a snapshot is committed. The clock stands still or goes on meanwhile, but is not
// set.
func (s Snapshots) begin(ctx context.Context, r *SnapshotRecord, replaced int64, done Completion) error {
	ns := s.ns
	ns.steering.Lock()
	defer ns.steering.Unlock()
	return await(func(begun Completion) {
		ns.home.store.SaveSnapshot(ctx, r, replaced, CompletionFunc(func(err error) {
			r.Now = ns.Now() // no earlier than anything in the snapshot
			r.Frozen = ns.Clock().Read().Frozen
			begun.Completed(err)
		}), done)
	})
}

// Delete deletes a snapshot. It fails with CodeNotFound.
func (s Snapshots) Delete(name string) error {
	s.ns.saving.Lock()
	defer s.ns.saving.Unlock()
	r, err := s.Get(name)
	if err != nil {
		return err
	}
	return s.orNotFound(await(func(done Completion) { s.ns.home.store.DropCopy(r.Number, done) }))
}

// newNumber returns a number for the rows of a copy. It fails if ctx has ended while the caller waited for another
// operation.
func (s Snapshots) newNumber(ctx context.Context) (int64, error) {
	if s.ns.home == nil {
		return 0, errorf(CodeNotAllowed, "", "The namespace '%s' is opened by itself, and has no snapshots.", s.ns.name)
	}
	number := s.ns.home.next.Add(1) - 1
	if number > maxNamespaces {
		return 0, errorf(CodeQuotaExceeded, "", "The database has had %d namespaces, snapshots and restores, and "+
			"can't have more. Begin with an empty one.", int64(maxNamespaces))
	}
	return number, ctx.Err()
}

// orNotFound returns err, or CodeNotFound instead of it if the namespace was deleted meanwhile.
func (s Snapshots) orNotFound(err error) error {
	if err != nil && s.ns.stage.Load() == stageGone {
		return namespaceNotFound(s.ns.name)
	}
	return err
}

// Restore makes the namespace what it was when a snapshot was saved: it has those entities and no others, with the
// same messages, numbers, states of sessions and remembered ids, and its clock shows what it showed then. It is frozen
// if it was frozen; else it goes on from there, behind the machine's clock or ahead of it. So what was due in an hour
// is due in an hour again. The keys, the port, the aliases and the limits of the namespace stay.
//
// Links of an entity that is there again are told to attach again, which clients do by themselves; those of others are
// told that it is deleted. Open transactions are rolled back, and jobs end. What clients hold is available again.
// Restore returns once all is durable: a crash leaves the old state or the restored one.
//
// Errors: CodeNotFound without the snapshot, or when the namespace is deleted meanwhile; that of ctx if it ends before
// clients notice anything; others leave the namespace as it was.
func (s Snapshots) Restore(ctx context.Context, name string) (SnapshotRecord, error) {
	ns := s.ns
	ns.saving.Lock()
	defer ns.saving.Unlock()
	r, err := s.Get(name)
	if err != nil {
		return r, err
	}
	number, err := s.newNumber(ctx)
	if err != nil {
		return r, err
	}
	store := ns.home.store
	if err := await(func(done Completion) { store.CopySnapshot(ctx, r.Number, number, done) }); err != nil {
		return r, cmp.Or(ctx.Err(), s.orNotFound(err))
	}
	// The copy is loaded before anything ends, so that clients wait for less.
	entities := newCatalog()
	l := newLoader(ns, &entities)
	l.now = r.Now
	err = store.LoadCopy(number, l)
	if err == nil {
		err = l.finish()
	}
	if err == nil {
		err = ctx.Err()
	}
	adopted := false
	if err == nil {
		adopted, err = s.adopt(&r, number, l)
	}
	if !adopted {
		_ = await(func(done Completion) { store.DropCopy(number, done) }) // the next start would do it, too
	}
	return r, s.orNotFound(err)
}

// adopt makes the copy what the namespace has, and what was loaded of it what clients find. It reports whether the
// store has adopted the copy.
func (s Snapshots) adopt(r *SnapshotRecord, number int64, l *loader) (adopted bool, err error) {
	ns := s.ns
	ns.steering.Lock()
	defer ns.steering.Unlock()
	ns.admin.Lock()
	defer ns.admin.Unlock()
	if ns.stage.Load() == stageGone {
		return false, namespaceNotFound(ns.name)
	}
	o := ns.Options()
	if _, ok := ns.clock.(*clock.System); ok {
		o.Time = clock.State{Ahead: r.Now - ns.Clock().machineTime()}
		if r.Frozen {
			o.Time = clock.State{Frozen: r.Now}
		}
	}
	record, err := ns.record(o)
	if err != nil {
		return false, err
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
		return false, err
	}
	ns.settings.Store(&o)
	s.continueRows(number, l)
	ns.Clock().restart(o.Time)
	for _, q := range l.byID {
		if sub := q.subscription; sub != nil {
			sub.reach.since = ns.Now()
		}
	}
	return true, x.become(l)
}

// continueRows lets the namespace draw ids above all that it ever used, apart from the number, so that no two messages
// get the same made id.
func (s Snapshots) continueRows(number int64, l *loader) {
	ns := s.ns
	last := ns.lastRow.Load()
	before, _ := RowsOf(NamespaceOf(last))
	first, _ := RowsOf(number)
	ns.lastRow.Store(max(last-before+first, l.lastRow, ns.home.store.Journal(ns.id).NextRow()-1))
}
