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

// SessionsInMemory returns how many sessions the queue knows (SESS-26).
func (q *Queue) SessionsInMemory() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.sessions)
}

// HistoryInMemory returns how many message ids the queue remembers for duplicate detection.
func (q *Queue) HistoryInMemory() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.history.seen)
}

// AcceptsInMemory returns how many accepts of the next session wait.
func (q *Queue) AcceptsInMemory() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.accepts)
}

// BodiesInMemory returns how many bytes of bodies the namespace keeps in memory, and how many of them are the queue's.
func (q *Queue) BodiesInMemory() (all, own int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ns.inMemory.Load(), q.held
}

// DeadlinesInMemory returns how many instants the queue keeps, those that mean nothing any more included.
func (q *Queue) DeadlinesInMemory() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range []*deadlines{&q.lockEnds, &q.dues, &q.expiries} {
		for _, b := range d.buckets {
			n += len(b.items)
		}
	}
	return n
}

// Receivers returns how many receivers and waiting accepts are counted for the entity.
func (q *Queue) Receivers() int64 { return q.receivers().Load() }
