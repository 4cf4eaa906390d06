package emulator

// usableLocked fails when the queue was deleted (DEL-1).
func (q *Queue) usableLocked() error {
	if q.deleted {
		return q.missing()
	}
	return nil
}

// missing is the service's answer for an entity that is no more.
func (q *Queue) missing() *Error {
	if q.subscription != nil {
		return NotFound(q.subscription.fullName())
	}
	return NotFound(q.path)
}

// CanSend reports why a sender may not attach, or nil.
func (q *Queue) CanSend() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.canSendLocked()
}

func (q *Queue) canSendLocked() error {
	if err := q.usableLocked(); err != nil {
		return err
	}
	if q.subscription != nil { // TXN-10
		return errorf(CodeNotAllowed, q.path, "Messages can't be sent to the subscription '%s': send them to its topic '%s'.",
			q.path, q.subscription.topic.path)
	}
	if s := q.options.Status; s == StatusDisabled || s == StatusSendDisabled {
		return q.disabledLocked(s)
	}
	return nil
}

// CanReceive reports why a receiver may not attach to the sub-queue, or nil.
func (q *Queue) CanReceive(sub SubQueue) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.canReceiveLocked(sub)
}

// canReceiveLocked also fails where messages are forwarded instead (FWD-4, DLQ-15), and on a topic, of which nothing can
// be received but what could not be transferred (TOP-1, SCHED-17, DLQ-1).
func (q *Queue) canReceiveLocked(sub SubQueue) error {
	if q.fan != nil && sub != TransferDeadLetter {
		return errorf(CodeNotFound, q.path, "The messaging entity '%s' could not be found among those to receive from: it is a topic. "+
			"Receive from one of its subscriptions, such as '%s/Subscriptions/NAME'.", q.path, q.path)
	}
	if err := q.canSettleLocked(); err != nil {
		return err
	}
	if q.forwardTargetLocked(sub) != "" {
		return errorf(CodeNotAllowed, q.path, "Cannot create a message receiver on an entity with auto-forwarding enabled.")
	}
	return nil
}

// canBrowseLocked fails for requests to $management of an entity whose messages are forwarded (FWD-4).
func (q *Queue) canBrowseLocked(sub SubQueue) error {
	if err := q.usableLocked(); err != nil {
		return err
	}
	if q.forwardTargetLocked(sub) != "" {
		return errorf(CodeNotAllowed, q.path, "Cannot create a message browser on an entity with auto-forwarding enabled.")
	}
	return nil
}

// forwardTargetLocked returns the path to which the messages of a sub-queue are forwarded, or "" (FWD-1).
func (q *Queue) forwardTargetLocked(sub SubQueue) string {
	switch sub {
	case Main:
		return q.options.ForwardTo
	case DeadLetter:
		return q.options.ForwardDeadLetteredMessagesTo
	}
	return ""
}

// canSettleLocked fails when nothing may be removed from the queue (LOCK-23, STAT).
func (q *Queue) canSettleLocked() error {
	if err := q.usableLocked(); err != nil {
		return err
	}
	if s := q.options.Status; s == StatusDisabled || s == StatusReceiveDisabled {
		return q.disabledLocked(s)
	}
	return nil
}

func (q *Queue) disabledLocked(s Status) error {
	return errorf(CodeEntityDisabled, q.path,
		"Messaging entity '%s' is currently disabled (status %s). Enable it to use it again.", q.path, s)
}
