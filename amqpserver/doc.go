// Package amqpserver puts AMQP 1.0 in front of the domain. The SDKs of Azure Service Bus talk to it.
//
// Package server makes a [Server], gives it listeners and shuts it down; metrics reads its numbers. Everything that
// concerns messages is in package emulator; cbs and management answer the two request/response
// nodes. The package has no files, no SQL, and of HTTP only the upgrade to a WebSocket ([Server.WebSocketHandler]), after
// which the WebSocket is a connection like others.
//
// # Goroutines
//
// Each connection has three. The read goroutine takes frames from the socket, decodes them and copies the payload of a
// transfer once. The loop owns all protocol state (sessions, links, credit, unsettled deliveries), which therefore has
// no mutex; it is the goroutine of [Server.ServeConn]. The write goroutine writes what the loop has
// produced meanwhile in one call. A loop that wrote to the socket itself would
// stand still with a peer that waits for us to read, so the third one is needed. All three end with the connection, and ServeConn waits for them.
// Serve is the accept loop of a listener and starts a goroutine for each connection. A timer's callback ends the wait for a session.
//
// Everything that happens elsewhere (a commit, a message for a waiting receiver, a changed entity) reaches a loop through
// its mailbox, to which any goroutine may post without waiting.
//
// # Endings
//
// A link counts the answers that it owes for what is being committed (link.go: owe, paid). It releases what it holds of the domain
// as soon as it ends. Its detach follows the answers, and so do the end of its session and, for a second, the close of the
// connection. After that the server says nothing of its deliveries.
//
// # Sessions and transactions
//
// A receiver with a session filter holds a session of the entity as long as its link lives (accept.go); while it waits for
// one, its attach stays unanswered. A transaction belongs to the control link that declared it (coordinator.go) and lives
// in the domain from its first operation on (transaction.go). Which entities it may touch depends on the links in the
// control link's session, or on a link that names a via entity (via.go).
//
// # Words
//
// Incoming is client to us, outgoing is us to client. An error's type is its scope: [linkError], [sessionError],
// [connError]; one place (fail.go) turns it into detach, end or close.
//
// # What it never does
//
// It never decodes a message's body, never sends an outcome before the commit, never walks an id range that a peer names,
// never trusts a size on the wire with memory, and never blocks the loop. For back-pressure the loop takes no frames
// from its reader, and starts no delivery above a limit of the write buffer.
package amqpserver
