package amqpserver

import "time"

// keepOut is the capacity above which an output buffer is not worth keeping.
const keepOut = 2 * maxPendingOut

// output is the loop's side of writing. The loop appends frames to buf; flush hands the whole of it to the write
// goroutine when that has finished with the last one, so everything that has come together meanwhile goes out in
// one call.
type output struct {
	buf      []byte
	spare    []byte // the other buffer, while the write goroutine does not have it
	busy     bool   // the write goroutine has a buffer
	stalled  bool   // somebody was told that it is full
	last     time.Time
	toWriter chan []byte      // capacity one
	written  chan writeResult // capacity one
}

// writeResult gives a buffer back to the loop.
type writeResult struct {
	buf []byte
	err error
}

func newOutput() output {
	return output{toWriter: make(chan []byte, 1), written: make(chan writeResult, 1), last: time.Now()}
}

// flush starts a write if there is something to write and nobody is writing.
func (o *output) flush() {
	if o.busy || len(o.buf) == 0 {
		return
	}
	o.toWriter <- o.buf
	o.busy, o.last = true, time.Now()
	o.buf, o.spare = o.spare, nil
}

// done takes a buffer back.
func (o *output) done(r writeResult) {
	o.busy = false
	if cap(r.buf) <= keepOut {
		o.spare = r.buf[:0]
	}
}

// idle reports that everything is written.
func (o *output) idle() bool { return !o.busy && len(o.buf) == 0 }

// rest gives the buffers up: thousands of connections may be idle at a time.
func (o *output) rest() {
	if o.idle() {
		o.buf, o.spare = nil, nil
	}
}

// full reports that no further delivery should be started. Who was told so is resumed when it is not full any more.
func (o *output) full() bool {
	full := len(o.buf) >= maxPendingOut
	o.stalled = o.stalled || full
	return full
}

// writeLoop is the write goroutine. It ends when the loop closes its channel; after an error it writes no more, but
// takes what it is given.
func (c *conn) writeLoop() {
	defer close(c.writeEnded)
	defer c.barrier("write")
	var err error
	for buf := range c.out.toWriter {
		if err == nil {
			err = c.writeAll(buf)
		}
		c.out.written <- writeResult{buf, err}
	}
}

// writeAll writes in chunks, each with its own deadline: who reads slowly is served slowly, who does not read at all
// loses the connection.
func (c *conn) writeAll(buf []byte) error {
	for len(buf) > 0 {
		n := min(len(buf), writeChunk)
		if err := c.nc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		if _, err := c.nc.Write(buf[:n]); err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}
