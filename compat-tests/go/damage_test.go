package compat

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestDamagedBodyIsNotDelivered flips one bit of a stored message: receivers get the others, the dead-letter queue has what
// is left of it, and the log names it.
func TestDamagedBodyIsNotDelivered(t *testing.T) {
	b, data := startOnDisk(t)
	b.send("the first", "the second", "the third")
	b.server.Stop(t)
	file, err := os.ReadFile(data)
	b.must("read the database", err)
	at := bytes.LastIndex(file, []byte("the second"))
	if at < 0 {
		t.Fatal("the message is not in the file")
	}
	file[at] ^= 1
	b.must("damage the database", os.WriteFile(data, file, 0o600))

	b = connectBench(t, harness.Start(t, b.server.Options()))
	for i, m := range b.receive(b.receiver, 2) {
		if want := []string{"the first", "the third"}[i]; string(m.Body) != want {
			t.Errorf("received %q, want %q", m.Body, want)
		}
	}
	dead := b.receiveOne(b.deadLetters())
	b.wantText("reason", dead.DeadLetterReason, "BodyDamaged")
	if !strings.Contains(string(dead.Body), "uhe second") {
		t.Errorf("what is left is %q", dead.Body)
	}
	b.wantEmpty(b.receiver)
	if log := b.server.Log(); !strings.Contains(log, "damaged on disk") || !strings.Contains(log, "sequenceNumber=2") {
		t.Error("the log does not say so")
	}
}

// TestLogThatIsGoneAfterAKillIsTold kills the server, and removes or overwrites its log, or empties the database: the
// server says so at the next start. After a stop in order there is no log, and nothing is said.
func TestLogThatIsGoneAfterAKillIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(data string) error
		told   string
	}{
		"removed":           {func(data string) error { return os.Remove(data + "-wal") }, "log is missing"},
		"garbage":           {func(data string) error { return os.WriteFile(data+"-wal", make([]byte, 99_999), 0o600) }, "beyond recognition"},
		"an empty database": {func(data string) error { return os.Truncate(data, 0) }, "database is missing or empty"},
	} {
		t.Run(name, func(t *testing.T) {
			b, data := startOnDisk(t)
			b.send("one")
			b.server.Stop(t)
			b = connectBench(t, harness.Start(t, b.server.Options()))
			if log := b.server.Log(); strings.Contains(log, "level=WARN") && strings.Contains(log, data+"-wal") {
				t.Errorf("after a stop in order: %s", log)
			}
			b.send("two")
			b.server.Kill(t)
			b.must("damage the files", c.damage(data))
			b = connectBench(t, harness.Start(t, b.server.Options()))
			if log := b.server.Log(); !strings.Contains(log, c.told) {
				t.Errorf("the log does not say so: %s", log)
			}
			b.send("three")
		})
	}
}

// TestDamagedLogKeepsWhatIsBefore kills the server, flips a bit in the middle of its write-ahead log, and starts it
// again: the rest of the log is lost, and what was before is there.
func TestDamagedLogKeepsWhatIsBefore(t *testing.T) {
	const n = 20
	b, data := startOnDisk(t)
	for i := range n {
		b.send(fmt.Sprint("message ", i))
	}
	b.server.Kill(t)
	b = connectBench(t, harness.Start(t, b.server.Options()))
	if got := len(b.peekAll(b.receiver, 0)); got != n {
		t.Fatalf("after kill -9 %d messages are there", got)
	}
	b.server.Kill(t)
	wal, err := os.ReadFile(data + "-wal")
	b.must("read the log", err)
	at := bytes.Index(wal, []byte("message 10"))
	if at < 0 {
		t.Fatal("the message is not in the log")
	}
	wal[at] ^= 1
	b.must("damage the log", os.WriteFile(data+"-wal", wal, 0o600))

	b = connectBench(t, harness.Start(t, b.server.Options()))
	if got := len(b.peekAll(b.receiver, 0)); got != 10 {
		t.Errorf("%d messages are there, want those before the damage", got)
	}
}
