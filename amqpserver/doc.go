// Package amqpserver puts AMQP 1.0 in front of the domain. The SDKs of Azure Service Bus talk to it.
//
// Package server makes a [Server], gives it listeners, shuts it down and shows its [Stats] in server/metrics. Package emulator
// decides everything about messages; cbs and management answer the two request/response
// nodes. The package touches no files and no SQL, and of HTTP only the upgrade to a WebSocket ([Server.WebSocketHandler]). After
// that the WebSocket is a connection like others.
//
// # Goroutines
//
// Each connection has three. The read goroutine takes frames from the socket, decodes them and copies the payload of a
// transfer once. The loop takes a turn for everything that happens; it runs on the goroutine of [Server.ServeConn]. The write goroutine
// writes in one call what the socket has not taken from a turn at once. Without it the loop would block on a peer that waits for us to
// read. All three end with the connection, and ServeConn waits for them. Serve is the accept loop of a listener and starts a goroutine for each connection.
// A timer's callback ends the wait for a session.
//
// All protocol state (sessions, links, credit, unsettled deliveries) belongs to the turn, and has no mutex. One turn at a time is
// under way. If none is, the read goroutine takes the turn for what it has read itself, and [emulator.Broker.Release] may commit on it, so a client that does one
// thing after another wakes one goroutine for each. What is said below of the loop holds for a turn on the read goroutine too.
//
// Everything that happens elsewhere (a commit, a message for a waiting receiver, a changed entity) reaches a loop through
// its mailbox. Any goroutine may post to it without blocking.
//
// # Parts
//
// A connection consists of parts, each with its own state and methods: handshake, reader, output, timers, credentials, agenda,
// sessionTable, requests, transactions, connLog and connTrace. It holds them by value, and they know the connection. The loop owns all
// of them except handshake, which runs before it, and what the other two goroutines do in reader and output. In the same way a
// session has deliveries, outcomes and its window.
//
// # Namespaces
//
// A connection belongs to one namespace of the broker from its open on (namespace.go), and looks up there everything that
// it names. When that namespace is deleted its connections are closed.
//
// # Endings
//
// A link counts the answers that it owes for pending commits (link.go: owe, paid). When it ends it releases at once what it holds in
// the domain. Its detach follows the answers, and so do the end of its session and, for at most a second, the close of the
// connection. After the detach the server writes nothing more about the link's deliveries.
//
// # Sessions and transactions
//
// A receiver with a session filter holds a session of the entity as long as its link lives (accept.go); while it waits for
// one, its attach stays unanswered. A transaction belongs to the control link that declared it (coordinator.go). It exists
// in the domain from its first operation on (transaction.go). Which entities it may touch depends on the links in the
// control link's session, or on a link that names a via entity (via.go). A delivery that it settles stays unsettled until the
// discharge.
//
// # Words
//
// Incoming means client to us, outgoing means us to client. An error of the package, an amqpError, says what it
// ends: link, session or connection. fail.go alone turns it into detach, end or close.
//
// # What it never does
//
// It never decodes a message's body, never sends an outcome before the commit, never walks an id range that a peer names,
// never allocates memory for a size that a peer only claims, and never blocks the loop. For back-pressure the loop takes no frames
// from its reader, and starts no delivery while the write buffer is above its limit.
package amqpserver
