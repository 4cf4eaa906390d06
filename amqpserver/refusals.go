package amqpserver

import (
	"log/slog"
	"time"
)

// maxRefusals is how many refused operations a connection logs in a second.
const maxRefusals = 10

// refusals bounds what a connection logs of refused operations. It belongs to the loop.
type refusals struct {
	since   time.Time // when the second began
	logged  int       // in this second
	skipped int       // lines left out and not told yet
}

// take reports whether one more refusal is to be logged.
func (r *refusals) take(now time.Time, log *slog.Logger) bool {
	if now.Sub(r.since) >= time.Second {
		r.tell(now, log)
		r.since, r.logged = now, 0
	}
	if r.logged >= maxRefusals {
		r.skipped++
		return false
	}
	r.logged++
	return true
}

// tell logs how many lines were left out, if that was in a second that is over.
func (r *refusals) tell(now time.Time, log *slog.Logger) {
	if r.skipped > 0 && now.Sub(r.since) >= time.Second {
		log.Warn("more operations were refused than are logged", "leftOut", r.skipped)
		r.skipped = 0
	}
}
