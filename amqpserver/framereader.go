package amqpserver

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"minibus/internal/amqp/frames"
)

// Sizes of a read buffer. A connection starts with a small buffer and gets a large one, which holds any frame, when
// much arrives. After a while of small reads it gives the large one back: thousands of
// connections may be idle at a time.
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
	quiet int
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
		return h, nil, fmt.Errorf("read frame of %d bytes where at most %d are allowed: %w", h.Size, f.limit, errFrameSize)
	}
	if err := f.fill(int(h.Size)); err != nil {
		return h, nil, noEOF(err)
	}
	frame := f.buf[f.r : f.r+int(h.Size)]
	f.r += int(h.Size)
	return h, frame[h.BodyStart():], nil
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

func (f *frameReader) fill(n int) error {
	if f.w-f.r >= n {
		return nil
	}
	f.makeRoom(n)
	for f.w-f.r < n {
		got, err := f.in.Read(f.buf[f.w:])
		f.w += got
		f.note(got)
		if err != nil && f.w-f.r < n {
			if f.w > f.r {
				return noEOF(err)
			}
			return err
		}
	}
	return nil
}

// makeRoom moves the unread bytes to the front of a buffer that holds n bytes.
func (f *frameReader) makeRoom(n int) {
	rest := f.buf[f.r:f.w]
	switch {
	case f.large == nil && (n > len(f.buf) || f.quiet < 0):
		f.large = f.pool.Get().(*[]byte)
		f.w = copy(*f.large, rest)
		f.buf = *f.large
	case f.large != nil && len(rest) == 0 && f.quiet > quietReads:
		f.pool.Put(f.large)
		f.large, f.buf, f.w = nil, make([]byte, smallReadBuffer), 0
	default:
		f.w = copy(f.buf, rest)
	}
	f.r, f.quiet = 0, max(f.quiet, 0)
}

// note counts small reads; a large read that fills a small buffer asks for a large one. Before open no connection gets a large one.
func (f *frameReader) note(got int) {
	switch {
	case got >= smallReadBuffer/2 && f.limit > maxFrameBeforeOpen:
		f.quiet = 0
		if f.large == nil && f.w == len(f.buf) {
			f.quiet = -1
		}
	default:
		f.quiet++
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
