package amqpserver

import (
	"time"

	"minibus/internal/amqp"
)

// assembly counts the deliveries of a connection that have begun to arrive, and their way to the journal. While it has a large one, the connection has a
// share of the server's room, and waits if there is none: it reads nothing then.
type assembly struct {
	c     *conn
	share share
	bytes int   // of unfinished deliveries
	limit int   // that bytes may reach, by the link with the largest messages that has had a part in them
	large int   // unfinished deliveries of more than largeDelivery
	moved int64 // bytes of large deliveries, in all
	waits bool  // for room
	may   bool  // it has room

	gathering *part // the one that has a buffer for what it announces; nil: none
}

func newAssembly(c *conn) assembly {
	a := assembly{c: c}
	a.share.resume = c.lookAgain
	a.share.stall = func() { c.box.post(eventFunc((*conn).giveUpParts)) }
	return a
}

// lookAgain causes a turn, which asks anew for what the connection waits for.
func (c *conn) lookAgain() { c.box.post(eventFunc(func(*conn) {})) }

// limitFor returns how many bytes the unfinished deliveries may have together.
func (a *assembly) limitFor(in *incoming) int {
	return a.c.tokens.bound(maxAssembly, strangerAssembly) + in.maxMessage
}

// grow counts bytes that arrived for a part.
func (a *assembly) grow(in *incoming, bytes int) {
	p := &in.part
	a.bytes += bytes
	a.limit = max(a.limit, a.limitFor(in))
	if p.size <= largeDelivery && p.size+bytes > largeDelivery {
		a.large++
	}
	if p.size += bytes; p.size > largeDelivery {
		a.moved += int64(bytes)
	}
}

// forget uncounts a part.
func (a *assembly) forget(p *part) {
	a.bytes -= p.size
	if p.size > largeDelivery {
		a.large--
	}
	p.size = 0
	if a.gathering == p {
		a.gathering = nil
	}
	if a.large == 0 && a.limit > 0 {
		a.limit, a.waits, a.may = 0, false, false
		a.c.srv.arriving.ask(&a.share, 0, 0, a.moved)
	}
}

// mayGrow reports whether the connection may read on. A connection that has waited was not silent, and its links were not idle.
func (a *assembly) mayGrow() bool {
	if a.large == 0 {
		return true
	}
	wants, most := a.needs()
	may := a.c.srv.arriving.ask(&a.share, wants, most, a.moved)
	if may && a.waits {
		a.c.reader.heard()
		for e := range a.c.sessions.links {
			e.base().active = time.Now()
		}
	}
	a.waits, a.may = !may, may
	return may
}

// The share of a connection grows by growStep. A batch of the reader is smaller.
const growStep = 1 << 20

// needs returns how many bytes the connection wants to hold, up to two steps more than it has, and how many it may
// come to want. The limit has room for the buffer of one large delivery, but not if others arrive beside it.
func (a *assembly) needs() (wants, most int) {
	wants, most = a.bytes, a.limit
	if a.gathering != nil {
		spare := a.gathering.spare()
		if wants += spare; a.large > 1 {
			most += spare
		}
	}
	wants = (wants + 2*growStep - 1) / growStep * growStep
	return min(wants, most), most
}

// gather moves what has arrived of a large delivery to a buffer, if there is room for that and no other one of the
// connection is large.
func (a *assembly) gather(p *part, most int) {
	if !a.may || a.large > 1 || p.size <= largeDelivery {
		return
	}
	a.gathering = p
	if p.announce(most); p.due() > cap(p.whole) && !a.mayGrow() {
		return
	}
	p.gather(&a.c.srv.readBuffers)
}

// goes counts bytes that are handed to the domain, until it calls arrived.
func (a *assembly) goes(bytes int) {
	a.c.uncommitted += bytes
	if bytes > largeDelivery {
		a.c.srv.arriving.owe(&a.share, bytes)
	} else {
		a.c.srv.uncommitted.Add(int64(bytes))
	}
}

// arrived counts bytes that the journal has written. Any goroutine may call it, also after the end of the connection.
func (a *assembly) arrived(bytes int) {
	if bytes > largeDelivery {
		a.c.srv.arriving.owe(&a.share, -bytes)
	} else {
		a.c.srv.uncommitted.Add(-int64(bytes))
	}
}

// giveUpParts refuses large deliveries that do not get on while other connections wait for their room. If it is we who do not read, the client has time.
func (c *conn) giveUpParts() {
	if c.input() == nil {
		return
	}
	for e := range c.sessions.links {
		if in, ok := e.(*incoming); ok && in.part.size > largeDelivery {
			in.refusePart(errStalled)
		}
	}
}

// errStalled ends a large delivery that stands still while others wait for its room. SDKs try again.
var errStalled = linkErrorf(amqp.CondServerBusy, "The large message did not get on, while others waited for its room in memory.")
