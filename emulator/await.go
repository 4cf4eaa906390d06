package emulator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Await says what to wait for in a namespace. All that is set has to hold at one moment.
type Await struct {
	Entity string           // path, for Counts and Idle
	Counts []CountCondition // of the entity
	Idle   bool             // no message of the entity is available or locked, or waits to be forwarded
	Events *EventFilter     // at least Times such events since From
	Times  int              // 0: 1
	From   int64            // number of the first event that counts; 0: those that come from now on

	Message *AwaitMessage // nil: none

	// Room waits until so many bytes of bodies may be read from disk; done gives them back. It fails if ctx ends
	// before. Nil: there is no limit.
	Room func(ctx context.Context, bytes int64) (done func(), err error)
}

// CountCondition compares a count of an entity.
type CountCondition struct {
	Of    Counted
	Least int64
	Most  int64 // less than 0: no limit
}

// Counted names a count, as of [Counts].
type Counted string

// The counts.
const (
	CountedActive             Counted = "active"
	CountedDeferred           Counted = "deferred"
	CountedScheduled          Counted = "scheduled"
	CountedDeadLetter         Counted = "deadLetter"
	CountedTransfer           Counted = "transfer"
	CountedTransferDeadLetter Counted = "transferDeadLetter"
)

// Words says how many there are, for people: 1 dead letter.
func (name Counted) Words(n int64) string {
	switch name {
	case CountedDeadLetter:
		return count(n, "dead letter")
	case CountedTransfer:
		return fmt.Sprintf("%d to be forwarded", n)
	case CountedTransferDeadLetter:
		return count(n, "transfer dead letter")
	}
	return fmt.Sprintf("%d %s", n, name)
}

// Of returns the count with a name.
func (c Counts) Of(name Counted) int64 {
	switch name {
	case CountedActive:
		return c.Active
	case CountedDeferred:
		return c.Deferred
	case CountedScheduled:
		return c.Scheduled
	case CountedDeadLetter:
		return c.DeadLetter
	case CountedTransfer:
		return c.Transfer
	case CountedTransferDeadLetter:
		return c.TransferDeadLetter
	}
	return 0
}

// Awaited is the state at the end of a wait.
type Awaited struct {
	Met    bool
	Counts Counts // of the entity, if the wait names one
	Events int    // that were counted
	Next   int64  // number of the next event

	Message int64 // the sequence number of the message, if the wait is for one and it is there; else 0
}

// AwaitMessage says for which message to wait. Locked ones count as what they were before.
type AwaitMessage struct {
	Entity string // path
	Sub    SubQueue
	Select Selection // its Seqs are unused
}

const (
	// recheck is how often a wait looks by itself: not all that changes is an event, such as the deletion of an entity.
	recheck = 250 * time.Millisecond
	// gather is how long a wait lets events gather, so that many waits cost a busy broker little.
	gather = 2 * time.Millisecond
)

// Wait waits until what a says holds, or ctx ends, which is no error. Errors: CodeNotFound without the entity, or when
// the namespace is deleted, and CodeArgument.
func (ns *Namespace) Wait(ctx context.Context, a Await) (Awaited, error) {
	record := ns.common.record
	if (a.Events != nil || a.Message != nil) && record == nil {
		return Awaited{}, errorf(CodeNotAllowed, "", "No history is kept, so events and messages can't be awaited. "+
			"Start Minibus without --history off.")
	}
	var s Awaited
	if s.Next = record.Next(); a.Events != nil && a.From != 0 {
		s.Next = a.From
	}
	search := &messageSearch{AwaitMessage: a.Message, ns: ns}
	if a.Room != nil {
		search.room = func(bytes int64) (func(), error) { return a.Room(ctx, bytes) }
	}
	for {
		changed, done := record.Changed(record.Next())
		err := s.update(ns, &a)
		if err == nil && a.Message != nil {
			s.Message, err = search.look(ctx)
			s.Met = s.Met && s.Message != 0
			if err != nil && errors.Is(err, ctx.Err()) {
				err = nil // there was no room to read until the end
			}
		}
		if err == nil && !s.Met && ctx.Err() == nil {
			err = awaitChange(ctx, changed, ns)
		}
		done()
		if err != nil || s.Met || ctx.Err() != nil {
			return s, err
		}
	}
}

// awaitChange waits until there may be something new in a namespace.
func awaitChange(ctx context.Context, changed <-chan struct{}, ns *Namespace) error {
	timer := time.NewTimer(recheck)
	defer timer.Stop()
	select {
	case <-changed: // and more, on a busy broker
		timer.Reset(gather)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	case <-timer.C:
	case <-ctx.Done():
	case <-ns.deleted:
		return namespaceNotFound(ns.name)
	}
	return nil
}

// update finds out the present state, apart from the message.
func (s *Awaited) update(ns *Namespace, a *Await) error {
	s.Met = true
	if a.Entity != "" {
		q, err := ns.Entity(a.Entity)
		if err != nil {
			return err
		}
		s.Counts = q.Counts()
		for _, c := range a.Counts {
			n := s.Counts.Of(c.Of)
			s.Met = s.Met && n >= c.Least && (c.Most < 0 || n <= c.Most)
		}
		s.Met = s.Met && (!a.Idle || s.Counts.Active == s.Counts.Deferred && s.Counts.Transfer == 0)
	}
	if a.Events == nil {
		s.Next = ns.common.record.Next()
		return nil
	}
	events, next := ns.History().Events(s.Next, *a.Events)
	for range events {
		s.Events++
	}
	s.Next = next
	s.Met = s.Met && s.Events >= max(a.Times, 1)
	return nil
}

// messageSearch looks for a message that is awaited: once at all messages, and then only at those to which something
// has happened, as the record says.
type messageSearch struct {
	*AwaitMessage
	ns     *Namespace
	wanted selectionMatcher
	from   int64                                      // where the walk through all messages goes on
	walked bool                                       // it has come to the end
	next   int64                                      // number of the first event that was not looked at
	found  int64                                      // the number of a message that was there
	room   func(bytes int64) (done func(), err error) // as of [Browse]
}

// look returns the number of a message that fits, 0 if there is none.
func (s *messageSearch) look(ctx context.Context) (int64, error) {
	if err := s.begin(); err != nil {
		return 0, err
	}
	if s.found != 0 { // it may have left
		if err := s.walk(s.found, s.found); err != nil || s.found != 0 {
			return s.found, err
		}
		s.restart()
	}
	for !s.walked && s.found == 0 && ctx.Err() == nil {
		if err := s.walk(s.from, math.MaxInt64); err != nil {
			return 0, err
		}
	}
	if !s.walked || s.found != 0 {
		return s.found, nil
	}
	return s.found, s.walkChanges()
}

// begin finds the entity. The search starts again if it is another one than before, or if the record has forgotten
// events.
func (s *messageSearch) begin() error {
	q, err := s.ns.Entity(s.Entity)
	if err != nil {
		return err
	}
	if len(s.Select.States) == 0 {
		s.Select.States = []State{Active}
	}
	another := s.wanted.q != q
	if another {
		if s.wanted, err = newSelectionMatcher(q, s.Sub, s.Select); err != nil {
			return err
		}
	}
	if another || s.ns.common.record.Oldest() > s.next {
		s.restart()
	}
	return nil
}

func (s *messageSearch) restart() {
	s.found = 0
	s.walked = false
	s.from = math.MinInt64
	s.next = s.ns.common.record.Next()
}

// walk looks at the next messages with numbers in a range, few at a time.
func (s *messageSearch) walk(from, to int64) error {
	s.found = 0
	b := Browse{Sub: s.Sub, Select: s.Select, From: &from, To: &to, Max: 1, room: s.room}
	end, err := s.wanted.browse(b, func(m *MessageView) { s.found = m.Sequence })
	if s.from = end.Next; to == math.MaxInt64 {
		s.walked = !end.More
	}
	return err
}

// walkChanges looks at messages to which something has happened.
func (s *messageSearch) walkChanges() error {
	var numbers []int64
	events, next := s.ns.History().Events(s.next, EventFilter{Entity: s.wanted.q.path})
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

// String says what is awaited, for people.
func (a *Await) String() string {
	var parts []string
	for _, c := range a.Counts {
		parts = append(parts, c.String()+" in "+a.Entity)
	}
	if a.Idle {
		parts = append(parts, a.Entity+" without a message that is available, locked or to be forwarded")
	}
	if a.Events != nil {
		parts = append(parts, a.Events.words(max(a.Times, 1)))
	}
	if a.Message != nil {
		parts = append(parts, a.Message.words())
	}
	return strings.Join(parts, ", and ")
}

// String says what the condition is, for people: at least 2 active.
func (c CountCondition) String() string {
	switch {
	case c.Most < 0:
		return "at least " + c.Of.Words(c.Least)
	case c.Least == c.Most:
		return "exactly " + c.Of.Words(c.Least)
	case c.Least == 0:
		return "at most " + c.Of.Words(c.Most)
	}
	return fmt.Sprintf("%d to %s", c.Least, c.Of.Words(c.Most))
}

// words says which events are selected, for people.
func (f *EventFilter) words(times int) string {
	text := count(int64(times), "event")
	if len(f.Kinds) > 0 {
		kinds := make([]string, len(f.Kinds))
		for i, k := range f.Kinds {
			kinds[i] = k.String()
		}
		text += " " + strings.Join(kinds, " or ")
	}
	parts := []struct{ word, value string }{{"in", f.Entity}, {"of the message", f.MessageID}, {"by", f.Client}}
	for _, x := range parts {
		if x.value != "" {
			text += " " + x.word + " " + x.value
		}
	}
	if f.Sequence != 0 {
		text += fmt.Sprintf(" of the number %d", f.Sequence)
	}
	return text
}

// words says which message is awaited, for people.
func (m *AwaitMessage) words() string {
	text := "a message in " + m.Sub.Join(m.Entity)
	for _, x := range []struct{ word, value string }{{"where", m.Select.SQL}, {"with", m.Select.Text}} {
		if x.value != "" {
			text += fmt.Sprintf(" %s %q", x.word, x.value)
		}
	}
	for _, x := range []struct {
		word  string
		value *string
	}{{"reason", m.Select.Reason}, {"session", m.Select.SessionID}} {
		if x.value != nil {
			text += fmt.Sprintf(" with the %s %q", x.word, *x.value)
		}
	}
	if m.Select.Before != 0 {
		text += " enqueued before " + time.UnixMilli(m.Select.Before).UTC().Format(time.RFC3339)
	}
	return text
}

// String describes the state, for people.
func (s Awaited) String() string {
	var parts []string
	for _, of := range []Counted{
		CountedActive, CountedDeferred, CountedScheduled, CountedDeadLetter, CountedTransfer, CountedTransferDeadLetter,
	} {
		if n := s.Counts.Of(of); n != 0 {
			parts = append(parts, of.Words(n))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no messages")
	}
	if s.Events > 0 {
		parts = append(parts, count(int64(s.Events), "matching event"))
	}
	return strings.Join(parts, ", ")
}
