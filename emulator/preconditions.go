package emulator

import "sync/atomic"

// preconditions say why something can't be done with an entity now. Its mutex is held.
type preconditions struct{ q *Entity }

// use fails when the queue was deleted (DEL-1).
func (p *preconditions) use() error {
	if p.q.deleting {
		return p.missing()
	}
	return nil
}

// missing is the service's answer for an entity that is no more. One that was replaced asks its clients to attach
// again, which they do by themselves.
func (p *preconditions) missing() *Error {
	q := p.q
	if q.replaced.Load() {
		return errorf(CodeDetached, q.path, "The link is force detached: the namespace '%s' was reset. Attach again.",
			q.ns.name)
	}
	if q.subscription != nil {
		return NotFound(q.subscription.fullName())
	}
	return NotFound(q.path)
}

// CanSend reports why a sender may not attach, or nil.
func (q *Entity) CanSend() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.may.send()
}

func (p *preconditions) send() error {
	if err := p.use(); err != nil {
		return err
	}
	if p.q.subscription != nil { // TOP-1
		return errorf(CodeNotAllowed, p.q.path,
			"Messages can't be sent to the subscription '%s': send them to its topic '%s'.",
			p.q.path, p.q.subscription.topic.path)
	}
	if s := p.q.options.Status; s == StatusDisabled || s == StatusSendDisabled {
		return p.disabled(s)
	}
	return nil
}

// CanReceive reports why a receiver may not attach to the sub-queue, or nil.
func (q *Entity) CanReceive(sub SubQueue) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.may.receive(sub)
}

// receive also fails where messages are forwarded instead (FWD-4, DLQ-15), and on a topic, of which nothing can
// be received but what could not be transferred (TOP-1, SCHED-17, DLQ-1).
func (p *preconditions) receive(sub SubQueue) error {
	if p.q.topic != nil && sub != TransferDeadLetter {
		return errorf(CodeNotFound, p.q.path,
			"The messaging entity '%s' could not be found among those to receive from: it is a topic. "+
				"Receive from one of its subscriptions, such as '%s/Subscriptions/NAME'.", p.q.path, p.q.path)
	}
	if err := p.settle(); err != nil {
		return err
	}
	if p.q.options.forwardTarget(sub) != "" {
		return errorf(CodeNotAllowed, p.q.path,
			"Cannot create a message receiver on an entity with auto-forwarding enabled.")
	}
	return nil
}

// search reports whether a goroutine may search a sub-queue for its receivers: the entity is in service.
func (p *preconditions) search(sub SubQueue) bool {
	return !p.q.alarm.stopped && p.q.ns.stage.Load() == stageThere && p.receive(sub) == nil
}

// receiveUnordered is receive, and fails where messages are in sessions (SESS-5).
func (p *preconditions) receiveUnordered(sub SubQueue) error {
	if err := p.receive(sub); err != nil {
		return err
	}
	if p.q.options.RequiresSession && sub == Main {
		return errorf(CodeNotAllowed, p.q.path,
			"It is not possible for an entity that requires sessions to create a "+
				"non-sessionful message receiver.")
	}
	return nil
}

// CanBrowse fails for an entity whose messages are forwarded (FWD-4).
func (q *Entity) CanBrowse(sub SubQueue) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.may.browse(sub)
}

// browse fails for requests to $management of an entity whose messages are forwarded (FWD-4).
func (p *preconditions) browse(sub SubQueue) error {
	if err := p.use(); err != nil {
		return err
	}
	if p.q.options.forwardTarget(sub) != "" {
		return errorf(CodeNotAllowed, p.q.path,
			"Cannot create a message browser on an entity with auto-forwarding enabled.")
	}
	return nil
}

// forwardTarget returns the path to which the messages of a sub-queue are forwarded, or "" (FWD-1).
func (o *QueueOptions) forwardTarget(sub SubQueue) string {
	switch sub {
	case Main:
		return o.ForwardTo
	case DeadLetter:
		return o.ForwardDeadLetteredMessagesTo
	}
	return ""
}

// settle fails when nothing may be removed from the queue (LOCK-23, STAT).
func (p *preconditions) settle() error {
	if err := p.use(); err != nil {
		return err
	}
	if s := p.q.options.Status; s == StatusDisabled || s == StatusReceiveDisabled {
		return p.disabled(s)
	}
	return nil
}

func (p *preconditions) disabled(s Status) error {
	return errorf(CodeEntityDisabled, p.q.path,
		"Messaging entity '%s' is currently disabled (status %s). Enable it to use it again.", p.q.path, s)
}

// grow fails when the queue is full (QUO-2, DEC-3).
func (p *preconditions) grow() error {
	if p.q.ns.Profile() == ProfileRelaxed {
		return nil
	}
	limit := p.q.options.maxSizeBytes(p.q.ns.Profile())
	if size := p.q.messages.size(); size >= limit {
		kind := "Queue"
		if p.q.topic != nil {
			kind = "Topic" // TOP-13
		}
		return errorf(CodeQuotaExceeded, p.q.path,
			"The maximum entity size has been reached or exceeded for %s: '%s'. "+
				"Size of entity in bytes:%d, Max entity size in bytes:%d.", kind, p.q.path, size, limit)
	}
	return nil
}

// addReceiver fails if the entity, of a subscription all subscriptions of its topic together, has as many receivers
// as it may (QUO-12). A receiver counts from its attach to its detach, whether it has credit or not, and so does an
// accept of a session while it waits.
func (p *preconditions) addReceiver() error {
	most := profiles[p.q.ns.Profile()].Receivers
	if n := p.receivers().Load(); most > 0 && n >= int64(most) {
		return errorf(CodeQuotaExceeded, p.q.path,
			"The maximum number of concurrent receive requests has been reached or exceeded for "+
				"the entity '%s'. Actual: %d, Max allowed: %d.", p.q.path, n, most)
	}
	return nil
}

// receivers counts the receivers of the entity.
func (p *preconditions) receivers() *atomic.Int64 {
	if s := p.q.subscription; s != nil {
		return &s.topic.receiving
	}
	return &p.q.receiving
}
