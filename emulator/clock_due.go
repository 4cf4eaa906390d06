package emulator

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// DueKind says what happens when an instant comes.
type DueKind uint8

// What there is.
const (
	DueLock     DueKind = iota // the lock of a message ends
	DueSchedule                // a scheduled message becomes active
	DueExpiry                  // a message expires
	DueSession                 // the lock of a session ends
	DueForward                 // forwarding is tried again
	DueIdle                    // the entity is deleted, if nothing uses it until then
)

// Due is the next thing of a kind that happens to an entity by itself.
type Due struct {
	At     time.Time
	Entity string
	Kind   DueKind
}

// NextDue returns what happens next, the earliest first, at most most of it: of each entity the next instant of each kind. It may name an instant up to
// a quarter of a second before the true one where very many messages are due together.
func (nc NamespaceClock) NextDue(most int) []Due {
	var all []Due
	for _, q := range nc.ns.catalog.entities(anyKind) {
		all = q.due(all)
	}
	slices.SortFunc(all, func(x, y Due) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(x.Entity, y.Entity), cmp.Compare(x.Kind, y.Kind))
	})
	return all[:min(len(all), most)]
}

// due appends what happens next to the entity.
func (q *Entity) due(list []Due) []Due {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deleted {
		return list
	}
	add := func(kind DueKind, at int64, ok bool) {
		if ok {
			list = append(list, Due{At: instant(at).UTC(), Entity: q.path, Kind: kind})
		}
	}
	at, ok := q.locks.ends.earliest()
	add(DueLock, at, ok)
	at, ok = q.schedule.dues.earliest()
	add(DueSchedule, at, ok)
	at, ok = q.alarm.expiries.earliest()
	add(DueExpiry, at, ok)
	if len(q.sessions.ends) > 0 {
		add(DueSession, q.sessions.ends[0].until, true)
	}
	for sub, at := range q.forwarder.retryAt {
		add(DueForward, at, at > q.ns.Now() && q.box(SubQueue(sub)).available > 0)
	}
	at, ok = q.usage.idleAt()
	add(DueIdle, at, ok)
	return list
}

// largeBucket is how many deadlines a bucket has that is not searched for the first that still counts.
const largeBucket = 1000

// earliest returns the instant that comes due first. It is exact unless more than largeBucket share its bucket.
func (d *deadlines[E]) earliest() (at int64, ok bool) {
	for {
		if _, ok := d.next(); !ok {
			return 0, false
		}
		b := d.buckets[d.keys[0]]
		if len(b.items) > largeBucket {
			return b.min, true
		}
		b.compact(d.live)
		if len(b.items) == 0 {
			d.leave(b)
			continue
		}
		at = b.items[0].at
		for _, x := range b.items {
			at = min(at, x.at)
		}
		return at, true
	}
}
