package store

import (
	"fmt"
	"slices"
	"time"

	"minibus/emulator"
)

// When the disk is full the writer copies the log into the file, begins it anew and tries once more. If that does not help it
// refuses changes that add data and writes the rest, if need be with the reserve: so clients can always receive and remove messages,
// whatever others send meanwhile. All of this runs on the writer's goroutine, which holds its connection.

// lookAtDisk measures the free room and sets the ceiling of the log.
func (w *writer) lookAtDisk() {
	if !w.care.durable {
		return
	}
	before := w.room.log
	if w.room.look(); w.room.log == before {
		return
	}
	w.setCeiling()
	if _, err := w.conn.queryInt(fmt.Sprint("PRAGMA journal_size_limit=", w.room.log)); err != nil {
		w.s.log.Warn("the size of the write-ahead log could not be limited", "error", err)
	}
}

// beginLogAnew copies all of the log into the file, if need be with the reserve's room, so that the log begins anew.
func (w *writer) beginLogAnew() {
	cut := w.room.logSize() > 2*w.room.log
	err := w.s.checkpointer.beginAnew(w.conn, cut)
	if isFull(err) {
		w.room.reserve.release()
		err = w.s.checkpointer.beginAnew(w.conn, cut)
	}
	if err != nil {
		w.s.log.Warn("the write-ahead log could not be restarted; it grows until it can be", "error", err)
	} else {
		w.conn.pagesWritten(true)
		w.care.fresh, w.care.logPages = 0, 0
	}
	w.lookAtDisk()
}

// withRoom runs a transaction, and once more if the disk was full.
func (w *writer) withRoom(f func() error) error {
	err := f()
	if w.madeRoom(err) {
		err = f()
	}
	if err != nil {
		w.conn.rollback()
	}
	return err
}

// madeRoom begins the log anew if a transaction failed on a full disk, and reports whether to try it again.
func (w *writer) madeRoom(err error) bool {
	if !isFull(err) || !w.care.durable {
		return false
	}
	w.conn.rollback()
	w.beginLogAnew()
	return true
}

// withReserve is withRoom for a transaction that may use the reserve.
func (w *writer) withReserve(f func() error) error {
	w.room.spending = true
	defer func() { w.room.spending = false }()
	err := w.withRoom(f)
	if isFull(err) && w.care.durable {
		w.room.reserve.release()
		if err = f(); err != nil {
			w.conn.rollback()
		}
		w.beginLogAnew() // and takes the reserve back
	}
	return err
}

// transaction runs f in a transaction of its own.
func (w *writer) transaction(f func() error) error {
	err := w.execPatiently(w.st.begin)
	if err != nil {
		return err
	}
	if err = f(); err == nil {
		err = w.checkGrowth()
	}
	if err == nil {
		err = w.st.commit.exec()
	}
	if err != nil {
		w.conn.rollback()
	}
	return err
}

// checkGrowth fails if the open transaction makes the file grow so far that the log could not be copied into it.
func (w *writer) checkGrowth() error {
	if !w.room.short {
		return nil
	}
	pages, err := w.care.allPages.one()
	if err == nil && !w.room.allows(pages*w.care.pageSize-fileSize(w.s.path)) {
		err = errNoRoom
	}
	return err
}

// commit commits a batch. On a full disk it commits what needs no room and refuses the rest.
func (w *writer) commit(batch []item) error {
	if w.room.refusal == nil {
		err := w.commitOnce(batch)
		if w.madeRoom(err) {
			err = w.commitOnce(batch)
		}
		if !isFull(err) {
			w.praise(batch, err)
			return err
		}
		w.refuse(err)
	}
	return w.withReserve(func() error { return w.commitOnce(batch) })
}

func (w *writer) commitOnce(batch []item) error {
	err := w.transact(batch, false)
	if err != nil && isOwnFault(err) {
		err = w.transact(batch, true)
	}
	return err
}

// refuseIfFull refuses what a batch adds if there is no more room than at the last refusal: without this, the writer would try
// each batch on a full disk several times in vain.
func (w *writer) refuseIfFull(batch []item) {
	kept := w.room.reserved()
	if !w.room.full && kept == 0 || w.room.refusal != nil {
		return
	}
	bytes, some := added(batch)
	bytes += kept
	if some && !w.makesFit(bytes) {
		w.refuse(errNoRoom)
	}
}

// makesFit reports whether that many bytes seem to fit. If they don't, it removes the marked messages and looks again.
func (w *writer) makesFit(bytes int64) bool {
	fits := w.mayFit(bytes)
	if fits || len(w.gone) == 0 {
		return fits
	}
	w.goneDue = 0
	w.removeGone()
	return w.mayFit(bytes)
}

// added returns the size of the bodies that a batch adds, and whether it adds anything.
func added(batch []item) (bytes int64, some bool) {
	for _, it := range batch {
		if it.change == nil {
			continue
		}
		if adds, _ := wants(it.change); !adds {
			continue
		}
		some = true
		for i := range it.change.Ops {
			bytes += int64(len(it.change.Ops[i].Data))
		}
	}
	return bytes, some
}

// mayFit reports whether that many bytes seem to fit, on the disk or in the file. It asks for more than is needed.
func (w *writer) mayFit(bytes int64) bool {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	free, err := w.care.freePages.one()
	return err != nil || w.room.allows(2*bytes+(16-free)*w.care.pageSize)
}

// refuse begins to refuse changes that add data.
func (w *writer) refuse(err error) {
	w.room.refusal = domainError(err)
	w.room.full = true
	w.s.trouble.note(err)
	if w.room.told.IsZero() || time.Since(w.room.told) > tellFullEvery {
		w.room.told = time.Now()
		w.s.log.Warn("the disk is full: nothing can be sent until messages are received or space is freed", "database", w.s.path)
	}
}

// praise notes that a batch added data although the disk counted as full.
func (w *writer) praise(batch []item, err error) {
	if err != nil || !w.room.full {
		return
	}
	if _, some := added(batch); some {
		w.room.full = false
		w.s.trouble.over(true)
		w.s.log.Info("the disk has room again: messages are stored", "database", w.s.path)
		w.lookAtDisk()
	}
}

// unwelcome returns the error of a change that the writer does not even try; nil: it does.
func (w *writer) unwelcome(c *emulator.Change) error {
	if w.room.refuses(c) || c == w.partless {
		return w.room.refusal
	}
	return c.Unmet()
}

// behindRefused returns the items that were appended while the completions of a refusal ran. They may have drawn numbers behind
// the refused ones. Once none of them has, every later change was made after the refusal was known, and the refusal ends.
func (w *writer) behindRefused() []item {
	if w.room.refusal == nil {
		return nil
	}
	items, _ := w.s.inbox.take()
	if !slices.ContainsFunc(items, func(it item) bool {
		if it.change == nil {
			return false
		}
		adds, draws := wants(it.change)
		return adds || draws
	}) {
		w.room.endRefusal()
	}
	return items
}
