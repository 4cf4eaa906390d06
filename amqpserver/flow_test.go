package amqpserver

import "testing"

func TestSerial_Order(t *testing.T) { // [RFC 1982]
	for _, c := range []struct {
		a, b serial
		less bool
	}{
		{0, 1, true}, {1, 0, false}, {5, 5, false}, {1<<32 - 1, 0, true}, {0, 1<<32 - 1, false},
		{1<<32 - 10, 10, true}, {10, 1<<32 - 10, false}, {0, 1<<31 - 1, true},
	} {
		if got := serialLess(c.a, c.b); got != c.less {
			t.Errorf("serialLess(%d, %d) = %v", c.a, c.b, got)
		}
	}
}

func TestWindow_Outgoing(t *testing.T) { // [AMQP 2.5.6]
	for _, c := range []struct {
		name         string
		sent         uint32
		nextIncoming serial
		known        bool
		peer         uint32
		want         uint32
	}{
		{"nothing under way", 5, 6, true, 100, 100},
		{"three under way", 5, 3, true, 100, 97},
		{"all of the window under way", 5, 1, true, 5, 0},
		{"more under way than a window that shrank", 5, 1, true, 3, 0},
		{"written before our begin arrived", 5, 0, false, 100, 95},
		{"claims what was never sent", 5, 1000, true, 100, 100},
		{"closed", 0, 1, true, 0, 0},
		{"largest window", 5, 6, true, 1<<32 - 1, 1<<32 - 1},
	} {
		w := newWindow(0, 1000)
		for range c.sent {
			w.sent()
		}
		w.update(c.nextIncoming, c.known, c.peer)
		if w.outgoing != c.want {
			t.Errorf("%s: window %d, want %d", c.name, w.outgoing, c.want)
		}
	}
}

func TestWindow_OutgoingWrapsAround(t *testing.T) { // [RFC 1982]
	w := newWindow(0, 10)
	w.nextOutgoing = 1<<32 - 2
	for range 4 {
		w.sent()
	}
	if w.nextOutgoing != 2 || w.outgoing != 6 {
		t.Fatalf("window %+v", w)
	}
	w.update(1<<32-1, true, 10) // three of the four are under way
	if w.outgoing != 7 {
		t.Errorf("window %d, want 7", w.outgoing)
	}
}

func TestWindow_Incoming(t *testing.T) { // [AMQP 2.5.6]
	w := newWindow(1<<32-3, 1)
	n := 0
	for topUp := false; !topUp; n++ {
		topUp = w.received()
	}
	if n != incomingWindow/2 || w.nextIncoming != serial(n)-3 {
		t.Errorf("after %d transfers: %+v", n, w)
	}
	for range incomingWindow {
		w.received()
	}
	if w.incoming != 0 {
		t.Errorf("window %d, want 0", w.incoming)
	}
	w.reopen()
	if w.incoming != incomingWindow {
		t.Errorf("window %d, want %d", w.incoming, incomingWindow)
	}
}

func TestCredit(t *testing.T) { // [AMQP 2.6.7]
	for _, c := range []struct {
		name      string
		sent      serial
		peerCount serial
		known     bool
		credit    uint32
		want      int
		drainedAt serial
	}{
		{"fresh", 0, 0, true, 10, 10, 10},
		{"peer has not seen our attach", 0, 99, false, 10, 10, 10},
		{"five on the wire", 5, 0, true, 10, 5, 10},
		{"withdrawn", 5, 0, true, 3, 0, 5},
		{"none", 5, 5, true, 0, 0, 5},
		{"around the circle", 2, 1<<32 - 2, true, 10, 6, 8},
		{"more than can be counted", 0, 0, true, 1<<32 - 1, maxCredit, maxCredit},
	} {
		v := credit{count: c.sent}
		v.grant(c.peerCount, c.known, c.credit, true)
		if got := v.left(); got != c.want {
			t.Errorf("%s: %d left, want %d", c.name, got, c.want)
		}
		v.exhaust()
		if v.left() != 0 || v.count != c.drainedAt || v.drain {
			t.Errorf("%s: after drain %+v, want count %d", c.name, v, c.drainedAt)
		}
	}
}

func TestCredit_Sent(t *testing.T) {
	v := credit{count: 1<<32 - 1}
	v.grant(1<<32-1, true, 2, false)
	v.count++
	v.count++
	if v.left() != 0 || v.count != 1 {
		t.Errorf("credit %+v", v)
	}
}

// Half of what a connection may hold stays for the requests that clients have credit for.
func TestRequests_CreditIsHeldBackWhileRepliesWait(t *testing.T) {
	for _, c := range []struct {
		waiting, held int
		window        uint32
		full          bool
	}{
		{0, 0, requestCredit, false},
		{maxRequests/2 - requestCredit, 0, requestCredit, false},
		{maxRequests/2 - requestCredit + 1, 0, 0, false},
		{0, maxHeldReplies/2 - 1, requestCredit, false},
		{0, maxHeldReplies / 2, 0, false},
		{maxRequests - 1, maxHeldReplies - 1, 0, false},
		{maxRequests, 0, 0, true},
		{0, maxHeldReplies, 0, true},
	} {
		rs := pendingRequests{waiting: c.waiting, held: c.held}
		if got := rs.window(); got != c.window || rs.full() != c.full {
			t.Errorf("%d waiting, %d bytes held: credit %d, full %v; want %d, %v", c.waiting, c.held, got, rs.full(),
				c.window, c.full)
		}
	}
}
