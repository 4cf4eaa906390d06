package amqpserver

import (
	"slices"
	"sync"

	"minibus/internal/amqp/message"
)

// part is a delivery whose last transfer has not arrived. Its payloads are kept as pieces. Those of a large delivery
// move on, as they come, to a buffer that grows with it, in two steps, to the length that its body announces. If they
// were joined at the end, that one copy would hold up the whole process for as long as a hundred mebibytes take:
// nothing can interrupt a copy, and the garbage collector waits for it.
type part struct {
	delivered
	begun   bool
	refused bool     // it has its outcome; the rest is discarded
	size    int      // bytes that have arrived, counted in the connection's assembly
	whole   []byte   // the beginning, with room for more; nil: pieces has all
	length  int      // that the body announces; 0: not known yet; notAnnounced
	pieces  [][]byte // what comes after whole
}

const notAnnounced = -1

// announce notes the length that the first piece announces, if that is at most so many bytes.
func (p *part) announce(most int) {
	if p.length != 0 {
		return
	}
	p.length = notAnnounced
	if n := message.Announced(p.pieces[0]); n >= uint64(p.size) && n <= uint64(most) {
		p.length = int(n)
	}
}

// due returns how long the buffer has to be by now: half of what the delivery announces once an eighth of that has
// arrived, and all once half has. A sender that announces much and sends little gets little.
func (p *part) due() int {
	switch {
	case p.length <= 0 || p.size < p.length/8:
		return 0
	case p.size < p.length/2:
		return p.length / 2
	}
	return p.length
}

// gather moves the pieces to the buffer, as far as they fit. It makes the buffer that is due.
func (p *part) gather(pool *sync.Pool) {
	if n := p.due(); n > cap(p.whole) {
		p.enlarge(n)
	}
	if p.whole != nil {
		p.move(pool)
	}
}

// enlarge moves what the buffer has to another one, in steps.
func (p *part) enlarge(length int) {
	beginning := p.whole
	p.whole = make([]byte, 0, length)
	for step := range slices.Chunk(beginning, 1<<20) {
		p.whole = append(p.whole, step...)
	}
}

// spare returns how much more than what has arrived the buffer has, or is to have.
func (p *part) spare() int { return max(0, max(cap(p.whole), p.due())-p.size) }

// move appends pieces to the whole, as far as they fit. Buffers of the pool go back to it.
func (p *part) move(pool *sync.Pool) {
	n := 0
	for ; n < len(p.pieces) && len(p.pieces[n]) <= cap(p.whole)-len(p.whole); n++ {
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
		p.enlarge(p.size)
	}
	p.move(pool)
	p.raw = p.whole
	p.whole, p.pieces = nil, nil
}

// release forgets what has arrived.
func (p *part) release() { p.raw, p.whole, p.pieces = nil, nil, nil }
