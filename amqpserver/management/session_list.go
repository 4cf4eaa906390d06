package management

import (
	"math"
	"sort"

	"minibus/internal/amqp"
)

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
func getMessageSessions(c *call, a args) {
	p, err := parsePage(a)
	if err == nil {
		err = c.refuseSubQueue("sessions")
	}
	if err != nil {
		c.fail(err)
		return
	}
	ids, err := c.listSessions(p)
	if err != nil {
		c.fail(err)
		return
	}
	if len(ids) == 0 {
		c.empty()
		return
	}
	items := make([]any, len(ids))
	size := 64
	for i, id := range ids {
		items[i] = id
		size += 4 + len(id)
	}
	c.ok(size, func(dst []byte) []byte { return appendSessions(dst, p.skip+len(ids), items) })
}

// appendSessions appends the body of a reply: the number of sessions that the client has seen now, and their ids, under the
// service's key for them. Java casts the ids to an array.
func appendSessions(dst []byte, seen int, ids []any) []byte {
	dst, m := amqp.BeginMap(dst)
	dst = amqp.AppendString(dst, "skip")
	dst = amqp.AppendInt(dst, int32(min(seen, math.MaxInt32)))
	dst = amqp.AppendString(dst, "sessions-ids")
	dst, _ = amqp.AppendValue(dst, amqp.Array{Code: amqp.CodeString8, Items: ids}) // strings always have an encoding
	return amqp.EndMap(dst, m, 2)
}

// listSessions returns one page. It goes on after the last session seen if the client names it: a count is less exact, because
// sessions come and go between two requests. Such a client sends the count too, which is then ignored.
func (c *call) listSessions(p page) ([]string, error) {
	if !p.hasLast {
		return c.Queue.Sessions(p.all, p.updatedAfter, p.skip, p.top)
	}
	ids, err := c.Queue.Sessions(p.all, p.updatedAfter, 0, math.MaxInt)
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
