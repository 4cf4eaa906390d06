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
