package compat

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// written collects the standard output of a process.
type written struct {
	*bufio.Reader
	pipe io.Closer
}

// begin starts the binary with these flags and a pipe as its input, and returns what it writes.
func begin(t *testing.T, flags ...string) (cmd *exec.Cmd, input io.WriteCloser, output *written) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), harness.Binary(t), append([]string{"--ephemeral", "--host", "127.0.0.1", "--amqp-port", "0", "--tls-port", "0",
		"--http-port", "0", "--namespace-ports", "off"}, flags...)...)
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, input, &written{bufio.NewReader(out), out}
}

// untilReady reads the output until the line that says so.
func untilReady(t *testing.T, output *written) {
	t.Helper()
	for {
		line, err := output.ReadString('\n')
		if err != nil {
			t.Fatalf("it is not ready: %v", err)
		}
		if strings.Contains(line, "Successfully Up!") {
			return
		}
	}
}

// TestExitWithStdin ends the server when its input is closed, gracefully, and not before: what comes through it is ignored.
func TestExitWithStdin(t *testing.T) {
	t.Parallel()
	cmd, input, output := begin(t, "--exit-with-stdin")
	untilReady(t, output)
	if _, err := io.WriteString(input, "quit\n"); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	time.AfterFunc(300*time.Millisecond, func() { _ = input.Close() })
	rest, err := io.ReadAll(output)
	if err != nil || !strings.Contains(string(rest), "standard input was closed") || !strings.Contains(string(rest), "shutting down") {
		t.Errorf("it writes %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil || time.Since(begun) < 300*time.Millisecond {
		t.Errorf("it ends after %v with %v", time.Since(begun), err)
	}
}

// TestConfigFromStdin reads the configuration from the pipe, whose end then ends the server, or from a whole input.
func TestConfigFromStdin(t *testing.T) {
	t.Parallel()
	const config = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "parcels"}]}]}}`
	for _, flag := range []string{"--exit-with-stdin=true", "--exit-with-stdin=false"} {
		cmd, input, output := begin(t, "--config", "-", flag)
		if _, err := io.WriteString(input, config); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(flag, "=false") {
			_ = input.Close()
		}
		for {
			line, err := output.ReadString('\n')
			if err != nil {
				t.Fatalf("%s: %v", flag, err)
			}
			if strings.Contains(line, "Entities: ") && !strings.Contains(line, "1 queue (standard input)") {
				t.Errorf("%s: %s", flag, line)
			}
			if strings.Contains(line, "Successfully Up!") {
				break
			}
		}
		_ = input.Close()
		if strings.HasSuffix(flag, "=false") {
			_ = cmd.Process.Signal(os.Interrupt)
		}
		_, _ = io.ReadAll(output)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: it ends with %v", flag, err)
		}
	}
}

// TestNoInputIsNoReason to end without the flag, and none to wait with it.
func TestNoInputIsNoReason(t *testing.T) {
	t.Parallel()
	cmd, input, output := begin(t)
	_ = input.Close()
	untilReady(t, output)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(output)
	if err := cmd.Wait(); err != nil || strings.Contains(string(rest), "standard input") {
		t.Errorf("it ends with %v: %s", err, rest)
	}
	cmd, input, output = begin(t, "--exit-with-stdin")
	_ = input.Close()
	_, _ = io.ReadAll(output)
	if err := cmd.Wait(); err != nil {
		t.Errorf("without input it ends with %v", err)
	}
}

// TestNobodyHasToReadTheLog closes the pipe to which the server writes. It goes on.
func TestNobodyHasToReadTheLog(t *testing.T) {
	t.Parallel()
	cmd, input, output := begin(t, "--exit-with-stdin", "--trace")
	var address string
	for address == "" {
		line, err := output.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(line, "Endpoint=sb://")
		address, _, _ = strings.Cut(rest, ";")
	}
	untilReady(t, output)
	_ = output.pipe.Close()
	for range 20 { // each is a line of the log
		answer, err := http.Get("http://" + address + "/$minibus/v1/namespaces")
		if err != nil {
			t.Fatalf("it has gone: %v", err)
		}
		_ = answer.Body.Close()
	}
	_ = input.Close()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ends with %v", cmd.ProcessState)
	}
}
