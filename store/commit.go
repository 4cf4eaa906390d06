package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// commitQueued commits what had queued up and need not wait for a snapshot, in as many transactions as its size
// needs, and reports whether there was something. The caller holds mu.
func (w *writer) commitQueued(items []item) bool {
	items = w.copier.admit(items)
	if len(items) == 0 {
		return false
	}
	if !w.tidied && slices.ContainsFunc(items, item.isChange) {
		w.tidy()
	}
	w.s.contention.committed(len(items))
	begin := time.Now()
	for len(items) > 0 {
		n := w.batchLength(items)
		if first := items[0].change; first != nil && isLarge(first) {
			items = slices.Clone(items) // the inbox reuses them while others pass
		}
		w.behind = items[n:]
		err := w.commitBatch(items[:n])
		items, w.behind = w.copier.admit(w.behind), nil
		if err != nil {
			w.failBehind(items, err)
			break
		}
		if len(items) == 0 && w.disk.refusal != nil {
			items = w.copier.admit(w.disk.refusedBehind())
		}
	}
	w.busy = time.Now()
	w.spent += w.busy.Sub(begin)
	return true
}

// batchLength returns how many items go into the next transaction. A change with a large body is alone, because its
// parts are written before the transaction begins, and others pass meanwhile.
func (w *writer) batchLength(items []item) int {
	maxBytes := min(maxBatchBytes, int(w.disk.logCeiling/2))
	ops, bytes := 0, 0
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
		if it.begins(opBeginCopy) {
			return i + 1 // what is behind does not belong to the copy
		}
		ops += len(it.change.Ops)
		for j := range it.change.Ops {
			bytes += len(it.change.Ops[j].Data)
		}
	}
	return len(items)
}

// failBehind fails the changes that were queued behind a failed commit, and those that arrive while their completions
// run: the domain made them before it saw the failure.
func (w *writer) failBehind(items []item, err error) {
	w.disk.refusal = nil
	for changes := true; changes; {
		for i, it := range items {
			if it.change != nil {
				w.s.stats.failed.Add(1)
			}
			it.finish(err)
			items[i] = item{}
		}
		items, _ = w.s.inbox.take()
		items = w.copier.admit(items)
		changes = slices.ContainsFunc(items, item.isChange)
	}
	for _, it := range items { // only flushes
		it.finish(nil)
	}
	clear(items)
}

// commitBatch stores a batch and runs its completions. A change that is itself at fault fails alone, and so do those
// that are refused on a full disk. An error means that all of the batch failed; its completions have got it.
func (w *writer) commitBatch(batch []item) error {
	w.errs = append(w.errs[:0], make([]error, len(batch))...)
	var err error
	if slices.ContainsFunc(batch, item.isChange) {
		begin := time.Now()
		if err = w.s.files.check(lookEvery); err == nil {
			err = w.store(batch)
			w.s.health.note(err)
		}
		if err == nil {
			w.s.stats.times.observe(time.Since(begin))
		}
	}
	if err != nil {
		err = domainError(err)
		for i := range w.errs {
			w.errs[i] = err
		}
	}
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
	for i, it := range batch {
		it.finish(w.errs[i])
		batch[i] = item{}
	}
	return err
}

// store writes a batch in one transaction, after the parts of a large body. If the disk is full it makes space and
// tries once more. Then it refuses what needs space, and what is queued behind that, and writes the rest with the
// reserve.
func (w *writer) store(batch []item) error {
	if w.disk.refusal == nil && w.s.health.full() && anyChange(batch, adds) && !w.disk.isBack() {
		w.disk.refuse(errDiskFull)
	}
	first := batch[0].change
	large := first != nil && isLarge(first) && !w.disk.refuses(first)
	if large {
		defer clear(w.messages.sums)
		if err := w.writeParts(first); err != nil {
			w.dropParts(first, err)
			if !isFull(err) || errors.As(err, new(passError)) {
				return err
			}
			w.disk.refuse(err)
			w.disk.note(batch, err)
			w.errs[0] = w.disk.refusal
			first.Failed(w.errs[0])
			return nil
		}
	}
	once := func() error { return w.transact(batch) }
	var err error
	if w.disk.refusal == nil {
		err = w.disk.orMakeSpace(once)
		if isFull(err) {
			w.disk.refuse(err)
		}
	}
	if w.disk.refusal != nil {
		err = w.disk.orReserve(once)
	}
	if large && (err != nil || w.errs[0] != nil) {
		w.dropParts(first, err)
	}
	if w.s.health.full() {
		w.disk.note(batch, err)
	}
	return err
}

// transact applies a batch in one transaction and commits it. If a change is itself at fault it does so once more,
// one by one, without those that are. Whatever fails is undone.
func (w *writer) transact(batch []item) error {
	w.tombstones.on = w.wal.durable && fewOps(batch)
	for oneByOne := false; ; oneByOne = true {
		err := w.tx.run(func() error { return w.applyBatch(batch, oneByOne) })
		if err == nil {
			break
		}
		w.dropPending()
		w.undoFrom(0)
		w.namespaces.dropOutgrown()
		if oneByOne || !isOwnFault(err) {
			return err
		}
	}
	w.namespaces.afterCommit()
	if dead := w.entities.buried; len(dead) > 0 {
		w.sweeper.start(dead...)
		w.entities.buried = dead[:0]
	}
	w.tombstones.afterCommit()
	w.undo = w.undo[:0]
	return nil
}

// applyBatch runs the operations of a batch in the open transaction, and notes the errors of changes that are left
// out: the disk has no space for them, or one that they need has failed. With oneByOne each change has a savepoint,
// and one that is itself at fault is left out too; without it, any error ends the transaction.
func (w *writer) applyBatch(batch []item, oneByOne bool) error {
	for i, it := range batch {
		c := it.change
		if c == nil {
			continue
		}
		if w.disk.refusal != nil && w.disk.refuses(c) {
			w.errs[i] = w.disk.refusal
		} else {
			w.errs[i] = c.Unmet()
		}
		if w.errs[i] == nil {
			apply := w.apply
			if oneByOne {
				apply = w.applyAlone
			}
			err := apply(c)
			if err != nil && (!oneByOne || !isOwnFault(err)) {
				return err
			}
			if err != nil {
				w.errs[i] = domainError(err)
			}
		}
		if w.errs[i] != nil {
			c.Failed(w.errs[i])
		}
	}
	return w.writePending()
}

// applyAlone applies all of a change or nothing of it.
func (w *writer) applyAlone(c *emulator.Change) error {
	if err := w.conn.exec("SAVEPOINT one"); err != nil {
		return err
	}
	undo := len(w.undo)
	err := w.apply(c)
	if err == nil {
		err = w.writePending() // so that a rollback leaves nothing of this change gathered
	}
	if err == nil {
		return w.conn.exec("RELEASE one")
	}
	w.dropPending()
	if !w.conn.inTransaction() {
		if isFull(err) {
			return err
		}
		return errors.New("the transaction was rolled back: " + err.Error()) // no longer one change's own fault
	}
	w.undoFrom(undo)
	if back := w.conn.exec("ROLLBACK TO one; RELEASE one"); back != nil {
		return back
	}
	return err
}

// apply runs the operations of a change in the open transaction.
func (w *writer) apply(c *emulator.Change) error {
	for i := range c.Ops {
		op := &c.Ops[i]
		var err error
		switch op.Kind {
		case emulator.OpInsert:
			err = w.messages.insert(op)
		case emulator.OpUpdate:
			err = w.messages.update(op)
		case emulator.OpDelete:
			err = w.messages.delete(op)
		case emulator.OpCounter:
			err = w.entities.count(op)
		case emulator.OpSessionState:
			err = w.entities.setSession(op)
		case emulator.OpDuplicate:
			err = w.duplicates.remember(op)
		case emulator.OpPruneDuplicates:
			err = w.duplicates.forget(op.Record.Entity, op.Record.Enqueued)
		case emulator.OpPutEntity:
			err = w.entities.put(&op.Entity)
		case emulator.OpDeleteEntity:
			err = w.entities.bury(op.Entity.ID)
		case opPutNamespace:
			err = w.namespaces.put(op)
		case opDeleteNamespace:
			err = w.namespaces.bury(op.Entity.ID)
		case opBeginCopy:
			err = w.copier.begin(op.Entity.ID)
		case opAdoptCopy:
			err = w.namespaces.adopt(op)
		case opDropCopy:
			err = w.namespaces.drop(op.Entity.ID)
		case opPutDocument:
			err = w.documents.store(op)
		case opDeleteDocument:
			err = w.documents.delete(op)
		default:
			text := fmt.Sprintf("operation of unknown kind %d", op.Kind)
			err = &emulator.Error{Code: emulator.CodeInternal, Text: text}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writePending writes what the operations so far have gathered: counters, keys of duplicate detection, changes of
// publications, and reservations of ids.
func (w *writer) writePending() error {
	if err := w.entities.writeCounters(); err != nil {
		return err
	}
	if err := w.duplicates.write(); err != nil {
		return err
	}
	if err := w.published.write(); err != nil {
		return err
	}
	return w.namespaces.reserveIDs()
}

// dropPending forgets what operations have gathered, after a failure.
func (w *writer) dropPending() {
	w.published.drop()
	w.entities.dropCounters()
	w.duplicates.pending = w.duplicates.pending[:0]
}

// undoFrom undoes what was done to the parts of the writer since undo had the given length.
func (w *writer) undoFrom(n int) {
	for i := len(w.undo) - 1; i >= n; i-- {
		w.undo[i]()
	}
	w.undo = w.undo[:n]
}

// lockTimeout is how long the writer waits for another program that holds the database's write lock, for example a
// sqlite3 shell in the middle of a transaction. Clients wait with it: SDKs give up after a minute. Then the batch
// fails, with all changes that have queued up behind it.
const lockTimeout = 30 * time.Second

// transactions runs the writer's transactions beside other programs.
type transactions struct {
	w             *writer
	begin, commit *stmt
	lockTimeout   time.Duration // how long to wait for programs that hold the write lock
	begun         bool          // tryBegin has begun the next transaction
}

func (t *transactions) prepare() error {
	return prepareAll(t.w.conn, map[string]**stmt{"BEGIN IMMEDIATE": &t.begin, "COMMIT": &t.commit})
}

// run runs f in a transaction of its own.
func (t *transactions) run(f func() error) error {
	t.w.conn.mu.Lock()
	defer t.w.conn.mu.Unlock()
	if err := t.start(); err != nil {
		return err
	}
	t.w.conn.inside = true
	defer func() { t.w.conn.inside, t.w.conn.lost = false, false }()
	err := f()
	if err == nil && t.w.s.beforeCommit != nil {
		err = t.w.s.beforeCommit()
	}
	if err == nil && t.w.disk.short {
		err = t.w.disk.checkGrowth()
	}
	if err == nil {
		err = t.commit.exec()
	}
	if err != nil {
		t.w.conn.rollback()
	}
	return err
}

// aside runs a step of housekeeping in a transaction, if need be with the reserve.
func (t *transactions) aside(f func() error) error {
	return t.w.disk.orReserve(func() error {
		err := t.run(func() error {
			defer t.w.published.drop()
			if err := f(); err != nil {
				return err
			}
			return t.w.published.write()
		})
		if err != nil {
			t.w.undoFrom(0)
		}
		t.w.undo = t.w.undo[:0]
		return err
	})
}

// start begins a transaction and takes the write lock. SQLite itself waits for busyTimeout; during Close
// start waits no longer than that.
func (t *transactions) start() error {
	if t.begun {
		if t.begun = false; t.w.conn.inTransaction() {
			return nil
		}
	}
	if err := t.w.s.checkLog(t.w.conn); err != nil {
		return err
	}
	since := time.Now()
	err := t.begin.exec()
	if !isCode(err, lib.SQLITE_BUSY) {
		return err
	}
	t.w.s.log.Warn("another program holds the write lock of the database; "+
		"messages and settlements wait until it lets go", "path", t.w.s.path)
	for isCode(err, lib.SQLITE_BUSY) && time.Since(since) < t.lockTimeout && !t.w.s.inbox.isClosed() {
		err = t.begin.exec()
	}
	return err
}

// tryBegin begins the next transaction, unless another program holds the write lock: then it returns false, and does
// not wait. In memory it does nothing: there is no other program, and the reader has the same connection.
func (t *transactions) tryBegin() bool {
	if !t.w.wal.durable {
		return true
	}
	t.w.conn.mu.Lock()
	defer t.w.conn.mu.Unlock()
	if t.w.s.checkLog(t.w.conn) != nil {
		return false // start tells it
	}
	t.w.conn.setBusyTimeout(0)
	defer t.w.conn.setBusyTimeout(busyTimeout)
	t.begun = t.begin.exec() == nil
	return t.begun
}

// endBegun ends a transaction of tryBegin for which there was no use.
func (t *transactions) endBegun() {
	if t.begun {
		t.begun = false
		t.w.conn.mu.Lock()
		defer t.w.conn.mu.Unlock()
		t.w.conn.rollback()
	}
}
