package main

import (
	"flag"
	"fmt"
	"os"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func main() {
	merge := flag.String("merge", "", "take over what the suites noted in this `directory`")
	check := flag.String("check", "", "compare what the suites noted in this `directory` with the page")
	flag.Parse()
	if err := run(*merge, *check); err != nil {
		fmt.Fprintf(os.Stderr, "parity: %v\n", err)
		os.Exit(1)
	}
}

func run(merge, check string) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	proven, err := cases.Load(root)
	if err != nil {
		return err
	}
	if check != "" {
		return compare(proven, check)
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

func compare(proven *cases.Proven, dir string) error {
	notes, err := cases.ReadNotes(dir)
	if err != nil {
		return err
	}
	var without []string
	if os.Getenv("MINIBUS_DOTNET_PROBE") == "none" {
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
