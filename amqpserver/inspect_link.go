package amqpserver

import (
	"slices"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/printable"
)

// Link is a link of a [Connection].
type Link struct {
	Number    int64 // among those of the connection
	Name      string
	Receives  bool   // the client does; else it sends
	Address   string // path with sub-queue or node: orders/$DeadLetterQueue, orders/$management, $cbs, coordinator
	Entity    string // path; empty: none
	Sub       emulator.SubQueue
	Messages  bool // it carries messages, not requests and replies
	Mode      emulator.ReceiveMode
	Browses   bool    // the client looks at messages only
	Selector  string  // of the messages that a receiver takes; empty: any
	Session   *string // that a receiver holds; nil: none
	Until     int64   // ms; end of the session's lock
	Since     time.Time
	Active    time.Time // last traffic
	Credit    int64     // deliveries that the other side may still send: of a receiver, what the client still wants
	Unsettled int       // deliveries that the client has and has not settled
	Window    int64     // transfer frames that the session still has room for, in the direction of the link
	Passed    int64     // deliveries so far
	WaitsFor  WaitsFor
}

// WaitsFor says for what a link waits.
type WaitsFor string

// What links wait for.
const (
	ForMessage    WaitsFor = "message"    // of a receiver: one that is available; of a sender: one from the client
	ForCredit     WaitsFor = "credit"     // the client asks for no message; of a sender: the server takes none now
	ForSession    WaitsFor = "session"    // one that is free
	ForWindow     WaitsFor = "window"     // the client's session takes no transfer
	ForSettlement WaitsFor = "settlement" // the client has as many unsettled deliveries as its session may have
	ForReading    WaitsFor = "reading"    // the client does not read what is written to it
	ForJournal    WaitsFor = "journal"    // something is being written or read there
	ForDetach     WaitsFor = "detach"     // the link is ending
	ForFault      WaitsFor = "fault"      // an injected fault keeps messages or credit from it
)

// look describes the connection. The loop calls it.
func (c *conn) look() *Connection {
	is := *c.inspection.known.Load()
	is.Policies = c.tokens.policies()
	is.Ending = c.state != stateOpen
	is.Pending = len(c.out.buf)
	unsettled := make(map[*outgoingLink]int)
	for _, s := range c.sessions.open {
		for _, u := range s.sent.unsettled {
			unsettled[u.link]++
		}
	}
	for l := range c.sessions.links {
		if !l.released {
			is.Links = append(is.Links, l.look(unsettled))
		}
	}
	slices.SortFunc(is.Links, func(a, b Link) int { return int(a.Number - b.Number) })
	return &is
}

func (l *link) look(unsettled map[*outgoingLink]int) Link {
	is := Link{
		Number:   l.number,
		Name:     printable.Clip(l.name, maxProperty),
		Receives: l.role == frames.RoleReceiver,
		Address:  printable.Clip(l.node.String(), maxNames),
		Messages: l.node.kind == nodeEntity || l.node.kind == nodeRelay,
		Since:    l.attached,
		Active:   l.active,
		Window:   int64(l.s.win.outgoing),
		Passed:   l.passed,
	}
	if l.queue != nil {
		is.Entity, is.Sub = l.queue.Path(), l.node.sub
	}
	switch x := l.self.(type) {
	case *outgoingLink:
		is.Credit = int64(x.credit.left())
		is.Unsettled = unsettled[x]
		is.WaitsFor = x.waitsFor()
		is.Selector = x.selector.shown()
		if x.settled {
			is.Mode = emulator.ReceiveAndDelete
		}
		if x.accept != nil && x.consumer != nil {
			id, _ := x.consumer.SessionID()
			is.Session, is.Until = &id, x.consumer.SessionLockedUntil()
		}
	case *replyLink:
		is.Credit = int64(x.credit.left())
		is.WaitsFor = x.waitsFor()
	case *browserLink:
		is.Browses = true
		is.Selector = x.selector.shown()
		is.Credit = int64(x.credit.left())
		is.WaitsFor = x.waitsFor()
	case *pendingLink:
		is.WaitsFor = ForJournal
	case *incomingLink:
		is.Credit = int64(x.credit)
		is.Window = int64(l.s.win.incoming)
		is.Unsettled = l.outstanding
		is.WaitsFor = x.waitsFor()
	}
	if l.state != linkAttached {
		is.WaitsFor = ForDetach
	}
	return is
}

func (o *outgoingLink) waitsFor() WaitsFor {
	switch {
	case o.opening != nil:
		return ForSession
	case o.starvedBy != 0:
		return ForFault
	case o.s.c.out.full():
		return ForReading
	case len(o.taken) > 0 && o.s.win.outgoing > 0 && o.credit.left() > 0 && o.s.sent.left() > 0:
		return ForJournal // bodies, or removals
	case o.credit.left() == 0 && !o.partial():
		return ForCredit
	case o.s.win.outgoing == 0:
		return ForWindow
	case o.s.sent.left() <= 0:
		return ForSettlement
	}
	return ForMessage
}

func (to *replyLink) waitsFor() WaitsFor {
	switch {
	case len(to.queue) == 0 && !to.partial():
		return ForMessage
	case to.s.c.out.full():
		return ForReading
	case to.s.win.outgoing == 0:
		return ForWindow
	}
	return ForCredit
}

func (b *browserLink) waitsFor() WaitsFor {
	switch {
	case b.s.c.out.full():
		return ForReading
	case b.credit.left() == 0 && !b.partial():
		return ForCredit
	case b.s.win.outgoing == 0:
		return ForWindow
	case len(b.taken) > 0:
		return ForJournal
	}
	return ForMessage
}

func (in *incomingLink) waitsFor() WaitsFor {
	switch {
	case in.starvedBy != 0:
		return ForFault
	case in.outstanding > 0:
		return ForJournal
	case in.credit == 0:
		return ForCredit
	}
	return ForMessage
}

// policies names the policies of the tokens and the key that the connection has shown, and the holders of web tokens.
func (k *credentials) policies() []string {
	var names []string
	if k.key != nil {
		names = append(names, k.key.name)
	}
	for _, t := range k.held {
		names = append(names, t.owner)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
