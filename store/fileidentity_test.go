package store

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// logText collects a log while a test reads it.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestFiles_TakenAwayWhileIdle: the store logs the loss within a minute without a write or a request, and again every ten minutes.
func TestFiles_TakenAwayWhileIdle(t *testing.T) {
	for _, suffix := range []string{"", "-wal"} {
		t.Run("database"+suffix, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log logText
				path := filepath.Join(t.TempDir(), "a.db")
				s := mustOpen(t, path, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				time.Sleep(time.Minute)
				synctest.Wait()
				if log.String() != "" {
					t.Errorf("told of %s", &log)
				}
				if err := os.Remove(path + suffix); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), path+suffix) {
					t.Errorf("told %d times:\n%s", n, &log)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if n := strings.Count(log.String(), "level=ERROR"); n < 3 || n > 10 {
					t.Errorf("told %d times in an hour", n)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestFiles_TheFirstWriteAfterAPauseIsRefused, because the writer looks at the files first.
func TestFiles_TheFirstWriteAfterAPauseIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.db")
		s := mustOpen(t, path, Options{})
		wait(t, s, putQueue(1, "q"))
		time.Sleep(lookEvery)
		if err := os.Rename(path, path+"2"); err != nil {
			t.Fatal(err)
		}
		if err := <-begin(s, insertOp(10, 1, nil)); err == nil || s.Health() == nil {
			t.Errorf("written to a file that is not there: %v", err)
		}
		if err := os.Rename(path+"2", path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lookEvery)
		drain(s)
		wait(t, s, insertOp(10, 1, nil))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFiles_ReplacedJustBeforeTheEnd: Close does not delete a log that replaced ours. (SQLite itself notices a replaced database.)
func TestFiles_ReplacedJustBeforeTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	wait(t, s, putQueue(1, "q"))
	write(t, path+".new", []byte("another"))
	if err := os.Rename(path+".new", path+"-wal"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := string(read(t, path+"-wal")); got != "another" {
		t.Errorf("the log is %q", got)
	}
}
