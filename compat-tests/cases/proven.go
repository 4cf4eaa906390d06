package cases

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Directory is the environment's variable that names where the suites note what passed.
const Directory = "MINIBUS_PARITY"

// OtherColumn is the environment's variable that names the column of another release than the newest, for the suites that run several.
const OtherColumn = "MINIBUS_COLUMN"

// A Proof says that a test of a file passed and proves a behaviour.
type Proof struct {
	Column, ID, File, Test string
}

// Proven holds what a whole run of the suites proved.
type Proven struct {
	Versions map[string]string // of each column's SDK
	Proofs   []Proof           // sorted, each once
}

// Note notes that a test proves behaviours once it has passed with all its subtests. It may be called at the test's begin. The
// lines are those that every suite writes: column, version, id, file and test, with tabs between.
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

// Load reads proven.txt.
func Load(root string) (*Proven, error) {
	all := &Proven{Versions: make(map[string]string)}
	err := all.read(provenFile(root))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

func provenFile(root string) string {
	return filepath.Join(root, "compat-tests", "cases", "proven.txt")
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
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.ID, b.ID), cmp.Compare(a.File, b.File), cmp.Compare(a.Test, b.Test))
	})
	p.Proofs = slices.Compact(p.Proofs)
}

// ids returns the behaviours that a column proves.
func (p *Proven) ids(column string) map[string]bool {
	ids := make(map[string]bool)
	for _, proof := range p.Proofs {
		if proof.Column == column {
			ids[proof.ID] = true
		}
	}
	return ids
}

// Without returns the columns of which a run has no notes, out of the given ones.
func (p *Proven) Without(columns []string) (without []string) {
	for _, column := range columns {
		if p.Versions[column] == "" {
			without = append(without, column)
		}
	}
	return without
}

// Merge takes over the columns that another run has notes of.
func (p *Proven) Merge(run *Proven) {
	p.Proofs = slices.DeleteFunc(p.Proofs, func(old Proof) bool { return run.Versions[old.Column] != "" })
	p.Proofs = append(p.Proofs, run.Proofs...)
	for column, version := range run.Versions {
		p.Versions[column] = version
	}
	p.sort()
}

// Save writes proven.txt.
func (p *Proven) Save(root string) error {
	var lines strings.Builder
	for _, proof := range p.Proofs {
		fmt.Fprintf(&lines, "%s\t%s\t%s\t%s\t%s\n", proof.Column, p.Versions[proof.Column], proof.ID, proof.File, proof.Test)
	}
	if err := os.WriteFile(provenFile(root), []byte(lines.String()), 0o644); err != nil {
		return fmt.Errorf("save what is proven: %w", err)
	}
	return nil
}

// Compare says what a run lacks or has more than what is saved: what a whole run must not. Columns that are left out on purpose
// count as run.
func (p *Proven) Compare(run *Proven, without ...string) (faults []string) {
	silent := make(map[string]bool)
	for column, version := range p.Versions {
		switch now := run.Versions[column]; {
		case slices.Contains(without, column):
			silent[column] = true
		case now == "":
			silent[column] = true
			faults = append(faults, fmt.Sprintf("the suite of %s did not run", column))
		case now != version:
			faults = append(faults, fmt.Sprintf("%s is version %s, the page says %s", column, now, version))
		}
	}
	for _, proof := range p.Proofs {
		if !silent[proof.Column] && !slices.Contains(run.Proofs, proof) {
			faults = append(faults, fmt.Sprintf("%s has no longer its witness of %s: %s in %s", proof.Column, proof.ID, proof.Test, proof.File))
		}
	}
	for _, proof := range run.Proofs {
		if !slices.Contains(p.Proofs, proof) {
			faults = append(faults, fmt.Sprintf("%s has a witness of %s that the page lacks: %s in %s", proof.Column, proof.ID, proof.Test, proof.File))
		}
	}
	slices.Sort(faults)
	return faults
}
