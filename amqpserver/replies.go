package amqpserver

import (
	"minibus/internal/amqp/frames"
)

// replies is a link on which the client receives the replies of a request/response node.
type replies struct {
	outlet
	key    string // of the node
	target string // address of the target, by which requests may ask for this link
	order  int64  // a later one is greater
	queue  []*request
}

// Append implements content.
func (r *request) Append(dst []byte) []byte { return append(dst, r.response...) }

// Size implements content.
func (r *request) Size() int { return len(r.response) }

// attachReplies opens a link for replies.
func (s *session) attachReplies(a *frames.Attach, n node) error {
	r := &replies{outlet: outlet{link: s.newLink(a, n)}, key: n.key(), order: s.c.nextOrder()}
	if n.kind == nodeManagement {
		if err := r.lookUp(anyClaim); err != nil {
			return err
		}
	}
	if a.Target != nil {
		r.target = a.Target.Address
	}
	s.put(r)
	r.watch(r)
	answer := accepted(a)
	answer.MaxMessageSize, answer.HasMaxMessageSize = unlimited, true
	s.c.write(s.channel, answer)
	return nil
}

// nextOrder numbers the links for replies of a connection.
func (c *conn) nextOrder() int64 {
	c.lastOrder++
	return c.lastOrder
}

// reply queues a response on the link that its request asks for, to wait for credit. Without such a link
// the client has gone, and the response is dropped.
func (c *conn) reply(r *request, response []byte) {
	to := c.route(r)
	if to == nil {
		c.requests--
		c.log.Debug("reply dropped", "entity", r.node.String(), "replyTo", r.replyTo)
		r.drop()
		return
	}
	r.response = response
	to.queue = append(to.queue, r)
	c.heldReplies += len(response)
	c.run(to)
}

// route finds the link for a reply (amqp-data-plane 2.1): a link from the same node whose target address or else
// name is the reply-to, first in the request's session, then in the connection; failing that the most recent
// one from the node. It never looks beyond the connection: all Java clients use the same reply-to.
func (c *conn) route(r *request) *replies {
	var best *replies
	var bestRank int
	for _, s := range c.sessions {
		for _, e := range s.links {
			to, ok := e.(*replies)
			if !ok || to.key != r.key || to.state != linkAttached || to.released {
				continue
			}
			rank := to.rank(r)
			if best == nil || rank > bestRank || rank == bestRank && to.order > best.order {
				best, bestRank = to, rank
			}
		}
	}
	return best
}

// rank returns how well a link fits a request.
func (to *replies) rank(r *request) int {
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
func (to *replies) flow(f *frames.Flow) {
	if f.HasLinkCredit {
		to.credit.grant(f.DeliveryCount, f.HasDeliveryCount, f.LinkCredit, f.Drain)
	}
	if f.Echo && !f.Drain {
		to.writeFlow(false)
	}
	to.s.c.run(to)
}

func (to *replies) resume() {
	if len(to.queue) > 0 || to.partial() || to.credit.drain {
		to.s.c.run(to)
	}
}

// pump writes replies. They are settled: the work that they report is done.
func (to *replies) pump() bool {
	if to.released {
		return false
	}
	c := to.s.c
	for to.finish() && len(to.queue) > 0 && to.credit.left() > 0 && to.s.win.outgoing > 0 && !c.out.full() {
		r := to.queue[0]
		to.queue[0] = nil
		to.queue = to.queue[1:]
		c.requests--
		c.heldReplies -= len(r.response)
		to.removed = append(to.removed, r.removed...)
		to.send(r, c.tags.makeShort(), true)
	}
	if to.credit.drain && !to.partial() && !c.out.full() {
		to.credit.exhaust()
		to.writeFlow(true)
	}
	c.topUpRequests(to.key)
	return false
}

// topUpRequests grants the senders of requests the credit that was held back while replies waited.
func (c *conn) topUpRequests(key string) {
	for _, s := range c.sessions {
		for _, e := range s.links {
			if in, ok := e.(*incoming); ok && in.node.kind != nodeEntity && in.node.key() == key && !in.released {
				in.topUp()
			}
		}
	}
}

func (to *replies) detached() bool { return true }

func (to *replies) release() {
	c := to.s.c
	for _, r := range to.queue {
		c.requests--
		c.heldReplies -= len(r.response)
		r.drop()
	}
	to.takeBack()
	to.queue, to.rest, to.written = nil, nil, 0
}
