package amqpserver

import (
	"slices"
	"time"

	"minibus/emulator"
)

// maxDelayed is how many delayed answers a connection keeps before it reads nothing more.
const maxDelayed = 10_000

// delayedAnswers are the answers of a connection that an injected fault delays, in the order in which they are due. Those of a link keep their order: an answer
// waits for the delayed ones before it. A nil pointer has none. The loop owns them; the connection's timer wakes it for the first.
type delayedAnswers struct {
	list []delayedAnswer
	last map[*link]time.Time // when the last answer of a link is due
}

// delayedAnswer is one of them.
type delayedAnswer struct {
	at   time.Time
	link *link
	send func()
}

// delay keeps an answer back if a fault or the order of the link's answers says so. It reports whether it does; then tell is called later.
func (c *conn) delay(l *link, fault *emulator.Fault, tell func()) bool {
	var delay time.Duration
	if fault != nil {
		delay = fault.Options().Delay
	}
	at := time.Now().Add(delay)
	if c.delayed != nil {
		if last := c.delayed.last[l]; at.Before(last) {
			at = last
		}
	}
	if c.draining || l.left || l.s.left || c.state != stateOpen || !at.After(time.Now()) {
		return false
	}
	if c.delayed == nil {
		c.delayed = &delayedAnswers{last: make(map[*link]time.Time)}
	}
	i, _ := slices.BinarySearchFunc(c.delayed.list, at, func(a delayedAnswer, at time.Time) int {
		if a.at.After(at) {
			return 1
		}
		return -1 // behind those that are due at the same time
	})
	c.delayed.list = slices.Insert(c.delayed.list, i, delayedAnswer{at, l, tell})
	c.delayed.last[l] = at
	c.timers.arm(c.peer.heartbeat() - time.Since(c.out.last))
	return true
}

// sendDelayed tells the answers that are due, or that a client does not wait for any more.
func (c *conn) sendDelayed(ready func(*delayedAnswer) bool) {
	if c.delayed == nil {
		return
	}
	var due []delayedAnswer
	c.delayed.list = slices.DeleteFunc(c.delayed.list, func(a delayedAnswer) bool {
		if !ready(&a) {
			return false
		}
		due = append(due, a)
		return true
	})
	left := make(map[*link]time.Time)
	for _, a := range c.delayed.list {
		left[a.link] = a.at
	}
	if c.delayed.last = left; len(left) == 0 {
		c.delayed = nil
	}
	for _, a := range due {
		a.send()
	}
}

// full reports whether there are as many as there may be.
func (la *delayedAnswers) full() bool { return la != nil && len(la.list) >= maxDelayed }

// due returns when the first answer is due; zero: there is none.
func (la *delayedAnswers) due() time.Time {
	if la == nil {
		return time.Time{}
	}
	return la.list[0].at
}

// sendDue tells the answers whose time has come.
func (c *conn) sendDue(now time.Time) {
	c.sendDelayed(func(a *delayedAnswer) bool { return !now.Before(a.at) })
}

// sendAllDelayed tells all of them, since the connection ends.
func (c *conn) sendAllDelayed() { c.sendDelayed(func(*delayedAnswer) bool { return true }) }
