package emulator

// box is one sub-queue with all its entries. Those of a partition also stand on its shelf, from which they are served, and a session
// knows the numbers of its own; the others are served from the box's own shelf. The queue's mutex guards it.
type box struct {
	shelf
	parts     []shelf  // by partition; nil unless the queue is partitioned and this is its main box
	deferred  int      // entries in state Deferred
	scheduled int      // entries in state Scheduled
	dues      calendar // of those
	bytes     int64
	pending   int // entries that are not committed yet
	moving    int // entries that are being forwarded or parked (CNT-6)
}

// remark gives e, which is committed, another mark.
func (b *box) remark(e *entry, m mark) {
	if e.mark == markMoving {
		b.moving--
	}
	if e.mark = m; m == markMoving {
		b.moving++
	}
}

// inSession reports whether e is served from its session.
func (b *box) inSession(e *entry) bool { return e.session != nil && b.sub == Main }

// supplyOf returns the supply from which e is served.
func (b *box) supplyOf(e *entry) *supply {
	switch {
	case b.inSession(e):
		return &e.session.supply
	case b.parts != nil:
		return &b.parts[partitionOf(e.seq)].supply
	}
	return &b.supply
}

func (b *box) insert(e *entry) {
	b.add(e)
	switch {
	case b.inSession(e):
		e.session.numbers.add(e.seq)
	case b.parts != nil:
		b.parts[partitionOf(e.seq)].add(e)
	}
}

func (b *box) erase(e *entry) {
	b.remove(e)
	switch {
	case b.inSession(e):
		e.session.numbers.remove(e.seq)
	case b.parts != nil:
		b.parts[partitionOf(e.seq)].remove(e)
	}
}

// makeAvailable lets receives have e, which is at rest and active.
func (b *box) makeAvailable(e *entry) {
	s := b.supplyOf(e)
	s.makeAvailable(e)
	if s != &b.supply && e.session == nil {
		b.available++ // consumers of a partitioned queue wait at the box
	}
}

// take removes e, which is ready, from what is available and gives it the mark m.
func (b *box) take(e *entry, m mark) {
	s := b.supplyOf(e)
	s.take(e, m)
	if s != &b.supply && e.session == nil {
		b.available--
	}
}

// nextReady returns the next entry for a consumer that waits at the box: of the first ones of all partitions, the one
// that arrived first (PART-6).
func (b *box) nextReady() *entry {
	if b.parts == nil {
		return b.shelf.nextReady()
	}
	var first *entry
	for i := range b.parts {
		e := b.parts[i].nextReady()
		if e != nil && (first == nil || e.enqueued < first.enqueued || e.enqueued == first.enqueued && e.row < first.row) {
			first = e
		}
	}
	return first
}

// admit takes in an entry that is at rest.
func (b *box) admit(e *entry) {
	e.mark = markFree
	b.bytes += e.body.counted()
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
		b.dues.add(e.due(), by)
	}
}

// removeStored takes a committed entry out of the log.
func (b *box) removeStored(e *entry) {
	b.bytes -= e.body.counted()
	b.tally(e, -1)
	b.erase(e)
	b.remark(e, markGone)
}

// addExpected takes in an entry whose insertion is being written.
func (b *box) addExpected(e *entry) {
	e.mark = markPending
	b.pending++
	b.insert(e)
}

// arrive makes an expected entry visible.
func (b *box) arrive(e *entry) {
	b.pending--
	b.admit(e)
}

// removeExpected takes out an expected entry whose insertion failed.
func (b *box) removeExpected(e *entry) {
	b.pending--
	b.erase(e)
	e.mark = markGone
}

// messages holds the messages of an entity, in its sub-queues. The entity's mutex guards them.
type messages struct {
	q     *Entity
	boxes [3]box // by SubQueue
}

func (m *messages) init(q *Entity) {
	m.q = q
	for i := range m.boxes {
		m.boxes[i].sub, m.boxes[i].layout = SubQueue(i), q.ns.common.layout
	}
	if q.options.EnablePartitioning {
		m.boxes[Main].parts = make([]shelf, partitions)
	}
}

// pack packs what waits deep in the queue. The caller has no entry in use that is at rest.
func (m *messages) pack() {
	for i := range m.boxes {
		if b := &m.boxes[i]; b.packs() {
			b.pack(b.next)
		}
	}
}

// packs reports whether entries can be packed: those of a partition stand on a shelf besides the box's.
func (b *box) packs() bool { return b.parts == nil }
