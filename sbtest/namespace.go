package sbtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/server"
)

// Namespace is a namespace of a [Server]: the default one, or one that [Server.NewNamespace] made.
type Namespace struct {
	ns     *emulator.Namespace
	server *server.Server
	limits config.Profile
}

// NewNamespace makes a namespace for one test, which shares nothing with others of the server: tests that run in
// parallel can have entities of the same names, and [Namespace.Advance] lets time pass for one test alone.
//
//	func TestOrders(t *testing.T) {
//		t.Parallel()
//		ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
//		client, err := azservicebus.NewClientFromConnectionString(ns.ConnectionString(), nil)
//		...
//	}
//
// It is removed with everything in it when the test and its subtests end. If it can't have the entities, the test fails
// with all that is wrong.
func (s *Server) NewNamespace(t testing.TB, entities ...Entities) *Namespace {
	t.Helper()
	var parts []config.Part
	for _, e := range entities {
		parts = append(parts, e.part())
	}
	topology := assemble(t, parts, s.limits, nil)
	if len(topology.Others) > 0 {
		t.Fatalf("sbtest: what a namespace declares has other namespaces: leave %s out", topology.Others[0].Namespace)
	}
	ns, err := s.server.CreateNamespace("", emulator.NamespaceOptions{
		Aliases: topology.Aliases, Port: topology.Port, Policies: topology.AuthorizationRules,
	}, topology.Entities...)
	check(t, "make a namespace", err)
	t.Cleanup(func() {
		if err := s.server.DeleteNamespace(ns.Name()); err != nil {
			t.Errorf("sbtest: remove the namespace: %v", err)
		}
	})
	return &Namespace{ns, s.server, s.limits}
}

// ConnectionString returns a connection string of the namespace for any Azure SDK. Its port speaks AMQP, AMQP over
// WebSockets, and HTTP, each with and without TLS. [WithoutNetwork] it serves clients that connect through [InMemory].
func (n *Namespace) ConnectionString() string { return n.server.ConnectionTo(n.ns) }

// ExplorerURL returns where a browser shows the namespace while the test runs. It is empty [WithoutNetwork].
func (n *Namespace) ExplorerURL() string {
	port := n.server.Ports().AMQP
	if port == 0 {
		return ""
	}
	return fmt.Sprintf("http://localhost:%d/#/%s", port, url.PathEscape(n.Name()))
}

// Dial connects in memory. The connection carries AMQP without TLS, as go-amqp sends it through NewConn. It works
// inside a testing/synctest bubble, where sockets do not. The host that the client names, that of the connection
// string, says which namespace it is for.
func (n *Namespace) Dial(ctx context.Context) (net.Conn, error) { return n.server.Dial(ctx) }

// InMemory returns a function that calls [Namespace.Dial], for the option NewWebSocketConn of azservicebus. A client
// needs it inside a testing/synctest bubble:
//
//	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), &azservicebus.ClientOptions{
//		NewWebSocketConn: sbtest.InMemory[azservicebus.NewWebSocketConnArgs](bus),
//	})
func InMemory[Args any](bus interface {
	Dial(ctx context.Context) (net.Conn, error)
}) func(context.Context, Args) (net.Conn, error) {
	return func(ctx context.Context, _ Args) (net.Conn, error) { return bus.Dial(ctx) }
}

// Name returns the name of the namespace.
func (n *Namespace) Name() string { return n.ns.Name() }

// Now returns what the clock of the namespace shows.
func (n *Namespace) Now() time.Time { return instant(n.ns.Now()) }

// Advance lets time pass in this namespace alone, as [Server.Advance] does in all. Later the namespace's time goes on
// ahead of the others'.
func (n *Namespace) Advance(d time.Duration) {
	if err := n.ns.Clock().Advance(context.Background(), d); err != nil {
		panic("sbtest: " + err.Error())
	}
}

// Freeze lets the time of this namespace stand still: no lock ends, no message expires, nothing falls due, however
// long the test takes. Advance and SetTime move it on, and it stands still again.
//
//	ns.Freeze(t)
//	send(&azservicebus.Message{Body: body, ScheduledEnqueueTime: &nextWeek})
//	ns.SetTime(t, nextWeek)
func (n *Namespace) Freeze(t testing.TB) {
	t.Helper()
	check(t, "freeze the clock", n.ns.Clock().Freeze())
}

// Resume lets the time of a frozen namespace go on from where it stands.
func (n *Namespace) Resume(t testing.TB) {
	t.Helper()
	check(t, "resume the clock", n.ns.Clock().Resume())
}

// SetTime lets time pass in this namespace until an instant. The test fails if that is over: a clock never goes back.
func (n *Namespace) SetTime(t testing.TB, to time.Time) {
	t.Helper()
	check(t, "set the clock", n.ns.Clock().Set(context.Background(), to))
}

// Snapshot saves what is in this namespace under a name, in the place of an earlier snapshot of that name: entities,
// messages in all states, sequence numbers, states of sessions, remembered message ids and what the clock shows.
// Locks are not saved: a locked message is available in the snapshot.
//
//	seed(ns)
//	ns.Snapshot(t, "seeded")
//	for _, c := range cases {
//		ns.Restore(t, "seeded")
//		...
//	}
func (n *Namespace) Snapshot(t testing.TB, name string) {
	t.Helper()
	_, err := n.ns.Snapshots().Save(context.Background(), name, true)
	check(t, "save the snapshot", err)
}

// Restore makes this namespace what it was when the snapshot was saved. Clients stay connected; the SDK attaches
// their links again at the next call. The clock goes on from where it was then, or stands still there if it was
// frozen. The test fails without the snapshot.
func (n *Namespace) Restore(t testing.TB, name string) {
	t.Helper()
	_, err := n.ns.Snapshots().Restore(context.Background(), name)
	check(t, "restore the snapshot", err)
}

// Reset makes this namespace what it was when the test made it: the same entities and no others, without messages, with
// sequence numbers from 1, and a clock that shows the time of day. Clients stay connected; the SDK attaches their links
// again at the next call.
func (n *Namespace) Reset(t testing.TB) {
	t.Helper()
	check(t, "reset the namespace", n.server.ResetNamespace(n.ns))
}

// entity finds a queue, a topic or a subscription.
func (n *Namespace) entity(t testing.TB, path string) *emulator.Entity {
	t.Helper()
	e, err := n.ns.Entity(path)
	check(t, "find "+path, err)
	return e
}

// entityAt finds an entity, of which the path may name a sub-queue.
func (n *Namespace) entityAt(t testing.TB, path string) (*emulator.Entity, emulator.SubQueue) {
	t.Helper()
	e, sub, err := n.ns.EntityAt(path)
	check(t, "find "+path, err)
	return e, sub
}

// check fails the test if something could not be done.
func check(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("sbtest: %s: %v", what, err)
	}
}

// durable waits until an operation is durable, and fails the test if it does not come to that.
func durable(t testing.TB, what string, start func(emulator.Completion) error) {
	t.Helper()
	done := make(chan error, 1)
	err := start(emulator.CompletionFunc(func(err error) { done <- err }))
	if err == nil {
		err = <-done
	}
	check(t, what, err)
}

// instant returns a time in milliseconds; 0 is the zero time.
func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// millis is instant the other way round.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}
