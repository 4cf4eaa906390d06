package emulator

import "fmt"

// Code classifies an [Error]. Front ends map it to an AMQP condition or an HTTP status, each in one table.
type Code uint8

// The error codes.
const (
	CodeInternal Code = iota // a failure of the broker itself, for example a disk that cannot be written
	CodeNotFound             // no such entity (ERR-4)
	// no message with that number in the state that the operation needs (DEF-5, SCHED-13)
	CodeMessageNotFound
	CodeMessageLockLost     // the lock expired, was settled or never existed (LOCK-5, LOCK-7)
	CodeSessionLockLost     // SESS-14
	CodeSessionLocked       // another consumer holds the session (SESS-7)
	CodeNotAllowed          // not possible on this entity or in this state
	CodeArgument            // a value that is wrong in itself
	CodeEntityDisabled      // STAT-2
	CodeQuotaExceeded       // QUO-2, or no space left on the disk
	CodeMessageTooLarge     // QUO-5
	CodeHeaderTooLarge      // all properties of a message together (QUO-8)
	CodeAlreadyExists       // ERR-5
	CodeTimeout             // the server waited as long as it was allowed to
	CodeServerBusy          // back off and try again
	CodeUnauthorized        // ERR-1
	CodeNotImplemented      // an operation that Minibus does not serve
	CodeDetached            // the entity was changed; attach again (LOCK-17)
	CodeTransactionEnded    // the transaction is unknown or discharged (TXN-5, TXN-20)
	CodeTransactionTimedOut // TXN-3
)

// Error is the domain's error: a code for programs and a text, in the service's words where they are known, for people.
type Error struct {
	Code   Code
	Entity string // path of the entity concerned; empty when there is none
	Text   string
	Err    error // cause, if any
}

// Error returns the text, with the cause behind it.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Text + ": " + e.Err.Error()
	}
	return e.Text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorf(code Code, entity, format string, args ...any) *Error {
	return &Error{Code: code, Entity: entity, Text: fmt.Sprintf(format, args...)}
}

// NotFound is the service's answer for an entity that does not exist; clients recognise it by its text (ERR-4).
func NotFound(name string) *Error {
	return errorf(CodeNotFound, name, "The messaging entity '%s' could not be found.", name)
}

// namespaceNotFound says that there is no namespace with that name.
func namespaceNotFound(name string) *Error {
	return errorf(CodeNotFound, "", "The namespace '%s' could not be found.", name)
}

// LockLostText says that a lock is over; front ends also use it for deliveries that they do not even ask about.
const LockLostText = "The lock supplied is invalid. " +
	"Either the lock expired, or the message has already been removed from the queue."

func lockLost(entity string) *Error { return errorf(CodeMessageLockLost, entity, LockLostText) }

func deferredNotFound(entity string) *Error {
	return errorf(CodeMessageNotFound, entity,
		"Failed to lock one or more specified messages. Either the message is already locked or does not exist.")
}
