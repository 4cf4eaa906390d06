package emulator

import "minibus/emulator/filter"

// Selection says which messages a job or a [Browse] concerns: those that fit all that is set.
type Selection struct {
	States    []State // none: active ones; of a Browse: any
	SQL       string  // an expression of the rules' language
	Text      string  // in the body or in a property, in letters of any case
	Reason    *string // of the dead-lettering
	SessionID *string
	Before    int64   // ms; enqueued earlier than that; 0: whenever
	After     int64   // ms; enqueued at that instant or later; 0: whenever
	DueBefore int64   // ms; only scheduled ones that become active earlier than that; 0: any
	DueAfter  int64   // ms; only scheduled ones that become active at that instant or later; 0: any
	Seqs      []int64 // only these; nil: all; of a Browse unused
}

// selectionMatcher finds out which messages of a sub-queue fit a selection.
type selectionMatcher struct {
	q       *Entity
	sub     SubQueue
	want    Selection
	matcher *filter.Filter // of want.SQL; nil: none
}

// newSelectionMatcher compiles a selection. It fails with CodeArgument if its SQL is wrong.
func newSelectionMatcher(q *Entity, sub SubQueue, want Selection) (s selectionMatcher, err error) {
	s = selectionMatcher{q: q, sub: sub, want: want}
	if want.SQL == "" {
		return s, nil
	}
	if s.matcher, err = q.ns.Profile().parseFilter(want.SQL, nil); err != nil {
		return s, &Error{Code: CodeArgument, Entity: q.path, Text: "The SQL filter is wrong", Err: err}
	}
	return s, nil
}
