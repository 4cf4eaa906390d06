package store

import (
	"fmt"
	"os"
	"time"

	"minibus/emulator"
)

// The write-ahead log has a ceiling, at which the writer copies all of it into the file and begins it anew. SQLite begins a log
// anew only when all of it has been copied; a checkpoint beside a busy writer never gets that far.
//
// If the disk has less than ampleRoom left, the ceiling is a sixteenth of the room that is free or already ours, and two things keep
// the store working on a full disk. The file grows only as far as there is room for the log and for copying it, and a reserve
// of the ceiling's size lies beside the database, in case another program takes the rest.
const (
	ampleRoom   = 256 << 20
	ampleLog    = 64 << 20
	leastLog    = 512 << 10
	logFraction = 16

	// logSteps is how many checkpoints run beside the writer until the ceiling. A log of 16 MiB folds more writes of
	// the same page into one than a smaller one, and is read faster after a crash than a larger one.
	logSteps = 4

	// From that part of the ceiling on, the checkpointer copies again what was written meanwhile, until the writer can begin the log anew without a long wait.
	// The writer reaches the ceiling only if it writes faster than the disk.
	ripenAt = 2

	keepRoom = 10 * time.Second // at most, for a returned message: its queue may have been deleted

	tellFullEvery = time.Minute // between two log lines that the disk is full
)

// room holds what the writer knows about the disk.
type room struct {
	w       *writer
	path    string // of the database; empty in memory
	reserve reserve
	free    func() (bytes int64, known bool)

	log   int64 // ceiling of the write-ahead log, bytes
	short bool  // less than ampleRoom is left
	full  bool  // a change was refused for want of room, and none has added data since
	told  time.Time

	kept    int64     // bytes of a returned message that had no room; other changes may not take them
	keptTil time.Time // the domain tries again long before

	spending    bool             // the transaction in hand may use the reserve
	refusal     error            // changes that add data get it, until none is queued that drew a number before it; nil: none
	refusedDraw bool             // a refused change had drawn a number, so later changes with numbers are refused as well
	partless    *emulator.Change // change of the batch in hand for whose parts the disk had no room; nil: none

	freePages, allPages *stmt // of the file
}

// newRoom returns a room before its first look at the disk.
func newRoom(path string) room {
	return room{path: path, reserve: reserve{path + "-reserve"}, free: func() (int64, bool) { return DiskFree(path) }, log: ampleLog}
}

func (r *room) prepare() error {
	return prepareAll(r.w.conn, map[string]**stmt{"PRAGMA freelist_count": &r.freePages, "PRAGMA page_count": &r.allPages})
}

func (r *room) logSize() int64 { return fileSize(r.path + "-wal") }

// fileSize returns 0 for a file that is not there.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// makeForStart gives up the reserve on a full disk, because a start needs a few pages.
func (r *room) makeForStart() {
	if free, known := r.free(); known && free < leastLog {
		r.reserve.release()
	}
}

// look measures the free room and sets the ceiling of the log.
func (r *room) look() {
	if !r.w.log.durable {
		return
	}
	before := r.log
	if r.measure(); r.log == before {
		return
	}
	r.w.log.limit(r.log)
	if _, err := r.w.conn.queryInt(fmt.Sprint("PRAGMA journal_size_limit=", r.log)); err != nil {
		r.w.s.log.Warn("the size of the write-ahead log could not be limited", "error", err)
	}
}

// measure takes the sizes of the log and the reserve from the free room.
func (r *room) measure() {
	r.log, r.short = ampleLog, false
	free, known := r.free()
	if !known {
		return
	}
	held := r.reserve.size()
	if r.short = free+held < ampleRoom; !r.short {
		r.reserve.drop()
		return
	}
	ours := free + held + fileSize(r.path) + r.logSize()
	r.log = min(max(ours/logFraction, leastLog), ampleRoom/logFraction) &^ (reserveStep - 1)
	r.reserve.hold(r.log)
}

// orReserve runs f, and on a full disk once more with the reserve's room.
func (r *room) orReserve(f func() error) error {
	err := f()
	if isFull(err) {
		r.reserve.release()
		err = f()
	}
	return err
}

// allows reports whether the file may grow by that many bytes.
func (r *room) allows(growth int64) bool {
	if !r.short || growth <= 0 {
		return true
	}
	free, known := r.free()
	if !r.spending {
		free -= max(r.log-r.logSize(), 0) // the log's
	}
	return !known || growth <= free
}

// checkGrowth fails if the open transaction makes the file grow so far that the log could not be copied into it.
func (r *room) checkGrowth() error {
	if !r.short {
		return nil
	}
	pages, err := r.allPages.one()
	if err == nil && !r.allows(pages*r.w.log.pageSize-fileSize(r.path)) {
		err = errNoRoom
	}
	return err
}

// makesFit reports whether that many bytes seem to fit. If they don't, it removes the marked messages and looks again.
func (r *room) makesFit(bytes int64) bool {
	fits := r.fits(bytes)
	if fits || len(r.w.marks.gone) == 0 {
		return fits
	}
	r.w.marks.remove()
	return r.fits(bytes)
}

// fits reports whether that many bytes seem to fit, on the disk or in the file. It asks for more than is needed.
func (r *room) fits(bytes int64) bool {
	r.w.conn.mu.Lock()
	defer r.w.conn.mu.Unlock()
	free, err := r.freePages.one()
	return err != nil || r.allows(2*bytes+(16-free)*r.w.log.pageSize)
}

// smallMessage is how many bytes must fit before the disk no longer counts as full. With less, each gap between small messages would do.
const smallMessage = 64 << 10

// isBack looks at the disk and reports whether there is room again.
func (r *room) isBack() bool {
	r.w.conn.mu.Lock()
	r.look()
	r.w.conn.mu.Unlock()
	return r.makesFit(r.reserved() + smallMessage)
}

// keepFor keeps room for a message that was given back, or senders would fill every gap before it is large enough.
func (r *room) keepFor(c *emulator.Change) {
	r.kept, r.keptTil = 0, time.Now().Add(keepRoom)
	for i := range c.Ops {
		r.kept += int64(len(c.Ops[i].Data))
	}
}

// reserved returns how many bytes are kept for a message that was given back.
func (r *room) reserved() int64 {
	if r.kept > 0 && time.Now().After(r.keptTil) {
		r.kept = 0
	}
	return r.kept
}
