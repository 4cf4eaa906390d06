package amqpserver

import (
	"context"
	"fmt"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// noContext is for log calls: a connection's loop has no context; it ends by an event.
var noContext = context.Background()

// fireTimer does what is due: it sends a heartbeat, and ends expired rights, silent peers and idle links. The timer
// follows the last write, so it fires at least once in a heartbeat's interval, and everything else is checked then
// (DEC-35: the real clock).
func (c *conn) fireTimer(now time.Time) {
	switch {
	case c.state >= stateLeaving && now.Before(c.closeBy):
		c.timer.Reset(c.closeBy.Sub(now))
		return
	case c.state == stateLeaving:
		c.answerClose()
		return
	case c.state != stateOpen:
		c.dead = errSocketGone // in stateWaiting the reader's own deadline has passed too
		return
	}
	c.sendDelayed(func(a *delayedAnswer) bool { return !now.Before(a.at) })
	c.checkIdle(now)
	if c.state == stateOpen {
		c.tokens.expire(now)
	}
	if c.state != stateOpen {
		return
	}
	if now.Sub(c.out.last) >= c.peer.heartbeat() {
		c.out.freeBuffers()
		c.trace.frame(traceOut, 0, nil, 0)
		if c.out.idle() { // else the write under way shows that we live, as soon as the peer reads
			c.out.buf = append(c.out.buf, frames.Heartbeat...)
		}
		c.out.last = now
	}
	c.armTimer()
}

// linger sets the timer for the wait before and after close.
func (c *conn) linger() {
	c.closeBy = time.Now().Add(closeLinger)
	c.timer.Reset(closeLinger)
}

// armTimer lets the timer fire for the next heartbeat, or at the next deadline of a token or a delayed answer if that
// comes first.
func (c *conn) armTimer() {
	wait := c.peer.heartbeat() - time.Since(c.out.last)
	for _, due := range [...]time.Time{c.tokens.nextDue(), c.delayed.due()} {
		if !due.IsZero() {
			wait = min(wait, time.Until(due))
		}
	}
	c.timer.Reset(max(wait, time.Millisecond))
}

// checkIdle ends what has been idle for too long (LOCK-19, DEC-15), by the monotonic clock: a jump of the wall clock
// ends nothing.
func (c *conn) checkIdle(now time.Time) {
	o := &c.srv.options
	reads := c.input() != nil // else it is us that the peer waits for
	if limit := 2 * o.IdleTimeout; reads && c.reader.silence(now) >= limit {
		c.close(inactive(limit))
		return
	}
	if o.LinkIdle > 0 && reads {
		for l := range c.sessions.links {
			idle := l.state == linkAttached && l.opening == nil && now.Sub(l.active) >= o.LinkIdle
			// A link to $cbs belongs to the connection, and a temporary queue lives as long as the link that made it.
			if idle && l.node.kind != nodeCBS && !l.temporary {
				l.detachIdle(o.LinkIdle)
			}
		}
	}
	limit := o.ConnectionIdle
	if !c.sessions.attached {
		limit = o.FirstLink
	}
	if c.sessions.linked == 0 && limit > 0 && now.Sub(c.sessions.linkless) >= limit {
		c.close(inactive(limit))
	}
}

// inactive returns the service's error for an unused connection.
func inactive(limit time.Duration) error {
	return connErrorf(amqp.CondForced, "The connection was inactive for more than the allowed %d milliseconds "+
		"and is closed by container 'LinkTracker'.", limit.Milliseconds())
}

// detachIdle detaches a link that had no traffic, in the service's words.
func (l *link) detachIdle(limit time.Duration) {
	client, class := "publisher", "AmqpMessagePublisher"
	if l.role == frames.RoleReceiver {
		client, class = "consumer", "AmqpMessageConsumer"
	}
	s := int(limit.Seconds())
	l.forceDetach(fmt.Sprintf("%s(link%d)", client, l.handle), fmt.Sprintf(
		"%s.IdleTimerExpired: Idle timeout: %02d:%02d:%02d.", class, s/3600, s/60%60, s%60))
}
