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

func (t *trouble) note(err error) {
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

// resolveDoubt checks whether there still is trouble, if Trouble was called.
func (w *writer) resolveDoubt() {
	t := &w.s.trouble
	if !t.doubt.Load() || !t.doubt.Swap(false) {
		return
	}
	last := t.last.Load()
	switch {
	case last == nil:
	case !last.full:
		w.tryToWrite()
	case w.hasRoom():
		t.over(true)
	}
}

// smallMessage is how many bytes must fit before the disk no longer counts as full. With less, each gap between small messages would do.
const smallMessage = 64 << 10

// hasRoom reports whether there is room again.
func (w *writer) hasRoom() bool {
	w.conn.mu.Lock()
	w.lookAtDisk()
	w.conn.mu.Unlock()
	return w.makesFit(w.room.reserved() + smallMessage)
}

// tryToWrite commits an update that changes nothing, and notes the result.
func (w *writer) tryToWrite() {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	w.noteWrite(w.withRoom(func() error {
		return w.transaction(func() error {
			err := w.conn.exec("UPDATE meta SET value=value WHERE ns=1 AND key='next_row'")
			if err == nil && w.s.beforeCommit != nil {
				err = w.s.beforeCommit()
			}
			return err
		})
	}))
}

// noteWrite notes whether a transaction succeeded.
func (w *writer) noteWrite(err error) {
	if err == nil {
		w.s.trouble.over(false)
		return
	}
	w.s.trouble.note(err)
}
