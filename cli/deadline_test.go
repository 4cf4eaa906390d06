package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// runAt runs a command against an emulator at an address.
func runAt(t *testing.T, address string, line ...string) (text string, code int) {
	t.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context()) // as the program's, it has no deadline
	defer cancel()
	defer time.AfterFunc(time.Minute, cancel).Stop()
	line = append(line, "-c", "Endpoint=sb://"+address+";SharedAccessKeyName=root;SharedAccessKey=a-key;UseDevelopmentEmulator=true")
	err := Run(ctx, &cobra.Command{Use: "minibus"}, line, Environment{Stdin: strings.NewReader("x"), Stdout: io.Discard, Stderr: &out,
		Authority: func() (string, error) { return "", errors.New("none") }})
	var f *failure
	if errors.As(err, &f) {
		return f.text + out.String(), f.code
	}
	return out.String(), 0
}

// TestNoCommandWaitsForEver for a server that takes the connection and answers nothing.
func TestNoCommandWaitsForEver(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mute.Close() })
	go func() {
		for {
			c, err := mute.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}()
	var waiting sync.WaitGroup // more at once than parallel tests are, for they do nothing else
	defer waiting.Wait()
	for _, line := range []string{"queue ls", "queue create q", "rule ls t/s", "send q x", "send q --lines", "peek q", "peek t/s",
		"peek q --session s", "receive q", "tail q", "dlq ls q", "dlq resubmit q", "purge q --yes", "bench q",
		"why q", "history", "history -f", "message body q 1", "config print",
		"snapshot save s", "clock advance 1h", "namespace ls", "sessions ls q", "conn ls"} {
		waiting.Go(func() {
			begin := time.Now()
			text, code := runAt(t, mute.Addr().String(), append(strings.Fields(line), "--timeout", "300ms")...)
			if code != exitUnreachable || !strings.Contains(text, "did not answer in 300ms") || time.Since(begin) > 20*time.Second {
				t.Errorf("%s: it ends with %d after %v: %s", line, code, time.Since(begin), text)
			}
		})
	}
}

// TestNoAnswerIsReadForEver reads from servers whose answers do not end: fast ones, whose size is bounded, and slow ones,
// whose time is.
func TestNoAnswerIsReadForEver(t *testing.T) {
	endless := func(size int, pause time.Duration) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(bytes.Repeat([]byte(" "), size)); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				time.Sleep(pause)
			}
		}))
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	read := func(address, line string) {
		begin := time.Now()
		text, code := runAt(t, address, append(strings.Fields(line), "--timeout", "2s")...)
		explained := strings.Contains(text, "did not answer") || strings.Contains(text, "more than")
		if code == 0 || code == exitInterrupted || !explained {
			t.Errorf("%s: it ends with %d after %v: %s", line, code, time.Since(begin), text)
		}
	}
	slow := endless(1, 50*time.Millisecond)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for _, line := range []string{"queue ls", "why q", "snapshot ls"} { // a body may take long
		waiting.Go(func() { read(slow, line) })
	}
	fast := endless(1<<20, 0)
	for _, line := range []string{"queue ls", "why q", "message body q 1", "snapshot ls"} { // one has 128 MiB in memory
		read(fast, line)
	}
}
