package amqpserver

import (
	"slices"
	"time"

	"minibus/emulator"
)

// maxLate is how many delayed answers a connection keeps before it reads nothing more.
const maxLate = 10_000

// lateAnswers are the answers of a connection that an injected fault delays, in the order in which they are due. Those of a link keep their order: an answer
// waits for the delayed ones before it. A nil pointer has none. The loop owns them; the connection's timer wakes it for the first.
type lateAnswers struct {
	list []lateAnswer
	last map[*link]time.Time // when the last answer of a link is due
}

// lateAnswer is one of them.
type lateAnswer struct {
	at   time.Time
	link *link
	tell func()
}

// delayed keeps an answer back if a fault or the order of the link's answers says so. It reports whether it does; then tell is called later.
func (c *conn) delayed(l *link, fault *emulator.Fault, tell func()) bool {
	var delay time.Duration
	if fault != nil {
		delay = fault.Options().Delay
	}
	at := time.Now().Add(delay)
	if c.late != nil {
		if last := c.late.last[l]; at.Before(last) {
			at = last
		}
	}
	if c.draining || l.left || l.s.left || c.state != stateOpen || !at.After(time.Now()) {
		return false
	}
	if c.late == nil {
		c.late = &lateAnswers{last: make(map[*link]time.Time)}
	}
	i, _ := slices.BinarySearchFunc(c.late.list, at, func(a lateAnswer, at time.Time) int {
		if a.at.After(at) {
			return 1
		}
		return -1 // behind those that are due at the same time
	})
	c.late.list = slices.Insert(c.late.list, i, lateAnswer{at, l, tell})
	c.late.last[l] = at
	c.timers.arm(c.peer.heartbeat() - time.Since(c.out.last))
	return true
}

// release tells the answers that are due, or that a client does not wait for any more.
func (c *conn) release(ready func(*lateAnswer) bool) {
	if c.late == nil {
		return
	}
	var due []lateAnswer
	c.late.list = slices.DeleteFunc(c.late.list, func(a lateAnswer) bool {
		if !ready(&a) {
			return false
		}
		due = append(due, a)
		return true
	})
	left := make(map[*link]time.Time)
	for _, a := range c.late.list {
		left[a.link] = a.at
	}
	if c.late.last = left; len(left) == 0 {
		c.late = nil
	}
	for _, a := range due {
		a.tell()
	}
}

// full reports whether there are as many as there may be.
func (la *lateAnswers) full() bool { return la != nil && len(la.list) >= maxLate }

// due returns when the first answer is due; zero: there is none.
func (la *lateAnswers) due() time.Time {
	if la == nil {
		return time.Time{}
	}
	return la.list[0].at
}

// releaseDue tells the answers whose time has come.
func (c *conn) releaseDue(now time.Time) {
	c.release(func(a *lateAnswer) bool { return !now.Before(a.at) })
}

// releaseAll tells all of them, since the connection ends.
func (c *conn) releaseAll() { c.release(func(*lateAnswer) bool { return true }) }
