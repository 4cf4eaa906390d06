// Package rest translates between the messages of the HTTP runtime API of Service Bus and encoded AMQP messages:
// BrokerProperties and custom headers, batches of JSON, and the answers to receives. To the broker, a message over
// HTTP is the same as one over AMQP.
//
// It also has [Conn], a connection that remembers how the client spelled the names of a request's headers: they name
// the message's properties, whose case counts, and net/http changes it.
//
// Package mgmt calls it. It owns no goroutine, keeps no state but a connection's, knows no entity, and never waits.
// For a request that it can't understand it returns an [Error].
package rest

import (
	"fmt"

	"minibus/internal/printable"
)

// Error says what is wrong with a request; the answer is status 400.
type Error struct{ Text string }

// Error returns the text, a sentence.
func (e *Error) Error() string { return e.Text }

func errorf(format string, args ...any) *Error { return &Error{fmt.Sprintf(format, args...)} }

// clip shortens a client's text for an error text.
func clip(s string) string {
	return fmt.Sprintf("%+q", printable.Clip(s, 64))
}
