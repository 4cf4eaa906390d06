package amqpserver

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/internal/loglimit"
)

// TestLog_OurOwnErrorsAreNeverLeftOut proves it after many refusals of the same operation.
func TestLog_OurOwnErrorsAreNeverLeftOut(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	limiter := loglimit.New(log)
	defer limiter.Close()
	c := connLog{log, limiter}
	for range loglimit.PerSecond + 10 {
		c.refusedErr("send", "q", &emulator.Error{Code: emulator.CodeMessageTooLarge, Text: "too large"})
	}
	for range loglimit.PerSecond + 1 {
		c.refusedErr("send", "q", errors.New("disk on fire"))
	}
	if n := strings.Count(out.String(), "too large"); n != loglimit.PerSecond {
		t.Errorf("%d refusals are logged, want %d", n, loglimit.PerSecond)
	}
	if n := strings.Count(out.String(), "level=ERROR"); n != loglimit.PerSecond+1 {
		t.Errorf("%d errors are logged, want all:\n%s", n, out.String())
	}
}
