package emulator

import "time"

// Clock is the broker's time (DEC-35): locks, schedules, time to live and idle deletion follow it. What belongs to
// the network (heartbeats, idle links) follows the real clock instead. A clock never goes back: numbers, enqueued times,
// locks and histories rely on that.
type Clock interface {
	// Now returns the current instant.
	Now() time.Time
	// At calls f on its own goroutine once the clock has reached t.
	At(t time.Time, f func()) Timer
}

// Timer is one pending call of a [Clock].
type Timer interface {
	// Stop prevents the call if it has not begun; it does not wait for one that has.
	Stop() bool
}

// millis is the resolution of all instants in the broker (TIME-7).
func millis(t time.Time) int64 { return t.UnixMilli() }

// instant is the inverse of millis.
func instant(ms int64) time.Time { return time.UnixMilli(ms) }
