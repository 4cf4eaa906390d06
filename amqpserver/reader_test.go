package amqpserver

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"

	"net"

	"minibus/internal/amqp/frames"
)

// readConn is a connection that can only Read.
type readConn struct {
	net.Conn
	io.Reader
}

func (c readConn) Read(b []byte) (int, error) { return c.Reader.Read(b) }

func newTestReader(r io.Reader, limit uint32) *frameReader {
	pool := &sync.Pool{New: func() any { b := make([]byte, 65_536); return &b }}
	f := newFrameReader(readConn{Reader: r}, pool)
	f.limit = limit
	return f
}

// frame returns a frame of the given size whose body repeats a byte.
func frame(size int, fill byte) []byte {
	b, start := frames.BeginFrame(nil, frames.TypeAMQP, uint16(fill))
	b = append(b, bytes.Repeat([]byte{fill}, size-frames.HeaderSize)...)
	return frames.EndFrame(b, start)
}

func TestFrameReader_AllSizesInAllPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var stream []byte
	var sizes []int
	for i := range 400 {
		size := []int{8, 9, 40, 1100, smallReadBuffer - 1, smallReadBuffer, smallReadBuffer + 1, 65_535,
			65_536}[rng.IntN(9)]
		if i > 100 && i < 200 {
			size = 40 // long enough for the large buffer to be given back
		}
		sizes = append(sizes, size)
		stream = append(stream, frame(size, byte(i))...)
	}
	for name, r := range map[string]io.Reader{
		"at once": bytes.NewReader(stream), "byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
		"halves":     iotest.HalfReader(bytes.NewReader(stream)),
		"with error": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		f := newTestReader(r, 65_536)
		for i, size := range sizes {
			h, body, err := f.next()
			if err != nil {
				t.Fatalf("%s: frame %d: %v", name, i, err)
			}
			if int(h.Size) != size || h.Channel != uint16(byte(i)) || len(body) != size-8 ||
				bytes.Count(body, []byte{byte(i)}) != len(body) {
				t.Fatalf("%s: frame %d is wrong", name, i)
			}
		}
		if _, _, err := f.next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: at the end: %v", name, err)
		}
		f.close()
	}
}

func TestFrameReader_More(t *testing.T) {
	stream := append(frame(40, 1), frame(40, 2)...)
	stream = append(stream, frame(40, 3)[:20]...)
	f := newTestReader(bytes.NewReader(stream), 65_536)
	if f.more() {
		t.Error("more before anything was read")
	}
	for i, want := range []bool{true, false} {
		if _, _, err := f.next(); err != nil {
			t.Fatal(err)
		}
		if f.more() != want {
			t.Errorf("after frame %d: more is %v", i, !want)
		}
	}
	if _, _, err := f.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("truncated frame: %v", err)
	}
}

func TestFrameReader_Limits(t *testing.T) {
	for _, c := range []struct {
		name  string
		input []byte
		want  error
	}{
		{"above the limit", frame(1001, 1), errFrameSize},
		{"4 GB announced", []byte{0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0}, errFrameSize},
		{"size below the header", []byte{0, 0, 0, 7, 2, 0, 0, 0}, frames.ErrHeader},
		{"nothing", nil, io.EOF},
		{"half a header", []byte{0, 0, 0}, io.ErrUnexpectedEOF},
	} {
		f := newTestReader(bytes.NewReader(c.input), 1000)
		if _, _, err := f.next(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if len(f.buf) > smallReadBuffer {
			t.Errorf("%s: a buffer of %d bytes", c.name, len(f.buf))
		}
	}
}

func TestFrameReader_GivesTheLargeBufferBack(t *testing.T) {
	r, w := io.Pipe()
	f := newTestReader(r, 65_536)
	go func() {
		_, _ = w.Write(frame(60_000, 1))
		for range 40 {
			_, _ = w.Write(frame(40, 2))
		}
		_ = w.Close()
	}()
	if _, _, err := f.next(); err != nil || f.large == nil {
		t.Fatalf("no large buffer for a large frame: %v", err)
	}
	for range 40 {
		if _, _, err := f.next(); err != nil {
			t.Fatal(err)
		}
	}
	if f.large != nil {
		t.Error("the large buffer is kept by a quiet connection")
	}
}
