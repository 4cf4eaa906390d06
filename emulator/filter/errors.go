package filter

import (
	"errors"
	"fmt"
	"strings"
)

// errTooLong refuses a text over maxTextLength when the rule is made, as a syntaxError does.
var errTooLong = fmt.Errorf("the SQL expression is longer than the maximum of %d characters", maxTextLength)

// syntaxError says where a text stops being a filter or an action, in the service's words. The front ends add the
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

// unexpected returns the detail for an unexpected token.
func unexpected(found tokenKind, expected ...string) string {
	detail := "syntax error, unexpected " + found.String()
	if len(expected) > 0 {
		detail += ", expecting " + strings.Join(expected, ", or ")
	}
	return detail
}

// The names of the exceptions that an [EvalError] stands for. They become the dead-letter reason of the message
// (DLQ-R6).
const (
	FilterException     = "FilterException"
	RuleActionException = "RuleActionException"
)

// EvalError is an error of a filter or an action on one message. The rule stays valid and may work on the next message.
type EvalError struct {
	Exception string // FilterException or RuleActionException
	Detail    string // the dead-letter description (DLQ-R6)
	cause     error
}

// Error is the description.
func (e *EvalError) Error() string { return e.Detail }

// Unwrap returns the error of the action's [Target], if it caused this one.
func (e *EvalError) Unwrap() error { return e.cause }

func evalErrorf(format string, args ...any) error {
	return &EvalError{Exception: FilterException, Detail: fmt.Sprintf(format, args...)}
}

// actionError turns the error of an action's expression or target into one of the action.
func actionError(err error) error {
	var eval *EvalError
	if errors.As(err, &eval) {
		return &EvalError{Exception: RuleActionException, Detail: eval.Detail, cause: eval.cause}
	}
	return &EvalError{Exception: RuleActionException, Detail: err.Error(), cause: err}
}
