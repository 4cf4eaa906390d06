//go:build !windows

package amqpserver

// directWrites says that [socket] can write what a socket takes at once.
const directWrites = true

// descriptor is what syscall.Write takes.
type descriptor = int
