//go:build unix

package amqpserver

import "syscall"

// directWrites says that this system has a call for [socket].
const directWrites = true

// writeOnce writes what a non-blocking socket takes at once, and returns how much that is.
func writeOnce(fd uintptr, b []byte) int {
	n, _ := syscall.Write(int(fd), b)
	return max(n, 0) // -1 after an error
}
