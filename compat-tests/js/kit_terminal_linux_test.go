package js

import (
	"bytes"
	"os"
	"syscall"
	"testing"

	"minibus/compat-tests/harness"
)

// atTerminal starts the command at a terminal of its own, and returns the side of the person.
func (k kit) atTerminal(t *testing.T, args ...string) (person *os.File, ended func() int) {
	t.Helper()
	person, program := harness.Terminal(t)
	cmd := k.program(t.Context(), nil, "node_modules/.bin/minibus", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	return person, func() int {
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}
}

const ctrlC = "\x03"

// terminal presses Ctrl-C: twice for a command, which gets it twice, and once for a server, which ends in good order. A second one
// would end the server at once, with another exit code.
func (k kit) terminal(t *testing.T) {
	person, ended := k.atTerminal(t, "run", "--quiet", "--", "sh", "-c", trapping)
	seen := &bytes.Buffer{}
	for _, awaited := range []string{"ready\n", "signal 1\n"} {
		readUntil(t, person, seen, awaited)
		if _, err := person.WriteString(ctrlC); err != nil {
			t.Fatal(err)
		}
	}
	readUntil(t, person, seen, "signal 2\n")
	if code := ended(); code != 5 {
		t.Errorf("after Ctrl-C twice: exit code %d\n%s", code, seen)
	}
	person, ended = k.atTerminal(t, "--ephemeral", "--amqp-port", "0", "--tls-port", "off", "--http-port", "off")
	seen.Reset()
	readUntil(t, person, seen, "Successfully Up!\n")
	if _, err := person.WriteString(ctrlC); err != nil {
		t.Fatal(err)
	}
	readUntil(t, person, seen, "shutting down")
	if code := ended(); code != 0 {
		t.Errorf("after Ctrl-C: exit code %d\n%s", code, seen)
	}
}
