package sbtest

import (
	"testing"

	"minibus/config"
	"minibus/emulator"
)

// Put makes entities of a running server what they are declared: those that are missing are created, settings of
// others change, and messages stay. A setting that is not declared gets its default. Subscriptions that a [Topic]
// does not declare stay. Either all of it is done or the test fails: what is fixed when an entity is created, such as
// RequiresSession, can't be changed.
func (n *Namespace) Put(t testing.TB, entities ...Entities) {
	t.Helper()
	var parts []config.Part
	for _, e := range entities {
		parts = append(parts, e.part())
	}
	topology := assemble(t, parts, n.limits, func(path string) string {
		if e, err := n.ns.Entity(path); err == nil && e.Kind() != emulator.KindSubscription {
			return e.Path()
		}
		return ""
	})
	_, err := n.ns.Configuration().Apply(topology.Entities, false)
	check(t, "put entities", err)
}

// Delete deletes a queue, a topic or a subscription, such as "events/Subscriptions/large", with all of its messages.
func (n *Namespace) Delete(t testing.TB, path string) {
	t.Helper()
	check(t, "delete "+path, n.ns.Entities().Delete(path))
}

// Exists reports whether there is a queue, a topic or a subscription with a path.
func (n *Namespace) Exists(path string) bool {
	_, err := n.ns.Entity(path)
	return err == nil
}

// PutRule gives a subscription, such as "events/Subscriptions/large", a rule, or another filter and action to the
// rule of that name. It counts for what is sent from then on. A new subscription has the rule $Default, which takes
// everything: a [Rule] without a name replaces it.
func (n *Namespace) PutRule(t testing.TB, subscription string, r Rule) {
	t.Helper()
	_, err := n.ns.Entities().PutRule(subscription, r.options())
	check(t, "put a rule of "+subscription, err)
}

// DeleteRule deletes a rule of a subscription. A subscription without rules takes nothing.
func (n *Namespace) DeleteRule(t testing.TB, subscription, name string) {
	t.Helper()
	check(t, "delete a rule of "+subscription, n.ns.Entities().DeleteRule(subscription, name))
}

// Counts are the numbers of messages of an entity.
type Counts struct {
	Active             int64 // with locked and deferred ones
	DeadLetter         int64
	Scheduled          int64
	Transfer           int64 // of a queue that forwards, those that are to go
	TransferDeadLetter int64
	Deferred           int64 // of the active ones, those that are deferred
	SizeBytes          int64 // of all of them, of a topic with those of its subscriptions
	Subscriptions      int64 // of a topic
}

// Counts returns the numbers of messages of a queue, a topic, which has scheduled ones, or a subscription.
func (n *Namespace) Counts(t testing.TB, entity string) Counts {
	t.Helper()
	return Counts(n.entity(t, entity).Counts())
}
