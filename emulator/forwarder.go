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

// forwarder moves the messages of an entity to where they are forwarded (FWD-3). The entity's mutex guards it.
type forwarder struct {
	q       *Entity
	active  [2]bool  // it works on Main, DeadLetter
	retryAt [2]int64 // ms
	parked  parked   // of DeadLetter
	running running  // its goroutines; none begins once the entity is deleted
}

// startLocked sets a goroutine to work on a sub-queue whose messages are forwarded (FWD-3), if none is and there is
// something to move. It lives as long as there is; there is at most one per sub-queue, which keeps the messages in
// order (FWD-16).
func (f *forwarder) startLocked(sub SubQueue) {
	if sub > DeadLetter || f.active[sub] || !f.mayStartLocked(sub) {
		return
	}
	f.active[sub] = true
	f.q.ns.background.add()
	f.running.add()
	go func() {
		defer f.q.ns.background.done()
		defer f.running.done()
		for f.forwardSome(sub) {
		}
	}()
}

// mayStartLocked reports whether there is something to forward, now. A disabled source pauses (FWD-17).
func (f *forwarder) mayStartLocked(sub SubQueue) bool {
	return f.q.options.forwardTarget(sub) != "" && !f.q.alarm.stopped && f.q.ns.stage.Load() == stageThere &&
		f.q.may.settle() == nil &&
		f.q.subQueue(sub).available > 0 && f.q.ns.Now() >= f.retryAt[sub]
}

// forwardSome moves up to a quantum of messages and reports whether to go on.
func (f *forwarder) forwardSome(sub SubQueue) bool {
	f.q.mu.Lock()
	if !f.mayStartLocked(sub) {
		f.active[sub] = false
		f.q.mu.Unlock()
		return false
	}
	f.q.ns.ownActions.Add(1)
	name := f.q.options.forwardTarget(sub)
	picked := f.pickLocked(sub)
	f.q.mu.Unlock()
	if err := f.forwardTo(name, sub, picked); err != nil {
		f.q.ns.logger.Error("messages could not be forwarded; trying again", "entity", f.q.path, "target", name,
			"error", err)
		f.pause(sub)
	}
	return true
}

// forwardTo moves messages, or does with them what has to be done if the target does not take them, and waits until
// that is written. An error means that it could not be: the messages are where they were.
func (f *forwarder) forwardTo(name string, sub SubQueue, picked []*entry) error {
	target, err := f.q.ns.Entity(name)
	if err == nil && target.subscription != nil {
		err = target.may.missing() // FWD-1: subscriptions are never targets
	}
	var list []forwarded
	if err == nil {
		list, err = f.read(picked)
	}
	if err != nil {
		return f.refuse(sub, picked, err)
	}
	list, failed := f.screen(sub, list, target)
	if len(list) == 0 {
		return failed
	}
	op := newTransfer(f.q, target, nil)
	if why := op.start(list); why != nil {
		return cmp.Or(failed, f.refuse(sub, entriesOf(list), why))
	}
	return cmp.Or(failed, <-op.result)
}

// pickLocked takes the next available messages and marks them as being transferred.
func (f *forwarder) pickLocked(sub SubQueue) []*entry {
	b := f.q.subQueue(sub)
	now := f.q.ns.Now()
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
	f.q.messages.expire(expired, now)
	return picked
}

// forwarded is a message that is being forwarded: an entry that is busy, and so belongs to the forwarder, with what
// it needs to know of it.
type forwarded struct {
	e       *entry
	in      incoming
	damaged bool   // in is of the substitute of its body
	moved   *moved // by a job; nil: forwarded
}

// moved describes the new self of a message that a job moves.
type moved struct {
	extra      // of its self in the target
	fresh bool // it has a body of its own
}

// read waits until the bodies of entries are there and reads their properties.
func (f *forwarder) read(entries []*entry) ([]forwarded, error) {
	list := make([]forwarded, len(entries))
	raws := make([][]byte, len(entries))
	read := &BodyRead{}
	f.q.mu.Lock()
	for i, e := range entries {
		if raws[i] = e.body.data; raws[i] == nil {
			read.IDs = append(read.IDs, e.body.id)
		}
	}
	f.q.mu.Unlock()
	if len(read.IDs) > 0 {
		if err := await(func(done Completion) {
			read.Done = done
			f.q.ns.journal.ReadBodies(read)
		}); err != nil {
			return nil, err
		}
	}
	next := 0
	for i, e := range entries {
		if raws[i] == nil {
			raws[i], list[i].damaged = f.q.bodies.of(e, read, next)
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

// maxTransfers is when a message that has come too far does not leave its dead-letter queue any more. Before, the
// limit does not hold there (FWD-10), but circles that turn by themselves have to end (DEC-29).
const maxTransfers = 64

// circles reports whether e goes in such a circle: far, and to the dead-letter queue for a reason for which it takes
// neither time nor a client, so that it will be back at once.
func (e *entry) circles() bool {
	if e.extras().hops < maxTransfers {
		return false
	}
	switch e.extras().reason {
	case hopCountExceeded, entityNotFound, bodyDamaged, // from the entity itself
		filter.FilterException, filter.RuleActionException, sessionIDIsNull, headerSizeExceeded: // from a topic
		return true
	}
	return false
}

// screen takes out the messages that can't be forwarded to the target, whatever its state, and returns the others:
// those that went too far (FWD-8, FWD-10), those without the session id that the target needs (FWD-6), those that are
// too large for it (FWD-7), and those whose body is damaged. They are dead-lettered here, or, in a dead-letter queue,
// parked. The error is as of forwardTo.
func (f *forwarder) screen(sub SubQueue, list []forwarded, target *Entity) (good []forwarded, err error) {
	needsSession, limit := target.Options().RequiresSession, target.MaxMessageSize()
	var bad []*entry
	var reasons map[*entry][]byte // of the bad ones
	for _, m := range list {
		var reason []byte
		switch size := int64(len(m.in.m.Raw)); {
		case sub == Main && m.damaged:
			reason = deadLetterProperties(bodyDamaged, bodyDamagedText)
		case sub == Main && m.e.extras().hops >= maxHops, sub != Main && m.e.circles():
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
		f.park(bad, target.id, limit)
		return good, nil
	}
	return good, f.deadLetterAll(bad, func(e *entry) []byte { return reasons[e] })
}

func entriesOf(list []forwarded) []*entry {
	entries := make([]*entry, len(list))
	for i, m := range list {
		entries[i] = m.e
	}
	return entries
}

// refuse does with messages what the reason demands that their target does not take them (FWD-11): they go
// to the source's dead-letter queue, or, from a dead-letter queue and after failures of our own, wait and are tried
// again. It waits until that is written.
func (f *forwarder) refuse(sub SubQueue, picked []*entry, why error) error {
	reason := exceptionName(why)
	if sub == DeadLetter || reason == "" {
		f.q.mu.Lock()
		defer f.q.mu.Unlock()
		f.postponeLocked(sub, picked)
		return nil
	}
	return f.deadLetterAll(picked, func(*entry) []byte { return deadLetterProperties(reason, why.Error()) })
}

// postponeLocked puts messages back, to be tried again later.
func (f *forwarder) postponeLocked(sub SubQueue, picked []*entry) {
	f.retryAt[sub] = f.q.alarm.later()
	f.q.alarm.set(f.retryAt[sub])
	for _, e := range picked {
		f.q.messages.free(e, f.q.ns.Now())
	}
}

// deadLetterAll moves messages that can't be forwarded to the dead-letter queue and waits until that is written.
func (f *forwarder) deadLetterAll(entries []*entry, properties func(*entry) []byte) error {
	if len(entries) == 0 {
		return nil
	}
	return await(func(done Completion) {
		f.q.mu.Lock()
		defer f.q.mu.Unlock()
		op := newTransition(f.q, len(entries), done)
		for _, e := range entries {
			op.deadLetterLocked(e, e.count, properties(e), EventDeadLettered, fallback{undo: undoFree})
		}
		op.appendLocked()
	})
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
	case CodeHeaderTooLarge:
		return headerSizeExceeded
	}
	return ""
}

// pause keeps the forwarder of a sub-queue from trying again at once.
func (f *forwarder) pause(sub SubQueue) {
	f.q.mu.Lock()
	f.retryAt[sub] = f.q.alarm.later()
	f.q.alarm.set(f.retryAt[sub])
	f.q.mu.Unlock()
}
