package emulator

// maxHeaderBytes bounds the properties that the broker and settlements may add to a message (DLQ-R3).
const maxHeaderBytes = 64 << 10

// Settle ends the locks of all tokens with the same outcome, or none of them (LOCK-15). A token is good whichever
// link or connection received the message, and for every sub-queue (LOCK-9 to LOCK-11, DLQ-17).
//
// An error means that nothing was settled and c will not be called: CodeMessageLockLost if a lock is over
// (LOCK-7), CodeEntityDisabled (LOCK-23), or CodeNotAllowed for dead-lettering inside a dead-letter queue; the last
// one ends the deliveries all the same: the messages are available again and their tokens dead (LOCK-24).
// Otherwise c is told once whether the settlement is durable; if not, the locks hold as before.
func (q *Entity) Settle(tokens []LockToken, s Settlement, c Completion) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.locks.settle(tokens, s, clientOf(c), c)
}

func (lt *lockTable) settle(tokens []LockToken, s Settlement, client *Client, c Completion) error {
	if err := lt.q.may.settle(); err != nil {
		return err
	}
	now := lt.q.ns.Now()
	var one [1]*entry
	entries, err := lt.entriesOfTokens(one[:0], tokens, now)
	if err != nil {
		lt.refused(now, client, err)
		return err
	}
	lt.q.usage.touch(now)
	if s.Outcome == DeadLetterOutcome {
		if err := lt.refuseDeadLetter(entries); err != nil {
			for _, e := range entries {
				lt.unlock(e)
				lt.q.messages.free(e, now)
			}
			return err
		}
	}
	if len(entries) == 0 {
		c.Completed(nil)
		return nil
	}
	op := newTransition(lt.q, len(entries), c)
	op.client = client
	for _, e := range entries {
		op.settleLocked(e, s, fallback{undo: undoRelock, lock: lt.unlock(e)}, now)
	}
	if len(op.change.Ops) > 0 {
		lt.q.ns.faults.failJournalLocked(lt.q, &op.change, OperationSettle, entries[0].sub, client)
	}
	op.appendLocked()
	return nil
}

// refused records that messages are not settled.
func (lt *lockTable) refused(now int64, client *Client, err error) {
	lt.q.ns.common.record.add(lt.q, now, &happened{kind: EventRefusedSettlement, client: client, text: err.Error()})
}

// entriesOfTokens appends the entries that the tokens lock; each can be named once only.
func (lt *lockTable) entriesOfTokens(entries []*entry, tokens []LockToken, now int64) ([]*entry, error) {
	for _, t := range tokens {
		e := lt.entryOfToken(t, now)
		if e == nil {
			return nil, lockLost(lt.q.path)
		}
		entries = append(entries, e)
	}
	if len(tokens) == 1 {
		return entries, nil
	}
	seen := make(map[LockToken]struct{}, len(tokens))
	for _, t := range tokens {
		seen[t] = struct{}{}
	}
	if len(seen) < len(tokens) {
		return nil, lockLost(lt.q.path)
	}
	return entries, nil
}

// refuseDeadLetter fails if one of the entries is in a dead-letter queue (DLQ-4).
func (lt *lockTable) refuseDeadLetter(entries []*entry) error {
	for _, e := range entries {
		if e.sub != Main {
			return errorf(CodeNotAllowed, lt.q.path,
				"A message in the dead-letter queue of '%s' can't be dead-lettered.", lt.q.path)
		}
	}
	return nil
}

// settleLocked adds to op what an outcome does to e, which is unlocked and busy.
func (op *transition) settleLocked(e *entry, s Settlement, f fallback, now int64) {
	switch s.Outcome {
	case Complete:
		op.removeLocked(e, EventCompleted, f)
	case Abandon:
		op.deliveryFailedLocked(e, s.Properties, EventAbandoned, f, now)
	case Defer:
		op.deferLocked(e, s.Properties, f)
	case DeadLetterOutcome:
		op.deadLetterLocked(e, e.count, s.Properties, EventDeadLettered, f)
	case Release:
		op.freeLocked(e, EventReleased, f)
	}
}

// deferLocked adds to op that e is set aside (DEF-1). Reaching the maximum delivery count keeps it deferred (DC-13).
func (op *transition) deferLocked(e *entry, properties []byte, f fallback) {
	overlay := e.merged(properties)
	if e.sub == Main && len(overlay) > maxHeaderBytes {
		op.deadLetterLocked(e, e.count+1, headerSizeProperties(), EventDeadLettered, f)
		return
	}
	op.changeLocked(e, Deferred, e.count+1, overlay, EventDeferred, f)
}

// Renew lets the locks of all tokens end one lock duration from now and returns when that is, in the order of the
// tokens (LOCK-4). If one of the locks is gone none is renewed and the error is CodeMessageLockLost (LOCK-5, LOCK-6).
// client asks for it.
func (q *Entity) Renew(tokens []LockToken, client *Client) ([]int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.locks.renew(tokens, nil, client)
}

// renew is Renew; tx may renew the locks of messages that it will settle.
func (lt *lockTable) renew(tokens []LockToken, tx *Transaction, client *Client) ([]int64, error) {
	if err := lt.q.may.settle(); err != nil {
		return nil, err
	}
	now := lt.q.ns.Now()
	for _, t := range tokens {
		if e := lt.byToken[t]; lt.entryOfToken(t, now) == nil &&
			(e == nil || tx == nil || e.lock.tx != tx || e.lock.expires() <= now) {
			return nil, lockLost(lt.q.path)
		}
	}
	until := now + lt.q.options.lockDuration().Milliseconds()
	untils := make([]int64, len(tokens))
	for i, t := range tokens {
		e := lt.byToken[t]
		old := e.lock.until
		if old == sessionLock { // SESS-21
			untils[i] = e.lock.expires()
			continue
		}
		e.lock.until = until
		if record := lt.q.ns.common.record; record != nil {
			record.add(lt.q, now, &happened{kind: EventRenewed, sub: e.sub, seq: e.seq, first: e.first,
				body: e.body.id, count: e.count, value: until, client: client})
		}
		lt.ends.remove(old)
		lt.ends.add(e, until)
		untils[i] = until
	}
	lt.q.usage.touch(now)
	lt.q.alarm.set(until)
	return untils, nil
}
