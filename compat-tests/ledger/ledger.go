package ledger

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Place is where a message can be found.
type Place uint8

// The places, which can be combined with |.
const (
	Nowhere Place = 1 << iota
	InQueue
	AsScheduled
	AsDeferred
	InDeadLetters
	InTarget // the queue that it was moved or forwarded to
)

func (p Place) String() string {
	var names []string
	for bit, name := range map[Place]string{Nowhere: "nowhere", InQueue: "queue", AsScheduled: "scheduled", AsDeferred: "deferred", InDeadLetters: "dead-letter queue", InTarget: "target"} {
		if p&bit != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// A Ledger records, for every message ever sent, where it may be, and which message each sequence number belongs to. An
// answer narrows the places; an operation without an answer widens them. In a test of several entities ids have the form
// entity/id, so that each entity has its own numbers.
type Ledger struct {
	mu      sync.Mutex
	allowed map[string]Place
	settled map[string]bool // a settlement has been tried, so an answer to the send says nothing new
	numbers numbers
	batches map[string][]string // batches without an answer: all or nothing
	mayLose map[string]int      // entity -> messages that may be lost because a connection that receives and deletes broke
	faults  []string
}

// New returns a ledger without messages.
func New() *Ledger {
	return &Ledger{
		allowed: make(map[string]Place), settled: make(map[string]bool), numbers: newNumbers(),
		batches: make(map[string][]string), mayLose: make(map[string]int),
	}
}

// Faults returns the violations found so far and forgets them.
func (l *Ledger) Faults() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	faults := l.faults
	l.faults = nil
	return faults
}

// fault notes a violation. The caller holds mu.
func (l *Ledger) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// Sending is called before a message leaves: it may arrive at where.
func (l *Ledger) Sending(id string, where Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed[id] = Nowhere | where
}

// Sent is called with the answer that the message is stored.
func (l *Ledger) Sent(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.settled[id] {
		l.allowed[id] &^= Nowhere
	}
}

// Seen notes the sequence number of a message. A number belongs to one message for ever.
func (l *Ledger) Seen(id string, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fault := l.numbers.seen(id, number); fault != "" {
		l.fault("%s", fault)
	}
}

// Highest returns the highest number seen in the entity without a name.
func (l *Ledger) Highest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.numbers.highest[series{}]
}

// Delivered is called when a receiver gets the message; it must not have been settled with an answer before.
func (l *Ledger) Delivered(id string) { l.DeliveredFrom(id, InQueue|AsScheduled) }

// DeliveredFrom is Delivered for a receiver that gets messages from these places.
func (l *Ledger) DeliveredFrom(id string, places Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if where, known := l.allowed[id]; !known {
		l.fault("%s was delivered and never sent", id)
	} else if where&places == 0 {
		l.fault("%s was delivered; it can only be %v", id, where)
	}
}

// Settling is called before a settlement leaves: the message stays where it is or goes to where.
func (l *Ledger) Settling(id string, where Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled[id] = true
	l.allowed[id] = (l.allowed[id] &^ Nowhere) | where
}

// SettledAt is called with the answer: the message is at where and nowhere else.
func (l *Ledger) SettledAt(id string, where Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed[id] = where
}

// Left is called with the answer to an operation that moved a message away from where; others may have taken it since.
func (l *Ledger) Left(id string, where Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed[id] &^= where
}

// DoubtfulBatch notes a batch without an answer.
func (l *Ledger) DoubtfulBatch(name string, ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches[name] = ids
}

// Audit compares the ledger with the messages found after a restart: message -> places, one entry for each copy.
func (l *Ledger) Audit(found map[string][]Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, allowed := range l.allowed {
		switch copies := found[id]; {
		case len(copies) == 0 && allowed&Nowhere == 0 && !l.mayBeGone(id):
			l.fault("%s is lost; it should be in %v", id, allowed)
		case len(copies) > 1:
			l.fault("%s is there %d times: %v", id, len(copies), copies)
		case len(copies) == 1 && copies[0]&allowed == 0:
			l.fault("%s is in %v; it should be %v", id, copies[0], allowed)
		}
	}
	for id := range found {
		if _, known := l.allowed[id]; !known {
			l.fault("%s was never sent", id)
		}
	}
	l.auditBatches(found)
}

// auditBatches checks that a batch without an answer was stored as a whole or not at all (SEQ-14). A settled
// member was stored.
func (l *Ledger) auditBatches(found map[string][]Place) {
	for name, ids := range l.batches {
		stored, gone := 0, 0
		for _, id := range ids {
			if len(found[id]) > 0 || l.settled[id] {
				stored++
			} else {
				gone++
			}
		}
		for ; stored > 0 && gone > 0 && l.mayBeGone(ids[0]); gone-- {
			stored++ // it was removed for a connection that broke off
		}
		if stored != 0 && stored != len(ids) {
			l.fault("%d of the %d messages of batch %s are stored", stored, len(ids), name)
		}
	}
}

// BrokeOff notes that a connection which receives and deletes ended while onTheWay messages may have been on their way to it:
// they may be lost without a trace.
func (l *Ledger) BrokeOff(entity string, onTheWay int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mayLose[entity] += onTheWay
}

// mayBeGone uses up one of the losses that BrokeOff allows.
func (l *Ledger) mayBeGone(id string) bool {
	entity := entityOf(id)
	if l.mayLose[entity] == 0 {
		return false
	}
	l.mayLose[entity]--
	return true
}

// Allowed returns where a message may be; 0 if the ledger does not know it.
func (l *Ledger) Allowed(id string) Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.allowed[id]
}

// Resolve takes what was found as the truth, which ends all doubt. It follows Audit. For a place where a message was
// found, drift returns where it may go by itself in time; the ledger keeps such a place if it was allowed before.
func (l *Ledger) Resolve(found map[string][]Place, drift func(id string, where Place) Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	allowed := make(map[string]Place, len(found))
	for id, copies := range found {
		for _, where := range copies {
			allowed[id] |= where | l.allowed[id]&drift(id, where)
		}
	}
	l.forget()
	l.allowed = allowed
}

// Stored returns how many messages the broker may hold.
func (l *Ledger) Stored() (count int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, where := range l.allowed {
		if where != Nowhere {
			count++
		}
	}
	return count
}

// Rest forgets the messages of a finished round, which are all gone, and keeps the numbers.
func (l *Ledger) Rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	l.numbers.rest()
}

func (l *Ledger) forget() {
	clear(l.allowed)
	clear(l.settled)
	clear(l.batches)
	clear(l.mayLose)
}

// WriteTo writes the ledger in readable form: a line for each message that may be somewhere.
func (l *Ledger) WriteTo(w io.Writer) (written int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.allowed)) {
		n, err := fmt.Fprintf(w, "%s\t%v\n", id, l.allowed[id])
		written += int64(n)
		if err != nil {
			return written, fmt.Errorf("write the ledger: %w", err)
		}
	}
	return written, nil
}
