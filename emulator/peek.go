package emulator

import "slices"

// Limits of one peek (PEEK-6).
const (
	maxPeek      = 250
	peekOverhead = 512 // bytes that the broker adds to a message, about
	peekChunk    = 64  // messages looked at in one critical section
	maxPeekReply = 1 << 18
)

// Peek looks at up to max messages of a sub-queue whose numbers are at least from, in the order of their numbers,
// without touching them (PEEK-1, PEEK-4). Active, locked, deferred and scheduled messages are shown (PEEK-2), each
// with its state (PEEK-3); at most 250, and not more than about maxBytes, but at least one if there is any (PEEK-6).
// With omitBody the bodies are left out (PEEK-14).
//
// Messages that have expired are not shown, even if their timer is late or their removal is still being written, but
// for locked and deferred ones; with lazy expiry all that are there are (PEEK-10, DEC-22).
//
// With a session Peek shows only its messages; the session need not be locked (PEEK-7).
//
// done is called once with the messages, which are ready, possibly before Peek returns and on any goroutine. A
// synchronous error means that it will not be called: CodeArgument for a max that is not positive (PEEK-12).
func (q *Entity) Peek(p Peek, done func([]*Delivery, error)) error {
	if p.Max <= 0 {
		return errorf(CodeArgument, q.path, "The number of messages to peek must be greater than zero; it is %d.",
			p.Max)
	}
	if p.MaxBytes <= 0 {
		p.MaxBytes = maxPeekReply
	}
	p.Max = min(p.Max, maxPeek)
	b := peek{Peek: p, q: q, done: done}
	return b.run()
}

// Peek says what to look at.
type Peek struct {
	Sub       SubQueue
	From      int64   // lowest sequence number
	Max       int     // messages
	MaxBytes  int     // about; 0: 256 KiB
	OmitBody  bool    // PEEK-14
	SessionID *string // only this session's messages; nil: all

	Reserve Reserve // asked before bodies are read, unless nil
}

// peek is one call of Peek.
type peek struct {
	Peek
	q    *Entity
	done func([]*Delivery, error)
	now  int64

	found []*Delivery
	bytes int
}

func (b *peek) run() error {
	for more := true; more; {
		b.q.mu.Lock()
		if err := b.q.may.browse(b.Sub); err != nil {
			b.q.mu.Unlock()
			return err
		}
		b.now = b.q.ns.Now()
		b.From, more = b.lookLocked(b.From)
		b.q.usage.touch(b.now) // PEEK-11
		b.q.mu.Unlock()
	}
	if b.Reserve != nil {
		b.Reserve(b.bytes, b.fetch)
	} else {
		b.fetch(nil)
	}
	return nil
}

// fetch gets the bodies of what was found.
func (b *peek) fetch(err error) {
	if err != nil {
		b.done(nil, err)
		return
	}
	var missing []*Delivery
	b.q.mu.Lock()
	for _, d := range b.found {
		if e := b.q.subQueue(b.Sub).findLoose(d.seq); e != nil && e.body.id == d.bodyID && e.body.data != nil {
			d.body = e.body.data
		} else {
			missing = append(missing, d)
		}
	}
	b.q.mu.Unlock()
	if len(missing) == 0 {
		b.done(b.found, nil)
		return
	}
	b.q.bodies.read(missing, b.read)
}

// read ends a peek whose bodies had to be read. One that was removed meanwhile is left out. If all are gone by now it
// looks further: an empty reply would mean that there are no more (PEEK-6).
func (b *peek) read(err error) {
	found, last := b.found, b.found[len(b.found)-1].seq
	found = slices.DeleteFunc(found, func(d *Delivery) bool { return d.body == nil })
	if err == nil && len(found) == 0 {
		b.From = last + 1
		b.found, b.bytes = nil, 0
		if err = b.run(); err == nil {
			return
		}
	}
	if err != nil {
		found = nil
	}
	b.done(found, err)
}

// lookLocked notes the next messages and returns where to go on, and whether to.
func (b *peek) lookLocked(from int64) (next int64, more bool) {
	looked := 0
	b.q.messagesLocked(b.Sub, b.SessionID).look(from, func(e *entry) bool {
		if looked++; looked > peekChunk {
			more = true
			return false
		}
		next = e.seq + 1
		if e.mark == markPending || b.q.overLocked(e, b.now) {
			return true
		}
		size := int(e.body.size) + peekOverhead
		if len(b.found) > 0 && b.bytes+size > b.MaxBytes {
			return false
		}
		b.bytes += size
		d := newPeekDelivery(b.q, e, nil)
		d.withState = true
		d.omitBody = b.OmitBody
		if e.state == Deferred {
			d.until = e.deferredUntil()
		}
		b.found = append(b.found, d)
		return len(b.found) < b.Max
	})
	return next, more
}

// overLocked reports whether e has expired and only the timer, or the journal, has not got round to it yet (PEEK-10).
func (q *Entity) overLocked(e *entry, now int64) bool {
	return !q.ns.common.lazy && e.lock == nil && e.state == Active && e.expired(now)
}

// messagesLocked returns the entries of a sub-queue or, where sessions have entries of their own, of a session.
func (q *Entity) messagesLocked(sub SubQueue, session *string) messageIterator {
	if session == nil || !q.options.RequiresSession || sub != Main {
		return &q.subQueue(sub).log
	}
	if s := q.sessions.find(*session); s != nil {
		return sessionMessages{s, &q.subQueue(Main).log}
	}
	return &log{}
}
