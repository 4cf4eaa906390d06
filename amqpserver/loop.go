package amqpserver

import (
	"errors"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// maxRounds is how many times a turn takes up what has happened meanwhile. Then it leaves the rest to the next one.
const maxRounds = 4

// turnLock is a lock of capacity one. Waiting for it may take as long as a turn, for which a mutex is not made.
type turnLock chan struct{}

func (t turnLock) Lock()   { t <- struct{}{} }
func (t turnLock) Unlock() { <-t }

func (t turnLock) TryLock() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// begin prepares the first turn.
func (c *conn) begin() {
	c.socket.open(c.nc)
	c.now = time.Now()
	c.sessions.linkless = c.now
	c.timers.timer = time.NewTimer(c.srv.options.HandshakeTimeout)
}

// loop takes a turn for each thing that happens, until the connection ends. The read goroutine takes the turn for what it has read, if
// no other is under way: so a client that waits for an answer costs no wake-up of the loop.
func (c *conn) loop() {
	c.turnLock.Lock()
	defer c.turnLock.Unlock()
	defer c.timers.timer.Stop()
	c.mailbox.beginTurn()
	for !c.finished() {
		if c.wait(); !c.finished() {
			c.turn()
		}
	}
}

// finished reports whether there is nothing left to write or read.
func (c *conn) finished() bool {
	return c.dead != nil || (c.state == stateClosed && c.out.idle())
}

// canSendMore reports whether links could send more at once.
func (c *conn) canSendMore() bool { return len(c.runQueue.runnable) > 0 && !c.out.full() }

// wait blocks until something has happened and handles it. If links could go on it does not block.
func (c *conn) wait() {
	if c.canSendMore() {
		select {
		case b := <-c.input():
			c.handleHanded(b)
		case <-c.mailbox.poked:
			c.handleEvents()
		case r := <-c.out.written:
			c.handleWritten(r)
		case <-c.timers.timer.C:
			c.timers.fire(time.Now())
		default:
		}
		return
	}
	if !c.mailbox.endIfEmpty() {
		c.handleEvents()
		return
	}
	input, gone := c.input(), c.readGone
	c.turnLock.Unlock()
	select {
	case b := <-input:
		c.resume()
		c.handleHanded(b)
	case <-c.mailbox.poked:
		c.resume()
		c.handleEvents()
	case r := <-c.out.written:
		c.resume()
		c.handleWritten(r)
	case <-c.timers.timer.C:
		c.resume()
		c.timers.fire(time.Now())
	case <-gone:
		c.resume()
		c.handleReadGone()
	}
}

// resume begins a turn of the loop after a wait.
func (c *conn) resume() {
	c.turnLock.Lock()
	c.mailbox.beginTurn()
}

// takeTurn takes a turn for a batch on the read goroutine. It returns false if the loop has to: because a turn is under way, because the peer
// has to wait, or because the loop has not handled an earlier batch. A settlement while others are being committed is the loop's too: a
// turn then writes the next messages, and the read goroutine would not hear meanwhile what else the peer settles.
func (c *conn) takeTurn(b *batch) bool {
	if !c.turnLock.TryLock() {
		return false
	}
	defer c.turnLock.Unlock()
	if c.finished() || c.canSendMore() || c.input() == nil || c.reader.handed.Load() > 0 || c.outstanding > 0 && b.settles() {
		return false
	}
	c.mailbox.beginTurn()
	defer c.mailbox.endTurn()
	whole := false
	defer func() {
		if !whole {
			c.dead = errSocketGone // a panic: the loop would go on with a turn that is half done, and take messages for a socket that is closed
		}
	}()
	c.handleBatch(b)
	c.turn()
	if c.finished() || c.canSendMore() {
		c.mailbox.wake()
	}
	whole = true
	return true
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

// input returns the channel of frames, or nil while the peer has to wait: until the journal takes what it has sent, until there is room for its large delivery,
// or until it reads what we have answered. During a shutdown input returns nil while an operation is under
// way, or a client that sends without a pause would never get its close.
func (c *conn) input() <-chan *batch {
	switch {
	case c.draining && c.state == stateOpen && c.outstanding > 0:
		return nil
	case !c.assembly.mayGrow(), c.uncommitted >= maxUncommitted, c.weight >= maxWeight,
		c.uncommitted > 0 && c.srv.uncommitted.Load() >= maxUncommittedAll,
		len(c.out.buf) >= c.tokens.limit(maxPendingReplies, unauthenticatedReplies), c.delayed.full():
		return nil
	}
	return c.reader.batches
}

// turn ends a turn. It takes up what has happened meanwhile, for the store may have committed what the turn began.
func (c *conn) turn() {
	for range maxRounds {
		if c.mailbox.hasEvents() {
			c.handleEvents()
		}
		c.serveLinks()
		if c.finished() || !c.mailbox.hasEvents() {
			return
		}
	}
}

// serveLinks joins outcomes into ranges and writes them, lets links send, and starts a write.
func (c *conn) serveLinks() {
	c.srv.broker.Hold()
	defer c.srv.broker.Release()
	if c.state == stateOpen {
		c.runQueue.flushOutcomes()
		c.runQueue.resumeBlocked()
		c.runQueue.pump()
		if c.draining && c.outstanding == 0 {
			c.close(connErrorf(amqp.CondForced, "The service is shutting down; connect again."))
		}
	}
	if c.state == stateLeaving {
		c.runQueue.flushOutcomes()
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
	c.srv.broker.Hold()
	defer c.srv.broker.Release()
	c.now = time.Now()
	events := c.mailbox.take(c.events)
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
	if c.tokens.unauthenticated() {
		c.out.freeBuffers()
	}
	if r.err != nil {
		c.dead = r.err
	}
}

// handleHanded handles a batch that the reader has handed to the loop. Until then the reader takes no turn: it would overtake.
func (c *conn) handleHanded(b *batch) {
	c.handleBatch(b)
	c.reader.handed.Add(-1)
}

// handleBatch takes frames from the reader and gives the batch back.
func (c *conn) handleBatch(b *batch) {
	c.srv.broker.Hold()
	defer c.srv.broker.Release()
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

// runnable is a link that sends; the loop calls it when it may have something to send.
type runnable interface {
	// pump sends at most a bounded quantum and reports whether it could go on at once.
	pump() (more bool)
	// inRunQueue marks that the link stands in agenda.runnable.
	inRunQueue() *bool
}

// runQueue holds what the end of a connection's turn has to do.
type runQueue struct {
	runnable []runnable      // links that may have something to send
	blocked  []*outgoingLink // links that wait for room that other links of their session have taken
	dirty    []*session      // with outcomes to write
}

func (a *runQueue) add(p runnable) {
	if q := p.inRunQueue(); !*q {
		*q = true
		a.runnable = append(a.runnable, p)
	}
}

func (a *runQueue) markDirty(s *session) {
	if !s.dirty {
		s.dirty = true
		a.dirty = append(a.dirty, s)
	}
}

// flushOutcomes writes the outcomes that this turn has collected.
func (a *runQueue) flushOutcomes() {
	for _, s := range a.dirty {
		s.dirty = false
		s.flushOutcomes()
	}
	clear(a.dirty)
	a.dirty = a.dirty[:0]
}

// resumeBlocked lets links try again that wait for room that other links of their session have taken. It does so in every turn, for
// that room can come back in many ways: each is an event, causes one by being written, or resumes the links itself.
func (a *runQueue) resumeBlocked() {
	for i, o := range a.blocked {
		o.resume()
		a.blocked[i] = nil
	}
	a.blocked = a.blocked[:0]
}

// pump lets each link that may have something to send do so once, in turn (DEC-27). A link that could go on goes to the
// end of the line.
func (a *runQueue) pump() {
	waiting := a.runnable
	a.runnable = nil
	for i, p := range waiting {
		*p.inRunQueue() = false
		if p.pump() {
			a.add(p)
		}
		waiting[i] = nil
	}
	if a.runnable == nil {
		a.runnable = waiting[:0]
	}
}

func (a *runQueue) drop() { a.runnable, a.blocked = nil, nil }
