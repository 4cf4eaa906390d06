package amqpserver

import "syscall"

// directWrites says that [socket] can't write what a socket takes at once: here sockets are no files.
const directWrites = false

// descriptor is the type of the file descriptors that syscall.Write takes.
type descriptor = syscall.Handle
