package emulator

import (
	"reflect"
	"strings"
	"time"

	"minibus/internal/entitypath"
)

// CreateQueue creates a queue and waits until that is durable. It fails with CodeAlreadyExists if an entity of any
// kind has the name (ERR-5), with CodeArgument for settings that no queue can have (FWD-2, FWD-5, IDLE-1, STAT-5,
// QUO-9), and with CodeQuotaExceeded (PART-9).
func (es Entities) CreateQueue(path string, o QueueOptions) (*Queue, error) {
	ns := es.ns
	ns.admin.Lock()
	defer ns.admin.Unlock()
	path = nameOf(path)
	if err := es.mayCreateLocked(path, &o); err != nil {
		return nil, err
	}
	o.Admin.date(nil, ns.Now())
	q := newEntity(ns, ns.newRow(), KindQueue, path, o)
	if err := es.put(q, o, q.usage.updated); err != nil {
		return nil, err
	}
	es.add(q)
	return &Queue{q}, nil
}

// mayCreateLocked reports why a queue or a topic with these settings can't be created, or nil.
func (es Entities) mayCreateLocked(path string, o *QueueOptions) error {
	if err := checkName(path, path, MaxPath); err != nil {
		return err
	}
	if entitypath.IsReserved(path) {
		return errorf(CodeArgument, path,
			"The name '%s' is the path of a subscription: a queue or topic can't have it.", path)
	}
	if err := es.ns.catalog.vacant(path); err != nil {
		return err
	}
	if err := es.checkLocked(path, o); err != nil {
		return err
	}
	return es.roomForEntity(path, o.EnablePartitioning)
}

// add lets a new entity be found. Its idle span begins (IDLE-1).
func (es Entities) add(q *Entity) {
	es.ns.catalog.add(q)
	q.mu.Lock()
	q.alarm.setNext()
	q.mu.Unlock()
	es.ns.tellParkers(q)
}

// put stores an entity with its settings and waits.
func (es Entities) put(q *Entity, options any, updated int64) error {
	b, err := q.usage.encode(options, updated)
	if err != nil {
		return err
	}
	return es.commit(Op{Kind: OpPutEntity, Entity: EntityRecord{ID: q.id, Kind: q.kind, Path: q.path, Options: b}})
}

// commit appends operations as one change and waits for its commit. The caller holds ns.admin, which no completion
// and no client's operation takes, and no other mutex. Nothing is stored for a namespace that is gone.
func (es Entities) commit(ops ...Op) error {
	ns := es.ns
	if ns.stage.Load() == stageGone {
		return namespaceNotFound(ns.name)
	}
	return await(func(done Completion) { ns.journal.Append(&Change{Ops: ops, Done: done}) })
}

// UpdateQueue changes a queue's settings and waits until that is durable; then, if they differ, its links are told to
// attach again (LOCK-17, STAT-4). Message locks stay as they are (DEC-23), and a new lock duration counts from the
// next lock or renewal (LOCK-18). Errors: CodeNotFound, and CodeArgument for what can't be changed and as of
// CreateQueue.
func (es Entities) UpdateQueue(path string, o QueueOptions) (*Queue, error) {
	ns := es.ns
	ns.admin.Lock()
	defer ns.admin.Unlock()
	q, err := ns.catalog.find(path, KindQueue)
	if err != nil {
		return nil, err
	}
	if err := q.checkChangeable(); err != nil {
		return nil, err
	}
	if name := immutable(q.Options(), o); name != "" {
		return nil, errorf(CodeArgument, q.path, "%s of the queue '%s' can't be changed.", name, q.path)
	}
	if err := es.checkLocked(q.path, &o); err != nil {
		return nil, err
	}
	o.Admin.date(q.Options().Admin.AuthorizationRules, ns.Now())
	if err := es.put(q, o, ns.Now()); err != nil {
		return nil, err
	}
	q.become(o)
	return &Queue{q}, nil
}

// become lets new settings count that are durable.
func (q *Entity) become(o QueueOptions) {
	q.mu.Lock()
	q.applyOptionsLocked(o)
	q.mu.Unlock()
	q.ns.tellParkers(q)
}

// immutable names a setting in which two descriptions of an entity differ and that is fixed at creation.
func immutable(a, b QueueOptions) string {
	if all := immutables(a, b); len(all) > 0 {
		return all[0]
	}
	return ""
}

// immutables names all of them (SESS-1, DUP-1, PART-1).
func immutables(a, b QueueOptions) (names []string) {
	for _, x := range []struct {
		name string
		a, b bool
	}{
		{"RequiresSession", a.RequiresSession, b.RequiresSession},
		{"RequiresDuplicateDetection", a.RequiresDuplicateDetection, b.RequiresDuplicateDetection},
		{"EnablePartitioning", a.EnablePartitioning, b.EnablePartitioning},
		{"EnableSubscriptionPartitioning", a.Admin.EnableSubscriptionPartitioning,
			b.Admin.EnableSubscriptionPartitioning},
	} {
		if x.a != x.b {
			names = append(names, x.name)
		}
	}
	return names
}

// applyOptionsLocked makes new settings effective: links attach again (LOCK-17), sessions are free at once (DEC-23),
// the forwarder starts on a backlog (FWD-14). Settings that are the same as before disturb no client.
func (q *Entity) applyOptionsLocked(o QueueOptions) {
	now := q.ns.Now()
	changed := !reflect.DeepEqual(q.options, o)
	q.options, q.usage.updated = o, now
	if changed {
		q.detachLocked(now)
	}
	q.sessions.grant()
	q.forwarder.retryAt = [2]int64{}
	q.forwarder.unparkLocked()
	q.forwarder.startLocked(Main)
	q.forwarder.startLocked(DeadLetter)
	q.alarm.setNext()
}

// detachLocked tells the links to attach again and frees the sessions.
func (q *Entity) detachLocked(now int64) {
	why := errorf(CodeDetached, q.path, "The link is force detached: the entity '%s' was updated. Attach again.",
		q.path)
	for len(q.sessions.ends) > 0 {
		q.sessions.lose(q.sessions.ends[0].s, why, false, now)
	}
	q.watchers.tell(why)
}

// minAutoDelete is the shortest span after which an idle entity may be deleted (IDLE-1).
const minAutoDelete = 5 * time.Minute

// checkLocked refuses settings of an entity that the broker can't work with, whatever their source, and names the
// targets as the broker does. The caller holds ns.admin. The readers of settings check the ranges that are only
// customary (DEC-5).
func (es Entities) checkLocked(path string, o *QueueOptions) error {
	o.nameTargets()
	if err := o.Status.check(path); err != nil {
		return err
	}
	if d := o.AutoDeleteOnIdle; d != 0 && d < minAutoDelete { // IDLE-1
		return errorf(CodeArgument, path,
			"The AutoDeleteOnIdle of the entity '%s' is %v: the value supplied must be at least %v.",
			path, d, minAutoDelete)
	}
	if o.RequiresSession && o.ForwardTo != "" { // FWD-5
		return errorf(CodeArgument, path, "Bad Request. The entity '%s' requires sessions and can't have ForwardTo: "+
			"let the target require sessions instead.", path)
	}
	for _, target := range []string{o.ForwardTo, o.ForwardDeadLetteredMessagesTo} {
		if target != "" && !es.mayForwardTo(target, path) {
			return errorf(CodeArgument, path, "The auto forwarding destination entity '%s' does not exist.", target)
		}
	}
	return nil
}

// mayForwardTo reports whether an entity with that path can forward to the target: an entity that exists, or will as
// soon as the configuration is there, and is no subscription, or the entity itself (FWD-1, FWD-2, DEC-29).
func (es Entities) mayForwardTo(target, path string) bool {
	if es.ns.planned[strings.ToLower(target)] {
		return true
	}
	q := es.ns.catalog.lookUp(target)
	if _, _, isSubscription := entitypath.SplitSubscription(path); q == nil && !isSubscription {
		return strings.EqualFold(target, path)
	}
	return q != nil && q.subscription == nil
}

// roomForEntity fails when the namespace has as many partitioned queues and topics as it may (PART-9).
func (es Entities) roomForEntity(path string, partitioned bool) error {
	most := profiles[es.ns.Profile()].Partitioned
	if !partitioned || most == 0 {
		return nil
	}
	n := 0
	for _, kind := range []EntityKind{KindQueue, KindTopic} {
		for _, q := range es.ns.catalog.entities(kind) {
			if q.counters.partitioned() {
				n++
			}
		}
	}
	if n < most {
		return nil
	}
	return errorf(CodeQuotaExceeded, path,
		"The maximum number of resources of type `partitioned entity` has been reached or exceeded. "+
			"Actual: %d, Max allowed: %d.", n, most)
}

// checkName fails if a name is longer than one may be (QUO-9), or can't be told from others in the path.
func checkName(path, name string, most int) error {
	if name != path && strings.Contains(name, "/") { // a subscription's, which is one segment of its path
		return errorf(CodeArgument, path, "The name '%s' has a slash: a subscription's can have none.", name)
	}
	if n := len([]rune(name)); n == 0 || n > most {
		return errorf(CodeArgument, path, "The name of the entity has %d characters: it must have between 1 and %d.",
			n, most)
	}
	return nil
}
