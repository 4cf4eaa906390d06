package amqpserver

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// handleFrame handles one frame, and returns an error that says what ends.
func (c *conn) handleFrame(in *inFrame) error {
	if c.trace.tracer != nil {
		c.trace.frame(traceIn, in.channel, in.performative(), len(in.payload))
	}
	if in.kind == frameEmpty {
		return nil
	}
	switch c.state {
	case stateLeaving:
		return nil
	case stateClosing:
		if _, ok := in.other.(*frames.Close); ok {
			c.state = stateClosed
		}
		return nil
	case stateWaiting:
		open, ok := in.other.(*frames.Open)
		if !ok {
			return connErrorf(amqp.CondIllegalState, "The first frame must be open.")
		}
		if in.channel != 0 { // [AMQP 2.4.1]
			return connErrorf(amqp.CondFraming,
				"The open frame came on channel %d; it can only be sent on channel 0.", in.channel)
		}
		return c.handleOpen(open)
	}
	switch p := in.other.(type) {
	case *frames.Open:
		return connErrorf(amqp.CondIllegalState, "The connection is open already.")
	case *frames.Close:
		c.handleClose(p)
		return nil
	case *frames.Begin:
		return c.handleBegin(in.channel, p)
	}
	s := c.sessions.open[in.channel]
	if _, ended := c.sessions.ended[in.channel]; s == nil && ended {
		return nil // some clients detach a link after they have ended its session
	}
	if s != nil {
		return s.dispatch(in)
	}
	if _, ok := in.other.(*frames.End); ok {
		return nil // go-amqp ends a session whose begin was cancelled by its context
	}
	return connErrorf(amqp.CondFraming, "There is no session on channel %d.", in.channel)
}

// maxHostname bounds the part of a host name that texts repeat, in bytes; real names are not longer.
const maxHostname = 255

// handleOpen takes the peer's limits and answers with ours [AMQP 2.7.1].
func (c *conn) handleOpen(o *frames.Open) error {
	size := uint32(1<<32 - 1)
	if o.HasMaxFrameSize {
		size = o.MaxFrameSize
	}
	if size < frames.MinMaxFrameSize {
		return connErrorf(amqp.CondInvalidField,
			"A max-frame-size of %d is below the minimum of %d.", size, frames.MinMaxFrameSize)
	}
	c.peer.maxFrame = int(min(size, c.srv.options.MaxFrameSize))
	c.peer.containerID = o.ContainerID
	c.peer.hostname = o.Hostname[:min(len(o.Hostname), maxHostname)]
	if o.HasIdleTimeout {
		c.peer.idleTimeout = time.Duration(o.IdleTimeout) * time.Millisecond
	}
	c.peer.takeProperties(o.Properties)
	c.host = cmp.Or(c.peer.hostname, c.host, serverName(c.nc))
	if err := c.enterNamespace(); err != nil {
		return err
	}
	if err := c.decideJMS(o); err != nil {
		return err
	}
	c.state = stateOpen
	c.publish()
	c.sendOpen(&frames.Open{OfferedCapabilities: c.offered(o.DesiredCapabilities)})
	c.armTimer()
	c.log.Debug("connection opened", "container", c.peer.containerID, "product", c.peer.product)
	return nil
}

// sendOpen sends our open once. It has every field that some client insists on
// (amqp-data-plane 1.4).
func (c *conn) sendOpen(open *frames.Open) {
	if c.openSent {
		return
	}
	c.openSent = true
	o := &c.srv.options
	open.ContainerID = c.ns.Name()
	open.MaxFrameSize, open.HasMaxFrameSize = o.MaxFrameSize, true
	open.ChannelMax, open.HasChannelMax = o.ChannelMax, true
	open.IdleTimeout, open.HasIdleTimeout = uint32(o.IdleTimeout.Milliseconds()), true
	c.write(0, open)
}

// handleClose takes the peer's close. Ours follows the outstanding answers, after at most closeLinger [AMQP 2.4.3].
func (c *conn) handleClose(p *frames.Close) {
	if p.Error != nil {
		c.log.Debug("connection closed by the client",
			"condition", string(p.Error.Condition), "reason", p.Error.Description)
	}
	c.sendAllDelayed()
	c.releaseLinks()
	c.runQueue = runQueue{}
	c.state = stateLeaving
	c.linger()
	if c.outstanding == 0 {
		c.answerClose()
	}
}

// answerClose answers the peer's close; nothing is written after it.
func (c *conn) answerClose() {
	c.flushOutcomes()
	clear(c.sessions.open)
	c.write(0, &frames.Close{})
	c.state = stateClosed
	c.linger()
}

// handleBegin opens a session on the peer's channel; we answer on the same number [AMQP 2.5.1].
func (c *conn) handleBegin(channel uint16, b *frames.Begin) error {
	o := &c.srv.options
	if s := c.sessions.open[channel]; s != nil && s.left {
		s.endNow() // a peer that begins again waits for no more answers
	}
	switch {
	case channel > o.ChannelMax:
		return connErrorf(amqp.CondFraming, "Channel %d is above the channel-max of %d.", channel, o.ChannelMax)
	case c.sessions.open[channel] != nil:
		return connErrorf(amqp.CondIllegalState, "There is a session on channel %d already.", channel)
	case len(c.sessions.open) >= c.tokens.limit(int(o.ChannelMax)+1, unauthenticatedSessions):
		return connErrorf(amqp.CondResourceLimit,
			"The connection has %d sessions already%s.", len(c.sessions.open), c.tokens.limitReason())
	case b.HasRemoteChannel:
		return connErrorf(amqp.CondInvalidField, "A begin with remote-channel answers one of ours, and there is none.")
	}
	s := newSession(c, channel, b)
	c.sessions.open[channel] = s
	delete(c.sessions.ended, channel)
	c.write(channel, &frames.Begin{
		RemoteChannel: channel, HasRemoteChannel: true,
		NextOutgoingID: s.win.nextOutgoing, IncomingWindow: incomingWindow, OutgoingWindow: outgoingWindow,
		HandleMax: o.HandleMax, HasHandleMax: true,
	})
	return nil
}

// write appends one frame to the output, unless close has been written. It closes the connection if the frame is larger
// than the peer's max-frame-size, which takes a tiny maximum and a long text to echo.
func (c *conn) write(channel uint16, p frames.Performative) {
	if c.state >= stateClosing {
		return
	}
	before := len(c.out.buf)
	c.trace.frame(traceOut, channel, p, 0)
	c.out.buf = frames.AppendFrame(c.out.buf, channel, p)
	if size := len(c.out.buf) - before; size > c.peer.maxFrame && c.state == stateOpen {
		c.out.buf = c.out.buf[:before]
		c.close(connErrorf(amqp.CondFrameTooSmall,
			"A frame of %d bytes does not fit into your max-frame-size of %d.", size, c.peer.maxFrame))
	}
}

// shutdown ends the connection after everything that the client has sent is acknowledged.
func (c *conn) shutdown() {
	if c.state == stateWaiting {
		c.dead = errSocketGone
		return
	}
	if c.state != stateOpen {
		return
	}
	c.draining = true
	c.requests.refuseWaiting()
	c.sendAllDelayed()
	for _, s := range c.sessions.open {
		s.stopReceiving()
	}
}

// tracer writes one readable line per frame.
type tracer struct {
	mu sync.Mutex
	w  io.Writer
}

// Directions in a trace, seen from the client: it is the client that is being debugged.
const (
	traceIn  = "->"
	traceOut = "<-"
)

// connTrace traces one connection.
type connTrace struct {
	*tracer        // nil: no trace is wanted
	conn    string // its id
}

// frame is inlined: without a trace it costs a comparison.
func (t *connTrace) frame(dir string, channel uint16, p frames.Performative, payload int) {
	if t.tracer != nil {
		t.writeFrame(dir, channel, p, payload)
	}
}

func (t *connTrace) writeFrame(dir string, channel uint16, p frames.Performative, payload int) {
	t.line(frames.Trace(dir, channel, p, payload))
}

func (t *connTrace) header(dir string, h []byte) {
	if t.tracer != nil {
		t.line(fmt.Sprintf("%s header %q %d %d.%d.%d", dir, h[:4], h[4], h[5], h[6], h[7]))
	}
}

func (t *connTrace) line(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// A trace that can't be written must not fail what it traces.
	_, _ = fmt.Fprintf(t.w, "%s %s %s\n", time.Now().UTC().Format("15:04:05.000000"), t.conn, text)
}
