package amqpserver

import (
	"minibus/emulator"
)

// largeReply is the bytes of messages from which on a reply needs a share of the room for large deliveries to clients.
const largeReply = 256 << 10

// replyMemory is a request's share of the room for large deliveries to clients. It has one from before the messages
// of its reply are read until the reply is written.
type replyMemory struct {
	memoryShare
	r     *request
	bytes int         // of its messages
	then  func(error) // what goes on with the request, while it waits
	to    *replyLink  // the link whose queue the reply stands in, or that writes it; nil: none yet
}

// reserve calls then once there is room for a reply with messages of so many bytes. Any goroutine may call it.
func (r *request) reserve(bytes int, then func(error)) {
	if bytes <= largeReply {
		then(nil)
		return
	}
	e := &memoryRequest{r, bytes, then}
	if !r.s.c.mailbox.post(e) {
		e.drop()
	}
}

// memoryRequest is a call of reserve on its way to the loop.
type memoryRequest struct {
	r     *request
	bytes int
	then  func(error)
}

func (e *memoryRequest) run(c *conn) {
	x := e.r.memory
	if x == nil {
		x = &replyMemory{r: e.r}
		x.resume = func() { c.mailbox.post(eventFunc(func(*conn) { x.tryContinue() })) }
		x.stall = func() { c.mailbox.post(eventFunc(func(*conn) { x.endIfStalled() })) }
		e.r.memory = x
		c.requests.memory[x] = struct{}{}
	}
	x.bytes, x.then = e.bytes, e.then
	x.tryContinue()
}

// drop answers for a connection that has ended.
func (e *memoryRequest) drop() { e.then(errNoReply) }

// errNoReply ends a request whose connection ends before there was room for its reply.
var errNoReply = &emulator.Error{Code: emulator.CodeServerBusy, Text: "The connection ended before there was memory for the reply."}

// tryContinue lets the request go on if there is room: for its messages as they are read, and for the reply that is made of
// them.
func (x *replyMemory) tryContinue() {
	c := x.r.s.c
	if x.then == nil {
		return
	}
	if c.draining {
		x.refuse()
		return
	}
	if x.ask(2*x.bytes, 0) {
		then := x.then
		x.then = nil
		then(nil)
	}
}

func (x *replyMemory) refuse() {
	if then := x.then; then != nil {
		x.then = nil
		then(errNoReply)
	}
}

func (x *replyMemory) ask(needs int, moved int64) bool {
	return x.r.s.c.srv.outgoingMemory.ask(&x.memoryShare, needs, needs, moved)
}

// queuedOn notes that the reply is made, and for which link.
func (x *replyMemory) queuedOn(to *replyLink) {
	x.to = to
	x.ask(len(x.r.response), to.movedBytes)
}

// free gives the share back.
func (x *replyMemory) free() {
	x.ask(0, 0)
	delete(x.r.s.c.requests.memory, x)
}

// endIfStalled detaches the link of a client that does not take the reply while others wait.
func (x *replyMemory) endIfStalled() {
	if to := x.to; to != nil {
		to.detach(to.amqpError(errStalled))
	}
}

// freeMemory ends those of a connection that ends.
func (rs *requests) freeMemory() {
	for x := range rs.memory {
		x.refuse()
		x.free()
	}
}

// refuseWaiting ends the requests that wait for room: the connection is to end.
func (rs *requests) refuseWaiting() {
	for x := range rs.memory {
		x.refuse()
	}
}

// updateMemory says how much of a large reply the link still has to write.
func (to *replyLink) updateMemory() {
	x := to.memory
	switch {
	case x == nil:
	case to.partial():
		x.ask(len(to.head)+len(to.tail), to.movedBytes)
	default:
		to.memory = nil
		x.free()
	}
}
