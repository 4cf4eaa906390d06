package emulator

import (
	"slices"
	"testing"
)

// subQueueModel holds the content that a sub-queue should have, without regard to cost.
type subQueueModel struct {
	pending, ready, busy, deferred, scheduled []*entry
}

// lists returns pointers to all of the model's lists.
func (m *subQueueModel) lists() []*[]*entry {
	return []*[]*entry{&m.pending, &m.ready, &m.busy, &m.deferred, &m.scheduled}
}

func (m *subQueueModel) lowest() *entry {
	if len(m.ready) == 0 {
		return nil
	}
	return slices.MinFunc(m.ready, func(a, b *entry) int { return int(a.seq - b.seq) })
}

// TestBox_AgainstLists does the same random operations on a sub-queue and on plain lists.
func TestBox_AgainstLists(t *testing.T) {
	r := NewRandom(t)
	for range 20 {
		b, m := &subQueue{}, &subQueueModel{}
		next := int64(0)
		pick := func(list *[]*entry) *entry {
			i := r.IntN(len(*list))
			e := (*list)[i]
			*list = slices.Delete(*list, i, i+1)
			return e
		}
		for range 3000 {
			switch k := r.IntN(12); {
			case k < 3:
				next += 1 + r.Int64N(2)
				e := &entry{seq: next, state: State(r.IntN(3)), body: &payload{size: uint32(r.IntN(100))}}
				b.addExpected(e)
				m.pending = append(m.pending, e)
			case k < 5 && len(m.pending) > 0:
				e := pick(&m.pending)
				b.arrive(e)
				m.rest(e)
			case k == 5 && len(m.pending) > 0:
				b.removeExpected(pick(&m.pending))
			case k < 9 && len(m.ready) > 0: // taken, from the front as a rule
				e := m.lowest()
				if k == 8 {
					e = m.ready[r.IntN(len(m.ready))]
				}
				m.ready = slices.DeleteFunc(m.ready, func(x *entry) bool { return x == e })
				b.take(e, markBusy)
				m.busy = append(m.busy, e)
			case k == 9 && len(m.busy) > 0: // given back
				e := pick(&m.busy)
				b.makeAvailable(e)
				m.ready = append(m.ready, e)
			case k == 10 && len(m.busy) > 0:
				b.removeStored(pick(&m.busy))
			case len(m.busy) > 0: // deferred
				e := pick(&m.busy)
				b.tally(e, -1)
				e.state, e.mark = Deferred, markFree
				b.tally(e, 1)
				m.deferred = append(m.deferred, e)
			}
			m.check(t, b)
			if t.Failed() {
				return
			}
		}
	}
}

// rest puts an entry that has arrived where it belongs.
func (m *subQueueModel) rest(e *entry) {
	switch e.state {
	case Active:
		m.ready = append(m.ready, e)
	case Deferred:
		m.deferred = append(m.deferred, e)
	case Scheduled:
		m.scheduled = append(m.scheduled, e)
	}
}

func (m *subQueueModel) check(t *testing.T, b *subQueue) {
	t.Helper()
	n, bytes := 0, int64(0)
	for _, l := range m.lists() {
		n += len(*l)
		for _, e := range *l {
			if l != &m.pending {
				bytes += int64(e.body.size)
			}
		}
	}
	have := [6]int64{int64(b.n), int64(b.available), int64(b.pending), int64(b.deferred), int64(b.scheduled), b.bytes}
	want := [6]int64{int64(n), int64(len(m.ready)), int64(len(m.pending)), int64(len(m.deferred)), int64(len(m.scheduled)), bytes}
	if have != want {
		t.Errorf("entries, available, pending, deferred, scheduled, bytes: %v, want %v", have, want)
	}
	if have, want := b.nextReady(), m.lowest(); have != want {
		t.Errorf("next is %v, want %v", have, want)
	}
}

// TestBox_WalkPastManyLocked: looking for the next entry must not walk again over what it has passed.
func TestBox_WalkPastManyLocked(t *testing.T) {
	b := &subQueue{}
	for i := range int64(10_000) {
		e := &entry{seq: i, body: &payload{}}
		b.addExpected(e)
		b.arrive(e)
	}
	for range 9_999 {
		b.take(b.nextReady(), markLocked)
	}
	if e := b.nextReady(); e.seq != 9_999 || b.next != 9_999 {
		t.Errorf("next is %d and the walk goes on at %d, want 9999 for both", e.seq, b.next)
	}
}
