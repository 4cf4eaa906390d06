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

// connState is the stage of a connection [AMQP 2.4.6].
type connState uint8

const (
	stateWaiting connState = iota // for the peer's open
	stateOpen
	stateLeaving // the peer has sent close; ours follows the answers that we owe
	stateClosing // we have sent close; everything but the peer's close is discarded
	stateClosed  // both sides have sent close
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
	unwanted    atomic.Bool // set before the server tells it to make room for another

	// guarded by the server's mutex
	counted bool          // by the quota
	waiting *list.Element // among the strangers

	// written by the read goroutine
	lastRead atomic.Int64 // ns since begun, monotonic; 0: nothing read yet

	// owned by the loop
	state            connState
	readGone         <-chan struct{} // readEnded, until the loop has noticed it
	openSent         bool
	dead             error // why the socket can no longer be used; nil: it can
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
	awaiting         []*outgoing             // links that wait for room that other links of their session have taken
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
	linkless         time.Time // start of the time without links
	everLinked       bool
	sendings         spares[sending]
	settlings        spares[settling]
	transfer         frames.Transfer // being written
	whole            delivered       // being taken
	lastOrder        int64
	tags             tagMaker
	now              time.Time // when the loop took up the current event
}

// peerLimits holds what the peer's open says about the peer.
type peerLimits struct {
	maxFrame    int // bytes; never above our own
	idleTimeout time.Duration
	containerID string
	hostname    string // the client's name for us; may be empty
	product     string // property of the SDKs
}

// host returns the name of this namespace for texts to the peer: the name that the peer used, if any (DEC-11).
func (p *peerLimits) host(namespace string) string {
	if p.hostname != "" {
		return p.hostname
	}
	return namespace
}

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

// serve runs the connection and returns when its goroutines have ended.
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

// end stops the other goroutines and waits for them.
func (c *conn) end() {
	left := c.box.close()
	close(c.ended)
	c.stopWriting()
	c.takeBack(left) // before letGo frees message sessions: what returns keeps its order in the session
	c.letGo()        // before the socket: over a WebSocket, closing waits for the peer
	_ = c.nc.Close()
	<-c.readEnded
	c.srv.uncommitted.Add(-int64(c.uncommitted))
}

// takeBack returns messages that were removed for the client but stand in a buffer, or in a reply among the remaining events.
func (c *conn) takeBack(left []event) {
	defer c.barrier("take back")
	c.out.takeBack()
	for _, e := range left {
		if r, ok := e.(*request); ok {
			r.drop()
		}
	}
}

// letGo releases everything that the connection holds in the domain. Locks run on (LOCK-11).
func (c *conn) letGo() {
	defer c.barrier("release")
	for _, s := range c.sessions {
		s.releaseLinks()
	}
}

// interrupt fails a handshake that waits for its peer. It has no effect on a running loop.
func (c *conn) interrupt() {
	if c.lastRead.Load() == 0 {
		_ = c.nc.SetReadDeadline(time.Now())
	}
}

// barrier limits the damage of a panic to one connection.
func (c *conn) barrier(where string) {
	if p := recover(); p != nil {
		c.log.Error("connection failed", "operation", where, "panic", p, "stack", string(debug.Stack()))
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
