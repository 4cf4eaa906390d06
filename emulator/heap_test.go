package emulator

import (
	"slices"
	"testing"
)

type numbered struct{ value, index int }

type byValue struct{}

func (byValue) less(a, b *numbered) bool      { return a.value < b.value }
func (byValue) placed(x *numbered, index int) { x.index = index }

// TestHeap_AgainstASortedSlice does the same random operations on a heap and on a slice.
func TestHeap_AgainstASortedSlice(t *testing.T) {
	r := NewRandom(t)
	var h heap[*numbered, byValue]
	var all []*numbered
	for range 20_000 {
		switch n := len(all); {
		case n == 0 || r.IntN(100) < 45:
			x := &numbered{value: r.IntN(1000), index: -1}
			h.push(x)
			all = append(all, x)
		case r.IntN(3) == 0:
			x := all[r.IntN(n)]
			x.value = r.IntN(1000)
			h.fix(x.index)
		case r.IntN(2) == 0:
			i := r.IntN(n)
			if x := h.remove(all[i].index); x != all[i] || x.index != -1 {
				t.Fatalf("removed %v instead of %v", x, all[i])
			}
			all = slices.Delete(all, i, i+1)
		default:
			x := h.pop()
			for _, y := range all {
				if y.value < x.value {
					t.Fatalf("%d came before %d", x.value, y.value)
				}
			}
			all = slices.DeleteFunc(all, func(y *numbered) bool { return y == x })
		}
		if len(h) != len(all) {
			t.Fatalf("%d elements, want %d", len(h), len(all))
		}
		for i, x := range h {
			if x.index != i || i > 0 && x.value < h[(i-1)/2].value {
				t.Fatalf("element %d: index %d, value %d", i, x.index, x.value)
			}
		}
	}
}
