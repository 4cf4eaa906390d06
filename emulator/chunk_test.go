package emulator

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// numbers are those of an entry that packing keeps.
func numbers(e *entry) packedEntry { return e.pack() }

// TestLog_PackedAgainstASortedSlice does the same random operations on a log that is packed again and again and on a slice.
func TestLog_PackedAgainstASortedSlice(t *testing.T) {
	r := NewRandom(t)
	for range 30 {
		l := log{layout: &layout{chunk: 1 + r.IntN(5), front: r.IntN(3), tail: r.IntN(3)}, sub: DeadLetter}
		var model []packedEntry
		last, packed := int64(0), 0
		place := func(seq int64) (int, bool) {
			return slices.BinarySearchFunc(model, seq, func(p packedEntry, s int64) int { return int(p.seq - s) })
		}
		insert := func(seq int64) {
			i, taken := place(seq)
			if taken {
				return
			}
			e := &entry{
				seq: seq, first: r.Int64N(9), enqueued: r.Int64N(9), ttl: r.Int64N(9), row: r.Int64N(9), count: uint32(r.IntN(9)), sub: DeadLetter,
				body: &payload{id: r.Int64N(9), size: uint32(r.IntN(9))},
			}
			l.add(e)
			model = slices.Insert(model, i, numbers(e))
			last = max(last, seq)
		}
		for range 3000 {
			switch k := r.IntN(10); {
			case k < 4:
				insert(last + 1 + r.Int64N(2))
			case k < 5:
				insert(r.Int64N(last + 1))
			case k < 7 && len(model) > 0:
				i := r.IntN(len(model)) * r.IntN(2) // the first, or any
				l.remove(l.find(model[i].seq))
				model = slices.Delete(model, i, i+1)
			default:
				l.pack(r.Int64N(last + 2))
			}
			packed += checkPacked(t, &l, model, r.Int64N(last+3))
		}
		if packed == 0 {
			t.Error("nothing was ever packed")
		}
	}
}

// checkPacked compares a log, from a place on, with a model, and returns how many of its chunks are packed.
func checkPacked(t *testing.T, l *log, model []packedEntry, from int64) (packed int) {
	t.Helper()
	for i := range l.chunks {
		if l.chunks[i].packed != nil {
			packed++
		}
	}
	if l.n != len(model) {
		t.Fatalf("%d entries, want %d", l.n, len(model))
	}
	i, _ := slices.BinarySearchFunc(model, from, func(p packedEntry, s int64) int { return int(p.seq - s) })
	var seen []packedEntry
	walk := l.look
	if from%5 == 0 {
		walk = l.ascend
	}
	walk(from, func(e *entry) bool {
		if e.sub != DeadLetter || e.state != Active || e.mark != markFree {
			t.Fatalf("number %d is in sub-queue %d, state %d, mark %d", e.seq, e.sub, e.state, e.mark)
		}
		seen = append(seen, numbers(e))
		return len(seen) < 7
	})
	if want := model[i:min(len(model), i+7)]; !slices.Equal(seen, want) {
		t.Fatalf("from %d: %v, want %v", from, seen, want)
	}
	if len(seen) > 0 {
		p := seen[len(seen)-1]
		if got := l.expires(p.seq); got != p.expires() {
			t.Fatalf("number %d expires at %d, want %d", p.seq, got, p.expires())
		}
	}
	return packed
}

// TestLog_PacksOnlyWhatNobodyNeeds: an entry with more than numbers, in use or coming next stays as it is.
func TestLog_PacksOnlyWhatNobodyNeeds(t *testing.T) {
	chunks := usual.front + usual.tail + 20
	for name, c := range map[string]struct {
		touch  func(*entry)
		packed bool
	}{
		"at rest":            {func(*entry) {}, true},
		"delivered before":   {func(e *entry) { e.count = 3 }, true},
		"being written":      {func(e *entry) { e.mark = markPending }, false},
		"locked":             {func(e *entry) { e.mark = markLocked }, false},
		"being changed":      {func(e *entry) { e.mark = markBusy }, false},
		"deferred":           {func(e *entry) { e.state = Deferred }, false},
		"scheduled":          {func(e *entry) { e.state = Scheduled }, false},
		"changed":            {func(e *entry) { e.extra = &extra{overlay: []byte{1}} }, false},
		"of a session":       {func(e *entry) { e.session = &session{} }, true},
		"returned":           {func(e *entry) { e.returned = true }, false},
		"body in memory":     {func(e *entry) { e.body.data = []byte{1} }, false},
		"one of some copies": {func(e *entry) { e.body.copies = newCopies(2) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var l log
			for i := range int64(chunks * usual.chunk) {
				l.add(&entry{seq: i, body: &payload{}})
			}
			middle := usual.front + 10
			c.touch(l.chunks[middle].loose[7])
			l.pack(int64(3 * usual.chunk))
			for i := range l.chunks {
				want := i >= 3+usual.front && i < chunks-usual.tail
				if strings.HasPrefix(name, "being") && i >= middle {
					want = false // it is tried again
				}
				if got := l.chunks[i].packed != nil; got != want {
					t.Errorf("chunk %d is packed: %v, want %v", i, got, want)
				}
				if open := l.chunks[i].open > 0; open != (want && i == middle && !c.packed) {
					t.Errorf("chunk %d has %d open entries", i, l.chunks[i].open)
				}
			}
		})
	}
}

// TestLog_PacksAgain: a chunk whose entries were being written, or from which somebody took one, is packed later.
func TestLog_PacksAgain(t *testing.T) {
	const want = 20
	var l log
	for i := range int64((usual.front + usual.tail + want) * usual.chunk) {
		l.add(&entry{seq: i, mark: markPending, body: &payload{}})
	}
	count := func() (n int) {
		l.pack(0)
		for i := range l.chunks {
			if l.chunks[i].packed != nil {
				n++
			}
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("%d chunks were packed while their entries were being written", n)
	}
	for i := range l.chunks {
		for _, e := range l.chunks[i].loose {
			e.mark = markFree
		}
	}
	if n := count(); n != want {
		t.Errorf("%d chunks are packed, want %d", n, want)
	}
	open := func() (n int) {
		l.pack(0)
		for i := range l.chunks {
			n += l.chunks[i].open
		}
		return n
	}
	e := l.find(int64((usual.front + 9) * usual.chunk))
	if e.mark = markBusy; open() != 1 {
		t.Errorf("%d entries are open, want the one that is busy", open())
	}
	l.remove(e)
	l.find(int64((usual.front + 8) * usual.chunk))
	if n := open(); n != 0 {
		t.Errorf("%d entries are open, want none", n)
	}
}

// TestPackedEntry_HoldsNoPointer: the garbage collector need not look at a packed entry.
func TestPackedEntry_HoldsNoPointer(t *testing.T) {
	kind := reflect.TypeFor[packedEntry]()
	if kind.Size() > 56 {
		t.Errorf("a packed entry has %d bytes, want 56 at most", kind.Size())
	}
	for i := range kind.NumField() {
		if k := kind.Field(i).Type.Kind(); k != reflect.Int64 && k != reflect.Uint32 {
			t.Errorf("field %s is a %v", kind.Field(i).Name, k)
		}
	}
}
