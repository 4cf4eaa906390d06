package amqpserver

import "sync"

// event is something that happened elsewhere and concerns one connection. run is called by that connection's loop.
type event interface{ run(c *conn) }

// eventFunc adapts a function to event, for events that are rare enough to cost an allocation.
type eventFunc func(c *conn)

func (f eventFunc) run(c *conn) { f(c) }

// mailbox carries events to a loop. Posting never blocks and may be done by anyone, under any mutex: the mailbox's own
// is a leaf. Its length is bounded by what the connection has outstanding: one event per send, settlement, request
// and link at most.
type mailbox struct {
	poke chan struct{} // has one element when there may be something to take

	mu     sync.Mutex
	events []event
	closed bool
}

func newMailbox() mailbox { return mailbox{poke: make(chan struct{}, 1)} }

// post hands over one event. After close it is dropped, and post returns false.
func (m *mailbox) post(e event) bool {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.events = append(m.events, e)
	first := len(m.events) == 1
	m.mu.Unlock()
	if first {
		select {
		case m.poke <- struct{}{}:
		default:
		}
	}
	return true
}

// take returns everything that was posted and gives the mailbox another slice to fill.
func (m *mailbox) take(empty []event) []event {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.events
	m.events = empty[:0]
	return taken
}

// close drops what will come, and returns what is there.
func (m *mailbox) close() []event {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.events
	m.closed, m.events = true, nil
	return left
}
