package store

import (
	"slices"
	"time"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// When the disk is full the writer copies the log into the file, begins it anew and tries once more. If that does not help it
// refuses changes that add data and writes the rest, if need be with the reserve: so clients can always receive and remove messages,
// whatever others send meanwhile.

// refuse begins to refuse changes that add data.
func (r *room) refuse(err error) {
	r.refusal = domainError(err)
	r.full = true
	r.w.s.trouble.note(err)
	if r.told.IsZero() || time.Since(r.told) > tellFullEvery {
		r.told = time.Now()
		r.w.s.log.Warn("the disk is full: nothing can be sent until messages are received or space is freed", "database", r.path)
	}
}

// refuseParts refuses the change for whose parts there was no room.
func (r *room) refuseParts(c *emulator.Change, err error) {
	r.refuse(err)
	r.partless = c
	if c.Restores {
		r.keepFor(c)
	}
}

// refuseIfFull refuses what a batch adds if there is no more room than at the last refusal: without this, the writer would try
// each batch on a full disk several times in vain.
func (r *room) refuseIfFull(batch []item) {
	kept := r.reserved()
	if !r.full && kept == 0 || r.refusal != nil {
		return
	}
	if bytes, some := added(batch); some && !r.makesFit(bytes+kept) {
		r.refuse(errNoRoom)
	}
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

// noteRoom notes that a batch added data although the disk counted as full.
func (r *room) noteRoom(batch []item, err error) {
	if err != nil || !r.full {
		return
	}
	if _, some := added(batch); some {
		r.full = false
		r.w.s.trouble.over(true)
		r.w.s.log.Info("the disk has room again: messages are stored", "database", r.path)
		r.look()
	}
}

// unwelcome returns the error of a change that the writer does not even try; nil: it does.
func (r *room) unwelcome(c *emulator.Change) error {
	if r.refuses(c) || c == r.partless {
		return r.refusal
	}
	return c.Unmet()
}

// behindRefused returns the items that were appended while the completions of a refusal ran. They may have drawn numbers behind
// the refused ones. Once none of them has, every later change was made after the refusal was known, and the refusal ends.
func (r *room) behindRefused() []item {
	if r.refusal == nil {
		return nil
	}
	items, _ := r.w.s.inbox.take()
	if !slices.ContainsFunc(items, func(it item) bool {
		if it.change == nil {
			return false
		}
		adds, draws := wants(it.change)
		return adds || draws
	}) {
		r.endRefusal()
	}
	return items
}

// refuses reports whether a change must fail while the disk is full: it adds data, or it has drawn a number behind a refused one
// and would leave a gap.
func (r *room) refuses(c *emulator.Change) bool {
	if r.refusal == nil {
		return false
	}
	adds, draws := wants(c)
	if adds && draws {
		r.refusedDraw = true
	}
	return adds || draws && r.refusedDraw
}

// endRefusal lets changes in again.
func (r *room) endRefusal() { r.refusal, r.refusedDraw = nil, false }

// wants reports whether a change adds data to the database, and whether it has drawn a number.
func wants(c *emulator.Change) (adds, draws bool) {
	for i := range c.Ops {
		op := &c.Ops[i]
		draws = draws || op.DrawsNumber
		switch op.Kind {
		case emulator.OpInsert:
			adds = adds || !c.Restores
		case emulator.OpPutEntity, emulator.OpHistory, opPutNamespace, opBeginCopy:
			adds = true
		case emulator.OpSessionState:
			adds = adds || op.Data != nil
		}
	}
	return adds, draws
}

// errNoRoom is the error of a transaction that would make the file grow too far. It has SQLite's code for a full disk.
var errNoRoom = &sqliteError{code: lib.SQLITE_FULL, text: "the database has no room to grow"}
