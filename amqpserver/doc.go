// Package amqpserver puts AMQP 1.0 in front of the domain. The SDKs of Azure Service Bus talk to it.
//
// Package server makes a [Server], gives it listeners, shuts it down and shows its [Stats] in server/metrics. Package
// emulator decides everything about messages. Packages cbs and management answer the two request/response nodes. This
// package touches no files and no SQL, and of HTTP only the upgrade to a WebSocket ([Server.WebSocketHandler]); after
// it the WebSocket is a connection like others.
//
// # Goroutines
//
// Each connection has three. The read goroutine takes frames from the socket, decodes them and copies the payload of a
// transfer once. The loop takes a turn for everything that happens; it runs on the goroutine of [Server.ServeConn]. The
// write goroutine writes what the socket does not take at once, since the loop must not wait for a peer that does not
// read. All three end with the connection, and ServeConn waits for them. It waits too for the goroutine of errands,
// which lives while there are entities to make or to delete for the connection's links. Serve is the accept loop of a
// listener and starts a goroutine for each connection. A timer's callback ends the wait for a session.
//
// All protocol state (sessions, links, credit, unsettled deliveries) belongs to the turn, and has no mutex. One turn
// at a time is under way. If none is, the read goroutine takes the turn for what it has read, and
// [emulator.Broker.EndBatch] may commit on it, so a client that does one thing after another wakes one goroutine for
// each. What is said below of the loop holds for a turn on the read goroutine too.
//
// Everything that happens elsewhere (a commit, a message for a waiting receiver, a changed entity) reaches a loop
// through its mailbox. Any goroutine may post to it without blocking.
//
// # Files
//
//   - conn, loop: a connection and its turns. handshake: protocol headers and SASL. dispatch: its frames, from open on,
//     and the trace of them. idle: its timer.
//   - reader, writer (socket_*): the two other goroutines.
//   - session, flow: sessions, windows and credit. attach, session_accept, link: links, and receivers of a session.
//   - incoming, assembly: deliveries from the client. delivering_link, outgoing: deliveries to it.
//   - deliveries, settle: what the client has, and how it settles that. memory: the budgets for large deliveries.
//   - jms: what a connection gets of JMS 2.0, selectors of attaches, entities that an attach makes. errands: work off
//     the loop, and the attaches that wait for it. subscriber, temporary, relay, browser: subscriptions, temporary
//     entities, links without an address, browsers.
//   - coordinator, transaction: transactions. via_entity: the entity that those over several go through. requests,
//     replies: $cbs and $management.
//   - tokens: tokens are verified and expire; connections without one. namespace, address: what clients name.
//   - errors: AMQP errors and their lines in the log. injected: faults that a test injects.
//   - server, websocket, options: the server. inspect, inspect_link: connections and links as others see and end them.
//
// A connection holds its parts by value: reader, output, assembly, credentials, runQueue, sessionTable,
// pendingRequests, transactions, connLog and connTrace. Each has its own state and methods and knows the connection. In
// the same way a session has deliveries, outcomes and its window.
//
// # Namespaces
//
// A connection belongs to one namespace of the broker from its open on, and looks up there everything that it names.
// When that namespace is deleted its connections are closed.
//
// # Endings
//
// A link counts its outstanding answers, which follow their commits. When it ends it releases at once what it holds in
// the domain. Its detach follows the answers, and so do the end of its session and, for at most a second, the close of
// the connection. After the detach the server writes nothing more about the link's deliveries.
//
// # Sessions and transactions
//
// A receiver with a session filter holds a session of the entity as long as its link lives. While it waits for one,
// its attach stays unanswered. A transaction belongs to the control link that declared it, and exists in the domain
// from its first operation on. Which entities it may touch depends on the links in the control link's session, or on a
// link that names a via entity. A delivery that it settles stays unsettled until the discharge.
//
// # Words
//
// Incoming means client to us, outgoing means us to client. An error of the package is an amqpError, which says what
// it ends: link, session or connection. errors.go closes the connection, session.go the session, and link.go the link;
// attach.go refuses one. A fault is an error that was injected.
//
// # What it never does
//
// It never decodes a message's body, never sends an outcome before the commit, never walks an id range that a peer
// names, never allocates memory for a size that a peer only claims, and never blocks the loop. For back-pressure the
// loop takes no frames from its reader, and starts no delivery while the write buffer is above its limit.
package amqpserver
