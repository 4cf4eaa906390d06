package ledger

import (
	"maps"
	"slices"
)

// Doubt is a transaction whose commit was not answered: all of it happened, or nothing.
type Doubt struct {
	Moved map[string]Place // messages that it settled, and where they would be
	Made  []string         // messages that it sent, which would be in the target
}

// A Mixed also records transactions and the states of sessions.
type Mixed struct {
	*Ledger
	doubts []Doubt
	states map[string][]string // session -> states that it may have; "" means none
	// Next belongs to the auditor.
	Next map[string]int64 // queue -> its last number, over all rounds
}

// NewMixed returns a ledger without messages.
func NewMixed() *Mixed {
	return &Mixed{Ledger: New(), states: make(map[string][]string), Next: make(map[string]int64)}
}

// Committing is called before a commit leaves.
func (l *Mixed) Committing(d Doubt) {
	for id, where := range d.Moved {
		l.Settling(id, where)
	}
	for _, id := range d.Made {
		l.Sending(id, InTarget)
	}
}

// Committed is called with the answer that a transaction is durable.
func (l *Mixed) Committed(d Doubt) {
	for id, where := range d.Moved {
		l.SettledAt(id, where)
	}
	for _, id := range d.Made {
		l.SettledAt(id, InTarget)
	}
}

// Doubtful notes a transaction without an answer.
func (l *Mixed) Doubtful(d Doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doubts = append(l.doubts, d)
}

// SettingState is called before a state leaves.
func (l *Mixed) SettingState(session, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.states[session]) == 0 {
		l.states[session] = []string{""}
	}
	l.states[session] = append(l.states[session], state)
}

// StateSet is called with the answer that a state is durable.
func (l *Mixed) StateSet(session, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[session] = []string{state}
}

// AuditState compares a session's state with the states that it may have.
func (l *Mixed) AuditState(session, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	allowed := l.states[session]
	if len(allowed) == 0 {
		allowed = []string{""} // no client tried to set one
	}
	if !slices.Contains(allowed, state) {
		l.fault("session %s has the state %q, want one of %q", session, state, allowed)
	}
}

// AuditDoubts checks that each transaction without an answer happened as a whole or not at all.
func (l *Mixed) AuditDoubts(found map[string][]Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.doubts {
		done := 0
		for id := range d.Moved {
			if !slices.Contains(found[id], InQueue) {
				done++
			}
		}
		for _, id := range d.Made {
			done += len(found[id])
		}
		if all := len(d.Moved) + len(d.Made); done != 0 && done != all {
			l.fault("%d of %d parts of a transaction happened: %v, %v", done, all, d.Moved, d.Made)
		}
	}
}

// Sessions returns the sessions whose state a client tried to set.
func (l *Mixed) Sessions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.states))
}

// Doubts returns how many transactions are without an answer.
func (l *Mixed) Doubts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.doubts)
}

// Rest forgets a finished round.
func (l *Mixed) Rest() {
	l.Ledger.Rest()
	l.doubts = nil
	clear(l.states)
}
