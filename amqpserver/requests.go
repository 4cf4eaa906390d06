package amqpserver

import (
	"errors"

	"minibus/amqpserver/cbs"
	"minibus/amqpserver/management"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/sas"
)

// requestCredit is how many requests a client may have under way on a link, as in the service.
const requestCredit = 100

// minRequestBytes is the size of a request that is always taken, even if the queue's limit for messages is lower.
const minRequestBytes = 1 << 20

// openCBS makes the link take tokens. A connection has one such link (ERR-10): a client that has lost track
// of its own gets an error and starts again with a new connection.
func (in *incomingLink) openCBS(answer *frames.Attach) error {
	c := in.s.c
	if c.cbsSenders > 0 { // DEC-14
		return linkErrorf(amqp.CondNotAllowed, "A link to send to '%s' is open on this connection already.", addressCBS)
	}
	c.cbsSenders++
	in.take = in.takeToken
	in.window = requestCredit
	in.maxMessage = minRequestBytes
	answer.MaxMessageSize, answer.HasMaxMessageSize = unlimited, true
	return nil
}

// anyClaim lets every claim attach a link to a management node: each request is checked for its own right.
const anyClaim sas.Claims = 0

// openManagement makes the link send requests to an entity's management node.
func (in *incomingLink) openManagement(answer *frames.Attach) error {
	if err := in.lookUp(anyClaim); err != nil {
		return err
	}
	in.take = in.takeRequest
	in.window = requestCredit
	in.maxMessage = int(max(2*in.queue.MaxMessageSize(), minRequestBytes))
	answer.MaxMessageSize, answer.HasMaxMessageSize = uint64(in.maxMessage), true
	return nil
}

// request is a request that has no written reply yet.
type request struct {
	in       *incomingLink // that it came on
	key      string        // of the node
	replyTo  string
	injected *emulator.Fault      // hits the reply; nil: none
	size     int                  // bytes
	removed  []*emulator.Delivery // received and deleted messages in its reply
	response []byte               // on its way to the loop
	to       *replyLink           // the link whose queue the reply stands in, or that writes it; nil: none yet
	share    memoryShare          // of a large reply
	bytes    int                  // of the messages that it waits to read
	then     func(error)          // what reads them, while it waits
}

// newRequest takes a request's delivery: it decodes what routing needs, and accepts the delivery, which says that the
// request arrived and nothing about its success (amqp-data-plane 2.2). If the request can't be
// answered, newRequest refuses the delivery and returns false.
func (in *incomingLink) newRequest(d *delivered) (*request, *message.Message, bool) {
	c := in.s.c
	m, err := message.Scan(d.raw)
	if err != nil {
		in.refuse("request", d, linkErrorf(amqp.CondDecode, "The request could not be decoded: %v.", err))
		return nil, nil, false
	}
	if c.requests.full() {
		in.refuse("request", d, linkErrorf(amqp.CondResourceLimit,
			"Too many requests wait for the credit that their replies need."))
		return nil, nil, false
	}
	c.requests.waiting++
	switch id := d.transaction(); {
	case d.settled:
	case id != nil:
		in.s.received.answerAs(d.id, inTransaction(id, outcomeAccepted))
	default:
		in.s.received.answer(d.id, outcomeAccepted)
	}
	return &request{in: in, key: in.node.key(), replyTo: replyTo(&m)}, &m, true
}

// replyTo returns the reply-to of a request as text, or "".
func replyTo(m *message.Message) string {
	const field = 4 // position in the section [AMQP 3.2.4]
	if m.Properties.Empty() {
		return ""
	}
	v, _, err := amqp.Decode(m.Raw[m.Properties.Start:m.Properties.End])
	if err != nil {
		return ""
	}
	described, _ := v.(amqp.Described)
	fields, _ := described.Value.(amqp.List)
	if len(fields) <= field {
		return ""
	}
	text, _ := amqp.AsString(fields[field])
	return text
}

// takeToken takes a request to $cbs.
func (in *incomingLink) takeToken(d *delivered) {
	if d.transaction() != nil {
		in.refuse("request", d, linkErrorf(amqp.CondNotAllowed, "A token can't be put in a transaction."))
		return
	}
	r, m, ok := in.newRequest(d)
	if !ok {
		return
	}
	c := in.s.c
	policy, over := c.tokens.policy(), false
	policy.Injected = func(audience string) (refused *cbs.Status) {
		refused, over = in.hitToken(audience)
		return refused
	}
	var grant *cbs.Grant
	r.response, grant = cbs.Handle(m, policy)
	if over {
		c.requests.waiting--
		return
	}
	if grant != nil {
		c.tokens.remember(grant)
	}
	c.requests.reply(r)
}

// takeRequest takes a request to the management node of the link's entity.
func (in *incomingLink) takeRequest(d *delivered) {
	r, m, ok := in.newRequest(d)
	if !ok {
		return
	}
	c := in.s.c
	entity := in.queue.Path()
	fault, refused := in.hitRequest(m)
	if errors.Is(refused, errEnded) {
		c.requests.waiting--
		return
	}
	r.injected = fault
	r.size = len(d.raw)
	c.outstanding++
	c.uncommitted += r.size
	c.assembly.addUncommitted(r.size)
	// The reply may come from another goroutine, so it always goes through the mailbox.
	management.Handle(management.Context{
		Queue: in.queue, Sub: in.node.sub,
		AssociatedLink: c.sessions.touch,
		TrackingSuffix: c.trackingSuffix,
		Holder: func(id string) *emulator.Consumer {
			return c.sessions.holder(in.queue, func(o *outgoingLink) bool {
				held, _ := o.consumer.SessionID()
				return emulator.SameSession(held, id) // SESS-35
			})
		},
		LinkHolder: func(name string) *emulator.Consumer {
			return c.sessions.holder(in.queue, func(o *outgoingLink) bool { return o.name == name })
		},
		Client:    in.client(),
		Tx:        in.transactionFor(d),
		Injected:  refused,
		Fault:     fault,
		Removed:   func(ds []*emulator.Delivery) { r.removed = ds },
		Reserve:   r.reserve,
		Authorize: func(claim sas.Claims) error { return c.tokens.authorize(right{in.node, claim}) },
		Refused: func(operation string, err error) {
			c.post(func() { c.log.refusedRequest(operation, entity, err) })
		},
	}, m, func(response []byte) {
		r.response = response
		c.assembly.addUncommitted(-r.size)
		if !c.mailbox.post(r) {
			r.drop()
		}
	})
}

// run takes a response that may come from another goroutine.
func (r *request) run(c *conn) {
	c.uncommitted -= r.size
	if (r.injected != nil || c.delayed != nil) && c.delay(&r.in.link, r.injected, r.reply) {
		return
	}
	r.reply()
}

func (r *request) reply() {
	c := r.in.s.c
	c.outstanding--
	c.requests.reply(r)
}

// drop returns the messages in a reply that no client will get.
func (r *request) drop() {
	for _, d := range r.removed {
		d.Return()
	}
}

// discard is drop in the loop, which frees the memory too.
func (r *request) discard() {
	r.drop()
	r.askMemory(0, 0)
}
