package amqpserver

import (
	"minibus/emulator"
)

// largeReply is the bytes of messages from which on a reply needs a share of the room for large deliveries to clients.
const largeReply = 256 << 10

// reservation is a request's share of the room for large deliveries to clients. It has one from before the messages
// of its reply are read until the reply is written.
type reservation struct {
	share
	r     *request
	bytes int         // of its messages
	then  func(error) // what goes on with the request, while it waits
	to    *replies    // the link whose queue the reply stands in, or that writes it; nil: none yet
}

// reserve calls then once there is room for a reply with messages of so many bytes. Any goroutine may call it.
func (r *request) reserve(bytes int, then func(error)) {
	if bytes <= largeReply {
		then(nil)
		return
	}
	e := &reserving{r, bytes, then}
	if !r.s.c.box.post(e) {
		e.drop()
	}
}

// reserving is a call of reserve on its way to the loop.
type reserving struct {
	r     *request
	bytes int
	then  func(error)
}

func (e *reserving) run(c *conn) {
	x := e.r.reserved
	if x == nil {
		x = &reservation{r: e.r}
		x.resume = func() { c.box.post(eventFunc(func(*conn) { x.goOn() })) }
		x.stall = func() { c.box.post(eventFunc(func(*conn) { x.endIfStalled() })) }
		e.r.reserved = x
		c.requests.reserved[x] = struct{}{}
	}
	x.bytes, x.then = e.bytes, e.then
	x.goOn()
}

// drop answers for a connection that has ended.
func (e *reserving) drop() { e.then(errNoReply) }

// errNoReply ends a request whose connection ends before there was room for its reply.
var errNoReply = &emulator.Error{Code: emulator.CodeServerBusy, Text: "The connection ended before there was memory for the reply."}

// goOn lets the request go on if there is room: for its messages as they are read, and for the reply that is made of
// them.
func (x *reservation) goOn() {
	c := x.r.s.c
	if x.then == nil {
		return
	}
	if c.draining {
		x.giveUp()
		return
	}
	if x.ask(2*x.bytes, 0) {
		then := x.then
		x.then = nil
		then(nil)
	}
}

func (x *reservation) giveUp() {
	if then := x.then; then != nil {
		x.then = nil
		then(errNoReply)
	}
}

func (x *reservation) ask(needs int, moved int64) bool {
	return x.r.s.c.srv.departing.ask(&x.share, needs, needs, moved)
}

// queued notes that the reply is made, and for which link.
func (x *reservation) queued(to *replies) {
	x.to = to
	x.ask(len(x.r.response), to.moved)
}

// end gives the share back.
func (x *reservation) end() {
	x.ask(0, 0)
	delete(x.r.s.c.requests.reserved, x)
}

// endIfStalled detaches the link of a client that does not take the reply while others wait.
func (x *reservation) endIfStalled() {
	if to := x.to; to != nil {
		to.detach(to.amqpError(errStalled))
	}
}

// endReservations ends those of a connection that ends.
func (rs *requests) endReservations() {
	for x := range rs.reserved {
		x.giveUp()
		x.end()
	}
}

// giveUpWaiting ends the requests that wait for room: the connection is to end.
func (rs *requests) giveUpWaiting() {
	for x := range rs.reserved {
		x.giveUp()
	}
}

// settleReservation says how much of a large reply the link still has to write.
func (to *replies) settleReservation() {
	x := to.writing
	switch {
	case x == nil:
	case to.partial():
		x.ask(len(to.rest)+len(to.tail), to.moved)
	default:
		to.writing = nil
		x.end()
	}
}
