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
	for _, line := range []string{"queue ls", "queue create q", "rule ls t/s", "send q x", "send q --lines", "peek q", "peek t/s",
		"peek q --session s", "receive q", "tail q", "dlq ls q", "dlq resubmit q", "purge q --yes", "bench q",
		"why q", "history", "history -f", "message body q 1", "config print",
		"snapshot save s", "clock advance 1h", "namespace ls", "sessions ls q", "conn ls"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			text, code := runAt(t, mute.Addr().String(), append(strings.Fields(line), "--timeout", "300ms")...)
			if code != exitUnreachable || !strings.Contains(text, "did not answer in 300ms") || time.Since(begin) > 20*time.Second {
				t.Errorf("it ends with %d after %v: %s", code, time.Since(begin), text)
			}
		})
	}
}

// TestNoAnswerIsReadForEver reads from servers whose answers do not end: fast ones, whose size is bounded, and slow ones,
// whose time is.
func TestNoAnswerIsReadForEver(t *testing.T) {
	for name, pause := range map[string]time.Duration{"fast": 0, "slow": 50 * time.Millisecond} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			piece := bytes.Repeat([]byte(" "), 1<<20)
			if pause > 0 {
				piece = piece[:1]
			}
			for {
				if _, err := w.Write(piece); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				time.Sleep(pause)
			}
		}))
		defer server.Close()
		for _, line := range []string{"queue ls", "why q", "message body q 1", "snapshot ls"} {
			if pause > 0 && line == "message body q 1" {
				continue // it may take long
			}
			begin := time.Now()
			text, code := runAt(t, strings.TrimPrefix(server.URL, "http://"), append(strings.Fields(line), "--timeout", "2s")...)
			explained := strings.Contains(text, "did not answer") || strings.Contains(text, "more than")
			if code == 0 || code == exitInterrupted || !explained {
				t.Errorf("%s, %s: it ends with %d after %v: %s", name, line, code, time.Since(begin), text)
			}
		}
	}
}
