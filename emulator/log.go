package emulator

import (
	"slices"
	"sort"
)

// chunkSize bounds what an insertion or removal in the middle of a log has to move.
const chunkSize = 256

// log keeps the entries of one sub-queue by ascending sequence number, which is the order of peeks (PEEK-4) and of
// deliveries (ORD-1). It is a sorted list of sorted chunks: nearly all insertions are at the end and nearly all
// removals at the front, both of which cost the same however deep the log is.
type log struct {
	chunks [][]*entry // no chunk is empty
	n      int
}

// chunkAt returns the index of the first chunk whose last number is at least seq.
func (l *log) chunkAt(seq int64) int {
	if n := len(l.chunks); n > 0 {
		if c := l.chunks[0]; c[len(c)-1].seq >= seq {
			return 0 // settlements come from the front
		}
		if c := l.chunks[n-1]; c[0].seq <= seq {
			if c[len(c)-1].seq >= seq {
				return n - 1
			}
			return n
		}
	}
	return sort.Search(len(l.chunks), func(i int) bool {
		c := l.chunks[i]
		return c[len(c)-1].seq >= seq
	})
}

// indexIn returns the index of the first entry of c whose number is at least seq.
func indexIn(c []*entry, seq int64) int {
	if first := c[0].seq; seq <= first {
		return 0
	} else if i := seq - first; i < int64(len(c)) && c[i].seq == seq {
		return int(i) // numbers without holes
	}
	return sort.Search(len(c), func(i int) bool { return c[i].seq >= seq })
}

// add inserts e; an entry with the same number may stand in the log only while one of the two is leaving it.
func (l *log) add(e *entry) {
	l.n++
	last := len(l.chunks) - 1
	if last < 0 {
		l.chunks = append(l.chunks, newChunk(e))
		return
	}
	if c := l.chunks[last]; c[len(c)-1].seq <= e.seq {
		if len(c) < chunkSize {
			l.chunks[last] = append(c, e)
		} else {
			l.chunks = append(l.chunks, newChunk(e))
		}
		return
	}
	i := l.chunkAt(e.seq)
	c := l.chunks[i]
	c = slices.Insert(c, indexIn(c, e.seq), e)
	if len(c) <= chunkSize {
		l.chunks[i] = c
		return
	}
	half := len(c) / 2
	upper := append(make([]*entry, 0, chunkSize), c[half:]...)
	clear(c[half:])
	l.chunks[i] = c[:half]
	l.chunks = slices.Insert(l.chunks, i+1, upper)
}

func newChunk(e *entry) []*entry {
	return append(make([]*entry, 0, chunkSize), e)
}

// remove takes e out; it does nothing if e is not in the log.
func (l *log) remove(e *entry) {
	for i := l.chunkAt(e.seq); i < len(l.chunks) && l.chunks[i][0].seq <= e.seq; i++ {
		c := l.chunks[i]
		for j := indexIn(c, e.seq); j < len(c) && c[j].seq == e.seq; j++ {
			if c[j] == e {
				l.removeAt(i, j)
				return
			}
		}
	}
}

func (l *log) removeAt(i, j int) {
	l.n--
	c := l.chunks[i]
	switch {
	case len(c) > 1 && j == 0:
		c[0] = nil
		l.chunks[i] = c[1:]
	case len(c) > 1:
		l.chunks[i] = slices.Delete(c, j, j+1)
	case i == 0:
		l.chunks[0] = nil
		l.chunks = l.chunks[1:]
	default:
		l.chunks = slices.Delete(l.chunks, i, i+1)
	}
}

// find returns the entry with the number seq that is not on its way into the log, or nil.
func (l *log) find(seq int64) *entry {
	var found *entry
	l.ascend(seq, func(e *entry) bool {
		if e.seq == seq && (e.mark == markPending || e.mark == markGone) {
			return true
		}
		if e.seq == seq {
			found = e
		}
		return false
	})
	return found
}

// ascend calls f for the entries whose number is at least from, in order, until f returns false.
// f must not change the log.
func (l *log) ascend(from int64, f func(*entry) bool) {
	for i := l.chunkAt(from); i < len(l.chunks); i++ {
		c := l.chunks[i]
		for j := indexIn(c, from); j < len(c); j++ {
			if !f(c[j]) {
				return
			}
		}
	}
}
