package amqpserver

import (
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// ringWindow is the incoming-window of a client that keeps its unsettled deliveries in a ring of just that size and
// loses the session when it overflows (rhea). A peer with a window as small as that gets no more unsettled deliveries
// than its window (amqp-data-plane 1.6).
const ringWindow = 2048

// session is one session [AMQP 2.5]. The connection's loop owns it.
type session struct {
	// immutable
	c         *conn
	channel   uint16 // of both directions
	handleMax uint32 // of the peer
	ring      int    // most deliveries that the peer can have unsettled

	win          window
	links        linkTable
	handles      uint32 // above the highest that a link has had
	nextDelivery serial // id of the next delivery that we send, contiguous over all links
	unsettled    map[serial]unsettled
	taken        int                 // deliveries that its links have taken and not written yet
	settling     int                 // deliveries whose settlement is being committed
	stale        map[serial]struct{} // deliveries whose link has gone
	past         []idRange           // others, whose locks had ended before
	via          string              // entity of the first link, as transactions see it
	coordinators int                 // links to the transaction coordinator
	received     ranges              // outcomes of what the client sent
	settled      ranges              // outcomes of what it settled
	dirty        bool                // stands in c.dirty
	owed         int                 // answers that follow their commits
	closing      bool                // it ends: what arrives is discarded
	left         bool                // the peer has sent end
	cause        *fault              // why we end it; nil: we do not
	released     bool                // nothing may be written for the session any more; our end was the last
}

// unsettled is one delivery that the client has not settled and whose lock has not ended. Of the message itself nothing is
// kept: the client may have thousands.
type unsettled struct {
	link *outgoing
	lock *emulator.Lock
}

// endpoint is one link, of any kind.
type endpoint interface {
	base() *link
	// flow takes the peer's flow for the link.
	flow(f *frames.Flow)
	// detached is called when the peer detaches. It reports whether the answer may be sent at once.
	detached() bool
	// release gives back what the link holds. Nothing may be written for it afterwards.
	release()
}

func newSession(c *conn, channel uint16, b *frames.Begin) *session {
	s := &session{
		c: c, channel: channel, handleMax: 1<<32 - 1, ring: maxUnsettled,
		win:       newWindow(b.NextOutgoingID, b.IncomingWindow),
		unsettled: make(map[serial]unsettled),
		received:  ranges{role: frames.RoleReceiver}, settled: ranges{role: frames.RoleSender},
	}
	if b.HasHandleMax {
		s.handleMax = b.HandleMax
	}
	if 0 < b.IncomingWindow && b.IncomingWindow <= ringWindow { // one that is closed now may be opened to any size
		s.ring = int(b.IncomingWindow)
	}
	return s
}

// dispatch hands a frame of the session to its handler.
func (s *session) dispatch(in *inFrame) error {
	if s.closing {
		if _, ok := in.other.(*frames.End); ok {
			s.leave()
		}
		return nil // written before the peer saw our end [AMQP 2.5.5]
	}
	switch in.kind {
	case frameTransfer:
		return s.handleTransfer(&in.transfer, in.payload)
	case frameDisposition:
		return s.handleDisposition(&in.disposition)
	}
	switch p := in.other.(type) {
	case *frames.Attach:
		return s.handleAttach(p)
	case *frames.Flow:
		return s.handleFlow(p)
	case *frames.Transfer:
		return s.handleTransfer(p, in.payload)
	case *frames.Disposition:
		return s.handleDisposition(p)
	case *frames.Detach:
		return s.handleDetach(p)
	case *frames.End:
		s.handleEnd(p)
		return nil
	}
	return connErrorf(amqp.CondIllegalState, "A frame of this kind has no place in a session.")
}

// handleEnd answers end. Clients end sessions without detaching their links first; they are released silently.
func (s *session) handleEnd(p *frames.End) {
	if p.Error != nil {
		s.c.log.Debug("session ended by the client", "condition", string(p.Error.Condition), "reason", p.Error.Description)
	}
	s.leave()
	s.close()
}

// leave notes the peer's end. The channel is free when ours is written as well.
func (s *session) leave() {
	s.left = true
	if s.released {
		s.c.forgetSession(s)
	}
}

// endWith ends the session with an error. Frames that the peer wrote before it learns of that are discarded.
func (s *session) endWith(f fault) {
	if s.closing {
		return
	}
	s.cause = &f
	s.close()
}

// close ends the session: its links are released, and our end follows the answers that are owed.
func (s *session) close() {
	s.closing = true
	s.releaseLinks()
	s.sendEnd()
}

// sendEnd writes our end once all answers are given.
func (s *session) sendEnd() {
	if s.owed == 0 && !s.released {
		s.endNow()
	}
}

// endNow writes our end. What has not been answered stays so.
func (s *session) endNow() {
	s.flushOutcomes()
	s.released = true
	s.c.unlinked(len(s.links))
	s.links = nil
	end := &frames.End{}
	if s.cause != nil {
		end.Error = s.c.wireError(*s.cause)
	}
	s.c.write(s.channel, end)
	if s.left {
		s.c.forgetSession(s)
	}
}

// releaseLinks gives back what the session's links hold.
func (s *session) releaseLinks() {
	s.unsettled = nil
	for _, e := range s.links {
		s.releaseLink(e)
	}
}

// endpoint finds the link of a handle. After we have detached a link its handle stays taken until the peer's detach
// arrives, and what arrives for it is not an error.
func (s *session) endpoint(handle uint32) (endpoint, error) {
	if e := s.links.get(handle); e != nil {
		return e, nil
	}
	return nil, sessionErrorf(amqp.CondUnattachedHandle, "There is no link with handle %d.", handle)
}

// mark puts the session in line for writing its outcomes at the end of the turn.
func (s *session) mark() {
	if !s.dirty {
		s.dirty = true
		s.c.dirty = append(s.c.dirty, s)
	}
}

// flushOutcomes writes the outcomes that have been collected.
func (s *session) flushOutcomes() {
	if s.released {
		return
	}
	s.received.flush(s.writeDisposition)
	s.settled.flush(s.writeDisposition)
}

func (s *session) writeDisposition(d *frames.Disposition) { s.c.write(s.channel, d) }

// answer collects the outcome of a delivery, without an error.
func (s *session) answer(r *ranges, id serial, what outcome) {
	if s.released {
		return
	}
	r.add(id, what, s.writeDisposition)
	s.mark()
}

// reject writes the outcome of a delivery that failed. The error is always there: clients read its fields.
func (s *session) reject(r *ranges, id serial, f fault) { s.rejectAll(r, id, id, f) }

// rejectAll is reject for deliveries that follow each other.
func (s *session) rejectAll(r *ranges, first, last serial, f fault) {
	if s.released {
		return
	}
	r.flush(s.writeDisposition)
	s.writeDisposition(&frames.Disposition{
		Role: r.role, First: first, Last: last, HasLast: true, Settled: true,
		State: &frames.Rejected{Error: s.c.wireError(f)},
	})
}

// stopReceiving takes no more messages for the session's receivers.
func (s *session) stopReceiving() {
	for _, e := range s.links {
		if o, ok := e.(*outgoing); ok && !o.released {
			o.stop()
		}
	}
}
