package main

import (
	"fmt"
	"time"
)

// settleDown is longer than any message for soon takes to be due or to expire.
const settleDown = 3 * time.Second

// lookAround compares the stored messages with the ledger and leaves them there.
func (s *soak) lookAround(when string) error {
	a, done, err := s.newAudit()
	if err != nil {
		return err
	}
	defer done()
	if err := a.auditSubscriptions(when); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	if err := a.compare(when); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	s.order.rest()
	return nil
}

// checkpoint checks everything while the load rests: messages, counts, what is left after all was taken, memory.
func (s *soak) checkpoint() error {
	s.report.Checkpoints++
	when := fmt.Sprintf("checkpoint %d", s.report.Checkpoints)
	a, done, err := s.newAudit()
	if err != nil {
		return err
	}
	defer done()
	defer s.closeKept()
	if err := s.advanceClock(); err != nil {
		return err
	}
	time.Sleep(settleDown)
	for _, e := range entities {
		if e.dying {
			if err := a.waitUntilEmpty(e); err != nil {
				return err
			}
		}
	}
	if err := a.auditSubscriptions(when); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	if err := a.compare(when); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	if err := a.auditCounts(when); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	if s.enough() {
		return nil // what was found stays in the database
	}
	if err := s.takeOut(a, when); err != nil {
		return err
	}
	s.book.Rest()
	s.order.rest()
	if err := s.compareMemory(); err != nil {
		return err
	}
	s.progress()
	return nil
}

// takeOut empties the broker and checks that it is empty.
func (s *soak) takeOut(a *audit, when string) error {
	if err := a.drain(); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	if err := s.auditEntities(a.ctx); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	clear(a.found)
	if err := a.look(); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	for key, seen := range a.found {
		s.find("%s: %s is there after everything was taken: %+v", when, key, seen)
	}
	return a.auditCounts(when + ", emptied")
}
