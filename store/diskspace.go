package store

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// The write-ahead log has a ceiling, at which the writer copies all of it into the database and restarts it.
//
// Where the disk has less than ampleSpace left, the ceiling is a sixteenth of the space that is free or already ours,
// and two things keep the store working on a full disk. The database grows only as far as there is space for the log
// and for copying it. And a reserve of the ceiling's size lies beside it, in case another program takes the rest.
//
// On a full disk the writer refuses changes that add data, and stores the others, if need be with the reserve. So
// clients can always receive and settle, whatever others send meanwhile. It refuses changes that drew sequence
// numbers too: if one of them were stored behind a refused one, a number would be left out.
const (
	ampleSpace  = 256 << 20
	ampleLog    = 64 << 20
	leastLog    = 512 << 10
	logFraction = 16

	// smallMessage is how many bytes must fit before a full disk no longer counts as full. With less, each gap
	// between small messages would do, and /health would change its mind with every message.
	smallMessage = 16 << 10

	returnedFirst = 10 * time.Second // how long others wait for a returned message: its queue may have been deleted
	tellFullEvery = time.Minute      // between two log lines that the disk is full
)

// errDiskFull is the error of a change that would let the database grow too far. It has SQLite's code for a full disk.
var errDiskFull = &sqliteError{code: lib.SQLITE_FULL, text: "the database has no space to grow"}

// diskSpace holds what the writer knows about the disk.
type diskSpace struct {
	w       *writer
	path    string // of the database; empty in memory
	reserve reserve
	free    func() (bytes int64, known bool)

	logCeiling int64 // ceiling of the write-ahead log, bytes
	short      bool  // less than ampleSpace is left
	spending   bool  // the transaction in hand may use the reserve

	refusal  error     // what refused changes get, until all are answered that were made before it was known; nil: none
	returned time.Time // until then nothing is added: a returned message that found no space will come again
	told     time.Time // when the log said last that the disk is full

	freePages, allPages *stmt // of the database
}

// newDiskSpace returns a diskSpace before its first look at the disk.
func newDiskSpace(w *writer, path string) diskSpace {
	free := func() (int64, bool) { return DiskFree(path) }
	return diskSpace{w: w, path: path, reserve: reserve{path + "-reserve"}, free: free, logCeiling: ampleLog}
}

func (d *diskSpace) prepare() error {
	return prepareAll(d.w.conn, map[string]**stmt{
		"PRAGMA freelist_count": &d.freePages,
		"PRAGMA page_count":     &d.allPages,
	})
}

func (d *diskSpace) logSize() int64 { return fileSize(d.path + "-wal") }

// fileSize returns 0 for a file that does not exist.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// freeForStart gives up the reserve on a full disk, because a start needs a few pages.
func (d *diskSpace) freeForStart() {
	if free, known := d.free(); known && free < leastLog {
		d.reserve.release()
	}
}

// look measures the free space and sets the ceiling of the log.
func (d *diskSpace) look() {
	if !d.w.wal.durable {
		return
	}
	before := d.logCeiling
	if d.measure(); d.logCeiling == before {
		return
	}
	d.w.wal.limit(d.logCeiling)
	if _, err := d.w.conn.queryInt(fmt.Sprint("PRAGMA journal_size_limit=", d.logCeiling)); err != nil {
		d.w.s.log.Warn("the size of the write-ahead log could not be limited", "error", err)
	}
}

// measure takes the sizes of the log and the reserve from the free space.
func (d *diskSpace) measure() {
	d.logCeiling, d.short = ampleLog, false
	free, known := d.free()
	if !known {
		return
	}
	held := d.reserve.size()
	if d.short = free+held < ampleSpace; !d.short {
		d.reserve.drop()
		return
	}
	ours := free + held + fileSize(d.path) + d.logSize()
	d.logCeiling = min(max(ours/logFraction, leastLog), ampleSpace/logFraction) &^ (reserveStep - 1)
	d.reserve.hold(d.logCeiling)
}

// allows reports whether the database may grow by that many bytes.
func (d *diskSpace) allows(growth int64) bool {
	if !d.short || growth <= 0 {
		return true
	}
	free, known := d.free()
	if !d.spending {
		free -= max(d.logCeiling-d.logSize(), 0) // the log's
	}
	return !known || growth <= free
}

// checkGrowth fails if the open transaction lets the database grow so far that the log could not be copied into it.
func (d *diskSpace) checkGrowth() error {
	pages, err := d.allPages.one()
	if err == nil && !d.allows(pages*d.w.wal.pageSize-fileSize(d.path)) {
		err = errDiskFull
	}
	return err
}

// fits reports whether that many bytes seem to fit, on the disk or in free pages. It asks for more than is needed.
func (d *diskSpace) fits(bytes int64) bool {
	d.w.conn.mu.Lock()
	defer d.w.conn.mu.Unlock()
	free, err := d.freePages.one()
	return err != nil || d.allows(2*bytes+(16-free)*d.w.wal.pageSize)
}

// orMakeSpace runs f, which runs a transaction. If the disk is full it removes completed messages that are only marked,
// restarts the log, and runs f once more.
func (d *diskSpace) orMakeSpace(f func() error) error {
	err := f()
	if !isFull(err) || !d.w.wal.durable {
		return err
	}
	if len(d.w.tombstones.list) > 0 {
		d.w.tombstones.remove()
	}
	d.w.wal.restart()
	return f()
}

// orReserve runs f, which runs a transaction. If the disk is full it restarts the log and runs f again, and then with
// the space of the reserve.
func (d *diskSpace) orReserve(f func() error) error {
	d.spending = true
	defer func() { d.spending = false }()
	err := f()
	if isFull(err) && d.w.wal.durable {
		d.w.wal.restart()
		err = f()
	}
	if isFull(err) && d.w.wal.durable {
		d.reserve.release()
		err = f()
		d.w.wal.restart() // and takes the reserve back
	}
	return err
}

// refuse begins to refuse changes.
func (d *diskSpace) refuse(err error) {
	d.refusal = domainError(err)
	d.w.s.health.note(err)
	if d.told.IsZero() || time.Since(d.told) > tellFullEvery {
		d.told = time.Now()
		d.w.s.log.Warn("the disk is full: nothing can be sent until messages are received or space is freed",
			"database", d.path)
	}
}

// isBack looks at a full disk and reports whether it has space again for what clients add.
func (d *diskSpace) isBack() bool {
	if time.Now().Before(d.returned) {
		return false
	}
	d.look()
	if !d.fits(smallMessage) && len(d.w.tombstones.list) > 0 {
		d.w.tombstones.remove()
	}
	return d.fits(smallMessage)
}

// refuses reports whether a change must fail while the disk is full.
func (d *diskSpace) refuses(c *emulator.Change) bool {
	return d.refusal != nil && (adds(c) || draws(c))
}

// adds reports whether a change adds data. One that restores a message does not count: its sender was told long ago
// that the message is stored.
func adds(c *emulator.Change) bool {
	for i := range c.Ops {
		switch op := &c.Ops[i]; op.Kind {
		case emulator.OpPutEntity, emulator.OpDuplicate, opPutNamespace, opBeginCopy, opPutDocument:
			return true
		case emulator.OpInsert:
			if !c.Requeues {
				return true
			}
		case emulator.OpSessionState:
			if op.Data != nil {
				return true
			}
		}
	}
	return false
}

// draws reports whether a change has drawn a sequence number.
func draws(c *emulator.Change) bool {
	for i := range c.Ops {
		if c.Ops[i].DrawsNumber {
			return true
		}
	}
	return false
}

// anyChange reports whether a batch has a change of that kind.
func anyChange(batch []item, is func(*emulator.Change) bool) bool {
	for _, it := range batch {
		if it.change != nil && is(it.change) {
			return true
		}
	}
	return false
}

// note notes the result of a batch while the disk is full. One that added data ends a full disk. While a returned
// message finds no space, nothing else may take what is freed: senders would fill every gap before it is large
// enough.
func (d *diskSpace) note(batch []item, err error) {
	returns := anyChange(batch, func(c *emulator.Change) bool { return c.Requeues })
	switch {
	case returns && isFull(err):
		d.returned = time.Now().Add(returnedFirst)
	case returns && err == nil:
		d.returned = time.Time{}
	}
	if err == nil && d.refusal == nil && anyChange(batch, adds) {
		d.back()
	}
}

// back notes that the disk is no longer full.
func (d *diskSpace) back() {
	d.w.s.health.problem.Store(nil)
	d.w.s.log.Info("the disk has space again: messages are stored", "database", d.path)
	d.look()
}

// refusedBehind returns the changes that were appended while the completions of refused ones ran. They may have drawn
// numbers behind those. Once none of them needs space, all later changes are made by who knows of the refusal, and it
// ends.
func (d *diskSpace) refusedBehind() []item {
	items, _ := d.w.s.inbox.take()
	if !anyChange(items, d.refuses) {
		d.refusal = nil
	}
	return items
}

const reserveText = "Minibus keeps this room to be able to write when the disk is full. " +
	"It may be deleted, and is made again.\n"

// reserveStep is the least space that is worth a reserve, in bytes.
const reserveStep = 32 << 10

// reserve is a file that keeps space from other programs.
type reserve struct{ path string }

func (r reserve) size() int64 { return fileSize(r.path) }

// hold makes the file size bytes long, or as long as there is space.
func (r reserve) hold(size int64) {
	held := r.size()
	if held >= size {
		return
	}
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	for ; size-held >= reserveStep; size = held + (size-held)*7/8 {
		if allocate(f, size) == nil {
			_, _ = f.WriteAt([]byte(reserveText), 0)
			return
		}
	}
}

// release gives up the space. The empty file stays, because a full disk may have no space for a new directory entry.
func (r reserve) release() {
	if r.size() > 0 {
		_ = os.Truncate(r.path, 0)
	}
}

// drop removes the file.
func (r reserve) drop() { os.Remove(r.path) }

// allocateZeros fills the file with zeros, for systems that have no better way to take up space.
func allocateZeros(f *os.File, size int64) error {
	zeros := make([]byte, 64<<10)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}

// health tells /health why nothing can be stored although the files are at their paths. The writer notes it when it
// refuses a change or fails to write, and clears it when a write of that kind succeeds. Clients may send nothing
// until /health is good again, so each question while something is wrong makes the writer check whether it still is.
type health struct {
	problem atomic.Pointer[problem] // nil: none
	doubt   atomic.Bool             // Health was called: check again
}

type problem struct {
	err  error
	full bool // the disk is full: changes that need no space are still written
}

// note notes the result of a write. One that succeeds does not end a full disk, since it may have needed no space.
func (h *health) note(err error) {
	if err == nil {
		if p := h.problem.Load(); p != nil && !p.full {
			h.problem.Store(nil)
		}
		return
	}
	text := domainError(err).Error()
	full := isFull(err)
	if full {
		text = textFull
	}
	text = strings.TrimSuffix(text, ".") + "."
	h.problem.Store(&problem{&emulator.Error{Code: emulator.CodeInternal, Text: text}, full})
}

// full reports whether the disk is full.
func (h *health) full() bool {
	p := h.problem.Load()
	return p != nil && p.full
}

// Health returns why nothing can be stored, or nil: the database file was moved or replaced, the disk is full, or
// writing fails. It does not wait, so the problem may already be over.
func (s *Store) Health() error {
	if err := s.files.check(lookEvery); err != nil {
		return err
	}
	p := s.health.problem.Load()
	if p == nil {
		return nil
	}
	s.health.doubt.Store(true)
	s.inbox.poke()
	return p.err
}

// checkHealth checks whether a problem is over, if Health was called. Unless the disk is full it commits an update that
// changes nothing.
func (w *writer) checkHealth() {
	h := &w.s.health
	if !h.doubt.Load() || !h.doubt.Swap(false) || h.problem.Load() == nil {
		return
	}
	if h.full() {
		if w.disk.isBack() {
			w.disk.back()
		}
		return
	}
	h.note(w.disk.orMakeSpace(func() error {
		return w.tx.run(func() error { return w.conn.exec("UPDATE namespace SET deleted=deleted WHERE id=1") })
	}))
}
