package management

import (
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/printable"
)

// call is a request that has no response yet.
type call struct {
	Context
	operation     string // empty when the request names none
	link          string // associated-link-name; empty when the request names none
	tracking      string // com.microsoft:tracking-id, echoed; empty when the request has none
	correlationID any    // message-id of the request, with its type
	reply         func(resp []byte)
}

// maxTracking is the length above which a tracking id is not echoed: SDKs send the text of a uuid.
const maxTracking = 128

func newCall(ctx Context, req *message.Message, reply func([]byte)) *call {
	c := &call{Context: ctx, correlationID: req.RequestID(), reply: reply}
	c.operation = property(req, "operation")
	c.link = property(req, "associated-link-name")
	if t := property(req, "com.microsoft:tracking-id"); len(t) <= maxTracking {
		c.tracking = printable.Cut(t, maxTracking)
	}
	return c
}

// property returns an application property of a request as text, or "" if it is absent or not text. The
// SDKs also send a time limit (server-timeout), which has no effect: no operation here waits for more
// than its commit.
func property(req *message.Message, key string) string {
	v, _ := req.ApplicationProperty(key)
	text, _ := amqp.AsString(v)
	return text
}

// ok answers 200. body appends the value of the amqp-value section. With a nil body there is no section, since some
// clients cannot read an empty map. size is a hint for the length that body appends.
func (c *call) ok(size int, body func(dst []byte) []byte) {
	dst := c.appendEnvelope(make([]byte, 0, size+envelopeSize), statusOK, "", "")
	if body != nil {
		dst = body(message.BeginValue(dst))
	}
	c.reply(dst)
}

// empty answers 204: there is nothing to return.
func (c *call) empty() {
	c.reply(c.appendEnvelope(make([]byte, 0, envelopeSize), statusNoContent, "", ""))
}

// fail answers with the status and the condition of err (ERR-6).
func (c *call) fail(err error) {
	if c.Refused != nil {
		c.Refused(c.operation, err)
	}
	f := failureOf(err)
	entity := f.entity
	if entity == "" {
		entity = c.Queue.Path()
	}
	if c.TrackingSuffix != nil {
		f.text += c.TrackingSuffix(entity)
	}
	c.reply(c.appendEnvelope(make([]byte, 0, envelopeSize+len(f.text)), f.status, f.condition, f.text))
}

// finish answers 200 without a body, or the error. Operations that return nothing use it as their completion.
func (c *call) finish(err error) {
	if err != nil {
		c.fail(err)
		return
	}
	c.ok(0, nil)
}
