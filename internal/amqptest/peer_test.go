package amqptest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/internal/amqp/frames"
)

// failure is what a test is told when it fails.
type failure string

// failing is a test whose Fatalf panics with a failure.
type failing struct{ testing.TB }

func (f failing) Fatal(args ...any)                 { panic(failure(fmt.Sprint(args...))) }
func (f failing) Fatalf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// Heartbeats don't prolong a wait: it would last until the server closes an idle connection, and that would pass for an
// answer.
func TestPeer_WaitsForAMomentOnly(t *testing.T) {
	for name, c := range map[string]struct {
		want  func(p *Peer)
		waits time.Duration
		fails string // "": not at all
	}{
		"frame":            {func(p *Peer) { Want[*frames.Close](p) }, time.Second / 2, "timeout"},
		"end":              {func(p *Peer) { p.WantEOF() }, time.Second / 2, "still open"},
		"too short a wait": {func(p *Peer) { Want[*frames.Close](p.Within(time.Minute - 1)) }, time.Minute - 1, "timeout"},
		"longer wait":      {func(p *Peer) { Want[*frames.Close](p.Within(time.Hour)) }, time.Minute, ""},
		"one longer wait": {func(p *Peer) {
			p.Within(time.Hour).Next()
			p.WantSilence(9 * time.Second / 10)
			p.Next()
			Want[*frames.Close](p)
		}, 2*time.Second + time.Second/2, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := Pipe()
				begin := time.Now()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for range 60 {
						time.Sleep(time.Second)
						_, _ = server.Write(frames.Heartbeat)
					}
					b, start := frames.BeginFrame(nil, frames.TypeAMQP, 0)
					_, _ = server.Write(frames.EndFrame((&frames.Close{}).AppendTo(b), start))
				}()
				p := NewPeer(failing{t}, client)
				defer func() {
					failed, _ := recover().(failure)
					if got := string(failed); (got == "") != (c.fails == "") || !strings.Contains(got, c.fails) {
						t.Errorf("failed with %q, want %q", got, c.fails)
					}
					if got := time.Since(begin); got != c.waits {
						t.Errorf("waited for %v, want %v", got, c.waits)
					}
					<-ended
				}()
				c.want(p)
			})
		})
	}
}
