package emulator

import "strings"

// Facts are what is known of an entity at a moment, beside its settings and counts.
type Facts struct {
	Times
	Sessions  int64 // of an entity with sessions, those with messages, a state or a holder
	Receivers int64 // attached to the entity, or accepts of sessions that wait

	// Oldest is the message with the lowest sequence number that is not scheduled: its number, and when it was
	// enqueued, in ms. 0: there is none, or oldestDepth scheduled ones stand before it.
	Oldest, OldestEnqueued int64

	// IdleAt is when the entity is deleted unless it is used until then, in ms; 0: never (IDLE-1).
	IdleAt int64
	// InUse says that the span of idleness would begin anew then, since a receiver waits or a message is scheduled
	// (IDLE-5).
	InUse bool
}

// oldestDepth is how many messages are looked at for the oldest.
const oldestDepth = 4096

// Facts returns what is known now. It looks at few messages in one critical section, and is no use of the entity.
func (q *Entity) Facts() Facts {
	q.mu.Lock()
	f := Facts{Times: Times{Created: q.usage.created, Updated: q.usage.updated, Accessed: q.usage.accessed}}
	f.Receivers = int64(len(q.attached))
	if q.options.RequiresSession {
		f.Sessions = int64(len(q.sessions.byKey))
	}
	if at, ok := q.usage.idleAt(); ok {
		f.IdleAt = at
		f.InUse = q.usage.held()
	}
	q.mu.Unlock()
	f.findOldest(q)
	return f
}

// findOldest finds the oldest message.
func (f *Facts) findOldest(q *Entity) {
	from := int64(-1 << 63)
	for range oldestDepth / peekChunk {
		looked, more := 0, false
		q.mu.Lock()
		q.subQueue(Main).log.look(from, func(e *entry) bool {
			if looked++; looked > peekChunk {
				more = true
				return false
			}
			from = e.seq + 1
			if e.mark == markPending || e.state == Scheduled {
				return true
			}
			f.Oldest, f.OldestEnqueued = e.seq, e.enqueued
			return false
		})
		q.mu.Unlock()
		if !more {
			return
		}
	}
}

// Source is an entity that forwards to another.
type Source struct {
	Entity      *Entity
	DeadLetters bool // it forwards its dead letters, else its messages
}

// Sources returns the entities that forward to a path, by kind and path.
func (es Entities) Sources(path string) (list []Source) {
	for _, q := range es.ns.catalog.entities(anyKind) {
		q.mu.Lock()
		messages, letters := q.options.ForwardTo, q.options.ForwardDeadLetteredMessagesTo
		q.mu.Unlock()
		if strings.EqualFold(messages, path) {
			list = append(list, Source{q, false})
		}
		if strings.EqualFold(letters, path) {
			list = append(list, Source{q, true})
		}
	}
	return list
}
