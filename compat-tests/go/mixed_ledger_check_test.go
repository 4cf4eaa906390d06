package compat

import "testing"

// The crash test is only as good as its ledger: these faults must be found.
func TestMixedLedger_FindsFaults(t *testing.T) {
	moved := doubt{moved: map[string]place{"a": nowhere, "b": inDeadLetters}, made: []string{"a>", "b>"}}
	before := map[string][]place{"a": {inQueue}, "b": {inQueue}}
	after := map[string][]place{"b": {inDeadLetters}, "a>": {inTarget}, "b>": {inTarget}}
	for _, c := range []struct {
		name     string
		answered bool
		found    map[string][]place
		faults   bool
	}{
		{"answered and done", true, after, false},
		{"answered and lost", true, before, true},
		{"in doubt and done", false, after, false},
		{"in doubt and not done", false, before, false},
		{"one message not settled", false, map[string][]place{"a": {inQueue}, "b": {inDeadLetters}, "a>": {inTarget}, "b>": {inTarget}}, true},
		{"one message not sent", false, map[string][]place{"b": {inDeadLetters}, "a>": {inTarget}}, true},
		{"sent only", false, map[string][]place{"a": {inQueue}, "b": {inQueue}, "a>": {inTarget}, "b>": {inTarget}}, true},
		{"sent twice", false, map[string][]place{"b": {inDeadLetters}, "a>": {inTarget, inTarget}, "b>": {inTarget}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newMixedLedger()
			for id := range moved.moved {
				l.sending(id, inQueue)
				l.sent(id)
			}
			l.committing(moved)
			if c.answered {
				l.committed(moved)
			} else {
				l.doubtful(moved)
			}
			l.audit(c.found)
			l.auditDoubts(c.found)
			if got := len(l.faults) > 0; got != c.faults {
				t.Errorf("faults: %v", l.faults)
			}
		})
	}
}

func TestMixedLedger_FindsWrongStates(t *testing.T) {
	for state, fault := range map[string]bool{"": true, "1": true, "2": false, "3": false, "4": true} {
		l := newMixedLedger()
		l.settingState("s", "1")
		l.stateSet("s", "1")
		l.settingState("s", "2")
		l.stateSet("s", "2")
		l.settingState("s", "3")
		if l.auditState("s", state); (len(l.faults) > 0) != fault {
			t.Errorf("state %q: faults %v", state, l.faults)
		}
	}
	l := newMixedLedger()
	l.settingState("new", "1")
	if l.auditState("new", ""); len(l.faults) > 0 {
		t.Errorf("no state before the first answer: %v", l.faults)
	}
	// The kill may come between a session's first message and its first state.
	if l.auditState("without", ""); len(l.faults) > 0 {
		t.Errorf("no state before the first one: %v", l.faults)
	}
	if l.auditState("without", "1"); len(l.faults) == 0 {
		t.Error("a state that nobody set is no fault")
	}
}
