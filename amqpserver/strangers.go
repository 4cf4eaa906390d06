package amqpserver

import (
	"time"

	"minibus/internal/amqp"
)

// A stranger is a connection that has not shown a valid token yet, where tokens are checked. Strangers are few and get
// little: any client can open such a connection. Without a check of tokens there are none.
const (
	unauthenticatedSessions = 128      // Java begins one for each entity before its first token is put
	unauthenticatedLinks    = 32       // a pair to $cbs, and to the coordinator, which asks for no token
	unauthenticatedAssembly = 0        // bytes of unfinished deliveries beyond the largest single one
	unauthenticatedReplies  = 64 << 10 // bytes written but not sent above which no frame is read
)

// unauthenticated reports whether the connection still has to show a token.
func (k *credentials) unauthenticated() bool { return !k.by.IsZero() }

// limit returns the limit that counts for the connection now.
func (k *credentials) limit(limit, stranger int) int {
	if k.unauthenticated() {
		return stranger
	}
	return limit
}

// limitReason returns the end of a sentence about such a limit.
func (k *credentials) limitReason() string {
	if k.unauthenticated() {
		return ", and can't have more before a token was put to " + addressCBS
	}
	return ""
}

// markAuthenticated notes that the connection has shown a token or key.
func (k *credentials) markAuthenticated() {
	if k.unauthenticated() {
		k.by = time.Time{}
		s := k.c.srv
		s.mu.Lock()
		defer s.mu.Unlock()
		s.removeUnauthenticated(k.c)
	}
}

// errTooManyUnauthenticated ends the oldest stranger.
var errTooManyUnauthenticated = amqpError{condition: amqp.CondResourceLimit,
	text: "Too many connections have shown no token yet; the oldest of them is closed. Connect again and put a token to " + addressCBS + "."}

// addUnauthenticated counts a new connection. It returns the stranger to close if there are too many: the oldest, since a client with
// a token shows it at once. The caller holds mu.
func (s *Server) addUnauthenticated(c *conn) (oldest *conn) {
	c.unauthenticatedElement = s.unauthenticated.PushBack(c)
	if most := s.options.MaxUnauthenticated; most > 0 && s.unauthenticated.Len() > most {
		oldest = s.unauthenticated.Front().Value.(*conn)
		s.removeUnauthenticated(oldest)
	}
	return oldest
}

// removeUnauthenticated removes a connection from the strangers, if it is one. The caller holds mu.
func (s *Server) removeUnauthenticated(c *conn) {
	if c.unauthenticatedElement != nil {
		s.unauthenticated.Remove(c.unauthenticatedElement)
		c.unauthenticatedElement = nil
	}
}

// evict ends a stranger to make room for a newer one.
func (c *conn) evict() {
	c.evicted.Store(true)
	c.mailbox.post(eventFunc((*conn).closeEvicted))
	c.interrupt()
}

// closeEvicted is sendAway in the loop. The close is sent, but the server does not wait for the peer's.
func (c *conn) closeEvicted() {
	switch {
	case !c.tokens.unauthenticated(): // it has shown a token meanwhile
	case c.state == stateWaiting:
		c.log.ended("connection", errTooManyUnauthenticated)
		c.dead = errTooManyUnauthenticated
	case c.state == stateOpen:
		c.close(errTooManyUnauthenticated)
		c.state = stateClosed
	}
}
