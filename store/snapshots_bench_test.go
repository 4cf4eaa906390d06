package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"minibus/emulator"
)

// TestSnapshotsOfManyMessages measures a snapshot and a restore of 1,000 messages of 1 KiB, or of MINIBUS_SNAPSHOT_MESSAGES, and for how
// long changes of that namespace and of another one wait for their commit meanwhile.
func TestSnapshotsOfManyMessages(t *testing.T) {
	n := 1000
	if number, err := strconv.Atoi(os.Getenv("MINIBUS_SNAPSHOT_MESSAGES")); err == nil {
		n = number
	}
	inFileAndMemory(t, func(t *testing.T, o Options) {
		path := filepath.Join(t.TempDir(), "a.db")
		s := mustOpen(t, path, o)
		defer func() { _ = s.Close() }()
		if err := putNamespace(s, 2, "other"); err != nil {
			t.Fatal(err)
		}
		other, _ := emulator.RowsOf(2)
		wait(t, s, putQueue(1, "q"), putQueue(other, "q"))
		fill(t, s, n, 1024)
		if err := s.Load(&countLoader{}); err != nil {
			t.Fatal(err)
		}
		row, rowOfOther := int64(2*n+10), other+10
		measured := func(what string, f func() error) {
			stop := make(chan struct{})
			var clients sync.WaitGroup
			var own, others waits
			clients.Go(func() { own.measure(s.Journal(1), 1, &row, stop) })
			clients.Go(func() { others.measure(s.Journal(2), other, &rowOfOther, stop) })
			begun := time.Now()
			err := f()
			took := time.Since(begun)
			close(stop)
			clients.Wait()
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			t.Logf("%s of %d messages: %s; commits of the namespace: %s; of another one: %s",
				what, n, took.Round(time.Millisecond), own, others)
		}
		measured("nothing", func() error { time.Sleep(time.Duration(n) * 20 * time.Microsecond); return nil })
		measured("snapshot", func() error {
			_, done := saving(s, 1, 3, 0)
			return done()
		})
		measured("copy for a restore", func() error {
			return tryNamespace(func(done emulator.Completion) { s.CopySnapshot(context.Background(), 3, 4, done) })
		})
		measured("load", func() error { return s.LoadCopy(4, &countLoader{}) })
		measured("adoption", func() error {
			return tryNamespace(func(done emulator.Completion) { s.AdoptCopy(s.journalOf(1).record, 4, done) })
		})
		t.Log(fmt.Sprint("file: ", fileSize(path)>>20, " MiB"))
	})
}

// waits are how long the commits of a client took that adds one message after another.
type waits []time.Duration

func (w *waits) measure(j emulator.Journal, queue int64, row *int64, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		done := make(chan struct{})
		*row++
		op := into(queue, insertOp(*row, *row, make([]byte, 1024)))
		begun := time.Now()
		j.Append(&emulator.Change{Ops: []emulator.Op{op}, Done: emulator.CompletionFunc(func(error) { close(done) })})
		<-done
		*w = append(*w, time.Since(begun))
	}
}

func (w waits) String() string {
	if len(w) == 0 {
		return "none"
	}
	slices.Sort(w)
	at := func(q float64) time.Duration {
		return w[min(int(q*float64(len(w))), len(w)-1)].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%d took %s at the median, %s for 99 %%, %s at most", len(w), at(0.5), at(0.99), at(1))
}
