package store

import (
	"fmt"
	"time"
)

// tidy removes what a crash left behind, once. It runs when all namespaces are loaded, or before the first change, and not in Open,
// because a database whose Load fails must stay as it is.
func (w *writer) tidy() {
	if w.tidied {
		return
	}
	w.tidied = true
	w.log.takeOver()
	w.sweeper.crashed = w.conn.foundLog
	w.sweeper.resume()
	for _, e := range w.entities.byID {
		if e.historyFrom > 0 {
			w.history.pruneLater(e)
		}
	}
	if !w.messages.hasParts {
		return
	}
	err := w.tx.aside(func() error { return w.conn.exec("DELETE FROM body_part WHERE body NOT IN (SELECT id FROM body)") })
	if err != nil {
		w.s.log.Warn("parts of unfinished messages stay until the next start", "error", err)
	}
}

// afterWork does housekeeping after the writer has committed all it took from the inbox; more may have queued up meanwhile.
func (w *writer) afterWork() {
	w.marks.removeIfDue()
	w.log.checkpointIfDue()
	w.batches++
	if w.batches%batchesPerLook == 0 {
		w.vacuum.look = true
		w.conn.mu.Lock()
		w.room.look()
		w.conn.mu.Unlock()
	}
	if w.batches%busyBatchesPerStep == 0 {
		w.cleanSome()
	}
	w.keepUp()
}

// keepUp gives the removal of what was deleted as much time as the batches had, once it lags behind: else clients
// that never pause could delete, and store anew, faster than it is removed.
func (w *writer) keepUp() {
	spent := min(w.spent, longestPause)
	w.spent = 0
	if !w.sweeper.lags() || w.log.ripening() {
		return
	}
	for begin := time.Now(); time.Since(begin) < spent && w.cleanSome(); {
	}
}

// idleWork does one step of housekeeping that can wait, and reports whether there was one. While the log is to begin anew there is none: it would
// add to the log, and clients would wait at its ceiling. The checkpointer pokes the writer afterwards.
func (w *writer) idleWork() bool {
	switch {
	case w.log.ripe():
		w.log.checkpointIfDue()
	case w.log.ripening():
		return false
	case w.cleanSome():
		w.log.checkpointIfDue()
	case w.vacuum.look:
		w.vacuum.look = false
		w.vacuum.running = w.vacuum.worth(vacuumWorthPages)
	case w.vacuum.running:
		w.vacuum.step()
		w.log.checkpointIfDue()
	default:
		return false
	}
	return true
}

// cleanSome does one step of a prune, a sweep or a copy, and reports whether there was one. A copy adds no more than
// is removed of deleted copies and namespaces meanwhile, which it has no use for.
func (w *writer) cleanSome() bool {
	w.cleared = !w.cleared && w.sweeper.clearSome()
	switch {
	case w.cleared:
	case w.copies.step(): // others would remove what it has not copied
	case len(w.history.prunes) > 0: // first, because it is short, and a sweep may be long
		w.history.pruneSome()
	default:
		return w.sweeper.step()
	}
	return true
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
	case w.room.isBack():
		t.over(true)
	}
}

// tryToWrite commits an update that changes nothing, and notes the result.
func (w *writer) tryToWrite() {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	w.s.trouble.note(w.tx.withRoom(func() error {
		return w.tx.run(func() error { return w.conn.exec("UPDATE namespace SET deleted=deleted WHERE id=1") })
	}))
}

// finish runs on the goroutine of Close when the writer's own has ended. It gives back the unused ids and empties the
// log. It does not touch a database that turned out to be damaged.
func (w *writer) finish() error {
	if w.s.damaged.Load() {
		w.conn.leaveLog()
		return nil
	}
	if len(w.marks.gone) > 0 {
		w.marks.remove()
	}
	var err error
	if w.tidied {
		err = w.tx.aside(w.namespaces.giveBackIDs)
	}
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	if err == nil && w.log.durable {
		err = w.log.empty()
	}
	if isFull(err) {
		w.s.log.Warn("the disk is full: the log stays beside the database, and the next start reads it", "error", err)
		w.conn.leaveLog()
		return nil
	}
	if err != nil {
		return fmt.Errorf("close database %s: %w", w.s.path, err)
	}
	return nil
}
