package amqpserver

import (
	"minibus/emulator"
	"minibus/internal/amqp/frames"
)

// replyLink is a link on which the client receives the replies of a request/response node.
type replyLink struct {
	sendingLink
	key    string // of the node
	target string // address of the target, by which requests may ask for this link
	queue  []*request
	memory *replyMemory // of the reply that is being written; nil: it is not large
}

// A request is the content of its reply.

func (r *request) Append(dst []byte) []byte { return append(dst, r.response...) }

func (r *request) AppendHead(dst []byte) (head, tail []byte) { return dst, r.response }

func (r *request) Size() int { return len(r.response) }

func (s *session) attachReplies(a *frames.Attach, n node) error {
	r := &replyLink{sendingLink: sendingLink{link: s.newLink(a, n)}, key: n.key()}
	if n.kind == nodeManagement {
		if err := r.lookUp(anyClaim); err != nil {
			return err
		}
	}
	if a.Target != nil {
		r.target = a.Target.Address
	}
	s.put(r)
	r.watch()
	answer := accepted(a)
	answer.MaxMessageSize, answer.HasMaxMessageSize = unlimited, true
	s.write(answer)
	return nil
}

// requests holds what a connection's requests without a written reply take.
type requests struct {
	c       *conn
	waiting int
	held    int                       // bytes of replies that wait for credit
	memory  map[*replyMemory]struct{} // of large replies
}

// full reports whether no further request can be taken.
func (rs *requests) full() bool { return rs.waiting >= maxRequests || rs.held >= maxHeldReplies }

// window returns the credit for the sender of requests. It holds credit back while many replies wait for theirs.
func (rs *requests) window() uint32 {
	if rs.waiting+requestCredit > maxRequests/2 || rs.held >= maxHeldReplies/2 {
		return 0
	}
	return requestCredit
}

// reply queues a response on the link that its request asks for, to wait for credit. Without such a link
// the client has gone, and the response is dropped.
func (rs *requests) reply(r *request, response []byte) {
	to := rs.route(r)
	if to == nil {
		rs.waiting--
		rs.c.log.Debug("reply dropped", "entity", r.in.node.String(), "replyTo", r.replyTo)
		r.discard()
		return
	}
	r.response = response
	if r.memory != nil {
		r.memory.queuedOn(to)
	}
	to.queue = append(to.queue, r)
	rs.held += len(response)
	rs.c.runQueue.add(to)
}

// done notes that a reply has left its link's queue.
func (rs *requests) done(r *request) {
	rs.waiting--
	rs.held -= len(r.response)
}

// route finds the link for a reply (amqp-data-plane 2.1): a link from the same node whose target address or else
// name is the reply-to, first in the request's session, then in the connection; failing that the most recent
// one from the node. It never looks beyond the connection: all Java clients use the same reply-to.
func (rs *requests) route(r *request) *replyLink {
	var best *replyLink
	var bestRank int
	for e := range rs.c.sessions.links {
		to, ok := e.(*replyLink)
		if !ok || to.key != r.key || to.state != linkAttached || to.released {
			continue
		}
		rank := 0
		switch {
		case r.replyTo == "":
		case to.target == r.replyTo:
			rank = 4
		case to.name == r.replyTo:
			rank = 2
		}
		if to.s == r.in.s {
			rank++
		}
		if best == nil || rank > bestRank || rank == bestRank && to.number > best.number {
			best, bestRank = to, rank
		}
	}
	return best
}

// topUp grants a node's senders of requests the credit that was held back while replies waited.
func (rs *requests) topUp(key string) {
	for e := range rs.c.sessions.links {
		if in, ok := e.(*incomingLink); ok && in.node.kind != nodeEntity && in.node.key() == key && !in.released {
			in.topUp()
		}
	}
}

// flow takes the client's credit; some clients grant it one by one.
func (to *replyLink) flow(f *frames.Flow) {
	if f.HasLinkCredit {
		to.credit.grant(f.DeliveryCount, f.HasDeliveryCount, f.LinkCredit, f.Drain)
	}
	if f.Echo && !f.Drain {
		to.writeFlow(false)
	}
	to.s.c.runQueue.add(to)
}

func (to *replyLink) resume() {
	if len(to.queue) > 0 || to.partial() || to.credit.drain {
		to.s.c.runQueue.add(to)
	}
}

// pump writes replies. They are settled: the work that they report is done.
func (to *replyLink) pump() bool {
	if to.released {
		return false
	}
	c := to.s.c
	for to.finish() && len(to.queue) > 0 && to.credit.left() > 0 && to.s.win.outgoing > 0 && !c.out.full() {
		to.updateMemory()
		r := to.queue[0]
		to.queue[0] = nil
		to.queue = to.queue[1:]
		c.requests.done(r)
		to.removed = append(to.removed, r.removed...)
		to.memory = r.memory
		to.send(r, c.tags.makeShort(), true)
	}
	to.updateMemory()
	if to.credit.drain && !to.partial() && !c.out.full() {
		to.credit.exhaust()
		to.writeFlow(true)
	}
	c.requests.topUp(to.key)
	return false
}

func (to *replyLink) detached() bool { return true }

func (to *replyLink) release() {
	for _, r := range to.queue {
		to.s.c.requests.done(r)
		r.discard()
	}
	to.takeBack()
	to.queue = nil
	to.head, to.tail = nil, nil
	to.written = 0
	to.updateMemory()
}

// largeReply is the bytes of messages from which on a reply needs a share of the memory for large deliveries to
// clients.
const largeReply = 256 << 10

// replyMemory is that share. A request has it from before the messages of its reply are read until the reply is
// written.
type replyMemory struct {
	memoryShare
	r     *request
	bytes int         // of its messages
	then  func(error) // what goes on with the request, while it waits
	to    *replyLink  // the link whose queue the reply stands in, or that writes it; nil: none yet
}

// reserve calls then once there is memory for a reply with messages of so many bytes. Any goroutine may call it.
func (r *request) reserve(bytes int, then func(error)) {
	if bytes <= largeReply {
		then(nil)
		return
	}
	e := &memoryRequest{r, bytes, then}
	if !r.in.s.c.mailbox.post(e) {
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
		x.resume = func() { c.post(x.tryContinue) }
		x.stall = func() { c.post(x.endIfStalled) }
		e.r.memory = x
		c.requests.memory[x] = struct{}{}
	}
	x.bytes, x.then = e.bytes, e.then
	x.tryContinue()
}

// drop answers for a connection that has ended.
func (e *memoryRequest) drop() { e.then(errNoReply) }

// errNoReply ends a request whose connection ends before there was memory for its reply.
var errNoReply = errorf(emulator.CodeServerBusy, "The connection ended before there was memory for the reply.")

// tryContinue lets the request go on if there is memory: for its messages as they are read, and for the reply that is
// made of them.
func (x *replyMemory) tryContinue() {
	c := x.r.in.s.c
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
	return x.r.in.s.c.srv.outgoingMemory.ask(&x.memoryShare, needs, needs, moved)
}

// queuedOn notes that the reply is made, and for which link.
func (x *replyMemory) queuedOn(to *replyLink) {
	x.to = to
	x.ask(len(x.r.response), to.movedBytes)
}

// free gives the share back.
func (x *replyMemory) free() {
	x.ask(0, 0)
	delete(x.r.in.s.c.requests.memory, x)
}

// endIfStalled detaches the link of a client that does not take the reply while others wait.
func (x *replyMemory) endIfStalled() {
	if to := x.to; to != nil {
		to.detach(to.amqpError(errStalled))
	}
}

// freeMemory ends the shares of a connection that ends.
func (rs *requests) freeMemory() {
	for x := range rs.memory {
		x.refuse()
		x.free()
	}
}

// refuseWaiting ends the requests that wait for memory: the connection is to end.
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
