package emulator

import "strings"

// Plan lets entities forward to paths at which there is nothing yet, as those of a configuration can (FWD-2).
func (ns *Namespace) Plan(paths ...string) {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	if ns.planned == nil {
		ns.planned = make(map[string]bool)
	}
	for _, p := range paths {
		ns.planned[strings.ToLower(p)] = true
	}
}

// InMemory counts what an entity keeps in memory.
type InMemory struct{ q *Entity }

// InMemory returns what the entity holds in memory.
func (q *Entity) InMemory() InMemory { return InMemory{q} }

// Activity returns how many steps that are over the entity keeps.
func (m InMemory) Activity() int {
	m.q.mu.Lock()
	defer m.q.mu.Unlock()
	return len(m.q.activity.ended)
}

// Sessions returns how many sessions the queue knows (SESS-26).
func (m InMemory) Sessions() int {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.sessions.byKey)
}

// PassedOver returns up to which number expired messages of a session are not looked at again for accepts (EXP-14).
func (m InMemory) PassedOver(session string) int64 {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sessions.find(session).stale
}

// Duplicates returns how many message ids the queue remembers for duplicate detection.
func (m InMemory) Duplicates() int {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.duplicates.seen)
}

// Accepts returns how many accepts of the next session wait.
func (m InMemory) Accepts() int {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.sessions.accepts)
}

// Bodies returns how many bytes of bodies the namespace keeps in memory, and how many of them are the queue's.
func (m InMemory) Bodies() (all, own int64) {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ns.budget.used.Load(), q.bodies.held
}

// FirstOnDisk returns the first message of the main queue whose body is on disk only, 0 if there is none.
func (m InMemory) FirstOnDisk() (seq int64) {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	q.subQueue(Main).look(0, func(e *entry) bool {
		if e.body.data == nil {
			seq = e.seq
		}
		return seq == 0
	})
	return seq
}

// SmallChunks lets logs be packed as soon as a few messages wait, and chunks be few entries long.
func SmallChunks(o Options) Options {
	o.layout = &layout{chunk: 2, front: 0, tail: 0}
	return o
}

// Packed returns how many messages of a sub-queue are packed.
func (m InMemory) Packed(sub SubQueue) int {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for i := range q.messages.subQueues[sub].chunks {
		c := &q.messages.subQueues[sub].chunks[i]
		n += len(c.packed) - c.open
	}
	return n
}

// Deadlines returns how many instants the queue keeps, those that mean nothing any more included.
func (m InMemory) Deadlines() (n int) {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.locks.ends.kept() + q.schedule.dues.kept() + q.alarm.expiries.kept()
}

// Buckets returns how many buckets of deadlines the queue keeps, and how many keys of buckets.
func (m InMemory) Buckets() (buckets, keys int) {
	q := m.q
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.locks.ends.buckets) + len(q.schedule.dues.buckets) + len(q.alarm.expiries.buckets),
		len(q.locks.ends.keys) + len(q.schedule.dues.keys) + len(q.alarm.expiries.keys)
}

// Receivers returns how many receivers and waiting accepts are counted for the entity.
func (m InMemory) Receivers() int64 { return m.q.may.receivers().Load() }

func (d *deadlines[E]) kept() (n int) {
	for _, b := range d.buckets {
		n += len(b.items)
	}
	return n
}

// LockedUntil returns when the lock ends unless it is renewed, in milliseconds since the Unix epoch.
func (d *Delivery) LockedUntil() int64 { return d.until }

// NoteActivity does what every change does so that the last hour is known.
func (m InMemory) NoteActivity(now int64) {
	m.q.mu.Lock()
	m.q.noteActivityLocked(now)
	m.q.mu.Unlock()
}

// SelectorIndexes returns how many selectors the main queue has an index for.
func (m InMemory) SelectorIndexes() int {
	m.q.mu.Lock()
	defer m.q.mu.Unlock()
	if in := m.q.subQueue(Main).selectorIndexes; in != nil {
		return len(in.all)
	}
	return 0
}

// Matches returns how many numbers the selectors of the main queue keep.
func (m InMemory) Matches() (n int) {
	m.q.mu.Lock()
	defer m.q.mu.Unlock()
	for _, x := range m.q.subQueue(Main).selectorIndexes.all {
		n += x.matches.n
	}
	return n
}
