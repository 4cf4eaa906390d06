package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"minibus/compat-tests/harness"
)

func main() { os.Exit(command(os.Args[1:])) }

// command runs the soak and returns the exit code: 1 for findings, 2 for a run that could not go on.
func command(args []string) int {
	o, err := parse(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil && o.binary == "" {
		o.built = true
		o.binary, err = harness.Build(o.tags())
		defer harness.Cleanup()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 2
	}
	report, err := run(o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 2
	}
	if len(report.Findings) > 0 {
		return 1
	}
	return 0
}
