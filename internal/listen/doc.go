// Package listen lets one port speak many protocols. A [Mux] looks at the first bytes of each connection and hands the connection
// to the listener of its protocol, AMQP or HTTP. It takes TLS off first, then looks at what is inside.
//
// Package server owns the one Mux of a process, adds every bound port to it and gives its two listeners to the AMQP and
// HTTP servers. A [Pipe] is a listener in memory, for clients in the same process.
//
// Goroutines: one per Serve call, which is the caller's own, and one per connection from its acceptance until it is handed
// out or dropped; Close ends and waits for all of the latter. Once handed out, a connection belongs to the server that accepted it.
// A deadline of a connection in memory has a timer's callback.
//
// The package never interprets a protocol beyond its first bytes, never answers a client, and keeps only a
// bounded number of connections that have not said what they are.
package listen
