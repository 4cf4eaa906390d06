package amqpserver

import (
	"cmp"
	"container/list"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// connState is the stage of a connection [AMQP 2.4.6].
type connState uint8

const (
	stateWaiting connState = iota // for the peer's open
	stateOpen
	stateLeaving // the peer has sent close; ours follows the outstanding answers
	stateClosing // we have sent close; everything but the peer's close is discarded
	stateClosed  // both sides have sent close
)

// conn is one connection. Its parts have their own state and methods, and know the connection.
type conn struct {
	// immutable
	srv     *Server
	nc      net.Conn
	id      string // in logs and traces
	log     connLog
	trace   connTrace
	mailbox mailbox
	reader  reader
	socket  socket // opened before the goroutines start

	evicted    atomic.Bool // set before the server closes it in favour of another
	inspection inspection

	// guarded by the server's mutex
	counted                *openNamespace // nil until it is counted
	unauthenticatedElement *list.Element  // of the server's list; nil: it is not in it

	turnLock chanMutex // held for a turn, by the loop or the read goroutine

	// owned by the turn
	state        connState
	readGone     <-chan struct{} // the reader's end, until the loop has noticed it
	openSent     bool
	ns           *emulator.Namespace // the default one until open has said which
	host         string              // that the client has named first; decides with the port
	dead         error               // why the socket can no longer be used; nil: it can
	out          output
	events       []event // spare slice for the mailbox
	peer         peerLimits
	tokens       credentials
	timer        *time.Timer
	closeBy      time.Time // in stateLeaving and stateClosing
	runQueue     runQueue
	dirty        []*session // with outcomes to write
	sessions     sessionTable
	requests     pendingRequests
	transactions transactions
	errands      errands
	jms          jmsMode
	autoDelete   autoDelete
	cbsSenders   int
	uncommitted  int // bytes sent to the domain and not committed
	weight       int // operations that the journal makes of what was sent to topics, and not committed
	outstanding  int // operations whose completion will arrive in the mailbox
	assembly     assembly
	draining     bool
	pendingSends freeList[pendingSend]
	settleOps    freeList[settleOp]
	transfer     frames.Transfer // being written
	whole        delivered       // being taken
	delayed      *delayedAnswers // nil: none
	tag          amqp.UUID       // of the delivery that is being written, if that has a lock
	tags         tagMaker        // of the others
	now          time.Time       // when the loop took up the current event
}

// peerLimits holds what the peer's open says about the peer.
type peerLimits struct {
	maxFrame    int // bytes; never above our own
	idleTimeout time.Duration
	containerID string
	hostname    string // the client's name for us; may be empty
	product     string // property of the SDKs
	version     string // the same
	platform    string // the same
	application string // the program's name for itself, in front of the SDK's in a property; may be empty
}

// host returns the name of this namespace for texts to the peer: the name that the peer used, if any (DEC-11).
func (p *peerLimits) host(namespace string) string { return cmp.Or(p.hostname, namespace) }

// heartbeat returns how long we may be silent [AMQP 2.4.5].
func (p *peerLimits) heartbeat() time.Duration {
	if p.idleTimeout == 0 {
		return maxHeartbeat
	}
	return max(min(p.idleTimeout/2, maxHeartbeat), minHeartbeat)
}

func newConn(s *Server, nc net.Conn, id string) *conn {
	_ = nc.SetReadDeadline(time.Now().Add(s.options.HandshakeTimeout))
	c := &conn{
		srv:      s,
		nc:       nc,
		id:       id,
		ns:       s.broker.Default(),
		log:      connLog{s.options.Logger.With("conn", id, "remote", remoteOf(nc)), s.options.Refusals},
		trace:    connTrace{s.trace, id},
		mailbox:  newMailbox(),
		turnLock: make(chanMutex, 1),
		tags:     newTagMaker(),
		sessions: sessionTable{open: make(map[uint16]*session), ended: make(map[uint16]struct{})},
		peer:     peerLimits{maxFrame: frames.MinMaxFrameSize},
	}
	c.reader = newReader(c)
	c.out = newOutput(c)
	c.tokens = credentials{c: c}
	c.assembly = newAssembly(c)
	c.requests = pendingRequests{c: c, reserved: make(map[*request]struct{})}
	c.transactions = transactions{c: c}
	c.errands.c = c
	if c.tokens.checked() {
		c.tokens.by = time.Now().Add(s.options.FirstToken)
	}
	return c
}

// serve runs the connection and returns when its goroutines have ended.
func (c *conn) serve() {
	defer c.nc.Close()
	defer c.recoverPanic("handshake")
	if err := c.handshake(); err != nil {
		c.reader.f.close()
		if c.evicted.Load() {
			c.log.ended("connection", errTooManyUnauthenticated)
		} else if !isDisconnect(err) && c.srv.options.Refusals.Take("handshake") {
			c.log.Warn("connection refused", "operation", "handshake", "reason", err)
		}
		return
	}
	c.readGone = c.reader.ended
	c.begin()
	go c.reader.loop()
	go c.out.loop()
	defer c.end()
	defer c.recoverPanic("loop")
	c.loop()
}

// end releases what the connection holds and waits for its other goroutines. The order matters: messages in a buffer go
// back before the links free their sessions, so they keep their order in the session; and the links are released before
// the socket is closed, since that waits for the peer over a WebSocket.
func (c *conn) end() {
	c.turnLock.Lock()
	c.dead = cmp.Or(c.dead, errSocketGone) // the read goroutine takes no turn any more
	c.turnLock.Unlock()
	left := c.mailbox.close()
	c.inspection.end()
	close(c.reader.stop)
	c.out.stop()
	c.takeBack(left)
	c.releaseLinks()
	_ = c.nc.Close()
	c.errands.ended.Wait()
	<-c.reader.ended
	c.srv.incomingMemory.ask(&c.assembly.share, 0, 0, 0)
	for r := range c.requests.reserved {
		r.refuseWaiting()
		r.askMemory(0, 0)
	}
}

// takeBack returns to their queues the messages that were removed for the client but stand in a buffer, or in a reply
// among the remaining events.
func (c *conn) takeBack(left []event) {
	defer c.recoverPanic("take back")
	c.out.takeBack()
	for _, e := range left {
		switch e := e.(type) {
		case *request:
			e.drop()
		case *memoryRequest:
			e.drop()
		case *errand:
			e.drop()
		}
	}
}

// releaseLinks releases everything that the connection holds in the domain. Locks run on (LOCK-11).
func (c *conn) releaseLinks() {
	defer c.recoverPanic("release")
	for _, s := range c.sessions.open {
		s.releaseLinks()
	}
}

// interrupt fails a handshake that waits for its peer. It has no effect on a running loop.
func (c *conn) interrupt() {
	if c.reader.last.Load() == 0 {
		_ = c.nc.SetReadDeadline(time.Now())
	}
}

// recoverPanic limits the damage of a panic to one connection.
func (c *conn) recoverPanic(operation string) {
	if p := recover(); p != nil {
		c.srv.options.Logger.Error("connection failed", "conn", c.id, "remote", remoteOf(c.nc), "operation", operation,
			"panic", p, "stack", string(debug.Stack()))
		_ = c.nc.Close()
	}
}

// isDisconnect distinguishes a lost peer from a peer that made a mistake.
func isDisconnect(err error) bool {
	var ne net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.ErrClosedPipe) || errors.As(err, &ne)
}

// remoteOf names the peer in logs; some connections (pipes) have no address.
func remoteOf(nc net.Conn) string {
	if a := nc.RemoteAddr(); a != nil {
		return a.String()
	}
	return "unknown"
}

// maxFree bounds how many values of a kind a connection keeps for reuse.
const maxFree = 256

// freeList holds values that a connection's loop reuses.
type freeList[T any] []*T

// get returns a zero value.
func (l *freeList[T]) get() *T {
	n := len(*l)
	if n == 0 {
		return new(T)
	}
	v := (*l)[n-1]
	*l = (*l)[:n-1]
	return v
}

// put takes back a value that nothing refers to.
func (l *freeList[T]) put(v *T) {
	var zero T
	*v = zero
	if len(*l) < maxFree {
		*l = append(*l, v)
	}
}
