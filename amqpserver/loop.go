package amqpserver

import (
	"errors"
	"sync"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// maxRounds is how many times a turn takes up what has happened meanwhile. It leaves the rest to the next turn.
const maxRounds = 4

// chanMutex is a mutex for which a goroutine may wait long. It is a channel of capacity one.
type chanMutex chan struct{}

func (m chanMutex) Lock()   { m <- struct{}{} }
func (m chanMutex) Unlock() { <-m }

func (m chanMutex) TryLock() bool {
	select {
	case m <- struct{}{}:
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
	c.timer = time.NewTimer(c.srv.options.HandshakeTimeout)
}

// loop takes a turn for each thing that happens, until the connection ends. The read goroutine takes the turn for what
// it has read if no other is under way, so the answer to a waiting client costs no wake-up of the loop.
func (c *conn) loop() {
	c.turnLock.Lock()
	defer c.turnLock.Unlock()
	defer c.timer.Stop()
	c.mailbox.beginTurn()
	for !c.finished() {
		c.next()
	}
}

// finished reports whether there is nothing left to write or read.
func (c *conn) finished() bool {
	return c.dead != nil || (c.state == stateClosed && c.out.idle())
}

// canSendMore reports whether links could send more at once.
func (c *conn) canSendMore() bool { return len(c.runQueue.links) > 0 && !c.out.full() }

// next blocks until something has happened and takes a turn for it. If links could send more it does not block.
func (c *conn) next() {
	if c.canSendMore() {
		select {
		case b := <-c.input():
			c.turn(func() { c.handleHanded(b) })
		case <-c.mailbox.poked:
			c.turn(c.handleEvents)
		case r := <-c.out.written:
			c.turn(func() { c.handleWritten(r) })
		case <-c.timer.C:
			c.turn(func() { c.fireTimer(time.Now()) })
		default:
			c.turn(func() {})
		}
		return
	}
	if !c.mailbox.endIfEmpty() {
		c.turn(c.handleEvents)
		return
	}
	input, gone := c.input(), c.readGone
	c.turnLock.Unlock()
	select {
	case b := <-input:
		c.resume()
		c.turn(func() { c.handleHanded(b) })
	case <-c.mailbox.poked:
		c.resume()
		c.turn(c.handleEvents)
	case r := <-c.out.written:
		c.resume()
		c.turn(func() { c.handleWritten(r) })
	case <-c.timer.C:
		c.resume()
		c.turn(func() { c.fireTimer(time.Now()) })
	case <-gone:
		c.resume()
		c.turn(c.handleReadGone)
	}
}

// resume begins a turn of the loop after a wait.
func (c *conn) resume() {
	c.turnLock.Lock()
	c.mailbox.beginTurn()
}

// takeTurn takes a turn for a batch on the read goroutine. It returns false if the loop has to: because a turn is
// under way, the peer has to wait, or the loop has not handled an earlier batch. A settlement while others are being
// committed is the loop's too: its turn also writes the next messages, and meanwhile the read goroutine would not read
// what else the peer settles.
func (c *conn) takeTurn(b *batch) bool {
	if !c.turnLock.TryLock() {
		return false
	}
	defer c.turnLock.Unlock()
	settles := len(b.frames) > 0 && b.frames[0].kind == frameDisposition
	if c.finished() || c.canSendMore() || c.input() == nil || c.reader.handed.Load() > 0 ||
		settles && c.outstanding > 0 {
		return false
	}
	c.mailbox.beginTurn()
	defer c.mailbox.endTurn()
	panicked := true
	defer func() {
		if panicked {
			c.dead = errSocketGone // the loop must not go on with a turn that is half done
		}
	}()
	c.turn(func() { c.handleBatch(b) })
	if c.finished() || c.canSendMore() {
		c.mailbox.wake()
	}
	panicked = false
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

// errSocketGone ends the loop when the reader has ended.
var errSocketGone = errors.New("the connection was lost")

// input returns the channel of frames, or nil while the peer has to wait: until the journal has taken what it sent,
// there is memory for its large delivery, or it has read our answers. During a shutdown it also returns nil while an
// operation is under way: a client that sends without a pause would never get its close.
func (c *conn) input() <-chan *batch {
	switch {
	case c.draining && c.state == stateOpen && c.outstanding > 0:
		return nil
	case !c.assembly.mayGrow(), c.uncommitted >= maxUncommitted, c.weight >= maxWeight,
		c.uncommitted > 0 && c.srv.uncommitted.Load() >= maxUncommittedAll,
		len(c.out.buf) >= c.tokens.limit(maxPendingReplies, unauthenticatedReplies),
		c.delayed != nil && len(c.delayed.list) >= maxDelayed, c.errands.left.Load() >= maxErrands:
		return nil
	}
	return c.reader.batches
}

// turn handles something that has happened and serves the links. It takes up what happens meanwhile, since the store
// may have committed what the turn began.
func (c *conn) turn(handle func()) {
	c.holdCommit(handle)
	for range maxRounds {
		if c.finished() {
			return
		}
		if c.mailbox.hasEvents() {
			c.holdCommit(c.handleEvents)
		}
		c.holdCommit(c.serveLinks)
		if !c.mailbox.hasEvents() {
			return
		}
	}
}

// holdCommit lets the store wait until f has made all its changes. The end of f may commit them on this goroutine.
func (c *conn) holdCommit(f func()) {
	c.srv.broker.BeginBatch()
	defer c.srv.broker.EndBatch()
	f()
}

// serveLinks writes the outcomes that were collected, lets links send, and starts a write.
func (c *conn) serveLinks() {
	if c.state == stateOpen {
		c.flushOutcomes()
		c.runQueue.run()
		if c.draining && c.outstanding == 0 {
			c.close(connErrorf(amqp.CondForced, "The service is shutting down; connect again."))
		}
	}
	if c.state == stateLeaving {
		c.flushOutcomes()
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

// flushOutcomes writes the outcomes that this turn has collected.
func (c *conn) flushOutcomes() {
	for _, s := range c.dirty {
		s.dirty = false
		s.flushOutcomes()
	}
	clear(c.dirty)
	c.dirty = c.dirty[:0]
}

func (c *conn) handleEvents() {
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

// handleWritten takes a buffer back from the write goroutine.
func (c *conn) handleWritten(r writeJob) {
	c.out.done(r)
	if c.tokens.unauthenticated() {
		c.out.freeBuffers()
	}
	if r.err != nil {
		c.dead = r.err
	}
}

// handleHanded handles a batch that the reader has handed to the loop. Until then the reader takes no turn: it would
// overtake.
func (c *conn) handleHanded(b *batch) {
	c.handleBatch(b)
	c.reader.handed.Add(-1)
}

// handleBatch takes frames from the reader and gives the batch back.
func (c *conn) handleBatch(b *batch) {
	c.now = time.Now()
	for i := range b.frames {
		if c.state == stateClosed || c.dead != nil {
			break
		}
		if err := c.handleFrame(&b.frames[i]); err != nil {
			c.fail(&b.frames[i], err)
		}
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

// runnable is a link that may have something to send.
type runnable interface {
	// pump sends at most a bounded quantum and reports whether it could go on at once.
	pump() (more bool)
	// inRunQueue says whether the link stands in the run queue.
	inRunQueue() *bool
}

// runQueue holds the links of a connection that the end of the turn serves.
type runQueue struct {
	links   []runnable      // that may have something to send
	blocked []*outgoingLink // that wait for capacity which other links of their session have taken
}

func (q *runQueue) add(l runnable) {
	if in := l.inRunQueue(); !*in {
		*in = true
		q.links = append(q.links, l)
	}
}

// run lets each link send once, in turn (DEC-27). A link that could go on goes to the end of the queue. Blocked links
// try again in every turn: capacity comes back in many ways, and each is an event, causes one by being written, or
// resumes the links itself.
func (q *runQueue) run() {
	for i, o := range q.blocked {
		o.resume()
		q.blocked[i] = nil
	}
	q.blocked = q.blocked[:0]
	waiting := q.links
	q.links = nil
	for i, l := range waiting {
		*l.inRunQueue() = false
		if l.pump() {
			q.add(l)
		}
		waiting[i] = nil
	}
	if q.links == nil {
		q.links = waiting[:0]
	}
}

// event is something that happened elsewhere and concerns one connection, whose loop calls run.
type event interface{ run(c *conn) }

// eventFunc makes an event of a function, for events that are rare enough to cost an allocation.
type eventFunc func()

func (f eventFunc) run(*conn) { f() }

// post lets the loop call a function. It returns false if the connection has ended.
func (c *conn) post(f func()) bool { return c.mailbox.post(eventFunc(f)) }

// mailbox carries events to a loop. Any goroutine may post, under any mutex: posting never blocks, and the mailbox's
// own mutex is a leaf. The connection's work bounds its length: one event per send, settlement, request and link at
// most.
type mailbox struct {
	poked chan struct{} // has one element when the loop has to look

	mu     sync.Mutex
	events []event
	inTurn bool // a turn is under way, and takes what is posted before it ends
	closed bool
}

func newMailbox() mailbox { return mailbox{poked: make(chan struct{}, 1)} }

// post adds one event. After close it drops the event and returns false.
func (m *mailbox) post(e event) bool {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.events = append(m.events, e)
	wake := len(m.events) == 1 && !m.inTurn
	m.mu.Unlock()
	if wake {
		m.wake()
	}
	return true
}

// wake makes the loop look.
func (m *mailbox) wake() {
	select {
	case m.poked <- struct{}{}:
	default:
	}
}

// beginTurn begins a turn. Until it ends, posting wakes nobody.
func (m *mailbox) beginTurn() {
	m.mu.Lock()
	m.inTurn = true
	m.mu.Unlock()
}

// endIfEmpty ends a turn if there are no events; else it returns false.
func (m *mailbox) endIfEmpty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inTurn = len(m.events) > 0
	return !m.inTurn
}

// endTurn ends a turn, and wakes the loop if there are events.
func (m *mailbox) endTurn() {
	m.mu.Lock()
	m.inTurn = false
	left := len(m.events) > 0
	m.mu.Unlock()
	if left {
		m.wake()
	}
}

func (m *mailbox) hasEvents() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events) > 0
}

// take returns all events and gives the mailbox an empty slice to fill.
func (m *mailbox) take(empty []event) []event {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.events
	m.events = empty[:0]
	return taken
}

// close returns the remaining events; later ones are dropped.
func (m *mailbox) close() []event {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.events
	m.closed, m.events = true, nil
	return left
}
