package amqpserver

import (
	"bytes"
	"errors"
	"fmt"
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

// pooledPiece is the size from which on a piece of a delivery lies in a buffer of the pool, until it is joined with the
// others.
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

// performative returns the frame's performative for traces.
func (in *inFrame) performative() frames.Performative {
	switch in.kind {
	case frameTransfer:
		return &in.transfer
	case frameDisposition:
		return &in.disposition
	}
	return in.other
}

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
	handed    atomic.Int32  // batches on their way to the loop, which has to handle them before later ones
	stop      chan struct{} // closed when the loop has ended
	ended     chan struct{}
	begun     time.Time
	last      atomic.Int64 // of a read, in ns since begun, monotonic; 0: nothing read yet
	maxFrames atomic.Int32 // of a batch; 0: batchFrames
}

func newReader(c *conn) reader {
	return reader{
		c:       c,
		f:       newFrameReader(c.nc, &c.srv.readBuffers),
		begun:   time.Now(),
		batches: make(chan *batch),
		free:    make(chan *batch, 2),
		stop:    make(chan struct{}),
		ended:   make(chan struct{}),
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
	b.frames = b.frames[:0]
	for size := 0; ; {
		h, body, err := r.f.next()
		if b.err = err; err != nil {
			break
		}
		b.frames = append(b.frames, inFrame{})
		in := &b.frames[len(b.frames)-1]
		if b.err = in.decode(h, body, r.f.pool); b.err != nil {
			b.frames = b.frames[:len(b.frames)-1]
			break
		}
		if _, ok := in.other.(*frames.Open); ok && r.f.limit == maxFrameBeforeOpen {
			// The limits of the handshake end.
			r.f.limit = r.c.srv.options.MaxFrameSize
			_ = r.c.nc.SetReadDeadline(time.Time{})
		}
		n := len(b.frames)
		size += len(in.payload)
		if n == batchFrames || n == int(r.maxFrames.Load()) || size >= batchBytes || !r.f.more() {
			break
		}
	}
	r.noteRead()
}

// limitBatch fits batches to the operations that the journal made of the last message to a topic: the loop handles a
// batch whole.
func (r *reader) limitBatch(operations int) {
	limit := int32(0)
	if n := maxWeight / 2 / max(operations, 1); n < batchFrames {
		limit = int32(max(n, 1))
	}
	if r.maxFrames.Load() != limit {
		r.maxFrames.Store(limit)
	}
}

// noteRead notes the time of a read, since begun: the monotonic clock does not jump as the wall clock may.
func (r *reader) noteRead() { r.last.Store(max(int64(time.Since(r.begun)), 1)) }

// silence returns how long the peer has been silent.
func (r *reader) silence(now time.Time) time.Duration {
	return now.Sub(r.begun) - time.Duration(r.last.Load())
}

// errFrameType reports a SASL frame after the SASL layer.
var errFrameType = errors.New("unexpected frame type")

// decode decodes a frame. The result does not refer to body, which the next read overwrites. Buffers for large payloads
// come from the pool.
func (in *inFrame) decode(h frames.Header, body []byte, pool *sync.Pool) error {
	const smallUlong, codeDisposition = 0x53, 0x15
	in.channel = h.Channel
	switch {
	case h.Type != frames.TypeAMQP:
		return errFrameType
	case len(body) == 0:
		in.kind = frameEmpty
		return nil
	case frames.IsTransfer(body):
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
		} else {
			in.payload = append(make([]byte, 0, len(payload)), payload...)
		}
		return nil
	case len(body) > 3 && body[0] == 0 && body[1] == smallUlong && body[2] == codeDisposition: // the usual encoding
		in.kind = frameDisposition
		if err := in.disposition.Decode(body); err != nil {
			return err
		}
		switch in.disposition.State.(type) {
		case nil, *frames.Accepted, *frames.Released:
			return nil
		}
		return in.disposition.Decode(bytes.Clone(body))
	}
	// Other frames are rare, and may hold binary values that are kept.
	p, _, err := frames.DecodeBody(bytes.Clone(body))
	in.kind, in.other = frameOther, p
	return err
}

// Sizes of a read buffer. A connection starts with a small one. When much arrives it gets a large one, which holds any
// frame, and after a while of small reads gives it back: thousands of connections may be idle at a time.
const (
	smallReadBuffer = 4 << 10
	quietReads      = 16 // small reads in a row after which a large buffer is given back
)

// errFrameSize is wrapped when a frame is larger than allowed.
var errFrameSize = errors.New("frame too large")

// frameReader cuts a stream of bytes into frames. Only the read goroutine uses it.
type frameReader struct {
	in    io.Reader
	pool  *sync.Pool // of *[]byte, each as large as the largest frame
	large *[]byte    // where buf comes from if it is a pooled buffer
	buf   []byte
	r, w  int // buf[r:w] is read and not yet consumed
	limit uint32
	quiet int // small reads in a row; negative: a large buffer is wanted
}

func newFrameReader(in io.Reader, pool *sync.Pool) *frameReader {
	return &frameReader{in: in, pool: pool, buf: make([]byte, smallReadBuffer), limit: maxFrameBeforeOpen}
}

// close gives the buffer back. The last body that next returned becomes invalid.
func (f *frameReader) close() {
	if f.large != nil {
		f.pool.Put(f.large)
		f.large, f.buf = nil, nil
	}
}

// next returns the next frame. body is valid until the next call. It blocks until a whole frame has been read.
func (f *frameReader) next() (h frames.Header, body []byte, err error) {
	if err := f.fill(frames.HeaderSize); err != nil {
		return h, nil, err
	}
	h, err = frames.ParseHeader(f.buf[f.r:f.w])
	if err != nil {
		return h, nil, err
	}
	if h.Size > f.limit {
		return h, nil, fmt.Errorf("read frame of %d bytes where at most %d are allowed: %w",
			h.Size, f.limit, errFrameSize)
	}
	if err := f.fill(int(h.Size)); err != nil {
		return h, nil, noEOF(err)
	}
	frame := f.buf[f.r : f.r+int(h.Size)]
	f.r += int(h.Size)
	return h, frame[h.BodyStart:], nil
}

// more reports whether next can return without blocking.
func (f *frameReader) more() bool {
	if f.w-f.r < frames.HeaderSize {
		return false
	}
	h, err := frames.ParseHeader(f.buf[f.r:f.w])
	return err != nil || h.Size > f.limit || int(h.Size) <= f.w-f.r
}

// raw returns the next n bytes, for the protocol headers.
func (f *frameReader) raw(n int) ([]byte, error) {
	if err := f.fill(n); err != nil {
		return nil, err
	}
	f.r += n
	return f.buf[f.r-n : f.r], nil
}

// fill reads until n bytes are there. Those that are not consumed go to the front of the buffer first, and of another
// buffer if that is to be larger or smaller. Before open no connection gets a large one.
func (f *frameReader) fill(n int) error {
	rest := f.buf[f.r:f.w]
	if len(rest) >= n {
		return nil
	}
	switch {
	case f.large == nil && (n > len(f.buf) || f.quiet < 0):
		f.large = f.pool.Get().(*[]byte)
		f.w = copy(*f.large, rest)
		f.buf = *f.large
	case f.large != nil && len(rest) == 0 && f.quiet > quietReads:
		f.pool.Put(f.large)
		f.large = nil
		f.buf = make([]byte, smallReadBuffer)
		f.w = 0
	default:
		f.w = copy(f.buf, rest)
	}
	f.r, f.quiet = 0, max(f.quiet, 0)
	for f.w < n {
		got, err := f.in.Read(f.buf[f.w:])
		f.w += got
		switch {
		case got < smallReadBuffer/2 || f.limit <= maxFrameBeforeOpen:
			f.quiet++
		case f.large == nil && f.w == len(f.buf):
			f.quiet = -1
		default:
			f.quiet = 0
		}
		if err != nil && f.w < n {
			if f.w > 0 {
				return noEOF(err)
			}
			return err
		}
	}
	return nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
