package sbtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"minibus/mgmt/control"
	"minibus/mgmt/control/api"
)

// Connection is an open connection of a client with its links, or an HTTP request that waits for a message.
type Connection struct {
	ID           string // c1 and so on, as in the log; of HTTP requests http: and the address
	Remote       string // the client's address
	Transport    string // tcp, tls, websocket, websocket-tls, memory, http
	Host         string // that the client has named
	Container    string // the client's name for itself: its application id, or else its AMQP container id
	Product      string // the client library
	Version      string // of the client library
	Platform     string // on which the client runs
	Since        time.Time
	Policies     []string // whose tokens or keys the client has shown; empty without [WithTokens]
	Busy         bool     // it did not answer in time: links, policies and pending bytes are not known
	Ending       bool     // one of the sides has closed it
	PendingBytes int      // what waits until the client reads
	Links        []Link
}

// Link is a sender or receiver of a [Connection], with its credit and what it waits for.
type Link struct {
	ID                 int64  // its number on the connection
	Name               string // as the client chose it
	Role               string // of the client: receiver or sender
	Address            string // an entity with its sub-queue, its $management, $cbs, or coordinator
	Entity             string
	SubQueue           string  // empty: the main queue
	Mode               string  // of a receiver of messages: peekLock, receiveAndDelete, or browse of JMS
	Selector           string  // the JMS selector of the messages that the receiver takes; empty: it takes all
	SessionID          *string // the session that the receiver holds
	SessionLockedUntil *time.Time
	Since              time.Time
	LastActive         time.Time // when there was traffic last
	Credit             int64     // how many more messages the receiving side takes
	Unsettled          int       // messages that the client has not settled; of a sender those that are being stored
	SessionWindow      int64     // how many more frames with messages the AMQP session takes in this direction
	Deliveries         int64     // messages so far
	WaitsFor           string    // message, credit, session, window, settlement, reading, journal, detach or fault
}

// Connections returns the open connections, the oldest first: "the worker has one receiver of orders, with a credit
// of ten".
func (n *Namespace) Connections() []Connection {
	list := n.server.Connections(n.ns, nil)
	slices.SortFunc(list, func(x, y api.Connection) int { return control.CompareIDs(x.ID, y.ID) })
	all := make([]Connection, len(list))
	for i, c := range list {
		all[i] = Connection{
			ID: c.ID, Remote: c.Remote, Transport: c.Transport, Host: c.Host,
			Container: c.Container, Product: c.Product, Version: c.Version, Platform: c.Platform,
			Since: c.Since, Policies: c.Policies, Busy: c.Busy, Ending: c.Ending, PendingBytes: c.PendingBytes,
		}
		for _, l := range c.Links {
			all[i].Links = append(all[i].Links, Link(l))
		}
	}
	return all
}

// Refusal is a link or a token that was refused.
type Refusal struct {
	Time       time.Time
	Connection string // of the client, as in [Connection]
	Container  string // what the client calls itself
	Operation  string // attach, put-token
	Entity     string // path, with its sub-queue; empty: the whole namespace
	Condition  string
	Text       string
}

// Refusals returns the links and tokens that were refused last, the latest first: "the worker asked for a queue that
// is not there".
func (n *Namespace) Refusals() []Refusal {
	var all []Refusal
	for _, r := range n.server.Refusals(n.ns) {
		out := Refusal{
			Time: r.At, Operation: r.Operation, Entity: r.Sub.Join(r.Entity), Condition: r.Condition, Text: r.Text,
		}
		if r.Client != nil {
			out.Connection, out.Container = r.Client.Connection, r.Client.Container
		}
		all = append(all, out)
	}
	return all
}

// CloseConnection closes a connection from the server's side, as Azure does before it restarts: "when the connection
// breaks, the worker goes on". Clients of the SDKs connect again. It fails the test if there is no such connection.
func (n *Namespace) CloseConnection(t testing.TB, id string) {
	t.Helper()
	check(t, "close the connection "+id, n.server.CloseConnection(n.ns, id))
}

// DetachLink detaches a link from the server's side, as Azure does when a link is idle: "when its link is detached, the
// worker goes on". Senders and receivers of the SDKs attach again; a receiver with a session loses it, and asks for it
// again, for which another may have been faster. It fails the test if there is no such link.
func (n *Namespace) DetachLink(t testing.TB, connection string, link int64) {
	t.Helper()
	what := fmt.Sprintf("detach link %d of the connection %s", link, connection)
	check(t, what, n.server.DetachLink(n.ns, connection, link))
}
