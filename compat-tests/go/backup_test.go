package compat

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"modernc.org/sqlite"

	"minibus/compat-tests/harness"
)

// backups has the ways to copy the database of a running Minibus that docs/reliability.md names.
var backups = map[string]func(ctx context.Context, from, to string) error{
	"vacuum into": func(ctx context.Context, from, to string) error {
		db, err := sql.Open("sqlite", from)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
		return err
	},
	"backup": onlineBackup, // like .backup of the sqlite3 shell
}

func onlineBackup(ctx context.Context, from, to string) error {
	db, err := sql.Open("sqlite", from)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(driver any) error {
		b, err := driver.(interface {
			NewBackup(target string) (*sqlite.Backup, error)
		}).NewBackup(to)
		if err != nil {
			return err
		}
		if _, err := b.Step(-1); err != nil { // in one step: writers do not disturb it
			return err
		}
		return b.Finish()
	})
}

// TestBackup_UnderLoadLosesNothingThatWasAnswered copies the database while messages are sent and completed. A Minibus on the copy
// has every message whose send was answered before the backup began, and none whose completion was.
func TestBackup_UnderLoadLosesNothingThatWasAnswered(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	for name, copyTo := range backups {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data, saved := filepath.Join(dir, "minibus.db"), filepath.Join(dir, "saved.db")
			config := harness.WriteConfig(t, harness.Queue{Name: queueName, LockDuration: "PT5M"}, harness.Queue{Name: "done", LockDuration: "PT5M"})
			b := startServer(t, harness.Options{Config: config, Data: data})
			load := startBackupLoad(b)
			load.waitFor(300)
			var sent, completed map[string]bool
			disturbed := false
			for try := 0; try < 50 && !disturbed; try++ { // a busy machine may make one between two sends
				_ = os.Remove(saved)
				sent, completed = load.answered()
				b.must("back up", copyTo(b.ctx, data, saved))
				now, _ := load.answered()
				disturbed = len(now) > len(sent)
			}
			load.stop()
			if !disturbed {
				t.Error("nothing was sent while a backup was made")
			}
			b.server.Kill(t)

			restored := startServer(t, harness.Options{Config: config, Data: saved})
			found := restored.bodiesOf(queueName)
			for id := range sent {
				if !found[id] {
					t.Errorf("%s was answered before the backup and is not in it", id)
				}
			}
			found = restored.bodiesOf("done")
			for id := range completed {
				if found[id] {
					t.Errorf("%s was completed before the backup and is in it", id)
				}
			}
			restored.send("after the restore")
		})
	}
}

// bodiesOf returns the bodies of all messages of a queue, and checks that each is there once.
func (b *bench) bodiesOf(queue string) map[string]bool {
	b.Helper()
	receiver, err := b.client.NewReceiverForQueue(queue, nil)
	b.must("create receiver", err)
	found := make(map[string]bool)
	for next := int64(0); ; {
		page := b.peekAll(receiver, next)
		if len(page) == 0 {
			return found
		}
		for _, m := range page {
			if found[string(m.Body)] {
				b.Errorf("%s has %s twice", queue, m.Body)
			}
			found[string(m.Body)] = true
			next = *m.SequenceNumber + 1
		}
	}
}

// backupLoad sends to one queue, and sends to and completes in another one.
type backupLoad struct {
	b      *bench
	group  sync.WaitGroup
	cancel context.CancelFunc

	mu              sync.Mutex
	sent, completed map[string]bool
}

func startBackupLoad(b *bench) *backupLoad {
	ctx, cancel := context.WithCancel(b.ctx)
	l := &backupLoad{b: b, cancel: cancel, sent: make(map[string]bool), completed: make(map[string]bool)}
	l.group.Go(func() { l.send(ctx) })
	l.group.Go(func() { l.complete(ctx) })
	return l
}

func (l *backupLoad) send(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprint("sent ", n)
		if l.b.sender.SendMessage(ctx, message(id), nil) == nil {
			l.note(l.sent, id)
		}
	}
}

func (l *backupLoad) complete(ctx context.Context) {
	sender, err := l.b.client.NewSender("done", nil)
	if err != nil {
		l.b.Error(err)
		return
	}
	receiver, err := l.b.client.NewReceiverForQueue("done", nil)
	if err != nil {
		l.b.Error(err)
		return
	}
	for n := 0; ctx.Err() == nil; n++ {
		if sender.SendMessage(ctx, message(fmt.Sprint("completed ", n)), nil) != nil {
			continue
		}
		messages, _ := receiver.ReceiveMessages(ctx, 1, nil)
		for _, m := range messages {
			if receiver.CompleteMessage(ctx, m, &azservicebus.CompleteMessageOptions{}) == nil {
				l.note(l.completed, string(m.Body))
			}
		}
	}
}

func (l *backupLoad) note(set map[string]bool, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	set[id] = true
}

// answered returns copies of what was answered so far.
func (l *backupLoad) answered() (sent, completed map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent, completed = make(map[string]bool), make(map[string]bool)
	for id := range l.sent {
		sent[id] = true
	}
	for id := range l.completed {
		completed[id] = true
	}
	return sent, completed
}

func (l *backupLoad) waitFor(count int) {
	for began := time.Now(); time.Since(began) < patience; time.Sleep(time.Millisecond) {
		if sent, completed := l.answered(); len(sent) >= count && len(completed) > 0 {
			return
		}
	}
	l.b.Fatalf("fewer than %d messages were answered in %v", count, patience)
}

func (l *backupLoad) stop() {
	l.cancel()
	l.group.Wait()
}
