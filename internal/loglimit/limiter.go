package loglimit

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// The limits on the lines of a kind in a second, which begins with the first of them.
const (
	PerSecond       = 10  // about refusals
	AccessPerSecond = 100 // about work done
)

// The kinds of lines.
const (
	Token = "token" // refused tokens, over any protocol, followed by the reason if the check of the token failed
	Page  = "page"  // refused requests of web pages

	Secret = "identity secret" // wrong identity secrets

	Certificate = "certificate" // clients that do not trust our certificate
	Silent      = "silent"      // connections dropped for newer ones before their protocol was known
)

// Limiter counts lines by kind. Its methods may be called from any goroutine. A nil Limiter limits nothing.
type Limiter struct {
	log *slog.Logger

	mu     sync.Mutex
	kinds  map[kindKey]*kind
	closed bool

	telling sync.WaitGroup // lines still to be written; nothing is added after closed
}

// kindKey names a kind: refusals and work done under the same name are two kinds.
type kindKey struct {
	name   string
	access bool
}

// most returns how many lines of the kind may be written in a second.
func (k kindKey) most() int {
	if k.access {
		return AccessPerSecond
	}
	return PerSecond
}

// level returns the level of the kind's lines, and of the line about the dropped ones.
func (k kindKey) level() slog.Level {
	if k.access {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// kind holds the counts of one kind of line.
type kind struct {
	since   time.Time // when its second began
	written int       // in this second
	leftOut int       // in this second
	timer   *time.Timer
}

// New returns a Limiter that reports dropped lines to log.
func New(log *slog.Logger) *Limiter {
	return &Limiter{log: log, kinds: make(map[kindKey]*kind)}
}

// Take reports whether one more line about a refusal may be written. name must be one of a few fixed words of the
// program, never a client's text, because the Limiter remembers each name.
func (l *Limiter) Take(name string) bool { return l == nil || l.take(kindKey{name: name}) }

// TakeAccess is Take for a line of level info about work done. It drops no line if the log shows debug lines, and
// allows none if the log does not show the level.
func (l *Limiter) TakeAccess(name string) bool {
	switch ctx := context.Background(); {
	case l == nil || l.log.Enabled(ctx, slog.LevelDebug):
		return true
	case !l.log.Enabled(ctx, slog.LevelInfo):
		return false
	}
	return l.take(kindKey{name: name, access: true})
}

func (l *Limiter) take(of kindKey) bool {
	taken, leftOut := l.count(of)
	l.tell(of, leftOut)
	return taken
}

// count is take without logging. Lines are written without the mutex: a log that
// blocks must not stop callers that have nothing to write.
func (l *Limiter) count(of kindKey) (taken bool, leftOut int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return true, 0
	}
	k := l.kinds[of]
	if k == nil {
		k = new(kind)
		l.kinds[of] = k
	}
	now := time.Now()
	if now.Sub(k.since) >= time.Second {
		leftOut = l.end(k)
		k.since, k.written = now, 0
	}
	if k.written < of.most() {
		k.written++
		return true, leftOut
	}
	if k.leftOut++; k.timer == nil {
		k.timer = time.AfterFunc(time.Second-now.Sub(k.since), func() { l.tell(of, l.expire(k)) })
	}
	return false, leftOut
}

// expire ends the second of a kind if no further line has come, and returns the number of lines dropped in it.
func (l *Limiter) expire(k *kind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(k.since) < time.Second {
		return 0 // another call has reported it, and a new second has begun
	}
	return l.end(k)
}

// end stops the timer of a second that is over, and returns the number of lines dropped in it. The caller holds the
// mutex, and calls tell afterwards.
func (l *Limiter) end(k *kind) (leftOut int) {
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
	leftOut, k.leftOut = k.leftOut, 0
	if leftOut > 0 {
		l.telling.Add(1)
	}
	return leftOut
}

// tell logs the number that end returned. It is called without the mutex.
func (l *Limiter) tell(of kindKey, leftOut int) {
	if leftOut > 0 {
		defer l.telling.Done()
		l.log.Log(context.Background(), of.level(), "dropped log lines of this kind", "kind", of.name, "leftOut",
			leftOut)
	}
}

// Close reports the lines dropped so far, stops the timers and returns when all reports are written. A closed Limiter
// limits nothing, because it could not report what it drops.
func (l *Limiter) Close() {
	if l == nil {
		return
	}
	for of, leftOut := range l.shut() {
		l.tell(of, leftOut)
	}
	l.telling.Wait()
}

// shut ends the seconds of all kinds, and returns the number of lines dropped in each.
func (l *Limiter) shut() map[kindKey]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	leftOut := make(map[kindKey]int)
	for of, k := range l.kinds {
		leftOut[of] = l.end(k)
	}
	return leftOut
}
