package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

// frameSize is the size of a frame of our logs.
const frameSize = frameHeader + pageSize

// killedWith returns the files of a process that was killed after so many commits. With generations the log also has frames of
// an earlier generation behind the last one.
func killedWith(t *testing.T, commits int, generations bool) (db, wal []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	defer s.Close()
	wait(t, s, putQueue(1, "q"))
	row := int64(10)
	add := func(n int) {
		for range n {
			wait(t, s, insertOp(row, row, make([]byte, 100)))
			row++
		}
	}
	if generations {
		add(3 * commits)
	}
	onWriter(s, func() { // until now is history
		if err := s.writer.conn.checkpoint(0); err != nil {
			t.Error(err)
		}
	})
	add(commits)
	return read(t, path), read(t, path+"-wal")
}

// reopened opens the files and returns the log lines, the number of messages, and the path of the files after one more
// message was stored and the process killed again.
func reopened(t *testing.T, path string) (lines string, messages int, next string) {
	t.Helper()
	var log bytes.Buffer
	s := mustOpen(t, path, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer s.Close()
	messages = len(stored(t, s))
	wait(t, s, insertOp(s.NextRow(), 1_000_000, nil))
	next = filepath.Join(t.TempDir(), "a.db")
	write(t, next, read(t, path))
	write(t, next+"-wal", read(t, path+"-wal"))
	return log.String(), messages, next
}

// endsOf returns where in the log each transaction of its last generation ends.
func endsOf(wal []byte) (ends []int) {
	for at := walHeader; at+frameSize <= len(wal) && bytes.Equal(wal[at+8:at+16], wal[16:24]); at += frameSize {
		if !bytes.Equal(wal[at+4:at+8], []byte{0, 0, 0, 0}) {
			ends = append(ends, at+frameSize)
		}
	}
	return ends
}

// TestLog_WhatIsLostBehindDamageIsTold: the store logs once how much is lost, and keeps the damaged log.
func TestLog_WhatIsLostBehindDamageIsTold(t *testing.T) {
	const commits = 20
	for _, generations := range []bool{false, true} {
		db, wal := killedWith(t, commits, generations)
		ends := endsOf(wal)
		if len(ends) != commits {
			t.Fatalf("%d transactions in the log, want %d", len(ends), commits)
		}
		after := func(i int) int { return ends[i-1] } // where the i-th transaction, counted from 0, begins
		for name, c := range map[string]struct {
			damage func(wal []byte) []byte
			lost   int // transactions logged as lost; that many messages are missing
		}{
			"none":                       {func(wal []byte) []byte { return wal }, 0},
			"a bit of a page":            {func(wal []byte) []byte { wal[after(12)+1000] ^= 1; return wal }, 8},
			"a bit of a frame's header":  {func(wal []byte) []byte { wal[after(12)+1] ^= 1; return wal }, 8},
			"a checksum":                 {func(wal []byte) []byte { wal[after(12)+20] ^= 1; return wal }, 8},
			"the salt of a frame":        {func(wal []byte) []byte { wal[after(12)+9] ^= 1; return wal }, 8},
			"a stretch of zeros":         {func(wal []byte) []byte { clear(wal[after(5):after(8)]); return wal }, 12},
			"the end is torn":            {func(wal []byte) []byte { return wal[:ends[commits-1]-100] }, 0},
			"the last commit is missing": {func(wal []byte) []byte { return wal[:ends[commits-1]-frameSize] }, 0},
		} {
			t.Run(fmt.Sprintf("%s, generations %v", name, generations), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.db")
				damaged := c.damage(bytes.Clone(wal))
				write(t, path, db)
				write(t, path+"-wal", damaged)
				lines, messages, next := reopened(t, path)
				copies, _ := filepath.Glob(path + "-wal.damaged-*")
				if c.lost == 0 {
					if lines != "" || len(copies) != 0 {
						t.Errorf("told of damage, %v: %s", copies, lines)
					}
					return
				}
				if !strings.Contains(lines, "level=WARN") || !strings.Contains(lines, fmt.Sprint("transactionsLost=", c.lost)) &&
					!strings.Contains(lines, fmt.Sprint("transactionsLost=", c.lost-1)) {
					t.Errorf("want %d lost transactions to be told of, not: %s", c.lost, lines)
				}
				if len(copies) != 1 || !bytes.Equal(read(t, copies[0]), damaged) {
					t.Errorf("the copies are %v", copies)
				}
				again, more, _ := reopened(t, next)
				if again != "" || more != messages+1 {
					t.Errorf("told again: %s; %d messages after %d", again, more, messages)
				}
			})
		}
	}
}

// TestLog_DamagedHeaderIsTold: SQLite takes nothing of such a log.
func TestLog_DamagedHeaderIsTold(t *testing.T) {
	db, wal := killedWith(t, 20, false)
	for _, at := range []int{0, 9, 17, 25} { // magic, page size, salt, checksum
		path := filepath.Join(t.TempDir(), "a.db")
		write(t, path, db)
		damaged := bytes.Clone(wal)
		damaged[at] ^= 4
		write(t, path+"-wal", damaged)
		if lines, _, _ := reopened(t, path); !strings.Contains(lines, "transactionsLost=") {
			t.Errorf("byte %d: %s", at, lines)
		}
	}
}

// What a process that was killed must have left is missing, or not what it left: the start tells that, keeps the log,
// and works.
func TestLog_WhatAKilledProcessDidNotLeaveIsTold(t *testing.T) {
	db, wal := killedWith(t, 20, false)
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
