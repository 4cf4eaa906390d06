package pyfw

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"minibus/compat-tests/harness"
)

// startAt starts a server on an address, with the usual port for AMQP over TLS and a database, so that it can be started again.
func startAt(t *testing.T, address string, args ...string) *harness.Server {
	t.Helper()
	return harness.Start(t, harness.Options{
		Data:  filepath.Join(t.TempDir(), "minibus.db"),
		Ports: harness.Ports{TLS: 5671},
		Args:  append([]string{"--host", address}, args...),
	})
}

// withAuthority copies certifi, appends an authority to its bundle, and returns the directory for PYTHONPATH. Users append to the bundle
// that is installed; here other tests use it.
func withAuthority(t *testing.T, python, authority string) string {
	t.Helper()
	bundle, err := exec.Command(python, "-m", "certifi").Output()
	if err != nil {
		t.Fatalf("find certifi: %v", err)
	}
	path := strings.TrimSpace(string(bundle))
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "certifi"), os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatalf("copy certifi: %v", err)
	}
	pem, err := os.ReadFile(authority)
	if err != nil {
		t.Fatalf("read the authority: %v", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "certifi", filepath.Base(path)), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatalf("open the copy of the bundle: %v", err)
	}
	defer file.Close()
	if _, err := file.Write(append([]byte("\n"), pem...)); err != nil {
		t.Fatalf("append the authority: %v", err)
	}
	return dir
}

// runWithHosts runs a program that sees these lines as /etc/hosts. No other program does: it has a mount namespace of its own.
func runWithHosts(t *testing.T, lines string, environ []string, program ...string) {
	t.Helper()
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte(lines+"\n"), 0o644); err != nil { //nolint:gosec // as /etc/hosts is
		t.Fatalf("write hosts: %v", err)
	}
	inside := []string{"--mount", "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, hosts}
	if out, err := harness.Output(nil, "unshare", append(inside, "true")...); err != nil {
		harness.Lack(t, "mount a file in a namespace: %v\n%s", err, out)
	}
	harness.Run(t, environ, "unshare", append(inside, program...)...)
}

// converse starts a program that answers each line with a line, and returns a function that asks it, and one that ends its input, upon which
// it must end. That happens at the end of the test at the latest.
func converse(t *testing.T, environ []string, program ...string) (ask func(line string) string, finish func()) {
	t.Helper()
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Env = append(os.Environ(), environ...)
	cmd.Stderr = t.Output()
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatalf("make a pipe: %v", err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("make a pipe: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	finish = sync.OnceFunc(func() {
		input.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", program, err)
		}
	})
	t.Cleanup(finish)
	answers := bufio.NewScanner(output)
	ask = func(line string) string {
		if _, err := fmt.Fprintln(input, line); err != nil {
			t.Fatalf("ask: %v", err)
		}
		answers.Scan() // no line: no answer
		return answers.Text()
	}
	return ask, finish
}
