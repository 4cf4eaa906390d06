package filter

import (
	"errors"
	"fmt"
	"strings"
)

// errTooLong is the error of a text over maxTextLength. Like a syntaxError it refuses the rule when it is made.
var errTooLong = fmt.Errorf("the SQL expression is longer than the maximum of %d characters", maxTextLength)

// syntaxError says where a text stops being a filter or an action. Its text is the service's own; the front ends add the
// tracking part and answer 400.
type syntaxError struct {
	Line   int    // of the token in error, from 1
	Column int    // of its first character, in UTF-16 units from 0
	Token  string // the token as it was written; empty at the end of the text
	Detail string // such as: syntax error, unexpected IDENTIFIER, expecting SET, or REMOVE
}

// Error is the text of the service.
func (e *syntaxError) Error() string {
	return fmt.Sprintf("There was an error parsing the SQL expression. "+
		"[Token line=%d, column=%d, Token in error= %s, Additional details= %s]", e.Line, e.Column, e.Token, e.Detail)
}

// unexpected words the detail of a token that does not belong where it stands.
func unexpected(found tokenKind, expected ...string) string {
	detail := "syntax error, unexpected " + found.String()
	if len(expected) > 0 {
		detail += ", expecting " + strings.Join(expected, ", or ")
	}
	return detail
}

// The names of the exceptions that an [EvalError] stands for; the dead-letter reason of the message (DLQ-R6).
const (
	FilterException     = "FilterException"
	RuleActionException = "RuleActionException"
)

// EvalError is an error while a filter or an action runs on one message. It does not concern the rule's validity: the
// same rule may work on the next message.
type EvalError struct {
	Exception string // FilterException or RuleActionException
	Detail    string // the dead-letter description (DLQ-R6)
	cause     error
}

// Error is the description.
func (e *EvalError) Error() string { return e.Detail }

// Unwrap returns what the [Target] of an action objected to, if it was that.
func (e *EvalError) Unwrap() error { return e.cause }

func evalErrorf(format string, args ...any) error {
	return &EvalError{Exception: FilterException, Detail: fmt.Sprintf(format, args...)}
}

// actionError makes an error of an action out of an error of an expression in it or of the target.
func actionError(err error) error {
	var eval *EvalError
	if errors.As(err, &eval) {
		return &EvalError{Exception: RuleActionException, Detail: eval.Detail, cause: eval.cause}
	}
	return &EvalError{Exception: RuleActionException, Detail: err.Error(), cause: err}
}
