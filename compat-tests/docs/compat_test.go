// Package docs keeps the pages honest: it runs the programs and the shell lines that the pages show, provokes the lines of the log that
// docs/troubleshooting.md quotes, and follows every link. The text of the page is always the source, so a page can't say something else
// than what was tried.
package docs

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.MainAtOnce(m, 4) }

// httpAddr returns host:port of the HTTP listener.
func httpAddr(s *harness.Server) string { return fmt.Sprintf("localhost:%d", s.Ports.HTTP) }

// shell runs lines for a shell in a directory, each of which must succeed, and returns what they print. The binary is there as minibus.
func shell(t *testing.T, dir, lines string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(harness.Binary(t), filepath.Join(bin, "minibus")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", lines)
	cmd.Dir = dir
	// The lines must not find a workspace of the developer's.
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, harness.OwnModule...)
	cmd.WaitDelay = 10 * time.Second // a server that the lines leave behind has the pipe
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// get returns status and body of a GET.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// takesNothing wants that a queue is there and has no message.
func takesNothing(t *testing.T, s *harness.Server, queue string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodDelete, "http://"+httpAddr(s)+"/"+queue+"/messages/head?timeout=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Errorf("the queue %s answers %s to a receive, want that it is empty", queue, answer.Status)
	}
}

// moved puts the ports of a server into lines that have the usual ones.
func moved(s *harness.Server, text string) string {
	return strings.NewReplacer("localhost:5300", httpAddr(s), "localhost:5672", s.Addr(), "localhost:5671", fmt.Sprintf("localhost:%d", s.Ports.TLS)).Replace(text)
}
