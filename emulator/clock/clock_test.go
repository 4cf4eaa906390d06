package clock_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator/clock"
)

// TestDEC35_NoReaderSeesAClockGoBack while others freeze, advance and resume it, nor go on while it is frozen.
func TestDEC35_NoReaderSeesAClockGoBack(t *testing.T) {
	const rounds = 300
	var c clock.System
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for last := c.Now(); ; {
				now := c.Now()
				if now.Before(last) {
					t.Errorf("the clock went back by %v", last.Sub(now))
					return
				}
				last = now
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	start := time.Now()
	for range rounds {
		c.Freeze()
		at := c.Now()
		c.Advance(time.Minute, nil, func() {})
		if now := c.Now(); !now.Equal(at.Add(time.Minute)) {
			t.Fatalf("frozen at %v and advanced by a minute it shows %v", at, now)
		}
		c.Resume()
	}
	ahead, passed := c.Ahead(), time.Since(start)
	close(done)
	readers.Wait()
	if ahead > rounds*time.Minute+time.Second || ahead < rounds*time.Minute-passed-time.Second {
		t.Errorf("it is %v ahead after %d minutes and %v", ahead, rounds, passed)
	}
}

// TestDEC35_AJumpIsToldOnce, although the clock of every namespace sees it.
func TestDEC35_AJumpIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		tell := clock.LogJumps(slog.New(slog.NewTextHandler(&log, nil)))
		tell(time.Hour)
		time.Sleep(2 * time.Second)
		tell(time.Hour)
		if got := log.String(); strings.Count(got, "level=") != 1 || !strings.Contains(got, "by=1h0m0s") {
			t.Errorf("of one jump the log says %q", got)
		}
		log.Reset()
		time.Sleep(2 * time.Second)
		tell(-time.Minute)
		if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "by=1m0s") {
			t.Errorf("of the next jump the log says %q", got)
		}
	})
}
