package amqpserver

import (
	"minibus/internal/amqp/frames"
)

// replyLink is a link on which the client receives the replies of a request/response node.
type replyLink struct {
	sendingLink
	key    string // of the node
	target string // address of the target, by which requests may ask for this link
	order  int64  // a later one is greater
	queue  []*request

	memory *replyMemory // of the reply that is being written; nil: it is not large
}

// Append implements content.
func (r *request) Append(dst []byte) []byte { return append(dst, r.response...) }

// AppendHead implements content.
func (r *request) AppendHead(dst []byte) (head, tail []byte) { return dst, r.response }

// Size implements content.
func (r *request) Size() int { return len(r.response) }

func (s *session) attachReplies(a *frames.Attach, n node) error {
	s.c.requests.links++
	r := &replyLink{sendingLink: sendingLink{link: s.newLink(a, n)}, key: n.key(), order: s.c.requests.links}
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
	held    int   // bytes of replies that wait for credit
	links   int64 // links for replies that there have been

	memory map[*replyMemory]struct{} // large replies
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
		rs.c.log.Debug("reply dropped", "entity", r.node.String(), "replyTo", r.replyTo)
		r.drop()
		if r.memory != nil {
			r.memory.free()
		}
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
		rank := to.rank(r)
		if best == nil || rank > bestRank || rank == bestRank && to.order > best.order {
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

// rank returns how well a link fits a request.
func (to *replyLink) rank(r *request) int {
	rank := 0
	switch {
	case r.replyTo == "":
	case to.target == r.replyTo:
		rank = 4
	case to.name == r.replyTo:
		rank = 2
	}
	if to.s == r.s {
		rank++
	}
	return rank
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
		r.drop()
		if r.memory != nil {
			r.memory.free()
		}
	}
	to.takeBack()
	to.queue, to.head, to.tail, to.written = nil, nil, nil, 0
	to.updateMemory()
}
