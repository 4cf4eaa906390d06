package amqpserver

import (
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// session is one session [AMQP 2.5]. The connection's loop owns it.
type session struct {
	// immutable
	c         *conn
	channel   uint16 // of both directions
	handleMax uint32 // of the peer

	win          window
	links        linkTable
	handles      uint32 // one above the highest that a link has had
	lastEnded    string // name of the link that ended last
	nextDelivery serial // id of the next delivery that we send, contiguous over all links
	taken        int    // deliveries that its links have taken and not written yet
	sent         deliveries
	viaEntity    string     // entity of the first link, as transactions see it
	coordinators int        // links to the transaction coordinator
	received     outcomes   // of what the client sent
	settled      outcomes   // of what the client settled
	dirty        bool       // stands in conn.dirty
	outstanding  int        // answers that follow their commits
	closing      bool       // it is ending: frames for it are discarded
	left         bool       // the peer has sent end
	cause        *amqpError // why we end it; nil: we do not
	released     bool       // our end is written; nothing may follow it
}

// endpoint is a link with its kind.
type endpoint interface {
	// base returns what it has in common with the other kinds.
	base() *link
	// flow takes the peer's flow for the link.
	flow(f *frames.Flow)
	// detached handles the peer's detach. It reports whether the answer may be sent at once.
	detached() bool
	// release gives back what the link holds. Nothing may be written for the link afterwards.
	release()
}

func newSession(c *conn, channel uint16, b *frames.Begin) *session {
	s := &session{
		c:         c,
		channel:   channel,
		handleMax: 1<<32 - 1,
		win:       newWindow(b.NextOutgoingID, b.IncomingWindow),
	}
	s.sent = deliveries{s: s, most: maxUnsettled, unsettled: make(map[serial]unsettled)}
	s.received = outcomes{s: s, role: frames.RoleReceiver, write: s.write}
	s.settled = outcomes{s: s, role: frames.RoleSender, write: s.write}
	if b.HasHandleMax {
		s.handleMax = b.HandleMax
	}
	if 0 < b.IncomingWindow && b.IncomingWindow <= ringWindow { // a closed window may be opened to any size
		s.sent.most = int(b.IncomingWindow)
	}
	return s
}

func (s *session) dispatch(in *inFrame) error {
	if s.closing {
		if _, ok := in.other.(*frames.End); ok {
			s.leave()
		}
		return nil // the peer wrote the frame before it saw our end [AMQP 2.5.5]
	}
	switch in.kind {
	case frameTransfer:
		return s.handleTransfer(&in.transfer, in.payload)
	case frameDisposition:
		s.sent.handleDisposition(&in.disposition)
		return nil
	}
	switch p := in.other.(type) {
	case *frames.Attach:
		return s.handleAttach(p)
	case *frames.Flow:
		return s.handleFlow(p)
	case *frames.Disposition:
		s.sent.handleDisposition(p)
		return nil
	case *frames.Detach:
		return s.handleDetach(p)
	case *frames.End:
		s.handleEnd(p)
		return nil
	}
	return connErrorf(amqp.CondIllegalState, "A frame of this kind has no place in a session.")
}

// handleEnd answers end. Clients end sessions without detaching their links; those are released silently.
func (s *session) handleEnd(p *frames.End) {
	if p.Error != nil {
		s.c.log.Debug("session ended by the client",
			"condition", string(p.Error.Condition), "reason", p.Error.Description)
	}
	s.leave()
	s.close()
}

// leave notes the peer's end. The channel is free once ours is written too.
func (s *session) leave() {
	s.left = true
	s.c.sendDelayed(func(a *delayedAnswer) bool { return a.link.s == s }) // the client waits for no delay any more
	if s.released {
		s.c.sessions.forget(s)
	}
}

// endWith ends the session with an error. Frames that the peer wrote before it sees our end are discarded.
func (s *session) endWith(failure amqpError) {
	if s.closing {
		return
	}
	s.cause = &failure
	s.close()
}

// close ends the session: it releases the links, and our end follows the outstanding answers.
func (s *session) close() {
	s.closing = true
	s.releaseLinks()
	s.sendEnd()
}

// sendEnd writes our end once no answer is outstanding.
func (s *session) sendEnd() {
	if s.outstanding == 0 && !s.released {
		s.endNow()
	}
}

func (s *session) write(p frames.Performative) { s.c.write(s.channel, p) }

// endNow writes our end. Outstanding answers are dropped.
func (s *session) endNow() {
	s.flushOutcomes()
	s.released = true
	s.c.sessions.unlinked(len(s.links), s.c.now)
	s.links = nil
	end := &frames.End{}
	if s.cause != nil {
		end.Error = s.c.wireError(*s.cause)
	}
	s.write(end)
	if s.left {
		s.c.sessions.forget(s)
	}
}

func (s *session) releaseLinks() {
	s.sent.unsettled = nil
	for _, l := range s.links {
		l.releaseOnce()
	}
}

// linkOf finds the link of a handle. A link that we have detached keeps its handle until the peer's detach arrives.
func (s *session) linkOf(handle uint32) (*link, error) {
	if l := s.links.get(handle); l != nil {
		return l, nil
	}
	return nil, sessionErrorf(amqp.CondUnattachedHandle, "There is no link with handle %d.", handle)
}

func (s *session) flushOutcomes() {
	if !s.released {
		s.received.flush()
		s.settled.flush()
	}
}

// stopReceiving takes no more messages for the session's receivers.
func (s *session) stopReceiving() {
	for _, l := range s.links {
		if o, ok := l.self.(*outgoingLink); ok && !o.released {
			o.stop()
		}
	}
}

// sessionTable holds the sessions of a connection, and counts their links.
type sessionTable struct {
	open     map[uint16]*session // by channel
	ended    map[uint16]struct{} // channels whose last session has ended
	linked   int
	attached bool      // there has been a link
	linkless time.Time // start of the time without links
	numbered int64     // links that got a number
}

// forget frees the channel of a session that has ended on both sides.
func (t *sessionTable) forget(s *session) {
	delete(t.open, s.channel)
	t.ended[s.channel] = struct{}{}
}

// links calls yield for the links of all sessions, which may end meanwhile.
func (t *sessionTable) links(yield func(*link) bool) {
	for _, s := range t.open {
		for _, l := range s.links {
			if !yield(l) {
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
	for l := range t.links {
		if l.name == name {
			l.touch()
		}
	}
}

// holder finds the receiver of this connection that holds a session of the queue, or nil. A request that names the
// session counts as traffic of its link.
func (t *sessionTable) holder(q *emulator.Entity, matches func(*outgoingLink) bool) *emulator.Consumer {
	for l := range t.links {
		o, ok := l.self.(*outgoingLink)
		if ok && !o.released && o.queue == q && o.accept != nil && o.consumer != nil && matches(o) {
			o.touch()
			return o.consumer
		}
	}
	return nil
}
