package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

// longest bounds the run of all tests.
const longest = 30 * time.Minute

// event is a line of go tool test2json.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// runTests builds the tests, runs them against the namespace and hands what they say to the report. The tests are a child of this
// process, not of the go command, so that an interrupt ends them before the entities are removed.
func runTests(ctx context.Context, root string, there harness.Elsewhere, parallel int, tests []cases.Test, r *report) error {
	dir, err := os.MkdirTemp("", "minibus-verify-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "compat.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./compat-tests/go")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the tests: %w\n%s", err, out)
	}
	var names []string
	for _, test := range tests {
		names = append(names, test.Name)
	}
	run := exec.CommandContext(ctx, program, "-test.v=test2json", "-test.run=^("+strings.Join(names, "|")+")$",
		"-test.parallel="+strconv.Itoa(parallel), "-test.timeout="+longest.String())
	run.Dir = filepath.Join(root, "compat-tests", "go")
	run.Env = append(os.Environ(), there.Environ()...)
	run.Env = append(run.Env, "MINIBUS_COMPAT=all", cases.Directory+"=") // the page is about Minibus
	convert := exec.Command("go", "tool", "test2json", "-t")
	return follow(run, convert, r)
}

// follow runs the tests with their output through the converter, and ends when both have.
func follow(run, convert *exec.Cmd, r *report) error {
	raw, write := io.Pipe()
	run.Stdout, run.Stderr = write, write
	convert.Stdin = raw
	events, err := convert.StdoutPipe()
	if err != nil {
		return fmt.Errorf("read the tests: %w", err)
	}
	if err := convert.Start(); err != nil {
		return fmt.Errorf("read the tests: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		err := run.Run()
		_ = write.Close()
		ended <- err
	}()
	read := r.read(events)
	converted := convert.Wait()
	_ = raw.Close()
	var failed *exec.ExitError
	if err := <-ended; err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) { // 1: a test failed, which the report says
		return errors.Join(fmt.Errorf("run the tests: %w", err), read)
	}
	return errors.Join(read, converted)
}

// read takes the events until their end.
func (r *report) read(events io.Reader) error {
	decoder := json.NewDecoder(events)
	for {
		var e event
		switch err := decoder.Decode(&e); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the tests: %w", err)
		}
		r.event(e)
	}
}
