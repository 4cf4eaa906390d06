// Package listen lets one port speak many protocols: a [Mux] looks at the first bytes of each connection and hands it
// to the listener of its protocol, AMQP or HTTP. TLS is taken off first, then what is inside is looked at again.
//
// Package server owns the one Mux of a process, adds every bound port to it and gives its two listeners to the AMQP and
// HTTP servers. A [Pipe] is a listener in memory, for clients in the same process.
//
// Goroutines: one per Serve call, which is the caller's own, and one per connection from its acceptance until it is handed
// out or dropped; Close ends and waits for all of the latter. Once handed out, a connection belongs to whoever accepted it.
//
// The package never interprets a protocol beyond its first bytes, never answers a client, and never keeps more than a
// bounded number of connections that have not said what they are.
package listen
