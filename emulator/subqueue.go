package emulator

// subQueue is one sub-queue with all its entries. Those of a partition also stand in their partition, from which they
// are served, and a session knows the numbers of its own; the others are served from the sub-queue's own partition.
// The queue's mutex guards it.
type subQueue struct {
	partition
	partitions      []partition // by partition; nil unless the queue is partitioned and this is its main sub-queue
	deferred        int         // entries in state Deferred
	scheduled       int         // entries in state Scheduled
	dues            dueCounts   // of those
	bytes           int64
	selectorIndexes *selectorIndexes // of consumers with selectors; nil: there are none
	pending         int              // entries that are not committed yet
	moving          int              // entries that are being forwarded or parked (CNT-6)
}

// remark gives e, which is committed, another mark.
func (b *subQueue) remark(e *entry, m mark) {
	if e.mark == markMoving {
		b.moving--
	}
	if e.mark = m; m == markMoving {
		b.moving++
	}
}

// inSession reports whether e is served from its session.
func (b *subQueue) inSession(e *entry) bool { return e.session != nil && b.sub == Main }

// readyQueueOf returns the ready queue from which e is served.
func (b *subQueue) readyQueueOf(e *entry) *readyQueue {
	switch {
	case b.inSession(e):
		return &e.session.readyQueue
	case b.partitions != nil:
		return &b.partitions[partitionOf(e.seq)].readyQueue
	}
	return &b.readyQueue
}

func (b *subQueue) insert(e *entry) {
	b.add(e)
	switch {
	case b.inSession(e):
		e.session.numbers.add(e.seq)
	case b.partitions != nil:
		b.partitions[partitionOf(e.seq)].add(e)
	}
}

func (b *subQueue) erase(e *entry) {
	b.remove(e)
	switch {
	case b.inSession(e):
		e.session.numbers.remove(e.seq)
	case b.partitions != nil:
		b.partitions[partitionOf(e.seq)].remove(e)
	}
}

// makeAvailable lets receives take e, which is free and active.
func (b *subQueue) makeAvailable(e *entry) {
	s := b.readyQueueOf(e)
	e.mark = markFree
	s.available++
	if e.seq < s.next && !e.returned {
		s.returned.push(e)
	}
	if s != &b.readyQueue && e.session == nil {
		b.available++ // consumers of a partitioned queue wait at the sub-queue
	}
}

// take removes e, which is ready, from what is available and gives it the mark m.
func (b *subQueue) take(e *entry, m mark) {
	s := b.readyQueueOf(e)
	e.mark = m
	s.available--
	if s != &b.readyQueue && e.session == nil {
		b.available--
	}
}

// nextReady returns the next entry for a consumer that waits at the sub-queue: of the first ones of all partitions,
// the one that arrived first (PART-6).
func (b *subQueue) nextReady() *entry {
	if b.partitions == nil {
		return b.partition.nextReady()
	}
	var first *entry
	for i := range b.partitions {
		e := b.partitions[i].nextReady()
		if e != nil && (first == nil || e.before(first)) {
			first = e
		}
	}
	return first
}

// before reports whether e arrived before another entry (PART-6).
func (e *entry) before(other *entry) bool {
	return e.enqueued < other.enqueued || e.enqueued == other.enqueued && e.row < other.row
}

// wake pokes consumers that can take what is available.
func (b *subQueue) wake() {
	if b.selectorIndexes != nil {
		b.selectorIndexes.wake()
		return
	}
	b.readyQueue.wake()
}

// admit takes in a free entry.
func (b *subQueue) admit(e *entry) {
	e.mark = markFree
	b.bytes += e.body.counted()
	b.tally(e, 1)
	if e.state == Active {
		b.makeAvailable(e)
	}
}

// tally counts e in or out by its state.
func (b *subQueue) tally(e *entry, by int) {
	switch e.state {
	case Deferred:
		b.deferred += by
	case Scheduled:
		b.scheduled += by
		b.dues.add(e.extras().due, by)
	}
}

// removeStored takes a committed entry out of the log.
func (b *subQueue) removeStored(e *entry) {
	b.bytes -= e.body.counted()
	b.tally(e, -1)
	b.erase(e)
	b.remark(e, markRemoved)
}

// addExpected takes in an entry whose insertion is being written.
func (b *subQueue) addExpected(e *entry) {
	e.mark = markPending
	b.pending++
	b.insert(e)
}

// arrive makes an expected entry visible.
func (b *subQueue) arrive(e *entry) {
	b.pending--
	b.admit(e)
}

// removeExpected takes out an expected entry whose insertion failed.
func (b *subQueue) removeExpected(e *entry) {
	b.pending--
	b.erase(e)
	e.mark = markRemoved
}

// messages holds the messages of an entity, in its sub-queues. The entity's mutex guards them.
type messages struct {
	q         *Entity
	subQueues [3]subQueue // by SubQueue
}

func (m *messages) init(q *Entity) {
	m.q = q
	for i := range m.subQueues {
		m.subQueues[i].sub, m.subQueues[i].layout = SubQueue(i), q.ns.common.layout
	}
	if q.options.EnablePartitioning {
		m.subQueues[Main].partitions = make([]partition, partitions)
	}
}

// pack packs what waits deep in the queue. The caller has no entry in use that is free.
func (m *messages) pack() {
	for i := range m.subQueues {
		if b := &m.subQueues[i]; b.partitions == nil {
			b.pack(b.next)
		}
	}
}
