package amqpserver

import "sync"

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
