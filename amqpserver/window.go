package amqpserver

// serial is a sequence number that wraps around [AMQP 2.8.10, RFC 1982].
type serial = uint32

// serialLess reports whether a comes before b. Numbers half the circle apart have no order; each compares as less
// than the other.
func serialLess(a, b serial) bool { return int32(a-b) < 0 }

// incomingWindow is how many transfer frames the peer of a session may have under way. It bounds frames; the loop bounds
// memory by not reading.
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
	return window{nextIncoming: peerNextOutgoing, incoming: incomingWindow, nextOutgoing: 1, outgoing: peerIncomingWindow}
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

// sent counts one transfer frame to the peer.
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
