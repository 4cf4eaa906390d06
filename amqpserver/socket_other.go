//go:build !unix

package amqpserver

// directWrites says that this system has no call for [socket].
const directWrites = false

func writeOnce(uintptr, []byte) int { return 0 }
