package emulator

import "container/heap"

// box is one sub-queue: its log, what of it is available, and the consumers that wait for it.
// Its queue's mutex guards it.
type box struct {
	log
	sub       SubQueue
	available int   // entries that are ready
	next      int64 // the walk has seen all entries with lower numbers: those that are ready stand in returned
	returned  seqHeap
	line      line
	deferred  int // entries in state Deferred
	scheduled int // entries in state Scheduled
	bytes     int64
	pending   int // entries that are not committed yet
}

// admit takes in an entry that is at rest.
func (b *box) admit(e *entry) {
	e.mark = markFree
	b.bytes += int64(e.body.size)
	b.tally(e, 1)
	if e.state == Active {
		b.makeAvailable(e)
	}
}

// tally counts e in or out by its state.
func (b *box) tally(e *entry, by int) {
	switch e.state {
	case Deferred:
		b.deferred += by
	case Scheduled:
		b.scheduled += by
	}
}

// dismiss takes a committed entry out of the log.
func (b *box) dismiss(e *entry) {
	b.bytes -= int64(e.body.size)
	b.tally(e, -1)
	b.remove(e)
	e.mark = markGone
}

// expect takes in an entry whose insertion is being written.
func (b *box) expect(e *entry) {
	e.mark = markPending
	b.pending++
	b.add(e)
}

// arrive makes an expected entry visible.
func (b *box) arrive(e *entry) {
	b.pending--
	b.admit(e)
}

// forget takes out an expected entry whose insertion failed.
func (b *box) forget(e *entry) {
	b.pending--
	b.remove(e)
	e.mark = markGone
}

// makeAvailable lets receives have e, which is at rest and active.
func (b *box) makeAvailable(e *entry) {
	e.mark = markFree
	b.available++
	if e.seq < b.next && !e.returned {
		e.returned = true
		heap.Push(&b.returned, e)
	}
}

// take removes e, which is ready, from what is available and gives it the mark m.
func (b *box) take(e *entry, m mark) {
	e.mark = m
	b.available--
}

// nextReady returns the available entry with the lowest number (ORD-1) without taking it, or nil.
func (b *box) nextReady() *entry {
	for len(b.returned) > 0 {
		if e := b.returned[0]; e.ready() {
			return e
		}
		heap.Pop(&b.returned).(*entry).returned = false
	}
	if b.available == 0 {
		return nil
	}
	var found *entry
	b.ascend(b.next, func(e *entry) bool {
		if e.ready() {
			found = e
			return false
		}
		b.next = e.seq + 1
		return true
	})
	return found
}

// seqHeap is a heap of entries, the lowest number on top.
type seqHeap []*entry

func (h seqHeap) Len() int           { return len(h) }
func (h seqHeap) Less(i, j int) bool { return h[i].seq < h[j].seq }
func (h seqHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *seqHeap) Push(x any)        { *h = append(*h, x.(*entry)) }
func (h *seqHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return e
}
