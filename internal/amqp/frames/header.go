package frames

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Frame types [AMQP 2.3.1].
const (
	TypeAMQP = 0
	TypeSASL = 1
)

const (
	// HeaderSize is the size of a frame header without extension, in bytes.
	HeaderSize = 8
	// MinMaxFrameSize is the smallest max-frame-size a peer may ask for, and the largest frame before open, in bytes.
	MinMaxFrameSize = 512
)

// ErrHeader is wrapped by the errors of [ParseHeader]; the peer gets amqp:connection:framing-error.
var ErrHeader = errors.New("bad frame header")

// Heartbeat is an empty frame, which only shows that the connection is alive [AMQP 2.4.5]. It must not be modified.
var Heartbeat = []byte{0, 0, 0, 8, 2, 0, 0, 0}

// Header is a frame header [AMQP 2.3.1].
type Header struct {
	Size      uint32 // of the whole frame in bytes, header included
	BodyStart int    // offset of the body in bytes; what is between the header's eight and the body is ignored
	Type      uint8  // TypeAMQP or TypeSASL
	Channel   uint16 // of AMQP frames; ignore it on SASL frames
}

// ParseHeader reads the header of a frame; b has at least HeaderSize bytes. It checks that the body begins after the
// header and inside the frame. The caller checks Size against max-frame-size, and the type.
func ParseHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, fmt.Errorf("read %d bytes: %w", len(b), ErrHeader)
	}
	h := Header{
		Size:      binary.BigEndian.Uint32(b),
		BodyStart: 4 * int(b[4]),
		Type:      b[5],
		Channel:   binary.BigEndian.Uint16(b[6:]),
	}
	if h.Size < HeaderSize {
		return h, fmt.Errorf("read frame size %d, less than its header: %w", h.Size, ErrHeader)
	}
	if h.BodyStart < HeaderSize {
		return h, fmt.Errorf("read data offset %d, inside the header: %w", b[4], ErrHeader)
	}
	if h.Size < uint32(h.BodyStart) {
		return h, fmt.Errorf("read data offset %d beyond frame size %d: %w", b[4], h.Size, ErrHeader)
	}
	return h, nil
}

// BeginFrame reserves a frame header at the end of dst and returns where the frame starts, for [EndFrame].
func BeginFrame(dst []byte, typ uint8, channel uint16) ([]byte, int) {
	return append(dst, 0, 0, 0, 0, HeaderSize/4, typ, byte(channel>>8), byte(channel)), len(dst)
}

// EndFrame patches the size of the frame that starts at start and ends with dst.
func EndFrame(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// AppendFrame appends a whole AMQP frame without payload.
func AppendFrame(dst []byte, channel uint16, p Performative) []byte {
	dst, start := BeginFrame(dst, TypeAMQP, channel)
	return EndFrame(p.AppendTo(dst), start)
}

// AppendSASLFrame appends a whole SASL frame.
func AppendSASLFrame(dst []byte, p Performative) []byte {
	dst, start := BeginFrame(dst, TypeSASL, 0)
	return EndFrame(p.AppendTo(dst), start)
}
