package amqpserver

// largeShare is a link's share of the room for large deliveries to clients. It has one while it has taken one and not written it whole, and waits in line
// for one before it takes it: the time of a lock runs.
type largeShare struct {
	share
	held  bool // it has a share, or stands in line
	waits bool // it stood in line at the end of this turn
}

// pull takes up to so many messages from the consumer, a large one only with a share.
func (o *outgoing) pull(most int) {
	limit, wanted := largeDelivery, len(o.taken)+most
	for {
		o.consumer.Limit(limit)
		o.taken = o.consumer.Take(o.taken, wanted-len(o.taken))
		if limit = o.consumer.Withheld(); limit == 0 {
			return
		}
		if o.large.held = true; !o.ask(limit) {
			o.large.waits = true
			return
		}
	}
}

func (o *outgoing) ask(needs int) bool {
	if s := &o.large.share; s.resume == nil {
		s.resume = o.s.c.lookAgain
		s.stall = func() { o.s.c.box.post(eventFunc(func(*conn) { o.endIfStalled() })) }
	}
	return o.s.c.srv.departing.ask(&o.large.share, needs, needs, o.moved)
}

// settleShare gives back what the link does not need any more.
func (o *outgoing) settleShare() {
	if !o.large.held || o.large.waits && !o.released {
		return
	}
	needs := 0
	if rest := len(o.rest) + len(o.tail); rest > largeDelivery {
		needs = rest
	}
	for _, d := range o.taken {
		if d.Size() > largeDelivery {
			needs += d.Size()
		}
	}
	o.large.held = needs > 0
	o.ask(needs)
}

// endIfStalled detaches a link whose client does not take its large delivery while others wait. The message goes back to the queue, or its lock ends.
func (o *outgoing) endIfStalled() {
	reading := false
	if len(o.taken) > 0 && !o.partial() {
		ready, _ := o.taken[0].Ready()
		reading = !ready
	}
	if o.large.held && !o.large.waits && !reading {
		o.detach(o.amqpError(errStalled))
	}
}
