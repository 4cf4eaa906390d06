package amqpserver

import (
	"slices"
	"sync"

	"minibus/internal/amqp/message"
)

// part is a delivery whose last transfer has not arrived. Its payloads are kept as pieces. Those of a large delivery move on, as they come, to a buffer of the length that
// its body announces. If they were joined at the end, that one copy would hold up the whole process for as long as a hundred mebibytes take: nothing can
// interrupt a copy, and the garbage collector waits for it.
type part struct {
	delivered
	begun   bool
	refused bool     // it has its outcome; the rest is discarded
	size    int      // bytes that have arrived, counted in the connection's assembly
	whole   []byte   // the beginning, with room for the rest; nil: pieces has all
	length  int      // that the body announces; 0: not known yet; notAnnounced
	pieces  [][]byte // what comes after whole
}

const (
	notAnnounced = -1
	worthBuffer  = 8 // so much of the announced length must have arrived, as a fraction of it, before there is a buffer for it
)

// gather moves the pieces to the buffer of the whole delivery, as far as they fit. It makes the buffer if the first piece announces a length of at most that many bytes.
func (p *part) gather(most int, pool *sync.Pool) {
	if p.length == 0 {
		p.length = notAnnounced
		if n := message.Announced(p.pieces[0]); n >= uint64(p.size) && n <= uint64(most) {
			p.length = int(n)
		}
	}
	if p.whole == nil && p.length != notAnnounced && p.size >= p.length/worthBuffer {
		p.whole = make([]byte, 0, p.length)
	}
	if p.whole != nil {
		p.move(pool)
	}
}

// spare returns how much of the buffer is still empty.
func (p *part) spare() int { return cap(p.whole) - len(p.whole) }

// move appends pieces to the whole, as far as they fit. Buffers of the pool go back to it.
func (p *part) move(pool *sync.Pool) {
	n := 0
	for ; n < len(p.pieces) && len(p.pieces[n]) <= p.spare(); n++ {
		piece := p.pieces[n]
		p.whole = append(p.whole, piece...)
		if buf := piece[:cap(piece)]; len(piece) >= pieceOfPool && len(buf) > len(piece) {
			pool.Put(&buf)
		}
	}
	p.pieces = slices.Delete(p.pieces, 0, n)
}

// join makes the delivery one slice, which is raw.
func (p *part) join(pool *sync.Pool) {
	if cap(p.whole) < p.size {
		beginning := p.whole
		p.whole = make([]byte, 0, p.size)
		for step := range slices.Chunk(beginning, 1<<20) {
			p.whole = append(p.whole, step...)
		}
	}
	p.move(pool)
	p.raw = p.whole
	p.whole, p.pieces = nil, nil
}

// release forgets what has arrived.
func (p *part) release() { p.raw, p.whole, p.pieces = nil, nil, nil }
