package emulator

import (
	"encoding/json"
	"fmt"
	"strings"

	"minibus/internal/entitypath"
)

// load builds the namespace from the journal.
func (ns *Namespace) load() error {
	l := newLoader(ns, &ns.catalog)
	if err := ns.journal.Load(l); err != nil {
		return fmt.Errorf("load the journal: %w", err)
	}
	if err := l.finish(); err != nil {
		return fmt.Errorf("load the journal: %w", err)
	}
	ns.lastRow.Store(max(ns.lastRow.Load(), ns.journal.NextRow()-1, l.lastRow))
	return l.catchUp()
}

// newLoader returns a loader that puts the entities into a catalog.
func newLoader(ns *Namespace, c *catalog) *loader {
	return &loader{ns: ns, catalog: c, now: ns.Now(), byID: make(map[int64]*Entity),
		bodies: make(map[int64]*sharedBody), arrived: make(map[*subQueue]*arrivals)}
}

// finish lets all that was loaded become available.
func (l *loader) finish() error {
	if err := l.linkSubscriptions(); err != nil {
		return err
	}
	for _, q := range l.byID {
		q.mu.Lock()
		for i := range q.messages.subQueues {
			l.admitAllLocked(q, &q.messages.subQueues[i])
		}
		q.messages.pack()
		q.mu.Unlock()
	}
	l.leaveOutTransient()
	l.all = l.catalog.entities(anyKind)
	return nil
}

// leaveOutTransient retires what ended with its JMS client (JMS-9), before anybody finds it.
func (l *loader) leaveOutTransient() {
	for _, q := range l.byID {
		if q.transient() {
			l.ended.retire(q, nil)
		}
	}
	l.catalog.remove(l.ended.all)
}

// forgetTransient removes from the journal what leaveOutTransient has retired.
func (l *loader) forgetTransient() error {
	if len(l.ended.all) == 0 {
		return nil
	}
	if err := l.ns.Entities().commit(l.ended.ops()...); err != nil {
		return fmt.Errorf("delete what ended with its client: %w", err)
	}
	for _, q := range l.ended.all {
		q.alarm.stop()
		q.bury()
	}
	return nil
}

// catchUp treats what fell due while the broker was down, and waits until that is durable (DEC-21).
func (l *loader) catchUp() error {
	if err := l.forgetTransient(); err != nil {
		return err
	}
	for _, q := range l.all {
		for more := true; more; {
			q.mu.Lock()
			more = q.alarm.runDue(l.ns.Now())
			q.mu.Unlock()
		}
	}
	l.ns.dueReads.wait()
	if err := l.ns.flush(); err != nil {
		return fmt.Errorf("treat what fell due while the broker was down: %w", err)
	}
	for _, q := range l.all {
		q.mu.Lock()
		q.usage.opened = l.ns.Now() // idle clocks restart
		for _, s := range q.sessions.byKey {
			q.sessions.rank(s)
		}
		q.forwarder.startLocked(Main)
		q.forwarder.startLocked(DeadLetter)
		q.alarm.setNext()
		q.mu.Unlock()
	}
	return nil
}

// flush waits until everything that was appended to the journal is committed. It must not be called on the
// journal's goroutine.
func (ns *Namespace) flush() error { return await(ns.journal.Flush) }

// loader collects what the journal streams.
//
// No stored instant that the broker itself took can lie in the future, unless the machine's clock was set back since.
// Such a one becomes now: so nothing lasts until the clock has caught up, and times ascend in a queue.
type loader struct {
	ns            *Namespace
	catalog       *catalog // to which the entities are added
	now           int64    // ms
	byID          map[int64]*Entity
	all           []*Entity // by kind and path, once all are there
	ended         deletion  // of what ended with its JMS client
	subscriptions []loadedSubscription
	bodies        map[int64]*sharedBody // those with a copy whose row is not the body's own
	arrived       map[*subQueue]*arrivals
	lastRow       int64
}

// loadedSubscription waits for its topic, which may come later.
type loadedSubscription struct {
	r EntityRecord
	o SubscriptionOptions
}

// LoadEntity takes in one entity. A database of an older Minibus may have its path, and those of its targets, in
// another case (DEC-9).
func (l *loader) LoadEntity(r EntityRecord) error {
	l.lastRow = max(l.lastRow, r.ID)
	var err error
	switch r.Kind {
	case KindQueue:
		var o QueueOptions
		if err = json.Unmarshal(r.Options, &o); err == nil {
			o.nameTargets()
			err = l.addEntity(newEntity(l.ns, r.ID, KindQueue, r.Path, o), r)
		}
	case KindTopic:
		var o TopicOptions
		if err = json.Unmarshal(r.Options, &o); err == nil {
			err = l.addEntity(newTopic(l.ns, r.ID, r.Path, o).Entity, r)
		}
	case KindSubscription:
		var o SubscriptionOptions
		if err = json.Unmarshal(r.Options, &o); err == nil {
			o.Queue.nameTargets()
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

func (l *loader) addEntity(q *Entity, r EntityRecord) error {
	for _, x := range r.Last {
		c := &q.counters.of[int(x.Partition)%len(q.counters.of)]
		c.last = x.Seq &^ c.base
		c.committed = c.last
	}
	l.byID[q.id] = q
	l.catalog.add(q)
	return q.usage.restore(r.Options, l.now)
}

// linkSubscriptions makes the subscriptions, now that all topics are there. It is called before the first message.
func (l *loader) linkSubscriptions() error {
	for _, x := range l.subscriptions {
		path, _, _ := entitypath.SplitSubscription(x.r.Path)
		topic := l.catalog.byKey[strings.ToLower(path)]
		if topic == nil || topic.topic == nil {
			return fmt.Errorf("subscription %q has no topic", x.r.Path)
		}
		s := newSubscription(topic.topic, x.r.ID, x.r.Path, x.o)
		var err error
		if s.rules, err = s.compileAll(x.o.Rules, l.ns.Now(), ProfileRelaxed); err != nil {
			return fmt.Errorf("read the rules of %q: %w", x.r.Path, err)
		}
		if err := l.addEntity(s.Entity, x.r); err != nil {
			return err
		}
		s.topic.order(s.rules)
		s.topic.addSubscription(s)
	}
	l.subscriptions = nil
	return nil
}

// entity returns the entity that something loaded belongs to.
func (l *loader) entity(id int64) (*Entity, error) {
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

// LoadSession takes in the state of a session.
func (l *loader) LoadSession(entity int64, id string, state []byte, updated int64) error {
	q, err := l.entity(entity)
	if err != nil {
		return fmt.Errorf("state of session %q: %w", id, err)
	}
	q.sessions.load(id, int64(len(state)), min(updated, l.now))
	return nil
}

// LoadDuplicate takes in a message id that duplicate detection remembers.
func (l *loader) LoadDuplicate(entity int64, key [16]byte, at int64) error {
	q, err := l.entity(entity)
	if err != nil {
		return fmt.Errorf("remembered message id: %w", err)
	}
	if at > l.now+q.options.dedupWindow() {
		return nil // else each start would remember it for one more window until the clock has caught up
	}
	q.duplicates.add(key, min(at, l.now))
	return nil
}
