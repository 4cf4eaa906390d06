package amqpserver

import (
	"fmt"
	"io"
	"sync"
	"time"

	"minibus/internal/amqp/frames"
)

// tracer writes one readable line per frame.
type tracer struct {
	mu sync.Mutex
	w  io.Writer
}

// Directions in a trace, seen from the client: it is the client that is being debugged.
const (
	traceIn  = "->"
	traceOut = "<-"
)

func (t *tracer) frame(conn, dir string, channel uint16, p frames.Performative, payload int) {
	line := frames.Trace(dir, channel, p, payload)
	t.mu.Lock()
	defer t.mu.Unlock()
	// A trace that can't be written must not fail what it traces.
	_, _ = fmt.Fprintf(t.w, "%s %s %s\n", time.Now().UTC().Format("15:04:05.000000"), conn, line)
}

func (t *tracer) note(conn, dir, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.w, "%s %s %s %s\n", time.Now().UTC().Format("15:04:05.000000"), conn, dir, text)
}
