package store

import (
	"runtime"
	"sync"
	"time"

	"minibus/emulator"
)

// Bounds of one transaction. They are far above what queues up while a commit runs; they keep a flood from making
// all clients wait for one long commit.
const (
	maxBatchOps   = 4096
	maxBatchBytes = 4 << 20
)

const (
	busyBatchesPerStep = 8   // batches between two steps of a sweep or prune under load
	batchesPerLook     = 256 // batches between two looks at the disk and the free pages

	idleAfter    = 20 * time.Millisecond // without changes, after which housekeeping makes no pauses
	longestPause = 10 * time.Millisecond
)

// writer commits the changes in the inbox. It and its parts belong to the goroutine that holds mu: its own, or that
// of a caller of EndBatch. Each part has its own statements, and reaches the others through the writer.
type writer struct {
	s    *Store
	conn *conn
	mu   sync.Mutex // held while what has queued up is committed; taken before conn.mu

	tx         transactions
	disk       diskSpace
	wal        writeAhead
	namespaces namespaces
	entities   entities
	messages   messages
	published  publications
	duplicates duplicates
	documents  documents
	copier     snapshotCopier
	tombstones tombstones
	sweeper    sweeper
	vacuum     vacuum

	behind []item   // what is to be committed after the batch in hand
	errs   []error  // results of the batch in hand, by item
	undo   []func() // undoes what the open transaction did to the parts, in order

	// Of housekeeping.
	tidied  bool          // tidy has run
	inlined int           // commits on callers' goroutines since afterWork
	rounds  int           // calls of afterWork
	busy    time.Time     // when changes were committed last
	spent   time.Duration // on commits since keepUp
	turn    int           // which kind of work cleanSome did last
}

func newWriter(s *Store, c *conn, ephemeral bool) (*writer, error) {
	w := &writer{s: s, conn: c}
	w.tx = transactions{w: w, lockTimeout: lockTimeout}
	w.disk = newDiskSpace(w, s.path)
	w.wal = writeAhead{w: w, durable: !ephemeral}
	w.namespaces = namespaces{
		w: w, byNumber: map[int64]*rowRange{}, current: map[int64]*rowRange{},
		snapshots: map[int64]emulator.SnapshotRecord{},
	}
	w.entities = entities{w: w, byID: map[int64]*entityState{}}
	w.messages = messages{w: w, sums: map[int64]uint32{}}
	w.published = publications{w: w}
	w.duplicates = duplicates{w: w}
	w.documents = documents{w: w}
	w.copier.w = w
	w.copier.size = copyRows
	w.tombstones = tombstones{w: w, due: tombstonesTogether}
	w.sweeper = sweeper{w: w}
	w.vacuum = vacuum{w: w}
	for _, prepare := range []func() error{
		w.tx.prepare, w.disk.prepare, w.wal.prepare, w.namespaces.prepare, w.entities.prepare, w.messages.prepare,
		w.published.prepare, w.duplicates.prepare, w.documents.prepare, w.tombstones.prepare, w.vacuum.prepare,
	} {
		if err := prepare(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *writer) run() {
	defer close(w.s.inbox.done)
	for {
		worked, closed := w.step()
		switch {
		case worked:
		case closed:
			return
		default:
			w.idle()
		}
	}
}

// step commits what has queued up and does what is due after it, and reports whether there was something to do.
func (w *writer) step() (worked, closed bool) {
	if w.s.contention.high() {
		runtime.Gosched() // lets other connections append first
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checkHealth()
	items, closed := w.s.inbox.take() // what comes after that is late if closed
	if closed {
		w.copier.close()
	}
	if !w.commitQueued(items) && w.inlined == 0 {
		return false, closed
	}
	if w.inlined = 0; w.tidied {
		w.afterWork()
	}
	return true, false
}

// idle does a step of housekeeping or, if there is none, waits for items. While clients work, each step is followed
// by a pause of the same length, so that they find the writer free more often than not, and the processor too.
// While clients wait for a snapshot there is no pause.
func (w *writer) idle() {
	begin := time.Now()
	w.mu.Lock()
	worked, busy := w.idleWork(), w.busy
	awaited := w.copier.awaited()
	w.mu.Unlock()
	if !worked {
		<-w.s.inbox.wake
		return
	}
	now := time.Now()
	if awaited || now.Sub(busy) > idleAfter {
		return
	}
	pause := time.NewTimer(min(now.Sub(begin), longestPause))
	defer pause.Stop()
	select {
	case <-w.s.inbox.wake:
	case <-pause.C:
	}
}
