package ledger

import "testing"

// The crash test is only as good as its ledger: these faults must be found.
func TestMixedLedger_FindsFaults(t *testing.T) {
	moved := Doubt{Moved: map[string]Place{"a": Nowhere, "b": InDeadLetters}, Made: []string{"a>", "b>"}}
	before := map[string][]Place{"a": {InQueue}, "b": {InQueue}}
	after := map[string][]Place{"b": {InDeadLetters}, "a>": {InTarget}, "b>": {InTarget}}
	for _, c := range []struct {
		name     string
		answered bool
		found    map[string][]Place
		faults   bool
	}{
		{"answered and done", true, after, false},
		{"answered and lost", true, before, true},
		{"in doubt and done", false, after, false},
		{"in doubt and not done", false, before, false},
		{"one message not settled", false, map[string][]Place{"a": {InQueue}, "b": {InDeadLetters}, "a>": {InTarget}, "b>": {InTarget}}, true},
		{"one message not sent", false, map[string][]Place{"b": {InDeadLetters}, "a>": {InTarget}}, true},
		{"sent only", false, map[string][]Place{"a": {InQueue}, "b": {InQueue}, "a>": {InTarget}, "b>": {InTarget}}, true},
		{"sent twice", false, map[string][]Place{"b": {InDeadLetters}, "a>": {InTarget, InTarget}, "b>": {InTarget}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewMixed()
			for id := range moved.Moved {
				l.Sending(id, InQueue)
				l.Sent(id)
			}
			l.Committing(moved)
			if c.answered {
				l.Committed(moved)
			} else {
				l.Doubtful(moved)
			}
			l.Audit(c.found)
			l.AuditDoubts(c.found)
			if got := len(l.faults) > 0; got != c.faults {
				t.Errorf("faults: %v", l.faults)
			}
		})
	}
}

func TestMixedLedger_FindsWrongStates(t *testing.T) {
	for state, fault := range map[string]bool{"": true, "1": true, "2": false, "3": false, "4": true} {
		l := NewMixed()
		l.SettingState("s", "1")
		l.StateSet("s", "1")
		l.SettingState("s", "2")
		l.StateSet("s", "2")
		l.SettingState("s", "3")
		if l.AuditState("s", state); (len(l.faults) > 0) != fault {
			t.Errorf("state %q: faults %v", state, l.faults)
		}
	}
	l := NewMixed()
	l.SettingState("new", "1")
	if l.AuditState("new", ""); len(l.faults) > 0 {
		t.Errorf("no state before the first answer: %v", l.faults)
	}
	// The kill may come between a session's first message and its first state.
	if l.AuditState("without", ""); len(l.faults) > 0 {
		t.Errorf("no state before the first one: %v", l.faults)
	}
	if l.AuditState("without", "1"); len(l.faults) == 0 {
		t.Error("a state that no client set is no fault")
	}
}
