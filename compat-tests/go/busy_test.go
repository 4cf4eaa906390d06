package compat

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite" // in place of the sqlite3 shell

	"minibus/compat-tests/harness"
)

// TestShellInATransactionLosesNothing holds the write lock of the database for longer than SQLite waits by itself, as an sqlite3
// shell does between BEGIN and COMMIT. Sends and settlements meanwhile are answered after the commit, and the answers are true.
func TestShellInATransactionLosesNothing(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	const n = 10
	data := filepath.Join(t.TempDir(), "minibus.db")
	b := startServer(t, harness.Options{Config: harness.WriteConfig(t, harness.Queue{Name: queueName, LockDuration: "PT5M"}), Data: data})
	for i := range 2 * n {
		b.send(fmt.Sprint("before ", i))
	}
	locked := b.receive(b.receiver, 2*n)

	db, err := sql.Open("sqlite", data)
	b.must("open the database", err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN IMMEDIATE")
	b.must("take the write lock", err)
	answers := make(chan error, 2*n)
	for i := range n {
		go func() { answers <- b.sender.SendMessage(b.ctx, message(fmt.Sprint("meanwhile ", i)), nil) }()
		go func() { answers <- b.receiver.CompleteMessage(b.ctx, locked[i], nil) }()
	}
	select {
	case err := <-answers:
		t.Errorf("answered with %v while nothing could be written", err)
		answers <- err
	case <-time.After(7 * time.Second):
	}
	_, err = db.Exec("COMMIT")
	b.must("let go of the lock", err)
	for range 2 * n {
		b.must("send or complete", <-answers)
	}

	for _, m := range locked[n:] {
		b.must("abandon", b.receiver.AbandonMessage(b.ctx, m, nil))
	}
	there := map[string]int{}
	for _, m := range b.peekAll(b.receiver, 0) {
		there[string(m.Body)]++
	}
	want := map[string]int{}
	for i := range n {
		want[string(locked[n+i].Body)]++
		want[fmt.Sprint("meanwhile ", i)]++
	}
	if fmt.Sprint(there) != fmt.Sprint(want) {
		t.Errorf("there is %v, want %v", there, want)
	}
}
