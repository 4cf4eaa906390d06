package emulator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Finding is one thing that stands in the way of receiving, or explains where messages are.
type Finding struct {
	Code   FindingCode
	Blocks bool   // nothing is received while it is so
	Text   string // a sentence or more
	Fix    string // what to do; may be empty
}

// FindingCode tells findings apart.
type FindingCode string

// The findings.
const (
	FindTopic           FindingCode = "topic"               // topics have no receivers
	FindNoSubscriptions FindingCode = "no-subscriptions"    // the topic drops everything
	FindDisabled        FindingCode = "disabled"            // for receiving
	FindSendDisabled    FindingCode = "send-disabled"       // nothing new comes
	FindForwards        FindingCode = "forwards"            // nothing stays here
	FindForwardWaits    FindingCode = "forward-waits"       // messages wait for the target of a forward
	FindParked          FindingCode = "parked"              // dead letters that the target of a forward can never take
	FindNoRules         FindingCode = "no-rules"            // of the subscription
	FindRulesMatchNone  FindingCode = "rules-match-nothing" // of all that was sent to the topic
	FindRulesLeaveOut   FindingCode = "rules-leave-out"     // some of it
	FindEmpty           FindingCode = "empty"
	FindLocked          FindingCode = "locked"
	FindSessionsHeld    FindingCode = "sessions-held"
	FindSessionRequired FindingCode = "session-required" // and no receiver has one
	FindOtherSession    FindingCode = "other-session"    // the receiver's has no messages, others have
	FindScheduled       FindingCode = "scheduled"
	FindDeferred        FindingCode = "deferred"
	FindBeingWritten    FindingCode = "being-written"
	FindNoReceiver      FindingCode = "no-receiver"
	FindNoCredit        FindingCode = "no-credit"
	FindSelectors       FindingCode = "selectors" // of the receivers, which leave out what is there
	FindWrongSubQueue   FindingCode = "wrong-sub-queue"
	FindDeadLettered    FindingCode = "dead-lettered"
	FindExpired         FindingCode = "expired"
	FindRefused         FindingCode = "refused"      // attaches and tokens, a short while ago
	FindBeyondAzure     FindingCode = "beyond-azure" // messages that Azure would refuse were sent
	FindReceiving       FindingCode = "receiving"    // nothing stands in the way
)

// Question says whose receiving to look at.
type Question struct {
	Sub    SubQueue
	Client string // as of [Client.Is]; empty: any
	// Hindrance returns what keeps an attached receiver from taking messages, in words that follow its name; empty if
	// nothing does. It is called without a mutex. Nil: nothing is known.
	Hindrance func(*Client) string
	Refusals  []Refusal // the latest first
}

// Refusal is a link or token that a front end refused.
type Refusal struct {
	At        time.Time
	Client    *Client
	Operation string // attach, put-token
	Entity    string // path; empty: the whole namespace
	Sub       SubQueue
	Condition string
	Text      string
	Identity  string // object id of the identity whose token the link had; empty: a key's, or none
	Fix       string // what the client needs instead of a right; empty: a right, or what Text says
}

// Diagnosis is the answer to a [Question].
type Diagnosis struct {
	Path      string // of the entity, with its sub-queue
	Available int64  // messages that a receiver could have now
	Receivers int    // attached there, of those that were asked about
	Findings  []Finding
}

// Blocked reports whether nothing can be received.
func (d *Diagnosis) Blocked() bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Blocks })
}

// Has reports whether there is a finding with that code.
func (d *Diagnosis) Has(code FindingCode) bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Code == code })
}

// String returns the findings, a line each, with the fixes below them.
func (d *Diagnosis) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s available, %s attached", d.Path, count(d.Available, "message"),
		count(int64(d.Receivers), "receiver"))
	for _, f := range d.Findings {
		fmt.Fprintf(&b, "\n  %s: %s", f.Code, f.Text)
		if f.Fix != "" {
			fmt.Fprintf(&b, "\n    -> %s", f.Fix)
		}
	}
	return b.String()
}

// Why says what stands in the way of receiving from the entity. It changes nothing, and is no use of the entity. It
// looks at up to a few thousand messages, of which it holds the entity's mutex for 64 at a time.
func (q *Entity) Why(ask Question) Diagnosis {
	w := &why{q: q, ask: ask, path: ask.Sub.Join(q.path)}
	w.gather()
	w.d = Diagnosis{Path: w.path, Available: w.available, Receivers: len(w.here)}
	w.entity()
	w.receivers()
	w.messages()
	w.elsewhere()
	w.refusals()
	w.beyond()
	if len(w.d.Findings) == 0 || !w.d.Blocked() && w.available > 0 && w.asking {
		asking := "no receiver asks for any"
		switch {
		case w.asking && len(w.here) == 1:
			asking = "a receiver asks for messages"
		case w.asking:
			asking = fmt.Sprintf("at least one of %d receivers asks for messages", len(w.here))
		}
		w.find(FindReceiving, false, "", "Nothing stands in the way: %s available, and %s.",
			isAre(w.available, "message"), asking)
	}
	slices.SortStableFunc(w.d.Findings, func(a, b Finding) int {
		switch {
		case a.Blocks == b.Blocks:
			return 0
		case a.Blocks:
			return -1
		}
		return 1
	})
	return w.d
}

// why is a diagnosis that is being made: the facts, and the findings so far.
type why struct {
	q    *Entity
	ask  Question
	path string
	d    Diagnosis
	facts
}

func (w *why) find(code FindingCode, blocks bool, fix, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.d.Findings = append(w.d.Findings, Finding{Code: code, Blocks: blocks, Text: text, Fix: fix})
}

// Bounds of what a diagnosis looks at.
const (
	whyChunk   = 64   // messages in one critical section
	whyLooked  = 4096 // messages of the sub-queue
	whyListed  = 1024 // dead letters, sessions
	maxNumbers = 5    // deferred messages that are named
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
	parked    int
	available int64
	free      int        // unlocked sessions with messages
	held      []*holding // sessions, the first to end first
	here      []Attached
	others    []Attached // the client's receivers at other sub-queues
	everybody int        // all receivers at the sub-queue, not only the client's
	asking    bool       // one of those here takes messages

	// of the messages that were looked at
	whole   bool       // these were all
	locked  []*holding // the first to end first
	numbers []int64    // of deferred ones, a few
	due     int64      // ms; of the earliest scheduled one

	reasons map[string]int // of dead letters
}

// holding lists a receiver's locks: on messages, or on a session with messages.
type holding struct {
	client   *Client
	session  string
	known    bool // there is a receiver, even if nothing is known of it
	detached bool
	broker   bool // there is no receiver: the broker delays the redelivery
	messages int
	first    int64 // ms; when the first lock ends
	last     int64 // ms; when the last lock ends
}

// compare orders holdings by when the first lock ends.
func (h *holding) compare(other *holding) int { return cmp.Compare(h.first, other.first) }

// gather takes the facts.
func (w *why) gather() {
	w.look()
	w.whole = true
	if unavailable := int64(w.total[w.ask.Sub]) - w.available; unavailable > 0 {
		w.lookAtMessages()
	}
	if w.ask.Sub == Main && w.total[DeadLetter] > 0 {
		w.reasons = make(map[string]int)
		w.walk(DeadLetter, whyListed, func(e *entry) {
			if e.mark != markPending {
				w.reasons[e.extras().reason]++
			}
		})
	}
	for _, a := range w.here {
		asks := a.Asking
		if w.ask.Hindrance != nil && a.Client != nil {
			// The front end knows better: a receiver that was told of messages a moment ago, and will take them, does
			// not wait.
			asks = w.hindrance(a) == ""
		}
		w.asking = w.asking || asks
	}
}

// look takes the facts that need no look at messages.
func (w *why) look() {
	q := w.q
	q.mu.Lock()
	defer q.mu.Unlock()
	w.now = q.ns.Now()
	w.options = q.options
	w.traffic = q.traffic
	for i := range q.messages.subQueues {
		w.total[i] = q.messages.subQueues[i].n - q.messages.subQueues[i].pending
	}
	sub := q.subQueue(w.ask.Sub)
	w.writing = sub.pending
	w.scheduled = sub.scheduled
	w.deferred = sub.deferred
	w.available = int64(sub.available)
	w.parked = len(q.forwarder.parked.entries)
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
	w.free = len(t.offers)
	w.available = 0
	for _, s := range t.offers[:min(len(t.offers), whyListed)] {
		w.available += int64(s.available)
	}
	for _, h := range t.ends[:min(len(t.ends), whyListed)] {
		w.held = append(w.held, &holding{
			client: h.by.client, known: true, session: h.s.id, messages: h.s.numbers.len(),
			first: h.until, last: h.until,
		})
	}
	for _, a := range w.here {
		if a.Session != nil {
			w.available += int64(a.Available)
		}
	}
	slices.SortFunc(w.held, (*holding).compare)
}

// walk calls note with messages of a sub-queue, a chunk at a time under the mutex, and reports whether it came to the
// end before the limit.
func (w *why) walk(sub SubQueue, limit int, note func(*entry)) (whole bool) {
	from := int64(-1 << 63)
	for looked := 0; looked < limit; looked += whyChunk {
		n := 0
		more := false
		w.q.mu.Lock()
		w.q.subQueue(sub).look(from, func(e *entry) bool {
			if n++; n > whyChunk {
				more = true
				return false
			}
			from = e.seq + 1
			note(e)
			return true
		})
		w.q.mu.Unlock()
		if !more {
			return true
		}
	}
	return false
}

// lookAtMessages finds out why messages are not available.
func (w *why) lookAtMessages() {
	holders := make(map[*Consumer]*holding)
	w.whole = w.walk(w.ask.Sub, whyLooked, func(e *entry) {
		switch {
		case e.mark == markLocked:
			until := e.lock.expires()
			c := e.lock.holder
			h := holders[c]
			if h == nil {
				h = &holding{first: until, last: until, broker: e.lock.retries || e.lock.blocksSession}
				if c != nil {
					h.known = true
					h.client = c.client
					h.detached = c.closed
				}
				holders[c] = h
			}
			h.messages++
			h.first = min(h.first, until)
			h.last = max(h.last, until)
		case e.mark != markFree:
		case e.state == Deferred && len(w.numbers) < maxNumbers:
			w.numbers = append(w.numbers, e.seq)
		case e.state == Scheduled && (w.due == 0 || e.extras().due < w.due):
			w.due = e.extras().due
		}
	})
	w.locked = slices.SortedFunc(maps.Values(holders), (*holding).compare)
}

// hindrance returns what keeps a receiver from taking messages, as its front end knows it.
func (w *why) hindrance(a Attached) string {
	if w.ask.Hindrance == nil || a.Client == nil {
		return ""
	}
	return w.ask.Hindrance(a.Client)
}

// grouped returns a number for people, with commas at thousands.
func grouped[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// count returns a number with its noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

func isAre(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return grouped(n) + " " + noun + "s are"
}

// when returns an instant with the time until it comes.
func (w *why) when(ms int64) string {
	text := textOf(instant(ms))
	if left := time.Duration(ms-w.now) * time.Millisecond; left > 0 {
		if left >= time.Second {
			left = left.Round(time.Second)
		}
		return fmt.Sprintf("%s (in %s)", text, left)
	}
	return text
}

// listed joins up to five texts.
func listed(texts []string) string {
	const most = 5
	if more := len(texts) - most; more > 0 {
		return strings.Join(texts[:most], "; ") + fmt.Sprintf("; and %d more", more)
	}
	return strings.Join(texts, "; ")
}
