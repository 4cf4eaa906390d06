package amqpserver

import (
	"slices"
	"sync"

	"minibus/internal/amqp/message"
)

// partialDelivery is a delivery whose last transfer has not arrived. Its payloads are kept as pieces. Those of a large delivery
// move on, as they come, to a buffer that grows with it, in two steps, to the length that its body announces. If they
// were joined at the end, that one copy would hold up the whole process for as long as a hundred mebibytes take:
// nothing can interrupt a copy, and the garbage collector waits for it.
type partialDelivery struct {
	delivered
	begun     bool
	refused   bool     // it has its outcome; the rest is discarded
	size      int      // bytes that have arrived, counted in the connection's assembly
	buffer    []byte   // the beginning, with room for more; nil: pieces has all
	announced int      // that the body announces; 0: not known yet; notAnnounced
	pieces    [][]byte // what comes after whole
}

const notAnnounced = -1

// readAnnounced notes the length that the first piece announces, if that is at most so many bytes.
func (p *partialDelivery) readAnnounced(most int) {
	if p.announced != 0 {
		return
	}
	p.announced = notAnnounced
	if n := message.Announced(p.pieces[0]); n >= uint64(p.size) && n <= uint64(most) {
		p.announced = int(n)
	}
}

// wantedBuffer returns how long the buffer has to be by now: half of what the delivery announces once an eighth of that has
// arrived, and all once half has. A sender that announces much and sends little gets little.
func (p *partialDelivery) wantedBuffer() int {
	switch {
	case p.announced <= 0 || p.size < p.announced/8:
		return 0
	case p.size < p.announced/2:
		return p.announced / 2
	}
	return p.announced
}

// fillBuffer moves the pieces to the buffer, as far as they fit. It makes the buffer that is due.
func (p *partialDelivery) fillBuffer(pool *sync.Pool) {
	if n := p.wantedBuffer(); n > cap(p.buffer) {
		p.growBuffer(n)
	}
	if p.buffer != nil {
		p.movePieces(pool)
	}
}

// growBuffer moves what the buffer has to another one, in steps.
func (p *partialDelivery) growBuffer(length int) {
	beginning := p.buffer
	p.buffer = make([]byte, 0, length)
	for step := range slices.Chunk(beginning, 1<<20) {
		p.buffer = append(p.buffer, step...)
	}
}

// unusedBuffer returns how much more than what has arrived the buffer has, or is to have.
func (p *partialDelivery) unusedBuffer() int {
	return max(0, max(cap(p.buffer), p.wantedBuffer())-p.size)
}

// movePieces appends pieces to the whole, as far as they fit. Buffers of the pool go back to it.
func (p *partialDelivery) movePieces(pool *sync.Pool) {
	n := 0
	for ; n < len(p.pieces) && len(p.pieces[n]) <= cap(p.buffer)-len(p.buffer); n++ {
		piece := p.pieces[n]
		p.buffer = append(p.buffer, piece...)
		if buf := piece[:cap(piece)]; len(piece) >= pooledPiece && len(buf) > len(piece) {
			pool.Put(&buf)
		}
	}
	p.pieces = slices.Delete(p.pieces, 0, n)
}

// join makes the delivery one slice, which is raw.
func (p *partialDelivery) join(pool *sync.Pool) {
	if cap(p.buffer) < p.size {
		p.growBuffer(p.size)
	}
	p.movePieces(pool)
	p.raw = p.buffer
	p.buffer, p.pieces = nil, nil
}

// release forgets what has arrived.
func (p *partialDelivery) release() { p.raw, p.buffer, p.pieces = nil, nil, nil }
