// Package loglimit bounds what clients can make a process log: of each kind of line, such as tokens that are refused, only so
// many are written in a second, and then one that says how many were left out. Refusals have less room than lines about what was done, of
// which a client that does its work brings about many.
//
// Package server makes the one [Limiter] of a process and closes it; the AMQP and HTTP servers ask it before they log what a client
// brought about. So what many connections do together is bounded as well as what one does.
//
// The package owns no goroutine; a timer's callback writes the line about what was left out when no other line comes. It never
// writes the lines themselves, and never looks at what they say.
package loglimit
