package store

import (
	"strings"
	"sync/atomic"

	"minibus/emulator"
)

// trouble is why nothing can be stored although the files are where they belong, for who asks from outside. The writer notes it when it
// refuses something, or fails, and forgets it when something of the kind has succeeded. That may not happen for long, since clients wait for
// a store that is well. So whoever asks, while there is trouble, has the writer find out whether there still is.
type trouble struct {
	last  atomic.Pointer[told] // nil: none
	doubt atomic.Bool          // somebody asked
}

// told is one trouble.
type told struct {
	err  error
	full bool // for want of room; what needs none is written
}

func (t *trouble) note(err error) {
	text, full := domainError(err).Error(), isFull(err)
	if full {
		text = textFull
	}
	t.last.Store(&told{&emulator.Error{Code: emulator.CodeInternal, Text: strings.TrimSuffix(text, ".") + "."}, full})
}

// over notes that something was written that would not have been if there was trouble of a kind.
func (t *trouble) over(full bool) {
	if last := t.last.Load(); last != nil && last.full == full {
		t.last.Store(nil)
	}
}

// Trouble returns why nothing can be stored although the process is well, or nil: the database was taken away, the disk is full, or
// writing fails. It does not wait, so it may tell of what has just passed.
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

// resolveDoubt finds out whether there still is trouble, if somebody has asked.
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

// smallMessage is what has to fit before the disk counts as not full any more. With less, each gap between small messages would count.
const smallMessage = 64 << 10

// hasRoom reports whether there is room again.
func (w *writer) hasRoom() bool {
	w.conn.mu.Lock()
	w.lookAtDisk()
	w.conn.mu.Unlock()
	return w.makesFit(w.room.reserved() + smallMessage)
}

// tryToWrite writes what is there already, and notes what becomes of it.
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

// noteWrite notes what became of a transaction.
func (w *writer) noteWrite(err error) {
	if err == nil {
		w.s.trouble.over(false)
		return
	}
	w.s.trouble.note(err)
}
