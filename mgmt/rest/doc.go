// Package rest translates between the messages of the HTTP runtime API of Service Bus and encoded AMQP messages:
// BrokerProperties and custom headers, batches of JSON, and the answers to receives. To the broker, a message over HTTP is
// the same as one over AMQP.
//
// It also has [Conn], a connection that remembers how the client spelled the names of a request's headers: they are the names
// of the message's properties, whose case counts, and net/http changes it.
//
// Package mgmt calls it. It owns no goroutine, keeps no state but a connection's, knows no entity, and never waits. A request that it
// can't understand is an [Error], which is the client's fault.
package rest

import (
	"fmt"

	"minibus/internal/printable"
)

// Error says what is wrong with a request; it is to be answered with status 400.
type Error struct{ Text string }

// Error returns the text, a sentence.
func (e *Error) Error() string { return e.Text }

func errorf(format string, args ...any) *Error { return &Error{fmt.Sprintf(format, args...)} }

// clip shortens what a client sent, for texts.
func clip(s string) string {
	return fmt.Sprintf("%+q", printable.Clip(s, 64))
}
