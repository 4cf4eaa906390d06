package compat

import (
	"fmt"
	"strings"
	"sync"
)

// place is where a message can be found.
type place uint8

const (
	nowhere place = 1 << iota
	inQueue
	asScheduled
	asDeferred
	inDeadLetters
	inTarget // the queue that it was moved or forwarded to
)

func (p place) String() string {
	var names []string
	for bit, name := range map[place]string{nowhere: "nowhere", inQueue: "queue", asScheduled: "scheduled", asDeferred: "deferred", inDeadLetters: "dead-letter queue", inTarget: "target"} {
		if p&bit != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// A ledger knows, for every message ever sent, where it may be, and to which message each sequence number belongs. What a
// client was told narrows the places; an operation without an answer widens them.
type ledger struct {
	mu      sync.Mutex
	allowed map[string]place
	settled map[string]bool  // a settlement has been tried, so that answers to the send say nothing new
	numbers map[int64]string // sequence number -> message
	highest int64
	batches map[string][]string // batches without an answer: all or nothing
	faults  []string
}

func newLedger() *ledger {
	return &ledger{
		allowed: make(map[string]place), settled: make(map[string]bool), numbers: make(map[int64]string),
		batches: make(map[string][]string),
	}
}

// fault notes a violation. The caller holds mu.
func (l *ledger) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// sending is called before a message leaves: it may or may not arrive at where.
func (l *ledger) sending(id string, where place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed[id] = nowhere | where
}

// sent is called with the answer that the message is stored.
func (l *ledger) sent(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.settled[id] {
		l.allowed[id] &^= nowhere
	}
}

// seen notes that a message carries a number. One number names one message, for ever.
func (l *ledger) seen(id string, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.numbers[number]; ok && known != id {
		l.fault("number %d names %s and %s", number, known, id)
	}
	l.numbers[number] = id
	l.highest = max(l.highest, number)
}

// delivered is called when a receiver got the message; it must not have been settled with an answer before.
func (l *ledger) delivered(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if where, known := l.allowed[id]; !known {
		l.fault("%s was delivered and never sent", id)
	} else if where&(inQueue|asScheduled) == 0 {
		l.fault("%s was delivered; it can only be %v", id, where)
	}
}

// settling is called before a settlement leaves: the message stays where it is or goes to where.
func (l *ledger) settling(id string, where place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled[id] = true
	l.allowed[id] = (l.allowed[id] &^ nowhere) | where
}

// settledAt is called with the answer: the message is there and nowhere else.
func (l *ledger) settledAt(id string, where place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed[id] = where
}

// doubtfulBatch notes a batch without an answer.
func (l *ledger) doubtfulBatch(name string, ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches[name] = ids
}

// audit compares the ledger with what was found after a restart: message -> places, one entry for each copy.
func (l *ledger) audit(found map[string][]place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, allowed := range l.allowed {
		switch copies := found[id]; {
		case len(copies) == 0 && allowed&nowhere == 0:
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

// auditBatches checks that a batch without an answer was stored as a whole or not at all (SEQ-14). A member that was
// settled was stored.
func (l *ledger) auditBatches(found map[string][]place) {
	for name, ids := range l.batches {
		stored := 0
		for _, id := range ids {
			if len(found[id]) > 0 || l.settled[id] {
				stored++
			}
		}
		if stored != 0 && stored != len(ids) {
			l.fault("%d of the %d messages of batch %s are stored", stored, len(ids), name)
		}
	}
}

// rest forgets the messages of a finished round and keeps the numbers.
func (l *ledger) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.allowed)
	clear(l.settled)
	clear(l.batches)
}
