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
	l, err := s.linkOf(f.Handle)
	if err != nil && f.Handle < s.handles {
		return nil // the link has gone; one client still grants credit behind its detach
	}
	if err != nil {
		return err
	}
	if l.state != linkAttached {
		return nil
	}
	l.touch()
	l.self.flow(f)
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
	for _, l := range s.links {
		if p, ok := l.self.(resumer); ok {
			p.resume()
		}
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

// serial is a sequence number that wraps around [AMQP 2.8.10, RFC 1982].
type serial = uint32

// serialLess reports whether a comes before b. Numbers half the circle apart have no order; each compares as less
// than the other.
func serialLess(a, b serial) bool { return int32(a-b) < 0 }

// incomingWindow is how many transfer frames the peer of a session may have under way. It bounds frames; the loop
// bounds memory by not reading.
const incomingWindow = 5000

// outgoingWindow is the window that we announce for our own transfers. It says nothing: the peer's window
// and credit limit what we send.
const outgoingWindow = 1<<31 - 1

// window is the transfer flow control of one session [AMQP 2.5.6]. It counts transfer frames in both directions.
//
// The peer's next-outgoing-id is never checked: stacks number transfers from 0 or 1, and one of them
// counts deliveries instead (amqp-data-plane 1.6).
type window struct {
	nextIncoming serial // id of the next transfer frame that the peer sends
	incoming     uint32 // frames the peer may still send
	nextOutgoing serial // id of the next transfer frame that we send
	outgoing     uint32 // frames we may still send
}

// newWindow starts from the values in the peer's begin.
func newWindow(peerNextOutgoing serial, peerIncomingWindow uint32) window {
	return window{
		nextIncoming: peerNextOutgoing,
		incoming:     incomingWindow,
		nextOutgoing: 1,
		outgoing:     peerIncomingWindow,
	}
}

// received counts one transfer frame from the peer and reports whether it is time to reopen the window. That is
// at half: some clients stop silently when it closes.
func (w *window) received() (topUp bool) {
	w.nextIncoming++
	if w.incoming > 0 {
		w.incoming--
	}
	return w.incoming <= incomingWindow/2
}

// reopen notes that a flow tells the peer that the whole window is open.
func (w *window) reopen() { w.incoming = incomingWindow }

func (w *window) sent() {
	w.nextOutgoing++
	w.outgoing--
}

// update takes the peer's flow. Its window counts from the last transfer that the peer had seen, so what
// we sent since then is subtracted. A flow without next-incoming-id was written before our begin arrived.
func (w *window) update(nextIncoming serial, known bool, peerWindow uint32) {
	if !known {
		nextIncoming = 1
	}
	underWay := w.nextOutgoing - nextIncoming
	if int32(underWay) < 0 {
		underWay = 0 // the peer claims transfers that we never sent
	}
	if underWay >= peerWindow {
		w.outgoing = 0
		return
	}
	w.outgoing = peerWindow - underWay
}

// credit is the flow control of a link that we send on [AMQP 2.6.7]: the peer says how many deliveries it takes beyond
// its own count. Both sides' counts wrap around.
type credit struct {
	count serial // deliveries sent
	limit serial // deliveries allowed
	drain bool   // send what there is now and give the rest of the credit back
}

// left returns how many deliveries may still be sent.
func (c *credit) left() int {
	if left := int32(c.limit - c.count); left > 0 {
		return int(left)
	}
	return 0
}

// maxCredit bounds what a peer can grant: counts more than half the number circle apart would have no order.
const maxCredit = 1<<31 - 1

// grant takes a flow of the peer. The peer's count lags behind ours by the deliveries on the wire. Without a count the
// peer had not seen our attach yet, so its count was zero.
func (c *credit) grant(peerCount serial, known bool, linkCredit uint32, drain bool) {
	if !known {
		peerCount = 0
	}
	c.limit = peerCount + min(linkCredit, maxCredit)
	c.drain = drain
}

// exhaust gives all credit back, as a drain demands: the count goes to the limit [AMQP 2.6.7].
func (c *credit) exhaust() {
	if c.left() > 0 {
		c.count = c.limit
	}
	c.drain = false
}
