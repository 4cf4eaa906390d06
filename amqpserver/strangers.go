package amqpserver

import (
	"time"

	"minibus/internal/amqp"
)

// A stranger is a connection that has not shown a valid token yet, where tokens are checked. Strangers are few and get
// little: any client can open such a connection. Without a check of tokens there are none.
const (
	strangerSessions = 128      // Java begins one for each entity before its first token is put
	strangerLinks    = 32       // a pair to $cbs, and to the coordinator, which asks for no token
	strangerAssembly = 0        // bytes of unfinished deliveries beyond the largest single one
	strangerReplies  = 64 << 10 // bytes written but not sent above which no frame is read
)

// stranger reports whether the connection still has to show a token.
func (k *credentials) stranger() bool { return !k.by.IsZero() }

// bound returns the limit that counts for the connection now.
func (k *credentials) bound(limit, stranger int) int {
	if k.stranger() {
		return stranger
	}
	return limit
}

// untilKnown returns the end of a sentence about such a limit.
func (k *credentials) untilKnown() string {
	if k.stranger() {
		return ", and can't have more before a token was put to " + addressCBS
	}
	return ""
}

// introduce notes that the connection has shown a token or key.
func (k *credentials) introduce() {
	if k.stranger() {
		k.by = time.Time{}
		s := k.c.srv
		s.mu.Lock()
		defer s.mu.Unlock()
		s.removeStranger(k.c)
	}
}

// errTooManyStrangers ends the oldest stranger.
var errTooManyStrangers = amqpError{condition: amqp.CondResourceLimit,
	text: "Too many connections have shown no token yet; the oldest of them is closed. Connect again and put a token to " + addressCBS + "."}

// addStranger counts a new connection. It returns the stranger to close if there are too many: the oldest, since a client with
// a token shows it at once. The caller holds mu.
func (s *Server) addStranger(c *conn) (oldest *conn) {
	c.waiting = s.strangers.PushBack(c)
	if most := s.options.MaxStrangers; most > 0 && s.strangers.Len() > most {
		oldest = s.strangers.Front().Value.(*conn)
		s.removeStranger(oldest)
	}
	return oldest
}

// removeStranger removes a connection from the strangers, if it is one. The caller holds mu.
func (s *Server) removeStranger(c *conn) {
	if c.waiting != nil {
		s.strangers.Remove(c.waiting)
		c.waiting = nil
	}
}

// sendAway ends a stranger to make room for a newer one.
func (c *conn) sendAway() {
	c.unwanted.Store(true)
	c.box.post(eventFunc((*conn).leaveUnwanted))
	c.interrupt()
}

// leaveUnwanted is sendAway in the loop. The close is sent, but the server does not wait for the peer's.
func (c *conn) leaveUnwanted() {
	switch {
	case !c.tokens.stranger(): // it has shown a token meanwhile
	case c.state == stateWaiting:
		c.log.ended("connection", errTooManyStrangers)
		c.dead = errTooManyStrangers
	case c.state == stateOpen:
		c.close(errTooManyStrangers)
		c.state = stateClosed
	}
}
