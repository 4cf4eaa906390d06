package store

import (
	"os"
	"time"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// The write-ahead log has a ceiling, at which the writer waits until all of it is in the file and it begins anew. SQLite begins a log
// anew only when nothing of it is left to be copied; a checkpoint beside a busy writer never gets so far.
//
// Where the disk has less than ampleRoom left, the ceiling is a sixteenth of what is free or ours, and two things make sure that
// a full disk is never the end. The file grows only as far as there is room for the log and for copying it, and a reserve
// of the ceiling's size lies beside the database, for the day on which another program takes the rest.
const (
	ampleRoom   = 256 << 20
	ampleLog    = 64 << 20
	leastLog    = 512 << 10
	logFraction = 16

	// logSteps is how many checkpoints beside the writer there are until the ceiling. A log of 16 MiB folds more writes of
	// the same page into one than a smaller one, and is read faster after a crash than a larger one.
	logSteps = 4

	keepRoom = 10 * time.Second // for a message that comes back, whose queue may have been deleted

	tellFullEvery = time.Minute // that the disk is full, however often something fits meanwhile
)

// room holds the writer's knowledge of the disk.
type room struct {
	path    string // of the database; empty: it is in memory
	reserve reserve
	free    func() (bytes int64, known bool)

	log   int64 // ceiling of the write-ahead log, bytes
	short bool  // less than ampleRoom is left
	full  bool  // what wanted room was refused, and nothing has been added since
	told  time.Time

	kept    int64     // bytes of a message that comes back and had no room; nothing is added that would take it
	keptTil time.Time // it is tried again long before

	spending    bool  // what is being written may use the reserve
	refusal     error // what wants room is refused with it, until all that was drawn before is told
	refusedDraw bool  // something refused had drawn a number: what draws one behind it is refused as well
}

// newRoom returns what is known before the disk is looked at.
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

// prepare gives the reserve to a start on a full disk, which cannot do without a few pages.
func (r *room) prepare() {
	if free, known := r.free(); known && free < leastLog {
		r.reserve.release()
	}
}

// look finds out how much room there is, and sets what follows from it.
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

// allows reports whether the file may grow by so much.
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

// keepFor keeps what room there is for a message that comes back, or senders would fill every gap before it is large enough.
func (r *room) keepFor(c *emulator.Change) {
	r.kept, r.keptTil = 0, time.Now().Add(keepRoom)
	for i := range c.Ops {
		r.kept += int64(len(c.Ops[i].Data))
	}
}

// reserved returns how many bytes are kept for a message that comes back.
func (r *room) reserved() int64 {
	if r.kept > 0 && time.Now().After(r.keptTil) {
		r.kept = 0
	}
	return r.kept
}

// refuses reports whether a change has to wait for better days: it adds something, or has drawn a number behind one that was refused
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

// wants reports whether a change adds something to the database, and whether it has drawn a number.
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

// errNoRoom is the failure of what would let the file grow too far. It is SQLite's own for a full disk.
var errNoRoom = &sqliteError{code: lib.SQLITE_FULL, text: "the database has no room to grow"}
