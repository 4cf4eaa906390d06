// Package loglimit rate-limits log lines of a kind, such as refused tokens, and reports how many were dropped. Refusals have less room
// than lines about work that was done, since a client that does its work causes many of those.
//
// Package server makes the one [Limiter] of a process and closes it. The AMQP and HTTP servers and package listen ask it before they log what a
// client caused. So it bounds what many connections do together as well as what one does.
//
// The package owns no goroutine; if no other line comes, a timer's callback reports the dropped ones. It never
// writes the lines themselves, and never looks at their text.
package loglimit
