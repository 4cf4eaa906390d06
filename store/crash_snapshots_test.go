package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minibus/emulator"
)

// crashSnapshots is the name of the database for whose sake the child saves and restores snapshots.
const crashSnapshots = "snapshots.db"

// A version of a namespace: all of its messages, a state and a remembered id tell the same number.
const versionSize = 120

// versionOps replace one version by the next, in one change. Rows of version v begin at first+v*1000.
func versionOps(queue, first int64, v int64) []emulator.Op {
	var ops []emulator.Op
	for i := range int64(versionSize) {
		row := first + v*1000 + i
		if v > 1 {
			old := emulator.MessageRecord{Row: row - 1000, Body: row - 1000, Entity: queue}
			ops = append(ops, emulator.Op{Kind: emulator.OpDelete, DropBody: true, Record: old})
		}
		size := 500
		if i == 7 {
			size = maxInline + 100
		}
		op := into(queue, insertOp(row, v*1000+i, bytes.Repeat([]byte{byte(v)}, size)))
		op.Record.Enqueued = v
		ops = append(ops, op)
	}
	return append(ops, emulator.Op{Kind: emulator.OpSessionState, Data: fmt.Append(nil, v), Record: emulator.MessageRecord{Entity: queue, SessionID: "s"}},
		into(queue, rememberOp(v, v)))
}

// versionOf returns the version that is there, or says what is wrong with it.
func versionOf(s *Store, load func(emulator.Loader) error) (v int64, wrong string) {
	c := &everything{}
	if err := load(c); err != nil {
		return 0, err.Error()
	}
	if len(c.Messages) != versionSize || len(c.Sessions) != 1 || len(c.Entities) != 1 {
		return 0, fmt.Sprintf("there are %d messages, %d states, %d entities", len(c.Messages), len(c.Sessions), len(c.Entities))
	}
	read := &emulator.BodyRead{}
	v = c.Messages[0].Enqueued
	for _, m := range c.Messages {
		read.IDs = append(read.IDs, m.Body)
		if m.Enqueued != v {
			return 0, fmt.Sprintf("messages of the versions %d and %d", v, m.Enqueued)
		}
	}
	if err := tryNamespace(func(done emulator.Completion) { read.Done = done; s.ReadBodies(read) }); err != nil {
		return 0, err.Error()
	}
	for i, b := range read.Bodies {
		if len(b) < 500 || b[0] != byte(v) || i == 7 && len(b) != maxInline+100 {
			return 0, fmt.Sprintf("body %d of version %d has %d bytes", i, v, len(b))
		}
	}
	if !strings.Contains(c.Sessions[0], fmt.Sprintf("%q", fmt.Sprint(v))) || int64(len(c.History)) != v || c.Entities[0].Last[0].Seq != v*1000+versionSize-1 {
		return 0, fmt.Sprintf("version %d with the state %s, %d remembered ids, counter %v", v, c.Sessions[0], len(c.History), c.Entities[0].Last)
	}
	return v, ""
}

// snapshotChild writes versions, saves and restores until it is killed.
func snapshotChild(path string) {
	s, err := Open(path, Options{})
	if err != nil {
		panic(err)
	}
	if err := s.Load(&everything{}); err != nil {
		panic(err)
	}
	onWriter(s, func() { s.writer.copier.size = 11 })
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	for {
		v, wrong := versionOf(s, s.Journal(1).Load)
		if wrong != "" {
			panic(wrong)
		}
		queue := rowsOfNumber*(s.journalOf(1).number-1) + 1
		fmt.Println("version", v)
		list := s.Snapshots(1)
		switch n := rand.IntN(3); {
		case n == 0 || len(list) == 0 || v > 200:
			instead := int64(0)
			if len(list) > 0 {
				instead = list[0].Number
			}
			if v > 200 {
				must(restoreCopy(s, 1, instead, s.NextNamespace()))
				continue
			}
			_, done := saving(s, 1, s.NextNamespace(), instead)
			for i := range int64(3) {
				must(<-begin(s, versionOps(queue, queue, v+1+i)...))
			}
			must(done())
			fmt.Println("saved", v)
		case n == 1:
			must(restoreCopy(s, 1, list[0].Number, s.NextNamespace()))
			fmt.Println("restored")
		default:
			must(<-begin(s, versionOps(queue, queue, v+1)...))
		}
	}
}

// TestKillWhileSnapshotsAreSavedAndRestored: after a SIGKILL the namespace is of one version, and so is every snapshot. Nothing else is left.
func TestKillWhileSnapshotsAreSavedAndRestored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), crashSnapshots)
	s := mustOpen(t, path, Options{})
	wait(t, s, append([]emulator.Op{putQueue(1, "q")}, versionOps(1, 1, 1)...)...)
	_ = s.Close()
	unfinished := 0
	for round := range crashRounds() {
		last := ""
		lines := runAndKill(t, path, 20+rand.IntN(80), func(line string) { last = line })
		s := mustOpen(t, path, Options{})
		onWriter(s, func() {
			for _, rows := range s.writer.namespaces.byNumber {
				if rows.dead && rows.number > 1 {
					unfinished++
				}
			}
		})
		v, wrong := versionOf(s, s.Load)
		if wrong != "" {
			t.Errorf("the namespace: %s", wrong)
		}
		numbers := []int64{1, s.journalOf(1).number}
		for _, r := range s.Snapshots(1) {
			if _, wrong := versionOf(s, func(l emulator.Loader) error { return s.LoadCopy(r.Number, l) }); wrong != "" {
				t.Errorf("the snapshot: %s", wrong)
			}
			numbers = append(numbers, r.Number)
		}
		drain(s)
		sweepNow(s)
		wantNumbers(t, s, slices.Compact(numbers)...)
		for _, number := range numbers {
			wantNoOrphans(t, s, number)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("round %d: killed after %d lines, the last was %q; version %d, numbers %v", round, lines, last, v, numbers)
	}
	t.Logf("%d copies were unfinished or left", unfinished)
}
