package amqpserver

import (
	"encoding/binary"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
)

// deliveringLink holds what all links on which the client receives have in common: credit, and a delivery that may take
// several frames.
type deliveringLink struct {
	link
	credit        credit
	scheduled     bool            // stands in the run queue
	unsentFirst   bool            // no frame of head has been written
	head          []byte          // a message that takes several frames, without tail
	tail          []byte          // the end of the message; not ours to change
	written       int             // bytes of head and tail that are written
	movedBytes    int64           // of deliveries that take several frames, in all
	firstTransfer frames.Transfer // of the first frame of head
	firstTag      [16]byte
	removed       []*emulator.Delivery // received and deleted messages in the delivery that is being sent
}

func (o *deliveringLink) inRunQueue() *bool { return &o.scheduled }

// content is a message to write.
type content interface {
	// Append appends the encoded message.
	Append(dst []byte) []byte
	// AppendHead appends the encoded message without its end, and returns the end, which is not copied.
	AppendHead(dst []byte) (head, tail []byte)
	// Size returns about how many bytes Append adds.
	Size() int
}

// headroom is how much more than Size a message may take before trying to fit it into one frame is a waste.
const headroom = 512

// send writes a delivery as far as the session's window allows, and keeps the rest for finish. The window must be
// open.
func (o *deliveringLink) send(m content, tag []byte, settled bool) {
	s := o.s
	c := s.c
	id := s.nextDelivery
	s.nextDelivery++
	o.credit.count++
	o.passed++
	o.touch()
	t := &c.transfer
	*t = frames.Transfer{
		Handle: o.handle, DeliveryID: id, HasDeliveryID: true, DeliveryTag: tag, HasMessageFormat: true,
		Settled: settled, Batchable: true,
	}
	o.written = 0
	if m.Size()+headroom < c.peer.maxFrame {
		buf, start := frames.BeginFrame(c.out.buf, frames.TypeAMQP, s.channel)
		buf = t.AppendTo(buf)
		payload := len(buf)
		buf = m.Append(buf)
		if len(buf)-start <= c.peer.maxFrame {
			c.trace.frame(traceOut, s.channel, t, len(buf)-payload)
			c.out.buf = frames.EndFrame(buf, start)
			s.win.sent()
			o.noteRemoved()
			return
		}
		o.head = append(o.head[:0], buf[payload:]...)
		o.tail = nil
		c.out.buf = buf[:start]
	} else {
		o.head, o.tail = m.AppendHead(o.head[:0])
	}
	o.firstTransfer, o.unsentFirst = *t, true
	o.firstTransfer.DeliveryTag = o.firstTag[:copy(o.firstTag[:], tag)]
	o.finish()
}

// finish writes more frames of a delivery and reports whether it is complete. The frames of a delivery follow each
// other on their link.
func (o *deliveringLink) finish() bool {
	if !o.partial() {
		return true
	}
	for o.partial() && o.s.win.outgoing > 0 && !o.s.c.out.full() {
		o.writePiece()
	}
	if o.partial() {
		return false
	}
	o.tail, o.written = nil, 0
	if o.head = o.head[:0]; cap(o.head) > writeChunk {
		o.head = nil
	}
	o.noteRemoved()
	return true
}

// noteRemoved notes where in the write buffer the last frame of a received and deleted delivery ends.
func (o *deliveringLink) noteRemoved() {
	out := &o.s.c.out
	for i, d := range o.removed {
		out.removed = append(out.removed, removedDelivery{len(out.buf), d})
		o.removed[i] = nil
	}
	o.removed = o.removed[:0]
}

// takeBack returns to the queue the messages of a delivery that was not written whole.
func (o *deliveringLink) takeBack() {
	for _, d := range o.removed {
		d.Return()
	}
	o.removed = nil
}

// partial reports whether a delivery has been begun and not finished.
func (o *deliveringLink) partial() bool { return o.written < len(o.head)+len(o.tail) }

// writePiece writes one frame of head and tail. Only the first names the delivery, as in the service.
func (o *deliveringLink) writePiece() {
	s := o.s
	c := s.c
	t := &c.transfer
	*t = frames.Transfer{Handle: o.handle, Settled: o.firstTransfer.Settled, Batchable: true}
	if o.unsentFirst {
		*t = o.firstTransfer
	}
	t.More = true
	buf, start := frames.BeginFrame(c.out.buf, frames.TypeAMQP, s.channel)
	buf = t.AppendTo(buf)
	n := c.peer.maxFrame - (len(buf) - start)
	if left := len(o.head) + len(o.tail) - o.written; n >= left {
		n, t.More = left, false
		buf = t.AppendTo(buf[:start+frames.HeaderSize])
	}
	end := o.written + n
	if o.written < len(o.head) {
		buf = append(buf, o.head[o.written:min(end, len(o.head))]...)
		o.written = min(end, len(o.head))
	}
	if o.written < end {
		buf = append(buf, o.tail[o.written-len(o.head):end-len(o.head)]...)
	}
	c.trace.frame(traceOut, s.channel, t, n)
	c.out.buf = frames.EndFrame(buf, start)
	o.written = end
	o.movedBytes += int64(n)
	o.unsentFirst = false
	s.win.sent()
}

func (o *deliveringLink) writeFlow(drain bool) {
	f := o.s.linkFlow(o.handle, o.credit.count, uint32(o.credit.left()))
	f.Drain = drain
	o.s.write(f)
}

// tagMaker makes delivery tags for deliveries that have no lock token: unique, and of the length that clients expect.
type tagMaker struct {
	tag  [16]byte
	next uint64
}

func newTagMaker() tagMaker { return tagMaker{tag: uuid.New()} }

// make returns a tag of 16 bytes; it is valid until the next call.
func (t *tagMaker) make() []byte {
	t.next++
	binary.LittleEndian.PutUint64(t.tag[8:], t.next)
	return t.tag[:]
}

// makeShort returns a tag of 4 bytes, as the service gives to replies; it is valid until the next call.
func (t *tagMaker) makeShort() []byte {
	t.next++
	binary.LittleEndian.PutUint32(t.tag[8:], uint32(t.next))
	return t.tag[8:12]
}
