package sbtest

import (
	"testing"

	"minibus/emulator"
)

// Diagnosis says what stands in the way of receiving from an entity. Printed with %s it has a line for each finding and its cure.
type Diagnosis = emulator.Diagnosis

// Finding is one thing that stands in the way, or explains where messages are.
type Finding = emulator.Finding

// Why says what stands in the way of receiving from an entity of the server's own namespace, such as "orders", "events/Subscriptions/all" or "orders/$DeadLetterQueue". A test
// that waits for a message in vain can print it:
//
//	t.Fatalf("the order was not processed: %s", bus.Why(t, "orders"))
//
// With the name of a client, only its receivers count: the id of a [Connection], its container or address, or the name of a [Link]. It changes nothing.
func (s *Server) Why(t testing.TB, entity string, client ...string) *Diagnosis {
	t.Helper()
	return why(t, s.server, s.Default(), entity, client)
}

// Why is [Server.Why] for the namespace.
func (n *Namespace) Why(t testing.TB, entity string, client ...string) *Diagnosis {
	t.Helper()
	return why(t, n.server, n.Namespace, entity, client)
}

func why(t testing.TB, a inspector, ns *emulator.Namespace, path string, client []string) *Diagnosis {
	t.Helper()
	if len(client) > 1 {
		t.Fatalf("sbtest: why: name one client, not %q", client)
	}
	e, sub, err := ns.EntityAt(path)
	if err != nil {
		t.Fatalf("sbtest: why: %v", err)
	}
	name := ""
	if len(client) > 0 {
		name = client[0]
	}
	d := a.Why(ns, e, sub, name)
	return &d
}
