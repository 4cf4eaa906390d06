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

func transportOf(nc net.Conn) Transport {
	ws, overWebSocket := nc.(*wsConn)
	if overWebSocket {
		nc = ws.NetConn()
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

// name is the client's name for itself: the one that its program gave to the SDK, or else the id of its container,
// which most SDKs make up.
func (p *peerLimits) name() string {
	return printable.Clip(cmp.Or(p.application, p.containerID), maxProperty)
}

func (c *conn) client() *emulator.Client {
	return &emulator.Client{Connection: c.id, Container: c.peer.name(), Product: c.peer.product, Remote: remoteOf(c.nc)}
}

// inspection lets other goroutines look at a connection, whose state belongs to its loop.
type inspection struct {
	known atomic.Pointer[Connection] // what does not change; nil before open

	mu    sync.Mutex // a leaf
	asked *inquiry   // nil: none is on its way
	ended bool
}

// inquiry asks a loop for the state of its connection. All who ask before it is answered share it, so that a loop that
// is stuck has only one of them in its mailbox.
type inquiry struct {
	done   chan struct{} // closed when there is an answer
	answer *Connection   // nil: the connection has ended
}

func (q *inquiry) run(c *conn) { c.inspection.answer(c.look()) }

// ask lets the loop describe the connection; nil: it has ended.
func (c *conn) ask() *inquiry {
	s := &c.inspection
	s.mu.Lock()
	if s.ended || s.asked != nil {
		defer s.mu.Unlock()
		return s.asked
	}
	q := &inquiry{done: make(chan struct{})}
	s.asked = q
	s.mu.Unlock()
	if !c.mailbox.post(q) {
		s.answer(nil)
	}
	return q
}

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

// publish makes known what does not change any more.
func (c *conn) publish() {
	c.inspection.known.Store(&Connection{
		ID:        c.id,
		Namespace: c.ns,
		Remote:    remoteOf(c.nc),
		Transport: transportOf(c.nc),
		Host:      printable.Clip(c.host, maxProperty),
		Container: c.peer.name(),
		Product:   c.peer.product,
		Version:   c.peer.version,
		Platform:  c.peer.platform,
		Since:     time.Now(),
	})
}

// inspectTimeout is how long a loop may take to answer those who look at its connection. Usually it takes microseconds.
const inspectTimeout = 250 * time.Millisecond

// openIn returns the open connections of a namespace, in no order.
func (s *Server) openIn(ns *emulator.Namespace) (conns []*conn) {
	for _, c := range s.openConns() {
		if known := c.inspection.known.Load(); known != nil && known.Namespace == ns {
			conns = append(conns, c)
		}
	}
	return conns
}

// Open names the open connections of a namespace, in no order.
func (s *Server) Open(ns *emulator.Namespace) (ids []string) {
	for _, c := range s.openIn(ns) {
		ids = append(ids, c.id)
	}
	return ids
}

// Inspect describes the open connections of a namespace, in no order, that chosen approves by what is known without
// asking; nil: all. It asks their loops. A connection whose loop does not answer within a quarter of a second is
// described as busy.
func (s *Server) Inspect(ns *emulator.Namespace, chosen func(*Connection) bool) (list []Connection) {
	conns := s.openIn(ns)
	if chosen != nil {
		conns = slices.DeleteFunc(conns, func(c *conn) bool { return !chosen(c.inspection.known.Load()) })
	}
	asked := make([]*inquiry, len(conns))
	for i, c := range conns {
		asked[i] = c.ask()
	}
	timeout := make(chan struct{})
	defer time.AfterFunc(inspectTimeout, func() { close(timeout) }).Stop()
	for i, c := range conns {
		q := asked[i]
		if q == nil {
			continue // it has ended
		}
		select {
		case <-q.done:
		case <-timeout:
		}
		select {
		case <-q.done:
			if q.answer != nil {
				list = append(list, *q.answer)
			}
		default:
			busy := *c.inspection.known.Load()
			busy.Busy = true
			list = append(list, busy)
		}
	}
	return list
}

// CloseConnection closes a connection of a namespace from this side, with amqp:connection:forced, which the service
// sends before it restarts: every SDK connects again. A connection whose loop does not answer is cut. It fails with
// CodeNotFound if there is no such connection.
func (s *Server) CloseConnection(ns *emulator.Namespace, id string) error {
	c, err := s.find(ns, id)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	posted := c.post(func() {
		if c.state == stateOpen {
			c.close(connErrorf(amqp.CondForced,
				"The connection was closed through the control API of Minibus; connect again."))
		}
		close(done)
	})
	if posted && !within(done) {
		_ = c.nc.Close()
	}
	return nil
}

// DetachLink detaches a link of a connection with amqp:link:detach-forced, as the service does with links that are
// idle and after changes of an entity: the receivers and senders of every SDK attach again (amqp-data-plane 4.6). It
// fails with CodeNotFound if there is no such link, and with CodeServerBusy if the connection's loop does not answer;
// then the link is detached when it does.
func (s *Server) DetachLink(ns *emulator.Namespace, id string, number int64) error {
	c, err := s.find(ns, id)
	if err != nil {
		return err
	}
	done, found := make(chan struct{}), false
	posted := c.post(func() {
		defer close(done)
		for l := range c.sessions.links {
			if l.number == number && !l.released {
				found = true
				l.forceDetach("ControlApi", "it was detached through the control API of Minibus; attach again.")
				return
			}
		}
	})
	inTime := posted && within(done)
	switch {
	case !inTime && c.inspection.over():
		return noConnection(id)
	case !inTime:
		return errorf(emulator.CodeServerBusy, "The connection '%s' does not answer; the link is detached when it "+
			"does. Close the connection to cut it.", id)
	case !found:
		return errorf(emulator.CodeNotFound,
			"The connection '%s' has no link %d. List the connection to see its links.", id, number)
	}
	return nil
}

func (s *Server) find(ns *emulator.Namespace, id string) (*conn, error) {
	for _, c := range s.openIn(ns) {
		if c.id == id {
			return c, nil
		}
	}
	return nil, noConnection(id)
}

func noConnection(id string) error {
	return errorf(emulator.CodeNotFound,
		"There is no open connection '%s' in the namespace. List the connections to see which there are.", id)
}

func errorf(code emulator.Code, format string, args ...any) error {
	return &emulator.Error{Code: code, Text: fmt.Sprintf(format, args...)}
}

// within waits for a loop, and reports whether it has answered in time.
func within(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-time.After(inspectTimeout):
		return false
	}
}

// maxRefusals is how many refusals are remembered.
const maxRefusals = 256

// maxRefusalText bounds the text of one, in bytes. It can repeat what the client wrote.
const maxRefusalText = 512

// refusals are the links and tokens that were refused last.
type refusals struct {
	mu   sync.Mutex // a leaf
	list []refusal
}

type refusal struct {
	emulator.Refusal
	ns *emulator.Namespace
}

func (r *refusals) add(x refusal) {
	x.At = time.Now()
	x.Text = printable.Clip(x.Text, maxRefusalText)
	x.Entity = printable.Clip(x.Entity, maxProperty)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, x)
	r.list = r.list[max(len(r.list)-maxRefusals, 0):]
}

// Refusals returns the links and tokens of a namespace that were refused last, the latest first. They are few, and are
// not kept when the process ends.
func (s *Server) Refusals(ns *emulator.Namespace) []emulator.Refusal {
	r := &s.refused
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []emulator.Refusal
	for _, x := range slices.Backward(r.list) {
		if x.ns == ns {
			list = append(list, x.Refusal)
		}
	}
	return list
}

// noteAttach remembers a refused attach.
func (c *conn) noteAttach(a *frames.Attach, failure amqpError) {
	client := c.client()
	client.Link = printable.Clip(a.LinkName, maxProperty)
	condition := string(failure.condition)
	r := emulator.Refusal{Client: client, Operation: "attach", Condition: condition, Text: failure.text,
		Identity: c.tokens.identity(parseAddress(addressOf(a)).String())}
	c.noteRefusal(r, addressOf(a))
}

// noteToken remembers a refused token, with what helps.
func (c *conn) noteToken(audience, text, fix string) {
	condition := amqp.CondUnauthorized
	if strings.HasSuffix(text, "could not be found.") {
		condition = amqp.CondNotFound
	}
	r := emulator.Refusal{Client: c.client(), Operation: "put-token", Condition: string(condition), Text: text,
		Fix: fix}
	c.noteRefusal(r, strings.TrimSpace(audience))
}

func (c *conn) noteRefusal(r emulator.Refusal, address string) {
	n := parseAddress(address)
	r.Entity, r.Sub = n.path, n.sub
	c.srv.refused.add(refusal{r, c.ns})
}

// Stats counts a server's connections and links: those open now, and all since the server was made.
type Stats struct {
	Connections, ConnectionsTotal int64
	Links, LinksTotal             int64 // without those that were refused
}

// Stats returns the current numbers.
func (s *Server) Stats() Stats {
	return Stats{
		Connections:      int64(s.Connections()),
		ConnectionsTotal: s.lastConn.Load(),
		Links:            s.links.Load(),
		LinksTotal:       s.linksTotal.Load(),
	}
}
