package emulator

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
)

// Verify counts everything again that the queue counts as it goes, and returns what differs. quiet says that nothing is
// being written.
func (q *Entity) Verify(quiet bool) (faults []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	v := &verifier{q: q, quiet: quiet, seqs: make(map[int64]bool)}
	for i := range q.messages.subQueues {
		v.subQueue(&q.messages.subQueues[i])
	}
	v.sessions()
	v.check("locks", len(q.locks.byToken), v.locked)
	v.check("bytes of bodies in memory", q.bodies.held, v.held)
	if quiet {
		v.check("keys being written", len(q.duplicates.writing), 0)
		for i := range q.counters.of {
			v.check("changes that draw numbers", q.counters.of[i].inFlight, 0)
			v.check("last number", q.counters.of[i].last, q.counters.of[i].committed)
		}
		v.check("removals and returns under way", q.requeues.underWay, 0)
	}
	v.timer()
	return v.faults
}

type verifier struct {
	q      *Entity
	quiet  bool
	faults []string
	locked int
	held   int64
	seqs   map[int64]bool
	first  int64 // earliest deadline that counts
}

func (v *verifier) fault(format string, args ...any) {
	v.faults = append(v.faults, v.q.path+": "+fmt.Sprintf(format, args...))
}

func (v *verifier) check(what string, have, want any) {
	if fmt.Sprint(have) != fmt.Sprint(want) {
		v.fault("%s: %v, want %v", what, have, want)
	}
}

// readyQueue checks one supply of messages and returns how many of them are ready there, and how many there are.
func (v *verifier) readyQueue(name string, s *readyQueue, all messageIterator, mine func(*entry) bool) (ready, n int) {
	last := int64(-1 << 63)
	inHeap := map[*entry]bool{}
	for _, e := range s.returned {
		inHeap[e] = true
		if !e.returned {
			v.fault("%s: entry %d stands in the heap and does not know it", name, e.seq)
		}
	}
	all.look(-1<<63, func(e *entry) bool { // what is packed stays so
		n++
		if e.seq < last {
			v.fault("%s: entry %d stands behind %d", name, e.seq, last)
		}
		last = e.seq
		if !mine(e) || !e.ready() {
			return true
		}
		ready++
		if e.seq < s.next && !inHeap[e] {
			v.fault("%s: entry %d is ready and will never be found", name, e.seq)
		}
		return true
	})
	return ready, n
}

// partition checks one partition and returns how many of its entries are ready there.
func (v *verifier) partition(name string, s *partition, mine func(*entry) bool) (ready int) {
	ready, n := v.readyQueue(name, &s.readyQueue, &s.log, mine)
	v.check(name+": entries", s.n, n)
	return ready
}

func (v *verifier) subQueue(b *subQueue) {
	name := fmt.Sprintf("sub-queue %d", b.sub)
	pending, deferred, scheduled, moving, plain, parts := 0, 0, 0, 0, 0, 0
	var bytes int64
	var dues dueCounts
	b.look(-1<<63, func(e *entry) bool {
		if e.sub != b.sub {
			v.fault("%s: entry %d is of %d", name, e.seq, e.sub)
		}
		v.entry(e)
		switch e.mark {
		case markPending:
			pending++
			return true
		case markRemoved:
			v.fault("%s: entry %d is gone", name, e.seq)
		case markMoving:
			moving++
		}
		if v.quiet && v.seqs[e.seq] {
			v.fault("two messages have the number %d", e.seq)
		}
		v.seqs[e.seq] = true
		bytes += e.body.counted()
		switch e.state {
		case Deferred:
			deferred++
		case Scheduled:
			scheduled++
			dues.add(e.extras().due, 1)
		}
		if e.body.data != nil {
			v.held += int64(e.body.size)
		}
		if e.ready() && e.session == nil {
			plain++
		}
		return true
	})
	v.check(name+": pending", b.pending, pending)
	v.check(name+": deferred", b.deferred, deferred)
	v.check(name+": scheduled", b.scheduled, scheduled)
	if !maps.Equal(b.dues.minutes, dues.minutes) || !maps.Equal(b.dues.hours, dues.hours) {
		v.fault("%s: the calendar has %v, and the messages are due %v", name, b.dues, dues)
	}
	v.check(name+": moving", b.moving, moving)
	v.check(name+": bytes", b.bytes, bytes)
	if v.quiet && (b.sub > DeadLetter || !v.q.forwarder.active[b.sub]) {
		parked := 0
		if b.sub == DeadLetter {
			parked = len(v.q.forwarder.parked.entries)
			if _, known := v.q.ns.parkers.Load(v.q); known != (parked > 0) {
				v.fault("%d messages are parked, told of new entities: %v", parked, known)
			}
		}
		v.check(name+": in no hands", moving, parked)
	}
	own := v.partition(name, &b.partition, func(e *entry) bool { return b.readyQueueOf(e) == &b.readyQueue })
	for i := range b.partitions {
		p := &b.partitions[i]
		n := v.partition(fmt.Sprintf("partition %d", i), p, func(*entry) bool { return true })
		v.check(fmt.Sprintf("partition %d: available", i), p.available, n)
		parts += n
	}
	v.check(name+": available", b.available, own+parts)
	v.check(name+": available by sessions", own+parts, plain)
	if b.selectorIndexes != nil {
		v.selectorIndexes(name, b)
	} else {
		v.waitList(name, &b.readyQueue, v.q.may.receive(b.sub) == nil)
	}
	if v.quiet && b.sub <= DeadLetter && v.q.forwarder.mayStartLocked(b.sub) {
		v.fault("%s: no forwarder takes the messages that are there", name)
	}
}

// selectorIndexes evaluates the selectors again on all messages in memory, and looks for consumers that sleep beside
// something to take.
func (v *verifier) selectorIndexes(name string, b *subQueue) {
	in := b.selectorIndexes
	open := v.q.may.receive(b.sub) == nil
	v.check(name+": selector indexes by text", len(in.byText), len(in.all))
	v.check(name+": selectors in the filter's index", in.selectors.Len(), len(in.all))
	promised := 0
	spare := in.spare() > 0
	if open && spare && b.waiters.first != nil {
		v.fault("%s: consumers wait, and so do %d messages", name, b.available)
	}
	for _, x := range in.all {
		text := name + ": " + x.selector.String()
		promised += x.waiters.promised
		v.check(text+": is in the list of incomplete ones", slices.Contains(in.incomplete, x), x.seen != seenAll)
		v.check(text+": is listed with ready messages", slices.Contains(in.withReady, x), x.listed)
		for _, set := range []seqSet{x.matches, x.ready} {
			v.check(text+": numbers", set.len(), set.n)
		}
		free := 0
		b.look(-1<<63, func(e *entry) bool {
			if e.mark == markPending || e.state != Active || e.seq >= x.seen || in.unevaluated.has(e.seq) || e.body.data == nil {
				return true
			}
			selected := in.lookAt(e, e.body.data) && x.selector.Selects(&in.message)
			if x.matches.has(e.seq) != selected {
				v.fault("%s: entry %d is selected: %v", text, e.seq, selected)
			}
			if selected && e.ready() {
				free++
				if !x.ready.has(e.seq) {
					v.fault("%s: entry %d is ready, and not known to be", text, e.seq)
				}
				if !x.listed {
					v.fault("%s: entry %d will not be looked for", text, e.seq)
				}
			}
			return true
		})
		if open && spare && x.waiters.first != nil && x.readyUpTo(x.waiters.promised+1) > x.waiters.promised {
			v.fault("%s: a consumer waits, and so do %d messages", text, free)
		}
		if v.quiet && open && x.waiters.first != nil && x.incomplete() && x.readyUpTo(1) == 0 && !in.active && !in.paused {
			v.fault("%s: a consumer waits for a search that does not run", text)
		}
	}
	in.message = filterMessage{}
	v.check(name+": promised to consumers with selectors", in.promised, promised)
}

func (v *verifier) waitList(name string, s *readyQueue, open bool) {
	l := s.waiters
	if l == nil {
		return
	}
	for c := l.first; c != nil; c = c.next {
		if !c.waiting || c.closed || c.promise != 0 {
			v.fault("%s: a consumer stands in the wait list that should not", name)
		}
	}
	if l.promised < 0 {
		v.fault("%s: %d messages are promised", name, l.promised)
	}
	if open && l.first != nil && s.returning == 0 && int(s.available) > l.promised {
		v.fault("%s: consumers wait, and so do %d messages", name, s.available)
	}
}

func (v *verifier) entry(e *entry) {
	q := v.q
	if (e.mark == markLocked) != (e.lock != nil) {
		v.fault("entry %d has mark %d and lock %v", e.seq, e.mark, e.lock)
		return
	}
	if v.quiet && e.mark == markBusy && e.state != Scheduled { // a transaction may be about to cancel it
		v.fault("entry %d is busy while nothing is written", e.seq)
	}
	if e.lock != nil {
		v.locked++
		if q.locks.byToken[e.lock.token] != e {
			v.fault("entry %d is not under its token", e.seq)
		}
		if v.quiet && e.lock.expires() <= q.ns.Now() {
			v.fault("the lock of entry %d is over", e.seq)
		}
		if e.lock.until != sessionLock {
			wantDeadline(v, e, "lock", &q.locks.ends, e, e.lock.until)
		}
	}
	if v.quiet && !q.ns.common.lazy && e.ready() && e.expired(q.ns.Now()) {
		v.fault("entry %d has expired and is still there", e.seq)
	}
	switch {
	case e.mark == markPending:
	case e.state == Scheduled && e.mark == markFree:
		v.due(e)
	case e.ttl > 0 && e.sub == Main && e.mark == markFree && e.state == Active && !q.ns.common.lazy:
		wantDeadline(v, e, "expiry", &q.alarm.expiries, e.seq, e.expires())
	}
}

func (v *verifier) due(e *entry) {
	for _, b := range v.q.schedule.dues.buckets {
		for _, x := range b.items {
			if x.e == e {
				v.earliest(x.at)
				return
			}
		}
	}
	v.fault("entry %d will never be due", e.seq)
}

// wantDeadline checks that e, or what stands for it in d, has a deadline at that instant.
func wantDeadline[E comparable](v *verifier, e *entry, what string, d *deadlines[E], key E, at int64) {
	if b := d.buckets[at>>bucketShift]; b != nil {
		for _, x := range b.items {
			if x.e == key && x.at == at {
				v.earliest(at)
				return
			}
		}
	}
	v.fault("entry %d has no deadline for its %s", e.seq, what)
}

func (v *verifier) earliest(at int64) {
	if v.first == 0 || at < v.first {
		v.first = at
	}
}

func (v *verifier) sessions() {
	q := v.q
	var states int64
	offers, held := 0, 0
	of := map[*session][]int64{}
	q.subQueue(Main).look(-1<<63, func(e *entry) bool {
		if e.session != nil {
			of[e.session] = append(of[e.session], e.seq)
		}
		return true
	})
	for id, s := range q.sessions.byKey {
		name := fmt.Sprintf("session %q", id)
		v.check(name+": id", s.id, id)
		states += s.stateSize()
		if s.state != nil {
			v.held += int64(len(s.state.data))
		}
		writing := s.state != nil && s.state.writing > 0
		if len(s.numbers) == 0 && s.hold == nil && !s.hasState() && !writing && s.returning == 0 {
			v.fault("%s should be forgotten", name)
		}
		ready, _ := v.readyQueue(name, &s.readyQueue, sessionMessages{s, &q.subQueue(Main).log}, func(*entry) bool { return true })
		v.check(name+": available", s.available, ready)
		v.check(name+": numbers", slices.Concat(s.numbers...), of[s])
		v.waitList(name, &s.readyQueue, q.may.receive(Main) == nil)
		locked, back := 0, 0
		first := int64(-1)
		sessionMessages{s, &q.subQueue(Main).log}.look(-1<<63, func(e *entry) bool {
			if e.session != s {
				v.fault("%s: entry %d is of another", name, e.seq)
			}
			if e.lock != nil && e.lock.until == sessionLock {
				locked++
			}
			if e.lock != nil && e.lock.blocksSession {
				back++
			}
			if first < 0 && e.ready() {
				first = e.seq
			}
			if e.ready() && e.seq < s.stale && !e.expired(q.ns.Now()) {
				v.fault("%s: entry %d is passed over, up to %d, and has not expired", name, e.seq, s.stale)
			}
			return true
		})
		covered := 0
		if s.hold != nil {
			covered = s.hold.locked
		}
		v.check(name+": locked", covered, locked)
		if v.quiet {
			for _, op := range q.requeues.waiting { // they wait for another try
				if op.e.session == s && op.e.inSession(op.e.state) {
					back++
				}
			}
			v.check(name+": returning", s.returning, back)
			v.check(name+": states being written", writing, false)
		}
		if h := s.hold; h != nil {
			held++
			v.earliest(h.until)
			if h.s != s || h.by.hold != h || s.waiters != &h.waiters || q.sessions.ends[h.ending] != h {
				v.fault("%s: its lock is %+v", name, *h)
			}
		}
		offered := s.hold == nil && s.returning == 0 && first >= 0
		if !q.ns.common.lazy && offered != (s.offer >= 0) {
			v.fault("%s: offered %v, should be %v", name, s.offer >= 0, offered)
		}
		if s.offer >= 0 {
			offers++
			if q.sessions.offers[s.offer] != s {
				v.fault("%s stands elsewhere in the offers", name)
			}
			if !q.ns.common.lazy && first >= 0 && s.first != first {
				v.fault("%s is offered for %d, its first is %d", name, s.first, first)
			}
		}
	}
	v.check("offers", len(q.sessions.offers), offers)
	v.check("held sessions", len(q.sessions.ends), held)
	v.check("bytes of states", q.sessions.bytes, states)
	if len(q.sessions.accepts) > 0 && len(q.sessions.offers) > 0 && q.may.receive(Main) == nil {
		v.fault("accepts wait while sessions are offered")
	}
}

func (v *verifier) timer() {
	q := v.q
	if v.first == 0 || q.alarm.stopped || q.deleting || q.alarm.at != 0 && q.alarm.at <= v.first {
		return
	}
	v.fault("the timer is set to %d, something is due at %d", q.alarm.at, v.first)
}

// Verify is Verify of all entities, and of what they share, while nothing is being written.
func (ns *Namespace) Verify() (faults []string) {
	stored := map[*atomic.Int32]int32{}
	shown := map[*byte]int64{} // what is in memory, by where it is there
	var memory int64           // the same, and session states
	for _, q := range ns.catalog.entities(anyKind) {
		faults = append(faults, q.Verify(true)...)
		q.mu.Lock()
		for _, s := range q.sessions.byKey {
			if s.state != nil {
				memory += int64(len(s.state.data))
			}
		}
		for i := range q.messages.subQueues {
			q.messages.subQueues[i].look(-1<<63, func(e *entry) bool {
				if data := e.body.data; len(data) > 0 && e.mark != markPending {
					shown[&data[0]] = int64(len(data))
				}
				if c := e.body.copies; c != nil && e.mark != markPending {
					stored[c.stored]++
				}
				return true
			})
		}
		q.mu.Unlock()
	}
	for n, have := range stored {
		if n.Load() != have {
			faults = append(faults, fmt.Sprintf("a body has %d copies, %d are counted", have, n.Load()))
		}
	}
	for _, t := range ns.catalog.entities(KindTopic) {
		faults = append(faults, t.topic.verify()...)
	}
	for _, n := range shown {
		memory += n
	}
	if have := ns.budget.own.Load(); have != memory {
		faults = append(faults, fmt.Sprintf("%d bytes of bodies are counted, there are %d", have, memory))
	}
	return faults
}

func (t *Topic) verify() (faults []string) {
	q := t.Entity
	q.mu.Lock()
	defer q.mu.Unlock()
	here := map[*copies]int32{}
	payloads := map[*copies]*payload{}
	var bytes int64
	for _, s := range q.topic.subs {
		s.mu.Lock()
		bytes += s.sessions.bytes
		for i := range s.messages.subQueues {
			s.messages.subQueues[i].look(-1<<63, func(e *entry) bool {
				if e.mark == markPending {
					return true
				}
				if e.body.copies == nil {
					bytes += e.body.joint(1)
				} else {
					here[e.body.copies]++
					payloads[e.body.copies] = e.body
				}
				return true
			})
		}
		s.mu.Unlock()
	}
	for c, n := range here {
		bytes += payloads[c].joint(int(n))
		if c.inTopic.Load() != n {
			faults = append(faults, fmt.Sprintf("%s: a body has %d copies here, %d are counted", q.path, n, c.inTopic.Load()))
		}
	}
	if have := q.topic.bytes.Load(); have != bytes {
		faults = append(faults, fmt.Sprintf("%s: %d bytes are counted, there are %d", q.path, have, bytes))
	}
	return faults
}
