package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"minibus/emulator"
)

// The crash test runs the test binary a second time, as a process that works on a database and reports each change
// twice on its output: before it appends it, and after its completion. The parent kills it
// in the middle and compares.
const (
	crashChildEnv  = "MINIBUS_CRASH_CHILD"  // path of the database: be the child
	crashRoundsEnv = "MINIBUS_CRASH_ROUNDS" // number of kills; 5 by default
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashChildEnv); path != "" {
		if filepath.Base(path) == crashSnapshots {
			snapshotChild(path)
		}
		crashChild(path)
		return
	}
	if spec := os.Getenv(powerChildEnv); spec != "" {
		powerChild(spec)
		return
	}
	os.Exit(runInMemory(m))
}

// runInMemory runs the tests with their files in memory where Linux has room for them: half of their time would go
// into waiting for the disk. TMPDIR, as .ci/run sets it, keeps them on the disk.
func runInMemory(m *testing.M) int {
	const shared = "/dev/shm"
	if free, known := DiskFree(shared); !known || free < 1<<30 || os.Getenv("TMPDIR") != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp(shared, "minibus-store-")
	if err != nil {
		return m.Run()
	}
	defer os.RemoveAll(dir)
	_ = os.Setenv("TMPDIR", dir)
	return m.Run()
}

// crashEntities are in two namespaces.
var crashEntities = []int64{1, 1<<40 + 1}

// crashState is the result of loading both namespaces.
type crashState struct {
	rows   rows
	last   map[int64]int64
	states map[int64]string           // state of the session "s" by entity
	keys   map[int64]map[[16]byte]int // by entity, how often remembered
}

func newCrashState() *crashState {
	return &crashState{
		rows: rows{}, last: map[int64]int64{}, states: map[int64]string{},
		keys: map[int64]map[[16]byte]int{crashEntities[0]: {}, crashEntities[1]: {}},
	}
}

func (c *crashState) load(s *Store) error {
	return errors.Join(s.Journal(1).Load(c), s.Journal(2).Load(c))
}

func (c *crashState) LoadEntity(e emulator.EntityRecord) error {
	for _, l := range e.Last {
		c.last[e.ID] = l.Seq
	}
	return nil
}

func (c *crashState) LoadSession(entity int64, _ string, state []byte, _ int64) error {
	c.states[entity] = string(state)
	return nil
}

func (c *crashState) LoadDuplicate(entity int64, key [16]byte, _ int64) error {
	c.keys[entity][key]++
	return nil
}

func (c *crashState) LoadMessage(r *emulator.MessageRecord) error { return c.rows.LoadMessage(r) }

// crashModel is the parent's knowledge from the child's reports.
type crashModel struct {
	rows map[int64]*crashRow
	seqs map[[2]int64]int64 // entity and number of a stored message -> row
}

type crashRow struct {
	entity, seq                    int64
	inserted, deleteBegun, deleted bool
	countBegun, count              int64
}

func (m *crashModel) note(t *testing.T, line string) {
	var kind byte
	var row, entity, seq, dc int64
	if n, _ := fmt.Sscanf(line, "%c %d %d %d %d\n", &kind, &row, &entity, &seq, &dc); n != 5 {
		return // cut off by the kill
	}
	r := m.rows[row]
	switch kind {
	case 'i':
		if r != nil && r.inserted {
			t.Errorf("row id %d is used again", row)
		}
		m.rows[row] = &crashRow{entity: entity, seq: seq}
	case 'I':
		if other, used := m.seqs[[2]int64{entity, seq}]; used {
			t.Errorf("number %d of entity %d names the rows %d and %d", seq, entity, other, row)
		}
		m.seqs[[2]int64{entity, seq}] = row
		r.inserted = true
	case 'd':
		r.deleteBegun = true
	case 'D':
		r.deleted = true
	case 'u':
		r.countBegun = dc
	case 'U':
		r.count = dc
	}
}

// check compares the database with the child's reports, and takes over commits that the child could not report any
// more.
func (m *crashModel) check(t *testing.T, s *Store) {
	t.Helper()
	got := newCrashState()
	if err := got.load(s); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, r := range got.rows {
		ids = append(ids, r.Body)
		m.checkStored(t, r)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for row, want := range m.rows {
		_, there := got.rows[row]
		if want.inserted && !want.deleteBegun && !there {
			t.Errorf("row %d was acknowledged and is gone", row)
		}
		next := s.Journal(emulator.NamespaceOf(row)).NextRow()
		if want.inserted && (got.last[want.entity] < want.seq || next <= row) {
			t.Errorf("row %d, number %d was stored; the counter is at %d, the next row %d",
				row, want.seq, got.last[want.entity], next)
		}
		want.deleted = want.deleteBegun && !there
	}
	m.checkWhole(t, got)
	m.checkBodies(t, s, ids)
}

// checkWhole looks for half-committed changes: each insert also drew a number, set the state of a session to it and
// remembered a key made of it, and numbers have no gaps.
func (m *crashModel) checkWhole(t *testing.T, got *crashState) {
	t.Helper()
	for _, entity := range crashEntities {
		last := got.last[entity]
		if state := got.states[entity]; last > 0 && state != string(crashText(last)) {
			t.Errorf("entity %d is at number %d, its session at %s", entity, last, state)
		}
		for seq := int64(1); seq <= last; seq++ {
			if n := got.keys[entity][crashKey(seq)]; n != 1 {
				t.Errorf("the key of number %d of entity %d is remembered %d times", seq, entity, n)
			}
		}
		if n := len(got.keys[entity]); int64(n) != last {
			t.Errorf("%d keys are remembered of %d messages of entity %d", n, last, entity)
		}
	}
}

func (m *crashModel) checkStored(t *testing.T, r emulator.MessageRecord) {
	t.Helper()
	want, count := m.rows[r.Row], int64(r.DeliveryCount)
	switch {
	case want == nil || want.deleted || want.entity != r.Entity || want.seq != r.Seq:
		t.Errorf("stored is %+v, known %+v", r, want)
		return
	case count < want.count || count > want.countBegun:
		t.Errorf("row %d has count %d, want %d to %d", r.Row, count, want.count, want.countBegun)
	}
	want.inserted = true // committed, but the kill came before the report
	m.seqs[[2]int64{r.Entity, r.Seq}] = r.Row
}

func (m *crashModel) checkBodies(t *testing.T, s *Store, ids []int64) {
	t.Helper()
	res := make(chan error, 1)
	r := &emulator.BodyRead{IDs: ids, Done: emulator.CompletionFunc(func(err error) { res <- err })}
	s.ReadBodies(r)
	if err := <-res; err != nil {
		t.Fatal(err)
	}
	for i, b := range r.Bodies {
		if !bytes.Equal(b, crashBody(ids[i])) {
			t.Errorf("body %d has %d bytes, want %d", ids[i], len(b), len(crashBody(ids[i])))
		}
	}
	n := count(t, s, `body WHERE ns<=2 AND id NOT IN
		(SELECT body FROM message WHERE state=8 UNION SELECT body FROM publication WHERE there=0)`)
	if n != int64(len(ids)) {
		t.Errorf("%d bodies, want %d", n, len(ids))
	}
}

// crashRounds returns how often a child is killed.
func crashRounds() int {
	if v, err := strconv.Atoi(os.Getenv(crashRoundsEnv)); err == nil {
		return v
	}
	return 5
}

// TestKill_SEQ4_DUP16_SESS22_LosesNothing (invariants 1 to 4): after a SIGKILL all acknowledged messages are there,
// deleted ones are gone, no row id and no number is used twice, no body is without its message, and no
// change is half committed, in two namespaces, beside others that are made and deleted.
func TestKill_SEQ4_DUP16_SESS22_LosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	if err := putNamespace(s, 2, "two"); err != nil {
		t.Fatal(err)
	}
	wait(t, s, putQueue(crashEntities[0], "q"), putQueue(crashEntities[1], "q"))
	_ = s.Close()
	m := &crashModel{rows: map[int64]*crashRow{}, seqs: map[[2]int64]int64{}}
	for round := range crashRounds() {
		lines := runAndKill(t, path, 500+rand.IntN(3000), func(line string) { m.note(t, line) })
		s := mustOpen(t, path, Options{})
		m.check(t, s)
		checkPassing(t, s)
		checkDeleted(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("round %d: killed after %d lines", round, lines)
		if t.Failed() {
			return
		}
	}
}

// checkPassing wants namespaces that were made and not yet deleted to have all of their entities.
func checkPassing(t *testing.T, s *Store) {
	t.Helper()
	list, err := s.Namespaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		c := &everything{}
		if err := s.Journal(r.ID).Load(c); err != nil {
			t.Fatal(err)
		}
		if r.Name == "passing" && len(c.Entities) != passingEntities {
			t.Errorf("the namespace %d has %d entities, want %d", r.ID, len(c.Entities), passingEntities)
		}
	}
}

// checkDeleted looks for rows of namespaces that were deleted.
func checkDeleted(t *testing.T, s *Store) {
	t.Helper()
	sweepNow(s)
	for _, table := range tables {
		if n := count(t, s, table+" WHERE ns NOT IN (SELECT id FROM namespace)"); n != 0 {
			t.Errorf("%s has %d rows of deleted namespaces", table, n)
		}
	}
	if n := count(t, s, "namespace"); n != int64(len(names(t, s))) {
		t.Errorf("%d namespaces are stored, those known are %v", n, names(t, s))
	}
}

// runAndKill runs a child until it has reported after lines, kills it, and passes all its lines to line.
func runAndKill(t *testing.T, path string, after int, line func(string)) (lines int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashChildEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	for {
		text, err := in.ReadString('\n')
		if err == io.EOF {
			break
		}
		line(text)
		if lines++; lines == after {
			_ = cmd.Process.Kill() // it may have died by itself, which the count shows
		}
	}
	_ = cmd.Wait() // "signal: killed"
	if lines < after {
		t.Fatalf("the child ended after %d lines of %d", lines, after)
	}
	return lines
}
