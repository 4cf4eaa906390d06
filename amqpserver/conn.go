package amqpserver

import (
	"container/list"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"minibus/internal/amqp/frames"
)

// connState is how far a connection has come [AMQP 2.4.6].
type connState uint8

const (
	stateWaiting connState = iota // for the peer's open
	stateOpen
	stateLeaving // the peer has sent close; ours follows the answers that are owed
	stateClosing // we have sent close; whatever comes but the peer's close is discarded
	stateClosed  // both have
)

// conn is one connection.
type conn struct {
	// immutable
	srv         *Server
	nc          net.Conn
	id          string // in logs and traces
	begun       time.Time
	log         *slog.Logger
	box         mailbox
	batches     chan *batch // from the reader
	freeBatches chan *batch // back to it
	ended       chan struct{}
	readEnded   chan struct{}
	writeEnded  chan struct{}
	unwanted    atomic.Bool // set before it is told to make room for another

	// guarded by the server's mutex
	counted bool          // by the quota
	waiting *list.Element // among the strangers

	// written by the read goroutine
	lastRead atomic.Int64 // ns since begun, by the monotonic clock; 0: nothing was read

	// owned by the loop
	state            connState
	readGone         <-chan struct{} // readEnded, until that has been noticed
	openSent         bool
	dead             error // the socket is of no more use, and why
	out              output
	events           []event // spare slice for the mailbox
	sessions         map[uint16]*session
	formerly         map[uint16]struct{} // channels whose last session has ended
	links            int
	cbsSenders       int
	shown            credentials
	peer             peerLimits
	runnable         []pumper // links that may have something to send
	dirty            []*session
	awaiting         []*outgoing             // links that wait for what others of their session have taken
	uncommitted      int                     // bytes sent to the domain and not committed
	outstanding      int                     // operations whose completion will arrive in the mailbox
	assembling       int                     // bytes of unfinished deliveries
	requests         int                     // requests without a written reply
	transactions     map[string]*transaction // open ones, by id
	transactionBytes int                     // of messages that they hold
	lastTransaction  uint64
	heldReplies      int // bytes of replies that wait for credit
	draining         bool
	timer            *time.Timer
	closeBy          time.Time // in stateLeaving and stateClosing
	linkless         time.Time // since when there has been no link
	everLinked       bool
	sendings         spares[sending]
	settlings        spares[settling]
	transfer         frames.Transfer // being written
	whole            delivered       // being taken
	lastOrder        int64
	tags             tagMaker
	now              time.Time // when the current event was taken up
}

// peerLimits is what the peer's open says of itself.
type peerLimits struct {
	maxFrame    int // bytes; never above our own
	idleTimeout time.Duration
	containerID string
	hostname    string // how the client calls us; may be empty
	product     string // property of the SDKs
}

// host is how texts name this namespace to the peer: as the peer does, if it has said (DEC-11).
func (p *peerLimits) host(namespace string) string {
	if p.hostname != "" {
		return p.hostname
	}
	return namespace
}

// heartbeat is how long we are silent at most [AMQP 2.4.5].
func (p *peerLimits) heartbeat() time.Duration {
	if p.idleTimeout == 0 {
		return maxHeartbeat
	}
	return max(min(p.idleTimeout/2, maxHeartbeat), minHeartbeat)
}

func newConn(s *Server, nc net.Conn, id string) *conn {
	_ = nc.SetReadDeadline(time.Now().Add(s.options.HandshakeTimeout))
	c := &conn{
		srv: s, nc: nc, id: id, begun: time.Now(),
		log:     s.options.Logger.With("conn", id, "remote", remoteOf(nc)),
		box:     newMailbox(),
		batches: make(chan *batch), freeBatches: make(chan *batch, 2),
		ended: make(chan struct{}), readEnded: make(chan struct{}), writeEnded: make(chan struct{}),
		out: newOutput(), sessions: make(map[uint16]*session), formerly: make(map[uint16]struct{}),
		peer: peerLimits{maxFrame: frames.MinMaxFrameSize},
		tags: newTagMaker(),
	}
	if s.options.Access != nil {
		c.shown.by = time.Now().Add(s.options.FirstToken)
	}
	return c
}

// serve runs the connection from the first byte to the end of its goroutines.
func (c *conn) serve() {
	defer c.nc.Close()
	defer c.barrier("handshake")
	f := newFrameReader(c.nc, &c.srv.readBuffers)
	if err := c.handshake(f); err != nil {
		f.close()
		if c.unwanted.Load() {
			c.logEnd("connection", errTooManyStrangers.fault)
		} else if !isDisconnect(err) && c.srv.options.Refusals.Take("handshake") {
			c.log.Warn("connection refused", "operation", "handshake", "reason", err)
		}
		return
	}
	for range cap(c.freeBatches) {
		c.freeBatches <- new(batch)
	}
	c.readGone = c.readEnded
	go c.readLoop(f)
	go c.writeLoop()
	defer c.end()
	defer c.barrier("loop")
	c.loop()
}

// end stops the other goroutines and waits for them. Nothing of the connection runs when it returns.
func (c *conn) end() {
	left := c.box.close()
	close(c.ended)
	c.stopWriting()
	c.takeBack(left) // before the sessions are free, whose order it keeps
	c.letGo()        // before the socket: over a WebSocket, closing waits for the peer
	_ = c.nc.Close()
	<-c.readEnded
	c.srv.uncommitted.Add(-int64(c.uncommitted))
}

// takeBack gives back what was removed for the client and stands in a buffer, or in a reply among the events that are left.
func (c *conn) takeBack(left []event) {
	defer c.barrier("take back")
	c.out.takeBack()
	for _, e := range left {
		if r, ok := e.(*request); ok {
			r.drop()
		}
	}
}

// letGo gives back everything that the connection holds of the domain. Locks run on (LOCK-11).
func (c *conn) letGo() {
	defer c.barrier("release")
	for _, s := range c.sessions {
		s.releaseLinks()
	}
}

// interrupt makes a handshake that is waiting for its peer fail. Once the loop runs it is of no consequence.
func (c *conn) interrupt() {
	if c.lastRead.Load() == 0 {
		_ = c.nc.SetReadDeadline(time.Now())
	}
}

// barrier keeps a mistake of ours from costing more than one connection.
func (c *conn) barrier(where string) {
	if p := recover(); p != nil {
		c.log.Error("connection failed", "operation", where, "panic", p, "stack", string(debug.Stack()))
		_ = c.nc.Close()
	}
}

// isDisconnect tells a peer that has gone from one that did something wrong.
func isDisconnect(err error) bool {
	var ne net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.ErrClosedPipe) || errors.As(err, &ne)
}

// remoteOf names the peer in logs; not everything that serves as a connection has an address.
func remoteOf(nc net.Conn) string {
	if a := nc.RemoteAddr(); a != nil {
		return a.String()
	}
	return "unknown"
}
