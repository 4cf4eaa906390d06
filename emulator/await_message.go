package emulator

import (
	"context"
	"math"
	"slices"
)

// AwaitMessage says for which message to wait. Locked ones count as what they were before.
type AwaitMessage struct {
	Entity string // path
	Sub    SubQueue
	Select Selection // its Seqs are unused
}

// messageSearch looks for a message that is awaited: once at all that there are, then at those only to which something happened, as the record has it.
type messageSearch struct {
	*AwaitMessage
	wanted selector
	from   int64                                      // where the walk through all messages goes on
	walked bool                                       // it is over
	next   int64                                      // number of the first event that was not looked at
	found  int64                                      // the number of a message that was there
	room   func(bytes int64) (done func(), err error) // as of [Browse]
}

// look returns the number of a message that fits, 0 if there is none.
func (s *messageSearch) look(ctx context.Context, ns *Namespace) (int64, error) {
	if err := s.begin(ns); err != nil {
		return 0, err
	}
	if s.found != 0 { // it may be gone
		if err := s.walk(s.found, s.found); err != nil || s.found != 0 {
			return s.found, err
		}
		s.restart(ns)
	}
	for !s.walked && s.found == 0 && ctx.Err() == nil {
		if err := s.walk(s.from, math.MaxInt64); err != nil {
			return 0, err
		}
	}
	if !s.walked || s.found != 0 {
		return s.found, nil
	}
	return s.found, s.lookAtChanges(ns)
}

// begin finds the entity, and begins anew if it is another one or the record has forgotten events.
func (s *messageSearch) begin(ns *Namespace) error {
	q, err := ns.Entity(s.Entity)
	if err != nil {
		return err
	}
	if len(s.Select.States) == 0 {
		s.Select.States = []State{Active}
	}
	if s.wanted.q != q {
		if s.wanted, err = newSelector(q, s.Sub, s.Select); err != nil {
			return err
		}
		s.restart(ns)
	}
	if ns.common.record.Oldest() > s.next {
		s.restart(ns)
	}
	return nil
}

func (s *messageSearch) restart(ns *Namespace) {
	s.found, s.walked, s.from, s.next = 0, false, math.MinInt64, ns.common.record.Next()
}

// walk looks at the next messages with numbers in a range, few at a time.
func (s *messageSearch) walk(from, to int64) error {
	s.found = 0
	end, err := s.wanted.browse(Browse{Sub: s.Sub, Select: s.Select, From: &from, To: &to, Max: 1, room: s.room}, func(m *MessageView) { s.found = m.Sequence })
	if s.from = end.Next; to == math.MaxInt64 {
		s.walked = !end.More
	}
	return err
}

// lookAtChanges looks at messages to which something happened.
func (s *messageSearch) lookAtChanges(ns *Namespace) error {
	var numbers []int64
	events, next := ns.History().Events(s.next, EventFilter{Entity: s.wanted.q.path})
	for e := range events {
		numbers = append(numbers, e.Sequence)
		if e.NextSequence != 0 {
			numbers = append(numbers, e.NextSequence)
		}
	}
	s.next = next
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for len(numbers) > 0 && s.found == 0 {
		n := 1
		for n < len(numbers) && n < peekChunk && numbers[n] == numbers[n-1]+1 {
			n++
		}
		if err := s.walk(numbers[0], numbers[n-1]); err != nil {
			return err
		}
		numbers = numbers[n:]
	}
	return nil
}
