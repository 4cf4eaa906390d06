package emulator

import (
	"math"
	"slices"

	"minibus/emulator/filter"
)

// QueueBrowser shows the active messages of a sub-queue in the order of their numbers, locked ones too, each once. It
// locks, counts and changes nothing, and never stands in the way of consumers. Its methods must not be called from two
// goroutines at once.
type QueueBrowser struct {
	// immutable
	q        *Entity
	sub      SubQueue
	selector *filter.Selector // nil: all
	notify   func()

	// guarded by q.mu
	next   int64       // what has lower numbers was looked at
	found  []*Delivery // that are to be handed out
	wanted int         // how many more the last Next asked for
	active bool        // a goroutine searches
	closed bool

	// owned by the caller
	atEnd     bool
	most      int // bytes of the largest message that Next gives out; 0: any
	overLimit int // bytes of the message that the last Next did not give out; 0: none
}

// NewQueueBrowser starts to browse a sub-queue at its first message; with a selector, only what it selects is shown.
// notify says: call Next again, or look whether the deliveries have become ready. It runs on any goroutine, possibly
// under the entity's mutex: it must only set a flag or post. Errors are those of NewConsumer, but for the number of
// receivers.
func (q *Entity) NewQueueBrowser(sub SubQueue, s *filter.Selector, notify func()) (*QueueBrowser, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.receiveUnordered(sub); err != nil {
		return nil, err
	}
	q.usage.touch(q.ns.Now())
	return &QueueBrowser{q: q, sub: sub, selector: s, notify: notify, next: math.MinInt64}, nil
}

// Limit makes Next stop at the first message of more than so many bytes. [QueueBrowser.OverLimit] has its size then.
func (b *QueueBrowser) Limit(bytes int) { b.most = bytes }

// OverLimit returns the size of the message at which the last Next stopped, as [Delivery.Size] does; 0 if it did not.
func (b *QueueBrowser) OverLimit() int { return b.overLimit }

// over reports whether a message is above the limit, and notes its size then.
func (b *QueueBrowser) over(size uint32) bool {
	if b.most == 0 || int(size) <= b.most {
		return false
	}
	b.overLimit = int(size)
	return true
}

// Next appends up to limit messages to dst, a quantum at most, those with the lowest numbers first. With a selector
// they may have to be found first; then the browser is notified. A delivery may not be ready at once: see
// [Delivery.Ready]. It has no lock.
func (b *QueueBrowser) Next(dst []*Delivery, limit int) []*Delivery {
	if limit <= 0 {
		return dst
	}
	limit = min(limit, Quantum)
	q := b.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if b.closed || q.may.receive(b.sub) != nil {
		b.atEnd = true
		return dst
	}
	q.usage.touch(q.ns.Now()) // PEEK-11
	b.atEnd, b.overLimit = false, 0
	n := 0
	for n < min(limit, len(b.found)) && !b.over(b.found[n].size) {
		n++
	}
	b.fetch(b.found[:n])
	dst = append(dst, b.found[:n]...)
	b.found = slices.Delete(b.found, 0, n)
	b.wanted = limit - n
	switch {
	case b.wanted == 0 || b.active || b.overLimit > 0:
	case b.selector == nil:
		more, end := b.lookLocked(b.wanted, b.over)
		b.atEnd = end
		b.fetch(more)
		dst = append(dst, more...)
	case !b.leftLocked():
		b.atEnd = true
	default:
		b.search()
	}
	return dst
}

// AtEnd reports whether the last Next came to the end: there was nothing more to show. What arrives later is seen by a
// later Next.
func (b *QueueBrowser) AtEnd() bool { return b.atEnd }

// Close ends the browser.
func (b *QueueBrowser) Close() {
	b.q.mu.Lock()
	b.closed = true
	b.found = nil
	b.q.mu.Unlock()
}

// eachLocked calls f for the messages that are to be looked at next, until it returns false. Those on their way in are
// passed over where others are behind them, and seen later where not.
func (b *QueueBrowser) eachLocked(f func(*entry) bool) {
	now := b.q.ns.Now()
	b.q.subQueue(b.sub).look(b.next, func(e *entry) bool {
		if e.mark == markPending {
			return true
		}
		if e.state == Active && !b.q.overLocked(e, now) && !f(e) {
			return false
		}
		b.next = e.seq + 1
		return true
	})
}

// lookLocked makes deliveries of the next messages, whose bodies may not be there, and reports whether it came to the
// end.
func (b *QueueBrowser) lookLocked(limit int, over func(size uint32) bool) (found []*Delivery, end bool) {
	bytes := 0
	end = true
	b.eachLocked(func(e *entry) bool {
		if len(found) == limit || bytes >= quantumBytes || over(e.body.size) {
			end = false
			return false
		}
		d := newPeekDelivery(b.q, e, b.notify)
		d.body = e.body.data
		found = append(found, d)
		bytes += int(e.body.size)
		return true
	})
	return found, end
}

// leftLocked reports whether there is something to look at.
func (b *QueueBrowser) leftLocked() (left bool) {
	b.eachLocked(func(*entry) bool {
		left = true
		return false
	})
	return left
}

// fetch makes deliveries ready, now or when their bodies were read.
func (b *QueueBrowser) fetch(ds []*Delivery) {
	var missing []*Delivery
	for _, d := range ds {
		if d.body == nil {
			missing = append(missing, d)
		} else {
			d.become(deliveryReady, d.body)
		}
	}
	if len(missing) > 0 {
		b.read(missing)
	}
}

// read reads bodies. If the journal fails it tries again later: what is behind them is not shown before.
func (b *QueueBrowser) read(missing []*Delivery) {
	b.q.bodies.read(missing, func(err error) {
		if err != nil {
			b.q.ns.logger.Error("messages could not be read for a browser; trying again", "entity", b.q.path,
				"error", err)
			b.later(func() { b.read(missing) })
			return
		}
		for _, d := range missing {
			if d.body == nil { // it was removed meanwhile
				d.become(deliveryLost, nil)
			} else {
				d.become(deliveryReady, d.body)
			}
		}
		b.notify()
	})
}

// later calls f when failed work is tried again, unless the browser is closed by then.
func (b *QueueBrowser) later(f func()) {
	q := b.q
	q.ns.clock.At(instant(q.alarm.later()), func() {
		q.mu.Lock()
		over := b.closed || q.alarm.stopped
		q.mu.Unlock()
		if !over {
			f()
		}
	})
}

// search sets a goroutine to look for messages that are selected. It lives until it has found as many as are wanted, or
// has come to the end.
func (b *QueueBrowser) search() {
	b.active = true
	b.q.ns.background.add()
	go func() {
		defer b.q.ns.background.done()
		for b.searchSome() {
		}
		b.notify()
	}()
}

// searchSome looks at a few messages and reports whether to go on.
func (b *QueueBrowser) searchSome() (more bool) {
	q := b.q
	q.mu.Lock()
	from := b.next
	ds, end := b.lookLocked(peekChunk, func(uint32) bool { return false })
	q.mu.Unlock()
	bytes := 0
	for _, d := range ds {
		bytes += int(d.size)
	}
	done := q.ns.common.enterSearch(bytes)
	err := q.bodies.readAll(ds)
	if err != nil {
		q.ns.logger.Error("messages could not be read for a browser; trying again", "entity", q.path, "error", err)
	} else {
		ds = slices.DeleteFunc(ds, func(d *Delivery) bool { return !b.selects(d) })
	}
	done()
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		b.next = from // and nothing is looked for before the journal is tried again
		b.later(func() {
			q.mu.Lock()
			b.active = false
			q.mu.Unlock()
			b.notify()
		})
		return false
	}
	b.found = append(b.found, ds...)
	bytes = 0
	for _, d := range b.found {
		bytes += int(d.size)
	}
	b.active = !end && len(b.found) < b.wanted && bytes < quantumBytes && !b.closed && q.may.search(b.sub)
	return b.active
}

// selects reports whether the selector selects a message. Of a large one it forgets the body.
func (b *QueueBrowser) selects(d *Delivery) bool {
	if d.body == nil {
		return false // it was removed meanwhile
	}
	if m, err := d.filterMessage(); err != nil || !b.selector.Selects(&m) {
		return false
	}
	if d.size > quantumBytes {
		d.body = nil // read again when it is handed out
	}
	return true
}
