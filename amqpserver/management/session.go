package management

import (
	"bytes"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// sessionKey names the session that a request is about.
const sessionKey = "session-id"

// session finds the consumer of this connection for a request about a session: the consumer that
// holds the session-id, or without an id that of the associated link (DEC-19). Go never sends the id, and .NET leaves an
// empty one out. named reports whether the request has an id; the empty string is one (SESS-34). A session that is named
// but not held here is lost (SESS-14, DEF-13). Without an id holder may be nil, without an error.
func (c *call) session(a args) (holder *emulator.Consumer, named bool, err error) {
	id, named, err := a.text(sessionKey)
	if err != nil {
		return nil, named, err
	}
	if !named {
		return c.linkHolder(), false, nil
	}
	if c.Holder != nil {
		holder = c.Holder(id)
	}
	if holder == nil {
		return nil, true, emulator.SessionLockLost(c.Queue.Path())
	}
	return holder, true, nil
}

func (c *call) linkHolder() *emulator.Consumer {
	if c.link == "" || c.LinkHolder == nil {
		return nil
	}
	return c.LinkHolder(c.link)
}

// hasSessions reports whether messages of the node belong to sessions; otherwise a session-id has no meaning (SESS-4,
// DLQ-6).
func (c *call) hasSessions() bool { return c.Sub == emulator.Main && c.Queue.Options().RequiresSession }

// holder is session for operations that every entity has; it returns nil if there are no sessions.
func (c *call) holder(a args) (*emulator.Consumer, error) {
	if !c.hasSessions() {
		return nil, nil
	}
	holder, _, err := c.session(a)
	return holder, err
}

// mustHold is session for operations on a session itself; it fails if the connection holds none.
func (c *call) mustHold(a args) (*emulator.Consumer, error) {
	if err := c.refuseSubQueue("sessions"); err != nil {
		return nil, err
	}
	holder, _, err := c.session(a)
	if err == nil && holder == nil {
		return nil, wrong(sessionKey, nil, "a string")
	}
	return holder, err
}

// renewSessionLock serves renew-session-lock: it locks the session for a whole lock duration from now (SESS-13).
func renewSessionLock(c *call, a args) {
	holder, err := c.mustHold(a)
	if err != nil {
		c.fail(err)
		return
	}
	c.Fault.TakeSession(holder)
	until, err := holder.RenewSession()
	if err != nil {
		c.fail(err)
		return
	}
	c.ok(32, func(dst []byte) []byte {
		return appendField(dst, "expiration", func(dst []byte) []byte {
			return amqp.AppendTimestamp(dst, amqp.Timestamp(until))
		})
	})
}

// getSessionState serves get-session-state. A client that names no link browses and may read the state of
// any session; every other client must hold it (SESS-14, SESS-24, DEC-20).
func getSessionState(c *call, a args) {
	err := c.fetchState(a, func(state []byte, err error) {
		if err != nil {
			c.fail(err)
			return
		}
		c.ok(32+len(state), func(dst []byte) []byte {
			return appendField(dst, stateKey, func(dst []byte) []byte {
				if state == nil {
					return amqp.AppendNull(dst) // the key must be present, the value must not be empty (SESS-22)
				}
				return amqp.AppendBinary(dst, state)
			})
		})
	})
	if err != nil {
		c.fail(err)
	}
}

// stateKey is the key of a session's state, in arguments and replies.
const stateKey = "session-state"

func (c *call) fetchState(a args, done func([]byte, error)) error {
	if c.link == "" { // DEC-20
		return c.browseState(a, done)
	}
	holder, err := c.mustHold(a)
	if err != nil {
		return err
	}
	c.Fault.TakeSession(holder)
	return holder.FetchSessionState(c.Reserve, done)
}

func (c *call) browseState(a args, done func([]byte, error)) error {
	if err := c.refuseSubQueue("sessions"); err != nil {
		return err
	}
	id, named, err := a.text(sessionKey)
	if err != nil {
		return err
	}
	if !named {
		return wrong(sessionKey, nil, "a string")
	}
	return c.Queue.FetchSessionState(id, c.Reserve, done)
}

// setSessionState serves set-session-state. Null and an empty binary clear the state: Go cannot send null, the
// other SDKs do not send an empty binary (SESS-22).
func setSessionState(c *call, a args) {
	holder, err := c.mustHold(a)
	if err != nil {
		c.fail(err)
		return
	}
	v := a.get(stateKey)
	state, ok := v.([]byte)
	if v != nil && !ok {
		c.fail(wrong(stateKey, v, "a binary or null"))
		return
	}
	c.Fault.TakeSession(holder)
	state = bytes.Clone(state) // it outlives the request whose slice it is
	if c.Tx != nil {
		c.finish(c.Tx.SetSessionState(holder, state))
		return
	}
	if err := holder.SetSessionState(state, emulator.CompletionFunc(c.finish)); err != nil {
		c.fail(err)
	}
}
