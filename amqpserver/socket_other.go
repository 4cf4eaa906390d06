//go:build !windows

package amqpserver

// directWrites says that [socket] can write what a socket takes at once.
const directWrites = true

// descriptor is the type of the file descriptors that syscall.Write takes.
type descriptor = int
