// Package mgmt is the HTTP side of Minibus. It serves the operational endpoints (health, liveness, readiness), the ATOM
// administration API of Service Bus for the administration clients of all languages (queues, topics,
// subscriptions, rules and the namespace), and the runtime API, which sends and receives over HTTP.
//
// It refuses web pages of other origins before any route. Any other request belongs to the namespace that its host or
// port means, and becomes a call: parseTarget reads the entity from the path, a table finds the operation, the
// operation asks the broker and returns an answer or an error, and problemOf turns errors into the service's error
// documents. Package atom reads and writes the documents; the type atomNamespace translates between
// [emulator.Namespace] and their terms.
//
// A request of the runtime API becomes a runtimeCall, which uses the broker's entity directly, as a link of AMQP does;
// package rest reads and writes its messages. A receive waits in the queue's line and never polls.
//
// Package server makes the handler with [New] and serves it with [NewServer]. The package owns no goroutine besides
// those of net/http, and it never starts or stops another part. Operations block on commits: the answer comes when
// the change is durable and the links of a changed entity have been notified.
package mgmt
