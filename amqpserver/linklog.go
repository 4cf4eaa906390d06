package amqpserver

import (
	"log/slog"
	"time"

	"minibus/internal/amqp/frames"
)

// log writes the one line about the link when it ends: the client, the number of messages, and how long the link
// lasted. Links to $cbs, and those that only carry replies, say nothing about what an application does and are logged for debugging. The
// other lines are rate-limited.
func (l *link) log() {
	c := l.s.c
	level := slog.LevelInfo
	if _, answers := l.self.(*replyLink); answers || l.node.kind == nodeCBS {
		level = slog.LevelDebug
	}
	if !c.log.Enabled(noContext, level) || !c.log.may(level, "link") {
		return
	}
	c.log.Log(noContext, level, "link", "entity", l.node.String(), "client", clientRole(l.role), "messages", l.passed,
		"duration", c.now.Sub(l.attached).Round(time.Millisecond), "container", c.peer.containerID)
}

func clientRole(r frames.Role) string {
	if r == frames.RoleSender {
		return "sends"
	}
	return "receives"
}
