package store

import (
	"errors"
	"fmt"

	"minibus/emulator"
)

// The ids of a read mostly follow each other: they are handed out in order, and messages are received in order. So
// the reader fetches bodies in runs, and not one by one, each with a descent of the tree and a start and an end of a
// statement. Measured with bodies of 1 KiB whose pages are in memory, a body in a run costs 0.3 microseconds, copy
// included, and a single look-up 0.7.
const (
	// Ids with gaps are read in one go as well, if they are less than windowIDs, the bits of a mask, above the first.
	// Gaps without bodies cost nothing: each copy that a topic makes has an id, but only one has a body.
	windowIDs = 64

	// Runs of this length do not become part of a window, whose rows cost a little more.
	longRun = 8

	// Strays, bodies in the gaps that no read asked for, are skipped without a copy. That costs a quarter of a
	// look-up, if they are no larger than maxStray: a page holds only few larger ones, and a page costs as much as
	// many look-ups.
	maxStray = 2048

	// After strayAllowance more strays than wanted bodies, the reader tries no gaps for roundsOfRest rounds.
	strayAllowance = 4
	roundsOfRest   = 64
)

// want is one body that a read asks for: id and place in the read.
type want struct {
	id int64
	of *emulator.BodyRead
	at int
}

// found answers a want. A damaged body stays nil, and the read's Damaged says why.
func (w want) found(data []byte, err error) error {
	if err == nil {
		w.of.Bodies[w.at] = data
		return nil
	}
	if !isBodyDamage(err) {
		return err
	}
	if w.of.Damaged == nil {
		w.of.Damaged = map[int]emulator.Damage{}
	}
	d := emulator.Damage{Why: err.Error()}
	var de *damageError
	if errors.As(err, &de) {
		d.Rest = de.rest
	}
	w.of.Damaged[w.at] = d
	return nil
}

// gather returns the wants of the reads, in their order, and sets all answers to nil, the answer for bodies that are
// gone. Reads often begin where the one before ends. gather does not sort the others: that costs more than it saves.
func (r *reader) gather(reads []*emulator.BodyRead) []want {
	wants := r.wants[:0]
	for _, br := range reads {
		if len(br.Bodies) != len(br.IDs) {
			br.Bodies = make([][]byte, len(br.IDs))
		}
		br.Damaged = nil
		for i, id := range br.IDs {
			br.Bodies[i] = nil
			wants = append(wants, want{id, br, i})
		}
	}
	return wants
}

// release keeps the slice for the next round, and drops what its elements refer to.
func (r *reader) release(wants []want) {
	clear(wants)
	r.wants = wants
	if cap(wants) > maxSpare {
		r.wants = nil
	}
}

// fetch answers wants, in the open transaction.
func (r *reader) fetch(wants []want) error {
	r.gaps.newRound()
	for len(wants) > 0 {
		st, n := r.choose(wants)
		left, err := r.walk(st, wants[:n])
		if isDamage(err) {
			left, err = 0, r.fetchAlone(wants[:n])
		}
		if err != nil {
			return err
		}
		wants = wants[n-left:]
	}
	return nil
}

// fetchAlone answers wants one by one, so that a damaged page costs only the bodies on it.
func (r *reader) fetchAlone(wants []want) error {
	for i := range wants {
		r.single.bindInt(1, wants[i].id)
		_, err := r.walk(r.single, wants[i:i+1])
		if isDamage(err) {
			err = wants[i].found(nil, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose returns the statement that finds the first wants, with its parameters set, and the number of these wants.
func (r *reader) choose(wants []want) (st *stmt, n int) {
	st, n = r.dense, runLength(wants)
	if n < longRun && r.gaps.worthIt() {
		if m, mask := windowLength(wants); m > n {
			st, n = r.gapped, m
			st.bindInt(3, mask)
		}
	}
	first, last := wants[0].id, wants[n-1].id
	if first == last {
		st = r.single
	} else {
		st.bindInt(2, last)
	}
	st.bindInt(1, first)
	return st, n
}

// runLength returns how many wants, from the first on, have consecutive ids. An id may repeat.
func runLength(wants []want) int {
	n := 1
	for n < len(wants) && uint64(wants[n].id)-uint64(wants[n-1].id) <= 1 {
		n++
	}
	return n
}

// windowLength returns how many wants, from the first on, ascend within a window, and a mask of their ids.
func windowLength(wants []want) (n int, mask int64) {
	var last uint64
	for n < len(wants) {
		at := uint64(wants[n].id) - uint64(wants[0].id)
		if at >= windowIDs || at < last {
			break
		}
		last = at
		mask |= 1 << at
		n++
	}
	return n, mask
}

// walk answers wants, of ascending ids, from the rows of st. It returns how many it left at the end because of too many
// strays.
func (r *reader) walk(st *stmt, wants []want) (left int, err error) {
	defer st.reset()
	for len(wants) > 0 {
		row, err := st.step()
		if err != nil {
			return 0, fmt.Errorf("read bodies from %d on: %w", wants[0].id, err)
		}
		if !row {
			break
		}
		id := st.columnInt(0)
		for len(wants) > 0 && wants[0].id < id {
			wants = wants[1:] // it is gone
		}
		n, err := r.answer(st, id, wants)
		if err != nil {
			return 0, fmt.Errorf("read body %d: %w", id, err)
		}
		if st == r.gapped {
			r.gaps.bodies += n
		}
		if wants = wants[n:]; n == 0 && r.gaps.stray(st.columnInt(2)) {
			return len(wants), nil
		}
	}
	return 0, nil
}

// answer gives the body in the current row of st to the leading wants with that id, and returns their number.
func (r *reader) answer(st *stmt, id int64, wants []want) (n int, err error) {
	for n < len(wants) && wants[n].id == id {
		if err = wants[n].found(r.copyBody(st, id)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// gaps decides whether to read ids with gaps between them in one go.
type gaps struct {
	bodies, strays int // found in windows of this round
	rest           int // rounds until they are tried again, this one included
}

func (g *gaps) newRound() {
	g.bodies, g.strays = 0, 0
	g.rest = max(g.rest-1, 0)
}

func (g *gaps) worthIt() bool { return g.rest == 0 }

// stray counts a stray of that size, and reports whether it is one too many.
func (g *gaps) stray(size int64) bool {
	g.strays++
	if g.strays <= g.bodies+strayAllowance && size <= maxStray {
		return false
	}
	g.rest = roundsOfRest
	return true
}
