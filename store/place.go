package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"minibus/emulator"
)

const (
	lookEvery  = time.Second      // at most, while there is something to write
	lookIdle   = 20 * time.Second // while there is nothing to write
	tellEvery  = 10 * time.Minute // between two log lines about the same loss
	putBackOr  = "put it back where it was, or restart Minibus, which then begins with the file at that path, or empty if there is none"
	restartFor = "restart Minibus; what was stored until now is being written to the database"
	cureCut    = "keep the program that cut it away from it, and restart Minibus, which then begins with what is left"
)

// place watches whether the open files are still the ones at their paths, and as long as they have to be. What is
// written to a file that was deleted or replaced is gone when the process ends, so the store refuses changes until
// the file is back. What is written to a log that was cut stands behind a gap, where no start finds it, so the store
// refuses changes until the restart.
type place struct {
	log   *slog.Logger
	files []heldFile // immutable

	mu     sync.Mutex
	looked time.Time
	told   time.Time
	lost   *emulator.Error // nil: all files are at their paths

	cut            atomic.Pointer[emulator.Error] // nil: the files are whole
	databaseLength atomic.Int64                   // after the last checkpoint
}

// heldFile is a file as it was when it was opened.
type heldFile struct {
	what, path, cure string
	isLog            bool
	info             os.FileInfo
}

// remember notes the files of a database that was just opened.
func remember(path string, log *slog.Logger) *place {
	p := &place{log: log, looked: time.Now()}
	for _, f := range []heldFile{
		{what: "The database", path: path, cure: putBackOr},
		{what: "The write-ahead log", path: path + "-wal", cure: restartFor, isLog: true},
	} {
		var err error
		if f.info, err = os.Stat(f.path); err == nil {
			p.files = append(p.files, f)
		}
	}
	return p
}

// look returns what is wrong, or nil. It looks at the files at most once per lookEvery. A nil place, of an ephemeral database, returns nil.
func (p *place) look() error { return p.lookAfter(lookEvery) }

// lookAfter is look with a result no older than age.
func (p *place) lookAfter(age time.Duration) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.looked) >= age {
		p.looked = now
		p.lookLocked(now)
	}
	if p.lost == nil {
		return p.isCut()
	}
	return p.lost
}

func (p *place) lookLocked(now time.Time) {
	for i := range p.files {
		f := &p.files[i]
		if f.there() {
			continue
		}
		if p.lost == nil || now.Sub(p.told) >= tellEvery {
			p.told = now
			p.log.Error("a file of the message store was deleted or replaced while it was in use; nothing is stored until that is fixed",
				"path", f.path, "cure", f.cure)
		}
		p.lost = &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf(
			"%s %s was deleted or replaced while Minibus was running, so nothing can be stored: %s.", f.what, f.path, f.cure)}
		return
	}
	if p.lost != nil {
		p.lost = nil
		p.log.Info("the files of the message store are back; messages are stored again")
	}
}

// there reports whether the file is still at its path. Errors other than "does not exist" count as yes.
func (f *heldFile) there() bool {
	now, err := os.Stat(f.path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(f.info, now)
}

// logLength returns the length of the log, and whether the file at its path still is the open one.
func (p *place) logLength() (length int64, ours bool) {
	for i := range p.files {
		f := &p.files[i]
		if !f.isLog {
			continue
		}
		now, err := os.Stat(f.path)
		if err != nil {
			return 0, false
		}
		return now.Size(), os.SameFile(f.info, now)
	}
	return 0, false
}

// isCut returns why nothing can be stored since a file was cut, or nil.
func (p *place) isCut() error {
	if cut := p.cut.Load(); cut != nil {
		return cut
	}
	return nil
}

// noteCut notes that a file was cut to a length, and returns the error of all changes from now on.
func (p *place) noteCut(what, path string, length int64) error {
	cut := &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf(
		"The %s %s was cut while Minibus was running, so nothing can be stored: %s.", what, path, cureCut)}
	if p.cut.CompareAndSwap(nil, cut) {
		p.log.Error("a file of the message store was cut while it was in use: what it had is lost, "+
			"and nothing is stored until Minibus is restarted", "path", path, "bytesLeft", length, "cure", cureCut)
	}
	return p.isCut()
}
