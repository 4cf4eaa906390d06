package amqpserver

import (
	"errors"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// loop owns the connection's state until the connection ends. Each turn takes one thing that happened, lets links
// send, and starts a write.
func (c *conn) loop() {
	c.now = time.Now()
	c.sessions.linkless = c.now
	c.timers.timer = time.NewTimer(c.srv.options.HandshakeTimeout)
	defer c.timers.timer.Stop()
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
	if len(c.agenda.runnable) > 0 && !c.out.full() {
		select {
		case b := <-c.input():
			c.handleBatch(b)
		case <-c.box.poke:
			c.handleEvents()
		case r := <-c.out.written:
			c.handleWritten(r)
		case <-c.timers.timer.C:
			c.timers.fire(time.Now())
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
	case <-c.timers.timer.C:
		c.timers.fire(time.Now())
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
		len(c.out.buf) >= c.tokens.bound(maxPendingReplies, strangerReplies), c.late.full():
		return nil
	}
	return c.reader.batches
}

// turn ends a turn: it joins outcomes into ranges and writes them, lets links send, and starts a write.
func (c *conn) turn() {
	if c.state == stateOpen {
		c.agenda.flush()
		c.agenda.resumeAwaiting()
		c.agenda.pump()
		if c.draining && c.outstanding == 0 {
			c.close(connErrorf(amqp.CondForced, "The service is shutting down; connect again."))
		}
	}
	if c.state == stateLeaving {
		c.agenda.flush()
		if c.outstanding == 0 {
			c.answerClose()
		}
	}
	c.out.flush()
	if c.out.stalled && !c.out.full() {
		c.out.stalled = false
		c.sessions.resume()
	}
}

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
	if c.tokens.stranger() {
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
	c.reader.free <- b
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

func (c *conn) handleFrame(in *inFrame) {
	c.trace.frame(traceIn, in.channel, in.performative(), len(in.payload))
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
