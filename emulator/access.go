package emulator

// usableLocked fails when the queue was deleted (DEL-1).
func (q *Queue) usableLocked() error {
	if q.deleted {
		return NotFound(q.path)
	}
	return nil
}

// unserved names a setting that this version of Minibus stores but does not act upon, where pretending would lose or
// reorder messages.
func (q *Queue) unservedLocked() error {
	o := &q.options
	var name string
	switch {
	case o.RequiresSession:
		name = "RequiresSession"
	case o.RequiresDuplicateDetection:
		name = "RequiresDuplicateDetection"
	case o.EnablePartitioning:
		name = "EnablePartitioning"
	case o.ForwardTo != "":
		name = "ForwardTo"
	case o.ForwardDeadLetteredMessagesTo != "":
		name = "ForwardDeadLetteredMessagesTo"
	default:
		return nil
	}
	return errorf(CodeNotImplemented, q.path,
		"The entity '%s' has %s, which is not served by this version of Minibus.", q.path, name)
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
	if s := q.options.Status; s == StatusDisabled || s == StatusSendDisabled {
		return q.disabledLocked(s)
	}
	return q.unservedLocked()
}

// CanReceive reports why a receiver may not attach to the sub-queue, or nil.
func (q *Queue) CanReceive(SubQueue) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.canReceiveLocked()
}

func (q *Queue) canReceiveLocked() error {
	if err := q.canSettleLocked(); err != nil {
		return err
	}
	return q.unservedLocked()
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
