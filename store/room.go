package store

import (
	"os"
	"time"

	lib "modernc.org/sqlite/lib"

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

	keepRoom = 10 * time.Second // at most, for a returned message: its queue may have been deleted

	tellFullEvery = time.Minute // between two log lines that the disk is full
)

// room holds what the writer knows about the disk.
type room struct {
	path    string // of the database; empty in memory
	reserve reserve
	free    func() (bytes int64, known bool)

	log   int64 // ceiling of the write-ahead log, bytes
	short bool  // less than ampleRoom is left
	full  bool  // a change was refused for want of room, and none has added data since
	told  time.Time

	kept    int64     // bytes of a returned message that had no room; other changes may not take them
	keptTil time.Time // the domain tries again long before

	spending    bool  // the transaction in hand may use the reserve
	refusal     error // changes that add data get it, until none is queued that drew a number before it; nil: none
	refusedDraw bool  // a refused change had drawn a number, so later changes with numbers are refused as well
}

// newRoom returns a room before its first look at the disk.
func newRoom(path string) room {
	return room{path: path, reserve: reserve{path + "-reserve"}, free: func() (int64, bool) { return diskFree(path) }, log: ampleLog}
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

// prepare gives up the reserve on a full disk, because a start needs a few pages.
func (r *room) prepare() {
	if free, known := r.free(); known && free < leastLog {
		r.reserve.release()
	}
}

// look measures the free room and sets the ceiling of the log and the reserve.
func (r *room) look() {
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
		case emulator.OpPutEntity, emulator.OpHistory:
			adds = true
		case emulator.OpSessionState:
			adds = adds || op.Data != nil
		}
	}
	return adds, draws
}

// errNoRoom is the error of a transaction that would make the file grow too far. It has SQLite's code for a full disk.
var errNoRoom = &sqliteError{code: lib.SQLITE_FULL, text: "the database has no room to grow"}
