//go:build linux

package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"minibus/emulator"
)

const (
	powerCutsEnv = "MINIBUS_POWER_CUTS" // states that the test makes; with it, strace must be there
	powerSeedEnv = "MINIBUS_POWER_SEED" // of the first script; the states follow from it and from the record
)

const (
	fewPowerCuts  = 30
	mostPowerCuts = 1250 // of one record
	powerLives    = 3
)

// TestPowerCut records what a process does to its files under a mixed load (sends, settlements, fan-out,
// transactions, sessions, large bodies, checkpoints, vacuum, deleted entities; a kill and a stop in order), and makes
// states of the disk as a power cut could leave them: at any time, with writes that were not synced lost, reordered
// or torn. Each state must open. It must have a prefix of the changes, as they were committed, each as a whole and
// none twice. With synchronous=full these are at least all that were answered before the cut.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	cuts, required := fewPowerCuts, false
	if n, err := strconv.Atoi(os.Getenv(powerCutsEnv)); err == nil {
		cuts, required = n, true
	}
	out, err := exec.Command("strace", "-qq", "-e", "trace=none", os.Args[0], "-test.run", "^$").CombinedOutput()
	if err != nil {
		if required {
			t.Fatalf("strace: %v: %s", err, out)
		}
		t.Skipf("there is no strace that works: %v: %s", err, out)
	}
	seed, err := strconv.ParseUint(os.Getenv(powerSeedEnv), 10, 64)
	if err != nil {
		seed = rand.Uint64N(1 << 20)
	}
	t.Logf("%s=%d", powerSeedEnv, seed)
	for done := 0; done < cuts; seed++ {
		n := min(cuts-done, 2*mostPowerCuts)
		for _, mode := range []string{"full", "normal"} {
			t.Run(fmt.Sprintf("%s, seed %d", mode, seed), func(t *testing.T) {
				t.Parallel()
				cutPower(t, recordPower(t, mode, seed), mode, seed, n/2)
			})
		}
		done += n
	}
}

// TestPowerRecord reads the record of a process that is killed in two writes and a sync, of which the kernel did one
// write, and of one that writes there again. A descriptor is given out again before its close has ended.
func TestPowerRecord(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	quote := func(text string) string {
		var b strings.Builder
		for i := range len(text) {
			fmt.Fprintf(&b, `\x%02x`, text[i])
		}
		return `"` + b.String() + `"`
	}
	record := newDiskRecord(dir)
	add := func(content string, lines ...string) {
		t.Helper()
		trace := filepath.Join(t.TempDir(), "trace")
		text := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "PATH", quote(path))
		must(t, os.WriteFile(path, []byte(content), 0o600))
		must(t, os.WriteFile(trace, []byte(text), 0o600))
		must(t, record.add(trace))
	}
	add("xxaa..",
		`1  openat(AT_FDCWD, PATH, O_RDWR|O_CREAT, 0600) = 5`,
		`1  close(5 <unfinished ...>`,
		`2  openat(AT_FDCWD, PATH, O_RDWR) = 5`,
		`1  <... close resumed>) = 0`,
		`2  pwrite64(5, `+quote("xx....")+`, 6, 0) = 6`,
		`2  pwrite64(5, `+quote("aa")+`, 2, 2 <unfinished ...>`,
		`3  pwrite64(5, `+quote("bb")+`, 2, 4) = ?`,
		`4  fdatasync(5 <unfinished ...>`,
		`4  <... fdatasync resumed>) = ? <unavailable>`)
	killed := record.line
	add("yyyy..",
		`1  openat(AT_FDCWD, PATH, O_RDWR) = 5`,
		`1  pwrite64(5, `+quote("yyyy")+`, 4, 0) = 4`,
		`1  fdatasync(5) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)`,
		`1  fdatasync(5) = 0`)
	d, r := newDisk(record), rand.New(rand.NewPCG(1, 1))
	for _, at := range []struct {
		line      int
		none, all string // what the file has if nothing is lost, and if all is
	}{{killed, "xxaa..", ""}, {record.line - 1, "yyyy..", ""}, {record.line, "yyyy..", "yyyy.."}} {
		d.advance(at.line)
		if got := string(d.cut("nothing", r)["a.db"]); got != at.none {
			t.Errorf("line %d: the file has %q, want %q", at.line, got, at.none)
		}
		if got := string(d.cut("all", r)["a.db"]); got != at.all {
			t.Errorf("line %d: if all is lost, the file has %q, want %q", at.line, got, at.all)
		}
	}
}

// recordPower runs the lives of a script.
func recordPower(t *testing.T, mode string, seed uint64) *diskRecord {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	record := newDiskRecord(dir)
	trace := filepath.Join(t.TempDir(), "trace")
	for life := range powerLives {
		spec := powerSpec{path: filepath.Join(dir, "a.db"), mode: mode, seed: seed, life: life, stops: life == 1}
		cmd := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-xx", "-s", "16777216", "-e", "signal=none", "-o", trace,
			"-e", "trace=?open,openat,close,pwrite64,ftruncate,fsync,fdatasync,?unlink,unlinkat,write",
			os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", powerChildEnv, spec))
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil && spec.stops {
			t.Fatalf("life %d: %v", life, err)
		}
		must(t, record.add(trace))
	}
	return record
}

// cutPower makes states out of a record and checks them.
func cutPower(t *testing.T, record *diskRecord, mode string, seed uint64, states int) {
	t.Helper()
	changes := powerScript(seed, powerLives)
	var order []int64 // as they were committed
	calls := map[string]int{}
	for _, e := range record.events {
		if calls[e.call+" "+e.name]++; e.call == "answer" {
			order = append(order, e.at)
		}
	}
	if len(order) != len(changes) {
		t.Fatalf("%d changes of %d were answered", len(order), len(changes))
	}
	t.Logf("recorded: %v", calls)
	r := rand.New(rand.NewPCG(seed, 2))
	lines := make([]int, states)
	for i := range lines {
		lines[i] = r.IntN(record.line) + 1
	}
	slices.Sort(lines)
	d := newDisk(record)
	dir, least := t.TempDir(), 0
	kept := map[int]int{} // states by answered changes that are missing, in tens
	for i, line := range lines {
		d.advance(line)
		loss := powerLosses[i%len(powerLosses)]
		if mode == "full" || loss == "nothing" {
			least = d.answers
		} else {
			least = 0
		}
		files := d.cut(loss, r)
		path := filepath.Join(dir, strconv.Itoa(i))
		must(t, os.Mkdir(path, 0o700))
		must(t, writeFiles(path, files))
		n, err := checkPower(filepath.Join(path, "a.db"), mode, changes, order, least)
		if err != nil {
			left := filepath.Join(os.TempDir(), fmt.Sprintf("minibus-power-%s-%d-%d", mode, seed, i))
			_ = os.MkdirAll(left, 0o700)
			_ = writeFiles(left, files)
			t.Errorf("cut at line %d of %d, losing %s, after %d answers: %v (the files are in %s)",
				line, record.line, loss, d.answers, err, left)
		}
		kept[max(0, d.answers-n+9)/10]++
		must(t, os.RemoveAll(path))
	}
	t.Logf("states by tens of answered changes that are missing: %v", kept)
}

// checkPower opens a state, and compares it with the first n changes; it returns n.
func checkPower(path, mode string, changes []powerChange, order []int64, least int) (n int, err error) {
	s, err := Open(path, Options{Synchronous: mode})
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	got, want := newPowerModel(), newPowerModel()
	if err := got.load(s); err != nil {
		return 0, err
	}
	for n < len(order) && got.keys[crashKey(order[n])] > 0 {
		want.apply(changes[order[n]].ops)
		n++
	}
	if len(got.keys) != n {
		return n, fmt.Errorf("it has the first %d changes, and %d of those behind", n, len(got.keys)-n)
	}
	if n < least {
		return n, fmt.Errorf("it has %d changes of %d that were answered", n, least)
	}
	if err := want.differs(got); err != nil {
		return n, err
	}
	return n, checkPowerBodies(s, want)
}

// checkPowerBodies reads all bodies, and looks whether the next row is one that was never used.
func checkPowerBodies(s *Store, want *powerModel) error {
	sizes, ids := map[int64]int64{}, []int64{}
	for _, r := range want.rows {
		sizes[r.Body] = r.Size
		if next := s.NextRow(); r.Row >= next {
			return fmt.Errorf("row %d is there, and the next one is %d", r.Row, next)
		}
	}
	for id := range sizes {
		ids = append(ids, id)
	}
	done := make(chan error, 1)
	read := &emulator.BodyRead{IDs: ids, Done: emulator.CompletionFunc(func(err error) { done <- err })}
	s.ReadBodies(read)
	if err := <-done; err != nil {
		return err
	}
	for i, id := range ids {
		if string(read.Bodies[i]) != string(powerBody(id, int(sizes[id]))) {
			return fmt.Errorf("body %d of %d bytes is another one", id, sizes[id])
		}
	}
	return nil
}
