package sbtest

import (
	"context"
	"testing"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/server"
)

// Namespace is a namespace beside the default one of a [Server]. Its Entity method finds a queue, a topic or a subscription, as that of
// [Server.Default] does.
type Namespace struct {
	*emulator.Namespace
	server *server.Server
	limits config.Limits
}

// Namespace makes a namespace for one test, which shares nothing with others of the server: tests that run in parallel can have entities of the same
// names, and [Namespace.Advance] lets time pass for one test alone.
//
//	func TestOrders(t *testing.T) {
//		t.Parallel()
//		ns := bus.Namespace(t, sbtest.Queue{Name: "orders"})
//		client, err := azservicebus.NewClientFromConnectionString(ns.ConnectionString(), nil)
//		...
//	}
//
// It is removed with everything in it when the test and its subtests end. If it can't have the entities, the test fails with all that is
// wrong.
func (s *Server) Namespace(t testing.TB, entities ...Entities) *Namespace {
	t.Helper()
	var parts []config.Part
	for _, e := range entities {
		parts = append(parts, e.part())
	}
	topology := assemble(t, parts, s.limits)
	if len(topology.Others) > 0 {
		t.Fatalf("sbtest: what a namespace declares has other namespaces: leave %s out", topology.Others[0].Namespace)
	}
	ns, err := s.server.CreateNamespace("", emulator.NamespaceOptions{Aliases: topology.Aliases, Port: topology.Port,
		Policies: topology.AuthorizationRules}, topology.Entities...)
	if err != nil {
		t.Fatalf("sbtest: make a namespace: %v", err)
	}
	n := &Namespace{ns, s.server, s.limits}
	t.Cleanup(func() {
		if err := s.server.DeleteNamespace(n.Name()); err != nil {
			t.Errorf("sbtest: remove the namespace: %v", err)
		}
	})
	return n
}

// ConnectionString returns a connection string of the namespace for any Azure SDK. With [WithoutNetwork] its host names the namespace, so a client
// that connects through [Server.Dial] reaches it too.
func (n *Namespace) ConnectionString() string { return n.server.ConnectionTo(n.Namespace) }

// Advance lets time pass in this namespace alone, as [Server.Advance] does in all. Later the namespace's time goes on ahead of the others'.
func (n *Namespace) Advance(d time.Duration) {
	if err := n.Namespace.Clock().Advance(context.Background(), d); err != nil {
		panic("sbtest: " + err.Error())
	}
}
