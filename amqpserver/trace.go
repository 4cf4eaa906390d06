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

// connTrace traces one connection.
type connTrace struct {
	*tracer        // nil: no trace is wanted
	conn    string // its id
}

// frame is inlined: without a trace it costs a comparison.
func (t *connTrace) frame(dir string, channel uint16, p frames.Performative, payload int) {
	if t.tracer != nil {
		t.writeFrame(dir, channel, p, payload)
	}
}

func (t *connTrace) writeFrame(dir string, channel uint16, p frames.Performative, payload int) {
	t.line(frames.Trace(dir, channel, p, payload))
}

func (t *connTrace) header(dir string, h []byte) {
	if t.tracer != nil {
		t.line(fmt.Sprintf("%s header %q %d %d.%d.%d", dir, h[:4], h[4], h[5], h[6], h[7]))
	}
}

func (t *connTrace) line(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// A trace that can't be written must not fail what it traces.
	_, _ = fmt.Fprintf(t.w, "%s %s %s\n", time.Now().UTC().Format("15:04:05.000000"), t.conn, text)
}
