package emulator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSeqs_AgainstASortedSlice adds and removes numbers, near the ends and in the middle, some of them twice.
func TestSeqs_AgainstASortedSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l seqList
	var want []int64
	grows := true
	for step := range 40_000 {
		switch {
		case len(want) == 0:
			grows = true
		case len(want) > 5*seqChunk:
			grows = false
		}
		if add := r.IntN(4) > 0 == grows; add {
			seq := r.Int64N(4 * seqChunk)
			if r.IntN(2) == 0 && len(want) > 0 {
				seq = want[len(want)-1] + r.Int64N(2)
			}
			if n := countOf(want, seq); n < 2 {
				l.add(seq)
				at, _ := slices.BinarySearch(want, seq)
				want = slices.Insert(want, at, seq)
			}
		} else {
			seq := r.Int64N(4 * seqChunk)
			if len(want) > 0 && r.IntN(4) > 0 {
				seq = want[r.IntN(1+r.IntN(len(want)))]
			}
			l.remove(seq)
			if at, found := slices.BinarySearch(want, seq); found {
				want = slices.Delete(want, at, at+1)
			}
		}
		if l.len() != len(want) {
			t.Fatalf("step %d: %d numbers, want %d", step, l.len(), len(want))
		}
		if step%97 == 0 {
			wantSeqs(t, l, want, r.Int64N(4*seqChunk))
		}
	}
}

func countOf(l []int64, seq int64) int {
	at, _ := slices.BinarySearch(l, seq)
	end, _ := slices.BinarySearch(l, seq+1)
	return end - at
}

// wantSeqs compares both walks, from the ends and from a number on, with the numbers that are wanted.
func wantSeqs(t *testing.T, l seqList, want []int64, from int64) {
	t.Helper()
	once := slices.Compact(slices.Clone(want))
	for _, seq := range []int64{math.MinInt64, from} {
		at, _ := slices.BinarySearch(once, seq)
		if got := slices.Collect(l.from(seq)); !slices.Equal(got, once[at:]) {
			t.Fatalf("from %d: %d\nwant %d", seq, got, once[at:])
		}
	}
	for _, seq := range []int64{math.MaxInt64 - 1, from} {
		at, _ := slices.BinarySearch(once, seq+1)
		down := slices.Clone(once[:at])
		slices.Reverse(down)
		if got := slices.Collect(l.back(seq)); !slices.Equal(got, down) {
			t.Fatalf("back from %d: %d\nwant %d", seq, got, down)
		}
	}
}
