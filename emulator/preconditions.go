package emulator

import "sync/atomic"

// preconditions say why something can't be done with an entity now. Its mutex is held.
type preconditions struct{ q *Entity }

// use fails when the queue was deleted (DEL-1).
func (m *preconditions) use() error {
	if m.q.deleting {
		return m.missing()
	}
	return nil
}

// missing is the service's answer for an entity that is no more. One that was replaced asks its clients to attach
// again, which they do by themselves.
func (m *preconditions) missing() *Error {
	q := m.q
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

func (m *preconditions) send() error {
	if err := m.use(); err != nil {
		return err
	}
	if m.q.subscription != nil { // TOP-1
		return errorf(CodeNotAllowed, m.q.path,
			"Messages can't be sent to the subscription '%s': send them to its topic '%s'.",
			m.q.path, m.q.subscription.topic.path)
	}
	if s := m.q.options.Status; s == StatusDisabled || s == StatusSendDisabled {
		return m.disabled(s)
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
func (m *preconditions) receive(sub SubQueue) error {
	if m.q.topic != nil && sub != TransferDeadLetter {
		return errorf(CodeNotFound, m.q.path,
			"The messaging entity '%s' could not be found among those to receive from: it is a topic. "+
				"Receive from one of its subscriptions, such as '%s/Subscriptions/NAME'.", m.q.path, m.q.path)
	}
	if err := m.settle(); err != nil {
		return err
	}
	if m.q.options.forwardTarget(sub) != "" {
		return errorf(CodeNotAllowed, m.q.path,
			"Cannot create a message receiver on an entity with auto-forwarding enabled.")
	}
	return nil
}

// receiveUnordered is receive, and fails where messages are in sessions (SESS-5).
func (m *preconditions) receiveUnordered(sub SubQueue) error {
	if err := m.receive(sub); err != nil {
		return err
	}
	if m.q.options.RequiresSession && sub == Main {
		return errorf(CodeNotAllowed, m.q.path,
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
func (m *preconditions) browse(sub SubQueue) error {
	if err := m.use(); err != nil {
		return err
	}
	if m.q.options.forwardTarget(sub) != "" {
		return errorf(CodeNotAllowed, m.q.path,
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
func (m *preconditions) settle() error {
	if err := m.use(); err != nil {
		return err
	}
	if s := m.q.options.Status; s == StatusDisabled || s == StatusReceiveDisabled {
		return m.disabled(s)
	}
	return nil
}

func (m *preconditions) disabled(s Status) error {
	return errorf(CodeEntityDisabled, m.q.path,
		"Messaging entity '%s' is currently disabled (status %s). Enable it to use it again.", m.q.path, s)
}

// grow fails when the queue is full (QUO-2, DEC-3).
func (m *preconditions) grow() error {
	if m.q.ns.Profile() == ProfileRelaxed {
		return nil
	}
	limit := m.q.options.maxSizeBytes(m.q.ns.Profile())
	if size := m.q.messages.size(); size >= limit {
		kind := "Queue"
		if m.q.topic != nil {
			kind = "Topic" // TOP-13
		}
		return errorf(CodeQuotaExceeded, m.q.path,
			"The maximum entity size has been reached or exceeded for %s: '%s'. "+
				"Size of entity in bytes:%d, Max entity size in bytes:%d.", kind, m.q.path, size, limit)
	}
	return nil
}

// addReceiver fails if the entity, of a subscription all subscriptions of its topic together, has as many receivers
// as it may (QUO-12). A receiver counts from its attach to its detach, whether it has credit or not, and so does an
// accept of a session while it waits.
func (m *preconditions) addReceiver() error {
	most := profiles[m.q.ns.Profile()].Receivers
	if n := m.receivers().Load(); most > 0 && n >= int64(most) {
		return errorf(CodeQuotaExceeded, m.q.path,
			"The maximum number of concurrent receive requests has been reached or exceeded for "+
				"the entity '%s'. Actual: %d, Max allowed: %d.", m.q.path, n, most)
	}
	return nil
}

// receivers counts the receivers of the entity.
func (m *preconditions) receivers() *atomic.Int64 {
	if s := m.q.subscription; s != nil {
		return &s.topic.receiving
	}
	return &m.q.receiving
}
