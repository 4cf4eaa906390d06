package emulator

import (
	"math"
	"slices"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

const (
	maxSelectors = 1000   // of a sub-queue
	selectorRest = minute // how long one without consumers is kept
)

// seenAll is the value of an index's seen once its selector was evaluated on all messages that wait.
const seenAll = math.MaxInt64

// selectorIndexes are those of a sub-queue: one for each text of a selector. All selectors are evaluated on a message
// when it arrives. On messages that were there before an index, its selector is evaluated only as far as the credit of
// its consumers needs. The entity's mutex guards them.
type selectorIndexes struct {
	// immutable
	q *Entity
	b *subQueue

	byText      map[string]*selectorIndex
	all         []*selectorIndex
	selectors   filter.Index[*selectorIndex]
	incomplete  []*selectorIndex // whose selectors were not evaluated on all that waits
	withReady   []*selectorIndex // those that may have something ready
	unevaluated seqSet           // messages that came, or changed, when their bodies were on disk only
	promised    int              // messages promised to poked consumers, over all indexes
	active      bool             // a goroutine searches
	paused      bool             // the search goes on later, since the journal failed
	message     filterMessage    // of the message that the selectors are evaluated on
}

// selectorIndex has the messages of a sub-queue that a selector selects, for all consumers with that selector. SQLite
// would call it a partial index.
type selectorIndex struct {
	// immutable
	indexes  *selectorIndexes
	selector *filter.Selector

	seen      int64  // messages with lower numbers are evaluated, or in selectorIndexes.unevaluated
	matches   seqSet // messages that are selected, and some that have left
	ready     seqSet // of these, all that a receive may take, and some others
	swept     int    // how many matches the last sweep has left
	listed    bool   // is in selectorIndexes.withReady
	waiters   waitList
	users     int   // consumers
	idleSince int64 // ms; since when there are none
}

// selectorIndexFor returns the index of a selector for one more consumer. It fails with CodeQuotaExceeded.
func (b *subQueue) selectorIndexFor(q *Entity, s *filter.Selector) (*selectorIndex, error) {
	if b.selectorIndexes == nil {
		b.selectorIndexes = &selectorIndexes{q: q, b: b, byText: make(map[string]*selectorIndex)}
	}
	xs := b.selectorIndexes
	x := xs.byText[s.String()]
	if x == nil {
		if len(xs.all) >= maxSelectors && !xs.dropOldest() {
			return nil, errorf(CodeQuotaExceeded, q.path, "The receivers of the entity '%s' have %d different "+
				"selectors. Max allowed: %d.", q.path, len(xs.all), maxSelectors)
		}
		x = &selectorIndex{indexes: xs, selector: s, seen: math.MinInt64}
		xs.byText[s.String()] = x
		xs.all = append(xs.all, x)
		xs.selectors.Add(x, s)
		xs.incomplete = append(xs.incomplete, x)
		xs.backfill(x, nil) // which is all, where the queue is shallow
	}
	x.users++
	return x, nil
}

// leave removes a consumer of the index.
func (x *selectorIndex) leave(now int64) {
	if x.users--; x.users == 0 {
		x.idleSince = now
		x.indexes.q.alarm.set(now + selectorRest)
	}
}

// dropOldest drops the index that has been unused for longest, and reports whether there was one.
func (xs *selectorIndexes) dropOldest() bool {
	var oldest *selectorIndex
	for _, x := range xs.all {
		if x.users == 0 && (oldest == nil || x.idleSince < oldest.idleSince) {
			oldest = x
		}
	}
	if oldest != nil {
		xs.drop(oldest)
	}
	return oldest != nil
}

func (xs *selectorIndexes) drop(x *selectorIndex) {
	delete(xs.byText, x.selector.String())
	xs.selectors.Remove(x)
	other := func(y *selectorIndex) bool { return y == x }
	xs.all = slices.DeleteFunc(xs.all, other)
	xs.incomplete = slices.DeleteFunc(xs.incomplete, other)
	xs.withReady = slices.DeleteFunc(xs.withReady, other)
}

// pruneSelectorIndexes drops the indexes that have had no consumer for a while, and returns when to prune again.
func (m *messages) pruneSelectorIndexes(now int64) (next int64, ok bool) {
	for i := range m.subQueues {
		in := m.subQueues[i].selectorIndexes
		if in == nil {
			continue
		}
		for _, x := range slices.Clone(in.all) {
			switch end := x.idleSince + selectorRest; {
			case x.users > 0:
			case end <= now:
				in.drop(x)
			case !ok || end < next:
				next, ok = end, true
			}
		}
		if len(in.all) == 0 {
			m.subQueues[i].selectorIndexes = nil
		}
	}
	return next, ok
}

// evaluateSelectors adds an arriving message to the selector indexes, while its body is in memory.
func (m *messages) evaluateSelectors(e *entry) {
	if in := m.q.subQueue(e.sub).selectorIndexes; in != nil {
		in.add(e)
	}
}

func (xs *selectorIndexes) add(e *entry) {
	switch {
	case e.state != Active: // it is never available, or it will arrive once more
	case e.body.data == nil:
		xs.unevaluated.add(e.seq)
		xs.search()
	default:
		xs.evaluate(e, e.body.data)
	}
}

// update evaluates the selectors again on a message whose properties have changed.
func (xs *selectorIndexes) update(e *entry) {
	for _, x := range xs.all {
		x.matches.remove(e.seq)
		x.ready.remove(e.seq)
	}
	xs.add(e)
}

// markReady notes that a message is ready again.
func (xs *selectorIndexes) markReady(e *entry) {
	for _, x := range xs.all {
		if x.matches.has(e.seq) {
			x.add(e.seq)
		}
	}
}

// evaluate evaluates the selectors of all indexes that have passed the message's number.
func (xs *selectorIndexes) evaluate(e *entry, body []byte) {
	xs.unevaluated.remove(e.seq)
	if !xs.lookAt(e, body) {
		return
	}
	xs.selectors.Candidates(&xs.message, func(x *selectorIndex) bool {
		if e.seq < x.seen && x.selector.Selects(&xs.message) {
			x.add(e.seq)
		}
		return true
	})
	xs.message = filterMessage{}
}

// lookAt sets xs.message, with what was changed of it. It fails for one whose body is damaged, which no
// selector selects.
func (xs *selectorIndexes) lookAt(e *entry, body []byte) bool {
	m, err := scanChanged(body, e.extras().overlay, e.extras().system)
	if err != nil {
		return false
	}
	xs.message = filterMessage{m: m, ns: xs.q.ns, body: e.body.id, seq: e.seq, enqueued: e.enqueued, ttl: e.ttl,
		size: int64(e.body.size)}
	return true
}

// scanChanged reads a message with what was changed of its properties.
func scanChanged(body, overlay, system []byte) (message.Message, error) {
	m, err := message.Scan(body)
	if err == nil && (overlay != nil || system != nil) {
		p := message.Patch{Properties: overlay, System: system}
		m, err = message.Scan(p.Append(nil, &m))
	}
	return m, err
}

// add notes that a message is selected, and that it is ready or will be in a moment.
func (x *selectorIndex) add(seq int64) {
	if x.matches.n > 2*x.swept+1024 {
		left := func(seq int64) bool { return !x.indexes.b.has(seq) }
		x.matches.deleteIf(left)
		x.ready.deleteIf(left)
		x.swept = x.matches.n
	}
	x.matches.add(seq)
	x.ready.add(seq)
	if !x.listed {
		x.listed = true
		x.indexes.withReady = append(x.indexes.withReady, x)
	}
}

// watermark returns the number below which the index is complete: a message on which the selector was not evaluated yet
// must not be overtaken. In a partitioned queue any other may have arrived earlier.
func (x *selectorIndex) watermark() int64 {
	if x.indexes.b.partitions != nil && x.incomplete() {
		return math.MinInt64
	}
	if seq, ok := x.indexes.unevaluated.next(math.MinInt64); ok {
		return seq
	}
	return seenAll
}

// incomplete reports whether the selector was not evaluated on all that waits.
func (x *selectorIndex) incomplete() bool { return x.seen != seenAll || x.indexes.unevaluated.n > 0 }

// nextReady returns the next message for a consumer without taking it, or nil: the lowest number, of the first ones of
// all partitions the one that arrived first (ORD-1, PART-6).
func (x *selectorIndex) nextReady() *entry {
	if x.indexes.b.partitions == nil {
		return x.nextBetween(math.MinInt64, seenAll)
	}
	var first *entry
	for p := range int64(partitions) {
		e := x.nextBetween(p<<partitionShift, (p+1)<<partitionShift)
		if e != nil && (first == nil || e.before(first)) {
			first = e
		}
	}
	return first
}

// nextBetween returns the ready message with the lowest number in a range, or nil.
func (x *selectorIndex) nextBetween(low, high int64) *entry {
	high = min(high, x.watermark())
	for {
		seq, ok := x.ready.next(low)
		if !ok || seq >= high {
			return nil
		}
		if e := x.indexes.b.find(seq); e != nil && e.ready() {
			return e
		}
		x.ready.remove(seq)
	}
}

// readyUpTo counts the messages that a consumer could have now, up to a number.
func (x *selectorIndex) readyUpTo(most int) (n int) {
	var gone []int64
	certain := x.watermark()
	for seq := range x.ready.from(math.MinInt64) {
		if n == most || seq >= certain {
			break
		}
		if x.indexes.b.ready(seq) {
			n++
		} else {
			gone = append(gone, seq)
		}
	}
	for _, seq := range gone {
		x.ready.remove(seq)
	}
	return n
}

// spare returns how many available messages are not promised to anybody.
func (xs *selectorIndexes) spare() int {
	return int(xs.b.available) - xs.b.waiters.promised - xs.promised
}

// wake pokes consumers that can take what is available, those who have waited for longest first, whether they have a
// selector or not (DEC-27). It goes on with the search if one of them waits for that.
func (xs *selectorIndexes) wake() {
	for xs.spare() > 0 {
		first, of := xs.b.waiters.first, (*selectorIndex)(nil)
		xs.withReady = slices.DeleteFunc(xs.withReady, func(x *selectorIndex) bool {
			w, promised := x.waiters.first, x.waiters.promised
			if w != nil && (first == nil || w.ticket < first.ticket) && x.readyUpTo(promised+1) > promised {
				first, of = w, x
			}
			x.listed = x.ready.n > 0
			return !x.listed
		})
		if first == nil {
			break
		}
		if of == nil {
			xs.b.waiters.poke(first, first.want)
			continue
		}
		xs.promised++ // it takes more if there is more
		of.waiters.poke(first, 1)
	}
	xs.search()
}

// notifyIfComplete notifies the consumers that wait for the index to be complete.
func (x *selectorIndex) notifyIfComplete() {
	if x.incomplete() {
		return
	}
	for w := x.waiters.first; w != nil; w = w.next {
		if w.incomplete {
			w.notify()
		}
	}
}

// notifyIfComplete is selectorIndex.notifyIfComplete for all.
func (xs *selectorIndexes) notifyIfComplete() {
	for _, x := range xs.all {
		x.notifyIfComplete()
	}
}

// receiverWaits reports whether a consumer of one of the indexes waits with credit.
func (xs *selectorIndexes) receiverWaits() bool {
	return slices.ContainsFunc(xs.all, func(x *selectorIndex) bool {
		return x.waiters.first != nil || x.waiters.promised > 0
	})
}

// bodyList is bodies that are to be read: no more than quantumBytes, but for the last one.
type bodyList struct {
	ids   []int64
	bytes int
}

func (l *bodyList) add(p *payload) {
	if l.bytes < quantumBytes {
		l.ids = append(l.ids, p.id)
		l.bytes += int(p.size)
	}
}

// backfill evaluates an index's selector on the next messages that were there before it, a few in one critical section.
// It returns the bodies that have to be read for that. Those in have were read.
func (xs *selectorIndexes) backfill(x *selectorIndex, have bodiesRead) (missing bodyList) {
	looked := 0
	end := true
	xs.b.look(x.seen, func(e *entry) bool {
		if looked++; looked > peekChunk {
			end = false
			return false
		}
		body, known := have.of(e)
		switch {
		case e.mark == markPending || e.state != Active: // as of add
		case !known:
			missing.add(e.body)
		case len(missing.ids) == 0 && xs.lookAt(e, body) && x.selector.Selects(&xs.message):
			x.add(e.seq)
		}
		if len(missing.ids) == 0 {
			x.seen = e.seq + 1
		}
		return missing.bytes < quantumBytes
	})
	xs.message = filterMessage{}
	if end && len(missing.ids) == 0 {
		x.seen = seenAll
		xs.incomplete = slices.DeleteFunc(xs.incomplete, func(y *selectorIndex) bool { return y == x })
		x.notifyIfComplete()
	}
	return missing
}
