package main

import (
	"flag"
	"fmt"
	"os"
	"slices"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func main() {
	merge := flag.String("merge", "", "take over what the suites noted in this `directory`")
	oldest := flag.Bool("oldest", false, "with -check, compare the oldest releases only")
	check := flag.String("check", "", "compare what the suites noted in this `directory` with the page")
	flag.Parse()
	if err := run(*merge, *check, *oldest); err != nil {
		fmt.Fprintf(os.Stderr, "parity: %v\n", err)
		os.Exit(1)
	}
}

func run(merge, check string, oldest bool) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	proven, err := cases.Load(root)
	if err != nil {
		return err
	}
	if check != "" {
		return compare(proven, check, oldest)
	}
	if merge != "" {
		notes, err := cases.ReadNotes(merge)
		if err != nil {
			return err
		}
		proven.Merge(notes)
		if err := proven.Save(root); err != nil {
			return err
		}
	}
	return cases.WritePage(root)
}

// compare compares a run with what is saved: all columns but those of the oldest releases that did not run, or those only.
func compare(proven *cases.Proven, dir string, oldest bool) error {
	notes, err := cases.ReadNotes(dir)
	if err != nil {
		return err
	}
	columns, err := cases.OldestColumns()
	if err != nil {
		return err
	}
	without := notes.Without(columns)
	if oldest {
		without = nil
		for column := range proven.Versions {
			if !slices.Contains(columns, column) {
				without = append(without, column)
			}
		}
	}
	if os.Getenv("MINIBUS_DOTNET_SDK") == "none" {
		without = append(without, "dotnet")
	}
	faults := proven.Compare(notes, without...)
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if len(faults) > 0 {
		return fmt.Errorf("%d faults; if they are meant, run go run ./compat-tests/cases/parity -merge %s", len(faults), dir)
	}
	return nil
}
