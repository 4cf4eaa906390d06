package amqpserver

import (
	"errors"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// pumper is a link that sends: it is asked to when it may have something.
type pumper interface {
	// pump sends what it can, a bounded quantum at most, and reports whether it could go on at once.
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

// finished reports whether there is nothing more to say or hear.
func (c *conn) finished() bool {
	return c.dead != nil || (c.state == stateClosed && c.out.idle())
}

// wait blocks until something has happened and handles it. With links that could go on it does not block.
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

// handleReadGone notes that nothing will come any more. A close that we are writing is still written out.
func (c *conn) handleReadGone() {
	c.readGone = nil
	switch {
	case c.state == stateLeaving: // who says no more may hear
	case c.state < stateClosing:
		c.dead = errSocketGone
	default:
		c.state = stateClosed
	}
}

// errSocketGone ends the loop when the reader has.
var errSocketGone = errors.New("the connection was lost")

// input is where frames come from, or nil while the peer has to wait: for the journal to take what it has sent
// already, or for itself to read what we have answered. When the server shuts down nothing more is begun while anything is under
// way, or a client that sends without a pause would never be told.
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

// turn ends a turn: outcomes are joined into ranges and written, links send, the write goroutine gets its share.
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

// resumeAwaiting lets the links try again that wait for what others of their session have taken. It does so in every turn, for
// there are many ways in which that can change: each is an event, makes one by being written, or resumes the links itself.
func (c *conn) resumeAwaiting() {
	for i, o := range c.awaiting {
		o.resume()
		c.awaiting[i] = nil
	}
	c.awaiting = c.awaiting[:0]
}

// pump lets each link that may have something to send do so once, in turn (DEC-27). A link that could go on stands in
// line again, behind the others.
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

// handleEvents takes what the mailbox holds.
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
	case c.state == stateLeaving: // our close follows the answers: who says no more may hear [AMQP 2.4.3]
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

// handleFrame dispatches one frame and lets an error of its handler cost what its type says.
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
