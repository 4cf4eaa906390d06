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

// TestSnapshotsOfManyMessages measures a snapshot and a restore of MINIBUS_SNAPSHOT_MESSAGES messages of 1 KiB, and for how long changes of another
// namespace wait for their commit meanwhile.
func TestSnapshotsOfManyMessages(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("MINIBUS_SNAPSHOT_MESSAGES"))
	if err != nil {
		t.Skip("MINIBUS_SNAPSHOT_MESSAGES is not set")
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
		var longest atomicMax
		measured := func(what string, f func() error) {
			stop, log := make(chan struct{}), int64(0)
			var all sync.WaitGroup
			var times []time.Duration
			all.Go(func() {
				for i := int64(1); ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					begun := time.Now()
					<-begin(s, into(other, insertOp(other+longest.next(), i, make([]byte, 1024))))
					times = append(times, time.Since(begun))
					log = max(log, s.writer.disk.logSize())
					time.Sleep(time.Millisecond)
				}
			})
			begun := time.Now()
			err := f()
			took := time.Since(begun)
			close(stop)
			all.Wait()
			slices.Sort(times)
			at := func(q float64) time.Duration {
				return times[min(int(q*float64(len(times))), len(times)-1)].Round(10 * time.Microsecond)
			}
			t.Logf("%s of %d messages: %s, error %v; %d commits of another namespace meanwhile took %s at the median, %s for 99 %%, %s at most; log up to %d MiB",
				what, n, took.Round(time.Millisecond), err, len(times), at(0.5), at(0.99), at(1), log>>20)
		}
		measured("nothing", func() error { time.Sleep(2 * time.Second); return nil })
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

// atomicMax counts.
type atomicMax struct{ n int64 }

func (a *atomicMax) next() int64 { a.n++; return a.n }
