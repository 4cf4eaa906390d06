package emulator

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// load builds the namespace from the journal.
func (ns *Namespace) load() error {
	l := &loader{ns: ns, byID: make(map[int64]*Queue), bodies: make(map[int64]*payload)}
	if err := ns.journal.Load(l); err != nil {
		return fmt.Errorf("load the journal: %w", err)
	}
	ns.lastRow.Store(max(ns.journal.NextRow()-1, l.lastRow))
	for _, q := range l.byID {
		q.mu.Lock()
		for i := range q.boxes {
			l.settleLocked(q, &q.boxes[i])
		}
		q.mu.Unlock()
	}
	return ns.catchUp()
}

// catchUp treats what fell due while the broker was down, and waits until that is durable (DEC-21).
func (ns *Namespace) catchUp() error {
	for _, q := range ns.Queues() {
		for more := true; more; {
			q.mu.Lock()
			more = q.runDueLocked(ns.Now())
			q.mu.Unlock()
		}
	}
	if err := ns.flush(); err != nil {
		return fmt.Errorf("treat what fell due while the broker was down: %w", err)
	}
	for _, q := range ns.Queues() {
		q.mu.Lock()
		q.updated = ns.Now() // idle clocks restart
		for _, s := range q.sessions {
			q.rankLocked(s)
		}
		q.forwardLocked(Main)
		q.forwardLocked(DeadLetter)
		q.rearmNextLocked()
		q.mu.Unlock()
	}
	return nil
}

// flush waits until everything that was appended to the journal is committed. It must not be called on the
// journal's goroutine.
func (ns *Namespace) flush() error {
	done := make(chan error, 1)
	ns.journal.Flush(CompletionFunc(func(err error) { done <- err }))
	return <-done
}

// loader collects what the journal streams.
type loader struct {
	ns      *Namespace
	byID    map[int64]*Queue
	bodies  map[int64]*payload // bodies that have, or may have, more than one copy
	lastRow int64
}

// LoadEntity takes in one entity.
func (l *loader) LoadEntity(r EntityRecord) error {
	l.lastRow = max(l.lastRow, r.ID)
	key := strings.ToLower(r.Path)
	switch r.Kind {
	case KindQueue:
		var o QueueOptions
		if err := json.Unmarshal(r.Options, &o); err != nil {
			return fmt.Errorf("read the settings of queue %q: %w", r.Path, err)
		}
		q := newQueue(l.ns, r.ID, r.Path, o)
		for _, last := range r.Last {
			c := &q.counters[int(last.Partition)%len(q.counters)]
			c.last = last.Seq &^ c.base
			c.committed = c.last
		}
		l.byID[r.ID] = q
		l.ns.queues[key] = q
	case KindTopic:
		t := &topic{id: r.ID, path: r.Path}
		if err := json.Unmarshal(r.Options, &t.options); err != nil {
			return fmt.Errorf("read the settings of topic %q: %w", r.Path, err)
		}
		l.ns.topics[key] = t
	default:
		return fmt.Errorf("entity %q is of the unknown kind %d", r.Path, r.Kind)
	}
	return nil
}

// LoadMessage takes in one message.
func (l *loader) LoadMessage(r *MessageRecord) error {
	q := l.byID[r.Entity]
	if q == nil {
		return fmt.Errorf("message %d belongs to the unknown entity %d", r.Row, r.Entity)
	}
	if int(r.Sub) >= len(q.boxes) || r.State > Scheduled {
		return fmt.Errorf("message %d of %q has sub-queue %d and state %d, which do not exist", r.Row, q.path, r.Sub, r.State)
	}
	e := &entry{
		seq: r.Seq, enqueued: r.Enqueued, ttl: r.TTL, row: r.Row, count: r.DeliveryCount, state: r.State, sub: r.Sub,
		body: l.body(r),
	}
	e.setExtra(extra{
		due: r.Scheduled, overlay: r.Overlay, reason: r.Reason, enqueuedSeq: r.EnqueuedSeq, hops: r.Hops, source: r.Source,
	})
	if q.options.RequiresSession && r.Sub == Main && r.HasSession {
		e.session = q.sessionLocked(r.SessionID)
	}
	l.lastRow = max(l.lastRow, r.Row, r.Body)
	b := &q.boxes[r.Sub]
	// Rows come in no order: collect now, sort once in settleLocked.
	if n := len(b.chunks); n == 0 || len(b.chunks[n-1]) == chunkSize {
		b.chunks = append(b.chunks, newChunk(e))
	} else {
		b.chunks[n-1] = append(b.chunks[n-1], e)
	}
	b.n++
	return nil
}

// LoadSession takes in the state of a session.
func (l *loader) LoadSession(entity int64, id string, state []byte, updated int64) error {
	q := l.byID[entity]
	if q == nil {
		return fmt.Errorf("the state of session %q belongs to the unknown entity %d", id, entity)
	}
	s := q.sessionLocked(id)
	s.state, s.updated = state, updated
	q.stateBytes += int64(len(state))
	return nil
}

// LoadHistory takes in a message id that duplicate detection remembers.
func (l *loader) LoadHistory(entity int64, key [16]byte, at int64) error {
	q := l.byID[entity]
	if q == nil {
		return fmt.Errorf("a remembered message id belongs to the unknown entity %d", entity)
	}
	q.history.add(key, at)
	return nil
}

// body returns the body of a record, shared with the copies that were loaded before.
func (l *loader) body(r *MessageRecord) *payload {
	if r.Body == r.Row {
		return &payload{id: r.Body, size: uint32(r.Size), refs: 1}
	}
	p := l.bodies[r.Body]
	if p == nil {
		p = &payload{id: r.Body, size: uint32(r.Size)}
		l.bodies[r.Body] = p
	}
	p.refs++
	return p
}

// settleLocked sorts a box that was loaded and lets its messages come to rest.
func (l *loader) settleLocked(q *Queue, b *box) {
	all := make([]*entry, 0, b.n)
	for _, c := range b.chunks {
		all = append(all, c...)
	}
	if !sort.SliceIsSorted(all, func(i, j int) bool { return all[i].seq < all[j].seq }) {
		sort.Slice(all, func(i, j int) bool { return all[i].seq < all[j].seq })
	}
	b.chunks, b.n = nil, 0
	for _, e := range all {
		b.insert(e)
		b.admit(e)
		switch {
		case e.state == Scheduled:
			q.dues.add(e, e.due())
		case e.ttl > 0 && e.sub == Main && !q.ns.lazy:
			q.expiries.add(e, e.expires())
		}
	}
}
