package amqpserver

import (
	"bytes"
	"errors"
	"io"
	"time"

	"minibus/internal/amqp/frames"
)

// Limits of a batch, which holds what has arrived since the last one.
const (
	batchFrames = 64
	batchBytes  = 256 << 10
)

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

// readLoop is the read goroutine. It ends when the socket fails or the loop has ended.
func (c *conn) readLoop(f *frameReader) {
	defer close(c.readEnded)
	defer c.barrier("read")
	defer f.close()
	for {
		b := <-c.freeBatches
		c.readBatch(f, b)
		err := b.err
		select {
		case c.batches <- b:
		case <-c.ended:
			return
		}
		if err != nil {
			c.discard(err)
			return
		}
	}
}

// discard reads on after input that can't be decoded, so that the peer can read our close: closing a socket
// with unread input loses what was written to it.
func (c *conn) discard(err error) {
	var ne interface{ Timeout() bool }
	if errors.Is(err, io.EOF) || errors.As(err, &ne) {
		return
	}
	_ = c.nc.SetReadDeadline(time.Now().Add(2 * closeLinger))
	_, _ = io.Copy(io.Discard, c.nc)
}

// readBatch blocks for one frame and takes those that came with it, up to the limits.
func (c *conn) readBatch(f *frameReader, b *batch) {
	b.frames, b.err = b.frames[:0], nil
	for size := 0; ; {
		h, body, err := f.next()
		if err == nil {
			b.frames = append(b.frames, inFrame{})
			in := &b.frames[len(b.frames)-1]
			if err = in.decode(h, body); err == nil {
				size += len(in.payload)
				c.opening(f, in)
			} else {
				b.frames = b.frames[:len(b.frames)-1]
			}
		}
		if err != nil {
			b.err = err
			break
		}
		if len(b.frames) == batchFrames || size >= batchBytes || !f.more() {
			break
		}
	}
	c.heard()
}

// heard notes the time of a read, since begun: the monotonic clock does not jump as the wall clock may.
func (c *conn) heard() { c.lastRead.Store(max(int64(time.Since(c.begun)), 1)) }

// opening lifts the limits of the handshake once the peer's open has arrived.
func (c *conn) opening(f *frameReader, in *inFrame) {
	if _, ok := in.other.(*frames.Open); ok && f.limit == maxFrameBeforeOpen {
		f.limit = c.srv.options.MaxFrameSize
		_ = c.nc.SetReadDeadline(time.Time{})
	}
}

// errFrameType reports a SASL frame after the SASL layer.
var errFrameType = errors.New("unexpected frame type")

// decode decodes a frame. The result does not refer to body, which the next read overwrites.
func (in *inFrame) decode(h frames.Header, body []byte) error {
	in.channel = h.Channel
	switch {
	case h.Type != frames.TypeAMQP:
		return errFrameType
	case len(body) == 0:
		in.kind = frameEmpty
		return nil
	case frames.IsTransfer(body):
		return in.decodeTransfer(body)
	case isDisposition(body):
		return in.decodeDisposition(body)
	}
	// Other frames are rare, and may hold binary values that are kept.
	p, _, err := frames.DecodeBody(append([]byte(nil), body...))
	in.kind, in.other = frameOther, p
	return err
}

func (in *inFrame) decodeTransfer(body []byte) error {
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
