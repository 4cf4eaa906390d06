package amqpserver

import "minibus/internal/amqp/frames"

// handleFlow takes the peer's view of the session and, with a handle, of a link [AMQP 2.7.4].
func (s *session) handleFlow(f *frames.Flow) error {
	before := s.win.outgoing
	s.win.update(f.NextIncomingID, f.HasNextIncomingID, f.IncomingWindow)
	if s.win.outgoing > before {
		s.resume()
	}
	if !f.HasHandle {
		if f.Echo {
			s.write(s.flow())
		}
		return nil
	}
	e, err := s.endpoint(f.Handle)
	if err != nil && f.Handle < s.handles {
		return nil // the link has gone; one client still grants credit behind its detach
	}
	if err != nil {
		return err
	}
	l := e.base()
	if l.state != linkAttached {
		return nil
	}
	l.touch()
	e.flow(f)
	return nil
}

// flow returns a flow frame with the state of the session, and reopens the incoming window.
func (s *session) flow() *frames.Flow {
	s.win.reopen()
	return &frames.Flow{
		NextIncomingID: s.win.nextIncoming, HasNextIncomingID: true, IncomingWindow: s.win.incoming,
		NextOutgoingID: s.win.nextOutgoing, OutgoingWindow: outgoingWindow,
	}
}

func (s *session) linkFlow(handle uint32, count serial, credit uint32) *frames.Flow {
	f := s.flow()
	f.Handle, f.HasHandle = handle, true
	f.DeliveryCount, f.HasDeliveryCount = count, true
	f.LinkCredit, f.HasLinkCredit = credit, true
	f.HasAvailable = true
	return f
}

// resume lets all sending links of the session try again.
func (s *session) resume() {
	for _, e := range s.links {
		if p, ok := e.(resumer); ok {
			p.resume()
		}
	}
}

// freed lets the other links use room for n deliveries that a link had taken and does not need.
func (s *session) freed(n int) {
	if n > 0 && !s.released {
		s.resume()
	}
}

// resumer is a link that other links, the window or the write buffer may have stopped from sending.
type resumer interface{ resume() }

// capacity returns how many deliveries the session's window, its ring and the write buffer take now.
func (s *session) capacity() int {
	if s.c.out.full() {
		return 0
	}
	return max(min(int(s.win.outgoing), s.sent.left()), 0)
}
