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

// handleTimer does what is due: it sends a heartbeat, and ends expired rights, silent peers and idle links. The timer follows the last
// write, so it fires at least once in a heartbeat's interval, and everything else is checked then (DEC-35: the real
// clock).
func (c *conn) handleTimer(now time.Time) {
	switch {
	case c.state == stateLeaving:
		if now.Before(c.closeBy) {
			c.timer.Reset(c.closeBy.Sub(now))
			return
		}
		c.answerClose()
		return
	case c.state == stateClosing || c.state == stateClosed:
		if now.Before(c.closeBy) {
			c.timer.Reset(c.closeBy.Sub(now))
			return
		}
		c.dead = errSocketGone
		return
	case c.state == stateWaiting:
		c.dead = errSocketGone // the reader's own deadline has passed too
		return
	}
	c.checkIdle(now)
	if c.state == stateOpen {
		c.checkTokens(now)
	}
	if c.state != stateOpen {
		return
	}
	interval := c.peer.heartbeat()
	if silent := now.Sub(c.out.last); silent >= interval {
		c.out.rest()
		if c.srv.trace != nil {
			c.srv.trace.frame(c.id, traceOut, 0, nil, 0)
		}
		if c.out.idle() { // else the write under way shows that we live, as soon as the peer reads
			c.out.buf = append(c.out.buf, frames.Heartbeat...)
		}
		c.out.last = now
	}
	c.arm(interval - now.Sub(c.out.last))
}

// linger sets the timer for the wait before and after close.
func (c *conn) linger() {
	c.closeBy = time.Now().Add(closeLinger)
	c.timer.Reset(closeLinger)
}

// checkIdle ends what has been idle for too long (LOCK-19, DEC-15), by the monotonic clock: a jump of the wall clock ends nothing.
func (c *conn) checkIdle(now time.Time) {
	o := &c.srv.options
	if limit := 2 * o.IdleTimeout; c.input() != nil && now.Sub(c.begun)-time.Duration(c.lastRead.Load()) >= limit {
		c.close(inactive(limit))
		return
	}
	if o.LinkIdle > 0 {
		for _, s := range c.sessions {
			s.detachIdle(now, o.LinkIdle)
		}
	}
	limit := o.ConnectionIdle
	if !c.everLinked {
		limit = o.FirstLink
	}
	if c.links == 0 && limit > 0 && now.Sub(c.linkless) >= limit {
		c.close(inactive(limit))
	}
}

// inactive returns the service's error for an unused connection.
func inactive(limit time.Duration) error {
	return connErrorf(amqp.CondForced,
		"The connection was inactive for more than the allowed %d milliseconds and is closed by container 'LinkTracker'.",
		limit.Milliseconds())
}

// detachIdle detaches the links of a session that had no traffic, except those to $cbs: they belong to the connection.
func (s *session) detachIdle(now time.Time, limit time.Duration) {
	for _, e := range s.links {
		l := e.base()
		if l.state != linkAttached || l.opening != nil || l.node.kind == nodeCBS || now.Sub(l.active) < limit {
			continue
		}
		s.detach(e, fault{condition: amqp.CondDetachForced, entity: l.entity(), text: l.idleText(limit)})
	}
}

// idleText imitates the service's words; users search for them.
func (l *link) idleText(limit time.Duration) string {
	who, class := "publisher", "AmqpMessagePublisher"
	if l.role == frames.RoleReceiver {
		who, class = "consumer", "AmqpMessageConsumer"
	}
	return fmt.Sprintf("The link '%s' is force detached. Code: %s(link%d). Details: %s.IdleTimerExpired: Idle timeout: %s.",
		l.name, who, l.handle, class, clockText(limit))
}

// clockText writes a duration as hh:mm:ss.
func clockText(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}
