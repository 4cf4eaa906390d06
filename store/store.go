package store

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"minibus/emulator"
)

// Options configure a [Store]. The zero value is a durable database that survives kill -9.
type Options struct {
	Ephemeral   bool         // keep everything in memory; the path is not used
	Synchronous string       // "normal" (default): survives kill -9; "full": survives power loss, at an fsync per commit
	Logger      *slog.Logger // for problems in the background; default discards
}

// errClosed is the cause of the errors that changes and reads after Close get.
var errClosed = errors.New("the message store is closed")

// Store is a store of namespaces on SQLite, and the journal of the default one. Make one with [Open].
type Store struct {
	*journal // of the default namespace

	path  string
	log   *slog.Logger
	lock  *fileLock     // nil for an ephemeral database
	files *fileIdentity // nil for an ephemeral database

	inline     bool // Release may commit: commits do not wait for the disk
	contention contention

	inbox  inbox[item]
	reads  inbox[*emulator.BodyRead]
	writer *writer
	reader *reader
	loads  *loads
	copies sync.Map // of *copying, by number: those that were asked for and have not begun

	checkpointer *checkpointer // nil for an ephemeral database

	stats  counters
	health health

	damaged  atomic.Bool // Load failed on a damaged file
	closing  sync.Once
	closeErr error

	beforeCommit func() error // fault injection by tests: if it fails, the commit fails with its error
}

// item is one entry of the writer's inbox. Exactly one field is set.
type item struct {
	change *emulator.Change
	flush  emulator.Completion
}

// Path returns the path of the database file; empty when it is ephemeral.
func (s *Store) Path() string { return s.path }

// Close commits what is queued, stops the goroutines, copies the log into the file and closes it, so the next start needs no
// recovery. Later changes and reads fail with errClosed as the cause. A second Close returns the first one's error.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closeErr = s.shutdown() })
	return s.closeErr
}

func (s *Store) shutdown() error {
	closed := &emulator.Error{Code: emulator.CodeInternal, Text: "The message store no longer works", Err: errClosed}
	s.inbox.close(func(it item) { it.finish(closed) })
	s.reads.close(func(r *emulator.BodyRead) { finishRead(r, closed) })
	s.checkpointer.close()
	s.writer.mu.Lock() // a Release may be under way
	defer s.writer.mu.Unlock()
	s.writer.copies.close(closed)
	_ = s.checkFiles(s.writer.conn)
	if s.files.checkWithin(0) != nil {
		s.writer.conn.leaveLog() // the files at the paths are not ours to delete
	}
	err := s.writer.finish()
	if err == nil && !s.damaged.Load() && s.writer.disk.logSize() == 0 {
		s.lock.note(false)
	}
	if s.reader.conn != s.writer.conn {
		s.reader.conn.close()
	}
	s.writer.conn.close()
	s.lock.release()
	return err
}

func (it item) isChange() bool { return it.change != nil }

func (it item) finish(err error) {
	if it.flush != nil {
		it.flush.Completed(nil)
		return
	}
	if it.change.Done != nil {
		it.change.Done.Completed(err)
	}
}
