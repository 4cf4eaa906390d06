package amqpserver

import (
	"slices"
	"time"

	"minibus/emulator"
)

// keepOut is the capacity above which an output buffer is not worth keeping.
const keepOut = 2 * maxPendingOut

// output is the loop's side of writing. The loop appends frames to buf; flush hands the whole of it to the write
// goroutine when that has finished with the last one, so everything that has come together meanwhile goes out in
// one call.
type output struct {
	buf      []byte
	spare    []byte    // the other buffer, while the write goroutine does not have it
	aboard   []shipped // in buf
	leaving  []shipped // in the buffer that the write goroutine has
	busy     bool      // the write goroutine has a buffer
	stalled  bool      // somebody was told that it is full
	last     time.Time
	toWriter chan []byte      // capacity one
	written  chan writeResult // capacity one
}

// shipped is a delivery that was received and deleted, as it stands in a buffer. It is the client's when the socket has taken
// the last byte of it; until then it can be given back (RAD-5).
type shipped struct {
	end int // of its last frame in the buffer
	d   *emulator.Delivery
}

// writeResult gives a buffer back to the loop.
type writeResult struct {
	buf     []byte
	written int // bytes that the socket has, or may have, taken
	err     error
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
	o.aboard, o.leaving = o.leaving, o.aboard
}

// ship notes a delivery that was received and deleted and stands in buf now with its last frame.
func (o *output) ship(d *emulator.Delivery) { o.aboard = append(o.aboard, shipped{len(o.buf), d}) }

// done takes a buffer back.
func (o *output) done(r writeResult) {
	o.busy = false
	o.leaving = slices.DeleteFunc(o.leaving, func(s shipped) bool { return s.end <= r.written })
	if cap(r.buf) <= keepOut {
		o.spare = r.buf[:0]
	}
}

// takeBack gives back the deliveries that the socket has not taken. The write goroutine must have ended.
func (o *output) takeBack() {
	select {
	case r := <-o.written:
		o.done(r)
	default:
	}
	for _, s := range slices.Concat(o.leaving, o.aboard) {
		s.d.TakeBack()
	}
	o.leaving, o.aboard = nil, nil
}

// idle reports that everything is written.
func (o *output) idle() bool { return !o.busy && len(o.buf) == 0 }

// rest gives the buffers up: thousands of connections may be idle at a time.
func (o *output) rest() {
	if o.idle() {
		o.buf, o.spare, o.aboard, o.leaving = nil, nil, nil, nil
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
		written := 0
		if err == nil {
			written, err = c.writeAll(buf)
		}
		c.out.written <- writeResult{buf, written, err}
	}
}

// writeAll writes in chunks, each with its own deadline: who reads slowly is served slowly, who does not read at all
// loses the connection. It returns how many bytes the socket has taken.
func (c *conn) writeAll(buf []byte) (written int, err error) {
	for written < len(buf) {
		n := min(len(buf)-written, writeChunk)
		if err := c.nc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return written, err
		}
		n, err = c.nc.Write(buf[written : written+n])
		if written += n; err != nil {
			return written, err
		}
	}
	return written, nil
}

// stopWriting ends the write goroutine. What it is writing is cut: the connection is dead then.
func (c *conn) stopWriting() {
	close(c.out.toWriter)
	if c.out.busy {
		_ = c.nc.Close()
	}
	<-c.writeEnded
}
