package amqpserver

import (
	"minibus/emulator"
	"minibus/internal/amqp/frames"
)

// replyLink is a link on which the client receives the replies of a request/response node.
type replyLink struct {
	deliveringLink
	key     string // of the node
	target  string // address of the target, by which requests may ask for this link
	queue   []*request
	writing *request // whose reply is being written; nil: none
}

// A request is the content of its reply.

func (r *request) Append(dst []byte) []byte { return append(dst, r.response...) }

func (r *request) AppendHead(dst []byte) (head, tail []byte) { return dst, r.response }

func (r *request) Size() int { return len(r.response) }

func (s *session) attachReplies(a *frames.Attach, n node) error {
	r := &replyLink{deliveringLink: deliveringLink{link: s.newLink(a, n)}, key: n.key()}
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
	answer := s.accepted(a)
	answer.MaxMessageSize, answer.HasMaxMessageSize = unlimited, true
	s.write(answer)
	return nil
}

// pendingRequests holds what a connection's requests without a written reply take.
type pendingRequests struct {
	c        *conn
	waiting  int
	held     int                   // bytes of replies that wait for credit
	reserved map[*request]struct{} // with memory for large replies
}

// full reports whether no further request can be taken.
func (rs *pendingRequests) full() bool { return rs.waiting >= maxRequests || rs.held >= maxHeldReplies }

// window returns the credit for the sender of requests. It holds credit back while many replies wait for theirs.
func (rs *pendingRequests) window() uint32 {
	if rs.waiting+requestCredit > maxRequests/2 || rs.held >= maxHeldReplies/2 {
		return 0
	}
	return requestCredit
}

// reply queues a response on the link that its request asks for, to wait for credit. Without such a link
// the client has gone, and the response is dropped.
func (rs *pendingRequests) reply(r *request) {
	to := rs.route(r)
	if to == nil {
		rs.waiting--
		rs.c.log.Debug("reply dropped", "entity", r.in.node.String(), "replyTo", r.replyTo)
		r.discard()
		return
	}
	r.to = to
	r.askMemory(len(r.response), to.movedBytes)
	to.queue = append(to.queue, r)
	rs.held += len(r.response)
	rs.c.runQueue.add(to)
}

// done notes that a reply has left its link's queue.
func (rs *pendingRequests) done(r *request) {
	rs.waiting--
	rs.held -= len(r.response)
}

// route finds the link for a reply (amqp-data-plane 2.1): a link from the same node whose target address or else
// name is the reply-to, first in the request's session, then in the connection; failing that the most recent
// one from the node. It never looks beyond the connection: all Java clients use the same reply-to.
func (rs *pendingRequests) route(r *request) *replyLink {
	var best *replyLink
	var bestRank int
	for l := range rs.c.sessions.links {
		to, ok := l.self.(*replyLink)
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
func (rs *pendingRequests) topUp(key string) {
	for l := range rs.c.sessions.links {
		if in, ok := l.self.(*incomingLink); ok && in.node.kind != nodeEntity && in.node.key() == key && !in.released {
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
		to.writing = r
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

// largeReply is how many bytes of messages make a reply need a share of the memory for large deliveries to clients. The
// request has it from before the messages are read until the reply is written.
const largeReply = 256 << 10

// reserve waits for memory for a reply with some bytes of messages, and goes on with then. Any goroutine may call it.
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
	r := e.r
	if r.share.resume == nil {
		r.share.resume = func() { c.post(r.tryContinue) }
		r.share.stall = func() { c.post(r.detachStalled) }
		c.requests.reserved[r] = struct{}{}
	}
	r.bytes, r.then = e.bytes, e.then
	r.tryContinue()
}

// drop answers for a connection that has ended.
func (e *memoryRequest) drop() { e.then(errNoReply) }

// errNoReply ends a request whose connection ends before there was memory for its reply.
var errNoReply = errorf(emulator.CodeServerBusy, "The connection ended before there was memory for the reply.")

// tryContinue lets the request go on if there is memory: for its messages as they are read, and for the reply that is
// made of them.
func (r *request) tryContinue() {
	switch {
	case r.then == nil:
	case r.in.s.c.draining:
		r.refuseWaiting()
	case r.askMemory(2*r.bytes, 0):
		then := r.then
		r.then = nil
		then(nil)
	}
}

// refuseWaiting ends the request if it waits for memory.
func (r *request) refuseWaiting() {
	if then := r.then; then != nil {
		r.then = nil
		then(errNoReply)
	}
}

// askMemory changes the share of a request that has reserved one; 0 bytes give it back.
func (r *request) askMemory(bytes int, moved int64) bool {
	c := r.in.s.c
	if _, ok := c.requests.reserved[r]; !ok {
		return true
	}
	if bytes == 0 {
		delete(c.requests.reserved, r)
	}
	return c.srv.outgoingMemory.ask(&r.share, bytes, bytes, moved)
}

// detachStalled detaches the link of a client that does not take the reply while others wait.
func (r *request) detachStalled() {
	if r.to != nil {
		r.to.detach(r.to.amqpError(errStalled))
	}
}

// refuseWaiting ends the requests that wait for memory: the connection is to end.
func (rs *pendingRequests) refuseWaiting() {
	for r := range rs.reserved {
		r.refuseWaiting()
	}
}

// updateMemory says how much of the reply the link still has to write.
func (to *replyLink) updateMemory() {
	if r := to.writing; r == nil {
		return
	} else if to.partial() {
		r.askMemory(len(to.head)+len(to.tail), to.movedBytes)
	} else {
		to.writing = nil
		r.askMemory(0, 0)
	}
}
