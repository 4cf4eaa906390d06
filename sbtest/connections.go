package sbtest

import (
	"slices"
	"testing"

	"minibus/emulator"
	"minibus/mgmt/control"
	"minibus/mgmt/control/api"
)

// Connection is an open connection of a client with its links, or an HTTP request that waits for a message.
type Connection = api.Connection

// Link is a sender or receiver of a [Connection], with its credit and what it waits for.
type Link = api.Link

// Connections returns the open connections of the server's own namespace, the oldest first: "the worker has one receiver of orders, with a credit of ten".
func (s *Server) Connections() []Connection { return openConnections(s.server, s.Default()) }

// Connections is [Server.Connections] for the namespace.
func (n *Namespace) Connections() []Connection { return openConnections(n.server, n.Namespace) }

// Refusal is a link or a token that was refused.
type Refusal = emulator.Refusal

// Refusals returns the links and tokens of the server's own namespace that were refused last, the latest first: "the worker asked for a queue that is not there".
func (s *Server) Refusals() []Refusal { return s.server.Refusals(s.Default()) }

// Refusals is [Server.Refusals] for the namespace.
func (n *Namespace) Refusals() []Refusal { return n.server.Refusals(n.Namespace) }

// CloseConnection closes a connection from the server's side, as Azure does before it restarts: "when the connection breaks, the worker goes on". Clients of
// the SDKs connect again. It fails the test if there is no such connection.
func (s *Server) CloseConnection(t testing.TB, id string) {
	t.Helper()
	closeConnection(t, s.server, s.Default(), id)
}

// CloseConnection is [Server.CloseConnection] for the namespace.
func (n *Namespace) CloseConnection(t testing.TB, id string) {
	t.Helper()
	closeConnection(t, n.server, n.Namespace, id)
}

// DetachLink detaches a link from the server's side, as Azure does when a link is idle: "when its link is detached, the worker goes on". Senders and receivers of the
// SDKs attach again; a receiver with a session loses it, and asks for it again, for which another may have been faster. It fails the test if there is no such link.
func (s *Server) DetachLink(t testing.TB, connection string, link int64) {
	t.Helper()
	detachLink(t, s.server, s.Default(), connection, link)
}

// DetachLink is [Server.DetachLink] for the namespace.
func (n *Namespace) DetachLink(t testing.TB, connection string, link int64) {
	t.Helper()
	detachLink(t, n.server, n.Namespace, connection, link)
}

// inspector is what a running server knows of its clients.
type inspector interface{ control.Inspector }

func openConnections(a inspector, ns *emulator.Namespace) []Connection {
	list := a.Connections(ns, nil)
	slices.SortFunc(list, func(x, y Connection) int { return control.CompareIDs(x.ID, y.ID) })
	return list
}

func closeConnection(t testing.TB, a inspector, ns *emulator.Namespace, id string) {
	t.Helper()
	if err := a.CloseConnection(ns, id); err != nil {
		t.Fatalf("sbtest: close the connection %s: %v", id, err)
	}
}

func detachLink(t testing.TB, a inspector, ns *emulator.Namespace, connection string, link int64) {
	t.Helper()
	if err := a.DetachLink(ns, connection, link); err != nil {
		t.Fatalf("sbtest: detach link %d of the connection %s: %v", link, connection, err)
	}
}
