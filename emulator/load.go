package emulator

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// load builds the namespace from the journal.
func (ns *Namespace) load() error {
	l := &loader{ns: ns, byID: make(map[int64]*Queue), bodies: make(map[int64]*sharedBody)}
	if err := ns.journal.Load(l); err != nil {
		return fmt.Errorf("load the journal: %w", err)
	}
	if err := l.linkSubscriptions(); err != nil {
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
	all := ns.entities(anyKind)
	for _, q := range all {
		for more := true; more; {
			q.mu.Lock()
			more = q.runDueLocked(ns.Now())
			q.mu.Unlock()
		}
	}
	ns.reading.wait()
	if err := ns.flush(); err != nil {
		return fmt.Errorf("treat what fell due while the broker was down: %w", err)
	}
	for _, q := range all {
		q.mu.Lock()
		q.opened = ns.Now() // idle clocks restart
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
	ns            *Namespace
	byID          map[int64]*Queue
	subscriptions []loadedSubscription
	bodies        map[int64]*sharedBody // those with a copy whose row is not the body's own
	lastRow       int64
}

// loadedSubscription waits for its topic, which may come later.
type loadedSubscription struct {
	r EntityRecord
	o SubscriptionOptions
}

// LoadEntity takes in one entity.
func (l *loader) LoadEntity(r EntityRecord) error {
	l.lastRow = max(l.lastRow, r.ID)
	var err error
	switch r.Kind {
	case KindQueue:
		var o QueueOptions
		if err = json.Unmarshal(r.Options, &o); err == nil {
			err = l.admit(newQueue(l.ns, r.ID, KindQueue, r.Path, o), r)
		}
	case KindTopic:
		var o TopicOptions
		if err = json.Unmarshal(r.Options, &o); err == nil {
			err = l.admit(newTopic(l.ns, r.ID, r.Path, o), r)
		}
	case KindSubscription:
		var o SubscriptionOptions
		if err = json.Unmarshal(r.Options, &o); err == nil {
			l.subscriptions = append(l.subscriptions, loadedSubscription{r, o})
		}
	default:
		return fmt.Errorf("entity %q is of the unknown kind %d", r.Path, r.Kind)
	}
	if err != nil {
		return fmt.Errorf("read the settings of %q: %w", r.Path, err)
	}
	return nil
}

func (l *loader) admit(q *Queue, r EntityRecord) error {
	for _, x := range r.Last {
		c := &q.counters[int(x.Partition)%len(q.counters)]
		c.last = x.Seq &^ c.base
		c.committed = c.last
	}
	l.byID[q.id] = q
	l.ns.catalog.add(q)
	return q.restoreTimes(r.Options)
}

// linkSubscriptions makes the subscriptions, now that all topics are there. It is called before the first message.
func (l *loader) linkSubscriptions() error {
	for _, x := range l.subscriptions {
		path, _, _ := splitPath(x.r.Path)
		topic := l.ns.catalog.byKey[strings.ToLower(path)]
		if topic == nil || topic.fan == nil {
			return fmt.Errorf("subscription %q has no topic", x.r.Path)
		}
		q := newSubscription(topic, x.r.ID, x.r.Path, x.o)
		s := q.subscription
		var err error
		if s.rules, err = s.compileAll(x.o.Rules, l.ns.Now(), LimitsRelaxed); err != nil {
			return fmt.Errorf("read the rules of %q: %w", x.r.Path, err)
		}
		if err := l.admit(q, x.r); err != nil {
			return err
		}
		topic.fan.order(s.rules)
		topic.fan.admit(s)
	}
	l.subscriptions = nil
	return nil
}

// entity returns the entity that something loaded belongs to.
func (l *loader) entity(id int64) (*Queue, error) {
	if len(l.subscriptions) > 0 {
		if err := l.linkSubscriptions(); err != nil {
			return nil, err
		}
	}
	if q := l.byID[id]; q != nil {
		return q, nil
	}
	return nil, fmt.Errorf("entity %d is unknown", id)
}

// LoadMessage takes in one message.
func (l *loader) LoadMessage(r *MessageRecord) error {
	q, err := l.entity(r.Entity)
	if err != nil {
		return fmt.Errorf("message %d: %w", r.Row, err)
	}
	if int(r.Sub) >= len(q.boxes) || r.State > Scheduled {
		return fmt.Errorf("message %d of %q has sub-queue %d and state %d, which do not exist", r.Row, q.path, r.Sub, r.State)
	}
	e := &entry{
		seq: r.Seq, first: r.EnqueuedSeq, enqueued: r.Enqueued, ttl: r.TTL, row: r.Row, count: r.DeliveryCount, state: r.State, sub: r.Sub,
		body: l.body(q, r),
	}
	e.setExtra(extra{
		due: r.Scheduled, overlay: r.Overlay, system: r.System, reason: r.Reason, hops: r.Hops, source: r.Source,
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
	q, err := l.entity(entity)
	if err != nil {
		return fmt.Errorf("state of session %q: %w", id, err)
	}
	s := q.sessionLocked(id)
	s.state, s.updated = state, updated
	q.weighStateLocked(int64(len(state)))
	return nil
}

// LoadHistory takes in a message id that duplicate detection remembers.
func (l *loader) LoadHistory(entity int64, key [16]byte, at int64) error {
	q, err := l.entity(entity)
	if err != nil {
		return fmt.Errorf("remembered message id: %w", err)
	}
	q.history.add(key, at)
	return nil
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
		if len(l.bodies) > 0 && e.row == e.body.id {
			if shared := l.bodies[e.row]; shared != nil {
				shared.count(q, e.body)
			}
		}
		q.joinLocked(e.body)
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
