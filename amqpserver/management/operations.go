package management

import (
	"fmt"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/internal/sas"
)

// Context says where a request arrived.
type Context struct {
	Queue *emulator.Entity
	Sub   emulator.SubQueue // what the node belongs to: the queue itself or its dead-letter queue

	// MaxReplyBytes bounds the messages in the reply to a peek (PEEK-6); 0 means the queue's maximum message size.
	MaxReplyBytes int

	// AssociatedLink is told the name of the link that the request names, because the request counts as traffic on
	// it (LOCK-16). May be nil.
	AssociatedLink func(name string)

	// Holder returns the live session consumer of this connection that holds the session with that id on this entity,
	// or nil. It is called before Handle returns, as LinkHolder is; so are the methods of the consumer. May be nil.
	Holder func(sessionID string) *emulator.Consumer

	// LinkHolder returns the live session consumer of the link with that name, if it is a link of this entity, or nil.
	// The name is the one that the request gives. May be nil.
	LinkHolder func(linkName string) *emulator.Consumer

	// Tx is the transaction that the request is part of (transactional-state on its transfer), or nil.
	Tx *emulator.Transaction

	// Authorize fails unless the client has the right that an operation needs (ERR-1). It is called before Handle returns.
	// Nil lets everybody do everything.
	Authorize func(need sas.Claims) error

	// TrackingSuffix returns what is appended to the text of an error that concerns entity (ERR-9). May be nil.
	TrackingSuffix func(entity string) string

	// Removed is told of the messages that a reply carries and that were removed for it, just before the reply, on the same
	// goroutine. If the client does not get the reply they are to be given back. May be nil.
	Removed func([]*emulator.Delivery)

	// Refused is told of each request that is answered with an error, so that the caller can log it. It is called
	// just before the reply, on the same goroutine, and must not block. May be nil.
	Refused func(operation string, err error)
}

// operation is one row of the table.
type operation struct {
	// serve calls c.ok, c.empty or c.fail exactly once, now or later.
	serve func(c *call, a args)

	// need is the right that a client must have. Rules need no more than receiving does: the SDKs say so of this way to
	// them, unlike the administration's.
	need sas.Claims

	// transactional says that the operation may be part of a transaction (TXN-1).
	transactional bool
}

// operations is what this package serves. Any name that nobody knows is refused as not implemented rather than answered
// without effect.
var operations = map[string]operation{
	"com.microsoft:renew-lock":                 {serve: renewLock, need: sas.Listen, transactional: true},
	"com.microsoft:update-disposition":         {serve: updateDisposition, need: sas.Listen, transactional: true},
	"com.microsoft:schedule-message":           {serve: scheduleMessage, need: sas.Send, transactional: true},
	"com.microsoft:cancel-scheduled-message":   {serve: cancelScheduledMessage, need: sas.Send, transactional: true},
	"com.microsoft:peek-message":               {serve: peekMessage, need: sas.Listen},
	"com.microsoft:receive-by-sequence-number": {serve: receiveBySequenceNumber, need: sas.Listen},
	"com.microsoft:batch-delete-messages":      {serve: batchDeleteMessages, need: sas.Listen},
	"com.microsoft:renew-session-lock":         {serve: renewSessionLock, need: sas.Listen},
	"com.microsoft:get-session-state":          {serve: getSessionState, need: sas.Listen},
	"com.microsoft:set-session-state":          {serve: setSessionState, need: sas.Listen},
	"com.microsoft:get-message-sessions":       {serve: getMessageSessions, need: sas.Listen},
	"com.microsoft:add-rule":                   {serve: addRule, need: sas.Listen},
	"com.microsoft:remove-rule":                {serve: removeRule, need: sas.Listen},
	"com.microsoft:enumerate-rules":            {serve: enumerateRules, need: sas.Listen},
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
	o, err := c.find()
	if err != nil {
		c.fail(err)
		return
	}
	if ctx.Authorize != nil {
		if err := ctx.Authorize(o.need); err != nil {
			c.fail(err)
			return
		}
	}
	a, err := parseArgs(req, bodyLimit(ctx.Queue))
	if err != nil {
		c.fail(err)
		return
	}
	o.serve(c, a)
}

// find returns the operation that a request names.
func (c *call) find() (operation, error) {
	o, ok := operations[c.operation]
	switch {
	case !ok:
		return o, &emulator.Error{
			Code: emulator.CodeNotImplemented,
			Text: fmt.Sprintf("The operation '%s' is not implemented.", clip(c.operation)),
		}
	case c.Tx != nil && !o.transactional:
		return o, &emulator.Error{
			Code:   emulator.CodeNotAllowed,
			Entity: c.Queue.Path(),
			Text:   fmt.Sprintf("The operation '%s' can't be part of a transaction.", c.operation),
		}
	}
	return o, nil
}

// bodyLimit bounds the encoded arguments of one request, in bytes. A decoded body takes several times its bytes, so
// this also bounds memory; it leaves room for a scheduled message of the greatest size that the queue takes, or for
// hundreds of ordinary ones.
func bodyLimit(q *emulator.Entity) int64 {
	const (
		least    = 4 << 20
		envelope = 64 << 10 // keys and copies of properties around a scheduled message
	)
	return max(least, q.MaxMessageSize()+envelope)
}
