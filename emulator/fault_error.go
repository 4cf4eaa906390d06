package emulator

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// faultCondition is an error that a fault can give, under the name of its AMQP condition without the part in front.
type faultCondition struct {
	code Code
	text string // with %[1]s for the entity and %[2]s for the claim that the operation needs
}

// faultConditions has the service's errors, with its words where they are known.
var faultConditions = map[string]faultCondition{
	"server-busy": {CodeServerBusy, "The request was terminated because the entity is being throttled. Error code : 50009. " +
		"Please wait 2 seconds and try again. To know more visit https://aka.ms/ServiceBusThrottling."},
	"unauthorized-access":      {CodeUnauthorized, "Unauthorized access. '%[2]s' claim(s) are required to perform this operation. Resource: '%[1]s'."},
	"not-found":                {CodeNotFound, "The messaging entity '%[1]s' could not be found."},
	"entity-disabled":          {CodeEntityDisabled, "Messaging entity '%[1]s' is currently disabled."},
	"resource-limit-exceeded":  {CodeQuotaExceeded, "The maximum entity size has been reached or exceeded for '%[1]s'."},
	"internal-error":           {CodeInternal, "The service was unable to process the request; please retry the operation."},
	"timeout":                  {CodeTimeout, "The operation did not complete within the allotted time."},
	"not-allowed":              {CodeNotAllowed, "The operation is not allowed on the entity '%[1]s'."},
	"argument-error":           {CodeArgument, "The request for the entity '%[1]s' has an argument that is not valid."},
	"not-implemented":          {CodeNotImplemented, "The operation is not implemented."},
	"message-size-exceeded":    {CodeMessageTooLarge, "The message exceeds the limit currently allowed on the link to '%[1]s'."},
	"message-lock-lost":        {CodeMessageLockLost, LockLostText},
	"message-not-found":        {CodeMessageNotFound, "The message could not be found in '%[1]s'."},
	"session-lock-lost":        {CodeSessionLockLost, "The session lock has expired on the MessageSession. Accept a new MessageSession."},
	"session-cannot-be-locked": {CodeSessionLocked, "The requested session of '%[1]s' cannot be accepted. It may be locked by another receiver."},
	"detach-forced":            {CodeDetached, "The link to '%[1]s' is force detached. Code: Fault."},
	"connection-forced":        {CodeDetached, "The connection was closed by the service."},
}

// FaultConditions names the conditions that a fault can have, in their order.
func FaultConditions() []string { return slices.Sorted(maps.Keys(faultConditions)) }

// conditionName returns the name of an AMQP condition without the part in front: amqp:not-found is not-found.
func conditionName(symbol string) string { return symbol[strings.LastIndexByte(symbol, ':')+1:] }

// Condition returns the name of the condition of the fault's error; empty: it has none.
func (f *Fault) Condition() string {
	if f.options.Condition != "" {
		return conditionName(f.options.Condition)
	}
	return faultKinds[f.options.Kind].condition
}

// Error returns the error that an attempt gets. It tells people which fault it comes from.
func (f *Fault) Error(a *Attempt) *Error {
	path, claim := a.Path, "Listen"
	if a.Entity != nil {
		path = a.Entity.path
	}
	if a.Operation == OperationSend || a.Operation == OperationAttachSender {
		claim = "Send"
	}
	c, known := faultConditions[f.Condition()]
	if !known { // a fault without a condition where there must be one, such as a drop over HTTP
		c = faultConditions["internal-error"]
	}
	text := c.text
	if strings.Contains(text, "%[") {
		text = fmt.Sprintf(text+"%.0[1]s%.0[2]s", path, claim)
	}
	return &Error{Code: c.code, Entity: path, Text: text + " (" + f.Source() + ")"}
}

// Source says where an error comes from, for people who read it.
func (f *Fault) Source() string { return fmt.Sprintf("by fault %d of Minibus", f.id) }

// journalError returns the error of a change that can't be written, as the store words it.
func (f *Fault) journalError() *Error {
	if faultConditions[f.Condition()].code == CodeQuotaExceeded {
		return &Error{Code: CodeQuotaExceeded, Text: "The disk is full (" + f.Source() + ")", Err: errors.New("database or disk is full")}
	}
	return &Error{Code: CodeInternal, Text: "The message store could not be written (" + f.Source() + ")", Err: errors.New("disk I/O error")}
}
