package emulator

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLog_AgainstASortedSlice does the same random operations on a log and on a slice.
func TestLog_AgainstASortedSlice(t *testing.T) {
	r := NewRandom(t)
	for _, span := range []int64{50, 3000, 1 << 40} { // dense, with holes, sparse
		var l log
		var model []*entry
		next := int64(0)
		for step := range 20_000 {
			switch k := r.IntN(10); {
			case k < 4: // at the end, as sends do
				next += 1 + r.Int64N(1+span/1000)
				e := &entry{seq: next}
				l.add(e)
				model = append(model, e)
			case k < 5: // in the middle, as dead-lettering does
				e := &entry{seq: r.Int64N(span)}
				if i, taken := at(model, e.seq); !taken {
					l.add(e)
					model = slices.Insert(model, i, e)
					next = max(next, e.seq)
				}
			case k < 7 && len(model) > 0: // at the front
				l.remove(model[0])
				model = slices.Delete(model, 0, 1)
			case k < 9 && len(model) > 0:
				i := r.IntN(len(model))
				l.remove(model[i])
				model = slices.Delete(model, i, i+1)
			default:
				l.remove(&entry{seq: r.Int64N(span)}) // not in the log: without effect
			}
			if step%97 == 0 {
				checkLog(t, r, &l, model, span)
			}
		}
		checkLog(t, r, &l, model, span)
		for len(model) > 0 {
			l.remove(model[len(model)-1])
			model = model[:len(model)-1]
		}
		checkLog(t, r, &l, model, span)
	}
}

func at(model []*entry, seq int64) (int, bool) {
	return slices.BinarySearchFunc(model, seq, func(e *entry, s int64) int { return int(e.seq - s) })
}

func checkLog(t *testing.T, r *rand.Rand, l *log, model []*entry, span int64) {
	t.Helper()
	if l.n != len(model) {
		t.Fatalf("%d entries, want %d", l.n, len(model))
	}
	for _, c := range l.chunks {
		if c.len() == 0 || c.len() > l.shape().chunk {
			t.Fatalf("a chunk of %d entries", c.len())
		}
	}
	from := r.Int64N(span + 2)
	i, found := at(model, from)
	if e := l.find(from); (e != nil) != found || found && e != model[i] {
		t.Fatalf("find(%d) = %v, want it: %v", from, e, found)
	}
	limit := r.IntN(600)
	var have []*entry
	l.ascend(from, func(e *entry) bool {
		have = append(have, e)
		return len(have) < limit
	})
	if want := model[i:min(len(model), i+max(limit, 1))]; !slices.Equal(have, want) {
		t.Fatalf("ascend from %d, %d at most: %d entries, want %d", from, limit, len(have), len(want))
	}
}

// TestLog_ANumberBetweenChunksAfterTheHighestHasLeft adds numbers that are lower than one that has stood at the end of a
// full chunk, as the partitions of a queue and commits that fail do.
func TestLog_ANumberBetweenChunksAfterTheHighestHasLeft(t *testing.T) {
	l := log{layout: &layout{chunk: 2, front: 64, tail: 16}}
	highest := &entry{seq: 116}
	l.add(&entry{seq: 100})
	l.add(highest)
	l.remove(highest)
	for _, seq := range []int64{101, 108, 120, 130, 112} {
		l.add(&entry{seq: seq})
	}
	var have []int64
	l.ascend(0, func(e *entry) bool {
		have = append(have, e.seq)
		return true
	})
	if want := []int64{100, 101, 108, 112, 120, 130}; !slices.Equal(have, want) {
		t.Errorf("the log has %v, want %v", have, want)
	}
	if l.find(112) == nil || l.find(108) == nil {
		t.Error("a number is not found")
	}
}

func TestLog_TwoEntriesWithOneNumber(t *testing.T) {
	var l log
	for i := range int64(600) {
		l.add(&entry{seq: i})
	}
	old := l.find(300)
	again := &entry{seq: 300, mark: markPending}
	l.add(again)
	if l.find(300) != old {
		t.Error("found the entry that is on its way in, not the one that is there")
	}
	l.remove(old)
	if e := l.find(300); e != nil {
		t.Errorf("found %v before it has arrived", e)
	}
	again.mark = markFree
	if l.find(300) != again {
		t.Error("did not find the entry that has arrived")
	}
	l.remove(again)
	if l.find(300) != nil || l.n != 599 {
		t.Errorf("%d entries left, want 599", l.n)
	}
}

// TestLog_OneOfTwoBehindAHole: with a hole below them, the place of two equal numbers can't be computed.
func TestLog_OneOfTwoBehindAHole(t *testing.T) {
	var l log
	one, two := &entry{seq: 3, mark: markPending}, &entry{seq: 3, mark: markPending}
	for _, e := range []*entry{{seq: 1}, one, two} {
		l.add(e)
	}
	one.mark = markRemoved
	l.remove(one)
	if l.n != 2 {
		t.Errorf("%d entries are left, want 2", l.n)
	}
	if two.mark = markFree; l.find(3) != two {
		t.Error("the other one is not found")
	}
}

// TestLog_ChunksOfAQueueStayFull guards the memory of the usual case: entries that come in order.
func TestLog_ChunksOfAQueueStayFull(t *testing.T) {
	var l log
	for i := range int64(100_000) {
		l.add(&entry{seq: i})
	}
	if want := 100_000/usual.chunk + 1; len(l.chunks) > want {
		t.Errorf("%d chunks for entries that came in order, want %d at most", len(l.chunks), want)
	}
}
