package mgmt

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// reopen simulates a restart of the process: a new broker over the same journal.
func (s *served) reopen(t *testing.T) {
	t.Helper()
	s.close()
	s.journal = s.journal.Reopen()
	s.open()
}

// TestRAD5_DEC21_StopLosesNothingOverHTTP shuts down while a message is on its way to a client. The message was removed, but the client
// did not get all of it: the next process has it again.
func TestRAD5_DEC21_StopLosesNothingOverHTTP(t *testing.T) {
	for name, hold := range map[string]func(*served){
		"the removal is being written": func(s *served) {
			s.journal.Pause()
			time.AfterFunc(10*time.Second, s.journal.Resume)
		},
		"the client does not read": func(*served) {},
	} {
		t.Run(name, func(t *testing.T) {
			overPipes(t, func(t *testing.T, s *served) {
				s.makeQueue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 1024})
				s.post("large", strings.Repeat("x", 1_000_000))
				synctest.Wait()
				hold(s)
				for _, path := range []string{"large", "q"} { // the second one waits for a message
					s.connect(t).send("DELETE /%s/messages/head HTTP/1.1\r\nHost: h\r\n\r\n", path)
				}
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := s.server.Shutdown(ctx); name == "the client does not read" && err == nil {
					t.Error("nothing was cut: the test proves nothing")
				}
				s.reopen(t)
				s.wantCounts("large", 1, 0)
			})
		})
	}
}

// TestShutdownLeavesBehindWhatNeverEnds, but not before it had some time.
func TestShutdownLeavesBehindWhatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		s := NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-never }), slog.New(slog.DiscardHandler))
		go s.Handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := s.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "a request does not end") {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Second+grace {
			t.Errorf("after %v", took)
		}
		close(never)
	})
}
