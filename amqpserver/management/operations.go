package management

import (
	"cmp"
	"fmt"
	"strings"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/internal/sas"
)

// Context describes where a request arrived.
type Context struct {
	Queue *emulator.Entity
	Sub   emulator.SubQueue // the queue itself or its dead-letter queue

	// MaxReplyBytes bounds the messages in the reply to a peek (PEEK-6); 0 means the queue's maximum message size.
	MaxReplyBytes int

	// AssociatedLink is called with the name of the link that the request names, because the request counts as traffic
	// on that link (LOCK-16). May be nil.
	AssociatedLink func(name string)

	// Holder returns the live session consumer of this connection that holds the session with that id on this entity,
	// or nil. Holder, LinkHolder and the consumer's methods are called before Handle returns. May be nil.
	Holder func(sessionID string) *emulator.Consumer

	// LinkHolder returns the live session consumer of the link with that name, or nil if there is none on this entity.
	// The request gives the name. May be nil.
	LinkHolder func(linkName string) *emulator.Consumer

	// Who names the client, for the record of what happens to messages. May be nil.
	Client *emulator.Client

	// Tx is the transaction that the request is part of (transactional-state on its transfer), or nil.
	Tx *emulator.Transaction

	// Authorize fails unless the client has the right that an operation needs (ERR-1). It is called before Handle
	// returns. Nil allows everything.
	Authorize func(need sas.Claims) error

	// TrackingSuffix returns the text to append to an error that concerns entity (ERR-9). May be nil.
	TrackingSuffix func(entity string) string

	// Injected is the error with which an injected fault answers the request. Nil: none.
	Injected error

	// Fault takes locks before an operation on them. Nil takes none.
	Fault *emulator.Fault

	// Removed gets the messages that were removed for a reply, just before the reply and on the same
	// goroutine. If the client does not get the reply, the caller gives them back. May be nil.
	Removed func([]*emulator.Delivery)

	// Reserve is asked before what a reply is made of is read.
	Reserve emulator.Reserve

	// Refused is called for each request that is answered with an error, for the caller's log. It is called
	// just before the reply, on the same goroutine, and must not block. May be nil.
	Refused func(operation string, err error)
}

// operation is one row of the table.
type operation struct {
	// serve calls c.ok, c.empty or c.fail exactly once, now or later, unless it returns an error to answer with.
	serve func(c *call, a args) error

	// need is the right that a client must have. Rules need only the right to receive on this node, as the SDKs
	// document it; the administration needs more.
	need sas.Claims

	// needText are the claims as a refusal names them; empty: those of need.
	needText string

	// inTx says what becomes of the operation if the request carries a transaction (TXN-1).
	inTx inTx

	// faultOperation tells injected faults what is done; the zero value means OperationManage.
	faultOperation emulator.Operation

	locks, session bool // it concerns locks of messages; a session
}

// inTx says how an operation stands to the transaction of its request.
type inTx uint8

const (
	refusedIn inTx = iota // a rollback would not undo it
	partOf                // it takes effect with the commit
	outsideOf             // it is answered as without the transaction, which one client adds to all requests
)

// operations lists what this package serves. Any other name is refused as not implemented, never answered
// without effect.
var operations = map[string]operation{
	"com.microsoft:renew-lock": {serve: renewLock, need: sas.Listen, inTx: partOf,
		faultOperation: emulator.OperationRenew, locks: true},
	"com.microsoft:update-disposition": {serve: updateDisposition, need: sas.Listen, inTx: partOf,
		faultOperation: emulator.OperationSettle, locks: true},
	"com.microsoft:schedule-message": {serve: scheduleMessage, need: sas.Send, inTx: partOf,
		faultOperation: emulator.OperationSend},
	"com.microsoft:cancel-scheduled-message": {serve: cancelScheduledMessage, need: sas.Send, inTx: partOf},
	"com.microsoft:peek-message":             {serve: peekMessage, need: sas.Listen, inTx: outsideOf},
	"com.microsoft:receive-by-sequence-number": {serve: receiveBySequenceNumber, need: sas.Listen, inTx: outsideOf,
		faultOperation: emulator.OperationReceive},
	"com.microsoft:batch-delete-messages": {serve: batchDeleteMessages, need: sas.Listen},
	"com.microsoft:renew-session-lock": {serve: renewSessionLock, need: sas.Listen, inTx: outsideOf,
		faultOperation: emulator.OperationRenew, session: true},
	"com.microsoft:get-session-state": {serve: getSessionState, need: sas.Listen, inTx: outsideOf,
		session: true},
	"com.microsoft:set-session-state": {serve: setSessionState, need: sas.Listen, inTx: partOf,
		session: true},
	"com.microsoft:get-message-sessions": {serve: getMessageSessions, need: sas.Listen, inTx: outsideOf},
	"com.microsoft:add-rule":             {serve: addRule, need: sas.Listen, needText: ruleClaims},
	"com.microsoft:remove-rule":          {serve: removeRule, need: sas.Listen, needText: ruleClaims},
	"com.microsoft:enumerate-rules": {serve: enumerateRules, need: sas.Listen, needText: ruleClaims,
		inTx: outsideOf},
}

// ruleClaims are the service's words for rules.
const ruleClaims = "Listen,Manage,SubscriptionRuleRead"

// Attempt fills in what a request is for faults: the operation, and whether it concerns locks or a session.
func Attempt(req *message.Message, a *emulator.Attempt) {
	o := operations[property(req, "operation")]
	a.Operation, a.Locks = cmp.Or(o.faultOperation, emulator.OperationManage), o.locks
	a.Session = o.session || o.locks && a.Sub == emulator.Main && a.Entity != nil && a.Entity.Options().RequiresSession
	if !a.Locks || a.Entity == nil {
		return
	}
	if body, err := parseArgs(req, bodyLimit(a.Entity)); err == nil {
		a.Tokens, _ = body.tokens("lock-tokens") // without them the request fails by itself
	}
}

// Handle answers one request. It calls reply exactly once with the complete encoded response: before Handle returns,
// or later from another goroutine. Handle does not block, and reply must not. The queue keeps scheduled messages as
// slices of req.Raw, so the caller must not change it afterwards.
func Handle(ctx Context, req *message.Message, reply func(resp []byte)) {
	c := newCall(ctx, req, reply)
	if err := c.serve(req); err != nil {
		c.fail(err)
	}
}

// serve answers the request, or returns an error to answer with.
func (c *call) serve(req *message.Message) error {
	if c.link != "" && c.AssociatedLink != nil {
		c.AssociatedLink(c.link)
	}
	o, ok := operations[c.operation]
	switch {
	case c.operation == "":
		return argumentError("The application property 'operation' is missing; expected a string.")
	case !ok:
		return &emulator.Error{
			Code: emulator.CodeNotImplemented,
			Text: fmt.Sprintf("The operation '%s' is not implemented.", clip(c.operation)),
		}
	case c.Tx != nil && o.inTx == refusedIn:
		return &emulator.Error{
			Code:   emulator.CodeNotAllowed,
			Entity: c.Queue.Path(),
			Text:   fmt.Sprintf("The operation '%s' can't be part of a transaction.", c.operation),
		}
	}
	if c.Authorize != nil {
		err := c.Authorize(o.need)
		if refused, ok := err.(*emulator.Error); ok && o.needText != "" { //nolint:errorlint // Authorize wraps nothing
			again := *refused
			again.Text = strings.Replace(again.Text, "'"+o.need.String()+"'", "'"+o.needText+"'", 1)
			return &again
		}
		if err != nil {
			return err
		}
	}
	if c.Injected != nil {
		return c.Injected
	}
	a, err := parseArgs(req, bodyLimit(c.Queue))
	if err != nil {
		return err
	}
	if o.inTx == outsideOf {
		c.Tx = nil
	}
	if c.Tx != nil {
		c.Tx.Introduce(c.Client)
	}
	return o.serve(c, a)
}

// bodyLimit bounds the encoded arguments of one request, in bytes, and with that memory: a decoded body takes several
// times its size. It leaves room for a scheduled message of the largest size that the queue takes, or for
// hundreds of ordinary ones.
func bodyLimit(q *emulator.Entity) int64 {
	const (
		least    = 4 << 20
		envelope = 64 << 10 // keys and copies of properties around a scheduled message
	)
	return max(least, q.MaxMessageSize()+envelope)
}
