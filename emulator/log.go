package emulator

import (
	"slices"
	"sort"
)

// layout is the shape of logs.
type layout struct {
	chunk int // bounds what an insertion or removal in the middle of a log has to move
	front int // chunks at and behind the place of the next delivery that are never packed
	tail  int // chunks at the end that are not packed yet
}

// usual is the layout of all logs outside of tests. The tail has room for what is being written.
// A packed chunk of it fits in 8 KiB.
var usual = &layout{chunk: 146, front: 64, tail: 16}

// log keeps the entries of one sub-queue by ascending sequence number, which is the order of peeks (PEEK-4) and of
// deliveries (ORD-1). It is a sorted list of sorted chunks: nearly all insertions are at the end and nearly all
// removals at the front, both of which cost the same however deep the log is.
//
// Chunks far from the front can be packed: see [log.pack].
type log struct {
	layout *layout // nil: usual
	sub    SubQueue
	chunks []chunk // none is empty
	n      int
	tried  int64   // packing was tried for entries with lower numbers
	opened []int64 // the first numbers of chunks that were opened since
}

func (l *log) shape() *layout {
	if l.layout == nil {
		return usual
	}
	return l.layout
}

// chunkAt returns the index of the first chunk that can have a number that is at least seq. It looks at both ends
// first, then where the number would be if all chunks had as many, and from there in growing steps. It touches no
// entry, which would be a cache miss for each chunk.
func (l *log) chunkAt(seq int64) int {
	n := len(l.chunks)
	if n == 0 || l.chunks[0].top >= seq {
		return 0
	}
	if c := &l.chunks[n-1]; c.first() <= seq {
		if c.top >= seq {
			return n - 1
		}
		return n
	}
	low, high := 0, n-1 // the one at low ends before seq, that at high does not
	bottom, top := l.chunks[low].top, l.chunks[high].top
	at := int(float64(seq-bottom) / float64(top-bottom) * float64(high))
	at = min(max(at, 1), n-2)
	up := l.chunks[at].top < seq
	for step := 1; low < at && at < high && up == (l.chunks[at].top < seq); step *= 2 {
		if up {
			low = at
			at += step
		} else {
			high = at
			at -= step
		}
	}
	if low < at && at < high { // beyond the place
		if up {
			high = at
		} else {
			low = at
		}
	}
	return low + 1 + sort.Search(high-low-1, func(i int) bool { return l.chunks[low+1+i].top >= seq })
}

// add inserts e; an entry with the same number may stand in the log only while one of the two is leaving it.
func (l *log) add(e *entry) {
	l.n++
	last := len(l.chunks) - 1
	if last < 0 {
		l.chunks = append(l.chunks, l.newChunk(e))
		return
	}
	if c := &l.chunks[last]; c.last() <= e.seq {
		if c.packed == nil && len(c.loose) < l.shape().chunk {
			c.loose, c.top = append(c.loose, e), max(c.top, e.seq)
		} else {
			c.top = min(c.top, e.seq) // a higher number may have left it, and what comes next stands behind e
			l.chunks = append(l.chunks, l.newChunk(e))
		}
		return
	}
	i := l.chunkAt(e.seq)
	l.noteOpened(&l.chunks[i])
	l.chunks[i].loosen(l.sub)
	c := slices.Insert(l.chunks[i].loose, l.chunks[i].index(e.seq), e)
	if len(c) <= l.shape().chunk {
		l.chunks[i].loose = c
		return
	}
	half := len(c) / 2
	upper := chunk{loose: append(make([]*entry, 0, l.shape().chunk), c[half:]...), top: l.chunks[i].top}
	clear(c[half:])
	l.chunks[i].loose, l.chunks[i].top = c[:half], c[half-1].seq
	l.chunks = slices.Insert(l.chunks, i+1, upper)
}

func (l *log) newChunk(e *entry) chunk {
	return chunk{loose: append(make([]*entry, 0, l.shape().chunk), e), top: e.seq}
}

// remove takes e out; it does nothing if e is not in the log.
func (l *log) remove(e *entry) {
	for i := l.chunkAt(e.seq); i < len(l.chunks) && l.chunks[i].first() <= e.seq; i++ {
		c := &l.chunks[i]
		for j := c.index(e.seq); j < c.len() && c.seq(j) == e.seq; j++ {
			if c.entry(j) == e {
				l.removeAt(i, j)
				return
			}
		}
	}
}

func (l *log) removeAt(i, j int) {
	l.n--
	switch {
	case l.chunks[i].len() > 1:
		l.chunks[i].removeAt(j)
	case i == 0:
		l.chunks[0] = chunk{}
		l.chunks = l.chunks[1:]
	default:
		l.chunks = slices.Delete(l.chunks, i, i+1)
	}
}

// find returns the entry with the number seq that is not on its way into the log, or nil.
func (l *log) find(seq int64) *entry {
	c, j := l.locate(seq)
	if c == nil {
		return nil
	}
	l.noteOpened(c)
	return c.openAt(j, l.sub)
}

// findLoose is find for what is deferred or scheduled: what is packed is neither.
func (l *log) findLoose(seq int64) *entry {
	c, j := l.locate(seq)
	if c == nil {
		return nil
	}
	return c.entry(j)
}

// ready reports whether find would return an entry that a receive may take: all that is packed is ready.
func (l *log) ready(seq int64) bool {
	c, j := l.locate(seq)
	if c == nil {
		return false
	}
	e := c.entry(j)
	return e == nil || e.ready()
}

// show returns the entry that find would return, or nil, for those who only look: as of [log.look].
func (l *log) show(seq int64, passing **entry) *entry {
	c, j := l.locate(seq)
	if c == nil {
		return nil
	}
	return c.at(j, l.sub, passing)
}

// has reports whether find would return an entry.
func (l *log) has(seq int64) bool {
	c, _ := l.locate(seq)
	return c != nil
}

// expires returns when the entry that find would return expires, or 0.
func (l *log) expires(seq int64) int64 {
	c, j := l.locate(seq)
	if c == nil {
		return 0
	}
	if e := c.entry(j); e != nil {
		return e.expires()
	}
	return c.packed[j].expires()
}

// locate returns the place of the entry that find would return; no chunk if there is none.
func (l *log) locate(seq int64) (*chunk, int) {
	for i := l.chunkAt(seq); i < len(l.chunks) && l.chunks[i].first() <= seq; i++ {
		c := &l.chunks[i]
		for j := c.index(seq); j < c.len() && c.seq(j) == seq; j++ {
			if e := c.entry(j); e == nil || e.mark != markPending && e.mark != markRemoved {
				return c, j
			}
		}
	}
	return nil, 0
}

// ascend calls f for the entries whose number is at least from, in order, until f returns false.
// f must not change the log. Chunks that it comes to are packed no more.
func (l *log) ascend(from int64, f func(*entry) bool) {
	for i := l.chunkAt(from); i < len(l.chunks); i++ {
		c := &l.chunks[i]
		c.loosen(l.sub)
		for j := c.index(from); j < len(c.loose); j++ {
			if !f(c.loose[j]) {
				return
			}
		}
	}
}

// descend calls f for the entries that are not packed and have numbers below from, the last one first, until f
// returns false. f must not change the log.
func (l *log) descend(from int64, f func(*entry) bool) {
	for i := min(l.chunkAt(from), len(l.chunks)-1); i >= 0; i-- {
		c := l.chunks[i].loose
		for j := len(c) - 1; j >= 0; j-- {
			if c[j] != nil && c[j].seq < from && !f(c[j]) {
				return
			}
		}
	}
}

// look is ascend for those who only look: f must not change or keep what it is shown, and what is packed stays so.
func (l *log) look(from int64, f func(*entry) bool) {
	var passing *entry // shows one packed entry after the other
	for i := l.chunkAt(from); i < len(l.chunks); i++ {
		c := &l.chunks[i]
		for j := c.index(from); j < c.len(); j++ {
			if !f(c.at(j, l.sub, &passing)) {
				return
			}
		}
	}
}

// lookBack is look in the other direction: f is called for the entries whose number is at most from, the last one
// first.
func (l *log) lookBack(from int64, f func(*entry) bool) {
	var passing *entry
	i := l.chunkAt(from)
	for i+1 < len(l.chunks) && l.chunks[i+1].first() <= from { // one number may stand there twice
		i++
	}
	for i = min(i, len(l.chunks)-1); i >= 0; i-- {
		c := &l.chunks[i]
		for j := c.len() - 1; j >= 0; j-- {
			if c.seq(j) > from {
				continue
			}
			if !f(c.at(j, l.sub, &passing)) {
				return
			}
		}
	}
}
