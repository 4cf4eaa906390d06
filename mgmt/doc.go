// Package mgmt is the HTTP side of Minibus: the operational endpoints (health, liveness, readiness) and the ATOM
// administration API of Service Bus, as the administration clients of all languages use it: queues, topics,
// subscriptions, rules and the namespace; and the runtime API, sending and receiving over HTTP.
//
// Web pages of strangers are refused in front of all routes. Any other request becomes a call: parseTarget says what its
// path is about, a table finds the operation, the operation asks the broker and returns an answer or an error, and one
// place turns errors into the service's error documents. Package atom reads and writes the documents; domain puts
// [emulator.Namespace] in their terms.
//
// A request of the runtime API becomes a runtimeCall, which asks a queue of the broker itself, as a link of AMQP does;
// package rest reads and writes its messages. A receive waits in the queue's line and never polls.
//
// Package server makes the handler with [New] and serves it with [NewServer]. The package owns no goroutine besides those of
// net/http, and it never starts or stops anything. Operations block on commits: an answer is given once what it says is
// durable and the links of a changed entity were told.
package mgmt
