package emulator

import (
	"slices"
	"sort"
)

// chunk is neighbours in a log: entries, or, if it is packed, numbers. Of a packed chunk single entries can be open:
// those that somebody took before their turn.
type chunk struct {
	loose    []*entry      // nil if all is packed; of a packed chunk those that are open, if any, at their places
	packed   []packedEntry // nil if all is loose; of an open entry only the number counts
	sessions owners        // of what is packed; nil if none is of a session
	top      int64         // no entry has a higher number, and none behind the chunk a lower one
	open     int           // entries that are open
	listed   bool          // stands in the log's list of opened chunks
}

// packedEntry is a free entry that has nothing but numbers. It holds no pointer: a deep queue costs the garbage
// collector nothing, and a message in it takes less than half of the memory.
type packedEntry struct {
	seq, first, enqueued, ttl, row, body int64
	size, count                          uint32
}

// packable reports whether e can be packed: it is ready to be delivered, it has only numbers, and its body is on disk.
func (e *entry) packable() bool {
	return e.ready() && !e.returned && e.extra == nil && e.body.data == nil && e.body.copies == nil
}

func (e *entry) pack() packedEntry {
	return packedEntry{
		seq: e.seq, first: e.first, enqueued: e.enqueued, ttl: e.ttl, row: e.row,
		body: e.body.id, size: e.body.size, count: e.count,
	}
}

// entry makes the entry anew that was packed.
func (p *packedEntry) entry(sub SubQueue) *entry {
	e := &entry{sub: sub, body: new(payload)}
	p.show(e)
	return e
}

// show puts the packed numbers into e, an entry made by entry.
func (p *packedEntry) show(e *entry) {
	e.seq = p.seq
	e.first = p.first
	e.enqueued = p.enqueued
	e.ttl = p.ttl
	e.row = p.row
	e.count = p.count
	e.body.id, e.body.size = p.body, p.size
}

// expires is entry.expires.
func (p *packedEntry) expires() int64 {
	if p.ttl <= 0 {
		return 0
	}
	return p.enqueued + p.ttl
}

// entry returns the entry at a place, nil if it is packed.
func (c *chunk) entry(i int) *entry {
	if c.loose == nil {
		return nil
	}
	return c.loose[i]
}

func (c *chunk) len() int {
	if c.packed != nil {
		return len(c.packed)
	}
	return len(c.loose)
}

func (c *chunk) seq(i int) int64 {
	if c.packed != nil {
		return c.packed[i].seq
	}
	return c.loose[i].seq
}

// at returns an entry. Packed ones are shown in passing, one after the other.
func (c *chunk) at(i int, sub SubQueue, passing **entry) *entry {
	if e := c.entry(i); e != nil {
		return e
	}
	if *passing == nil {
		*passing = c.packed[i].entry(sub)
	} else {
		c.packed[i].show(*passing)
	}
	(*passing).session = c.sessions.at(i)
	return *passing
}

func (c *chunk) first() int64 { return c.seq(0) }
func (c *chunk) last() int64  { return c.seq(c.len() - 1) }

// index returns the index of the first entry whose number is at least seq.
func (c *chunk) index(seq int64) int {
	n := c.len()
	if first := c.first(); seq <= first {
		return 0
	} else if i := seq - first; i < int64(n) && c.seq(int(i)) == seq && c.seq(int(i)-1) < seq {
		return int(i) // numbers without holes
	}
	return sort.Search(n, func(i int) bool { return c.seq(i) >= seq })
}

// loosen makes entries of what is packed.
func (c *chunk) loosen(sub SubQueue) {
	if c.packed == nil {
		return
	}
	for i := range c.packed {
		c.openAt(i, sub)
	}
	c.packed = nil
	c.sessions = nil
	c.open = 0
}

// openAt returns the entry at a place, which it makes if it is packed.
func (c *chunk) openAt(i int, sub SubQueue) *entry {
	if c.loose == nil {
		c.loose = make([]*entry, len(c.packed))
	}
	if c.loose[i] == nil {
		c.loose[i] = c.packed[i].entry(sub)
		c.loose[i].session = c.sessions.at(i)
		c.open++
	}
	return c.loose[i]
}

// removeAt takes out an entry that is not packed.
func (c *chunk) removeAt(i int) {
	c.loose = removed(c.loose, i)
	if c.packed == nil {
		return
	}
	c.packed = removed(c.packed, i)
	if c.sessions != nil {
		c.sessions = removed(c.sessions, i)
	}
	c.open--                             // loose stays, even without entries: others are often taken soon
	if cap(c.packed) > 4*len(c.packed) { // give back the room of those that are gone
		c.packed = slices.Clone(c.packed)
		c.loose = slices.Clone(c.loose)
		c.sessions = slices.Clone(c.sessions)
	}
}

// removed returns s without the element at i. It moves the smaller part.
func removed[E any](s []E, i int) []E {
	if i < len(s)/2 || i == 0 {
		copy(s[1:i+1], s[:i])
		clear(s[:1])
		return s[1:]
	}
	return slices.Delete(s, i, i+1)
}

// pack packs the entries that can be packed, if they are most of the chunk. It reports whether another try is not
// worth it: no active entry of a chunk that was loose is being written.
func (c *chunk) pack() (done bool) {
	done = true
	n := 0
	for _, e := range c.loose {
		switch {
		case e == nil:
		case e.packable():
			n++
		case c.packed == nil && (e.mark == markPending || e.mark == markBusy && e.state == Active):
			done = false
		}
	}
	if c.packed == nil {
		if !done || 2*n < len(c.loose) {
			return done
		}
		c.packed, c.open = make([]packedEntry, len(c.loose)), len(c.loose)
	}
	for i, e := range c.loose {
		switch {
		case e == nil:
		case e.packable():
			c.packed[i], c.loose[i] = e.pack(), nil
			c.open--
		default:
			c.packed[i].seq = e.seq
		}
		if e != nil && e.session != nil {
			c.sessions.put(i, e.session, len(c.packed))
		}
	}
	if c.open == 0 {
		c.loose = nil
	}
	return done
}

// noteOpened notes that a packed chunk is about to be opened before its turn. It is to be packed again.
func (l *log) noteOpened(c *chunk) {
	if c.packed != nil && !c.listed {
		l.opened = append(l.opened, c.first())
		c.listed = true
	}
}

// pack packs the chunks whose turn is far away, so that what waits deep in a queue is a few numbers. next is the
// place of the next delivery: no consumer has an available entry behind it in hand. It must be called where no free
// entry is in use, and where entries stand in no other log. Consumers of sessions take from anywhere: what they take
// is opened entry by entry.
//
// Each chunk is tried once, when it is far enough from the end, and again after an entry was taken from it. The
// chunks that come next stay loose, for they would be opened at once.
func (l *log) pack(next int64) {
	end := len(l.chunks) - l.shape().tail
	if end <= l.shape().front || len(l.opened) == 0 && l.chunks[end-1].first() < l.tried {
		return
	}
	front := l.chunkAt(next) + l.shape().front
	for i := max(l.chunkAt(l.tried), front); i < end && l.chunks[i].pack(); i++ {
		l.tried = l.chunks[i].last() + 1
	}
	again := l.opened[:0]
	for _, seq := range l.opened {
		i := l.chunkAt(seq)
		if i == len(l.chunks) {
			continue
		}
		c := &l.chunks[i]
		if c.listed = i >= front && i < end && !c.pack(); c.listed {
			again = append(again, seq)
		}
	}
	l.opened = again
}
