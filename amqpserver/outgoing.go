package amqpserver

import (
	"sync/atomic"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/sas"
)

// Bounds on deliveries that a link has taken and not written yet, because their bodies are being read or their removal is being
// committed.
const (
	maxTaken      = 512
	maxTakenBytes = 1 << 20
)

// outgoingLink is a link on which the client receives messages.
//
// It pulls: the queue calls notify when there may be something, and the loop takes what credit, the session's window
// and the write buffer allow. After notify the link has to call Take, even for nothing, so that the queue can turn to the next
// consumer. While a link cannot take, it does not stand in the queue's line.
type outgoingLink struct {
	sendingLink
	consumer *emulator.Consumer // nil while a session receiver waits for its session
	settled  bool               // receive and delete (RAD-1)
	accept   *sessionAccept     // of a session receiver; else nil

	notified atomic.Bool // an event is in the mailbox; any goroutine may set it

	due        bool                 // ask the consumer in this turn
	held       bool                 // ask it again when there is room, for there is credit or a drain to answer
	stopped    bool                 // the server is shutting down
	taken      []*emulator.Delivery // not yet written, in order
	takenBytes int
	memory     deliveryMemory
	expired    expiredIDs // deliveries whose locks ended while the client had them
}

// open attaches the consumer. A settle mode of settled means receive and
// delete, every other one peek-lock (amqp-data-plane 4.1).
func (o *outgoingLink) open(a *frames.Attach) error {
	if err := o.lookUp(sas.Listen); err != nil {
		return err
	}
	if err := o.queue.CanReceive(o.node.sub); err != nil {
		return err
	}
	if err := o.s.checkEntity(o.queue); err != nil {
		return err
	}
	filter, err := readSessionFilter(a.Source.Filter)
	if err != nil {
		return err
	}
	mode := emulator.PeekLock
	const settled = 1
	if a.HasSndSettleMode && a.SndSettleMode == settled {
		mode, o.settled = emulator.ReceiveAndDelete, true
	}
	if filter != nil {
		return o.openSession(a, filter, mode)
	}
	if o.consumer, err = o.queue.NewConsumer(o.node.sub, mode, o.notify); err == nil {
		o.consumer.Introduce(o.newClient())
	}
	return err
}

// notify is called by the domain, from any goroutine and under its mutex.
func (o *outgoingLink) notify() {
	if o.notified.CompareAndSwap(false, true) {
		o.s.c.mailbox.post(o)
	}
}

// run is the event that notify posts.
func (o *outgoingLink) run(c *conn) {
	o.notified.Store(false)
	o.due = true
	if !o.released {
		c.runQueue.add(o)
	}
}

// flow takes the client's credit. Messages beyond a lowered credit go back.
func (o *outgoingLink) flow(f *frames.Flow) {
	if f.HasLinkCredit {
		o.credit.grant(f.DeliveryCount, f.HasDeliveryCount, f.LinkCredit, f.Drain)
	}
	if surplus := len(o.taken) - o.credit.left(); surplus > 0 {
		o.giveBack(len(o.taken) - surplus)
	}
	if o.opening != nil {
		return // the session is not there yet
	}
	o.due = true
	if f.Echo && !f.Drain {
		o.writeFlow(false)
	}
	o.s.c.runQueue.add(o)
}

// resume lets the link go on after the session's window or the write buffer had stopped it.
func (o *outgoingLink) resume() {
	if o.held || len(o.taken) > 0 || o.partial() {
		o.due = o.due || o.held
		o.s.c.runQueue.add(o)
	}
}

// pump takes messages and writes them. It reports whether there may be more at once.
func (o *outgoingLink) pump() bool {
	o.memory.waiting = false
	more := o.pumpOnce()
	o.updateMemory()
	return more
}

func (o *outgoingLink) pumpOnce() bool {
	if o.released || o.opening != nil {
		return false
	}
	o.forgetEnded()
	full := o.write()
	if o.state == linkClosing {
		o.close(full)
		return false
	}
	if !o.due {
		return false
	}
	asked, got := o.take()
	if o.state != linkAttached || o.s.c.dead != nil {
		return false // an injected fault has hit
	}
	o.write()
	crowded := o.memory.waiting || asked == 0 && o.crowded()
	if crowded {
		o.s.c.runQueue.blocked = append(o.s.c.runQueue.blocked, o)
	}
	if o.credit.drain && !crowded && o.drained(asked, got) {
		return false
	}
	o.held = o.credit.drain || asked == 0 && o.credit.left() > len(o.taken)
	o.due = o.due || asked > 0 && got == asked && (o.credit.left() > len(o.taken) || o.credit.drain)
	return o.due
}

// forgetEnded drops deliveries whose locks have ended from the unsettled ones: the client may have
// others in their place (LOCK-8).
func (o *outgoingLink) forgetEnded() {
	ended := o.consumer.Ended()
	if len(ended) == 0 {
		return
	}
	ds := &o.s.sent
	wasFull := ds.full()
	for _, l := range ended {
		if ds.unsettled[l.ID].lock == l { // else the client has settled it, or it is not written
			delete(ds.unsettled, l.ID)
			o.expired.add(l.ID)
		}
	}
	ds.resume(wasFull)
}

// take asks the consumer for as much as the link can have. Asking for nothing leaves the queue's line.
func (o *outgoingLink) take() (asked, got int) {
	o.due = false
	room := o.s.capacity() - (o.s.taken - len(o.taken)) // the other links need some of it for what they have taken
	asked = max(min(o.credit.left(), room, maxTaken)-len(o.taken), 0)
	if o.takenBytes >= maxTakenBytes || o.stopped || o.partial() || o.starved(emulator.OperationReceive) {
		asked = 0
	}
	before := len(o.taken)
	// Take returns at most a quantum; the rest of the number only says how much the consumer would wait for.
	o.pull(asked)
	for _, d := range o.taken[before:] {
		o.takenBytes += d.Size()
	}
	got = len(o.taken) - before
	o.s.taken += got
	if got > 0 && o.s.c.ns.Faults().Any() {
		o.injectTaken(before)
	}
	if got == emulator.Quantum || o.takenBytes >= maxTakenBytes {
		asked = got // there may be more, for another turn
	}
	if o.memory.waiting {
		asked = 0
	}
	return asked, got
}

// crowded reports whether the link could take more if the session's other links had written what they have taken.
func (o *outgoingLink) crowded() bool {
	room, own := o.s.capacity(), len(o.taken)
	return 0 < room && room <= o.s.taken && own < o.s.taken && own < o.credit.left()
}

// write writes taken deliveries, in order, until one is not ready or there is no room. It reports whether room
// was missing.
func (o *outgoingLink) write() (full bool) {
	if !o.finish() {
		return true
	}
	n, unused := 0, 0
	defer func() {
		o.dropTaken(n)
		o.s.freed(unused)
	}()
	for n < len(o.taken) {
		d := o.taken[n]
		ready, gone := d.Ready()
		switch {
		case gone:
			o.takenBytes -= d.Size()
			n++
			unused++
			o.due = true // its credit is free again
			if o.accept != nil && d.Failed() {
				o.giveBack(n)
			}
			continue
		case !ready:
			return false
		case o.s.capacity() == 0 || o.credit.left() == 0:
			return true
		}
		n++
		o.takenBytes -= d.Size()
		o.deliver(d)
		if o.partial() {
			return true
		}
	}
	return false
}

// deliver writes one delivery. The delivery's tag is the lock token (LOCK-3).
func (o *outgoingLink) deliver(d *emulator.Delivery) {
	if o.settled {
		o.removed = append(o.removed, d)
		o.send(d, o.s.c.tags.make(), true)
		return
	}
	l := d.Lock()
	l.ID = o.s.nextDelivery
	o.s.sent.unsettled[l.ID] = unsettled{o, l}
	o.send(d, o.s.c.tags.guid(l.Token()), false)
}

func (o *outgoingLink) dropTaken(n int) {
	if n == 0 {
		return
	}
	left := copy(o.taken, o.taken[n:])
	clear(o.taken[left:])
	o.taken = o.taken[:left]
	o.s.taken -= n
}

// giveBack returns to the queue the taken deliveries from index from on.
func (o *outgoingLink) giveBack(from int) {
	back := o.taken[from:]
	if len(back) == 0 {
		return
	}
	o.consumer.Return(back)
	for _, d := range back {
		o.takenBytes -= d.Size()
	}
	o.s.taken -= len(back)
	o.s.freed(len(back))
	clear(back)
	o.taken = o.taken[:from]
}

// drained answers a drain when there is nothing more to send: messages or the flow use up all credit
// [AMQP 2.6.7]. A peer whose session window is closed gets nothing more, and the answer at once. If other links only
// need the window's room for what they have taken, the answer waits; see crowded.
func (o *outgoingLink) drained(asked, got int) bool {
	// Our own write buffer empties by itself; then the loop tries again.
	if asked > 0 && got == asked || o.s.c.out.full() {
		return false
	}
	if o.s.capacity() == 0 {
		o.giveBack(0)
	}
	if len(o.taken) > 0 || o.partial() {
		return false
	}
	o.consumer.Take(nil, 0)
	o.credit.exhaust()
	o.held = false
	o.writeFlow(true)
	return true
}

// detached handles the client's detach. Messages that were received and deleted are written before the answer
// (RAD-5). Locked ones that are not written go back; those that the client has keep their locks (LOCK-10).
func (o *outgoingLink) detached() bool {
	if !o.settled || (len(o.taken) == 0 && !o.partial()) {
		return true
	}
	o.s.c.runQueue.add(o)
	return false
}

// close answers a detach that had to wait. Messages without room go back to their places.
func (o *outgoingLink) close(full bool) {
	o.consumer.Take(nil, 0) // leaves the queue's line
	if full && o.s.c.out.full() {
		return
	}
	if full || len(o.taken) == 0 {
		o.finishDetach()
	}
}

// stop takes no more messages, because the server shuts down.
func (o *outgoingLink) stop() {
	o.stopped, o.due = true, true
	o.giveBack(0)
	o.s.c.runQueue.add(o)
}

func (o *outgoingLink) release() {
	o.cancelAccept()
	o.giveBack(0)
	o.takeBack()
	if o.consumer != nil {
		o.consumer.Close()
	}
	o.s.sent.keepStale(o)
	o.head, o.tail, o.expired = nil, nil, nil
	o.updateMemory()
}
