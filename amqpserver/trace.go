package amqpserver

import (
	"fmt"
	"io"
	"sync"
	"time"

	"minibus/internal/amqp/frames"
)

// tracer writes one line per frame for people.
type tracer struct {
	mu sync.Mutex
	w  io.Writer
}

// Directions as a trace shows them: seen from the client, as it is the client that is being debugged.
const (
	traceIn  = "->"
	traceOut = "<-"
)

func (t *tracer) frame(conn, dir string, channel uint16, p frames.Performative, payload int) {
	line := frames.Trace(dir, channel, p, payload)
	t.mu.Lock()
	defer t.mu.Unlock()
	// A trace that cannot be written is no reason to fail what it traces.
	_, _ = fmt.Fprintf(t.w, "%s %s %s\n", time.Now().UTC().Format("15:04:05.000000"), conn, line)
}

func (t *tracer) note(conn, dir, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.w, "%s %s %s %s\n", time.Now().UTC().Format("15:04:05.000000"), conn, dir, text)
}
