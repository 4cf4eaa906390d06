package amqptest

import (
	"net"

	"minibus/internal/listen"
)

// pipeCapacity is how many bytes one direction holds before its writer waits, like the socket buffers of a real
// connection.
const pipeCapacity = 256 << 10

// Pipe returns the two ends of a buffered in-memory connection. Deadlines follow the clock of the synctest bubble
// that sets them. After one end is closed the other can read what is left; then it gets io.EOF.
func Pipe() (client, server net.Conn) { return listen.PipeConns(pipeCapacity) }
