package emulator

import (
	"cmp"
	"errors"

	"minibus/emulator/filter"
)

// maxHops is how many transfers a message survives (FWD-8).
const maxHops = 4

// hopCountExceeded is the reason of those that would need more (DLQ-R5).
const hopCountExceeded = "MaxTransferHopCountExceeded"

// entityNotFound is the reason of those whose target does not exist (FWD-12).
const entityNotFound = "MessagingEntityNotFoundException"

// forwardLocked sets a mover to work on a sub-queue whose messages are forwarded (FWD-3), if none is and there is
// something to move. Movers are goroutines that live as long as there is; at most one per sub-queue, which keeps the
// messages in order (FWD-16).
func (q *Queue) forwardLocked(sub SubQueue) {
	if sub > DeadLetter || q.forwarding[sub] || !q.mayForwardLocked(sub) {
		return
	}
	q.forwarding[sub] = true
	q.ns.movers.add()
	q.movers.add()
	go func() {
		defer q.ns.movers.done()
		defer q.movers.done()
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
	if err := q.forwardTo(name, sub, picked); err != nil {
		q.ns.logger.Error("messages could not be forwarded; trying again", "entity", q.path, "target", name, "error", err)
		q.pause(sub)
	}
	return true
}

// forwardTo moves messages, or does with them what has to be done if the target does not take them, and waits until that
// is written. An error means that it could not be: the messages are where they were.
func (q *Queue) forwardTo(name string, sub SubQueue, picked []*entry) error {
	target, err := q.ns.Queue(name)
	if err == nil && target.subscription != nil {
		err = target.missing() // FWD-1: subscriptions are never targets
	}
	var list []forwarded
	if err == nil {
		list, err = q.readForwards(picked)
	}
	if err != nil {
		return q.refuseForwards(sub, picked, err)
	}
	list, failed := q.screenForwards(sub, list, target)
	if len(list) == 0 {
		return failed
	}
	op := newTransfer(q, target)
	if why := op.start(list); why != nil {
		return cmp.Or(failed, q.refuseForwards(sub, entriesOf(list), why))
	}
	return cmp.Or(failed, <-op.result)
}

// pickForwardsLocked takes the next available messages and marks them as being transferred.
func (q *Queue) pickForwardsLocked(sub SubQueue) []*entry {
	b := q.box(sub)
	now := q.ns.Now()
	var picked, expired []*entry
	bytes := 0
	for len(picked) < Quantum && bytes < quantumBytes {
		e := b.nextReady()
		if e == nil {
			break
		}
		b.take(e, markBusy)
		if e.expired(now) {
			expired = append(expired, e)
			continue
		}
		b.remark(e, markMoving)
		picked = append(picked, e)
		bytes += int(e.body.size)
	}
	for _, e := range expired {
		b.makeAvailable(e)
	}
	q.expireLocked(expired, now)
	return picked
}

// forwarded is a message that is being forwarded: an entry that is busy, and so belongs to the mover, with what it needs
// to know of it.
type forwarded struct {
	e       *entry
	in      incoming
	damaged bool // in is of the substitute of its body
}

// readForwards waits until the bodies of entries are there and reads their properties.
func (q *Queue) readForwards(entries []*entry) ([]forwarded, error) {
	list := make([]forwarded, len(entries))
	raws := make([][]byte, len(entries))
	read := &BodyRead{}
	q.mu.Lock()
	for i, e := range entries {
		if raws[i] = e.body.data; raws[i] == nil {
			read.IDs = append(read.IDs, e.body.id)
		}
	}
	q.mu.Unlock()
	if len(read.IDs) > 0 {
		done := make(chan error, 1)
		read.Done = CompletionFunc(func(err error) { done <- err })
		q.ns.journal.ReadBodies(read)
		if err := <-done; err != nil {
			return nil, err
		}
	}
	next := 0
	for i, e := range entries {
		if raws[i] == nil {
			raws[i], list[i].damaged = q.bodyOf(e, read, next)
			next++
		}
		in, err := e.reread(raws[i])
		if err != nil {
			return nil, err
		}
		list[i].e, list[i].in = e, in
	}
	return list, nil
}

// maxTransfers is when a message that has come too far does not leave its dead-letter queue any more. Before, the limit does
// not hold there (FWD-10), but circles that turn by themselves have to end (DEC-29).
const maxTransfers = 64

// circles reports whether e goes in such a circle: far, and to the dead-letter queue for a reason for which it takes neither
// time nor a client, so that it will be back at once.
func (e *entry) circles() bool {
	if e.hops() < maxTransfers {
		return false
	}
	switch e.reason() {
	case hopCountExceeded, entityNotFound, bodyDamaged, // from the entity itself
		filter.FilterException, filter.RuleActionException, sessionIDIsNull, headerSizeExceeded: // from a topic
		return true
	}
	return false
}

// screenForwards takes out the messages that can't be forwarded to the target, whatever its state, and returns the
// others: those that went too far (FWD-8, FWD-10), those without the session id that the target needs (FWD-6), those that
// are too large for it (FWD-7), and those whose body is damaged. They are dead-lettered here, or, in a dead-letter queue, parked. The error is as of forwardTo.
func (q *Queue) screenForwards(sub SubQueue, list []forwarded, target *Queue) (good []forwarded, err error) {
	needsSession, limit := target.Options().RequiresSession, target.MaxMessageSize()
	var bad []*entry
	var reasons map[*entry][]byte // of the bad ones
	for _, m := range list {
		var reason []byte
		switch size := int64(len(m.in.m.Raw)); {
		case sub == Main && m.damaged:
			reason = deadLetterProperties(bodyDamaged, bodyDamagedText)
		case sub == Main && m.e.hops() >= maxHops, sub != Main && m.e.circles():
			reason = deadLetterProperties(hopCountExceeded, "The message was forwarded more than 4 times.")
		case needsSession && !m.in.info.HasGroupID:
			reason = sessionIDProperties()
		case size > limit:
			why := messageTooLarge(target.path, size, limit)
			reason = deadLetterProperties(exceptionName(why), why.Error())
		default:
			good = append(good, m)
			continue
		}
		if bad = append(bad, m.e); reasons == nil {
			reasons = make(map[*entry][]byte)
		}
		reasons[m.e] = reason
	}
	if sub != Main {
		q.park(bad, target.id, limit)
		return good, nil
	}
	return good, q.deadLetterAll(bad, func(e *entry) []byte { return reasons[e] })
}

func entriesOf(list []forwarded) []*entry {
	entries := make([]*entry, len(list))
	for i, m := range list {
		entries[i] = m.e
	}
	return entries
}

// refuseForwards does with messages what the reason demands that their target does not take them (FWD-11): they go
// to the source's dead-letter queue, or, from a dead-letter queue and after failures of our own, wait and are tried
// again. It waits until that is written.
func (q *Queue) refuseForwards(sub SubQueue, picked []*entry, why error) error {
	reason := exceptionName(why)
	if sub == DeadLetter || reason == "" {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.postponeLocked(sub, picked)
		return nil
	}
	return q.deadLetterAll(picked, func(*entry) []byte { return deadLetterProperties(reason, why.Error()) })
}

// postponeLocked puts messages back, to be tried again later.
func (q *Queue) postponeLocked(sub SubQueue, picked []*entry) {
	q.retryAt[sub] = q.laterLocked()
	q.rearmLocked(q.retryAt[sub])
	for _, e := range picked {
		q.restLocked(e, q.ns.Now())
	}
}

// deadLetterAll moves messages that can't be forwarded to the dead-letter queue and waits until that is written.
func (q *Queue) deadLetterAll(entries []*entry, properties func(*entry) []byte) error {
	if len(entries) == 0 {
		return nil
	}
	done := make(chan error, 1)
	q.mu.Lock()
	op := q.newMove(len(entries), CompletionFunc(func(err error) { done <- err }))
	op.again = true
	for _, e := range entries {
		op.deadLetterLocked(e, e.count, properties(e))
	}
	op.appendLocked()
	q.mu.Unlock()
	return <-done
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
		return entityNotFound
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
