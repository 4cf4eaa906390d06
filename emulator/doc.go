// Package emulator is the domain of Minibus: the behaviour of Service Bus namespaces, in memory, over a journal.
//
// It knows nothing of sockets, SQL or HTTP. The front ends (amqpserver, mgmt) call it, the store implements the
// [Store] and the [Journal] that it needs, and package server puts the two together.
//
// A [Broker] holds the namespaces of a process. A [Namespace] is a set of entities that has nothing to do with those of
// another.
//
// Every operation has two halves. The first runs on the caller's goroutine under the entity's mutex: it checks,
// marks the messages it touches and appends one [Change] to the journal. The second runs when the change is
// committed: it applies the marks, wakes waiting clients and reports to the caller through a [Completion]. If the
// commit fails, the second half undoes the marks instead. So no client sees a message that is not durable, and
// an operation that failed leaves no trace.
//
// An [Entity] keeps messages. A [Queue], a [Topic] and a [Subscription] are entities with the operations that only they
// have. An entity consists of parts, each with its own methods: its messages, their bodies, locks, sessions, and so on.
// One mutex guards all of them. A topic's mutex also guards its subscriptions' rules: a send to a topic decides there
// who gets a copy, takes the mutex of one subscription after another to make the copies, and appends all of them as one
// change, with the body once. The change is completed one subscription after another as well, so only the commit of a
// transaction ever holds the mutexes of all.
//
// The package owns no standing goroutine. Work happens on the callers' goroutines, on the journal's (completions)
// and in timer callbacks of the [clock.Clock], one timer per entity; forwarders live as long as there is something to
// forward, a job as long as it runs, and one that evicts bodies as long as a namespace has too many.
//
// Lock order: Namespace.steering, Namespace.admin, Transaction.mu, then the entities' mutexes by ascending id, which
// puts a topic before its subscriptions, then leaf locks such as the directory's and the catalog's, under which nothing
// else is taken. Under an entity's mutex nothing blocks: the only calls outward are those of the [Journal], of the
// [clock.Clock] and of consumers' notify functions, and none of them waits.
//
// Rule ids in comments (SCHED-9, LOCK-10) and decisions (DEC-22) name the behaviour of the service that the code
// reproduces; docs/rules.md lists them with their tests.
//
// # Words
//
// The words that Service Bus and AMQP do not have:
//
//   - chunk: neighbours in a log. One whose turn is far away is packed: it has numbers instead of entries.
//   - entry: a message in memory. Its state is that in the journal, its mark says what the broker is doing with it. It
//     is free if no consumer or change has it in hand, busy while a change of it is being written.
//   - expected: on its way into a sub-queue, and visible once it arrives, when the change that brings it is committed.
//   - fault: an error that a test injects. The protocol's errors are [Error]s.
//   - forwarder: moves the messages of an entity that forwards. One change is a transfer.
//   - park: to set aside a dead-lettered message that its forward's target can never take. A job may take it.
//   - part: a struct in an entity, with its own methods under the entity's mutex.
//   - record: what happened to messages, event by event, in memory. Users know it as the history.
//   - requeue: to store a message again that was removed for a client and did not reach it.
//   - selector index: the messages that a selector selects, for all consumers with that selector.
//   - step: what a change does to one message: an effect if it is committed, a fallback if it fails.
//   - transition: a change of the messages of one entity.
//
// Callers of a function whose name ends in Locked hold the mutex of its entity or topic. Methods of an entity's parts
// do without the ending, unless the part has methods that are called without the mutex too.
//
// # Chapters
//
// A chapter names no type of a chapter that comes after it; internal/archtest has the exceptions. The entity comes
// early since all parts have a pointer to it, and what most of the package uses stands with it.
//
//   - tools: heap.go, deadlines.go
//   - contract, what the journal, the store and the settings are: journal.go, store.go, snapshot_store.go, options.go,
//     protocol.go, values.go, value_types.go, limits.go, profile.go, beyond.go, errors.go, client.go
//   - log, how messages lie in memory: entry.go, log.go, chunk.go, seq_list.go, ready_queue.go, numbers.go
//   - entity, what queues, topics and subscriptions have in common: entity.go, namespace.go, catalog.go, quiesce.go,
//     subqueue.go, filter_message.go, selector_index.go, attached.go, bodies.go, duplicates.go, lock.go, session.go,
//     preconditions.go, alarm.go, idle.go,
//     counts.go, activity.go, event.go, record.go, jobs.go, selection.go, fault.go, faults.go
//   - change, how a change takes effect or is undone: step.go, transition.go
//   - send: send.go, schedule.go
//   - receive: consumer.go, selector_search.go, delivery.go, deferred.go, receive_delete.go, requeue.go, peek.go,
//     queue_browser.go
//   - sessions, how they are accepted and end: session_accept.go, session_lock.go, session_state.go,
//     session_control.go
//   - settle, how locks and lives end: settle.go, lock_end.go, fault_effect.go, dead_letter.go, expiry.go
//   - topic, who gets a copy: topic.go, topic_match.go, topic_publish.go, topic_activate.go, subscription.go,
//     subscription_rules.go, rule.go
//   - forward, from entity to entity: forwarder.go, parked.go, transfer.go
//   - transaction: transaction.go, transaction_commit.go, transaction_partition.go
//   - messages, looked at and changed by number: selection_content.go, message_view.go, browse.go, remove.go,
//     place.go
//   - jobs, work on many messages in the background: job_run.go, job_move.go
//   - registry, how entities come, change and go: queue_admin.go, topic_admin.go, entity_delete.go, plan.go,
//     configuration_apply.go, configuration.go, dry_run.go, jms.go, load.go, load_messages.go, reset.go, snapshot.go
//   - diagnosis, why nothing is received: facts.go, why.go, why_findings.go, await.go; where a
//     message would go: match.go
//   - broker, the namespaces of a process: broker.go, broker_names.go, broker_directory.go, broker_change.go,
//     clock.go (a namespace's time under control)
package emulator
