package js

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"minibus/compat-tests/harness"
)

// atTerminal starts the command at a terminal of its own, and returns the side of the person.
func (k kit) atTerminal(t *testing.T, environ []string, args ...string) (person *os.File, cmd *exec.Cmd) {
	t.Helper()
	person, program := harness.Terminal(t)
	cmd = k.program(t.Context(), environ, "node_modules/.bin/minibus", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	return person, cmd
}

// ctrlC waits for a text, and then presses Ctrl-C.
func ctrlC(t *testing.T, person *os.File, seen *bytes.Buffer, awaited string) {
	t.Helper()
	readUntil(t, person, seen, awaited)
	if _, err := person.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
}

// counting is a stand-in for the binary. Its exit code is how often it was interrupted until it was told to end.
const counting = `#!/usr/bin/env node
let n = 0;
process.on("SIGINT", () => console.log("signal " + ++n));
process.on("SIGTERM", () => process.exit(n));
setInterval(() => {}, 1000);
console.log("ready " + process.stdin.isTTY);
`

// terminal presses Ctrl-C: each time the binary gets one signal, and so does a command that it runs.
func (k kit) terminal(t *testing.T) {
	seen := &bytes.Buffer{}
	person, cmd := k.atTerminal(t, nil, "run", "--quiet", "--", "sh", "-c", trapping)
	ctrlC(t, person, seen, "ready\n")
	ctrlC(t, person, seen, "signal 1\n")
	readUntil(t, person, seen, "signal 2\n")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 5 {
		t.Errorf("after Ctrl-C twice: exit code %d\n%s", code, seen)
	}

	binary := filepath.Join(t.TempDir(), "counting.cjs")
	if err := os.WriteFile(binary, []byte(counting), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	seen.Reset()
	person, cmd = k.atTerminal(t, []string{"MINIBUS_PATH=" + binary})
	ctrlC(t, person, seen, "ready true\n")
	ctrlC(t, person, seen, "signal 1\n")
	readUntil(t, person, seen, "signal 2\n")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Errorf("after Ctrl-C twice it was interrupted %d times\n%s", code, seen)
	}
}
