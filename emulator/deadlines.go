package emulator

import (
	"cmp"
	"slices"
)

// bucketShift makes buckets of 256 milliseconds.
const bucketShift = 8

// deadlines keeps entries, or what stands for them, by an instant in milliseconds. Instants that lie close together
// share a bucket, and only the earliest bucket is ever sorted, so that adding and removing cost the same however many
// entries wait.
//
// An entry is not searched when it is removed: remove only counts, and live tells the stale items apart when their
// bucket is compacted or comes due.
type deadlines[E any] struct {
	live    func(e E, at int64) bool
	seq     func(E) int64 // orders entries of one instant
	buckets map[int64]*bucket[E]
	keys    heap[int64, ascending] // keys of buckets, and of some that have left
	most    int                    // keys since the last tidying
	spare   *bucket[E]             // the one that became empty last; nil: none did
}

// tidyAt is how many keys there must be at least before it is worth looking for those that mean nothing any more.
const tidyAt = 64

type bucket[E any] struct {
	items  []deadline[E]
	min    int64 // no item is due earlier
	dead   int   // removals since the last compaction
	sorted bool  // descending, the earliest at the end
}

type deadline[E any] struct {
	at int64
	e  E
}

func newDeadlines[E any](live func(e E, at int64) bool, seq func(E) int64) deadlines[E] {
	return deadlines[E]{live: live, seq: seq}
}

// add lets popDue return e once at has come.
func (d *deadlines[E]) add(e E, at int64) {
	key := at >> bucketShift
	b := d.buckets[key]
	if b == nil {
		b = &bucket[E]{min: at}
		if d.buckets == nil {
			d.buckets = make(map[int64]*bucket[E])
		}
		d.buckets[key] = b
		d.keys.push(key)
		d.most = max(d.most, len(d.keys))
	}
	b.items = append(b.items, deadline[E]{at: at, e: e})
	b.min = min(b.min, at)
	b.sorted = false
}

// remove says that live became false for an entry that was added for at.
func (d *deadlines[E]) remove(at int64) {
	b := d.buckets[at>>bucketShift]
	if b == nil {
		return
	}
	if n := len(b.items); n == 0 || !b.sorted || b.items[n-1].at <= at { // else popDue has returned it
		b.dead++
	}
	if b.dead >= 32 && b.dead*2 >= len(b.items) || b.dead >= len(b.items) {
		b.compact(d.live)
	}
	if len(b.items) == 0 {
		d.leave(b)
	}
}

// leave notes that a bucket became empty. It goes when another one does: until then messages that come and go at once
// use it again and again.
func (d *deadlines[E]) leave(b *bucket[E]) {
	if old := d.spare; old != nil && old != b && len(old.items) == 0 && d.buckets[old.key()] == old {
		delete(d.buckets, old.key())
		d.tidy()
	}
	d.spare = b
}

// tidy makes everything as small as it can be once most of it means nothing. As often as it does, so many buckets
// have left.
func (d *deadlines[E]) tidy() {
	if d.most <= 4*len(d.buckets)+tidyAt {
		return
	}
	buckets, keys := make(map[int64]*bucket[E], len(d.buckets)), make(heap[int64, ascending], 0, len(d.buckets))
	for key, b := range d.buckets {
		buckets[key] = b
		keys.push(key)
	}
	d.buckets = buckets
	d.keys = keys
	d.most = len(keys)
}

func (b *bucket[E]) key() int64 { return b.min >> bucketShift }

// compact throws away what is stale. A small bucket keeps its room, for the messages that come and go at once.
func (b *bucket[E]) compact(live func(E, int64) bool) {
	b.items = slices.DeleteFunc(b.items, func(x deadline[E]) bool { return !live(x.e, x.at) })
	if cap(b.items) > max(4*len(b.items), 8) {
		b.items = append([]deadline[E](nil), b.items...)
	}
	b.dead = 0
}

// next returns an instant before which nothing is due; what was removed meanwhile may make it too early.
func (d *deadlines[E]) next() (at int64, ok bool) {
	for len(d.keys) > 0 {
		if b := d.buckets[d.keys[0]]; b != nil && len(b.items) > 0 {
			return b.min, true
		}
		d.dropFirst()
	}
	return 0, false
}

// popDue removes and returns the earliest entry whose instant has come.
func (d *deadlines[E]) popDue(now int64) (due E, ok bool) {
	for len(d.keys) > 0 {
		b := d.buckets[d.keys[0]]
		if b == nil {
			d.dropFirst()
			continue
		}
		if len(b.items) > 0 && b.min > now {
			return due, false
		}
		if !b.sorted {
			slices.SortFunc(b.items, func(x, y deadline[E]) int { return d.compare(y, x) })
			b.sorted = true
		}
		for n := len(b.items); n > 0; n = len(b.items) {
			x := b.items[n-1]
			live := d.live(x.e, x.at)
			if live && x.at > now {
				b.min = x.at
				return due, false
			}
			b.items[n-1] = deadline[E]{}
			b.items = b.items[:n-1]
			if live {
				return x.e, true
			}
		}
		d.dropFirst()
	}
	return due, false
}

func (d *deadlines[E]) dropFirst() {
	delete(d.buckets, d.keys[0])
	d.keys.pop()
	d.tidy()
}

// compare orders by instant, then by sequence number.
func (d *deadlines[E]) compare(x, y deadline[E]) int {
	if x.at != y.at {
		return cmp.Compare(x.at, y.at)
	}
	return cmp.Compare(d.seq(x.e), d.seq(y.e))
}

// ascending orders keys.
type ascending struct{}

func (ascending) less(a, b int64) bool { return a < b }
func (ascending) placed(int64, int)    {}

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

// count returns how many come due up to an instant.
func (d *deadlines[E]) count(until int64) (n int) {
	last := until >> bucketShift
	for key, b := range d.buckets {
		if key > last {
			continue
		}
		if b.dead > 0 {
			b.compact(d.live)
		}
		if key < last {
			n += len(b.items)
			continue
		}
		for _, x := range b.items {
			if x.at <= until && d.live(x.e, x.at) {
				n++
			}
		}
	}
	return n
}

// Spans of dueCounts, in milliseconds.
const (
	minute = 60_000
	hour   = 60 * minute
)

// dueCounts counts messages by the minute and by the hour in which they are due, so that a question costs the same
// for a thousand messages and for a million.
type dueCounts struct {
	minutes, hours map[int64]int // those that are not zero
}

// add counts n messages more that are due at an instant.
func (c *dueCounts) add(at int64, n int) {
	if c.minutes == nil {
		c.minutes, c.hours = make(map[int64]int), make(map[int64]int)
	}
	for _, x := range []struct {
		counts map[int64]int
		key    int64
	}{{c.minutes, at / minute}, {c.hours, at / hour}} {
		if x.counts[x.key] += n; x.counts[x.key] == 0 {
			delete(x.counts, x.key)
		}
	}
	if len(c.minutes) == 0 {
		c.minutes, c.hours = nil, nil // the maps would keep the memory that they needed once
	}
}

// between returns how many are due from an instant on and before another one, both at the beginning of a minute.
func (c *dueCounts) between(from, to int64) (n int) {
	for from < to {
		if from%hour == 0 && from+hour <= to {
			n += c.hours[from/hour]
			from += hour
		} else {
			n += c.minutes[from/minute]
			from += minute
		}
	}
	return n
}
