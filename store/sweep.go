package store

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"minibus/emulator"
)

// sweep removes what deleted entities of a namespace left: their messages, the bodies that no other message shares,
// counters, states of sessions and keys of duplicate detection, and at last the entities.
//
// There is no index by entity or body, because it would cost every insert; a sweep walks the narrow table instead.
type sweep struct {
	w    *writer
	dead map[int64]*entityState

	// thorough makes every body a candidate: an earlier sweep may have removed rows, and only it knew their bodies.
	thorough bool

	phase       func() (end bool, err error)
	then        []func() (end bool, err error) // the phases after this one
	cursor      int64
	from        int64              // the entities have no row before it
	first, last int64              // ids of the namespace
	limit       int64              // greatest id when the sweep began: it ignores newer rows
	candidates  []int64            // bodies that may have no message any more; sorted once all are found
	held        []bool             // by index of candidates: another message has it
	shared      map[int64]struct{} // bodies of messages that were stored since the sweep began
	scan        []scanned
}

type scanned struct{ row, body, entity int64 }

func newSweep(w *writer, rows *rowRange, dead []*entityState, thorough bool) *sweep {
	s := &sweep{
		w: w, dead: map[int64]*entityState{}, thorough: thorough,
		limit: rows.high, cursor: rows.high, shared: map[int64]struct{}{},
	}
	s.first, s.last = emulator.RowsOf(rows.number)
	for _, e := range dead {
		s.dead[e.id] = e
		s.cursor = min(s.cursor, e.firstRow-1)
	}
	s.from = s.cursor
	s.phase = s.removeRows
	s.then = []func() (bool, error){
		s.removeStates, s.removeDuplicates, s.findReferences, s.removeBodies, s.removeEntities,
	}
	if w.published.some {
		// Before findReferences: a copy that changes meanwhile leaves its publication for a row of message.
		s.then = slices.Insert(s.then, 2, s.findShared)
		s.then = slices.Insert(s.then, 0, s.removePublished)
	}
	if thorough {
		s.then = slices.Insert(s.then, 0, s.findBodies)
		s.cursor = s.first - 1
	}
	return s
}

// step runs the next step of the current phase. After the last phase the next sweep, if any, takes over.
func (s *sweep) step() error {
	before, sw := *s, &s.w.sweeper
	end := false
	err := sw.aside(func() (err error) {
		*s = before // this may be a second try
		end, err = s.phase()
		return err
	})
	switch {
	case err != nil || !end:
	case len(s.then) > 0:
		s.phase, s.then = s.then[0], s.then[1:]
		s.cursor = s.first - 1
	default:
		for id := range s.dead {
			delete(s.w.entities.byID, id)
		}
		s.w.vacuum.look = true
		sw.next()
	}
	return err
}

// read fetches the next rows behind the cursor and moves it.
func (s *sweep) read(st *stmt, parameters ...int64) (end bool, err error) {
	s.scan = s.scan[:0]
	st.bindInts(parameters...)
	for {
		row, err := st.step()
		if err != nil {
			return false, fmt.Errorf("look for rows of deleted entities: %w", err)
		}
		if !row {
			return len(s.scan) < sweepScan, nil
		}
		s.scan = append(s.scan, scanned{st.columnInt(0), st.columnInt(1), st.columnInt(2)})
		s.cursor = s.scan[len(s.scan)-1].row
	}
}

func (s *sweep) removeRows() (end bool, err error) {
	if end, err = s.read(s.w.sweeper.rows, s.cursor, s.last, sweepScan); err != nil {
		return false, err
	}
	for _, r := range s.scan {
		if s.dead[r.entity] == nil {
			continue
		}
		if err := s.w.messages.remove(r.row, 0, false); err != nil {
			return false, err
		}
		if !s.thorough {
			s.candidates = append(s.candidates, r.body)
		}
	}
	return end || s.cursor >= s.limit, nil
}

// removePublished removes the copies of deleted entities from publications.
func (s *sweep) removePublished() (end bool, err error) {
	type taken struct{ row, body, there, dead int64 }
	var list []taken
	n := 0
	if !s.thorough {
		s.cursor = max(s.cursor, s.from-emulator.MaxCopies) // a copy lies so far behind its publication at most
	}
	st := s.w.sweeper.publications
	st.bindInts(s.cursor, s.last, sweepCopies)
	err = st.each(func(st *stmt) error {
		n++
		x := taken{row: st.columnInt(0), body: st.columnInt(1), there: st.columnInt(2)}
		s.cursor = x.row
		err := eachCopy(st.columnView(3), uint64(x.there), x.row, func(i int, entity, _ int64) error {
			if s.dead[s.first-1+entity] != nil {
				x.dead |= 1 << i
			}
			return nil
		})
		if x.dead != 0 {
			list = append(list, x)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	for _, x := range list {
		s.w.published.take(copyPlace{row: x.row, there: x.there, bit: x.dead})
		if !s.thorough {
			s.candidates = append(s.candidates, x.body)
		}
	}
	return n < sweepCopies || s.cursor >= s.limit, nil
}

// findBodies makes all bodies candidates.
func (s *sweep) findBodies() (end bool, err error) {
	if end, err = s.read(s.w.sweeper.bodies, s.cursor, s.limit, sweepScan); err != nil {
		return false, err
	}
	for _, r := range s.scan {
		s.candidates = append(s.candidates, r.row)
	}
	return end, nil
}

// findReferences marks the candidates that other messages share. keep sees copies that are made meanwhile.
func (s *sweep) findReferences() (end bool, err error) { return s.hold(s.w.sweeper.rows) }

// findShared is findReferences for messages that share a row.
func (s *sweep) findShared() (end bool, err error) { return s.hold(s.w.sweeper.references) }

// hold marks the candidates that the next rows of a statement have.
func (s *sweep) hold(rows *stmt) (end bool, err error) {
	if len(s.candidates) == 0 {
		return true, nil
	}
	if s.held == nil {
		slices.Sort(s.candidates)
		s.candidates = slices.Compact(s.candidates) // several removed messages may have shared one
		s.held = make([]bool, len(s.candidates))
	}
	// A body is older than all messages that have it.
	s.cursor = max(s.cursor, s.candidates[0]-1)
	if end, err = s.read(rows, s.cursor, s.last, sweepScan); err != nil {
		return false, err
	}
	for _, r := range s.scan {
		if i, found := slices.BinarySearch(s.candidates, r.body); found {
			s.held[i] = true
		}
	}
	return end, nil
}

func (s *sweep) removeBodies() (end bool, err error) {
	n := min(sweepDrop, len(s.candidates))
	for i, id := range s.candidates[:n] {
		if _, shared := s.shared[id]; shared || s.held[i] {
			continue
		}
		if err := s.w.messages.removeBody(id); err != nil {
			return false, err
		}
	}
	s.candidates, s.held = s.candidates[n:], s.held[n:]
	return len(s.candidates) == 0, nil
}

// removeStates removes states of sessions, entity by entity.
func (s *sweep) removeStates() (end bool, err error) {
	return s.eachEntity(func(id int64) (bool, error) {
		if err := s.w.sweeper.states.run(id, sweepStates); err != nil {
			return false, fmt.Errorf("remove the states of sessions of %s: %w", s.dead[id].path, err)
		}
		return s.w.conn.changes() < sweepStates, nil
	})
}

func (s *sweep) removeDuplicates() (end bool, err error) {
	return s.eachEntity(func(id int64) (bool, error) { return s.w.duplicates.pruneRows(id, math.MaxInt64) })
}

// eachEntity runs some on the deleted entities behind the cursor, in order, until one has more left or the step is
// full. The cursor is the id of the last finished entity.
func (s *sweep) eachEntity(some func(id int64) (end bool, err error)) (end bool, err error) {
	n := 0
	for _, id := range slices.Sorted(maps.Keys(s.dead)) {
		if id <= s.cursor {
			continue
		}
		if n++; n > sweepEntities {
			return false, nil
		}
		if through, err := some(id); err != nil || !through {
			return false, err
		}
		s.cursor = id
	}
	return true, nil
}

func (s *sweep) removeEntities() (end bool, err error) {
	for _, id := range slices.Sorted(maps.Keys(s.dead)) {
		for _, st := range []*stmt{s.w.sweeper.counters, s.w.sweeper.bury} {
			if err := st.run(id); err != nil {
				return false, fmt.Errorf("remove the entity %s: %w", s.dead[id].path, err)
			}
		}
	}
	return true, nil
}
