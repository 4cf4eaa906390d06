package store

import (
	"strings"
	"sync/atomic"

	"minibus/emulator"
)

// trouble tells /health why nothing can be stored although the files are at their paths. The writer notes it when it
// refuses a change or fails to write, and clears it when a write of that kind succeeds. Clients may send nothing until /health
// is good again, so each question while there is trouble makes the writer check whether it still holds.
type trouble struct {
	last  atomic.Pointer[told] // nil: none
	doubt atomic.Bool          // Trouble was called: check again
}

// told is one trouble.
type told struct {
	err  error
	full bool // for want of room: changes that need none are still written
}

// note notes the result of a write.
func (t *trouble) note(err error) {
	if err == nil {
		t.over(false)
		return
	}
	text, full := domainError(err).Error(), isFull(err)
	if full {
		text = textFull
	}
	t.last.Store(&told{&emulator.Error{Code: emulator.CodeInternal, Text: strings.TrimSuffix(text, ".") + "."}, full})
}

// over clears the trouble if it is of that kind.
func (t *trouble) over(full bool) {
	if last := t.last.Load(); last != nil && last.full == full {
		t.last.Store(nil)
	}
}

// Trouble returns why nothing can be stored, or nil: the database file was moved or replaced, the disk is full, or
// writing fails. It does not wait, so the trouble may already be over.
func (s *Store) Trouble() error {
	if err := s.place.look(); err != nil {
		return err
	}
	last := s.trouble.last.Load()
	if last == nil {
		return nil
	}
	s.trouble.doubt.Store(true)
	s.inbox.poke()
	return last.err
}
