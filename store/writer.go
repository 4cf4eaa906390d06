package store

import (
	"errors"
	"slices"
	"time"

	"minibus/emulator"
)

// Bounds of one transaction. They are far above what queues up while a commit runs; they keep a flood from making
// all clients wait for one long commit.
const (
	maxBatchOps   = 4096
	maxBatchBytes = 4 << 20
)

// writer changes the database. All its fields belong to its goroutine.
type writer struct {
	s    *Store
	conn *conn
	st   statements

	entities map[int64]*entityState
	drawn    []*entityState // entities with counters that the open transaction is still to write
	history  []remembered   // keys that the open transaction is still to write
	undo     []func()       // takes back what the open transaction did to entities, in order
	buried   []*entityState // entities that the open transaction deletes
	errs     []error        // results of the batch in hand, by item

	high     int64         // greatest row, body or entity id stored so far
	reserved int64         // lower ids may have been used: the committed value of meta.next_row
	hasParts bool          // there may be bodies in parts
	patience time.Duration // how long to wait for programs that hold the write lock
	tidied   bool          // tidy has run

	sweep       *sweep // removal of deleted entities; nil when there is nothing to remove
	sweepFailed bool   // tombstones are left behind by a sweep that failed
	sweepSt     sweepStatements
	prunes      []*entityState // entities with forgotten keys to be removed
	care        care           // checkpoints and vacuum

	marking bool    // the batch in hand marks messages instead of removing them
	leaving []goner // marked by the open transaction
	gone    []goner // marked, and to be removed
	goneDue int     // length of gone at which they are removed
	adopted bool    // those marked before the start are among them

	room     room             // what the disk has left
	partless *emulator.Change // change of the batch in hand for whose parts the disk had no room; nil: none
}

func (w *writer) run() {
	defer close(w.s.inbox.done)
	for {
		w.resolveDoubt()
		items, closed := w.s.inbox.take()
		switch {
		case len(items) > 0:
			if !w.tidied {
				w.tidy()
			}
			w.process(items)
			w.afterWork()
		case closed:
			return
		case !w.idleWork():
			<-w.s.inbox.wake
		}
	}
}

// process commits items in as many transactions as their size needs.
func (w *writer) process(items []item) {
	for len(items) > 0 {
		n := w.batchLength(items)
		if err := w.commitBatch(items[:n]); err != nil {
			w.failRest(items[n:], err)
			return
		}
		if items = items[n:]; len(items) == 0 {
			items = w.behindRefused()
		}
	}
}

// batchLength returns how many items go into the next transaction. A change with a large body comes first in its
// batch, because its parts are written before the transaction begins.
func (w *writer) batchLength(items []item) int {
	ops, bytes, maxBytes := 0, 0, min(maxBatchBytes, int(w.room.log/2))
	for i, it := range items {
		if it.change == nil {
			continue
		}
		if i > 0 && (ops >= maxBatchOps || bytes >= maxBytes || isLarge(it.change)) {
			return i
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
	changes := 0
	for _, it := range batch {
		if it.change != nil {
			changes++
		}
	}
	var err error
	if changes > 0 {
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
	w.count(changes)
	for i, it := range batch {
		it.finish(w.errs[i])
		batch[i] = item{}
	}
	return err
}

func (w *writer) count(changes int) {
	failed := 0
	for _, err := range w.errs {
		if err != nil {
			failed++
		}
	}
	w.s.stats.failed.Add(int64(failed))
	if changes > failed {
		w.s.stats.commits.Add(1)
		w.s.stats.changes.Add(int64(changes - failed))
	}
}

// store writes a batch: first the parts of a large body, then all changes in one transaction.
func (w *writer) store(batch []item) error {
	if err := w.s.place.look(); err != nil {
		return err
	}
	w.refuseIfFull(batch)
	first := batch[0].change
	large := first != nil && isLarge(first) && !w.room.refuses(first)
	if large {
		if err := w.writeParts(first); isFull(err) {
			w.refuse(err)
			w.partless = first
			if first.Restores {
				w.room.keepFor(first)
			}
		} else if err != nil {
			w.dropParts(first)
			w.noteWrite(err)
			return err
		}
	}
	w.conn.mu.Lock()
	err := w.commit(batch)
	w.conn.mu.Unlock()
	w.noteWrite(err)
	if large && err == nil && w.errs[0] == nil && first.Restores {
		w.room.kept = 0
	}
	w.partless = nil
	if large && (err != nil || w.errs[0] != nil) {
		w.dropParts(first)
	}
	return err
}

// transact runs one transaction. With oneByOne each change has a savepoint, and transact leaves out a change that is itself
// at fault and notes its error; without it, any error ends the transaction.
func (w *writer) transact(batch []item, oneByOne bool) error {
	err := w.fill(batch, oneByOne)
	if err == nil && w.s.beforeCommit != nil {
		err = w.s.beforeCommit()
	}
	if err == nil {
		err = w.checkGrowth()
	}
	if err == nil {
		err = w.st.commit.exec()
	}
	if err != nil {
		w.conn.rollback()
		w.forget()
		return err
	}
	w.settle()
	return nil
}

func (w *writer) fill(batch []item, oneByOne bool) error {
	w.marking = w.care.durable && byItself(batch)
	if err := w.execPatiently(w.st.begin); err != nil {
		return err
	}
	for i, it := range batch {
		if it.change == nil {
			continue
		}
		apply := w.apply
		if oneByOne {
			apply = w.applyAlone
		}
		if w.errs[i] = w.unwelcome(it.change); w.errs[i] != nil {
			it.change.Failed(w.errs[i])
			continue
		}
		if err := apply(it.change); err != nil {
			if !oneByOne || !isOwnFault(err) {
				return err
			}
			w.errs[i] = domainError(err)
			it.change.Failed(w.errs[i])
		}
	}
	if err := w.writePending(); err != nil {
		return err
	}
	return w.reserveRows()
}

// applyAlone applies all of a change or nothing of it.
func (w *writer) applyAlone(c *emulator.Change) error {
	if err := w.conn.exec("SAVEPOINT one"); err != nil {
		return err
	}
	undo, buried := len(w.undo), len(w.buried)
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
	w.takeBack(undo, buried)
	if back := w.conn.exec("ROLLBACK TO one; RELEASE one"); back != nil {
		return back
	}
	return err
}
