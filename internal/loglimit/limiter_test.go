package loglimit_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"minibus/internal/loglimit"
)

// notes records what a Limiter reported, and when.
type notes struct {
	mu    sync.Mutex
	lines []string
}

// Write implements io.Writer.
func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, strings.TrimPrefix(string(bytes.TrimSpace(b)), "level=WARN msg=\"dropped log lines of this kind\" "))
	return len(b), nil
}

func (n *notes) want(t *testing.T, lines ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if fmt.Sprint(n.lines) != fmt.Sprint(lines) {
		t.Errorf("told %q, want %q", n.lines, lines)
	}
	n.lines = nil
}

// limited runs a test in a bubble; take asks n times at once for a kind and returns how many lines were allowed.
func limited(t *testing.T, f func(l *loglimit.Limiter, told *notes, take func(kind string, n int) int)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		told := new(notes)
		l := loglimit.New(slog.New(slog.NewTextHandler(told, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})))
		f(l, told, func(kind string, n int) (got int) {
			for range n {
				if l.Take(kind) {
					got++
				}
			}
			return got
		})
	})
}

func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func equal(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

func TestTenLinesASecond(t *testing.T) {
	limited(t, func(_ *loglimit.Limiter, told *notes, take func(string, int) int) {
		equal(t, "at once", take("token", 50), 10)
		wait(999 * time.Millisecond)
		equal(t, "before the second is over", take("token", 5), 0)
		told.want(t)
		wait(time.Millisecond)
		told.want(t, "kind=token leftOut=45")
		equal(t, "in the next second", take("token", 11), 10)
		wait(time.Hour)
		told.want(t, "kind=token leftOut=1")
		equal(t, "much later", take("token", 10), 10)
		wait(time.Hour)
		told.want(t)
	})
}

func TestKindsAreCountedOnTheirOwn(t *testing.T) {
	limited(t, func(_ *loglimit.Limiter, told *notes, take func(string, int) int) {
		equal(t, "the first kind", take("a", 12), 10)
		wait(time.Millisecond)
		equal(t, "the second kind", take("b", 13), 10)
		wait(time.Second)
		told.want(t, "kind=a leftOut=2", "kind=b leftOut=3")
	})
}

// TestLinesOfAccessHaveMoreRoom, and do not count as refusals of the same name; the report about dropped ones has their own level.
func TestLinesOfAccessHaveMoreRoom(t *testing.T) {
	limited(t, func(l *loglimit.Limiter, told *notes, take func(string, int) int) {
		access := 0
		for range 150 {
			if l.TakeAccess("a") {
				access++
			}
		}
		equal(t, "of what was done", access, 100)
		equal(t, "of refusals", take("a", 12), 10)
		wait(time.Second)
		sort.Strings(told.lines)
		told.want(t, "kind=a leftOut=2", `level=INFO msg="dropped log lines of this kind" kind=a leftOut=50`)
	})
}

// TestLinesOfAccessFollowTheLevelOfTheLog: a debug log has all of them, and a log without their level counts none.
func TestLinesOfAccessFollowTheLevelOfTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for level, want := range map[slog.Level]int{slog.LevelDebug: 150, slog.LevelInfo: 100, slog.LevelWarn: 0} {
			told, got := new(notes), 0
			l := loglimit.New(slog.New(slog.NewTextHandler(told, &slog.HandlerOptions{Level: level})))
			for range 150 {
				if l.TakeAccess("a") {
					got++
				}
			}
			l.Close()
			equal(t, level.String(), got, want)
			equal(t, "notes of those left out", len(told.lines), map[bool]int{true: 1}[level == slog.LevelInfo])
		}
	})
}

func TestASteadyFlood(t *testing.T) {
	limited(t, func(_ *loglimit.Limiter, told *notes, take func(string, int) int) {
		lines := 0
		for range 10_000 {
			lines += take("a", 1)
			time.Sleep(time.Millisecond)
		}
		wait(time.Second)
		equal(t, "lines in ten seconds", lines, 100)
		var all []string
		for range 10 {
			all = append(all, "kind=a leftOut=990")
		}
		told.want(t, all...)
	})
}

func TestCloseTellsTheRest(t *testing.T) {
	limited(t, func(l *loglimit.Limiter, told *notes, take func(string, int) int) {
		take("a", 11)
		l.Close()
		told.want(t, "kind=a leftOut=1")
		equal(t, "after the end", take("a", 20), 20)
		l.Close()
		wait(time.Hour)
		told.want(t)
	})
}

// gate is a log whose writes wait until it is opened.
type gate struct {
	notes
	opened chan struct{}
}

// Write implements io.Writer.
func (g *gate) Write(b []byte) (int, error) {
	<-g.opened
	return g.notes.Write(b)
}

// TestALogThatIsBlockedStopsNobodyElse: other callers go on, and Close waits until the log has taken everything.
func TestALogThatIsBlockedStopsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &gate{opened: make(chan struct{})}
		l := loglimit.New(slog.New(slog.NewTextHandler(log, nil)))
		for range loglimit.PerSecond + 1 {
			l.Take("a")
		}
		wait(time.Second)
		asked, closed := false, false
		go func() { l.Take("a"); l.Take("b"); asked = true }()
		synctest.Wait()
		if !asked {
			t.Error("who asks waits for the log")
		}
		go func() { l.Close(); closed = true }()
		synctest.Wait()
		if closed {
			t.Error("closed before all is told")
		}
		close(log.opened)
		synctest.Wait()
		if !closed || len(log.lines) != 1 || !strings.HasSuffix(log.lines[0], "kind=a leftOut=1") {
			t.Errorf("closed %v, told %q", closed, log.lines)
		}
	})
}

func TestNoLimiterBoundsNothing(t *testing.T) {
	var l *loglimit.Limiter
	for range 100 {
		if !l.Take("a") || !l.TakeAccess("a") {
			t.Fatal("a line was left out")
		}
	}
	l.Close()
}

// TestLimiterIsShared between goroutines.
func TestLimiterIsShared(t *testing.T) {
	limited(t, func(l *loglimit.Limiter, told *notes, _ func(string, int) int) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { l.Take("a") })
		}
		all.Wait()
		wait(time.Second)
		told.want(t, "kind=a leftOut=10")
	})
}
