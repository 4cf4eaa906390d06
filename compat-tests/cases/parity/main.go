package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func main() {
	oldest := flag.Bool("oldest", false, "with -check, compare the oldest releases only")
	check := flag.String("check", "", "compare what the suites noted in this `directory` with what they claim")
	flag.Parse()
	if err := run(*check, *oldest); err != nil {
		fmt.Fprintf(os.Stderr, "parity: %v\n", err)
		os.Exit(1)
	}
}

func run(check string, oldest bool) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	if check == "" {
		return cases.WritePage(root)
	}
	notes, err := cases.ReadNotes(check)
	if err != nil {
		return err
	}
	list, err := cases.Cases()
	if err != nil {
		return err
	}
	claims, err := cases.Claims(root)
	if err != nil {
		return err
	}
	without := ""
	if os.Getenv("MINIBUS_DOTNET_SDK") == "none" {
		without = "dotnet"
	}
	wrong := list.Check(claims, notes, oldest, without)
	for _, text := range wrong {
		fmt.Fprintln(os.Stderr, text)
	}
	if len(wrong) > 0 {
		return errors.New("the run proved something else than docs/parity.md says")
	}
	return nil
}
