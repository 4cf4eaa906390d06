// Package listen lets one port speak many protocols. A [Mux] looks at the first bytes of each connection and hands
// the connection to the listener of its protocol, AMQP or HTTP. It removes TLS first, then looks at the bytes inside.
//
// Package server owns the one Mux of a process, adds every bound port to it and gives its two listeners to the AMQP and
// HTTP servers. A [Pipe] is a listener in memory, for clients in the same process.
//
// Goroutines: each Serve call runs on its caller's, and each connection has one from its acceptance until it is
// handed out or dropped; Close ends and waits for the latter. Once handed out, a connection belongs to the server
// that accepted it. A deadline of a connection in memory runs a timer's callback.
//
// The package never interprets a protocol beyond its first bytes, never answers a client, and keeps only a
// bounded number of connections whose protocol it does not know yet.
package listen
