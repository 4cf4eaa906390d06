package amqpserver

import (
	"slices"
	"sync"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// assembly counts the deliveries of a connection that have begun to arrive, and their way to the journal. While it has
// a large one, the connection has a share of the server's memory. If it gets none it waits, and reads nothing.
type assembly struct {
	c         *conn
	share     memoryShare
	bytes     int   // of unfinished deliveries
	limit     int   // that bytes may reach: of the link with the largest messages among them
	large     int   // unfinished deliveries of more than largeDelivery
	moved     int64 // bytes of large deliveries, in all
	waiting   bool  // for memory
	hasMemory bool
	buffered  *partialDelivery // the one that has a buffer for what it announces; nil: none
}

func newAssembly(c *conn) assembly {
	a := assembly{c: c}
	a.share.resume = c.wake
	a.share.stall = func() { c.post(c.refuseStalled) }
	return a
}

// wake causes a turn, which looks again for what the connection waits for.
func (c *conn) wake() { c.post(func() {}) }

// limitFor returns how many bytes the unfinished deliveries may have together.
func (a *assembly) limitFor(in *incomingLink) int {
	return a.c.tokens.limit(maxAssembly, unauthenticatedAssembly) + in.maxMessage
}

// add counts bytes that arrived for a link's delivery.
func (a *assembly) add(in *incomingLink, bytes int) {
	p := &in.partial
	a.bytes += bytes
	a.limit = max(a.limit, a.limitFor(in))
	if p.size <= largeDelivery && p.size+bytes > largeDelivery {
		a.large++
	}
	if p.size += bytes; p.size > largeDelivery {
		a.moved += int64(bytes)
	}
}

// mayGrow reports whether the connection may read on. A connection that has waited was not silent, and its links were
// not idle.
func (a *assembly) mayGrow() bool {
	if a.large == 0 {
		return true
	}
	wanted, limit := a.needs()
	may := a.c.srv.incomingMemory.ask(&a.share, wanted, limit, a.moved)
	if may && a.waiting {
		a.c.reader.noteRead()
		for l := range a.c.sessions.links {
			l.active = time.Now()
		}
	}
	a.waiting, a.hasMemory = !may, may
	return may
}

// growStep is the step in which the share of a connection grows. A batch of the reader is smaller.
const growStep = 1 << 20

// needs returns how many bytes the connection wants to hold, up to two steps more than it has, and how many it may
// come to want. The limit includes the buffer of one large delivery, but not if others arrive beside it.
func (a *assembly) needs() (wanted, limit int) {
	wanted, limit = a.bytes, a.limit
	if a.buffered != nil {
		unused := max(0, max(cap(a.buffered.buffer), a.buffered.wantedBuffer())-a.buffered.size)
		if wanted += unused; a.large > 1 {
			limit += unused
		}
	}
	wanted = (wanted + 2*growStep - 1) / growStep * growStep
	return min(wanted, limit), limit
}

// buffer moves what has arrived of a large delivery to a buffer, if there is memory for that and no other one of the
// connection is large.
func (a *assembly) buffer(p *partialDelivery, most int) {
	if !a.hasMemory || a.large > 1 || p.size <= largeDelivery {
		return
	}
	a.buffered = p
	if p.readAnnounced(most); p.wantedBuffer() > cap(p.buffer) && !a.mayGrow() {
		return
	}
	p.fillBuffer(&a.c.srv.readBuffers)
}

// addUncommitted counts the bytes of a delivery on its way to the journal, and takes them away as a negative number
// once they are written. Any goroutine may call it, also after the end of the connection.
func (a *assembly) addUncommitted(bytes int) {
	if bytes > largeDelivery || bytes < -largeDelivery {
		a.c.srv.incomingMemory.addOutstanding(&a.share, bytes)
	} else {
		a.c.srv.uncommitted.Add(int64(bytes))
	}
}

// refuseStalled refuses large deliveries that do not progress while other connections wait for their memory. If it is
// we who do not read, the client has time.
func (c *conn) refuseStalled() {
	if c.input() == nil {
		return
	}
	for l := range c.sessions.links {
		if in, ok := l.self.(*incomingLink); ok && in.partial.size > largeDelivery {
			in.refusePartial(errStalled)
		}
	}
}

// errStalled ends a large delivery that does not progress while others wait for its memory. SDKs try again.
var errStalled = linkErrorf(amqp.CondServerBusy,
	"The large message did not get on, while others waited for its room in memory.")

// partialDelivery is a delivery whose last transfer has not arrived. Its payloads are kept as pieces. Those of a large
// delivery move, as they come, to a buffer that grows in two steps to the length that the body announces. Joined at
// the end, a hundred mebibytes would hold up the whole process: nothing can interrupt a copy, and the garbage
// collector waits for it.
type partialDelivery struct {
	delivered
	begun     bool
	refused   bool     // it has its outcome; the rest is discarded
	size      int      // bytes that have arrived, counted in the connection's assembly
	buffer    []byte   // the beginning, with room for more; nil: pieces has all
	announced int      // length that the body announces; 0: not known yet; notAnnounced
	pieces    [][]byte // what comes after buffer
}

const notAnnounced = -1

// readAnnounced notes the length that the first piece announces, unless it is above most.
func (p *partialDelivery) readAnnounced(most int) {
	if p.announced != 0 {
		return
	}
	p.announced = notAnnounced
	if n := message.Announced(p.pieces[0]); n >= uint64(p.size) && n <= uint64(most) {
		p.announced = int(n)
	}
}

// wantedBuffer returns how long the buffer has to be by now: half of what the delivery announces once an eighth of that
// has arrived, and all once half has. A sender that announces much and sends little gets little.
func (p *partialDelivery) wantedBuffer() int {
	switch {
	case p.announced <= 0 || p.size < p.announced/8:
		return 0
	case p.size < p.announced/2:
		return p.announced / 2
	}
	return p.announced
}

// fillBuffer makes the buffer that is wanted, and moves the pieces to it as far as they fit.
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

// movePieces appends pieces to the buffer, as far as they fit. Buffers of the pool go back to it.
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
