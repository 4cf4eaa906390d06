package store

import (
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"
)

// maxLogPages is the size of the write-ahead log, 64 MiB, at which the writer waits for the file to catch up. Only when
// all of the log is in the file does SQLite begin it anew; a checkpoint beside a busy writer never gets so far.
const maxLogPages = 8192

// checkpointer copies the write-ahead log into the file, beside the writer's work: the copy waits for the disk, and the
// senders behind the writer should not. It has a connection and a goroutine of its own.
type checkpointer struct {
	s    *Store
	conn *conn
	wake chan struct{} // capacity one
	quit chan struct{}
	done chan struct{}

	longest int // pages of the log above which the writer waits: maxLogPages

	running sync.Mutex // held during a checkpoint; SQLite allows one at a time
}

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
		s: s, conn: c, longest: maxLogPages, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
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
			if k.s.place.look() == nil {
				continue
			}
			// If it is the log that is gone, the database is to have all that it held.
		}
		k.running.Lock()
		k.checkpoint(k.conn)
		k.running.Unlock()
	}
}

// catchUp copies what is left on the writer's goroutine and reports whether the log begins anew. A checkpoint that is
// running has done most of the work when it ends.
func (k *checkpointer) catchUp(c *conn) bool {
	k.running.Lock()
	defer k.running.Unlock()
	return k.checkpoint(c)
}

func (k *checkpointer) checkpoint(c *conn) (all bool) {
	all, err := c.checkpoint(lib.SQLITE_CHECKPOINT_PASSIVE)
	if err != nil {
		k.s.log.Warn("checkpoint failed; the log grows until one succeeds", "error", err)
		return false
	}
	k.s.stats.checkpoints.Add(1)
	return all
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
