package store

import lib "modernc.org/sqlite/lib"

// writeAhead keeps the write-ahead log below its ceiling.
type writeAhead struct {
	w          *writer
	durable    bool  // the database is a file, with a log
	pageSize   int64 // bytes
	checkpoint int   // pages written that make a checkpoint due
	longest    int   // pages of the log at which it must begin anew
	fresh      int   // pages written since the last checkpoint; at first, those of an earlier process's log
	pages      int   // upper bound of the log's pages at the last checkpoint
}

func (l *writeAhead) prepare() (err error) {
	if l.pageSize, err = l.w.conn.queryInt("PRAGMA page_size"); err != nil {
		return err
	}
	l.limit(l.w.room.log)
	if l.durable {
		l.fresh, _, err = l.w.conn.logFrames()
	}
	return err
}

// limit derives the thresholds from the ceiling.
func (l *writeAhead) limit(bytes int64) {
	l.longest = int(bytes / l.pageSize)
	l.checkpoint = l.longest / logSteps
}

// takeOver begins the log anew if an earlier process left one that is long enough for a checkpoint. Otherwise the logs of short
// lives would add up, and each start would read all of them.
func (l *writeAhead) takeOver() {
	l.w.conn.mu.Lock()
	defer l.w.conn.mu.Unlock()
	l.w.room.look()
	if l.durable && l.fresh >= l.checkpoint {
		l.beginAnew()
	}
}

// checkpointIfDue starts a checkpoint when the log has grown: between batches, and not in a commit as SQLite
// would, so that no completion waits for it.
func (l *writeAhead) checkpointIfDue() {
	if !l.durable {
		return
	}
	l.w.conn.mu.Lock()
	defer l.w.conn.mu.Unlock()
	if l.ripe() {
		l.beginAnew()
		return
	}
	pages := l.fresh + l.w.conn.pagesWritten(false)
	if pages < l.checkpoint {
		return
	}
	l.w.conn.pagesWritten(true)
	l.fresh = 0
	l.pages += pages
	l.w.room.look()
	switch {
	case l.pages >= l.longest:
		l.beginAnew()
	case l.pages >= l.longest/ripenAt:
		l.w.s.checkpointer.ripen()
	default:
		l.w.s.checkpointer.poke()
	}
}

// crowded reports whether the log has come near its ceiling while the checkpointer works on it. Then what can wait should.
func (l *writeAhead) crowded() bool {
	if !l.ripening() {
		return false
	}
	l.w.conn.mu.Lock()
	defer l.w.conn.mu.Unlock()
	return l.pages+l.fresh+l.w.conn.pagesWritten(false) >= l.longest*3/4
}

// ripe reports whether nearly all of the log is in the file, after the writer asked for that.
func (l *writeAhead) ripe() bool { return l.durable && l.w.s.checkpointer.canBeginAnew() }

// ripening reports whether the writer asked for that, and the checkpointer still works on it.
func (l *writeAhead) ripening() bool { return l.durable && l.w.s.checkpointer.ripening.Load() }

// beginAnew copies all of the log into the file, if need be with the reserve's room, so that the log begins anew.
func (l *writeAhead) beginAnew() {
	r := &l.w.room
	cut := r.logSize() > 2*r.log
	err := r.orReserve(func() error { return l.w.s.checkpointer.beginAnew(l.w.conn, cut) })
	if err != nil {
		l.w.s.log.Warn("the write-ahead log could not be restarted; it grows until it can be", "error", err)
	} else {
		l.w.conn.pagesWritten(true)
		l.fresh, l.pages = 0, 0
	}
	r.look()
}

// empty copies all of the log into the file, if need be with the reserve's room, and cuts it.
func (l *writeAhead) empty() error {
	err := l.w.room.orReserve(func() error { return l.w.conn.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE) })
	l.w.room.measure()
	return err
}
