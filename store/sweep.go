package store

import (
	"fmt"
	"slices"
	"time"

	"minibus/emulator"
)

// Sizes of a step of a sweep: about a millisecond of work each, so that commits hardly wait for it.
const (
	sweepScan     = 1000
	sweepDrop     = 200
	sweepStates   = 100
	sweepCopies   = 200 // publications
	sweepEntities = 50
	clearRows     = 200
)

// sweeper removes what is left of deleted entities and namespaces, in small transactions between the batches. A crash leaves
// tombstones, and the next start goes on.
type sweeper struct {
	w        *writer
	now      *sweep // nil when there is nothing to remove of entities
	waiting  []*entityState
	crashed  bool     // the process before was killed: namespaces are swept even if nothing in them is deleted
	whole    []*space // those
	thorough bool     // of the sweeps until none is waiting
	spaces   []*space
	failed   bool      // tombstones are left behind by a step that failed
	since    time.Time // when there began to be something to do; zero: there is nothing

	rows, bodies     *stmt
	published        *stmt
	references       *stmt
	counters, states *stmt
	bury             *stmt

	ranges    []*stmt // remove some of what a namespace has in a table
	burySpace *stmt
}

// prepare makes the statements. A process that deletes nothing does not need them.
func (sw *sweeper) prepare() error {
	if sw.rows != nil {
		return nil
	}
	if err := sw.prepareRanges(); err != nil {
		return err
	}
	return prepareAll(sw.w.conn, map[string]**stmt{
		"SELECT row, body, entity FROM message WHERE row>? AND row<=? ORDER BY row LIMIT ?":            &sw.rows,
		"SELECT row, body, there, copies FROM publication WHERE row>? AND row<=? ORDER BY row LIMIT ?": &sw.published,
		"SELECT row, body, 0 FROM publication WHERE row>? AND row<=? ORDER BY row LIMIT ?":             &sw.references,
		"SELECT id, 0, 0 FROM body WHERE id>? AND id<=? ORDER BY id LIMIT ?":                           &sw.bodies,
		"DELETE FROM counter WHERE entity=?":                                                           &sw.counters,
		"DELETE FROM session WHERE row IN (SELECT row FROM session WHERE entity=? LIMIT ?)":            &sw.states,
		"DELETE FROM entity WHERE id=? AND deleted=1":                                                  &sw.bury,
		"DELETE FROM namespace WHERE id=? AND (deleted=1 OR owner IS NOT NULL)":                        &sw.burySpace,
	})
}

// start removes what is left of deleted entities, after what is being removed.
func (sw *sweeper) start(dead ...*entityState) {
	if sw.failed {
		sw.resume()
		return
	}
	sw.begin()
	sw.waiting = append(sw.waiting, dead...)
	if sw.now == nil {
		sw.next()
	}
}

// resume removes all that is left, also what an earlier process left. After a crash it sweeps all namespaces: a body whose last two messages went
// at once is removed by a change of its own, which may not have been committed.
func (sw *sweeper) resume() {
	sw.begin()
	sw.now, sw.waiting, sw.whole, sw.spaces, sw.failed, sw.thorough = nil, nil, nil, nil, false, true
	for _, sp := range sw.w.namespaces.current {
		if first, _ := emulator.RowsOf(sp.number); sw.crashed && sp.high >= first {
			sw.whole = append(sw.whole, sp)
		}
	}
	for _, e := range sw.w.entities.byID {
		if e.dead {
			sw.waiting = append(sw.waiting, e)
		}
	}
	for _, sp := range sw.w.namespaces.byNumber {
		if sp.dead {
			sw.spaces = append(sw.spaces, sp)
		}
	}
	sw.next()
}

// next begins a sweep of one namespace.
func (sw *sweeper) next() {
	sw.now = nil
	var sp *space
	switch {
	case len(sw.waiting) > 0:
		sp = sw.waiting[0].space
	case len(sw.whole) > 0:
		sp = sw.whole[0]
	default:
		sw.thorough, sw.crashed = false, false
		return
	}
	sw.whole = slices.DeleteFunc(sw.whole, func(of *space) bool { return of == sp })
	var dead []*entityState
	sw.waiting = slices.DeleteFunc(sw.waiting, func(e *entityState) bool {
		if e.space == sp {
			dead = append(dead, e)
		}
		return e.space == sp
	})
	sw.now = newSweep(sw.w, sp, dead, sw.thorough)
}

// leftRows reports whether there may be rows of deleted entities.
func (sw *sweeper) leftRows() bool { return sw.now != nil || sw.failed }

// keep spares the body of a new message, which may share an existing body or bring back a removed one.
func (sw *sweeper) keep(body int64) {
	if s := sw.now; s != nil && s.first <= body && body <= s.limit {
		s.shared[body] = struct{}{}
	}
}

// step removes some rows, and reports whether there was anything to do.
func (sw *sweeper) step() bool {
	if sw.now == nil {
		if sw.clearSome() {
			return true
		}
		sw.since = time.Time{}
		return false
	}
	sw.try(sw.now.step)
	return true
}

func (sw *sweeper) try(some func() error) {
	if err := some(); err != nil {
		sw.w.s.log.Warn("removing a deleted entity or namespace failed; it goes on with the next deletion or start", "error", err)
		sw.now, sw.waiting, sw.whole, sw.spaces, sw.failed = nil, nil, nil, nil, true
	}
}

// begin notes that there is something to do.
func (sw *sweeper) begin() {
	if sw.since.IsZero() {
		sw.since = time.Now()
	}
}

// lagsAfter is how long clients that never pause go first.
const lagsAfter = 10 * time.Second

// lags reports whether there has been something to do for so long that clients should wait for it.
func (sw *sweeper) lags() bool { return !sw.since.IsZero() && time.Since(sw.since) > lagsAfter }

// aside runs a step in a transaction.
func (sw *sweeper) aside(f func() error) error {
	return sw.w.tx.aside(func() error {
		if err := sw.prepare(); err != nil {
			return err
		}
		return f()
	})
}

// sweep removes what deleted entities of a namespace left: their messages, the bodies that no other message shares, counters, states
// of sessions and history, and at last the tombstones.
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
	first, last int64              // ids of the namespace
	limit       int64              // greatest id when the sweep began: it ignores newer rows
	candidates  []int64            // bodies that may have no message any more; sorted once all are found
	held        []bool             // by index of candidates: another message has it
	shared      map[int64]struct{} // bodies of messages that were stored since the sweep began
	scan        []scanned
}

type scanned struct{ row, body, entity int64 }

func newSweep(w *writer, sp *space, dead []*entityState, thorough bool) *sweep {
	s := &sweep{w: w, dead: map[int64]*entityState{}, thorough: thorough, limit: sp.high, cursor: sp.high, shared: map[int64]struct{}{}}
	s.first, s.last = emulator.RowsOf(sp.number)
	for _, e := range dead {
		s.dead[e.id] = e
		s.cursor = min(s.cursor, e.firstRow-1)
	}
	s.phase = s.removeRows
	s.then = []func() (bool, error){
		s.removeStates, s.removeHistory, s.findReferences, s.removeBodies, s.removeTombstones,
	}
	if w.published.some {
		s.then = slices.Insert(s.then, 2, s.findShared) // before findReferences: a copy that changes meanwhile leaves its publication for a row of message
		s.then = slices.Insert(s.then, 0, s.removeCopies)
	}
	if thorough {
		s.then = slices.Insert(s.then, 0, s.findBodies)
		s.cursor = s.first - 1
	}
	return s
}

// step runs the next step of the current phase. After the last phase the next sweep, if any, takes over.
func (s *sweep) step() error {
	before, end, sw := *s, false, &s.w.sweeper
	err := sw.aside(func() (err error) {
		*s = before // this may be a second try
		end, err = s.phase()
		return err
	})
	switch {
	case err != nil || !end:
	case len(s.then) > 0:
		s.phase, s.then, s.cursor = s.then[0], s.then[1:], s.first-1
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
		s.candidates = slices.Compact(s.candidates) // several messages that are gone may have shared one
		s.held = make([]bool, len(s.candidates))
	}
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
