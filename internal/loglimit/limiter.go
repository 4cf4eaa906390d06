package loglimit

import (
	"log/slog"
	"sync"
	"time"
)

// PerSecond is how many lines of a kind are written in a second, which begins with the first of them.
const PerSecond = 10

// The kinds of lines.
const (
	Token = "token" // about tokens that were refused, over whatever protocol
	Page  = "page"  // about requests of web pages that were refused

	Certificate = "certificate" // about clients that do not trust it
)

// Limiter counts lines by kind. Its methods may be called from any goroutine, and of a nil Limiter too, which bounds nothing.
type Limiter struct {
	log *slog.Logger

	mu     sync.Mutex
	kinds  map[string]*kind
	closed bool

	telling sync.WaitGroup // lines that are to be written; nothing is added after closed
}

// kind is what a Limiter knows of one kind of line.
type kind struct {
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
	taken, leftOut := l.count(name)
	l.tell(name, leftOut)
	return taken
}

// count is Take without the line about what was left out in a second that is over: nobody writes while holding the mutex, for a
// log that is blocked must not stop those who have nothing to write.
func (l *Limiter) count(name string) (taken bool, leftOut int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return true, 0
	}
	k := l.kinds[name]
	if k == nil {
		k = new(kind)
		l.kinds[name] = k
	}
	now := time.Now()
	if now.Sub(k.since) >= time.Second {
		leftOut = l.end(k)
		k.since, k.written = now, 0
	}
	if k.written < PerSecond {
		k.written++
		return true, leftOut
	}
	if k.leftOut++; k.timer == nil {
		k.timer = time.AfterFunc(time.Second-now.Sub(k.since), func() { l.tell(name, l.expire(k)) })
	}
	return false, leftOut
}

// expire ends the second of a kind of which no further line has come, and returns how many lines were left out in it.
func (l *Limiter) expire(k *kind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(k.since) < time.Second {
		return 0 // it has been told, and a new second has begun
	}
	return l.end(k)
}

// end stops the timer of a second that is over, and returns how many lines were left out in it. Who calls it holds the mutex, and
// tells afterwards.
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

// tell logs how many lines of a kind were left out, as end has returned it. It is called without the mutex.
func (l *Limiter) tell(name string, leftOut int) {
	if leftOut > 0 {
		defer l.telling.Done()
		l.log.Warn("dropped log lines of this kind", "kind", name, "leftOut", leftOut)
	}
}

// Close tells what has been left out so far, stops the timers and returns when all is told. A closed Limiter bounds nothing, for
// it could not tell.
func (l *Limiter) Close() {
	if l == nil {
		return
	}
	for name, leftOut := range l.shut() {
		l.tell(name, leftOut)
	}
	l.telling.Wait()
}

// shut ends the seconds of all kinds, and returns how many lines were left out in each.
func (l *Limiter) shut() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	leftOut := make(map[string]int)
	for name, k := range l.kinds {
		leftOut[name] = l.end(k)
	}
	return leftOut
}
