package emulator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Await says what to wait for in a namespace. All parts that are set have to hold at one moment.
type Await struct {
	Entity string           // path, for Counts and Idle
	Counts []CountCondition // of the entity
	Idle   bool             // no message of the entity is available or locked, or waits to be forwarded
	Events *EventFilter     // at least Times such events since From
	Times  int              // 0: 1
	From   int64            // number of the first event that counts; 0: those that come from now on

	Message *AwaitMessage // nil: none

	// Room waits until so many bytes of bodies may be read from disk, or until ctx ends, which is its error. done gives them back. nil: there always is room.
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

// Awaited is how it stands at the end of a wait.
type Awaited struct {
	Met    bool
	Counts Counts // of the entity, if the wait names one
	Events int    // that were counted
	Next   int64  // number of the next event

	Message int64 // the sequence number of the message, if the wait is for one and it is there; else 0
}

// lookAgain is how often a wait looks by itself: not all that changes is an event, such as the deletion of an entity.
const lookAgain = 250 * time.Millisecond

// lookPause is how long a wait lets events gather, so that many waits cost a busy broker little.
const lookPause = 2 * time.Millisecond

// Wait waits until what a says holds, or ctx ends, which is no error. Errors: CodeNotFound without the entity, or when the namespace is gone, and
// CodeArgument.
func (ns *Namespace) Wait(ctx context.Context, a Await) (Awaited, error) {
	record := ns.common.record
	if (a.Events != nil || a.Message != nil) && record == nil {
		return Awaited{}, errorf(CodeNotAllowed, "", "No history is kept, so events and messages can't be awaited. Start Minibus without --history off.")
	}
	var s Awaited
	if s.Next = record.Next(); a.Events != nil && a.From != 0 {
		s.Next = a.From
	}
	search := &messageSearch{AwaitMessage: a.Message}
	if a.Room != nil {
		search.room = func(bytes int64) (func(), error) { return a.Room(ctx, bytes) }
	}
	for {
		changed, done := record.Changed(record.Next())
		err := ns.look(&a, &s)
		if err == nil && a.Message != nil {
			s.Message, err = search.look(ctx, ns)
			s.Met = s.Met && s.Message != 0
			if err != nil && errors.Is(err, ctx.Err()) {
				err = nil // there was no room to read until the end
			}
		}
		if err == nil && !s.Met && ctx.Err() == nil {
			err = ns.pause(ctx, changed)
		}
		done()
		if err != nil || s.Met || ctx.Err() != nil {
			return s, err
		}
	}
}

// pause waits until there may be something new.
func (ns *Namespace) pause(ctx context.Context, changed <-chan struct{}) error {
	again := time.NewTimer(lookAgain)
	defer again.Stop()
	select {
	case <-changed: // and more, on a busy broker
		again.Reset(lookPause)
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	case <-again.C:
	case <-ctx.Done():
	case <-ns.deleted:
		return namespaceNotFound(ns.name)
	}
	return nil
}

// look finds out how it stands.
func (ns *Namespace) look(a *Await, s *Awaited) error {
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

// String says how it stands, for people.
func (s Awaited) String() string {
	var parts []string
	for _, of := range []Counted{CountedActive, CountedDeferred, CountedScheduled, CountedDeadLetter, CountedTransfer, CountedTransferDeadLetter} {
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
