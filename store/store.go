package store

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"minibus/emulator"
)

// Options configure a [Store]. The zero value is a durable database that survives kill -9.
type Options struct {
	Ephemeral bool         // keep everything in memory; the path is not used
	Logger    *slog.Logger // for problems in the background; default discards

	// Synchronous is "normal" (default): survives kill -9, or "full": survives power loss, with an fsync per commit.
	Synchronous string
}

// errClosed is the cause of the errors that changes and reads after Close get.
var errClosed = errors.New("the message store is closed")

// errorOfClosed is the error that completions get after Close.
func errorOfClosed() error {
	return &emulator.Error{Code: emulator.CodeInternal, Text: "The message store no longer works", Err: errClosed}
}

// Store is a store of namespaces on SQLite, and the journal of the default one. Make one with [Open].
type Store struct {
	*journal // of the default namespace

	path  string
	log   *slog.Logger
	lock  *fileLock     // nil for an ephemeral database
	files *fileIdentity // nil for an ephemeral database

	inline     bool // EndBatch may commit: commits do not wait for the disk
	contention contention

	inbox  inbox[item]
	reads  inbox[*emulator.BodyRead]
	writer *writer
	reader *reader
	loads  *loads

	checkpointer *checkpointer // nil for an ephemeral database

	stats  counters
	health health

	damaged  atomic.Bool // Load failed on a damaged file
	closing  sync.Once
	closeErr error

	beforeCommit func() error // fault injection by tests: if it fails, the commit fails with its error
}

// item is one entry of the writer's inbox: a change or a flush.
type item struct {
	namespace int64 // id of the namespace whose journal has it; 0: none
	change    *emulator.Change
	flush     emulator.Completion
}

// Path returns the path of the database file; empty when it is ephemeral.
func (s *Store) Path() string { return s.path }

// Close commits what is queued, stops the goroutines, copies the log into the file and closes it, so the next start
// needs no recovery. Later changes and reads fail with errClosed as the cause. A second Close returns the first one's
// error.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closeErr = s.shutdown() })
	return s.closeErr
}

func (s *Store) shutdown() error {
	closed := errorOfClosed()
	s.inbox.close(func(it item) { it.finish(closed) })
	s.reads.close(func(r *emulator.BodyRead) { finishRead(r, closed) })
	s.checkpointer.close()
	s.writer.mu.Lock() // and keep it: no EndBatch may use the connection from now on
	_ = s.checkFiles(s.writer.conn)
	if s.files.check(0) != nil {
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

// begins reports whether the first operation of a change is of some kind.
func (it item) begins(kind emulator.OpKind) bool {
	return it.change != nil && len(it.change.Ops) > 0 && it.change.Ops[0].Kind == kind
}

func (it item) finish(err error) {
	if it.flush != nil {
		it.flush.Completed(nil)
		return
	}
	if it.change.Done != nil {
		it.change.Done.Completed(err)
	}
}

// journal is the journal of a namespace: the writer and the reader are the same for all.
type journal struct {
	s       *Store
	record  emulator.NamespaceRecord
	number  int64 // of its rows, when it was made
	nextRow int64
}

var (
	_ emulator.Store   = (*Store)(nil)
	_ emulator.Journal = (*journal)(nil)
)

// Namespaces implements [emulator.Store].
func (s *Store) Namespaces() ([]emulator.NamespaceRecord, error) {
	return s.writer.namespaces.list(), nil
}

// NextNamespace implements [emulator.Store].
func (s *Store) NextNamespace() int64 {
	n := &s.writer.namespaces
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.next
}

// Journal implements [emulator.Store].
func (s *Store) Journal(id int64) emulator.Journal { return s.journalOf(id) }

func (s *Store) journalOf(id int64) *journal {
	n := &s.writer.namespaces
	n.mu.Lock()
	defer n.mu.Unlock()
	rows := n.current[id]
	return &journal{s: s, record: rows.record, number: rows.number, nextRow: rows.opened}
}

// PutNamespace implements [emulator.Store].
func (s *Store) PutNamespace(r emulator.NamespaceRecord, entities []emulator.EntityRecord, done emulator.Completion) {
	ops := []emulator.Op{putNamespaceOp(r)}
	for _, e := range entities {
		ops = append(ops, emulator.Op{Kind: emulator.OpPutEntity, Entity: e})
	}
	s.change(r.ID, done, ops...)
}

func putNamespaceOp(r emulator.NamespaceRecord) emulator.Op {
	return emulator.Op{
		Kind: opPutNamespace, Entity: emulator.EntityRecord{ID: r.ID, Path: r.Name, Options: r.Options},
		Record: emulator.MessageRecord{Enqueued: r.Created}, Data: r.Secret[:],
	}
}

// DeleteNamespace implements [emulator.Store].
func (s *Store) DeleteNamespace(id int64, done emulator.Completion) {
	s.change(id, done, emulator.Op{Kind: opDeleteNamespace, Entity: emulator.EntityRecord{ID: id}})
}

// change appends a change of a namespace, 0 for none, that only the store knows.
func (s *Store) change(namespace int64, done emulator.Completion, ops ...emulator.Op) {
	s.inbox.put(item{namespace: namespace, change: &emulator.Change{Ops: ops, Done: done}})
}

// NextRow implements [emulator.Journal].
func (j *journal) NextRow() int64 { return j.nextRow }

// Secret implements [emulator.Journal].
func (j *journal) Secret() [16]byte { return j.record.Secret }

// Created implements [emulator.Journal].
func (j *journal) Created() int64 { return j.record.Created }

// Append implements [emulator.Journal].
func (j *journal) Append(c *emulator.Change) {
	j.s.inbox.put(item{namespace: j.record.ID, change: c})
}

// Flush implements [emulator.Journal]. The completion gets nil even if what came before it failed.
func (j *journal) Flush(done emulator.Completion) {
	j.s.inbox.put(item{namespace: j.record.ID, flush: done})
}

// ReadBodies implements [emulator.Journal].
func (j *journal) ReadBodies(r *emulator.BodyRead) { j.s.reads.put(r) }

// Load implements [emulator.Journal]. Messages come in the order of their rows, and then those that share a row. If
// it fails because the file is damaged, Close leaves the file as it is.
func (j *journal) Load(l emulator.Loader) error {
	s := j.s
	tombstones, err := s.loads.load(j.number, l)
	switch {
	case err == nil:
		j.Flush(emulator.CompletionFunc(func(error) { s.writer.tombstones.adopt(j.number, tombstones) }))
		return nil
	case isDamage(err):
		s.damaged.Store(true)
		return fmt.Errorf("load database %s: the file is damaged: %w; put a copy in its place, "+
			"or name another file with --data", s.path, err)
	default:
		return fmt.Errorf("load database %s: %w", s.path, err)
	}
}

// Stats are counts since Open, for metrics.
type Stats struct {
	Commits     int64 // transactions committed
	Changes     int64 // changes in them
	Failed      int64 // changes that failed
	Checkpoints int64 // copies of the write-ahead log into the file
	BodyReads   int64 // bodies read back

	CommitTimes Histogram // of the transactions of Commits
}

type counters struct {
	commits, changes, failed, checkpoints, bodyReads atomic.Int64

	times histogram
}

// Stats returns the counts so far.
func (s *Store) Stats() Stats {
	c := &s.stats
	return Stats{
		Commits: c.commits.Load(), Changes: c.changes.Load(), Failed: c.failed.Load(),
		Checkpoints: c.checkpoints.Load(), BodyReads: c.bodyReads.Load(), CommitTimes: c.times.read(),
	}
}

// Histogram counts durations by how long they were.
type Histogram struct {
	Bounds  []time.Duration // upper bounds of the buckets, ascending
	Buckets []int64         // one more than bounds: the last has no bound
	Sum     time.Duration
}

// commitBounds grow by a factor of four: a commit takes 50 microseconds on a good day and seconds on a full disk.
var commitBounds = []time.Duration{
	64 * time.Microsecond, 256 * time.Microsecond, 1024 * time.Microsecond, 4096 * time.Microsecond,
	16384 * time.Microsecond, 65536 * time.Microsecond, 262144 * time.Microsecond, 1048576 * time.Microsecond,
	4194304 * time.Microsecond,
}

// histogram is written by one goroutine and read by any.
type histogram struct {
	buckets [10]atomic.Int64
	sum     atomic.Int64
}

func (h *histogram) observe(d time.Duration) {
	i := 0
	for i < len(commitBounds) && d > commitBounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

func (h *histogram) read() Histogram {
	r := Histogram{Bounds: commitBounds, Buckets: make([]int64, len(h.buckets)), Sum: time.Duration(h.sum.Load())}
	for i := range h.buckets {
		r.Buckets[i] = h.buckets[i].Load()
	}
	return r
}
