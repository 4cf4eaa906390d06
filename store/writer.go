package store

import (
	"errors"
	"runtime"
	"slices"
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

// writer commits the changes in the inbox. It and its parts belong to the goroutine that holds mu: its own, or that of a caller of
// Release. Each part has its own statements, and reaches the others through the writer.
type writer struct {
	s    *Store
	conn *conn
	mu   sync.Mutex // held for a round; taken before conn.mu

	tx         transactions
	room       room
	log        writeAhead
	namespaces namespaces
	entities   entities
	messages   messages
	published  publications
	history    history
	copies     copies
	marks      marks
	sweeper    sweeper
	vacuum     vacuum

	busy    time.Time     // when a batch of changes was committed last
	owed    int           // batches since afterWork
	spent   time.Duration // on them
	cleared bool          // by the last step of cleanSome

	behind  []item   // what is to be committed after the batch in hand
	errs    []error  // results of the batch in hand, by item
	undo    []func() // takes back what the open transaction did to the parts, in order
	batches int
	tidied  bool // tidy has run
}

func newWriter(s *Store, c *conn, ephemeral bool) (*writer, error) {
	w := &writer{s: s, conn: c, room: newRoom(s.path)}
	w.room.w = w
	w.tx, w.log = transactions{w: w, patience: patience}, writeAhead{w: w, durable: !ephemeral}
	w.namespaces = namespaces{
		w: w, byNumber: map[int64]*space{}, current: map[int64]*space{}, snapshots: map[int64]emulator.SnapshotRecord{},
	}
	w.entities, w.messages = entities{w: w, byID: map[int64]*entityState{}}, messages{w: w}
	w.published = publications{w: w}
	w.history, w.marks, w.copies = history{w: w}, marks{w: w, due: goneTogether}, copies{w: w, size: copyRows}
	w.sweeper, w.vacuum = sweeper{w: w}, vacuum{w: w}
	for _, prepare := range []func() error{
		w.tx.prepare, w.room.prepare, w.log.prepare, w.namespaces.prepare, w.entities.prepare, w.messages.prepare, w.published.prepare, w.history.prepare, w.marks.prepare,
		w.vacuum.prepare,
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
			w.rest()
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
	w.resolveDoubt()
	items, closed := w.s.inbox.take() // what comes after that is late if closed
	if !w.round(items) && w.owed == 0 {
		return false, closed
	}
	if w.owed = 0; w.tidied {
		w.afterWork()
	}
	return true, false
}

// round commits what had queued up, and reports whether there was something. The caller holds mu.
func (w *writer) round(items []item) bool {
	if len(items) == 0 {
		return false
	}
	if slices.ContainsFunc(items, item.isChange) {
		w.tidy()
	}
	w.s.contention.committed(len(items))
	begin := time.Now()
	w.process(items)
	w.busy = time.Now()
	w.spent += w.busy.Sub(begin)
	return true
}

// rest does a step of housekeeping or, if there is none, waits for items. While clients work, each step is followed by a pause as long as the step, so that
// they find the writer free more often than not, and the processor too.
func (w *writer) rest() {
	begin := time.Now()
	w.mu.Lock()
	worked, busy := w.idleWork(), w.busy
	w.mu.Unlock()
	if !worked {
		<-w.s.inbox.wake
		return
	}
	now := time.Now()
	if now.Sub(busy) > idleAfter {
		return
	}
	pause := time.NewTimer(min(now.Sub(begin), longestPause))
	defer pause.Stop()
	select {
	case <-w.s.inbox.wake:
	case <-pause.C:
	}
}

// process commits items in as many transactions as their size needs.
func (w *writer) process(items []item) {
	for len(items) > 0 {
		n := w.batchLength(items)
		if first := items[0].change; first != nil && isLarge(first) {
			items = slices.Clone(items) // the inbox reuses them while others pass
		}
		w.behind = items[n:]
		err := w.commitBatch(items[:n])
		items, w.behind = w.behind, nil
		if err != nil {
			w.failRest(items, err)
			return
		}
		if len(items) == 0 {
			items = w.room.behindRefused()
		}
	}
}

// batchLength returns how many items go into the next transaction. A change with a large body is alone, because its parts are written
// before the transaction begins, and others pass meanwhile.
func (w *writer) batchLength(items []item) int {
	ops, bytes, maxBytes := 0, 0, min(maxBatchBytes, int(w.room.log/2))
	for i, it := range items {
		if it.change == nil {
			continue
		}
		large := isLarge(it.change)
		if i > 0 && (ops >= maxBatchOps || bytes >= maxBytes || large) {
			return i
		}
		if large {
			return 1
		}
		ops += len(it.change.Ops)
		for j := range it.change.Ops {
			if op := &it.change.Ops[j]; !inParts(op) {
				bytes += len(op.Data)
			}
		}
	}
	return len(items)
}

// failRest fails the changes that were queued behind a failed commit, and those that arrive while their completions run: the
// domain made them before it saw the failure.
func (w *writer) failRest(items []item, err error) {
	w.room.endRefusal()
	for {
		for i, it := range items {
			if it.change != nil {
				w.s.stats.failed.Add(1)
			}
			it.finish(err)
			items[i] = item{}
		}
		if items, _ = w.s.inbox.take(); !slices.ContainsFunc(items, item.isChange) {
			w.process(items) // only flushes
			return
		}
	}
}

// commitBatch commits a batch and runs its completions. A change that is itself at fault fails alone. An error
// means that all of the batch failed; its completions have got it.
func (w *writer) commitBatch(batch []item) error {
	w.errs = append(w.errs[:0], make([]error, len(batch))...)
	var err error
	if slices.ContainsFunc(batch, item.isChange) {
		begin := time.Now()
		if err = w.store(batch); err == nil {
			w.s.stats.times.observe(time.Since(begin))
		}
	}
	if err != nil {
		err = domainError(err)
		for i := range w.errs {
			w.errs[i] = err
		}
	}
	w.count(batch)
	for i, it := range batch {
		it.finish(w.errs[i])
		batch[i] = item{}
	}
	return err
}

func (w *writer) count(batch []item) {
	var stored, failed int64
	for i, it := range batch {
		switch {
		case it.change == nil:
		case w.errs[i] != nil:
			failed++
		default:
			stored++
		}
	}
	w.s.stats.failed.Add(failed)
	if stored > 0 {
		w.s.stats.commits.Add(1)
		w.s.stats.changes.Add(stored)
	}
}

// store writes a batch: first the parts of a large body, then all changes in one transaction.
func (w *writer) store(batch []item) error {
	if err := w.s.place.look(); err != nil {
		return err
	}
	w.room.refuseIfFull(batch)
	first := batch[0].change
	large := first != nil && isLarge(first) && !w.room.refuses(first)
	if large {
		if err := w.messages.writeParts(first); isFull(err) && !errors.As(err, new(passError)) {
			w.room.refuseParts(first, err)
		} else if err != nil {
			w.messages.dropParts(first, err)
			w.s.trouble.note(err)
			return err
		}
	}
	w.conn.mu.Lock()
	err := w.commit(batch)
	w.conn.mu.Unlock()
	w.s.trouble.note(err)
	w.room.partless = nil
	switch {
	case !large:
	case err != nil || w.errs[0] != nil:
		w.messages.dropParts(first, err)
	case first.Restores:
		w.room.kept = 0
	}
	return err
}

// commit commits a batch. On a full disk it commits what needs no room and refuses the rest.
func (w *writer) commit(batch []item) error {
	once := func() error { return w.commitOnce(batch) }
	if w.room.refusal == nil {
		err := w.tx.withRoom(once)
		if isFull(err) && w.copies.giveUp(err) {
			err = w.tx.withRoom(once)
		}
		if !isFull(err) {
			w.room.noteRoom(batch, err)
			return err
		}
		w.room.refuse(err)
	}
	return w.tx.withReserve(once)
}

func (w *writer) commitOnce(batch []item) error {
	err := w.transact(batch, false)
	if err != nil && isOwnFault(err) {
		err = w.transact(batch, true)
	}
	return err
}
