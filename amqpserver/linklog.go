package amqpserver

import (
	"log/slog"
	"time"

	"minibus/internal/amqp/frames"
)

// logLink writes the one line that the log has of a link: who it was, what went through it and for how long, once it has
// ended. Links to $cbs, and those that only carry answers, say nothing of what an application does and are for debugging. Of the others
// there are only so many in a second.
func (c *conn) logLink(e endpoint) {
	l := e.base()
	level := slog.LevelInfo
	if _, answers := e.(*replies); answers || l.node.kind == nodeCBS {
		level = slog.LevelDebug
	}
	if !c.log.Enabled(noContext, level) {
		return
	}
	if !c.mayLog(level, "link") {
		return
	}
	c.log.Log(noContext, level, "link", "entity", l.node.String(), "client", clientRole(l.role), "messages", l.passed,
		"duration", c.now.Sub(l.attached).Round(time.Millisecond), "container", c.peer.containerID)
}

// clientRole says what the client does on a link.
func clientRole(r frames.Role) string {
	if r == frames.RoleSender {
		return "sends"
	}
	return "receives"
}
