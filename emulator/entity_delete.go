package emulator

import "math"

// Delete removes an entity with everything in it (DEL-1), a topic with its subscriptions (TOP-14), and waits until
// that is durable. A later entity of the same name starts afresh (DEL-3).
func (es Entities) Delete(path string) error {
	ns := es.ns
	ns.admin.Lock()
	defer ns.admin.Unlock()
	q := ns.catalog.lookUp(path)
	if q == nil {
		return ns.catalog.missing(path)
	}
	if s := q.subscription; s != nil {
		s.topic.touched.Store(ns.Now()) // IDLE-2
	}
	return es.deleteLocked(q, nil)
}

// deleteIf removes an entity if the condition, asked under its mutex, still holds.
func (es Entities) deleteIf(q *Entity, condition func() bool) error {
	es.ns.admin.Lock()
	defer es.ns.admin.Unlock()
	return es.deleteLocked(q, condition)
}

// deleteLocked removes an entity; the caller holds ns.admin.
func (es Entities) deleteLocked(q *Entity, condition func() bool) error {
	var d deletion
	d.retire(q, condition)
	if len(d.all) == 0 {
		return nil
	}
	if err := es.commit(d.ops()...); err != nil {
		d.undo()
		return err
	}
	es.ns.catalog.remove(d.all)
	d.finish()
	return nil
}

// deletion is one that is being written, of an entity or of all in a namespace.
type deletion struct {
	all []*Entity // that are marked as deleted, each topic before its subscriptions
}

// retire marks the entity as deleted, a topic's subscriptions too, unless that was done before or the condition does
// not hold. From here on nothing is appended for any of it: a subscription gets no more copies, since that is decided
// under its topic's mutex, which is held here.
func (d *deletion) retire(q *Entity, condition func() bool) {
	if s := q.subscription; s != nil {
		s.topic.mu.Lock()
		defer s.topic.mu.Unlock()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deleting || condition != nil && !condition() {
		return
	}
	q.deleting = true
	d.all = append(d.all, q)
	switch {
	case q.subscription != nil:
		q.subscription.topic.removeSubscription(q.subscription)
	case q.topic != nil:
		for _, s := range q.topic.byID() {
			s.mu.Lock()
			s.deleting = true
			s.mu.Unlock()
			d.all = append(d.all, s.Entity)
		}
	}
}

// ops waits until nothing is on its way out of the entities, and returns what deletes them in the journal.
func (d *deletion) ops() (ops []Op) {
	for _, q := range d.all {
		q.forwarder.running.wait() // what they carry is still theirs
		ops = append(ops, Op{Kind: OpDeleteEntity, Entity: EntityRecord{ID: q.id, Kind: q.kind, Path: q.path}})
	}
	return ops
}

// retireAll marks all entities of a namespace as deleted and waits until nothing is under way, so that nothing more
// is appended. The caller holds ns.admin.
func (d *deletion) retireAll(ns *Namespace) {
	ns.stage.Store(stageLeaving)
	ns.jobs.end()
	ns.background.wait() // what they carry stays where it belongs, should the deletion fail
	for _, kind := range []EntityKind{KindQueue, KindTopic} {
		for _, q := range ns.catalog.entities(kind) {
			d.retire(q, nil)
		}
	}
	ns.Quiesce()
}

// undo lets entities go on whose deletion failed.
func (d *deletion) undo() {
	if len(d.all) == 0 {
		return
	}
	if s := d.all[0].subscription; s != nil { // which was retired without its topic
		s.topic.mu.Lock()
		s.topic.addSubscription(s)
		s.topic.mu.Unlock()
	}
	for _, x := range d.all {
		x.mu.Lock()
		x.reviveLocked()
		x.mu.Unlock()
	}
}

// reviveLocked lets an entity go on whose deletion failed. Its timer may have come and gone meanwhile, and its
// consumers may have been turned away: they have to attach again.
func (q *Entity) reviveLocked() {
	q.deleting = false
	q.requeues.retryLocked()
	if q.alarm.timer != nil {
		q.alarm.timer.Stop()
	}
	q.alarm.timer, q.alarm.at = nil, 0
	q.usage.touch(q.ns.Now()) // an idle one is tried again after another span
	q.alarm.setNext()
	q.forwarder.startLocked(Main)
	q.forwarder.startLocked(DeadLetter)
	q.watchers.tell(errorf(CodeDetached, q.path,
		"The link is force detached: the entity '%s' could not be deleted. Attach again.", q.path))
}

// finish ends entities whose deletion is committed. One line of the log says how many links end with an entity, a
// topic's with those of its subscriptions: their clients may wonder.
func (d *deletion) finish() {
	var top *Entity
	links := 0
	tell := func() {
		if links > 0 {
			top.ns.logger.Info("the links of a deleted entity were closed", "entity", top.path, "links", links)
		}
	}
	for _, q := range d.all {
		if s := q.subscription; top == nil || s == nil || s.topic.Entity != top {
			tell()
			top, links = q, 0
		}
		q.alarm.stop()
		q.ns.parkers.Delete(q)
		links += q.bury()
	}
	tell()
	if top != nil {
		top.ns.common.tellDeleted(top.ns)
	}
}

// bury gives up what a deleted entity has, and returns the number of its links.
func (q *Entity) bury() (links int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bodies.removeAll()
	q.sessions.shrink(math.MinInt64)
	q.deleted = true
	q.requeues.retryLocked()
	if q.subscription != nil {
		q.sessions.weigh(-q.sessions.bytes)
	}
	q.watchers.tell(q.may.missing())
	return len(q.watchers)
}
