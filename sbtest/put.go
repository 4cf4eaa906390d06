package sbtest

import (
	"testing"

	"minibus/config"
	"minibus/emulator"
)

// Put makes entities of a running server what they are declared: those that are missing are created, settings of others change, and messages stay. A
// setting that is not declared gets its default. Subscriptions that a [Topic] does not declare stay. Either all of it is done or the test fails: what is
// fixed when an entity is created, such as RequiresSession, can't be changed.
func (s *Server) Put(t testing.TB, entities ...Entities) {
	t.Helper()
	put(t, s.Default(), s.limits, entities)
}

// Put is [Server.Put] in this namespace.
func (n *Namespace) Put(t testing.TB, entities ...Entities) {
	t.Helper()
	put(t, n.Namespace, n.limits, entities)
}

func put(t testing.TB, ns *emulator.Namespace, limits config.Limits, entities []Entities) {
	t.Helper()
	var parts []config.Part
	for _, e := range entities {
		parts = append(parts, e.part())
	}
	topology := assembleInto(t, parts, limits, func(path string) string {
		if e, err := ns.Entity(path); err == nil && e.Kind() != emulator.KindSubscription {
			return e.Path()
		}
		return ""
	})
	_, err := ns.Configuration().Apply(topology.Entities, false)
	check(t, "put entities", err)
}

// Remove deletes a queue, a topic or a subscription, such as "events/Subscriptions/large", with all of its messages.
func (s *Server) Remove(t testing.TB, path string) {
	t.Helper()
	check(t, "delete "+path, s.Default().Entities().Delete(path))
}

// Remove is [Server.Remove] in this namespace.
func (n *Namespace) Remove(t testing.TB, path string) {
	t.Helper()
	check(t, "delete "+path, n.Entities().Delete(path))
}

// PutRule gives a subscription, such as "events/Subscriptions/large", a rule, or another filter and action to the rule of that name. It counts for what
// is sent from then on. A new subscription has the rule $Default, which takes everything: a [Rule] without a name replaces it.
func (s *Server) PutRule(t testing.TB, subscription string, r Rule) {
	t.Helper()
	putRule(t, s.Default(), subscription, r)
}

// PutRule is [Server.PutRule] in this namespace.
func (n *Namespace) PutRule(t testing.TB, subscription string, r Rule) {
	t.Helper()
	putRule(t, n.Namespace, subscription, r)
}

func putRule(t testing.TB, ns *emulator.Namespace, path string, r Rule) {
	t.Helper()
	_, err := ns.Entities().PutRule(path, r.options())
	check(t, "put a rule of "+path, err)
}

// DeleteRule deletes a rule of a subscription. A subscription without rules takes nothing.
func (s *Server) DeleteRule(t testing.TB, subscription, name string) {
	t.Helper()
	check(t, "delete a rule of "+subscription, s.Default().Entities().DeleteRule(subscription, name))
}

// DeleteRule is [Server.DeleteRule] in this namespace.
func (n *Namespace) DeleteRule(t testing.TB, subscription, name string) {
	t.Helper()
	check(t, "delete a rule of "+subscription, n.Namespace.Entities().DeleteRule(subscription, name))
}
