package store

const (
	pageSize = 8192

	// A file shrinks once more than half of it, and at least 32 MiB, is free; in steps of 2 MiB, while
	// there is nothing to commit.
	vacuumWorthPages = 4096
	vacuumStep       = 256

	busyBatchesPerStep = 8   // batches between two steps of a sweep or prune under load
	batchesPerLook     = 256 // batches between two looks at the free space
)

// care is the housekeeping between batches.
type care struct {
	freePages  *stmt
	allPages   *stmt
	vacuum     *stmt
	batches    int
	look       bool // check the free pages when idle
	vacuuming  bool
	durable    bool  // the database is a file, with a log
	pageSize   int64 // bytes
	checkpoint int   // pages written that make a checkpoint due
	longest    int   // pages of the log at which it must begin anew
	fresh      int   // pages written since the last checkpoint; at first, those of an earlier process's log
	logPages   int   // upper bound of the log's pages at the last checkpoint
}

func (w *writer) prepareCare(ephemeral bool) error {
	w.care.durable = !ephemeral
	err := prepareAll(w.conn, map[string]**stmt{
		"PRAGMA freelist_count":          &w.care.freePages,
		"PRAGMA page_count":              &w.care.allPages,
		"PRAGMA incremental_vacuum(256)": &w.care.vacuum,
	})
	if err != nil {
		return err
	}
	if w.care.pageSize, err = w.conn.queryInt("PRAGMA page_size"); err != nil {
		return err
	}
	w.setCeiling()
	if w.care.durable {
		w.care.fresh, err = w.conn.logFrames()
	}
	return err
}

// setCeiling derives the checkpoint thresholds from room.log.
func (w *writer) setCeiling() {
	w.care.longest = int(w.room.log / w.care.pageSize)
	w.care.checkpoint = w.care.longest / logSteps
}

// afterWork does housekeeping after the writer has committed all it took from the inbox; more may have queued up meanwhile.
func (w *writer) afterWork() {
	w.removeGone()
	w.checkpointIfDue()
	w.care.batches++
	if w.care.batches%batchesPerLook == 0 {
		w.care.look = true
		w.conn.mu.Lock()
		w.lookAtDisk()
		w.conn.mu.Unlock()
	}
	if w.care.batches%busyBatchesPerStep == 0 {
		w.cleanSome()
	}
}

// idleWork does one step of housekeeping that can wait, and reports whether there was one.
func (w *writer) idleWork() bool {
	switch {
	case w.cleanSome():
		w.checkpointIfDue()
		return true
	case w.care.look:
		w.care.look = false
		w.care.vacuuming = w.vacuumWorth(vacuumWorthPages)
		return true
	case w.care.vacuuming:
		w.vacuumSome()
		w.checkpointIfDue()
		return true
	}
	return false
}

// cleanSome does one step of a prune or a sweep, and reports whether there was one.
func (w *writer) cleanSome() bool {
	switch {
	case len(w.prunes) > 0: // first, because it is short, and a sweep may be long
		w.pruneSome()
	case w.sweep != nil:
		w.sweep.step()
	default:
		return false
	}
	return true
}

// takeOverLog begins the log anew if an earlier process left one that is long enough for a checkpoint. Otherwise the logs of short
// lives would add up, and each start would read all of them.
func (w *writer) takeOverLog() {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	w.lookAtDisk()
	if w.care.durable && w.care.fresh >= w.care.checkpoint {
		w.beginLogAnew()
	}
}

// checkpointIfDue starts a checkpoint when the log has grown: between batches, and not in a commit as SQLite
// would, so that no completion waits for it.
func (w *writer) checkpointIfDue() {
	if !w.care.durable {
		return
	}
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	pages := w.care.fresh + w.conn.pagesWritten(false)
	if pages < w.care.checkpoint {
		return
	}
	w.conn.pagesWritten(true)
	w.care.fresh = 0
	w.care.logPages += pages
	w.lookAtDisk()
	if w.care.logPages < w.care.longest {
		w.s.checkpointer.poke()
		return
	}
	w.beginLogAnew()
}

func (w *writer) vacuumWorth(pages int64) bool {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	free, err := w.care.freePages.one()
	if err != nil || free < pages {
		return false
	}
	all, err := w.care.allPages.one()
	return err == nil && free > all/2
}

// vacuumSome gives a few free pages back. Once started, vacuuming goes on until most free pages are gone, not only half.
func (w *writer) vacuumSome() {
	w.conn.mu.Lock()
	err := w.runVacuum()
	free, freeErr := w.care.freePages.one()
	w.conn.mu.Unlock()
	if err != nil {
		w.s.log.Warn("giving space back failed", "error", err)
	}
	w.care.vacuuming = err == nil && freeErr == nil && free > vacuumStep
}

func (w *writer) runVacuum() error {
	for {
		row, err := w.care.vacuum.step()
		if err != nil {
			w.conn.rollback()
			return err
		}
		if !row {
			return nil
		}
	}
}

// one returns the only value of a statement without parameters.
func (s *stmt) one() (int64, error) {
	row, err := s.step()
	if err != nil || !row {
		return 0, err
	}
	defer s.reset()
	return s.columnInt(0), nil
}
