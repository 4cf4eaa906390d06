// Package emulator is the domain of Minibus: the behaviour of a Service Bus namespace, in memory, over a journal.
//
// It knows nothing of sockets, SQL or HTTP. The front ends (amqpserver, mgmt) call it, the store implements the
// [Journal] that it needs, and internal/app puts the two together.
//
// Every operation has two halves. The first runs on the caller's goroutine under the queue's mutex: it checks,
// marks the messages it touches and appends one [Change] to the journal. The second runs when the change is
// committed: it applies the marks, wakes whoever waits and reports to the caller through a [Completion]. If the
// commit fails, the second half undoes the marks instead. So nobody ever sees a message that is not durable, and
// an operation that failed leaves no trace.
//
// The package owns no standing goroutine. Work happens on the callers' goroutines, on the journal's (completions)
// and in timer callbacks of the [Clock], one timer per queue.
//
// Lock order: Namespace.admin, Namespace.mu, then the queues' mutexes by ascending id, then leaf locks. Under a queue's mutex nothing
// blocks: Journal.Append and the notify functions of consumers are the only calls outward, and neither waits.
//
// Rule ids in comments (SCHED-9, LOCK-10) and decisions (DEC-22) name the behaviour of the service that the code
// reproduces; docs/rules.md lists them with their tests.
package emulator
