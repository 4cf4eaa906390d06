package emulator

import (
	"sync/atomic"

	"minibus/emulator/filter"
)

// Quantum is how many messages one Take gives out at most, so that consumers of a queue take turns (DEC-27). It gives
// no more either once they have quantumBytes: their bodies are read from disk before the first of them is written. A
// forwarder takes as much at a time.
const (
	Quantum      = 64
	quantumBytes = 1 << 20
)

// Consumer is one receiving link on a sub-queue. Its methods must not be called from two goroutines at once.
type Consumer struct {
	// immutable
	q    *Entity
	sub  SubQueue
	mode ReceiveMode

	ready         *readyQueue    // by which it is served
	selectorIndex *selectorIndex // of its selector; nil: it takes any message
	session       *session       // nil: not a session receiver
	asked         string         // the session's id as its receiver calls it (SESS-35)
	hold          *sessionHold   // of a session receiver
	lost          func(error)    // of a session receiver
	since         int64          // ms

	most      int // bytes of the largest message that Take gives out; 0: any
	overLimit int // bytes of the message that the last Take did not give out; 0: none

	client *Client // guarded by q.mu; nil: unknown
	waiter
	ended []*Lock // guarded by q.mu

	someEnded atomic.Bool // there is something in ended
}

// NewConsumer attaches a consumer to a sub-queue. notify says: call Take again, look whether your deliveries have
// become ready, or ask which locks have Ended. It runs on any goroutine, possibly under the queue's mutex: it must
// only set a flag or post. Every notify must be answered with a Take, if only with one of zero. An entity with
// sessions takes session receivers only (SESS-5); its dead-letter queue takes plain ones (DLQ-6). Beyond the
// profile's limit the error is CodeQuotaExceeded (QUO-12).
func (q *Entity) NewConsumer(sub SubQueue, mode ReceiveMode, notify func()) (*Consumer, error) {
	return q.NewSelectingConsumer(sub, mode, nil, notify)
}

// NewSelectingConsumer attaches a consumer, as NewConsumer does, that takes only messages that a selector selects; nil:
// any. The others stay where they are, for other consumers. At most 1,000 different selectors are in use at a
// sub-queue; beyond, the error is CodeQuotaExceeded.
func (q *Entity) NewSelectingConsumer(sub SubQueue, mode ReceiveMode, selector *filter.Selector,
	notify func()) (*Consumer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.receiveUnordered(sub); err != nil {
		return nil, err
	}
	if err := q.may.addReceiver(); err != nil {
		return nil, err
	}
	s := &q.subQueue(sub).readyQueue
	if s.waiters == nil {
		s.waiters = &waitList{}
	}
	now := q.ns.Now()
	c := &Consumer{q: q, sub: sub, mode: mode, waiter: waiter{notify: notify}, ready: s, since: now}
	if selector != nil {
		var err error
		if c.selectorIndex, err = q.subQueue(sub).selectorIndexFor(q, selector); err != nil {
			return nil, err
		}
	}
	q.may.receivers().Add(1)
	q.usage.touch(now)
	q.attached.add(c)
	return c, nil
}

// Introduce says whose consumer it is, for those who ask (see [Entity.Why]).
func (c *Consumer) Introduce(w *Client) {
	c.q.mu.Lock()
	c.client = w
	c.q.mu.Unlock()
}

// holder returns whose consumer it is; nil: no consumer, or unknown.
func holder(c *Consumer) *Client {
	if c == nil {
		return nil
	}
	return c.client
}

// attachedLocked implements attachment.
func (c *Consumer) attachedLocked() Attached {
	a := Attached{Client: c.client, Sub: c.sub, Mode: c.mode, Since: c.since, Available: int(c.ready.available),
		Asking: c.waiting || c.promise > 0}
	if c.session != nil {
		a.Session, a.Until = &c.session.id, c.hold.until
	}
	if c.selectorIndex != nil {
		a.Selector, a.Available = c.selectorIndex.selector.String(), c.selectorIndex.readyUpTo(maxCounted)
	}
	return a
}

// maxCounted is how many messages are counted at most for a consumer with a selector, to be shown.
const maxCounted = 4096

// waitList returns the list in which the consumer waits.
func (c *Consumer) waitList() *waitList {
	if c.selectorIndex != nil {
		return &c.selectorIndex.waiters
	}
	return c.ready.waiters
}

// answer notes that the consumer answers a poke, if it was poked.
func (c *Consumer) answer() (poked bool) {
	poked = c.promise > 0
	c.waitList().promised -= c.promise
	if c.selectorIndex != nil {
		c.selectorIndex.indexes.promised -= c.promise
	}
	c.promise = 0
	return poked
}

// spare returns how many of the messages that are available are not promised to others.
func (c *Consumer) spare() int {
	if in := c.q.subQueue(c.sub).selectorIndexes; in != nil {
		return in.spare() // where there are selectors, there are no sessions
	}
	return int(c.ready.available) - c.ready.waiters.promised
}

// wake pokes others who can take what the consumer has left.
func (c *Consumer) wake() {
	if c.session != nil {
		c.ready.wake()
	} else {
		c.q.subQueue(c.sub).wake()
	}
}

// Incomplete reports whether the last Take found less than it was asked for before the consumer's selector was
// evaluated on all that waits, so that there may be more. The consumer is notified when that changes. For a consumer
// without a selector it is false.
func (c *Consumer) Incomplete() bool { return c.incomplete }

// Limit makes Take stop at the first message of more than so many bytes. [Consumer.OverLimit] has its size then.
func (c *Consumer) Limit(bytes int) { c.most = bytes }

// OverLimit returns the size of the message at which the last Take stopped, as [Delivery.Size] does; 0 if it did not.
func (c *Consumer) OverLimit() int { return c.overLimit }

// Take appends up to max messages, a quantum at most (64, or 1 MiB), to dst, those with the lowest numbers first
// (ORD-1). If there are fewer the consumer waits, in the order in which consumers granted credit (ORD-4), and is
// notified when there is something to take. Take(dst, 0) says that the consumer can't take anything now: it leaves
// the wait list, and what it was notified of goes to the next.
//
// In peek-lock mode the messages are locked from now on (LOCK-2). A delivery may not be ready at once: see
// [Delivery.Ready].
func (c *Consumer) Take(dst []*Delivery, limit int) []*Delivery {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.closed {
		return dst
	}
	poked := c.answer()
	c.overLimit = 0
	c.incomplete = false
	now := q.ns.Now()
	if limit <= 0 || q.may.receive(c.sub) != nil {
		c.stopWaitingLocked(poked, now)
		c.wake()
		return dst
	}
	taken, full := c.pickLocked(min(limit, Quantum, c.spare()), now)
	c.incomplete = c.selectorIndex != nil && len(taken) < limit && !full && c.selectorIndex.incomplete()
	c.startWaitingLocked(limit, len(taken), full, poked)
	if len(taken) > 0 {
		q.usage.touch(now)
		dst = append(dst, c.deliverLocked(taken, now)...)
	}
	c.wake()
	return dst
}

// Err returns why nothing can be received any more, as after a change of the entity (LOCK-17); nil: a consumer that
// takes again goes on, as the same receiver among those of the entity (QUO-12).
func (c *Consumer) Err() error {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	return c.q.may.receive(c.sub)
}

// stopWaitingLocked takes the consumer out of the wait list. Until now it was receiving (IDLE-5).
func (c *Consumer) stopWaitingLocked(poked bool, now int64) {
	if c.waiting || poked {
		c.q.usage.touch(now)
	}
	c.waitList().remove(&c.waiter)
}

// pickLocked returns up to n available entries, without changing them yet, and whether it stopped because of their
// size or number; expired ones go where expired messages go instead (EXP-5, EXP-7).
func (c *Consumer) pickLocked(n int, now int64) (picked []*entry, full bool) {
	if n <= 0 || c.ready.returning > 0 {
		return nil, false
	}
	b := c.q.subQueue(c.sub)
	picked = make([]*entry, 0, n)
	var expired []*entry
	bytes := 0
	for len(picked) < n && bytes < quantumBytes {
		var e *entry
		switch {
		case c.session != nil:
			e = c.session.nextReady(&b.log)
		case c.selectorIndex != nil:
			e = c.selectorIndex.nextReady()
		default:
			e = b.nextReady()
		}
		if e == nil {
			break
		}
		size, over := int(e.body.size), e.expired(now)
		if c.most > 0 && size > c.most && !over {
			c.overLimit = size
			break
		}
		b.take(e, markBusy)
		if over {
			expired = append(expired, e)
			continue
		}
		picked = append(picked, e)
		bytes += size
	}
	for _, e := range expired {
		b.makeAvailable(e)
	}
	if len(expired) > 0 {
		c.q.messages.expire(expired, now)
	}
	return picked, len(picked) == Quantum || bytes >= quantumBytes || c.overLimit > 0
}

// startWaitingLocked puts a consumer that asked for max and got taken in its place in the wait list.
func (c *Consumer) startWaitingLocked(limit, taken int, full, poked bool) {
	waiters := c.waitList()
	c.want = limit - taken
	switch {
	case c.want == 0 || full:
		waiters.remove(&c.waiter) // it has what it asked for, or it comes back at once
		return
	case taken == 0 && c.waiting:
		return
	case taken == 0 && poked:
		waiters.pushFront(&c.waiter) // another consumer was faster; this one keeps its turn
		return
	}
	waiters.remove(&c.waiter)
	waiters.pushBack(&c.waiter)
	c.ready.waiters.tickets++
	c.ticket = c.ready.waiters.tickets
}

// deliverLocked makes deliveries of entries that pickLocked chose.
func (c *Consumer) deliverLocked(taken []*entry, now int64) []*Delivery {
	ds := make([]*Delivery, len(taken))
	c.q.traffic.Delivered += int64(len(taken))
	record := c.q.ns.common.record
	for i, e := range taken {
		if c.mode == PeekLock {
			c.q.locks.lockForDelivery(e, now)
			e.lock.holder, e.lock.kept = c, true
			if record != nil {
				record.delivered(c.q, e, c.client, now)
			}
		}
		ds[i] = newDelivery(c.q, e, c.notify)
	}
	if c.mode == ReceiveAndDelete {
		c.q.requeues.deliverDeletedLocked(ds, c.client)
		return ds
	}
	c.q.bodies.fetch(ds)
	return ds
}

// Close takes the consumer off the queue. Locks run on (LOCK-10), but a session is free at once, and so are its
// messages (SESS-18). Deliveries that did not reach the wire have to be given back with Return before.
func (c *Consumer) Close() {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.closed {
		return
	}
	if c.session != nil {
		q.sessions.free(c.session, false, q.ns.Now())
		return
	}
	poked := c.answer()
	c.closed = true
	q.attached.remove(c)
	q.may.receivers().Add(-1)
	c.stopWaitingLocked(poked, q.ns.Now())
	if c.selectorIndex != nil {
		c.selectorIndex.leave(q.ns.Now())
	}
	c.wake()
}

// Settle settles a delivery of this consumer, as [Entity.Settle] does. Whatever comes of it, the receiver forgets the
// delivery and is not told when the lock ends, unless a transaction has taken the message.
func (c *Consumer) Settle(l *Lock, s Settlement, done Completion) error {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	l.kept = l.kept && l.tx != nil
	token := [1]LockToken{l.token}
	return c.q.locks.settle(token[:], s, c.client, done)
}

// GiveUp ends the lock of a delivery that the client has settled in a transaction which does not take it. Nobody can
// settle it again, so the delivery has failed (JMS-5). A lock that is over, or that a transaction has, stays as it is.
func (c *Consumer) GiveUp(l *Lock) {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.ns.Now()
	if e := q.locks.entryOfToken(l.token, now); e != nil && q.may.use() == nil {
		l.kept = false
		q.locks.fail([]*entry{e}, EventAbandoned, now)
	}
}

// lockEndedLocked notes that a lock of the consumer has ended.
func (c *Consumer) lockEndedLocked(l *Lock) {
	l.kept = false
	if c.closed {
		return
	}
	c.ended = append(c.ended, l)
	if !c.someEnded.Swap(true) {
		c.notify()
	}
}

// Ended returns the locks of the consumer's deliveries that have ended since the last call, other than by its own
// Settle and Return: their time is over, or their messages were settled by token. The consumer is notified when there
// are some. Those of their deliveries that are not written yet are gone.
func (c *Consumer) Ended() []*Lock {
	if !c.someEnded.Load() {
		return nil
	}
	c.q.mu.Lock()
	ended := c.ended
	c.ended = nil
	c.someEnded.Store(false)
	c.q.mu.Unlock()
	for _, l := range ended {
		l.over = true
	}
	return ended
}

// Return gives back deliveries that never reached the wire. They are available again at once, with number and
// delivery count unchanged (LOCK-13, RAD-5), those that were received and deleted once they are stored again.
func (c *Consumer) Return(ds []*Delivery) {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.ns.Now()
	for i := len(ds) - 1; i >= 0; i-- {
		ds[i].returnLocked(now)
	}
}
