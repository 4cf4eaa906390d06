package amqpserver

import (
	"time"

	"minibus/emulator"
)

// sessionTable holds the sessions of a connection, and counts their links.
type sessionTable struct {
	open       map[uint16]*session // by channel
	ended      map[uint16]struct{} // channels whose last session has ended
	linked     int
	everLinked bool
	linkless   time.Time // start of the time without links
	numbered   int64     // links that got a number
}

func (t *sessionTable) add(s *session) {
	t.open[s.channel] = s
	delete(t.ended, s.channel)
}

// forget frees the channel of a session that has ended on both sides.
func (t *sessionTable) forget(s *session) {
	delete(t.open, s.channel)
	t.ended[s.channel] = struct{}{}
}

// links calls yield for the links of all sessions, which may end meanwhile.
func (t *sessionTable) links(yield func(endpoint) bool) {
	for _, s := range t.open {
		for _, e := range s.links {
			if !yield(e) {
				return
			}
		}
	}
}

func (t *sessionTable) unlinked(n int, now time.Time) {
	t.linked -= n
	if t.linked == 0 {
		t.linkless = now
	}
}

func (t *sessionTable) resume() {
	for _, s := range t.open {
		s.resume()
	}
}

// touch counts a request as traffic of the link that it names (LOCK-16). An unknown name is no error.
func (t *sessionTable) touch(name string) {
	for e := range t.links {
		if e.base().name == name {
			e.base().touch()
		}
	}
}

// sessionHolder finds the receiver that holds the queue's session with that id.
func (t *sessionTable) sessionHolder(q *emulator.Entity, id string) *emulator.Consumer {
	return t.holder(q, func(o *outgoingLink) bool {
		held, _ := o.consumer.SessionID()
		return emulator.SameSession(held, id) // SESS-35
	})
}

func (t *sessionTable) linkHolder(q *emulator.Entity, name string) *emulator.Consumer {
	return t.holder(q, func(o *outgoingLink) bool { return o.name == name })
}

// holder finds the receiver of this connection that holds a session of the queue, or nil. A request that names the
// session counts as traffic of its link.
func (t *sessionTable) holder(q *emulator.Entity, matches func(*outgoingLink) bool) *emulator.Consumer {
	for e := range t.links {
		o, ok := e.(*outgoingLink)
		if ok && !o.released && o.queue == q && o.accept != nil && o.consumer != nil && matches(o) {
			o.touch()
			return o.consumer
		}
	}
	return nil
}
