package emulator

import (
	"encoding/json"
	"fmt"
	"time"
)

// Times are the instants of an entity, in milliseconds since the Unix epoch (CNT-8, CNT-9).
type Times struct {
	Created  int64
	Updated  int64
	Accessed int64 // 0: never; it is not stored, so "never" also after a restart
}

// usage is when an entity was made, changed and used, and when it has been idle for too long. The entity's mutex
// guards it.
type usage struct {
	q                          *Entity
	created, updated, accessed int64 // ms (CNT-8, CNT-9)
	opened                     int64 // ms; when the namespace was loaded: idle clocks start there (DEC-21)
}

// touch notes a use of the queue (CNT-9). Uses of a subscription keep its topic from being idle (IDLE-2).
func (u *usage) touch(now int64) {
	u.accessed = now
	if u.q.subscription != nil {
		u.q.subscription.topic.touched.Store(now)
	}
}

// Times returns when the entity was created, updated and last used.
func (q *Entity) Times() Times {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Times{Created: q.usage.created, Updated: q.usage.updated, Accessed: q.usage.accessed}
}

// storedTimes are the times that the journal keeps, as further members of the JSON of an entity's settings.
type storedTimes struct {
	Created int64 `json:"createdAt,omitempty"` // ms
	Updated int64 `json:"updatedAt,omitempty"` // ms
}

// encode returns what the journal keeps of the entity: its settings, when it was created, and when it was updated.
func (u *usage) encode(options any, updated int64) ([]byte, error) {
	b, err := encodeOptions(options)
	if err != nil {
		return nil, err
	}
	t, err := encodeOptions(storedTimes{Created: u.created, Updated: updated})
	if err != nil || len(b) <= len("{}") {
		return t, err
	}
	return append(append(b[:len(b)-1], ','), t[1:]...), nil
}

// restore takes the times, none of them later than now, from what the journal kept. An entity that was stored without
// them is as old as the process.
func (u *usage) restore(stored []byte, now int64) error {
	var t storedTimes
	if err := json.Unmarshal(stored, &t); err != nil {
		return fmt.Errorf("read the times of %q: %w", u.q.path, err)
	}
	if t.Created != 0 {
		u.created, u.updated = min(t.Created, now), min(max(t.Updated, t.Created), now)
	}
	return nil
}

// idleAt returns when the queue will have been idle for its AutoDeleteOnIdle, if that is set (IDLE-1). A queue
// that forwards is never idle (IDLE-4).
func (u *usage) idleAt() (at int64, ok bool) {
	span := u.q.options.AutoDeleteOnIdle.Milliseconds()
	if u.q.left() {
		span = leftFor.Milliseconds()
	}
	if span <= 0 || u.q.options.ForwardTo != "" {
		return 0, false
	}
	last := max(u.accessed, u.updated, u.created, u.opened)
	if u.q.topic != nil {
		last = max(last, u.q.topic.touched.Load())
	}
	return last + span, true
}

// idle reports whether the queue is to be deleted now. Scheduled messages and receivers that wait keep it
// (IDLE-2, IDLE-5, SCHED-26).
func (u *usage) idle(now int64) bool {
	at, ok := u.idleAt()
	if !ok || now < at {
		return false
	}
	if u.held() {
		u.accessed = now // in use: the span begins anew
		return false
	}
	return true
}

// leftFor is after how long the deletion of an entity is tried again whose JMS clients have left.
const leftFor = time.Minute

// left reports whether the JMS clients have left with which the entity should have ended: its deletion has failed.
func (q *Entity) left() bool {
	s := q.subscription
	return q.abandoned || s != nil && s.client != nil && !s.client.Durable && s.consumers.Load() == 0
}

// held reports whether the queue stays however long it is unused.
func (u *usage) held() bool {
	if u.q.left() {
		return false
	}
	if s := u.q.subscription; s != nil && s.consumers.Load() > 0 {
		return true
	}
	return u.q.messages.subQueues[Main].scheduled > 0 || u.receiverWaits() ||
		u.q.topic != nil && u.q.topic.receiverWaits()
}

// receiverWaits reports whether a receiver with credit waits (IDLE-5).
func (u *usage) receiverWaits() bool {
	for i := range u.q.messages.subQueues {
		b := &u.q.messages.subQueues[i]
		if l := b.waiters; l != nil && (l.first != nil || l.promised > 0) {
			return true
		}
		if b.selectorIndexes != nil && b.selectorIndexes.receiverWaits() {
			return true
		}
	}
	for _, h := range u.q.sessions.ends {
		if h.waiters.first != nil || h.waiters.promised > 0 {
			return true
		}
	}
	return len(u.q.sessions.accepts) > 0
}

// deleteIdle removes a queue whose idle span is over. It runs on the timer's goroutine, without any mutex.
func (es Entities) deleteIdle(q *Entity) {
	ns := es.ns
	ns.logger.Info("deleting an idle queue", "entity", q.path)
	if err := es.deleteIf(q, func() bool { return q.usage.idle(ns.Now()) }); err != nil {
		ns.logger.Error("idle queue could not be deleted", "entity", q.path, "error", err)
	}
	q.mu.Lock()
	q.alarm.setNext() // if it was used meanwhile it lives on
	q.mu.Unlock()
}
