package store

import (
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"
)

// SQLite restarts the write-ahead log only when all of it has been copied into the database. A checkpoint beside a busy
// writer never gets that far, so the writer makes the last one.
const (
	// logSteps is how many checkpoints run beside the writer until the ceiling of the log. A log of 16 MiB folds more
	// writes of the same page into one than a smaller one, and is read faster after a crash than a larger one.
	logSteps = 4

	// From that part of the ceiling on, the checkpointer copies again what was written meanwhile, until the writer can
	// restart the log without a long wait. The writer reaches the ceiling only if it writes faster than the disk.
	prepareAt = 2
)

// writeAhead keeps the write-ahead log below its ceiling. In memory there is no log.
type writeAhead struct {
	w          *writer
	durable    bool  // the database is a file, with a log; the connection is the writer's alone
	pageSize   int64 // bytes
	checkpoint int   // pages written that make a checkpoint due
	longest    int   // pages of the log at which it must be restarted
	fresh      int   // pages written since the last checkpoint; at first, those of an earlier process's log
	pages      int   // upper bound of the log's pages at the last checkpoint
}

func (l *writeAhead) prepare() (err error) {
	if l.pageSize, err = l.w.conn.queryInt("PRAGMA page_size"); err != nil {
		return err
	}
	l.limit(l.w.disk.logCeiling)
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

// takeOver restarts the log if an earlier process left one that is long enough for a checkpoint. Otherwise the logs of
// short lives would add up, and each start would read all of them.
func (l *writeAhead) takeOver() {
	l.w.disk.look()
	if l.durable && l.fresh >= l.checkpoint {
		l.restart()
	}
}

// checkpointIfDue starts a checkpoint when the log has grown: between batches, and not in a commit as SQLite
// would, so that no completion waits for it.
func (l *writeAhead) checkpointIfDue() {
	if !l.durable {
		return
	}
	if l.canRestart() {
		l.restart()
		return
	}
	pages := l.fresh + l.w.conn.pagesWritten(false)
	if pages < l.checkpoint {
		return
	}
	l.w.conn.pagesWritten(true)
	l.fresh = 0
	l.pages += pages
	l.w.disk.look()
	switch {
	case l.pages >= l.longest:
		l.restart()
	case l.pages >= l.longest/prepareAt:
		l.w.s.checkpointer.prepareRestart()
	default:
		l.w.s.checkpointer.poke()
	}
}

// crowded reports whether the log has come near its ceiling while the checkpointer works on it. Then what can wait
// should.
func (l *writeAhead) crowded() bool {
	return l.restartPending() && l.pages+l.fresh+l.w.conn.pagesWritten(false) >= l.longest*3/4
}

// canRestart reports whether nearly all of the log is in the database, after the writer asked for that.
func (l *writeAhead) canRestart() bool { return l.durable && l.w.s.checkpointer.canRestart() }

// restartPending reports whether the writer asked for that, and the checkpointer still works on it.
func (l *writeAhead) restartPending() bool {
	return l.durable && l.w.s.checkpointer.restartPending.Load()
}

// restart copies all of the log into the database, if need be with the reserve's space, so that it is written from its
// beginning again.
func (l *writeAhead) restart() {
	cut := l.w.disk.logSize() > 2*l.w.disk.logCeiling
	err := l.w.s.checkpointer.restart(l.w.conn, cut)
	if isFull(err) {
		l.w.disk.reserve.release()
		err = l.w.s.checkpointer.restart(l.w.conn, cut)
	}
	if err != nil {
		l.w.s.log.Warn("the write-ahead log could not be restarted; it grows until it can be", "error", err)
	} else {
		l.w.conn.pagesWritten(true)
		l.fresh, l.pages = 0, 0
	}
	l.w.disk.look()
}

// empty copies all of the log into the database, if need be with the reserve's space, and cuts it.
func (l *writeAhead) empty() error {
	err := l.w.conn.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE)
	if isFull(err) {
		l.w.disk.reserve.release()
		err = l.w.conn.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE)
	}
	l.w.disk.measure()
	return err
}

// checkpointer copies the write-ahead log into the database, beside the writer's work: the copy waits for the disk,
// and the senders behind the writer should not. It has a connection and a goroutine of its own.
type checkpointer struct {
	s    *Store
	conn *conn
	wake chan struct{} // capacity one
	quit chan struct{}
	done chan struct{}

	running sync.Mutex    // held during a checkpoint; SQLite allows one at a time
	quick   time.Duration // so short is a checkpoint of a few frames while the disk is not busy

	restartPending atomic.Bool // the writer wants to restart the log
	restartReady   atomic.Bool // it can do that without a long wait
}

const (
	fewFrames              = 256 // of the log: so few are copied in a moment
	quickCopy              = 10 * time.Millisecond
	longestCheckpointPause = 50 * time.Millisecond // between two checkpoints
)

func newCheckpointer(s *Store, path, synchronous string) (*checkpointer, error) {
	c, err := openConn(path)
	if err != nil {
		return nil, err
	}
	if err := c.exec(synchronous); err != nil {
		c.close()
		return nil, err
	}
	return &checkpointer{
		s: s, conn: c, quick: quickCopy,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}, nil
}

// poke asks for a checkpoint and does not wait for it.
func (k *checkpointer) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *checkpointer) run() {
	defer close(k.done)
	idle := time.NewTicker(lookIdle)
	defer idle.Stop()
	for {
		select {
		case <-k.quit:
			return
		case <-k.wake:
		case <-idle.C:
			if k.s.files.check(lookEvery) == nil && k.check() == nil {
				continue
			}
			// If the log file is gone, save its content into the database.
		}
		k.copy()
	}
}

// prepareRestart asks for checkpoints until so little of the log is left that the writer can restart it, or until that
// turns out to be impossible. Then the checkpointer pokes the writer.
func (k *checkpointer) prepareRestart() {
	k.restartPending.Store(true)
	k.poke()
}

// copy runs a checkpoint. If the writer wants to restart the log it runs more of them, which copy what the writer
// added meanwhile. It ends when one was so short that the writer may wait for the next, or when there was little to
// copy: then it is the disk that is slow, and the next will be no shorter. It gives up if a checkpoint fails, or
// copies nothing because another program reads an old state.
func (k *checkpointer) copy() {
	for before, little := 0, false; ; {
		begin := time.Now()
		k.running.Lock()
		err := k.checkpoint(k.conn)
		frames, copied, leftErr := k.conn.logFrames()
		k.running.Unlock()
		if err != nil {
			k.s.log.Warn("checkpoint failed; the log grows until one succeeds", "error", err)
		}
		took := time.Since(begin)
		few := frames-copied <= fewFrames
		ready := few && (took <= k.quick || little)
		hopeless := err != nil || leftErr != nil || !few && copied == before
		if ready || hopeless || !k.restartPending.Load() || !k.pause(took) {
			if k.restartPending.CompareAndSwap(true, false) {
				k.restartReady.Store(ready)
				k.s.inbox.poke()
			}
			return
		}
		before, little = copied, few
	}
}

// pause waits as long as a checkpoint took, because the disk has other work. It returns false if the checkpointer has
// to end.
func (k *checkpointer) pause(took time.Duration) bool {
	select {
	case <-k.quit:
		return false
	case <-time.After(min(took, longestCheckpointPause)):
		return true
	}
}

// canRestart reports whether the log can be restarted without a long wait, as the writer wants.
func (k *checkpointer) canRestart() bool {
	if !k.restartReady.Load() || !k.running.TryLock() {
		return false
	}
	k.running.Unlock()
	return true
}

// restart copies the rest of the log, on the writer's goroutine, and restarts it; with cut, it truncates the file. A
// running checkpoint has done most of the work when it ends. The restart itself is short: it waits for our reader,
// but not for readers in other programs.
func (k *checkpointer) restart(c *conn, cut bool) error {
	k.running.Lock()
	defer k.running.Unlock()
	k.restartPending.Store(false)
	k.restartReady.Store(false)
	if err := k.checkpoint(c); err != nil {
		return err
	}
	k.s.reader.conn.mu.Lock()
	defer k.s.reader.conn.mu.Unlock()
	c.setBusyTimeout(0)
	defer c.setBusyTimeout(busyTimeout)
	mode := int32(lib.SQLITE_CHECKPOINT_RESTART)
	if cut {
		mode = lib.SQLITE_CHECKPOINT_TRUNCATE
	}
	err := c.checkpoint(mode)
	k.s.files.databaseLength.Store(k.s.databaseLength())
	return err
}

// check looks whether the files are as long as they have to be.
func (k *checkpointer) check() error {
	k.running.Lock()
	defer k.running.Unlock()
	return k.s.checkFiles(k.conn)
}

func (k *checkpointer) checkpoint(c *conn) error {
	if err := k.s.checkFiles(c); err != nil {
		return err
	}
	err := c.checkpoint(lib.SQLITE_CHECKPOINT_PASSIVE)
	k.s.files.databaseLength.Store(k.s.databaseLength())
	if err == nil {
		k.s.stats.checkpoints.Add(1)
	}
	return err
}

// close ends the goroutine and the connection.
func (k *checkpointer) close() {
	if k == nil {
		return
	}
	close(k.quit)
	<-k.done
	k.conn.close()
}
