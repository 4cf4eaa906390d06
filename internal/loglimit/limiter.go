package loglimit

import (
	"log/slog"
	"sync"
	"time"
)

// PerSecond is how many lines of a kind are written in a second, which begins with the first of them.
const PerSecond = 10

// Token is the kind of the lines about tokens that were refused, over whatever protocol.
const Token = "token"

// Limiter counts lines by kind. Its methods may be called from any goroutine, and of a nil Limiter too, which bounds nothing.
type Limiter struct {
	log *slog.Logger

	mu     sync.Mutex
	kinds  map[string]*kind
	closed bool
}

// kind is what a Limiter knows of one kind of line.
type kind struct {
	name    string
	since   time.Time // when its second began
	written int       // in this second
	leftOut int       // in this second
	timer   *time.Timer
}

// New returns a Limiter that tells log what was left out.
func New(log *slog.Logger) *Limiter {
	return &Limiter{log: log, kinds: make(map[string]*kind)}
}

// Take reports whether one more line of a kind may be written. The kind is one of few words of the program's own, never a text
// of a client: each is remembered.
func (l *Limiter) Take(name string) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return true
	}
	k := l.kinds[name]
	if k == nil {
		k = &kind{name: name}
		l.kinds[name] = k
	}
	now := time.Now()
	if now.Sub(k.since) >= time.Second {
		l.tellLocked(k)
		k.since, k.written = now, 0
	}
	if k.written < PerSecond {
		k.written++
		return true
	}
	if k.leftOut++; k.timer == nil {
		k.timer = time.AfterFunc(time.Second-now.Sub(k.since), func() { l.tell(k) })
	}
	return false
}

// tell ends the second of a kind of which no further line has come.
func (l *Limiter) tell(k *kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(k.since) >= time.Second { // else it has been told, and a new second has begun
		l.tellLocked(k)
	}
}

// tellLocked logs how many lines of a kind were left out in the second that is over.
func (l *Limiter) tellLocked(k *kind) {
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
	if k.leftOut > 0 {
		l.log.Warn("more happened than is logged", "kind", k.name, "leftOut", k.leftOut)
		k.leftOut = 0
	}
}

// Close tells what has been left out so far and stops the timers. A closed Limiter bounds nothing, for it could not tell.
func (l *Limiter) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, k := range l.kinds {
		l.tellLocked(k)
	}
}
