package management

import (
	"bytes"
	"math"
	"sort"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// sessionKey names the session that a request is about.
const sessionKey = "session-id"

// session finds the consumer of this connection for a request about a session: the consumer that holds the session-id,
// or without an id that of the associated link (DEC-19), which may be nil. Go never sends the id, and .NET leaves an
// empty one out; the empty string is an id (SESS-34). A session that is named but not held here is lost (SESS-14,
// DEF-13).
func (c *call) session(a args) (*emulator.Consumer, error) {
	id, named, err := a.text(sessionKey)
	if err != nil {
		return nil, err
	}
	if !named {
		return c.linkHolder(), nil
	}
	if c.Holder != nil {
		if holder := c.Holder(id); holder != nil {
			return holder, nil
		}
	}
	return nil, emulator.SessionLockLost(c.Queue.Path())
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
	return c.session(a)
}

// mustHold is session for operations on a session itself; it fails if the connection holds none.
func (c *call) mustHold(a args) (*emulator.Consumer, error) {
	if err := c.refuseSubQueue("sessions"); err != nil {
		return nil, err
	}
	holder, err := c.session(a)
	if err == nil && holder == nil {
		return nil, wrong(sessionKey, nil, "a string")
	}
	return holder, err
}

// renewSessionLock serves renew-session-lock: it locks the session for a whole lock duration from now (SESS-13).
func renewSessionLock(c *call, a args) error {
	holder, err := c.mustHold(a)
	if err != nil {
		return err
	}
	c.Fault.TakeSession(holder)
	until, err := holder.RenewSession()
	if err != nil {
		return err
	}
	c.okField(32, "expiration", func(dst []byte) []byte { return amqp.AppendTimestamp(dst, amqp.Timestamp(until)) })
	return nil
}

// getSessionState serves get-session-state. A client that names no link browses and may read the state of
// any session; every other client must hold it (SESS-14, SESS-24, DEC-20).
func getSessionState(c *call, a args) error {
	done := func(state []byte, err error) {
		if err != nil {
			c.fail(err)
			return
		}
		c.okField(32+len(state), stateKey, func(dst []byte) []byte {
			if state == nil {
				return amqp.AppendNull(dst) // the key must be present, the value must not be empty (SESS-22)
			}
			return amqp.AppendBinary(dst, state)
		})
	}
	if c.link != "" {
		holder, err := c.mustHold(a)
		if err != nil {
			return err
		}
		c.Fault.TakeSession(holder)
		return holder.FetchSessionState(c.Reserve, done)
	}
	if err := c.refuseSubQueue("sessions"); err != nil {
		return err
	}
	id, err := a.needText(sessionKey)
	if err != nil {
		return err
	}
	return c.Queue.Sessions().FetchState(id, c.Reserve, done)
}

// stateKey is the key of a session's state, in arguments and replies.
const stateKey = "session-state"

// setSessionState serves set-session-state. Null and an empty binary clear the state: Go cannot send null, the
// other SDKs do not send an empty binary (SESS-22).
func setSessionState(c *call, a args) error {
	holder, err := c.mustHold(a)
	if err != nil {
		return err
	}
	v := a.get(stateKey)
	state, ok := v.([]byte)
	if v != nil && !ok {
		return wrong(stateKey, v, "a binary or null")
	}
	c.Fault.TakeSession(holder)
	state = bytes.Clone(state) // it outlives the request whose slice it is
	if c.Tx != nil {
		c.finish(c.Tx.SetSessionState(holder, state))
		return nil
	}
	return holder.SetSessionState(state, emulator.CompletionFunc(c.finish))
}

// endOfTime is the last millisecond that the clients' date types can hold, 9999-12-31T23:59:59.999Z. To list all
// sessions they send their greatest date, which is rounded to this number or to the next one (SESS-27).
const endOfTime = 253402300799999

// page says which sessions to list.
type page struct {
	all          bool  // sessions with messages or a state, whenever it changed
	updatedAfter int64 // milliseconds since the Unix epoch
	skip, top    int
	last         string // the last session that the client has seen, if it says so
	hasLast      bool   // the empty string is a session like any other
}

// getMessageSessions serves get-message-sessions: the ids of sessions, page by page (SESS-27 to SESS-29). After the
// last page it answers 204.
func getMessageSessions(c *call, a args) error {
	p, err := parsePage(a)
	if err != nil {
		return err
	}
	if err := c.refuseSubQueue("sessions"); err != nil {
		return err
	}
	ids, err := c.listSessions(p)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		c.empty()
		return nil
	}
	items := make([]any, len(ids))
	size := 64
	for i, id := range ids {
		items[i] = id
		size += 4 + len(id)
	}
	c.ok(size, func(dst []byte) []byte { return appendSessions(dst, p.skip+len(ids), items) })
	return nil
}

// appendSessions appends the body of a reply: the number of sessions that the client has seen now, and their ids,
// under the service's key for them. Java casts the ids to an array.
func appendSessions(dst []byte, seen int, ids []any) []byte {
	dst, m := amqp.BeginMap(dst)
	dst = amqp.AppendString(dst, "skip")
	dst = amqp.AppendInt(dst, int32(min(seen, math.MaxInt32)))
	dst = amqp.AppendString(dst, "sessions-ids")
	dst, _ = amqp.AppendValue(dst, amqp.Array{Code: amqp.CodeString8, Items: ids}) // strings always have an encoding
	return amqp.EndMap(dst, m, 2)
}

// listSessions returns one page. It goes on after the last session seen if the client names it: a count is less exact,
// because sessions come and go between two requests. Such a client sends the count too, which is then ignored.
func (c *call) listSessions(p page) ([]string, error) {
	if !p.hasLast {
		return c.Queue.Sessions().IDs(p.all, p.updatedAfter, p.skip, p.top)
	}
	ids, err := c.Queue.Sessions().IDs(p.all, p.updatedAfter, 0, math.MaxInt)
	if err != nil {
		return nil, err
	}
	from := sort.Search(len(ids), func(i int) bool { return ids[i] > p.last })
	return ids[from:min(from+p.top, len(ids))], nil
}

func parsePage(a args) (p page, err error) {
	if p.updatedAfter, err = a.int64("last-updated-time"); err != nil {
		return p, err
	}
	p.all = p.updatedAfter >= endOfTime
	if p.skip, err = a.count("skip", 0, math.MaxInt32); err != nil {
		return p, err
	}
	// Clients ask for 100 at a time. One that asks for more than the bound would take a shorter page for the last.
	if p.top, err = a.count("top", 1, maxItems); err != nil {
		return p, err
	}
	p.last, p.hasLast, err = a.text("last-session-id")
	return p, err
}
