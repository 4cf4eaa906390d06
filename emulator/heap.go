package emulator

// heap is a binary heap, the least element by O on top. Its zero value is empty.
type heap[E any, O order[E]] []E

// order says how a heap orders its elements. It is a type without fields: a heap needs no more room than a slice.
type order[E any] interface {
	less(a, b E) bool
	// placed tells the element its index, by which it can be removed or fixed; -1 when it has left.
	placed(e E, index int)
}

func (h *heap[E, O]) push(e E) {
	*h = append(*h, e)
	h.up(len(*h)-1, e)
}

func (h *heap[E, O]) pop() E { return h.remove(0) }

// remove removes and returns the element at index i.
func (h *heap[E, O]) remove(i int) E {
	var o O
	old := *h
	e, last := old[i], old[len(old)-1]
	clear(old[len(old)-1:])
	if *h = old[:len(old)-1]; i < len(*h) {
		h.put(i, last)
		h.fix(i)
	}
	o.placed(e, -1)
	return e
}

// fix restores the order after the element at index i has changed.
func (h heap[E, O]) fix(i int) {
	e := h[i]
	h.down(h.up(i, e), e)
}

// up puts e, which belongs at index i or above, in its place and returns that.
func (h heap[E, O]) up(i int, e E) int {
	var o O
	for i > 0 {
		parent := (i - 1) / 2
		if !o.less(e, h[parent]) {
			break
		}
		h.put(i, h[parent])
		i = parent
	}
	h.put(i, e)
	return i
}

// down puts e, which belongs at index i or below, in its place.
func (h heap[E, O]) down(i int, e E) {
	var o O
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && o.less(h[child+1], h[child]) {
			child++
		}
		if !o.less(h[child], e) {
			break
		}
		h.put(i, h[child])
		i = child
	}
	h.put(i, e)
}

func (h heap[E, O]) put(i int, e E) {
	var o O
	h[i] = e
	o.placed(e, i)
}
