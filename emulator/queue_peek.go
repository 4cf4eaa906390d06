package emulator

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
// done is called once with the encoded messages, possibly before Peek returns and on any goroutine. A synchronous
// error means that it will not be called: CodeArgument for a max that is not positive (PEEK-12).
func (q *Queue) Peek(sub SubQueue, from int64, max int, maxBytes int, omitBody bool, done func([][]byte, error)) error {
	if max <= 0 {
		return errorf(CodeArgument, q.path, "The number of messages to peek must be greater than zero; it is %d.", max)
	}
	if maxBytes <= 0 {
		maxBytes = maxPeekReply
	}
	b := browse{q: q, sub: sub, max: min(max, maxPeek), maxBytes: maxBytes, omitBody: omitBody, done: done}
	return b.run(from)
}

// browse is one peek.
type browse struct {
	q        *Queue
	sub      SubQueue
	max      int
	maxBytes int
	omitBody bool
	done     func([][]byte, error)

	found []*Delivery
	bytes int
}

func (b *browse) run(from int64) error {
	for more := true; more; {
		b.q.mu.Lock()
		if err := b.q.usableLocked(); err != nil {
			b.q.mu.Unlock()
			return err
		}
		from, more = b.lookLocked(from)
		b.q.touchLocked(b.q.ns.Now()) // PEEK-11
		b.q.mu.Unlock()
	}
	var missing []*Delivery
	for _, d := range b.found {
		if d.body == nil {
			missing = append(missing, d)
		}
	}
	if len(missing) == 0 {
		b.done(b.encode(), nil)
		return nil
	}
	b.q.readLocked(missing, b.read)
	return nil
}

// read ends a peek whose bodies had to be read. If all of its messages are gone by now it looks further: an empty
// reply would mean that there are no more (PEEK-6).
func (b *browse) read(err error) {
	msgs := b.encode()
	if err == nil && len(msgs) == 0 {
		from := b.found[len(b.found)-1].seq + 1
		b.found, b.bytes = nil, 0
		if err = b.run(from); err == nil {
			return
		}
	}
	if err != nil {
		msgs = nil
	}
	b.done(msgs, err)
}

// lookLocked notes the next messages and returns where to go on, and whether to.
func (b *browse) lookLocked(from int64) (next int64, more bool) {
	looked := 0
	b.q.box(b.sub).ascend(from, func(e *entry) bool {
		if looked++; looked > peekChunk {
			more = true
			return false
		}
		next = e.seq + 1
		if e.mark == markPending {
			return true
		}
		size := int(e.body.size) + peekOverhead
		if len(b.found) > 0 && b.bytes+size > b.maxBytes {
			return false
		}
		b.bytes += size
		d := newDelivery(b.q, e, nil)
		d.mode, d.withState, d.body = ReceiveAndDelete, true, e.body.data
		b.found = append(b.found, d)
		return len(b.found) < b.max
	})
	return next, more
}

// encode returns the messages; one that was removed while its body was read is left out.
func (b *browse) encode() [][]byte {
	msgs := make([][]byte, 0, len(b.found))
	for _, d := range b.found {
		if d.body == nil {
			continue
		}
		d.omitBody = b.omitBody
		msgs = append(msgs, d.Append(make([]byte, 0, len(d.body)+peekOverhead)))
	}
	return msgs
}
