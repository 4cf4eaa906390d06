package emulator

import (
	"math/rand/v2"
	"sync"
)

// Queue is one queue with its sub-queues. Its methods may be called from any goroutine; none of them waits.
type Queue struct {
	// immutable
	ns   *Namespace
	id   int64
	path string // as created

	// guarded by mu
	mu       sync.Mutex
	options  QueueOptions
	deleted  bool   // nothing is appended for it any more
	gone     bool   // its deletion is committed and its memory no longer counted
	boxes    [3]box // by SubQueue
	locks    map[LockToken]*entry
	lockEnds deadlines
	dues     deadlines // of scheduled messages
	expiries deadlines
	timer    Timer
	timerAt  int64 // ms; 0: no timer is set
	stopped  bool
	tokens   *rand.ChaCha8
	watchers map[*watcher]struct{}
	held     int64 // bytes of bodies in memory
	faults   int   // deliveries in a row that failed for want of the journal

	counters   []counter // one, or one for each partition
	roundRobin int       // last partition chosen for a message without a key
	history    history   // of duplicate detection

	sessions    map[string]*session // by id; empty unless the queue requires sessions
	offers      offers              // sessions that accept-next may choose
	sessionEnds sessionEnds         // held sessions
	accepts     []*waitingAccept    // in the order they came
	stateBytes  int64               // of all session states

	forwarding [2]bool // a mover is at work on Main, DeadLetter
	retryAt    [2]int64

	created, updated, accessed int64 // ms (CNT-8, CNT-9)
}

// watcher is a link that wants to know when its entity changes.
type watcher struct {
	sub    SubQueue
	notify func(error)
}

func newQueue(ns *Namespace, id int64, path string, o QueueOptions) *Queue {
	q := &Queue{
		ns: ns, id: id, path: path, options: o, locks: make(map[LockToken]*entry), tokens: newTokens(),
		watchers: make(map[*watcher]struct{}), sessions: make(map[string]*session), counters: make([]counter, 1),
	}
	for i := range q.boxes {
		q.boxes[i].sub = SubQueue(i)
	}
	if o.EnablePartitioning {
		q.counters = make([]counter, partitions)
		q.boxes[Main].parts = make([]shelf, partitions)
		for i := range q.counters {
			q.counters[i].base = int64(i) << partitionShift
		}
	}
	q.lockEnds = newDeadlines(func(e *entry, at int64) bool { return e.lock != nil && e.lock.until == at })
	q.dues = newDeadlines(func(e *entry, _ int64) bool { return e.mark == markFree && e.state == Scheduled })
	q.expiries = newDeadlines(func(e *entry, at int64) bool {
		return e.mark != markGone && e.sub == Main && e.expires() == at
	})
	q.created = ns.Now()
	q.updated = q.created
	return q
}

// Path returns the queue's name as it was created.
func (q *Queue) Path() string { return q.path }

// ID returns the number that tells this queue from others that had or will have its name.
func (q *Queue) ID() int64 { return q.id }

// Options returns the queue's settings.
func (q *Queue) Options() QueueOptions {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.options
}

// MaxMessageSize returns the limit for one message in bytes (QUO-5, DEC-2).
func (q *Queue) MaxMessageSize() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.options.maxMessageBytes()
}

// LastSequenceNumber returns the last number that was given to a committed message, of partition 0 on a partitioned
// queue.
func (q *Queue) LastSequenceNumber() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.counters[0].committed
}

func (q *Queue) box(s SubQueue) *box { return &q.boxes[s] }

// touchLocked notes a use of the queue (CNT-9).
func (q *Queue) touchLocked(now int64) { q.accessed = now }

// releaseLocked gives up one copy's share of a body and reports whether it was the last.
func (q *Queue) releaseLocked(p *payload) (last bool) {
	p.refs--
	if p.refs > 0 {
		return false
	}
	q.dropLocked(p)
	return true
}

// dropLocked takes a body out of memory.
func (q *Queue) dropLocked(p *payload) {
	if p.data != nil && !q.gone {
		q.held -= int64(p.size)
		q.ns.inMemory.Add(-int64(p.size))
	}
	p.data = nil
}

// settleBodyLocked keeps the body of a message that is now on disk in memory, if there is room.
func (q *Queue) settleBodyLocked(p *payload) {
	size := int64(p.size)
	if q.gone || !q.ns.keep(size, q.held) {
		p.data = nil
		return
	}
	q.held += size
	q.ns.inMemory.Add(size)
}

// Watch calls notify when the queue is updated, with an error of CodeDetached (LOCK-17), or deleted, with
// CodeNotFound (DEC-18), until cancel is called. notify runs on any goroutine, possibly under the queue's mutex: it
// must only post.
func (q *Queue) Watch(sub SubQueue, notify func(error)) (cancel func()) {
	w := &watcher{sub: sub, notify: notify}
	q.mu.Lock()
	q.watchers[w] = struct{}{}
	q.mu.Unlock()
	return func() {
		q.mu.Lock()
		delete(q.watchers, w)
		q.mu.Unlock()
	}
}

func (q *Queue) tellWatchersLocked(err error) {
	for w := range q.watchers {
		w.notify(err)
	}
}

// stop ends the queue's timer for good.
func (q *Queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
}
