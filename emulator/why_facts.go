package emulator

import (
	"cmp"
	"slices"
)

// Bounds of what a diagnosis looks at.
const (
	whyChunk  = 64   // messages in one critical section
	whyLooked = 4096 // messages of the sub-queue
	whyListed = 1024 // dead letters, sessions
)

// facts are what a diagnosis is made from.
type facts struct {
	now       int64 // ms
	options   QueueOptions
	traffic   Traffic
	total     [3]int // messages by sub-queue
	writing   int    // that are being sent to the sub-queue
	scheduled int
	deferred  int
	moving    int // that are being forwarded, or parked
	parked    int
	retry     int64 // ms; when the forward is tried again
	available int64
	free      int       // sessions with messages that nobody holds
	held      []holding // sessions, the first to end first
	here      []Attached
	others    []Attached // the client's receivers at other sub-queues
	everybody int        // receivers at the sub-queue, whoever asks
	asking    bool       // one of those here takes messages
	seen      walk
	reasons   map[string]int // of dead letters
}

// holding is what a receiver has locked: messages, or a session with messages.
type holding struct {
	client      *Client
	session     string
	known       bool // there is a receiver, even if nothing is known of it
	gone        bool // it has detached
	broker      bool // there is none: the broker delays the redelivery
	messages    int
	first, last int64 // ms; when the locks end
}

// walk is what was seen of the messages of the sub-queue.
type walk struct {
	whole   bool // all were seen
	locked  []holding
	numbers []int64 // of deferred ones, a few
	due     int64   // ms; of the earliest scheduled one
	busy    int     // being settled or moved
}

// gather takes the facts.
func (w *why) gather() {
	w.look()
	if w.unavailable() > 0 {
		w.walk()
	} else {
		w.seen.whole = true
	}
	if w.ask.Sub == Main && w.total[DeadLetter] > 0 {
		w.countReasons()
	}
	for _, a := range w.here {
		w.asking = w.asking || w.asks(a)
	}
}

// look takes what needs no look at messages.
func (w *why) look() {
	q := w.q
	q.mu.Lock()
	defer q.mu.Unlock()
	w.now, w.options, w.traffic = q.ns.Now(), q.options, q.traffic
	for i := range q.messages.subQueues {
		w.total[i] = q.messages.subQueues[i].n - q.messages.subQueues[i].pending
	}
	b := q.subQueue(w.ask.Sub)
	w.writing, w.scheduled, w.deferred, w.moving, w.available = b.pending, b.scheduled, b.deferred, b.moving, int64(b.available)
	w.parked = len(q.forwarder.parked.entries)
	if w.ask.Sub <= DeadLetter {
		w.retry = q.forwarder.retryAt[w.ask.Sub]
	}
	for _, a := range q.attached.listLocked() {
		if a.Sub == w.ask.Sub {
			w.everybody++
		}
		switch {
		case w.ask.Client != "" && !a.Client.Is(w.ask.Client):
		case a.Sub == w.ask.Sub:
			w.here = append(w.here, a)
		default:
			w.others = append(w.others, a)
		}
	}
	slices.SortFunc(w.here, func(a, b Attached) int { return cmp.Compare(a.Since, b.Since) })
	if w.sessions() {
		w.lookAtSessionsLocked()
	}
}

// sessions reports whether messages are received by session.
func (w *why) sessions() bool { return w.options.RequiresSession && w.ask.Sub == Main }

func (w *why) lookAtSessionsLocked() {
	t := &w.q.sessions
	w.free, w.available = len(t.offers), 0
	for _, s := range t.offers[:min(len(t.offers), whyListed)] {
		w.available += int64(s.available)
	}
	for _, h := range t.ends[:min(len(t.ends), whyListed)] {
		w.held = append(w.held, holding{client: h.by.client, session: h.s.id, known: true, messages: h.s.numbers.len(), first: h.until, last: h.until})
	}
	for _, a := range w.here {
		if a.Session != nil {
			w.available += int64(a.Available)
		}
	}
	slices.SortFunc(w.held, func(a, b holding) int { return cmp.Compare(a.first, b.first) })
}

// unavailable returns how many messages of the sub-queue no receiver can have now.
func (w *why) unavailable() int64 { return int64(w.total[w.ask.Sub]) - w.available }

// walk looks at messages, a chunk at a time.
func (w *why) walk() {
	holders := make(map[*Consumer]*holding)
	from, looked, more := int64(-1<<63), 0, true
	for more && looked < whyLooked {
		w.q.mu.Lock()
		more = false
		n := 0
		w.q.subQueue(w.ask.Sub).look(from, func(e *entry) bool {
			if n++; n > whyChunk {
				more = true
				return false
			}
			from = e.seq + 1
			w.seen.noteLocked(e, holders)
			return true
		})
		w.q.mu.Unlock()
		looked += min(n, whyChunk)
	}
	w.seen.whole = !more
	for _, h := range holders {
		w.seen.locked = append(w.seen.locked, *h)
	}
	slices.SortFunc(w.seen.locked, func(a, b holding) int { return cmp.Compare(a.first, b.first) })
}

// maxNumbers is how many deferred messages are named.
const maxNumbers = 5

func (s *walk) noteLocked(e *entry, holders map[*Consumer]*holding) {
	switch {
	case e.mark == markLocked:
		s.noteLockLocked(e, holders)
	case e.mark == markBusy:
		s.busy++
	case e.mark != markFree:
	case e.state == Deferred && len(s.numbers) < maxNumbers:
		s.numbers = append(s.numbers, e.seq)
	case e.state == Scheduled && (s.due == 0 || e.due() < s.due):
		s.due = e.due()
	}
}

func (s *walk) noteLockLocked(e *entry, holders map[*Consumer]*holding) {
	until, c := e.lockedUntil(), e.lock.holder
	h := holders[c]
	if h == nil {
		h = &holding{first: until, last: until, broker: e.lock.retries || e.lock.blocksSession}
		if c != nil {
			h.known, h.client, h.gone = true, c.client, c.closed
		}
		holders[c] = h
	}
	h.messages++
	h.first, h.last = min(h.first, until), max(h.last, until)
}

// countReasons counts dead letters by their reasons.
func (w *why) countReasons() {
	w.reasons = make(map[string]int)
	from, looked, more := int64(-1<<63), 0, true
	for more && looked < whyListed {
		w.q.mu.Lock()
		more = false
		n := 0
		w.q.subQueue(DeadLetter).look(from, func(e *entry) bool {
			if n++; n > whyChunk {
				more = true
				return false
			}
			from = e.seq + 1
			if e.mark != markPending {
				w.reasons[e.reason()]++
			}
			return true
		})
		w.q.mu.Unlock()
		looked += min(n, whyChunk)
	}
}

// asks reports whether a receiver takes messages. The front end knows it better: a receiver that has just been told of messages, and comes
// for them, does not wait.
func (w *why) asks(a Attached) bool {
	if w.ask.Hindrance == nil || a.Client == nil {
		return a.Asking
	}
	return w.hindrance(a) == ""
}

// hindrance returns what keeps a receiver from taking messages, as its front end knows it.
func (w *why) hindrance(a Attached) string {
	if w.ask.Hindrance == nil || a.Client == nil {
		return ""
	}
	return w.ask.Hindrance(a.Client)
}
