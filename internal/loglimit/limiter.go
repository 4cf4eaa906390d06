package loglimit

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// How many lines of a kind are written in a second, which begins with the first of them.
const (
	PerSecond       = 10  // about what was refused
	AccessPerSecond = 100 // about what was done
)

// The kinds of lines.
const (
	Token = "token" // about tokens that were refused, over whatever protocol
	Page  = "page"  // about requests of web pages that were refused

	Certificate = "certificate" // about clients that do not trust it
	Silent      = "silent"      // about connections that were dropped for others, before they had said what they speak
)

// Limiter counts lines by kind. Its methods may be called from any goroutine, and of a nil Limiter too, which bounds nothing.
type Limiter struct {
	log *slog.Logger

	mu     sync.Mutex
	kinds  map[kindKey]*kind
	closed bool

	telling sync.WaitGroup // lines that are to be written; nothing is added after closed
}

// kindKey names a kind: refusals of a name are not of one kind with what was done under it.
type kindKey struct {
	name   string
	access bool
}

// most is how many lines of the kind are written in a second.
func (k kindKey) most() int {
	if k.access {
		return AccessPerSecond
	}
	return PerSecond
}

// level is that of the lines of the kind, and of the line about those left out.
func (k kindKey) level() slog.Level {
	if k.access {
		return slog.LevelInfo
	}
	return slog.LevelWarn
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
	return &Limiter{log: log, kinds: make(map[kindKey]*kind)}
}

// Take reports whether one more line about a refusal of a kind may be written. The kind is one of few words of the program's own, never a
// text of a client: each is remembered.
func (l *Limiter) Take(name string) bool { return l == nil || l.take(kindKey{name: name}) }

// TakeAccess is Take for a line, of level info, about something that was done. A log that shows what is for debugging shows all of them, and
// one that does not show the level is told of none.
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

// count is take without the line about what was left out in a second that is over: nobody writes while holding the mutex, for a
// log that is blocked must not stop those who have nothing to write.
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
func (l *Limiter) tell(of kindKey, leftOut int) {
	if leftOut > 0 {
		defer l.telling.Done()
		l.log.Log(context.Background(), of.level(), "dropped log lines of this kind", "kind", of.name, "leftOut", leftOut)
	}
}

// Close tells what has been left out so far, stops the timers and returns when all is told. A closed Limiter bounds nothing, for
// it could not tell.
func (l *Limiter) Close() {
	if l == nil {
		return
	}
	for of, leftOut := range l.shut() {
		l.tell(of, leftOut)
	}
	l.telling.Wait()
}

// shut ends the seconds of all kinds, and returns how many lines were left out in each.
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
