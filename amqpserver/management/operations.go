package management

import (
	"fmt"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

// Context says where a request arrived.
type Context struct {
	Queue *emulator.Queue
	Sub   emulator.SubQueue // what the node belongs to: the queue itself or its dead-letter queue

	// MaxReplyBytes bounds the messages in the reply to a peek (PEEK-6); 0 means the queue's maximum message size.
	MaxReplyBytes int

	// AssociatedLink is told the name of the link that the request names, because the request counts as traffic on
	// it (LOCK-16). May be nil.
	AssociatedLink func(name string)

	// TrackingSuffix returns what is appended to the text of an error that concerns entity (ERR-9). May be nil.
	TrackingSuffix func(entity string) string

	// Refused is told of each request that is answered with an error, so that the caller can log it. It is called
	// just before the reply, on the same goroutine, and must not block. May be nil.
	Refused func(operation string, err error)
}

// operation is one row of the table: it calls c.ok, c.empty or c.fail exactly once, now or later.
type operation func(c *call, a args)

// operations is what this package serves. The service has more (sessions, rules, batch delete): those, like any name
// that nobody knows, are refused as not implemented rather than answered without effect.
var operations = map[string]operation{
	"com.microsoft:renew-lock":                 renewLock,
	"com.microsoft:update-disposition":         updateDisposition,
	"com.microsoft:peek-message":               peekMessage,
	"com.microsoft:schedule-message":           scheduleMessage,
	"com.microsoft:cancel-scheduled-message":   cancelScheduledMessage,
	"com.microsoft:receive-by-sequence-number": receiveBySequenceNumber,
}

// Handle answers one request. reply is called exactly once with the complete encoded response: before Handle returns,
// or later from another goroutine. Handle does not block, and reply must not. The queue keeps scheduled messages as
// slices of req.Raw, which therefore must not be changed afterwards.
func Handle(ctx Context, req *message.Message, reply func(resp []byte)) {
	c := newCall(ctx, req, reply)
	if c.link != "" && ctx.AssociatedLink != nil {
		ctx.AssociatedLink(c.link)
	}
	if c.operation == "" {
		c.fail(argumentError("The application property 'operation' is missing; expected a string."))
		return
	}
	serve, ok := operations[c.operation]
	if !ok {
		c.fail(&emulator.Error{
			Code: emulator.CodeNotImplemented,
			Text: fmt.Sprintf("The operation '%s' is not implemented.", clip(c.operation)),
		})
		return
	}
	a, err := parseArgs(req, bodyLimit(ctx.Queue))
	if err != nil {
		c.fail(err)
		return
	}
	serve(c, a)
}

// bodyLimit bounds the encoded arguments of one request, in bytes. A decoded body takes several times its bytes, so
// this also bounds memory; it leaves room for a scheduled message of the greatest size that the queue takes, or for
// hundreds of ordinary ones.
func bodyLimit(q *emulator.Queue) int64 {
	const (
		least    = 4 << 20
		envelope = 64 << 10 // keys and copies of properties around a scheduled message
	)
	return max(least, q.MaxMessageSize()+envelope)
}
