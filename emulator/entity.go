package emulator

import (
	"errors"
	"reflect"
	"strings"
)

// EnsureEntities creates the entities that are missing and updates changeable settings that differ; it deletes
// nothing (DEC-7). A setting that differs and can't be changed is an error that says how to go on.
func (ns *Namespace) EnsureEntities(list []EntityConfig) error {
	for _, c := range list {
		var err error
		if c.Queue != nil {
			err = ns.ensureQueue(c.Path, *c.Queue)
		} else if c.Topic != nil {
			err = ns.ensureTopic(c.Path, *c.Topic)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (ns *Namespace) ensureQueue(path string, o QueueOptions) error {
	q, err := ns.Queue(path)
	var e *Error
	switch {
	case err == nil && reflect.DeepEqual(q.Options(), o):
		return nil
	case err == nil:
		if name := immutable(q.Options(), o); name != "" {
			return errorf(CodeArgument, path, "The queue '%s' exists with another %s, which can't be changed: "+
				"delete the queue, restore the setting, or start with an empty database.", path, name)
		}
		ns.logger.Info("queue updated to the configuration", "entity", path)
		_, err := ns.UpdateQueue(path, o)
		return err
	case errors.As(err, &e) && e.Code != CodeNotFound:
		return errorf(CodeAlreadyExists, path, "The queue '%s' can't be created: a topic has that name.", path)
	}
	_, err = ns.CreateQueue(path, o)
	return err
}

// immutable names a setting in which two descriptions of a queue differ and that is fixed at creation (SESS-1,
// DUP-1, PART-1).
func immutable(a, b QueueOptions) string {
	switch {
	case a.RequiresSession != b.RequiresSession:
		return "RequiresSession"
	case a.RequiresDuplicateDetection != b.RequiresDuplicateDetection:
		return "RequiresDuplicateDetection"
	case a.EnablePartitioning != b.EnablePartitioning:
		return "EnablePartitioning"
	}
	return ""
}

// CreateQueue creates a queue and waits until that is durable. It fails with CodeAlreadyExists if an entity of any
// kind has the name (ERR-5).
func (ns *Namespace) CreateQueue(path string, o QueueOptions) (*Queue, error) {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	if err := ns.vacant(path); err != nil {
		return nil, err
	}
	if err := o.Status.check(path); err != nil {
		return nil, err
	}
	q := newQueue(ns, ns.newRow(), path, o)
	if err := ns.putEntity(EntityRecord{ID: q.id, Kind: KindQueue, Path: path}, o); err != nil {
		return nil, err
	}
	ns.mu.Lock()
	ns.queues[strings.ToLower(path)] = q
	ns.mu.Unlock()
	q.mu.Lock()
	q.rearmNextLocked() // it may be idle from the start (IDLE-1)
	q.mu.Unlock()
	return q, nil
}

func (ns *Namespace) vacant(path string) error {
	if q, t := ns.lookUp(path); q != nil || t != nil {
		return errorf(CodeAlreadyExists, path, "The messaging entity '%s' already exists.", path)
	}
	return nil
}

// lookUp returns the queue or the topic with that path.
func (ns *Namespace) lookUp(path string) (*Queue, *topic) {
	ns.mu.RLock()
	defer ns.mu.RUnlock()
	key := strings.ToLower(path)
	return ns.queues[key], ns.topics[key]
}

// putEntity stores an entity with its settings and waits.
func (ns *Namespace) putEntity(r EntityRecord, options any) error {
	b, err := encodeOptions(options)
	if err != nil {
		return err
	}
	r.Options = b
	return ns.commit(Op{Kind: OpPutEntity, Entity: r})
}

// commit appends one operation and waits for its commit. The caller holds ns.admin, which no completion and no
// client's operation takes.
func (ns *Namespace) commit(op Op) error {
	done := make(chan error, 1)
	c := &Change{Done: CompletionFunc(func(err error) { done <- err })}
	c.Ops = append(c.Single[:0], op)
	ns.append(c)
	return <-done
}

// UpdateQueue changes a queue's settings and waits until that is durable; then its links are told to attach again
// (LOCK-17, STAT-4). Message locks stay as they are (DEC-23), and a new lock duration counts from the next lock or
// renewal (LOCK-18).
func (ns *Namespace) UpdateQueue(path string, o QueueOptions) (*Queue, error) {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	q, _ := ns.lookUp(path)
	if q == nil {
		return nil, NotFound(path)
	}
	if name := immutable(q.Options(), o); name != "" {
		return nil, errorf(CodeArgument, path, "%s of the queue '%s' can't be changed.", name, path)
	}
	if err := o.Status.check(path); err != nil {
		return nil, err
	}
	if err := ns.putEntity(EntityRecord{ID: q.id, Kind: KindQueue, Path: q.path}, o); err != nil {
		return nil, err
	}
	q.mu.Lock()
	q.applyOptionsLocked(o)
	q.mu.Unlock()
	return q, nil
}

// applyOptionsLocked makes new settings effective: links attach again (LOCK-17), sessions are free at once (DEC-23), a
// backlog begins to be forwarded (FWD-14).
func (q *Queue) applyOptionsLocked(o QueueOptions) {
	now := q.ns.Now()
	q.options, q.updated = o, now
	why := errorf(CodeDetached, q.path, "The link is force detached: the entity '%s' was updated. Attach again.", q.path)
	for len(q.sessionEnds) > 0 {
		q.loseSessionLocked(q.sessionEnds[0], why, false, now)
	}
	q.tellWatchersLocked(why)
	q.grantLocked()
	q.retryAt = [2]int64{}
	q.forwardLocked(Main)
	q.forwardLocked(DeadLetter)
	q.rearmNextLocked()
}

// DeleteEntity removes a queue or a topic with everything in it (DEL-1) and waits until that is durable. A later
// entity of the same name starts afresh (DEL-3).
func (ns *Namespace) DeleteEntity(path string) error {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	q, t := ns.lookUp(path)
	switch {
	case q != nil:
		return ns.deleteQueueLocked(q, nil)
	case t != nil:
		if err := ns.commit(Op{Kind: OpDeleteEntity, Entity: EntityRecord{ID: t.id, Kind: KindTopic, Path: t.path}}); err != nil {
			return err
		}
		ns.mu.Lock()
		delete(ns.topics, strings.ToLower(path))
		ns.mu.Unlock()
		return nil
	}
	return NotFound(path)
}

// deleteIf removes a queue if the condition, asked under its mutex, still holds.
func (ns *Namespace) deleteIf(q *Queue, condition func() bool) error {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	return ns.deleteQueueLocked(q, condition)
}

// deleteQueueLocked removes a queue; the caller holds ns.admin.
func (ns *Namespace) deleteQueueLocked(q *Queue, condition func() bool) error {
	q.mu.Lock()
	if q.deleted || condition != nil && !condition() {
		q.mu.Unlock()
		return nil
	}
	q.deleted = true // from here on nothing is appended for it
	q.mu.Unlock()
	if err := ns.commit(Op{Kind: OpDeleteEntity, Entity: EntityRecord{ID: q.id, Kind: KindQueue, Path: q.path}}); err != nil {
		q.mu.Lock()
		q.reviveLocked()
		q.mu.Unlock()
		return err
	}
	ns.mu.Lock()
	delete(ns.queues, strings.ToLower(q.path))
	ns.mu.Unlock()
	q.stop()
	q.mu.Lock()
	q.gone = true
	q.ns.inMemory.Add(-q.held)
	q.tellWatchersLocked(NotFound(q.path))
	q.mu.Unlock()
	return nil
}

// reviveLocked lets a queue go on whose deletion failed. Its timer may have come and gone meanwhile, and its
// consumers may have been turned away: they have to attach again.
func (q *Queue) reviveLocked() {
	q.deleted = false
	if q.timer != nil {
		q.timer.Stop()
	}
	q.timer, q.timerAt = nil, 0
	q.touchLocked(q.ns.Now()) // an idle one is tried again after another span
	q.rearmNextLocked()
	q.forwardLocked(Main)
	q.forwardLocked(DeadLetter)
	q.tellWatchersLocked(errorf(CodeDetached, q.path,
		"The link is force detached: the entity '%s' could not be deleted. Attach again.", q.path))
}

func (ns *Namespace) ensureTopic(path string, o TopicOptions) error {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	_, old := ns.lookUp(path)
	t := &topic{path: path, options: o}
	switch {
	case old != nil && reflect.DeepEqual(old.options, o):
		return nil
	case old != nil:
		t.id, t.path = old.id, old.path
	default:
		if err := ns.vacant(path); err != nil {
			return err
		}
		t.id = ns.newRow()
	}
	if err := ns.putEntity(EntityRecord{ID: t.id, Kind: KindTopic, Path: t.path}, o); err != nil {
		return err
	}
	ns.mu.Lock()
	ns.topics[strings.ToLower(path)] = t
	ns.mu.Unlock()
	return nil
}
