package emulator

import (
	"math"
	"slices"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

const (
	maxSieves = 1000   // of a sub-queue
	sieveRest = minute // how long one is kept that nobody uses
)

// judgedAll is the value of a sieve's seen once it has judged all that waits.
const judgedAll = math.MaxInt64

// sieves find the messages that consumers with selectors may have: one for each text of a selector at a sub-queue. What
// arrives is judged at once by all of them; what was there before, only as far as the credit of their consumers needs.
// The entity's mutex guards them.
type sieves struct {
	// immutable
	q *Entity
	b *subQueue

	byText   map[string]*sieve
	all      []*sieve
	index    filter.Index[*sieve]
	behind   []*sieve  // those that have not judged all that waits
	hot      []*sieve  // those that may have something ready
	unjudged numberSet // messages that came, or changed, when their bodies were on disk only
	promised int       // messages promised to poked consumers, over all sieves
	active   bool      // a goroutine searches
	paused   bool      // the search goes on later, since the journal failed
	view     view      // of the message that is being judged
}

// sieve has the messages of a sub-queue that a selector selects.
type sieve struct {
	// immutable
	in       *sieves
	selector *filter.Selector

	seen    int64     // messages with lower numbers are judged, or stand in sieves.unjudged
	matches numberSet // messages that are selected, and some that have left
	ready   numberSet // of these, all that a receive may take, and some others
	swept   int       // how many matches the last sweep has left
	warm    bool      // stands in sieves.hot
	line    waitList
	users   int   // consumers
	idle    int64 // ms; since when there are none
}

// numberSet is numbers of messages, each once.
type numberSet struct {
	seqs
	n int
}

func (s *numberSet) add(seq int64) {
	if !s.has(seq) {
		s.seqs.add(seq)
		s.n++
	}
}

func (s *numberSet) remove(seq int64) {
	if s.has(seq) {
		s.seqs.remove(seq)
		s.n--
	}
}

func (s *numberSet) has(seq int64) bool {
	i := s.chunkAt(seq)
	if i == len(s.seqs) || s.seqs[i][0] > seq {
		return false
	}
	_, found := slices.BinarySearch(s.seqs[i], seq)
	return found
}

// next returns the lowest number that is at least seq.
func (s *numberSet) next(seq int64) (int64, bool) {
	for found := range s.from(seq) {
		return found, true
	}
	return 0, false
}

// first returns up to n numbers, the lowest ones.
func (s *numberSet) first(n int) (list []int64) {
	for seq := range s.from(math.MinInt64) {
		if len(list) == n {
			break
		}
		list = append(list, seq)
	}
	return list
}

// deleteIf removes the numbers for which f holds.
func (s *numberSet) deleteIf(f func(seq int64) bool) {
	var kept numberSet
	for seq := range s.from(math.MinInt64) {
		if !f(seq) {
			kept.add(seq)
		}
	}
	*s = kept
}

// sieveFor returns the sieve of a selector for one more consumer. It fails with CodeQuotaExceeded.
func (b *subQueue) sieveFor(q *Entity, s *filter.Selector) (*sieve, error) {
	if b.sieves == nil {
		b.sieves = &sieves{q: q, b: b, byText: make(map[string]*sieve)}
	}
	in := b.sieves
	x := in.byText[s.String()]
	if x == nil {
		if len(in.all) >= maxSieves && !in.dropOldest() {
			return nil, errorf(CodeQuotaExceeded, q.path, "The receivers of the entity '%s' have %d different "+
				"selectors. Max allowed: %d.", q.path, len(in.all), maxSieves)
		}
		x = &sieve{in: in, selector: s, seen: math.MinInt64}
		in.byText[s.String()] = x
		in.all = append(in.all, x)
		in.index.Add(x, s)
		in.behind = append(in.behind, x)
		in.walk(x, nil) // which is all, where the queue is shallow
	}
	x.users++
	return x, nil
}

// leave gives up a consumer of the sieve.
func (s *sieve) leave(now int64) {
	if s.users--; s.users == 0 {
		s.idle = now
		s.in.q.alarm.set(now + sieveRest)
	}
}

// dropOldest drops the sieve that has been unused for longest, and reports whether there was one.
func (in *sieves) dropOldest() bool {
	var oldest *sieve
	for _, x := range in.all {
		if x.users == 0 && (oldest == nil || x.idle < oldest.idle) {
			oldest = x
		}
	}
	if oldest != nil {
		in.drop(oldest)
	}
	return oldest != nil
}

func (in *sieves) drop(x *sieve) {
	delete(in.byText, x.selector.String())
	in.index.Remove(x)
	other := func(y *sieve) bool { return y == x }
	in.all = slices.DeleteFunc(in.all, other)
	in.behind = slices.DeleteFunc(in.behind, other)
	in.hot = slices.DeleteFunc(in.hot, other)
}

// pruneSieves drops the sieves that nobody has used for a while, and returns when there is one to drop next.
func (m *messages) pruneSieves(now int64) (next int64, ok bool) {
	for i := range m.subQueues {
		in := m.subQueues[i].sieves
		if in == nil {
			continue
		}
		for _, x := range slices.Clone(in.all) {
			switch end := x.idle + sieveRest; {
			case x.users > 0:
			case end <= now:
				in.drop(x)
			case !ok || end < next:
				next, ok = end, true
			}
		}
		if len(in.all) == 0 {
			m.subQueues[i].sieves = nil
		}
	}
	return next, ok
}

// sift lets the selectors judge an arriving message while its body is in memory.
func (m *messages) sift(e *entry) {
	if in := m.q.subQueue(e.sub).sieves; in != nil {
		in.arrive(e)
	}
}

func (in *sieves) arrive(e *entry) {
	switch {
	case e.state != Active: // it is never available, or it will arrive once more
	case e.body.data == nil:
		in.unjudged.add(e.seq)
		in.search()
	default:
		in.judge(e, e.body.data)
	}
}

// change judges a message again after its properties have changed.
func (in *sieves) change(e *entry) {
	for _, x := range in.all {
		x.matches.remove(e.seq)
		x.ready.remove(e.seq)
	}
	in.arrive(e)
}

// free notes that a message is ready again.
func (in *sieves) free(e *entry) {
	for _, x := range in.all {
		if x.matches.has(e.seq) {
			x.offer(e.seq)
		}
	}
}

// judge judges a message for every sieve that has walked past its number.
func (in *sieves) judge(e *entry, body []byte) {
	in.unjudged.remove(e.seq)
	if !in.lookAt(e, body) {
		return
	}
	in.index.Candidates(&in.view, func(x *sieve) bool {
		if e.seq < x.seen && x.selector.Selects(&in.view) {
			x.offer(e.seq)
		}
		return true
	})
	in.view = view{}
}

// lookAt sets the view on a message, with what was changed of it. It fails for one whose body is damaged, which no
// selector selects.
func (in *sieves) lookAt(e *entry, body []byte) bool {
	m, err := scanChanged(body, e.extras().overlay, e.extras().system)
	if err != nil {
		return false
	}
	in.view = view{m: m, ns: in.q.ns, body: e.body.id, seq: e.seq, enqueued: e.enqueued, ttl: e.ttl,
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

// offer notes that a message is selected, and that it is ready or will be in a moment.
func (s *sieve) offer(seq int64) {
	if s.matches.n > 2*s.swept+1024 {
		left := func(seq int64) bool { return !s.in.b.has(seq) }
		s.matches.deleteIf(left)
		s.ready.deleteIf(left)
		s.swept = s.matches.n
	}
	s.matches.add(seq)
	s.ready.add(seq)
	if !s.warm {
		s.warm = true
		s.in.hot = append(s.in.hot, s)
	}
}

// certain returns the number up to which nothing is missing: a message that is not judged yet must not be overtaken. In
// a partitioned queue any other may have arrived earlier.
func (s *sieve) certain() int64 {
	if s.in.b.partitions != nil && s.searching() {
		return math.MinInt64
	}
	if seq, ok := s.in.unjudged.next(math.MinInt64); ok {
		return seq
	}
	return judgedAll
}

// searching reports whether the sieve has not judged all that waits.
func (s *sieve) searching() bool { return s.seen != judgedAll || s.in.unjudged.n > 0 }

// nextReady returns the next message for a consumer without taking it, or nil: the lowest number, of the first ones of
// all partitions the one that arrived first (ORD-1, PART-6).
func (s *sieve) nextReady() *entry {
	if s.in.b.partitions == nil {
		return s.nextBetween(math.MinInt64, judgedAll)
	}
	var first *entry
	for p := range int64(partitions) {
		e := s.nextBetween(p<<partitionShift, (p+1)<<partitionShift)
		if e != nil && (first == nil || e.before(first)) {
			first = e
		}
	}
	return first
}

// nextBetween returns the ready message with the lowest number in a range, or nil.
func (s *sieve) nextBetween(low, high int64) *entry {
	high = min(high, s.certain())
	for {
		seq, ok := s.ready.next(low)
		if !ok || seq >= high {
			return nil
		}
		if e := s.in.b.find(seq); e != nil && e.ready() {
			return e
		}
		s.ready.remove(seq)
	}
}

// readyUpTo counts the messages that a consumer could have now, up to a number.
func (s *sieve) readyUpTo(most int) (n int) {
	var gone []int64
	certain := s.certain()
	for seq := range s.ready.from(math.MinInt64) {
		if n == most || seq >= certain {
			break
		}
		if s.in.b.ready(seq) {
			n++
		} else {
			gone = append(gone, seq)
		}
	}
	for _, seq := range gone {
		s.ready.remove(seq)
	}
	return n
}

// spare returns how many available messages are not promised to anybody.
func (in *sieves) spare() int { return int(in.b.available) - in.b.waiters.promised - in.promised }

// wake pokes consumers that can take what is available, those who have waited for longest first, whether they have a
// selector or not (DEC-27). It goes on with the search if one of them waits for that.
func (in *sieves) wake() {
	for in.spare() > 0 {
		first, of := in.b.waiters.first, (*sieve)(nil)
		in.hot = slices.DeleteFunc(in.hot, func(x *sieve) bool {
			w, promised := x.line.first, x.line.promised
			if w != nil && (first == nil || w.ticket < first.ticket) && x.readyUpTo(promised+1) > promised {
				first, of = w, x
			}
			x.warm = x.ready.n > 0
			return !x.warm
		})
		if first == nil {
			break
		}
		if of == nil {
			in.b.waiters.poke(first, first.want)
			continue
		}
		in.promised++ // it takes more if there is more
		of.line.poke(first, 1)
	}
	in.search()
}

// tell lets those look again who wait at the sieve until it has judged all that waits.
func (s *sieve) tell() {
	if s.searching() {
		return
	}
	for w := s.line.first; w != nil; w = w.next {
		if w.searching {
			w.notify()
		}
	}
}

// tell is sieve.tell for all.
func (in *sieves) tell() {
	for _, x := range in.all {
		x.tell()
	}
}

// receiverWaits reports whether a consumer of one of the sieves waits with credit.
func (in *sieves) receiverWaits() bool {
	return slices.ContainsFunc(in.all, func(x *sieve) bool { return x.line.first != nil || x.line.promised > 0 })
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

// walk has a sieve judge the next messages that were there before it, a few in one critical section, and returns the
// bodies that it has to have for that. Those in have were read.
func (in *sieves) walk(x *sieve, have map[int64][]byte) (missing bodyList) {
	looked := 0
	end := true
	in.b.look(x.seen, func(e *entry) bool {
		if looked++; looked > peekChunk {
			end = false
			return false
		}
		body, known := e.body.data, true
		if body == nil {
			body, known = have[e.body.id]
		}
		switch {
		case e.mark == markPending || e.state != Active: // as of arrive
		case !known:
			missing.add(e.body)
		case len(missing.ids) == 0 && in.lookAt(e, body) && x.selector.Selects(&in.view):
			x.offer(e.seq)
		}
		if len(missing.ids) == 0 {
			x.seen = e.seq + 1
		}
		return missing.bytes < quantumBytes
	})
	in.view = view{}
	if end && len(missing.ids) == 0 {
		x.seen = judgedAll
		in.behind = slices.DeleteFunc(in.behind, func(y *sieve) bool { return y == x })
		x.tell()
	}
	return missing
}
