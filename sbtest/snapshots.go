package sbtest

import (
	"context"
	"testing"

	"minibus/emulator"
)

// Snapshot saves what is in this namespace under a name, in the place of an earlier snapshot of that name: entities, messages in all states, sequence numbers, states of
// sessions, remembered message ids and what the clock shows. Locks are not saved: a locked message is available in the snapshot.
//
//	seed(ns)
//	ns.Snapshot(t, "seeded")
//	for _, c := range cases {
//		ns.Restore(t, "seeded")
//		...
//	}
func (n *Namespace) Snapshot(t testing.TB, name string) {
	t.Helper()
	check(t, "save the snapshot", saveSnapshot(n.Namespace, name))
}

// Restore makes this namespace what it was when the snapshot was saved. Clients stay connected; the SDK attaches their links again at the next call. The clock goes on
// from where it was then, or stands still there if it was frozen. The test fails without the snapshot.
func (n *Namespace) Restore(t testing.TB, name string) {
	t.Helper()
	_, err := n.Snapshots().Restore(context.Background(), name)
	check(t, "restore the snapshot", err)
}

// Snapshot saves what is in each namespace under a name, as [Namespace.Snapshot] does for one.
func (s *Server) Snapshot(t testing.TB, name string) {
	t.Helper()
	s.each(t, "save the snapshots", func(ns *emulator.Namespace) error { return saveSnapshot(ns, name) })
}

// Restore restores the snapshots with a name in all namespaces that have one, as [Namespace.Restore] does in one. Namespaces that were made later stay as they
// are. The test fails if the default namespace has none.
func (s *Server) Restore(t testing.TB, name string) {
	t.Helper()
	s.each(t, "restore the snapshots", func(ns *emulator.Namespace) error {
		if _, err := ns.Snapshots().Get(name); err != nil && ns != s.Default() {
			return nil
		}
		_, err := ns.Snapshots().Restore(context.Background(), name)
		return err
	})
}

func saveSnapshot(ns *emulator.Namespace, name string) error {
	_, err := ns.Snapshots().Save(context.Background(), name, true)
	return err
}
