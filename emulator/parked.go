package emulator

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// parked is the messages of a dead-letter queue that can't be forwarded to its target, whatever state that is in:
// they have no session id and it needs one (FWD-6), they are too large for it (FWD-7), or they go in a circle
// (DEC-29). In a dead-letter queue they can't be dead-lettered: they wait (DEC-28), apart, so that those behind them
// go on and the forwarder does not try them again and again. They are tried again when another entity gets the
// target's name, and when the settings of the source or the size limit of the target change. A job may take them.
type parked struct {
	entries map[*entry]struct{} // marked as moving
	target  int64               // id of the target that they can't go to
	limit   int64               // bytes of a message that it took
}

// has reports whether a message is parked: free as clients see it. One that the forwarder has in hand is not.
func (p *parked) has(e *entry) bool {
	_, ok := p.entries[e]
	return ok
}

// takeLocked leaves a parked message to a job.
func (f *forwarder) takeLocked(e *entry) {
	f.q.subQueue(e.sub).remark(e, markBusy)
	if delete(f.parked.entries, e); len(f.parked.entries) == 0 {
		f.q.ns.parkers.Delete(f.q)
	}
}

// park sets messages of the dead-letter queue aside, for a target as it was when it was asked.
func (f *forwarder) park(entries []*entry, target, limit int64) {
	if len(entries) == 0 {
		return
	}
	f.q.mu.Lock()
	// with the mutex: a change of the settings, which unparks, must not come between
	f.q.ns.parkers.Store(f.q, struct{}{})
	if f.parked.entries == nil {
		f.parked.entries = make(map[*entry]struct{})
	}
	for _, e := range entries {
		f.parked.entries[e] = struct{}{}
	}
	f.parked.target, f.parked.limit = target, limit
	name := f.q.options.forwardTarget(DeadLetter)
	f.q.mu.Unlock()
	// What happened before the queue was among the parkers went unnoticed.
	if now, _ := f.q.ns.Entity(name); name == "" || now != nil {
		f.reconsider(now)
	}
}

// reconsider lets parked messages be tried again if the target is not the one that they could not go to, or has
// changed.
func (f *forwarder) reconsider(target *Entity) {
	limit := int64(0)
	if target != nil {
		limit = target.MaxMessageSize()
	}
	f.q.mu.Lock()
	defer f.q.mu.Unlock()
	if target == nil || target.id != f.parked.target || limit != f.parked.limit {
		f.unparkLocked()
	}
}

// tellParkers tells those with parked messages for it that an entity is new or has other settings.
func (ns *Namespace) tellParkers(target *Entity) {
	ns.parkers.Range(func(key, _ any) bool {
		q := key.(*Entity)
		q.mu.Lock()
		name := q.options.forwardTarget(DeadLetter)
		q.mu.Unlock()
		if strings.EqualFold(name, target.path) {
			q.forwarder.reconsider(target)
		}
		return true
	})
}

// unparkLocked puts parked messages back in their places.
func (f *forwarder) unparkLocked() {
	if len(f.parked.entries) == 0 {
		return
	}
	entries := slices.SortedFunc(maps.Keys(f.parked.entries),
		func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	f.parked = parked{}
	f.q.ns.parkers.Delete(f.q)
	for _, e := range entries {
		f.q.messages.free(e, f.q.ns.Now())
	}
}
