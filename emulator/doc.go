// Package emulator is the domain of Minibus: the behaviour of a Service Bus namespace, in memory, over a journal.
//
// It knows nothing of sockets, SQL or HTTP. The front ends (amqpserver, mgmt) call it, the store implements the
// [Journal] that it needs, and package server puts the two together.
//
// Every operation has two halves. The first runs on the caller's goroutine under the queue's mutex: it checks,
// marks the messages it touches and appends one [Change] to the journal. The second runs when the change is
// committed: it applies the marks, wakes waiting clients and reports to the caller through a [Completion]. If the
// commit fails, the second half undoes the marks instead. So no client sees a message that is not durable, and
// an operation that failed leaves no trace.
//
// A [Queue] keeps messages: it is a queue, a subscription, or a topic. A topic has subscriptions and
// their compiled rules besides, under its own mutex. A send to it decides there which of them get a copy, takes the mutex of one
// subscription after another to make the copies, and appends all of them as one change, with the body once. The change is
// completed one subscription after another as well. Only the commit of a transaction holds the mutexes of all of them.
//
// The package owns no standing goroutine. Work happens on the callers' goroutines, on the journal's (completions)
// and in timer callbacks of the [Clock], one timer per queue; forwarders live as long as there are messages to
// forward.
//
// Lock order: Namespace.admin, Namespace.mu, then the queues' mutexes by ascending id, which puts a topic before its
// subscriptions, then leaf locks. Under a queue's mutex nothing blocks: Journal.Append and the notify functions of
// consumers are the only calls outward, and neither waits.
//
// Rule ids in comments (SCHED-9, LOCK-10) and decisions (DEC-22) name the behaviour of the service that the code
// reproduces; docs/rules.md lists them with their tests.
package emulator
