package store

import (
	"fmt"
	"slices"
	"strings"
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

// sweeper removes what is left of deleted entities and namespaces, in small transactions between the batches. After a
// crash, or a step that failed, their rows are still marked as deleted, and resume goes on.
type sweeper struct {
	w        *writer
	now      *sweep         // nil when there is nothing to remove of entities
	waiting  []*entityState // deleted, and not in now
	crashed  bool           // the process before was killed
	whole    []*rowRange    // namespaces to sweep after a crash, even if nothing in them is deleted
	thorough bool           // of the sweeps until none is waiting
	buried   []*rowRange    // of deleted namespaces and snapshots
	failed   bool           // a step has failed, and nothing more is removed until resume
	since    time.Time      // when there began to be something to do; zero: there is nothing

	rows, bodies     *stmt
	publications     *stmt
	references       *stmt
	counters, states *stmt
	bury             *stmt

	ranges     []*stmt // remove some of what a namespace has in a table
	dropNumber *stmt
}

// prepare makes the statements. A process that deletes nothing does not need them.
func (sw *sweeper) prepare() error {
	if sw.rows != nil {
		return nil
	}
	for _, t := range []struct{ table, key, id string }{
		{"message", "row", "row"},
		{"publication", "row", "row"},
		{"body", "id", "id"},
		{"body_part", "id", "body"},
		{"session", "row", "entity"},
		{"history", "(entity, at, keys)", "entity"},
		{"counter", "(entity, partition)", "entity"},
		{"entity", "id", "id"},
	} {
		st, err := sw.w.conn.prepare(fmt.Sprintf(
			"DELETE FROM %[1]s WHERE %[2]s IN (SELECT %[3]s FROM %[1]s WHERE %[4]s BETWEEN ? AND ? LIMIT ?)",
			t.table, t.key, strings.Trim(t.key, "()"), t.id))
		if err != nil {
			return err
		}
		sw.ranges = append(sw.ranges, st)
	}
	return prepareAll(sw.w.conn, map[string]**stmt{
		"SELECT row, body, entity FROM message WHERE row>? AND row<=? ORDER BY row LIMIT ?": &sw.rows,
		`SELECT row, body, there, copies FROM publication
			WHERE row>? AND row<=? ORDER BY row LIMIT ?`: &sw.publications,
		"SELECT row, body, 0 FROM publication WHERE row>? AND row<=? ORDER BY row LIMIT ?":  &sw.references,
		"SELECT id, 0, 0 FROM body WHERE id>? AND id<=? ORDER BY id LIMIT ?":                &sw.bodies,
		"DELETE FROM counter WHERE entity=?":                                                &sw.counters,
		"DELETE FROM session WHERE row IN (SELECT row FROM session WHERE entity=? LIMIT ?)": &sw.states,
		"DELETE FROM entity WHERE id=? AND deleted=1":                                       &sw.bury,
		"DELETE FROM namespace WHERE id=? AND (deleted=1 OR owner IS NOT NULL)":             &sw.dropNumber,
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

// resume removes all that is left, also what an earlier process left. After a crash it sweeps all namespaces: a body
// whose last two messages went at once is removed by a change of its own, which may not have been committed.
func (sw *sweeper) resume() {
	sw.begin()
	sw.forgetAll()
	sw.failed, sw.thorough = false, true
	for _, rows := range sw.w.namespaces.current {
		if first, _ := emulator.RowsOf(rows.number); sw.crashed && rows.high >= first {
			sw.whole = append(sw.whole, rows)
		}
	}
	for _, e := range sw.w.entities.byID {
		if e.dead {
			sw.waiting = append(sw.waiting, e)
		}
	}
	for _, rows := range sw.w.namespaces.byNumber {
		if rows.dead {
			sw.buried = append(sw.buried, rows)
		}
	}
	sw.next()
}

// next begins a sweep of one namespace.
func (sw *sweeper) next() {
	sw.now = nil
	var rows *rowRange
	switch {
	case len(sw.waiting) > 0:
		rows = sw.waiting[0].rows
	case len(sw.whole) > 0:
		rows = sw.whole[0]
	default:
		sw.thorough, sw.crashed = false, false
		return
	}
	sw.whole = slices.DeleteFunc(sw.whole, func(of *rowRange) bool { return of == rows })
	var dead []*entityState
	sw.waiting = slices.DeleteFunc(sw.waiting, func(e *entityState) bool {
		if e.rows == rows {
			dead = append(dead, e)
		}
		return e.rows == rows
	})
	sw.now = newSweep(sw.w, rows, dead, sw.thorough)
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
	sw.note(sw.now.step())
	return true
}

// note stops the sweeper if a step has failed.
func (sw *sweeper) note(err error) {
	if err != nil {
		sw.w.s.log.Warn("removing a deleted entity or namespace failed; it goes on with the next deletion or start",
			"error", err)
		sw.forgetAll()
		sw.failed = true
	}
}

func (sw *sweeper) forgetAll() {
	sw.now = nil
	sw.waiting, sw.whole = nil, nil
	sw.buried = nil
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

// clear removes what is in deleted namespaces. It lies together in each table, so nothing has to be searched.
func (sw *sweeper) clear(dead ...*rowRange) {
	if sw.failed {
		sw.resume()
		return
	}
	sw.begin()
	sw.buried = append(sw.buried, dead...)
}

// clearSome removes some rows of the deleted namespaces that have waited longest, and those namespaces that are
// empty. It reports whether there was anything.
func (sw *sweeper) clearSome() bool {
	if len(sw.buried) == 0 {
		return false
	}
	empty := 0
	err := sw.aside(func() (err error) {
		empty, err = sw.clearRows()
		return err
	})
	if err == nil {
		for _, rows := range sw.buried[:empty] {
			sw.w.namespaces.forget(rows)
		}
		sw.buried = sw.buried[empty:]
		sw.w.vacuum.look = true
	}
	sw.note(err)
	return true
}

// clearRows removes some rows, and returns how many namespaces are empty.
func (sw *sweeper) clearRows() (empty int, err error) {
	left := int64(clearRows)
	for _, rows := range sw.buried {
		first, last := emulator.RowsOf(rows.number)
		for _, st := range sw.ranges {
			if err := st.run(first, last, left); err != nil {
				return 0, fmt.Errorf("remove the namespace %s: %w", rows.record.Name, err)
			}
			if left -= int64(sw.w.conn.changes()); left <= 0 {
				return empty, nil
			}
		}
		if err := sw.dropNumber.run(rows.number); err != nil {
			return 0, fmt.Errorf("remove the namespace %s: %w", rows.record.Name, err)
		}
		empty++
	}
	return empty, nil
}
