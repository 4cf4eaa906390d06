package amqpserver

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/printable"
)

// Connection is an open connection as it is at the moment.
type Connection struct {
	ID        string
	Namespace *emulator.Namespace
	Remote    string
	Transport Transport
	Host      string // that the client has named
	Container string // the client's name for itself
	Product   string // the client library, with Version and Platform
	Version   string
	Platform  string
	Since     time.Time
	Policies  []string // of the tokens and the key that it has shown; none if they are not checked
	Busy      bool     // its loop did not answer in time: what follows is missing
	Ending    bool     // one of the sides has sent close
	Pending   int      // bytes that wait until the client reads
	Links     []Link
}

// Transport is what carries a connection.
type Transport string

// The transports.
const (
	OverTCP             Transport = "tcp"
	OverTLS             Transport = "tls"
	OverWebSocket       Transport = "websocket"
	OverSecureWebSocket Transport = "websocket-tls"
	InMemory            Transport = "memory"
)

// transportOf tells what carries a connection.
func transportOf(nc net.Conn) Transport {
	ws, overWebSocket := nc.(*wsConn)
	if overWebSocket {
		nc = ws.ws.NetConn()
	}
	t, _ := nc.(interface{ IsTLS() bool })
	secure := t != nil && t.IsTLS()
	switch {
	case overWebSocket && secure:
		return OverSecureWebSocket
	case overWebSocket:
		return OverWebSocket
	case secure:
		return OverTLS
	case localPort(nc) == 0:
		return InMemory
	}
	return OverTCP
}

// maxProperty bounds what is kept of a text in the peer's open, in bytes.
const maxProperty = 255

// takeProperties reads what the SDKs say about themselves in the properties of open.
func (p *peerLimits) takeProperties(properties amqp.Map) {
	for _, x := range []struct {
		key  string
		into *string
	}{{"product", &p.product}, {"version", &p.version}, {"platform", &p.platform}} {
		if v, ok := properties.Get(x.key); ok {
			text, _ := amqp.AsString(v)
			*x.into = printable.Clip(text, maxProperty)
		}
	}
	if v, ok := properties.Get("user-agent"); ok {
		text, _ := amqp.AsString(v)
		if name, _, given := strings.Cut(text, " azsdk-"); given {
			p.application = printable.Clip(name, maxProperty)
		}
	}
}

// name is the client's name for itself: the one that its program gave to the SDK, or else the id of its container, which most SDKs make up.
func (p *peerLimits) name() string {
	return printable.Clip(cmp.Or(p.application, p.containerID), maxProperty)
}

// inspection lets other goroutines look at a connection, whose state belongs to its loop.
type inspection struct {
	known atomic.Pointer[Connection] // what does not change; nil before open

	mu    sync.Mutex // a leaf
	asked *inquiry   // nil: none is on its way
	ended bool
}

// inquiry asks a loop for the state of its connection. All who ask before it is answered share it, so that a loop that is stuck has
// only one of them in its mailbox.
type inquiry struct {
	done   chan struct{} // closed when there is an answer
	answer *Connection   // nil: the connection has ended
}

// run implements event.
func (q *inquiry) run(c *conn) { c.inspection.answer(c.look()) }

// answer gives everyone who has asked the answer.
func (s *inspection) answer(is *Connection) {
	s.mu.Lock()
	q := s.asked
	s.asked = nil
	s.mu.Unlock()
	if q != nil {
		q.answer = is
		close(q.done)
	}
}

// end tells those who ask, and will ask, that the connection has ended.
func (s *inspection) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.answer(nil)
}

// over reports whether the connection has ended.
func (s *inspection) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// ask lets the loop describe the connection; nil: it has ended.
func (c *conn) ask() *inquiry {
	q, isNew := c.inspection.inquire()
	if isNew && !c.mailbox.post(q) {
		c.inspection.answer(nil)
	}
	return q
}

// inquire returns the inquiry that is on its way, or a new one that the caller has to post; nil: the connection has ended.
func (s *inspection) inquire() (q *inquiry, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.asked != nil {
		return s.asked, false
	}
	s.asked = &inquiry{done: make(chan struct{})}
	return s.asked, true
}

// publish makes known what does not change any more.
func (c *conn) publish() {
	clip := func(s string) string { return printable.Clip(s, maxProperty) }
	c.inspection.known.Store(&Connection{
		ID: c.id, Namespace: c.ns, Remote: remoteOf(c.nc), Transport: transportOf(c.nc), Host: clip(c.host), Container: c.peer.name(),
		Product: c.peer.product, Version: c.peer.version, Platform: c.peer.platform, Since: time.Now(),
	})
}

// patience is how long a loop may take to answer those who look at its connection. Usually it takes microseconds.
const patience = 250 * time.Millisecond

// Open names the open connections of a namespace, in no order.
func (s *Server) Open(ns *emulator.Namespace) (ids []string) {
	for _, c := range s.openConns() {
		if known := c.inspection.known.Load(); known != nil && known.Namespace == ns {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// Inspect describes the open connections of a namespace, in no order, that chosen approves by what it knows without asking; nil: all. It asks
// their loops. A connection whose loop does not answer within a quarter of a second is described as busy.
func (s *Server) Inspect(ns *emulator.Namespace, chosen func(*Connection) bool) []Connection {
	var conns []*conn
	var list []Connection
	for _, c := range s.openConns() {
		if known := c.inspection.known.Load(); known != nil && known.Namespace == ns && (chosen == nil || chosen(known)) {
			conns = append(conns, c)
		}
	}
	asked := make([]*inquiry, len(conns))
	for i, c := range conns {
		asked[i] = c.ask()
	}
	patient := time.NewTimer(patience)
	defer patient.Stop()
	late := false
	for i, c := range conns {
		if is := asked[i].wait(patient.C, &late); is != nil {
			list = append(list, *is)
		} else if !asked[i].over() {
			is := *c.inspection.known.Load()
			is.Busy = true
			list = append(list, is)
		}
	}
	return list
}

// wait returns the answer, or nil if the connection has ended or the time is over.
func (q *inquiry) wait(patient <-chan time.Time, late *bool) *Connection {
	if q == nil {
		return nil
	}
	if !*late {
		select {
		case <-q.done:
		case <-patient:
			*late = true
		}
	}
	if q.over() {
		return q.answer
	}
	return nil
}

// over reports whether there is an answer.
func (q *inquiry) over() bool {
	if q == nil {
		return true
	}
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// CloseConnection closes a connection of a namespace from this side, with amqp:connection:forced, which the service sends before it restarts: every
// SDK connects again. A connection whose loop does not answer is cut. It fails with CodeNotFound if there is no such connection.
func (s *Server) CloseConnection(ns *emulator.Namespace, id string) error {
	c, err := s.find(ns, id)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	posted := c.post(func() {
		if c.state == stateOpen {
			c.close(connErrorf(amqp.CondForced, "The connection was closed through the control API of Minibus; connect again."))
		}
		close(done)
	})
	if posted && !within(done) {
		_ = c.nc.Close()
	}
	return nil
}

// DetachLink detaches a link of a connection with amqp:link:detach-forced, as the service does with links that are idle and after changes of an entity:
// the receivers and senders of every SDK attach again (amqp-data-plane 4.6). It fails with CodeNotFound if there is no such link, and with
// CodeServerBusy if the connection's loop does not answer; then the link is detached when it does.
func (s *Server) DetachLink(ns *emulator.Namespace, id string, number int64) error {
	c, err := s.find(ns, id)
	if err != nil {
		return err
	}
	done, found := make(chan struct{}), false
	posted := c.post(func() {
		defer close(done)
		for e := range c.sessions.links {
			if l := e.base(); l.number == number && !l.released {
				found = true
				l.detach(amqpError{condition: amqp.CondDetachForced, entity: l.entity(),
					text: fmt.Sprintf("The link '%s' is force detached. Code: ControlApi. Details: it was detached through the control API of Minibus; attach again.", l.name)})
				return
			}
		}
	})
	inTime := posted && within(done)
	switch {
	case !inTime && c.inspection.over():
		return noConnection(id)
	case !inTime:
		return &emulator.Error{Code: emulator.CodeServerBusy,
			Text: fmt.Sprintf("The connection '%s' does not answer; the link is detached when it does. Close the connection to cut it.", id)}
	case !found:
		return &emulator.Error{Code: emulator.CodeNotFound,
			Text: fmt.Sprintf("The connection '%s' has no link %d. List the connection to see its links.", id, number)}
	}
	return nil
}

// find returns an open connection.
func (s *Server) find(ns *emulator.Namespace, id string) (*conn, error) {
	for _, c := range s.openConns() {
		if known := c.inspection.known.Load(); c.id == id && known != nil && known.Namespace == ns {
			return c, nil
		}
	}
	return nil, noConnection(id)
}

func noConnection(id string) error {
	return &emulator.Error{Code: emulator.CodeNotFound, Text: fmt.Sprintf("There is no open connection '%s' in the namespace. List the connections to see which there are.", id)}
}

// within waits for a loop, and reports whether it has answered in time.
func within(done <-chan struct{}) bool {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// maxRefusals is how many refusals are remembered.
const maxRefusals = 256

// maxRefusalText bounds the text of one, in bytes. It can repeat what the client wrote.
const maxRefusalText = 512

// refusals are the links and tokens that were refused last, in a ring.
type refusals struct {
	mu   sync.Mutex // a leaf
	ring []refusal
	next int
}

type refusal struct {
	emulator.Refusal
	ns *emulator.Namespace
}

func (r *refusals) add(x refusal) {
	x.At, x.Text, x.Entity = time.Now(), printable.Clip(x.Text, maxRefusalText), printable.Clip(x.Entity, maxProperty)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < maxRefusals {
		r.ring = append(r.ring, x)
		return
	}
	r.ring[r.next] = x
	r.next = (r.next + 1) % maxRefusals
}

// Refusals returns the links and tokens of a namespace that were refused last, the latest first. They are few, and gone with the process.
func (s *Server) Refusals(ns *emulator.Namespace) []emulator.Refusal {
	r := &s.refused
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []emulator.Refusal
	for i := range r.ring {
		if x := &r.ring[(r.next+i)%len(r.ring)]; x.ns == ns {
			list = append(list, x.Refusal)
		}
	}
	slices.Reverse(list)
	return list
}

// noteAttach remembers a refused attach.
func (c *conn) noteAttach(a *frames.Attach, failure amqpError) {
	n := parseAddress(addressOf(a))
	who := c.client()
	who.Link = printable.Clip(a.LinkName, maxProperty)
	c.srv.refused.add(refusal{emulator.Refusal{Client: who, Operation: "attach", Entity: n.path, Sub: n.sub, Condition: string(failure.condition), Text: failure.text}, c.ns})
}

// noteToken remembers a refused token.
func (c *conn) noteToken(audience, text string) {
	n := parseAddress(strings.TrimSpace(audience))
	condition := amqp.CondUnauthorized
	if strings.HasSuffix(text, "could not be found.") {
		condition = amqp.CondNotFound
	}
	c.srv.refused.add(refusal{emulator.Refusal{Client: c.client(), Operation: "put-token", Entity: n.path, Sub: n.sub, Condition: string(condition), Text: text}, c.ns})
}

// Stats counts a server's connections and links: those open now, and all since the server was made.
type Stats struct {
	Connections, ConnectionsTotal int64
	Links, LinksTotal             int64 // without those that were refused
}

// Stats returns the current numbers.
func (s *Server) Stats() Stats {
	return Stats{
		Connections: int64(s.Connections()), ConnectionsTotal: s.lastConn.Load(),
		Links: s.links.Load(), LinksTotal: s.linksTotal.Load(),
	}
}
