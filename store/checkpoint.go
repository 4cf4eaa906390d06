package store

import (
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"
)

// checkpointer copies the write-ahead log into the file, beside the writer's work: the copy waits for the disk, and the
// senders behind the writer should not. It has a connection and a goroutine of its own.
type checkpointer struct {
	s    *Store
	conn *conn
	wake chan struct{} // capacity one
	quit chan struct{}
	done chan struct{}

	running sync.Mutex    // held during a checkpoint; SQLite allows one at a time
	quick   time.Duration // so short is a checkpoint of a few frames while the disk is not busy

	ripening atomic.Bool // the writer wants to begin the log anew
	ripe     atomic.Bool // it can do that without a long wait
}

const (
	fewFrames     = 256 // of the log: so few are copied in a moment
	quickCopy     = 10 * time.Millisecond
	longestBreath = 50 * time.Millisecond // between two checkpoints
)

func newCheckpointer(s *Store, path, synchronous string) (*checkpointer, error) {
	c, err := openConn(path)
	if err != nil {
		return nil, err
	}
	if err := c.exec("PRAGMA synchronous=" + synchronous); err != nil {
		c.close()
		return nil, err
	}
	return &checkpointer{
		s: s, conn: c, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), quick: quickCopy,
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
			if k.s.place.look() == nil && k.check() == nil {
				continue
			}
			// If the log file is gone, save its content into the database.
		}
		k.copy()
	}
}

// ripen asks for a checkpoint, and for more of them until so little of the log is left that the writer can begin it anew, or until that turns out to be
// impossible. Then the checkpointer pokes the writer.
func (k *checkpointer) ripen() {
	k.ripening.Store(true)
	k.poke()
}

// copy runs a checkpoint. If the writer wants to begin the log anew it runs more of them, which copy what the writer added meanwhile, until one was so short
// that the writer may wait for the next, or had little to copy: then it is the disk that is slow, and the next will be no shorter. It gives up if a checkpoint
// fails, or copies nothing because another program reads an old state.
func (k *checkpointer) copy() {
	for before, little := 0, false; ; {
		begin := time.Now()
		k.running.Lock()
		err := k.checkpoint(k.conn)
		frames, copied, leftErr := k.conn.logFrames()
		k.running.Unlock()
		k.tell(err)
		took, few := time.Since(begin), frames-copied <= fewFrames
		ripe, hopeless := few && (took <= k.quick || little), err != nil || leftErr != nil || !few && copied == before
		if ripe || hopeless || !k.ripening.Load() || !k.breathe(took) {
			if k.ripening.CompareAndSwap(true, false) {
				k.ripe.Store(ripe)
				k.s.inbox.poke()
			}
			return
		}
		before, little = copied, few
	}
}

// breathe pauses as long as a checkpoint took, for the disk has other work. It returns false if the checkpointer has to end.
func (k *checkpointer) breathe(took time.Duration) bool {
	select {
	case <-k.quit:
		return false
	case <-time.After(min(took, longestBreath)):
		return true
	}
}

// canBeginAnew reports whether the log can begin anew without a long wait, as the writer wants.
func (k *checkpointer) canBeginAnew() bool {
	if !k.ripe.Load() || !k.running.TryLock() {
		return false
	}
	k.running.Unlock()
	return true
}

// beginAnew copies the rest of the log, on the writer's goroutine, and begins the log anew; with cut, it truncates the file. A
// running checkpoint has done most of the work when it ends. The restart itself is short: it waits for our reader, but not
// for readers in other programs.
func (k *checkpointer) beginAnew(c *conn, cut bool) error {
	k.running.Lock()
	defer k.running.Unlock()
	k.ripening.Store(false)
	k.ripe.Store(false)
	if err := k.checkpoint(c); err != nil {
		return err
	}
	k.s.reader.conn.mu.Lock()
	defer k.s.reader.conn.mu.Unlock()
	c.patience(0)
	defer c.patience(busyTimeout)
	mode := int32(lib.SQLITE_CHECKPOINT_RESTART)
	if cut {
		mode = lib.SQLITE_CHECKPOINT_TRUNCATE
	}
	err := c.checkpoint(mode)
	k.s.place.databaseLength.Store(k.s.databaseLength())
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
	k.s.place.databaseLength.Store(k.s.databaseLength())
	if err == nil {
		k.s.stats.checkpoints.Add(1)
	}
	return err
}

// tell logs the error of a checkpoint, if there is one.
func (k *checkpointer) tell(err error) {
	if err != nil {
		k.s.log.Warn("checkpoint failed; the log grows until one succeeds", "error", err)
	}
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
