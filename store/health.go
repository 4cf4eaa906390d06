package store

import (
	"strings"
	"sync/atomic"

	"minibus/emulator"
)

// health tells /health why nothing can be stored although the files are at their paths. The writer notes it when it
// refuses a change or fails to write, and clears it when a write of that kind succeeds. Clients may send nothing
// until /health is good again, so each question while something is wrong makes the writer check whether it still is.
type health struct {
	problem atomic.Pointer[problem] // nil: none
	doubt   atomic.Bool             // Health was called: check again
}

type problem struct {
	err  error
	full bool // the disk is full: changes that need no space are still written
}

// note notes the result of a write. One that succeeds does not end a full disk, since it may have needed no space.
func (h *health) note(err error) {
	if err == nil {
		if p := h.problem.Load(); p != nil && !p.full {
			h.problem.Store(nil)
		}
		return
	}
	text := domainError(err).Error()
	full := isFull(err)
	if full {
		text = textFull
	}
	text = strings.TrimSuffix(text, ".") + "."
	h.problem.Store(&problem{&emulator.Error{Code: emulator.CodeInternal, Text: text}, full})
}

// full reports whether the disk is full.
func (h *health) full() bool {
	p := h.problem.Load()
	return p != nil && p.full
}

// Health returns why nothing can be stored, or nil: the database file was moved or replaced, the disk is full, or
// writing fails. It does not wait, so the problem may already be over.
func (s *Store) Health() error {
	if err := s.files.check(lookEvery); err != nil {
		return err
	}
	p := s.health.problem.Load()
	if p == nil {
		return nil
	}
	s.health.doubt.Store(true)
	s.inbox.poke()
	return p.err
}

// checkHealth checks whether a problem is over, if Health was called. Unless the disk is full it commits an update that
// changes nothing.
func (w *writer) checkHealth() {
	h := &w.s.health
	if !h.doubt.Load() || !h.doubt.Swap(false) || h.problem.Load() == nil {
		return
	}
	if h.full() {
		if w.disk.isBack() {
			w.disk.back()
		}
		return
	}
	h.note(w.disk.orMakeSpace(func() error {
		return w.tx.run(func() error { return w.conn.exec("UPDATE namespace SET deleted=deleted WHERE id=1") })
	}))
}
