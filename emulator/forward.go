package emulator

import (
	"errors"

	"minibus/internal/amqp/message"
)

// maxHops is how many transfers a message survives (FWD-8).
const maxHops = 4

// forwardLocked sets a mover to work on a sub-queue whose messages are forwarded (FWD-3), if none is and there is
// something to move. Movers are goroutines that live as long as there is; at most one per sub-queue, which keeps the
// messages in order (FWD-16).
func (q *Queue) forwardLocked(sub SubQueue) {
	if sub > DeadLetter || q.forwarding[sub] || !q.mayForwardLocked(sub) {
		return
	}
	q.forwarding[sub] = true
	q.ns.movers.add()
	go func() {
		defer q.ns.movers.done()
		for q.forwardSome(sub) {
		}
	}()
}

// mayForwardLocked reports whether there is something to forward, now. A disabled source pauses (FWD-17).
func (q *Queue) mayForwardLocked(sub SubQueue) bool {
	return q.forwardTargetLocked(sub) != "" && !q.stopped && q.canSettleLocked() == nil &&
		q.box(sub).available > 0 && q.ns.Now() >= q.retryAt[sub]
}

// forwardSome moves up to a quantum of messages and reports whether to go on.
func (q *Queue) forwardSome(sub SubQueue) bool {
	q.mu.Lock()
	if !q.mayForwardLocked(sub) {
		q.forwarding[sub] = false
		q.mu.Unlock()
		return false
	}
	name := q.forwardTargetLocked(sub)
	picked := q.pickForwardsLocked(sub)
	q.mu.Unlock()
	target, err := q.ns.Queue(name)
	if err == nil {
		err = q.loadBodies(picked)
	}
	done := make(chan error, 1)
	written := CompletionFunc(func(err error) { done <- err })
	var writing bool
	if err != nil {
		writing = q.refuseForwards(sub, picked, err, written)
	} else {
		op := &transferOp{q: q, target: target, sub: sub, move: q.newMove(len(picked), nil), done: written}
		writing = op.run(picked)
	}
	if !writing {
		return true
	}
	if err := <-done; err != nil {
		q.ns.logger.Error("messages could not be forwarded; trying again", "entity", q.path, "target", name, "error", err)
		q.pause(sub)
	}
	return true
}

// pickForwardsLocked takes the next available messages and marks them as being transferred.
func (q *Queue) pickForwardsLocked(sub SubQueue) []*entry {
	b := q.box(sub)
	now := q.ns.Now()
	var picked, expired []*entry
	for len(picked) < quantum {
		e := b.nextReady()
		if e == nil {
			break
		}
		b.take(e, markBusy)
		if e.expired(now) {
			expired = append(expired, e)
		} else {
			picked = append(picked, e)
		}
	}
	for _, e := range expired {
		b.makeAvailable(e)
	}
	q.expireLocked(expired, now)
	return picked
}

// loadBodies waits until the bodies of entries are in memory. The entries are busy, so nobody removes them.
func (q *Queue) loadBodies(entries []*entry) error {
	read := &BodyRead{}
	var missing []*entry
	q.mu.Lock()
	for _, e := range entries {
		if e.body.data == nil {
			missing = append(missing, e)
			read.IDs = append(read.IDs, e.body.id)
		}
	}
	q.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	done := make(chan error, 1)
	read.Done = CompletionFunc(func(err error) { done <- err })
	q.ns.journal.ReadBodies(read)
	if err := <-done; err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, e := range missing {
		if read.Bodies[i] == nil {
			return errorf(CodeInternal, q.path, "The body of message %d is missing.", e.seq)
		}
		e.body.data = read.Bodies[i]
		q.held += int64(e.body.size)
		q.ns.inMemory.Add(int64(e.body.size))
	}
	return nil
}

// refuseForwards does with messages what the reason demands that their target does not take them (FWD-11): they go
// to the source's dead-letter queue, or, from a dead-letter queue and after failures of our own, wait and are tried
// again. It reports whether that has to be written; then done is called.
func (q *Queue) refuseForwards(sub SubQueue, picked []*entry, why error, done Completion) (writing bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refuseForwardsLocked(sub, picked, why, done)
}

func (q *Queue) refuseForwardsLocked(sub SubQueue, picked []*entry, why error, done Completion) (writing bool) {
	reason := exceptionName(why)
	if sub == DeadLetter || reason == "" {
		q.retryAt[sub] = q.laterLocked()
		q.rearmLocked(q.retryAt[sub])
		for _, e := range picked {
			q.restLocked(e, q.ns.Now())
		}
		return false
	}
	op := q.newMove(len(picked), done)
	op.again = true
	for _, e := range picked {
		op.deadLetterLocked(e, e.count, deadLetterProperties(reason, why.Error()))
	}
	op.appendLocked()
	return len(picked) > 0
}

// exceptionName is the reason of messages that a target did not take: the name that clients know the error by (FWD-12).
// It is empty for failures of the broker itself.
func exceptionName(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code {
	case CodeNotFound:
		return "MessagingEntityNotFoundException"
	case CodeEntityDisabled:
		return "MessagingEntityDisabledException"
	case CodeQuotaExceeded:
		return "QuotaExceededException"
	case CodeMessageTooLarge:
		return "MessageSizeExceededException"
	}
	return ""
}

// pause keeps a sub-queue's mover from trying again at once.
func (q *Queue) pause(sub SubQueue) {
	q.mu.Lock()
	q.retryAt[sub] = q.laterLocked()
	q.rearmLocked(q.retryAt[sub])
	q.mu.Unlock()
}

// lockBoth locks two queues in the order of their ids.
func lockBoth(a, b *Queue) (unlock func()) {
	if a == b {
		a.mu.Lock()
		return a.mu.Unlock
	}
	if a.id > b.id {
		a, b = b, a
	}
	a.mu.Lock()
	b.mu.Lock()
	return func() {
		b.mu.Unlock()
		a.mu.Unlock()
	}
}

// takesForwardsLocked reports why nothing may be forwarded to the queue, or nil. SendDisabled does not keep forwards
// out (FWD-11).
func (q *Queue) takesForwardsLocked() error {
	if err := q.usableLocked(); err != nil {
		return err
	}
	if q.options.Status == StatusDisabled {
		return q.disabledLocked(StatusDisabled)
	}
	return q.roomLocked()
}

// transferOp is messages that are being forwarded.
type transferOp struct {
	q, target *Queue
	sub       SubQueue
	move      *move // of the source: what leaves, and what goes to its dead-letter queue instead
	arriving  []*entry
	keys      []remembered
	drawn     drawn
	done      Completion
}

// run moves messages to the target in one change (FWD-3) and reports whether there is something to wait for.
func (op *transferOp) run(picked []*entry) bool {
	defer lockBoth(op.q, op.target)()
	now := op.q.ns.Now()
	if op.q.usableLocked() != nil {
		for _, e := range picked {
			op.q.restLocked(e, now) // the deletion may fail
		}
		return false
	}
	if err := op.target.takesForwardsLocked(); err != nil {
		return op.q.refuseForwardsLocked(op.sub, picked, err, op.done)
	}
	op.target.touchLocked(now)
	op.move.again = true
	for _, e := range picked {
		op.addLocked(e, now)
	}
	if len(op.move.change.Ops) == 0 {
		return false
	}
	op.move.change.Done = op
	op.q.ns.append(&op.move.change)
	return true
}

// Completed takes the messages out of the source and shows them in the target.
func (op *transferOp) Completed(err error) {
	unlock := lockBoth(op.q, op.target)
	op.drawn.end(err)
	op.move.finishLocked(err)
	if err != nil {
		for _, k := range op.keys {
			op.target.history.drop(k.key, k.at)
		}
	}
	for _, e := range op.arriving {
		if err != nil {
			op.target.box(e.sub).forget(e)
			op.target.forgetLocked(e.session)
			continue
		}
		if data := e.body.data; data != nil {
			op.q.dropLocked(e.body)
			e.body.data = data
			op.target.settleBodyLocked(e.body)
		}
		op.target.arriveLocked(e)
	}
	unlock()
	op.done.Completed(err)
}

// addLocked adds one message of the source.
func (op *transferOp) addLocked(e *entry, now int64) {
	t := op.target
	hops := e.hops() + 1
	if hops > maxHops && e.sub == Main { // FWD-8, FWD-10
		op.move.deadLetterLocked(e, e.count, deadLetterProperties("MaxTransferHopCountExceeded",
			"The message was forwarded more than 4 times."))
		return
	}
	in, err := op.inspect(e)
	if err != nil || t.options.RequiresSession && !in.info.HasGroupID { // FWD-6
		if e.sub == DeadLetter {
			op.q.refuseForwardsLocked(DeadLetter, []*entry{e}, err, nil)
			return
		}
		op.move.deadLetterLocked(e, e.count, sessionIDProperties())
		return
	}
	if op.duplicateLocked(e, &in, now) {
		return
	}
	to := op.arrivalLocked(e, &in, hops, now)
	t.box(Main).expect(to)
	op.arriving = append(op.arriving, to)
	op.move.add(step{e: e, gone: true, keepBody: true}, t.drawing(Op{Kind: OpUpdate, Record: to.record(t.id)}))
}

// duplicateLocked drops a message that the target has seen (DUP-13).
func (op *transferOp) duplicateLocked(e *entry, in *incoming, now int64) bool {
	key, remember, duplicate := op.target.rememberLocked(in, now)
	if duplicate {
		op.move.removeLocked(e)
		return true
	}
	if remember {
		op.keys = append(op.keys, remembered{key, now})
		op.move.change.Ops = append(op.move.change.Ops, Op{
			Kind: OpHistory, Record: MessageRecord{Entity: op.target.id, Enqueued: now}, Data: append([]byte(nil), key[:]...),
		})
	}
	return false
}

// arrivalLocked makes the message's self in the target: a new number and a new enqueued time, the rest as it was
// (FWD-7, SEQ-16, TIME-5, DC-15, EXP-15).
func (op *transferOp) arrivalLocked(e *entry, in *incoming, hops uint8, now int64) *entry {
	t := op.target
	to := &entry{
		seq: t.drawLocked(&op.drawn, t.partitionForLocked(in)), enqueued: now, ttl: t.effectiveTTLLocked(e.ttl),
		row: e.row, body: e.body, state: Active,
	}
	x := extra{overlay: e.overlay(), enqueuedSeq: e.enqueuedSeq(), hops: hops, source: e.source()}
	if x.enqueuedSeq == 0 {
		x.enqueuedSeq = e.seq
	}
	if e.sub == DeadLetter {
		x.source = op.q.path // DLQ-10
		x.reason = e.reason()
	}
	if due := int64(in.info.Scheduled); in.info.HasScheduled && due > now {
		to.state, x.due = Scheduled, due
	}
	to.setExtra(x)
	if t.options.RequiresSession {
		to.session = t.sessionLocked(in.info.GroupID)
	}
	return to
}

// inspect reads the message's properties. Its body is in memory.
func (op *transferOp) inspect(e *entry) (incoming, error) {
	m, err := message.Scan(e.body.data)
	if err != nil {
		return incoming{}, err
	}
	info, err := m.Info()
	return incoming{raw: e.body.data, info: info}, err
}
