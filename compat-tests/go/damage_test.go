package compat

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestDamagedBodyIsNotDelivered turns one bit of a stored message: who receives gets the others, the dead-letter queue has what
// is left of it, and the log says which it is.
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
