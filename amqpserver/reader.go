package amqpserver

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"minibus/internal/amqp/frames"
)

// Limits of a batch, which holds what has arrived since the last one.
const (
	batchFrames = 64
	batchBytes  = 256 << 10
)

// pooledPiece is how large a piece of a delivery must be to lie in a buffer of the pool, until it is joined with the others.
const pooledPiece = 32 << 10

// inFrame is one decoded frame. Transfers and dispositions, the frequent ones, are stored by value.
type inFrame struct {
	channel     uint16
	kind        frameKind
	transfer    frames.Transfer
	disposition frames.Disposition
	other       frames.Performative
	payload     []byte // of a transfer; a copy that the loop owns
}

type frameKind uint8

const (
	frameOther frameKind = iota
	frameTransfer
	frameDisposition
	frameEmpty
)

// batch holds frames in the order of their arrival, and the error that ended reading, if any.
type batch struct {
	frames []inFrame
	err    error
}

// reader is the read goroutine's part of a connection.
type reader struct {
	c         *conn
	f         *frameReader
	batches   chan *batch   // to the loop
	free      chan *batch   // back from it
	handed    atomic.Int32  // batches on their way to the loop, which has to handle them before later ones are
	stop      chan struct{} // closed when the loop has ended
	ended     chan struct{}
	begun     time.Time
	last      atomic.Int64 // of a read, in ns since begun, monotonic; 0: nothing read yet
	maxFrames atomic.Int32 // frames of a batch; 0: batchFrames
}

func newReader(c *conn) reader {
	return reader{
		c: c, f: newFrameReader(c.nc, &c.srv.readBuffers), begun: time.Now(),
		batches: make(chan *batch), free: make(chan *batch, 2), stop: make(chan struct{}), ended: make(chan struct{}),
	}
}

// loop is the read goroutine. It ends when the socket fails or the loop has ended.
func (r *reader) loop() {
	defer close(r.ended)
	defer r.c.recoverPanic("read")
	defer r.f.close()
	for range cap(r.free) {
		r.free <- new(batch)
	}
	for {
		b := <-r.free
		r.fill(b)
		err := b.err
		if !r.c.takeTurn(b) {
			r.handed.Add(1)
			select {
			case r.batches <- b:
			case <-r.stop:
				return
			}
		}
		if err != nil {
			r.discard(err)
			return
		}
	}
}

// discard reads on after input that can't be decoded, so that the peer can read our close: closing a socket
// with unread input loses what was written to it.
func (r *reader) discard(err error) {
	var ne interface{ Timeout() bool }
	if errors.Is(err, io.EOF) || errors.As(err, &ne) {
		return
	}
	_ = r.c.nc.SetReadDeadline(time.Now().Add(2 * closeLinger))
	_, _ = io.Copy(io.Discard, r.c.nc)
}

// fill blocks for one frame and takes those that came with it, up to the limits.
func (r *reader) fill(b *batch) {
	b.frames, b.err = b.frames[:0], nil
	for size := 0; ; {
		h, body, err := r.f.next()
		if err == nil {
			b.frames = append(b.frames, inFrame{})
			in := &b.frames[len(b.frames)-1]
			if err = in.decode(h, body, r.f.pool); err == nil {
				size += len(in.payload)
				r.noteOpen(in)
			} else {
				b.frames = b.frames[:len(b.frames)-1]
			}
		}
		if err != nil {
			b.err = err
			break
		}
		if len(b.frames) == batchFrames || len(b.frames) == int(r.maxFrames.Load()) || size >= batchBytes || !r.f.more() {
			break
		}
	}
	r.noteRead()
}

// limitBatch fits batches to the operations that the journal made of the last message to a topic: the loop handles a
// batch whole.
func (r *reader) limitBatch(operations int) {
	narrow := int32(0)
	if n := maxWeight / 2 / max(operations, 1); n < batchFrames {
		narrow = int32(max(n, 1))
	}
	if r.maxFrames.Load() != narrow {
		r.maxFrames.Store(narrow)
	}
}

// noteRead notes the time of a read, since begun: the monotonic clock does not jump as the wall clock may.
func (r *reader) noteRead() { r.last.Store(max(int64(time.Since(r.begun)), 1)) }

// silence returns how long the peer has been silent.
func (r *reader) silence(now time.Time) time.Duration {
	return now.Sub(r.begun) - time.Duration(r.last.Load())
}

// noteOpen lifts the limits of the handshake once the peer's open has arrived.
func (r *reader) noteOpen(in *inFrame) {
	if _, ok := in.other.(*frames.Open); ok && r.f.limit == maxFrameBeforeOpen {
		r.f.limit = r.c.srv.options.MaxFrameSize
		_ = r.c.nc.SetReadDeadline(time.Time{})
	}
}

// errFrameType reports a SASL frame after the SASL layer.
var errFrameType = errors.New("unexpected frame type")

// decode decodes a frame. The result does not refer to body, which the next read overwrites. Buffers for large payloads come from the pool.
func (in *inFrame) decode(h frames.Header, body []byte, pool *sync.Pool) error {
	in.channel = h.Channel
	switch {
	case h.Type != frames.TypeAMQP:
		return errFrameType
	case len(body) == 0:
		in.kind = frameEmpty
		return nil
	case frames.IsTransfer(body):
		return in.decodeTransfer(body, pool)
	case isDisposition(body):
		return in.decodeDisposition(body)
	}
	// Other frames are rare, and may hold binary values that are kept.
	p, _, err := frames.DecodeBody(append([]byte(nil), body...))
	in.kind, in.other = frameOther, p
	return err
}

func (in *inFrame) decodeTransfer(body []byte, pool *sync.Pool) error {
	in.kind = frameTransfer
	payload, err := in.transfer.Decode(body)
	if err != nil {
		return err
	}
	// The sender's tag is of no use: the id names the delivery. Of a state, only a transaction's id matters.
	in.transfer.DeliveryTag = nil
	if state, ok := in.transfer.State.(*frames.TransactionalState); ok {
		in.transfer.State = &frames.TransactionalState{TxnID: bytes.Clone(state.TxnID)}
	}
	if in.transfer.More && len(payload) >= pooledPiece {
		in.payload = append((*pool.Get().(*[]byte))[:0], payload...)
		return nil
	}
	in.payload = append(make([]byte, 0, len(payload)), payload...)
	return nil
}

func (in *inFrame) decodeDisposition(body []byte) error {
	in.kind = frameDisposition
	if err := in.disposition.Decode(body); err != nil {
		return err
	}
	switch in.disposition.State.(type) {
	case nil, *frames.Accepted, *frames.Released:
		return nil
	}
	return in.disposition.Decode(append([]byte(nil), body...))
}

// isDisposition recognises the usual encoding; dispositions in another one are decoded as other frames.
func isDisposition(body []byte) bool {
	const smallUlong, code = 0x53, 0x15
	return len(body) > 3 && body[0] == 0 && body[1] == smallUlong && body[2] == code
}

// settles reports whether the batch begins with a settlement.
func (b *batch) settles() bool {
	return len(b.frames) > 0 && b.frames[0].kind == frameDisposition
}
