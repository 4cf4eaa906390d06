// Package loglimit rate-limits log lines of a kind, such as refused tokens, and reports how many were dropped. It
// allows fewer lines about refusals than about work done, since a busy client causes many of the latter.
//
// Package server makes the one [Limiter] of a process and closes it. The AMQP and HTTP servers and package listen ask
// it before they log what a client caused. So it limits many connections together as well as one.
//
// The package owns no goroutine; if no other line comes, a timer's callback reports the dropped ones. It never
// writes the lines themselves, and never looks at their text.
package loglimit
