package amqpserver

// deliveryMemory is a link's share of the room for large deliveries to clients. It has one while it has taken one and not written it whole, and waits in line
// for one before it takes it: the time of a lock runs.
type deliveryMemory struct {
	memoryShare
	held    bool // it has a share, or stands in line
	waiting bool // it stood in line at the end of this turn
}

// pull takes up to so many messages from the consumer, a large one only with a share.
func (o *outgoingLink) pull(most int) {
	limit, wanted := largeDelivery, len(o.taken)+most
	for {
		o.consumer.Limit(limit)
		o.taken = o.consumer.Take(o.taken, wanted-len(o.taken))
		if limit = o.consumer.Withheld(); limit == 0 {
			return
		}
		if o.memory.held = true; !o.askMemory(limit) {
			o.memory.waiting = true
			return
		}
	}
}

func (o *outgoingLink) askMemory(needs int) bool {
	if s := &o.memory.memoryShare; s.resume == nil {
		s.resume = o.s.c.wake
		s.stall = func() { o.s.c.mailbox.post(eventFunc(func(*conn) { o.endIfStalled() })) }
	}
	return o.s.c.srv.outgoingMemory.ask(&o.memory.memoryShare, needs, needs, o.movedBytes)
}

// updateMemory gives back what the link does not need any more.
func (o *outgoingLink) updateMemory() {
	if !o.memory.held || o.memory.waiting && !o.released {
		return
	}
	needs := 0
	if rest := len(o.head) + len(o.tail); rest > largeDelivery {
		needs = rest
	}
	for _, d := range o.taken {
		if d.Size() > largeDelivery {
			needs += d.Size()
		}
	}
	o.memory.held = needs > 0
	o.askMemory(needs)
}

// endIfStalled detaches a link whose client does not take its large delivery while others wait. The message goes back to the queue, or its lock ends.
func (o *outgoingLink) endIfStalled() {
	reading := false
	if len(o.taken) > 0 && !o.partial() {
		ready, _ := o.taken[0].Ready()
		reading = !ready
	}
	if o.memory.held && !o.memory.waiting && !reading {
		o.detach(o.amqpError(errStalled))
	}
}
