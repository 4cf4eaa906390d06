package amqpserver

import (
	"errors"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// pumper is a link that sends; the loop calls it when it may have something to send.
type pumper interface {
	// pump sends at most a bounded quantum and reports whether it could go on at once.
	pump() (more bool)
	// queued marks that the link stands in conn.runnable.
	queued() *bool
}

// loop owns the connection's state until the connection ends. Each turn takes one thing that happened, lets links
// send, and starts a write.
func (c *conn) loop() {
	c.now = time.Now()
	c.linkless = c.now
	c.timer = time.NewTimer(c.srv.options.HandshakeTimeout)
	defer c.timer.Stop()
	for !c.finished() {
		c.wait()
		c.turn()
	}
}

// finished reports whether there is nothing left to write or read.
func (c *conn) finished() bool {
	return c.dead != nil || (c.state == stateClosed && c.out.idle())
}

// wait blocks until something has happened and handles it. If links could go on it does not block.
func (c *conn) wait() {
	if len(c.runnable) > 0 && !c.out.full() {
		select {
		case b := <-c.input():
			c.handleBatch(b)
		case <-c.box.poke:
			c.handleEvents()
		case r := <-c.out.written:
			c.handleWritten(r)
		case <-c.timer.C:
			c.handleTimer(time.Now())
		default:
		}
		return
	}
	select {
	case b := <-c.input():
		c.handleBatch(b)
	case <-c.box.poke:
		c.handleEvents()
	case r := <-c.out.written:
		c.handleWritten(r)
	case <-c.timer.C:
		c.handleTimer(time.Now())
	case <-c.readGone:
		c.handleReadGone()
	}
}

// handleReadGone notes that no more input will come. A close of ours is still written.
func (c *conn) handleReadGone() {
	c.readGone = nil
	switch {
	case c.state == stateLeaving: // the peer has stopped writing, but may still read
	case c.state < stateClosing:
		c.dead = errSocketGone
	default:
		c.state = stateClosed
	}
}

// errSocketGone ends the loop when the reader has.
var errSocketGone = errors.New("the connection was lost")

// input returns the channel of frames, or nil while the peer has to wait: until the journal takes what it has sent,
// or until it reads what we have answered. During a shutdown input returns nil while an operation is under
// way, or a client that sends without a pause would never get its close.
func (c *conn) input() <-chan *batch {
	switch {
	case c.draining && c.state == stateOpen && c.outstanding > 0:
		return nil
	case c.uncommitted >= maxUncommitted,
		c.uncommitted > 0 && c.srv.uncommitted.Load() >= maxUncommittedAll,
		len(c.out.buf) >= c.bound(maxPendingReplies, strangerReplies):
		return nil
	}
	return c.batches
}

// turn ends a turn: it joins outcomes into ranges and writes them, lets links send, and starts a write.
func (c *conn) turn() {
	if c.state == stateOpen {
		c.flushDispositions()
		c.resumeAwaiting()
		c.pump()
		if c.draining && c.drained() {
			c.close(connErrorf(amqp.CondForced, "The service is shutting down; connect again."))
		}
	}
	if c.state == stateLeaving {
		c.flushDispositions()
		if c.outstanding == 0 {
			c.answerClose()
		}
	}
	c.out.flush()
	if c.out.stalled && !c.out.full() {
		c.out.stalled = false
		c.resumeAll()
	}
}

// flushDispositions writes the outcomes that this turn has collected.
func (c *conn) flushDispositions() {
	for _, s := range c.dirty {
		s.dirty = false
		s.flushOutcomes()
	}
	clear(c.dirty)
	c.dirty = c.dirty[:0]
}

// resumeAwaiting lets links try again that wait for room that other links of their session have taken. It does so in every turn, for
// that room can come back in many ways: each is an event, causes one by being written, or resumes the links itself.
func (c *conn) resumeAwaiting() {
	for i, o := range c.awaiting {
		o.resume()
		c.awaiting[i] = nil
	}
	c.awaiting = c.awaiting[:0]
}

// pump lets each link that may have something to send do so once, in turn (DEC-27). A link that could go on goes to the
// end of the line.
func (c *conn) pump() {
	waiting := c.runnable
	c.runnable = nil
	for i, p := range waiting {
		*p.queued() = false
		if p.pump() {
			c.run(p)
		}
		waiting[i] = nil
	}
	if c.runnable == nil {
		c.runnable = waiting[:0]
	}
}

// run puts a link in line for pump.
func (c *conn) run(p pumper) {
	if q := p.queued(); !*q {
		*q = true
		c.runnable = append(c.runnable, p)
	}
}

// handleEvents runs the events in the mailbox.
func (c *conn) handleEvents() {
	c.now = time.Now()
	events := c.box.take(c.events)
	for i, e := range events {
		e.run(c)
		events[i] = nil
	}
	c.events = events[:0]
	if cap(c.events) > 4096 {
		c.events = nil
	}
}

// handleWritten takes a buffer back from the writer.
func (c *conn) handleWritten(r writeResult) {
	c.out.done(r)
	if c.stranger() {
		c.out.rest()
	}
	if r.err != nil {
		c.dead = r.err
	}
}

// handleBatch takes frames from the reader and gives the batch back.
func (c *conn) handleBatch(b *batch) {
	c.now = time.Now()
	for i := range b.frames {
		if c.state == stateClosed || c.dead != nil {
			break
		}
		c.handleFrame(&b.frames[i])
	}
	err := b.err
	clear(b.frames)
	if err != nil {
		c.handleReadError(err)
		return
	}
	c.freeBatches <- b
}

// handleReadError ends the connection, with a close if the peer can still read one.
func (c *conn) handleReadError(err error) {
	switch {
	case c.state == stateLeaving: // our close follows the answers: the peer may still read [AMQP 2.4.3]
	case isDisconnect(err) && c.state >= stateClosing:
		c.state = stateClosed // our close is still written
	case isDisconnect(err):
		if c.state == stateOpen {
			c.log.Debug("connection lost", "reason", err)
		}
		c.dead = err
	case c.state == stateClosing || c.state == stateClosed:
	case errors.Is(err, errFrameSize), errors.Is(err, errFrameType), errors.Is(err, frames.ErrHeader):
		c.close(connErrorf(amqp.CondFraming, "The frame could not be taken: %v.", err))
	default:
		c.close(connErrorf(amqp.CondDecode, "The frame could not be decoded: %v.", err))
	}
}

// handleFrame dispatches one frame and handles the error.
func (c *conn) handleFrame(in *inFrame) {
	if c.srv.trace != nil {
		c.srv.trace.frame(c.id, traceIn, in.channel, in.performative(), len(in.payload))
	}
	if in.kind == frameEmpty {
		return
	}
	switch c.state {
	case stateLeaving:
		return
	case stateClosing:
		if _, ok := in.other.(*frames.Close); ok {
			c.state = stateClosed
		}
		return
	}
	if err := c.dispatch(in); err != nil {
		c.fail(in, err)
	}
}

func (in *inFrame) performative() frames.Performative {
	switch in.kind {
	case frameTransfer:
		return &in.transfer
	case frameDisposition:
		return &in.disposition
	}
	return in.other
}
