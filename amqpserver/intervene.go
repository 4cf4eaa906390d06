package amqpserver

import (
	"fmt"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// CloseConnection closes a connection of a namespace from this side, with amqp:connection:forced, which the service sends before it restarts: every
// SDK connects again. A connection whose loop does not answer is cut. It fails with CodeNotFound if there is no such connection.
func (s *Server) CloseConnection(ns *emulator.Namespace, id string) error {
	c, err := s.find(ns, id)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	posted := c.mailbox.post(eventFunc(func(c *conn) {
		if c.state == stateOpen {
			c.close(connErrorf(amqp.CondForced, "The connection was closed through the control API of Minibus; connect again."))
		}
		close(done)
	}))
	if posted && !within(done) {
		_ = c.nc.Close()
	}
	return nil
}

// DetachLink detaches a link of a connection with amqp:link:detach-forced, as the service does with links that are idle and after changes of an entity:
// the receivers and senders of every SDK attach again (amqp-data-plane 4.6). It fails with CodeNotFound if there is no such link, and with
// CodeServerBusy if the connection's loop does not answer; then the link is detached when it does.
func (s *Server) DetachLink(ns *emulator.Namespace, id string, number int64) error {
	c, err := s.find(ns, id)
	if err != nil {
		return err
	}
	done, found := make(chan struct{}), false
	posted := c.mailbox.post(eventFunc(func(c *conn) {
		defer close(done)
		for e := range c.sessions.links {
			if l := e.base(); l.number == number && !l.released {
				found = true
				l.detach(amqpError{condition: amqp.CondDetachForced, entity: l.entity(),
					text: fmt.Sprintf("The link '%s' is force detached. Code: ControlApi. Details: it was detached through the control API of Minibus; attach again.", l.name)})
				return
			}
		}
	}))
	inTime := posted && within(done)
	switch {
	case !inTime && c.inspection.over():
		return noConnection(id)
	case !inTime:
		return &emulator.Error{Code: emulator.CodeServerBusy,
			Text: fmt.Sprintf("The connection '%s' does not answer; the link is detached when it does. Close the connection to cut it.", id)}
	case !found:
		return &emulator.Error{Code: emulator.CodeNotFound,
			Text: fmt.Sprintf("The connection '%s' has no link %d. List the connection to see its links.", id, number)}
	}
	return nil
}

// find returns an open connection.
func (s *Server) find(ns *emulator.Namespace, id string) (*conn, error) {
	for _, c := range s.openConns() {
		if known := c.inspection.known.Load(); c.id == id && known != nil && known.Namespace == ns {
			return c, nil
		}
	}
	return nil, noConnection(id)
}

func noConnection(id string) error {
	return &emulator.Error{Code: emulator.CodeNotFound, Text: fmt.Sprintf("There is no open connection '%s' in the namespace. List the connections to see which there are.", id)}
}

// within waits for a loop, and reports whether it has answered in time.
func within(done <-chan struct{}) bool {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
