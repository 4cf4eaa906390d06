package compat

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// startOnDisk runs a server with the queue "orders" on its own database, and returns the database's path.
func startOnDisk(t *testing.T) (*bench, string) {
	t.Helper()
	t.Parallel()
	data := filepath.Join(t.TempDir(), "minibus.db")
	return startServer(t, harness.Options{Data: data,
		Config: harness.WriteConfig(t, harness.Queue{Name: queueName, LockDuration: "PT5M", MaxDeliveryCount: 10})}), data
}

// health returns the answer of /health.
func (b *bench) health() (status int, text string) {
	b.Helper()
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/health", b.server.Ports.HTTP))
	b.must("ask for health", err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	b.must("read the answer", err)
	return r.StatusCode, string(body)
}

func (b *bench) waitHealth(want int) string {
	b.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		status, text := b.health()
		if status == want {
			return text
		}
		if time.Now().After(deadline) {
			b.Fatalf("health is %d %s, want %d", status, text, want)
		}
	}
}

// TestDatabaseTakenAway_IsToldAndNothingIsAcknowledged moves the database of a running server away, and back.
func TestDatabaseTakenAway_IsToldAndNothingIsAcknowledged(t *testing.T) {
	b, data := startOnDisk(t)
	b.send("one", "two", "three", "four")
	locked := b.receive(b.receiver, 4)
	b.must("move the database away", os.Rename(data, data+".away"))
	if text := b.waitHealth(http.StatusServiceUnavailable); !strings.Contains(text, data) {
		t.Errorf("health does not name the file: %s", text)
	}
	if err := b.sender.SendMessage(b.ctx, message("five"), nil); err == nil {
		t.Error("a message was acknowledged")
	}
	for what, err := range map[string]error{
		"complete":    b.receiver.CompleteMessage(b.ctx, locked[0], nil),
		"abandon":     b.receiver.AbandonMessage(b.ctx, locked[1], nil),
		"defer":       b.receiver.DeferMessage(b.ctx, locked[2], nil),
		"dead-letter": b.receiver.DeadLetterMessage(b.ctx, locked[3], nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "deleted or replaced") {
			t.Errorf("%s: got %v, want an error that says why", what, err)
		}
	}
	if log := b.server.Log(); !strings.Contains(log, "was deleted or replaced") || !strings.Contains(log, "fix=") {
		t.Errorf("the log does not say so")
	}

	b.must("move the database back", os.Rename(data+".away", data))
	b.waitHealth(http.StatusOK)
	b.send("six")
	b.server.Kill(t)
	b = connectBench(t, harness.Start(t, b.server.Options()))
	var bodies []string
	for _, m := range b.receive(b.receiver, 5) {
		bodies = append(bodies, string(m.Body))
	}
	if fmt.Sprint(bodies) != "[one two three four six]" {
		t.Errorf("there is %v", bodies)
	}
	b.wantEmpty(b.receiver)
}

// TestLogDeleted_LosesNothing deletes the write-ahead log of a running server: it says so, and everything that it acknowledged is in
// the database when it has ended.
func TestLogDeleted_LosesNothing(t *testing.T) {
	b, data := startOnDisk(t)
	b.send("one", "two")
	b.must("delete the log", os.Remove(data+"-wal"))
	b.waitHealth(http.StatusServiceUnavailable)
	if err := b.sender.SendMessage(b.ctx, message("three"), nil); err == nil {
		t.Error("a message was acknowledged")
	}
	b.server.Stop(t)
	b = connectBench(t, harness.Start(t, b.server.Options()))
	for i, m := range b.receive(b.receiver, 2) {
		if want := []string{"one", "two"}[i]; string(m.Body) != want {
			t.Errorf("message %d is %q, want %q", i, m.Body, want)
		}
	}
	b.wantEmpty(b.receiver)
}

// TestLogCut_IsToldAndNothingIsAcknowledged cuts the write-ahead log of a running server, as a tool that rotates logs
// does. What it had is lost; nothing is acknowledged any more, and the next start works.
func TestLogCut_IsToldAndNothingIsAcknowledged(t *testing.T) {
	b, data := startOnDisk(t)
	b.send("one", "two")
	b.must("cut the log", os.Truncate(data+"-wal", 0))
	if err := b.sender.SendMessage(b.ctx, message("three"), nil); err == nil || !strings.Contains(err.Error(), "was cut") {
		t.Errorf("got %v, want an error that says why", err)
	}
	if text := b.waitHealth(http.StatusServiceUnavailable); !strings.Contains(text, data+"-wal") {
		t.Errorf("health does not name the file: %s", text)
	}
	b.server.Stop(t)
	b = connectBench(t, harness.Start(t, b.server.Options()))
	b.send("four")
	if m := b.receive(b.receiver, 1); string(m[0].Body) != "four" {
		t.Errorf("received %q", m[0].Body)
	}
	b.wantEmpty(b.receiver)
}

// TestDatabaseReplaced_IsToldAndLeftAlone puts another database in the place of the open one: the server never writes to it.
func TestDatabaseReplaced_IsToldAndLeftAlone(t *testing.T) {
	b, data := startOnDisk(t)
	b.send("one")
	for _, suffix := range []string{"", "-wal"} {
		b.must("put another file there", os.WriteFile(data+".new", []byte("another"+suffix), 0o600))
		b.must("put another file there", os.Rename(data+".new", data+suffix))
	}
	b.waitHealth(http.StatusServiceUnavailable)
	b.server.Stop(t)
	for _, suffix := range []string{"", "-wal"} {
		if text, err := os.ReadFile(data + suffix); err != nil || string(text) != "another"+suffix {
			t.Errorf("%s is %q, %v", data+suffix, text, err)
		}
	}
}
