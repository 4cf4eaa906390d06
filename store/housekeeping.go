package store

import (
	"fmt"
	"time"
)

// tidy removes what a crash left behind, once. It runs when all namespaces are loaded, or before the first change,
// and not in Open, because a database whose Load fails must stay as it is.
func (w *writer) tidy() {
	if w.tidied {
		return
	}
	w.tidied = true
	w.wal.takeOver()
	w.sweeper.crashed = w.conn.foundLog
	w.sweeper.resume()
	for _, e := range w.entities.byID {
		if e.keysFrom > 0 {
			w.duplicates.pruneLater(e)
		}
	}
	if !w.messages.hasParts {
		return
	}
	err := w.tx.aside(func() error {
		return w.conn.exec("DELETE FROM body_part WHERE body NOT IN (SELECT id FROM body)")
	})
	if err != nil {
		w.s.log.Warn("parts of unfinished messages stay until the next start", "error", err)
	}
}

// afterWork does housekeeping after the writer has committed all it took from the inbox; more may have queued up
// meanwhile.
func (w *writer) afterWork() {
	w.tombstones.removeIfDue()
	w.wal.checkpointIfDue()
	w.rounds++
	if w.rounds%batchesPerLook == 0 {
		w.vacuum.look = true
		w.disk.look()
	}
	if w.rounds%busyBatchesPerStep == 0 || w.copier.awaited() {
		w.cleanSome()
	}
	w.keepUp()
}

// keepUp gives the removal of what was deleted as much time as the batches had, once it lags behind: else clients
// that never pause could delete and store again faster than it is removed.
func (w *writer) keepUp() {
	spent := min(w.spent, longestPause)
	w.spent = 0
	if !w.sweeper.lags() || w.wal.restartPending() {
		return
	}
	for begin := time.Now(); time.Since(begin) < spent && w.cleanSome(); {
	}
}

// idleWork does one step of housekeeping that can wait, and reports whether there was one. While the log is about to be
// restarted there is none: it would add to the log, and clients would wait at its ceiling. If they wait for a copy
// already, that goes on as long as there is room. The checkpointer pokes the writer afterwards.
func (w *writer) idleWork() bool {
	switch {
	case w.wal.canRestart():
		w.wal.checkpointIfDue()
	case w.wal.restartPending() && (w.wal.crowded() || !w.copier.awaited()):
		return false
	case w.cleanSome():
		w.wal.checkpointIfDue()
	case w.vacuum.look:
		w.vacuum.look = false
		w.vacuum.running = w.vacuum.worth(vacuumWorthPages)
	case w.vacuum.running:
		w.vacuum.step()
		w.wal.checkpointIfDue()
	default:
		return false
	}
	return true
}

// cleanSome does one step of a copy or of what removes rows, in turns, and reports whether there was one. So a copy
// adds no more than is removed meanwhile.
func (w *writer) cleanSome() bool {
	kinds := [...]func() bool{
		w.copier.step, w.sweeper.clearSome, w.duplicates.pruneSome, w.sweeper.step, w.copier.removeKept,
	}
	for range kinds {
		w.turn = (w.turn + 1) % len(kinds)
		if kinds[w.turn]() {
			return true
		}
	}
	return false
}

// finish runs on the goroutine of Close when the writer's own has ended. It gives back the unused ids and empties the
// log. It does not touch a database that turned out to be damaged.
func (w *writer) finish() error {
	if w.s.damaged.Load() {
		w.conn.leaveLog()
		return nil
	}
	if len(w.tombstones.list) > 0 {
		w.tombstones.remove()
	}
	for w.copier.removeKept() {
	}
	var err error
	if w.tidied {
		err = w.tx.aside(w.namespaces.giveBackIDs)
	}
	if err == nil && w.wal.durable {
		err = w.wal.empty()
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

const (
	pageSize = 8192

	// A file shrinks once more than half of it, and at least 32 MiB, is free; in steps of 512 KiB, while
	// there is nothing to commit.
	vacuumWorthPages = 4096
	vacuumStep       = 64

	// The log is restarted after so many pages, 16 MiB. The file itself is cut then, and clients wait for it.
	vacuumCut = 2048
)

// vacuum gives free pages of the file back to the disk.
type vacuum struct {
	w       *writer
	look    bool // check the free pages when idle
	running bool
	uncut   int // pages given back since a restart of the log was last asked for

	some *stmt
}

func (v *vacuum) prepare() error {
	return prepareAll(v.w.conn, map[string]**stmt{fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumStep): &v.some})
}

// worth reports whether there are that many free pages, and more than half of the file is free.
func (v *vacuum) worth(pages int64) bool {
	v.w.conn.mu.Lock()
	defer v.w.conn.mu.Unlock()
	free, err := v.w.disk.freePages.one()
	if err != nil || free < pages {
		return false
	}
	all, err := v.w.disk.allPages.one()
	return err == nil && free > all/2
}

// step gives a few free pages back. Once started, vacuuming goes on until most free pages are gone, not only half.
func (v *vacuum) step() {
	v.w.conn.mu.Lock()
	err := v.w.s.checkLog(v.w.conn)
	if err == nil {
		err = v.giveBack()
	}
	free, freeErr := v.w.disk.freePages.one()
	v.w.conn.mu.Unlock()
	if err != nil {
		v.w.s.log.Warn("giving space back failed", "error", err)
	}
	v.running = err == nil && freeErr == nil && free > vacuumStep
	if v.uncut += vacuumStep; v.uncut >= vacuumCut && v.w.wal.durable {
		v.uncut = 0
		v.w.s.checkpointer.prepareRestart()
	}
}

func (v *vacuum) giveBack() error {
	for {
		row, err := v.some.step()
		if err != nil {
			v.w.conn.rollback()
			return err
		}
		if !row {
			return nil
		}
	}
}
