package store

import (
	"fmt"
	"slices"
)

// Sizes of a step of a sweep: about a millisecond of work each, so that commits hardly wait for it.
const (
	sweepScan     = 2000
	sweepDrop     = 500
	sweepStates   = 100
	sweepEntities = 50
)

// sweep removes what deleted entities left: their messages, the bodies that no other message shares, counters, states
// of sessions and history, and at last the tombstones. It works in small transactions between the batches. A crash leaves the
// tombstones, and the next start sweeps again.
//
// There is no index by entity or body, because it would cost every insert; a sweep walks the narrow table instead.
type sweep struct {
	w       *writer
	dead    map[int64]*entityState
	waiting []*entityState // deleted since the sweep began: for the next one

	// thorough makes every body a candidate: an earlier sweep may have removed rows, and only it knew their bodies.
	thorough bool

	phase      func() (end bool, err error)
	then       []func() (end bool, err error) // the phases after this one
	cursor     int64
	limit      int64              // greatest id when the sweep began: it ignores newer rows
	candidates []int64            // bodies that may have no message any more; sorted once all are found
	held       []bool             // by index of candidates: another message has it
	shared     map[int64]struct{} // bodies of messages that were stored since the sweep began
	scan       []scanned
}

type scanned struct{ row, body, entity int64 }

// sweepStatements are prepared when the first sweep begins.
type sweepStatements struct {
	rows, bodies     *stmt
	counters, states *stmt
	bury             *stmt
}

func (w *writer) startSweep(e *entityState) {
	if w.sweep != nil {
		w.sweep.waiting = append(w.sweep.waiting, e)
		return
	}
	w.sweep = newSweep(w, []*entityState{e}, w.sweepFailed)
}

// resumeSweep sweeps what an earlier process left.
func (w *writer) resumeSweep() {
	var dead []*entityState
	for _, e := range w.entities {
		if e.dead {
			dead = append(dead, e)
		}
	}
	if len(dead) > 0 {
		w.sweep = newSweep(w, dead, true)
	}
}

func newSweep(w *writer, dead []*entityState, thorough bool) *sweep {
	s := &sweep{w: w, dead: map[int64]*entityState{}, thorough: thorough, limit: w.high, shared: map[int64]struct{}{}}
	s.cursor = s.limit
	if thorough {
		for _, e := range w.entities {
			if e.dead {
				s.dead[e.id] = e
			}
		}
		s.cursor = 0
	}
	for _, e := range dead {
		s.dead[e.id] = e
		s.cursor = min(s.cursor, e.firstRow-1)
	}
	s.phase = s.removeRows
	s.then = []func() (bool, error){
		s.removeStates, s.removeHistory, s.findReferences, s.removeBodies, s.removeTombstones,
	}
	if thorough {
		s.then = slices.Insert(s.then, 0, s.findBodies)
	}
	return s
}

// keep spares the body of a new message, which may share an existing body or bring back a removed one.
func (s *sweep) keep(body int64) {
	if body <= s.limit {
		s.shared[body] = struct{}{}
	}
}

// step runs the next step of the current phase. After the last phase the next sweep, if any, takes over.
func (s *sweep) step() {
	before := *s
	end, err := s.w.inTransaction(func() (bool, error) {
		*s = before // this may be a second try
		return s.phase()
	})
	switch {
	case err != nil:
		s.w.s.log.Warn("removing a deleted entity failed; it goes on with the next deletion or start", "error", err)
		s.w.sweep, s.w.sweepFailed = nil, true
	case !end:
	case len(s.then) > 0:
		s.phase, s.then, s.cursor = s.then[0], s.then[1:], 0
	default:
		s.w.sweepFailed = s.w.sweepFailed && !s.thorough
		s.finish()
	}
}

func (s *sweep) finish() {
	for id := range s.dead {
		delete(s.w.entities, id)
	}
	s.w.sweep = nil
	s.w.care.look = true
	if len(s.waiting) > 0 {
		s.w.sweep = newSweep(s.w, s.waiting, s.w.sweepFailed)
	}
}

// inTransaction runs a step of housekeeping.
func (w *writer) inTransaction(f func() (end bool, err error)) (end bool, err error) {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	if err := w.prepareSweep(); err != nil {
		return false, err
	}
	err = w.withReserve(func() error {
		return w.transaction(func() (err error) {
			end, err = f()
			return err
		})
	})
	return end, err
}

func (w *writer) prepareSweep() error {
	if w.sweepSt.rows != nil {
		return nil
	}
	return prepareAll(w.conn, map[string]**stmt{
		"SELECT row, body, entity FROM message WHERE row>? ORDER BY row LIMIT ?":            &w.sweepSt.rows,
		"SELECT id, 0, 0 FROM body WHERE id>? AND id<=? ORDER BY id LIMIT ?":                &w.sweepSt.bodies,
		"DELETE FROM counter WHERE entity=?":                                                &w.sweepSt.counters,
		"DELETE FROM session WHERE row IN (SELECT row FROM session WHERE entity=? LIMIT ?)": &w.sweepSt.states,
		"DELETE FROM entity WHERE id=? AND deleted=1":                                       &w.sweepSt.bury,
	})
}

// read fetches the next rows behind the cursor and moves it.
func (s *sweep) read(st *stmt) (end bool, err error) {
	s.scan = s.scan[:0]
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

func (s *sweep) readRows() (end bool, err error) {
	s.w.sweepSt.rows.bindInt(1, s.cursor)
	s.w.sweepSt.rows.bindInt(2, sweepScan)
	return s.read(s.w.sweepSt.rows)
}

func (s *sweep) removeRows() (end bool, err error) {
	if end, err = s.readRows(); err != nil {
		return false, err
	}
	for _, r := range s.scan {
		if s.dead[r.entity] == nil {
			continue
		}
		if err := s.w.remove(r.row, 0, false); err != nil {
			return false, err
		}
		if !s.thorough {
			s.candidates = append(s.candidates, r.body)
		}
	}
	return end || s.cursor >= s.limit, nil
}

// findBodies makes all bodies candidates.
func (s *sweep) findBodies() (end bool, err error) {
	st := s.w.sweepSt.bodies
	st.bindInt(1, s.cursor)
	st.bindInt(2, s.limit)
	st.bindInt(3, sweepScan)
	if end, err = s.read(st); err != nil {
		return false, err
	}
	for _, r := range s.scan {
		s.candidates = append(s.candidates, r.row)
	}
	return end, nil
}

// findReferences marks the candidates that other messages share. keep sees copies that are made meanwhile.
func (s *sweep) findReferences() (end bool, err error) {
	if len(s.candidates) == 0 {
		return true, nil
	}
	if s.held == nil {
		slices.Sort(s.candidates)
		s.held = make([]bool, len(s.candidates))
	}
	if end, err = s.readRows(); err != nil {
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
		if err := s.w.removeBody(id); err != nil {
			return false, err
		}
	}
	s.candidates, s.held = s.candidates[n:], s.held[n:]
	return len(s.candidates) == 0, nil
}
