// Package mgmt is the HTTP side of Minibus: the operational endpoints (health, liveness, readiness) and the ATOM
// administration API of Service Bus, as the administration clients of all languages use it: queues, topics,
// subscriptions, rules and the namespace. Sending and receiving over HTTP is refused with 501, so that nobody takes silence
// for success.
//
// A request becomes a call: parseTarget says what its path is about, a table finds the operation, the operation asks the
// broker and returns an answer or an error, and one place turns errors into the service's error documents. Package atom
// reads and writes the documents. The broker is seen through small interfaces; domain puts them in front of
// [emulator.Namespace].
//
// internal/app makes the handler with [New] and serves it with [NewServer]. The package owns no goroutine besides those of
// net/http, and it never starts or stops anything. Operations block on commits: an answer is given once what it says is
// durable and the links of a changed entity were told.
package mgmt
