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

// CheckSnapshotName fails for a name that no snapshot can have.
func CheckSnapshotName(name string) error {
	good := len(name) > 0 && len(name) <= MaxName && !strings.ContainsAny(name[:1], "-._")
	for i := 0; good && i < len(name); i++ {
		c := name[i]
		good = 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'
	}
	if good {
		return nil
	}
	return errorf(CodeArgument, "", "The name '%.60s' of a snapshot is invalid. A name has 1 to %d letters, digits, hyphens, dots and underscores, and begins with a "+
		"letter or a digit.", name, MaxName)
}

// Snapshots keeps copies of what is in a namespace, and brings them back.
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
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return all
}

// Get returns the snapshot with a name, in letters of any case. It fails with CodeNotFound.
func (s Snapshots) Get(name string) (SnapshotRecord, error) {
	ns := s.ns
	if ns.stage.Load() == stageGone {
		return SnapshotRecord{}, namespaceNotFound(ns.name)
	}
	for _, r := range s.List() {
		if strings.EqualFold(r.Name, name) {
			return r, nil
		}
	}
	return SnapshotRecord{}, errorf(CodeNotFound, "", "The namespace '%s' has no snapshot '%.60s'.", ns.name, name)
}

// Save saves what is in the namespace at one moment, and returns when that is durable: every entity with its settings and numbers, every message in its
// state, the states of sessions, the ids that duplicate detection remembers, and what the clock shows. All that was acknowledged before the call is in it. Clients go
// on meanwhile. Locks are not saved: a locked message is available in the snapshot.
//
// With replace the snapshot takes the place of one with the same name, which stays if saving fails. Errors: CodeArgument for a name that no snapshot can have,
// CodeAlreadyExists without replace, CodeQuotaExceeded where there are too many or the disk is full, CodeNotFound when the namespace is deleted meanwhile,
// CodeNotAllowed for a namespace that has no broker, and that of ctx if it ends before the snapshot is whole. Then nothing of it is left.
func (s Snapshots) Save(ctx context.Context, name string, replace bool) (SnapshotRecord, error) {
	ns := s.ns
	if err := CheckSnapshotName(name); err != nil {
		return SnapshotRecord{}, err
	}
	ns.saving.Lock()
	defer ns.saving.Unlock()
	old, err := s.Get(name)
	switch {
	case err == nil && !replace:
		return SnapshotRecord{}, errorf(CodeAlreadyExists, "", "The namespace '%s' has a snapshot '%s' already. Replace it, or choose another name.", ns.name, old.Name)
	case err != nil && len(s.List()) >= MaxSnapshots:
		return SnapshotRecord{}, errorf(CodeQuotaExceeded, "", "The namespace '%s' has %d snapshots, and can't have more. Delete one.", ns.name, MaxSnapshots)
	}
	number, err := s.newNumber()
	if err == nil {
		err = ctx.Err() // it may have waited for another one
	}
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
		return SnapshotRecord{}, cmp.Or(ctx.Err(), s.orGone(err))
	}
	return *r, nil
}

// begin returns when the moment of a snapshot is committed. The clock is not steered meanwhile.
func (s Snapshots) begin(ctx context.Context, r *SnapshotRecord, instead int64, done Completion) error {
	ns := s.ns
	ns.steering.Lock()
	defer ns.steering.Unlock()
	return await(func(begun Completion) {
		ns.home.store.SaveSnapshot(ctx, r, instead, CompletionFunc(func(err error) {
			r.Now = ns.Now() // no earlier than anything in the snapshot
			if c, ok := ns.clock.(*clock.System); ok {
				r.Frozen = c.Frozen()
			}
			begun.Completed(err)
		}), done)
	})
}

// Delete deletes a snapshot. It fails with CodeNotFound.
func (s Snapshots) Delete(name string) error {
	ns := s.ns
	ns.saving.Lock()
	defer ns.saving.Unlock()
	r, err := s.Get(name)
	if err != nil {
		return err
	}
	return s.orGone(await(func(done Completion) { ns.home.store.DropCopy(r.Number, done) }))
}

// newNumber returns a number for the rows of a copy.
func (s Snapshots) newNumber() (int64, error) {
	ns := s.ns
	if ns.home == nil {
		return 0, errorf(CodeNotAllowed, "", "The namespace '%s' is opened by itself, and has no snapshots.", ns.name)
	}
	number := ns.home.next.Add(1) - 1
	if number > maxNamespaces {
		return 0, errorf(CodeQuotaExceeded, "", "The database has had %d namespaces, snapshots and restores, and can't have more. Begin with an empty one.", int64(maxNamespaces))
	}
	return number, nil
}

// orGone says of an error why it came, where the namespace was deleted meanwhile.
func (s Snapshots) orGone(err error) error {
	if err != nil && s.ns.stage.Load() == stageGone {
		return namespaceNotFound(s.ns.name)
	}
	return err
}
