package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

// killedWith returns the files of a process that was killed after so many commits.
func killedWith(t *testing.T, commits int64) (db, wal []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	defer s.Close()
	wait(t, s, putQueue(1, "q"))
	onWriter(s, func() {
		if err := s.writer.conn.checkpoint(0); err != nil {
			t.Error(err)
		}
	})
	for row := range commits {
		wait(t, s, insertOp(10+row, 10+row, make([]byte, 100)))
	}
	return read(t, path), read(t, path+"-wal")
}

// TestLog_WhatIsDamagedIsNotRead: the start takes what was committed before the damage. If the header is damaged that is
// nothing, and the start says so.
func TestLog_WhatIsDamagedIsNotRead(t *testing.T) {
	db, wal := killedWith(t, 20)
	for _, at := range []int{-1, len(wal) / 2, 0, 9, 17, 25} { // none; a page; magic, page size, salt, checksum
		path := filepath.Join(t.TempDir(), "a.db")
		write(t, path, db)
		damaged := bytes.Clone(wal)
		if at >= 0 {
			damaged[at] ^= 4
		}
		write(t, path+"-wal", damaged)
		var log bytes.Buffer
		s := mustOpen(t, path, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		n := len(stored(t, s))
		must(t, s.Close())
		told := strings.Contains(log.String(), "damaged beyond recognition")
		switch {
		case told != (0 <= at && at < walHeader):
			t.Errorf("byte %d: told is %q", at, log.String())
		case at < 0 && n != 20, told && n != 0, at > walHeader && (n == 0 || n == 20):
			t.Errorf("byte %d: %d messages are there", at, n)
		}
	}
}

// What a process that was killed must have left is missing, or not what it left: the start tells that, keeps the log,
// and works.
func TestLog_WhatAKilledProcessDidNotLeaveIsTold(t *testing.T) {
	db, wal := killedWith(t, 20)
	garbage := make([]byte, 50_000)
	for i := range garbage {
		garbage[i] = byte(i * i >> 3)
	}
	lock := []byte("123\n" + hasLog + "\n")
	for name, c := range map[string]struct {
		db, wal, lock []byte // nil: no such file
		told          string // empty: nothing is told
		kept          bool
	}{
		"all is there":                      {db, wal, lock, "", false},
		"an empty log":                      {db, []byte{}, lock, "", false}, // as a log that has begun anew
		"a torn header":                     {db, make([]byte, walHeader), lock, "", false},
		"no log":                            {db, nil, lock, "write-ahead log is missing", false},
		"no log, after an end in order":     {db, nil, []byte("123\n"), "", false},
		"no log, and no lock":               {db, nil, nil, "", false},
		"garbage":                           {db, garbage, lock, "damaged beyond recognition", true},
		"zeros":                             {db, make([]byte, 50_000), lock, "damaged beyond recognition", true},
		"garbage after an end in order":     {db, garbage, []byte("123\n"), "damaged beyond recognition", true},
		"an empty database with a log":      {[]byte{}, wal, lock, "database is missing or empty", true},
		"no database but a log":             {nil, wal, lock, "database is missing or empty", true},
		"an empty database with no log":     {[]byte{}, nil, lock, "database is empty", false},
		"all is removed":                    {nil, nil, lock, "", false},
		"an empty database, nothing before": {[]byte{}, nil, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			for suffix, data := range map[string][]byte{"": c.db, "-wal": c.wal, "-lock": c.lock} {
				if data != nil {
					write(t, path+suffix, data)
				}
			}
			for again, told := range []string{c.told, ""} {
				var log bytes.Buffer
				s := mustOpen(t, path, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				wait(t, s, putQueue(int64(5+again), fmt.Sprint("q", again)))
				must(t, s.Close())
				if n := strings.Count(log.String(), "level=WARN"); n > 1 || (n == 1) != (told != "") ||
					!strings.Contains(log.String(), told) {
					t.Errorf("start %d tells %q", again, &log)
				}
				copies, _ := filepath.Glob(path + "-wal.damaged-*")
				if (len(copies) == 1) != c.kept || c.kept && !bytes.Equal(read(t, copies[0]), c.wal) {
					t.Errorf("the copies are %v", copies)
				}
			}
		})
	}
}

// A process that ends in order leaves no word of a log; one that is killed does.
func TestLog_TheLockFileSaysWhetherThereIsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	for range 2 {
		s := mustOpen(t, path, Options{})
		if !bytes.Contains(read(t, path+"-lock"), []byte(hasLog)) {
			t.Error("a process that is killed now leaves no word of its log")
		}
		must(t, s.Close())
		if bytes.Contains(read(t, path+"-lock"), []byte(hasLog)) {
			t.Error("a process that ended in order says that it left a log")
		}
	}
}
