package compat

import "slices"

// doubt is a transaction whose commit was not answered: all of it happened, or nothing.
type doubt struct {
	moved map[string]place // messages that it settled, and where they would go
	made  []string         // messages that it sent, which would be in the target
}

// A mixedLedger also knows transactions and the states of sessions.
type mixedLedger struct {
	*ledger
	doubts []doubt
	states map[string][]string // session -> states that it may have; the empty one is none
	next   map[string]int64    // queue -> its last number, over all rounds
}

func newMixedLedger() *mixedLedger {
	return &mixedLedger{ledger: newLedger(), states: make(map[string][]string), next: make(map[string]int64)}
}

// committing is called before a commit leaves.
func (l *mixedLedger) committing(d doubt) {
	for id, where := range d.moved {
		l.settling(id, where)
	}
	for _, id := range d.made {
		l.sending(id, inTarget)
	}
}

// committed is called with the answer that a transaction is durable.
func (l *mixedLedger) committed(d doubt) {
	for id, where := range d.moved {
		l.settledAt(id, where)
	}
	for _, id := range d.made {
		l.settledAt(id, inTarget)
	}
}

// doubtful notes a transaction without an answer.
func (l *mixedLedger) doubtful(d doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doubts = append(l.doubts, d)
}

// settingState is called before a state leaves.
func (l *mixedLedger) settingState(session, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.states[session]) == 0 {
		l.states[session] = []string{""}
	}
	l.states[session] = append(l.states[session], state)
}

// stateSet is called with the answer that a state is durable.
func (l *mixedLedger) stateSet(session, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[session] = []string{state}
}

// auditState compares a session's state with what it may be.
func (l *mixedLedger) auditState(session, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	allowed := l.states[session]
	if len(allowed) == 0 {
		allowed = []string{""} // nobody tried to set one
	}
	if !slices.Contains(allowed, state) {
		l.fault("session %s has the state %q, want one of %q", session, state, allowed)
	}
}

// auditDoubts checks that what was found of each transaction is all or nothing.
func (l *mixedLedger) auditDoubts(found map[string][]place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.doubts {
		done := 0
		for id := range d.moved {
			if !slices.Contains(found[id], inQueue) {
				done++
			}
		}
		for _, id := range d.made {
			done += len(found[id])
		}
		if all := len(d.moved) + len(d.made); done != 0 && done != all {
			l.fault("%d of %d parts of a transaction happened: %v, %v", done, all, d.moved, d.made)
		}
	}
}

// rest forgets a finished round.
func (l *mixedLedger) rest() {
	l.ledger.rest()
	l.doubts = nil
	clear(l.states)
}
