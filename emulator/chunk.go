package emulator

import "sort"

// chunk is neighbours in a log, loose or packed.
type chunk struct {
	loose  []*entry
	packed []packedEntry // instead of loose
}

// packedEntry is an entry at rest that has nothing but numbers. It holds no pointer: a deep queue costs the garbage
// collector nothing, and a message in it takes less than half of the memory.
type packedEntry struct {
	seq, first, enqueued, ttl, row, body int64
	size, count                          uint32
}

// packable reports whether e can be packed: it is ready to be delivered, it has only numbers, and its body is on disk.
func (e *entry) packable() bool {
	return e.ready() && !e.returned && e.extra == nil && e.session == nil && e.body.data == nil && e.body.copies == nil
}

func (e *entry) pack() packedEntry {
	return packedEntry{
		seq: e.seq, first: e.first, enqueued: e.enqueued, ttl: e.ttl, row: e.row, body: e.body.id, size: e.body.size, count: e.count,
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
	e.seq, e.first, e.enqueued, e.ttl, e.row, e.count = p.seq, p.first, p.enqueued, p.ttl, p.row, p.count
	e.body.id, e.body.size = p.body, p.size
}

// expires is entry.expires.
func (p *packedEntry) expires() int64 {
	if p.ttl <= 0 {
		return 0
	}
	return p.enqueued + p.ttl
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
	switch {
	case c.packed == nil:
		return c.loose[i]
	case *passing == nil:
		*passing = c.packed[i].entry(sub)
	default:
		c.packed[i].show(*passing)
	}
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
	c.loose = make([]*entry, len(c.packed))
	for i := range c.packed {
		c.loose[i] = c.packed[i].entry(sub)
	}
	c.packed = nil
}

// pack packs the chunk if all of its entries can be. It reports whether no active one is being written; while one is, another
// try is worth it.
func (c *chunk) pack() (done bool) {
	if c.packed != nil {
		return true
	}
	for _, e := range c.loose {
		if !e.packable() {
			return e.mark != markPending && (e.mark != markBusy || e.state != Active)
		}
	}
	packed := make([]packedEntry, len(c.loose))
	for i, e := range c.loose {
		packed[i] = e.pack()
	}
	c.loose, c.packed = nil, packed
	return true
}

// open makes a chunk loose when an entry is taken from it before its turn. The chunk is to be packed again.
func (l *log) open(c *chunk) {
	if c.packed != nil {
		l.opened = append(l.opened, c.first())
		c.loosen(l.sub)
	}
}

// pack packs the chunks whose turn is far away, so that what waits deep in a queue is a few numbers. next is the place of the
// next delivery: no consumer has an available entry behind it in hand. It must be called where no entry that is at rest is in use,
// and where entries stand in no other log.
//
// Each chunk is tried once, when it is far enough from the end, and again after an entry was taken from it. The chunks
// that come next stay loose, for they would be opened at once.
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
		if i := l.chunkAt(seq); i >= front && i < end && !l.chunks[i].pack() {
			again = append(again, seq)
		}
	}
	l.opened = again
}
