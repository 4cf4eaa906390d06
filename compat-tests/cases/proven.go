package cases

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Directory is the environment's variable that names where the suites note what passed.
const Directory = "MINIBUS_PARITY"

// OtherColumn is the environment's variable that names the column of another release than the newest, for the suites
// that run several.
const OtherColumn = "MINIBUS_COLUMN"

// A Proof says that a test of a file passed and proves a behaviour.
type Proof struct {
	Column, ID, File, Test string
}

// Proven holds what a run of the suites proved.
type Proven struct {
	Versions map[string]string // of each column's SDK
	Proofs   []Proof           // sorted, each once
}

// Note notes that a test proves behaviours once it has passed with all its subtests. It may be called at the test's
// begin. The lines are those that every suite writes: column, version, id, file and test, with tabs between.
func Note(t testing.TB, column, version, file string, ids ...string) {
	t.Helper()
	dir := os.Getenv(Directory)
	if dir == "" {
		return
	}
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		if err := appendNotes(filepath.Join(dir, column+".tsv"), column, version, file, t.Name(), ids); err != nil {
			t.Errorf("note what is proven: %v", err)
		}
	})
}

func appendNotes(path, column, version, file, test string, ids []string) error {
	notes, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&lines, "%s\t%s\t%s\t%s\t%s\n", column, version, id, file, test)
	}
	_, err = notes.WriteString(lines.String())
	return errors.Join(err, notes.Close())
}

// ReadNotes reads what the suites noted in a directory.
func ReadNotes(dir string) (*Proven, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil {
		return nil, fmt.Errorf("look for notes: %w", err)
	}
	all := &Proven{Versions: make(map[string]string)}
	for _, file := range files {
		if err := all.read(file); err != nil {
			return nil, err
		}
	}
	all.sort()
	return all, nil
}

func (p *Proven) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read what is proven: %w", err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 5 {
			return fmt.Errorf("read what is proven: %s: %q has %d fields, want 5", path, lines.Text(), len(fields))
		}
		column, version := fields[0], fields[1]
		if other := p.Versions[column]; other != "" && other != version {
			return fmt.Errorf("read what is proven: %s: versions %s and %s of %s", path, other, version, column)
		}
		p.Versions[column] = version
		p.Proofs = append(p.Proofs, Proof{Column: column, ID: fields[2], File: fields[3], Test: fields[4]})
	}
	return nil
}

func (p *Proven) sort() {
	slices.SortFunc(p.Proofs, func(a, b Proof) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Test, b.Test))
	})
	p.Proofs = slices.Compact(p.Proofs)
}

// Check compares what a run proved with what the sources of the suites claim, and says what is missing and what is
// new. It asks for all columns, and for those oldest releases that ran; with oldest for all oldest releases and
// nothing else. without names a column that it leaves out.
func (l *List) Check(claims []Claim, run *Proven, oldest bool, without string) (wrong []string) {
	for _, c := range l.Columns {
		if c.Version != "" && c.ID != without && !oldest {
			wrong = append(wrong, run.compare(claims, Oldest{ID: c.ID, Of: c.ID, Version: c.Version})...)
		}
	}
	for _, o := range l.Oldest {
		if oldest || run.Versions[o.ID] != "" {
			wrong = append(wrong, run.compare(claims, o)...)
		}
	}
	return wrong
}

// compare is Check for one release. A newest release has no behaviours that it leaves out: each of its claims needs a
// test of its own that passed. An oldest release runs a part of them, and needs one for each behaviour.
func (p *Proven) compare(claims []Claim, o Oldest) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, o.ID+fmt.Sprintf(format, args...)) }
	switch p.Versions[o.ID] {
	case o.Version:
	case "":
		say(": its suite did not run")
		return wrong
	default:
		say(" is version %s, cases.txt says %s", p.Versions[o.ID], o.Version)
	}
	type place struct{ id, file string }
	claimed, noted := make(map[place]int), make(map[place]int)
	ofID := make(map[string]bool)
	for _, proof := range p.Proofs {
		if proof.Column == o.ID {
			noted[place{proof.ID, proof.File}]++
			ofID[proof.ID] = true
		}
	}
	for _, c := range claims {
		if c.Column == o.Of {
			claimed[place{c.ID, c.File}]++
		}
	}
	for at, n := range claimed {
		switch left := slices.Contains(o.Without, at.id); {
		case left && ofID[at.id]:
			say(" proves %s, which cases.txt leaves out", at.id)
		case left:
		case o.ID != o.Of && !ofID[at.id]:
			say(" does not prove %s", at.id)
		case o.ID == o.Of && noted[at] < n:
			say(" does not prove %s: %d of %d tests in %s passed", at.id, noted[at], n, at.file)
		}
	}
	for at := range noted {
		if claimed[at] == 0 {
			say(" proves %s in %s, where no claim of it was found", at.id, at.file)
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}
