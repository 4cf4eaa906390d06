//go:build clocksteps && unix

package command

import (
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"minibus/emulator/clock"
)

// brokerClock is a wall clock that the soak test sets forward and back while Minibus runs, since it must not set the
// machine's. MINIBUS_CLOCK_FILE names a file with the difference to the machine's own clock, such as -8s. Minibus
// reads it at the start and at each SIGUSR1. Only builds with the tag clocksteps have it.
var brokerClock clock.Clock = &clock.System{Wall: steppedWall()}

func steppedWall() func() time.Time {
	file := os.Getenv("MINIBUS_CLOCK_FILE")
	var off atomic.Int64
	read := func() {
		text, err := os.ReadFile(file)
		if err != nil {
			return
		}
		if d, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil {
			off.Store(int64(d))
		}
	}
	read()
	steps := make(chan os.Signal, 1)
	signal.Notify(steps, syscall.SIGUSR1)
	go func() {
		for range steps {
			read()
		}
	}()
	return func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
}
