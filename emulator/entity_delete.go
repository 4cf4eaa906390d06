package emulator

// DeleteEntity removes an entity with everything in it (DEL-1), a topic with its subscriptions (TOP-14), and waits until
// that is durable. A later entity of the same name starts afresh (DEL-3).
func (ns *Namespace) DeleteEntity(path string) error {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	q := ns.catalog.lookUp(path)
	if q == nil {
		return ns.catalog.missing(path)
	}
	if s := q.subscription; s != nil {
		s.topic.touched.Store(ns.Now()) // IDLE-2
	}
	return ns.deleteLocked(q, nil)
}

// deleteIf removes an entity if the condition, asked under its mutex, still holds.
func (ns *Namespace) deleteIf(q *Entity, condition func() bool) error {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	return ns.deleteLocked(q, condition)
}

// deleteLocked removes an entity; the caller holds ns.admin.
func (ns *Namespace) deleteLocked(q *Entity, condition func() bool) error {
	all := q.retire(condition)
	if len(all) == 0 {
		return nil
	}
	ops := make([]Op, len(all))
	for i, x := range all {
		x.forwarder.running.wait() // what they carry is still theirs
		ops[i] = Op{Kind: OpDeleteEntity, Entity: EntityRecord{ID: x.id, Kind: x.kind, Path: x.path}}
	}
	if err := ns.commit(ops...); err != nil {
		q.unretire(all)
		return err
	}
	ns.catalog.remove(all)
	for _, x := range all {
		x.bury()
	}
	return nil
}

// retire marks the entity as deleted, a topic's subscriptions too, and returns what it marked, in the order of the ids:
// nothing if that was done before or the condition does not hold. From here on nothing is appended for any of it: a
// subscription gets no more copies, since that is decided under its topic's mutex, which is held here.
func (q *Entity) retire(condition func() bool) []*Entity {
	if s := q.subscription; s != nil {
		s.topic.mu.Lock()
		defer s.topic.mu.Unlock()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deleted || condition != nil && !condition() {
		return nil
	}
	q.deleted = true
	all := []*Entity{q}
	switch {
	case q.subscription != nil:
		q.subscription.topic.removeSubscription(q.subscription)
	case q.topic != nil:
		for _, s := range q.topic.byID() {
			s.mu.Lock()
			s.deleted = true
			s.mu.Unlock()
			all = append(all, s.Entity)
		}
	}
	return all
}

// unretire lets entities go on whose deletion failed.
func (q *Entity) unretire(all []*Entity) {
	if s := q.subscription; s != nil {
		s.topic.mu.Lock()
		s.topic.addSubscription(s)
		s.topic.mu.Unlock()
	}
	for _, x := range all {
		x.mu.Lock()
		x.reviveLocked()
		x.mu.Unlock()
	}
}

// reviveLocked lets an entity go on whose deletion failed. Its timer may have come and gone meanwhile, and its
// consumers may have been turned away: they have to attach again.
func (q *Entity) reviveLocked() {
	q.deleted = false
	q.returns.storeStrandedLocked()
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

// bury ends an entity whose deletion is committed.
func (q *Entity) bury() {
	q.alarm.stop()
	q.ns.parkers.Delete(q)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bodies.removeAll()
	q.gone = true
	q.returns.storeStrandedLocked()
	if q.subscription != nil {
		q.sessions.weigh(-q.sessions.bytes)
	}
	q.watchers.tell(q.missing())
}
