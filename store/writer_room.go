package store

import (
	"fmt"
	"slices"
	"time"

	"minibus/emulator"
)

// When the disk is full the writer copies the log into the file, begins it anew and tries once more. If that does not help it
// refuses what adds something and writes the rest, if need be with the reserve: so messages can always be received and removed,
// whatever is being sent meanwhile. All of this is on the writer's goroutine, which holds its connection.

// lookAtDisk finds out how much room there is and how long the log may become.
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

// beginLogAnew waits until all of the log is in the file, for which the reserve may be needed.
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

// madeRoom reports whether a transaction failed on a full disk and is worth another try, because the log has begun anew.
func (w *writer) madeRoom(err error) bool {
	if !isFull(err) || !w.care.durable {
		return false
	}
	w.conn.rollback()
	w.beginLogAnew()
	return true
}

// withReserve runs a transaction that may use the reserve.
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

// transaction does f in a transaction of its own.
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

// checkGrowth fails if the open transaction lets the file grow so far that the log could not be copied into it.
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

// commit commits a batch, of a full disk what it can.
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

// refuseIfFull refuses what a batch adds if there is no more room than when something was refused last: without this, each
// batch on a full disk would be tried in vain, several times.
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

// makesFit reports whether there seems to be room for so much, if need be once what nobody needs any more is removed.
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

// mayFit reports whether there seems to be room, on the disk or in the file, for so much. It asks for more than is needed.
func (w *writer) mayFit(bytes int64) bool {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	free, err := w.care.freePages.one()
	return err != nil || w.room.allows(2*bytes+(16-free)*w.care.pageSize)
}

// refuse begins to refuse what adds something.
func (w *writer) refuse(err error) {
	w.room.refusal = domainError(err)
	w.room.full = true
	w.s.trouble.note(err)
	if w.room.told.IsZero() || time.Since(w.room.told) > tellFullEvery {
		w.room.told = time.Now()
		w.s.log.Warn("the disk is full: nothing can be sent until messages are received or space is freed", "database", w.s.path)
	}
}

// praise notes that something was added after all.
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

// unwelcome returns why a change is not even tried.
func (w *writer) unwelcome(c *emulator.Change) error {
	if w.room.refuses(c) || c == w.partless {
		return w.room.refusal
	}
	return c.Unmet()
}

// behindRefused returns what was appended while completions told a refusal. It may have drawn numbers that count on what was
// refused; once there is nothing of that kind, all that comes later was made by those who know.
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
