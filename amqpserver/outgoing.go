package amqpserver

import (
	"slices"
	"sync/atomic"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// Bounds on deliveries that a link has taken and not written yet, because their bodies are being read or their removal
// is being committed.
const (
	maxTaken      = 512
	maxTakenBytes = 1 << 20
)

// outgoingLink is a link on which the client receives messages.
//
// It pulls: the queue calls notify when there may be something, and the loop takes what credit, the session's window
// and the write buffer allow. After notify the link has to call Take, even for nothing, so that the queue can turn to
// the next consumer. While a link can't take, it does not stand in the queue's wait list.
type outgoingLink struct {
	deliveringLink
	consumer     *emulator.Consumer // nil while a session receiver waits for its session
	settled      bool               // receive and delete (RAD-1)
	accept       *sessionAccept     // of a session receiver; else nil
	notified     atomic.Bool        // an event is in the mailbox; any goroutine may set it
	due          bool               // ask the consumer in this turn
	held         bool               // ask it again when there is capacity: there is credit, or a drain to answer
	stopped      bool               // the server is shutting down
	taken        []*emulator.Delivery
	takenBytes   int // of those, which are not yet written
	memory       deliveryMemory
	selector     *sourceFilter          // nil: it gets all messages
	subscription *emulator.Subscription // of a consumer of JMS, which has made or joined it; else nil
	expired      expiredIDs             // deliveries whose locks ended while the client had them
}

// open attaches the consumer. A settle mode of settled means receive and delete, every other one peek-lock
// (amqp-data-plane 4.1).
func (o *outgoingLink) open(a *frames.Attach, sel *sourceFilter) error {
	if err := o.hitAttach(); err != nil {
		return err
	}
	if err := o.queue.CanReceive(o.node.sub); err != nil {
		return err
	}
	if err := o.s.checkEntity(o.queue); err != nil {
		return err
	}
	session, err := readSessionFilter(a.Source.Filter)
	if err != nil {
		return err
	}
	mode := emulator.PeekLock
	const settled = 1
	if a.HasSndSettleMode && a.SndSettleMode == settled {
		mode, o.settled = emulator.ReceiveAndDelete, true
	}
	matcher, err := sel.parse()
	switch {
	case err != nil:
		return err
	case session != nil && sel != nil:
		return linkErrorf(amqp.CondNotAllowed, "A receiver of a session can't have a selector.")
	case session != nil:
		return o.openSession(a, session, mode)
	case sel != nil:
		o.selector = sel
		o.consumer, err = o.queue.NewSelectingConsumer(o.node.sub, mode, matcher, o.notify)
	default:
		o.consumer, err = o.queue.NewConsumer(o.node.sub, mode, o.notify)
	}
	if err == nil {
		o.consumer.Introduce(o.client())
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
	if left := o.credit.left(); len(o.taken) > left {
		o.giveBack(left)
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
	defer o.updateMemory()
	if o.released || o.opening != nil {
		return false
	}
	if expired := o.consumer.Ended(); len(expired) > 0 {
		o.forgetExpired(expired)
	}
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
	blocked := o.memory.waiting || asked == 0 && o.blocked()
	if blocked {
		o.s.c.runQueue.blocked = append(o.s.c.runQueue.blocked, o)
	}
	if o.credit.drain && !blocked && !o.consumer.Incomplete() && o.drained(asked, got) {
		return false
	}
	o.held = o.credit.drain || asked == 0 && o.credit.left() > len(o.taken)
	o.due = o.due || asked > 0 && got == asked && (o.credit.left() > len(o.taken) || o.credit.drain)
	return o.due
}

// forgetExpired drops deliveries whose locks have ended from the unsettled ones: the client may have others in their
// place (LOCK-8).
func (o *outgoingLink) forgetExpired(locks []*emulator.Lock) {
	ds := &o.s.sent
	wasFull := ds.left() <= 0
	for _, l := range locks {
		if ds.unsettled[l.ID].lock == l { // else the client has settled it, or it is not written
			delete(ds.unsettled, l.ID)
			o.expired.add(l.ID)
		}
	}
	ds.resume(wasFull)
}

// take asks the consumer for as much as the link can have. Asking for nothing leaves the queue's wait list.
func (o *outgoingLink) take() (asked, got int) {
	o.due = false
	faulty := o.s.c.ns.Faults().Any()
	capacity := o.s.capacity() - (o.s.taken - len(o.taken)) // the other links need some of it for what they have taken
	asked = max(min(o.credit.left(), capacity, maxTaken)-len(o.taken), 0)
	if o.takenBytes >= maxTakenBytes || o.stopped || o.partial() {
		asked = 0
	}
	if !faulty {
		o.starvedBy = 0
	} else if o.starved(emulator.OperationReceive) {
		asked = 0
	}
	before := len(o.taken)
	// Take returns at most a quantum; the rest of the number only says how much the consumer would wait for. It keeps
	// back a message above the limit, which the link gets once it has a share of the memory for it.
	for limit := largeDelivery; limit > 0; {
		o.consumer.Limit(limit)
		o.taken = o.consumer.Take(o.taken, asked-(len(o.taken)-before))
		if limit = o.consumer.OverLimit(); limit > 0 {
			o.memory.held = true
			if !o.askMemory(limit) {
				o.memory.waiting = true
				break
			}
		}
	}
	for _, d := range o.taken[before:] {
		o.takenBytes += d.Size()
	}
	got = len(o.taken) - before
	o.s.taken += got
	if got > 0 && faulty {
		o.hitTaken(before)
	}
	if got == emulator.Quantum || o.takenBytes >= maxTakenBytes {
		asked = got // there may be more, for another turn
	}
	if o.memory.waiting {
		asked = 0
	}
	return asked, got
}

// blocked reports whether the link could take more if the session's other links had written what they have taken.
func (o *outgoingLink) blocked() bool {
	capacity, own := o.s.capacity(), len(o.taken)
	return 0 < capacity && capacity <= o.s.taken && own < o.s.taken && own < o.credit.left()
}

// write writes taken deliveries, in order, until one is not ready or there is no capacity. It reports whether capacity
// was missing.
func (o *outgoingLink) write() (full bool) {
	if !o.finish() {
		return true
	}
	done, failed := 0, 0 // deliveries that are no longer taken, and those of them that were not written
	defer func() {
		if done == 0 {
			return
		}
		o.taken = slices.Delete(o.taken, 0, done)
		o.s.taken -= done
		if failed > 0 && !o.s.released {
			o.s.resume() // other links can use the capacity
		}
	}()
	for done < len(o.taken) {
		d := o.taken[done]
		ready, gone := d.Ready()
		switch {
		case gone:
			o.takenBytes -= d.Size()
			done++
			failed++
			o.due = true // its credit is free again
			if o.accept != nil && d.Failed() {
				o.giveBack(done)
			}
			continue
		case !ready:
			return false
		case o.s.capacity() == 0 || o.credit.left() == 0:
			return true
		}
		done++
		o.takenBytes -= d.Size()
		if o.settled {
			o.removed = append(o.removed, d)
			o.send(d, o.s.c.tags.make(), true)
		} else { // the tag is the lock token, as a .NET Guid (LOCK-3, amqp-data-plane 4.5)
			l := d.Lock()
			l.ID = o.s.nextDelivery
			o.s.sent.unsettled[l.ID] = unsettled{o, l}
			o.s.c.tag = amqp.UUID(l.Token()).SwapGUID()
			o.send(d, o.s.c.tag[:], false)
		}
		if o.partial() {
			return true
		}
	}
	return false
}

// giveBack returns to the queue the taken deliveries from an index on.
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
	if !o.s.released {
		o.s.resume()
	}
	clear(back)
	o.taken = o.taken[:from]
}

// drained answers a drain when there is nothing more to send: messages or the flow use up all credit [AMQP 2.6.7]. A
// peer whose session window is closed gets nothing more, and the answer at once. A blocked link does not get here: its
// answer waits.
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

// close answers a detach that had to wait. Messages without capacity go back to their places.
func (o *outgoingLink) close(full bool) {
	o.consumer.Take(nil, 0) // leaves the queue's wait list
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
	o.leaveSubscription()
	o.s.sent.keepStale(o)
	o.head, o.tail = nil, nil
	o.expired = nil
	o.updateMemory()
}

// deliveryMemory is a link's share of the memory for large deliveries to clients. The link has one from before it takes
// such a delivery until that is written: it waits before it takes it, since afterwards the time of a lock runs.
type deliveryMemory struct {
	share   memoryShare
	held    bool // it has a share, or waits for one
	waiting bool // it waits for one at the end of this turn
}

func (o *outgoingLink) askMemory(bytes int) bool {
	s := &o.memory.share
	if s.resume == nil {
		s.resume = o.s.c.wake
		s.stall = func() { o.s.c.post(func() { o.endIfStalled() }) }
	}
	return o.s.c.srv.outgoingMemory.ask(s, bytes, bytes, o.movedBytes)
}

// updateMemory gives back what the link does not need any more.
func (o *outgoingLink) updateMemory() {
	if !o.memory.held || o.memory.waiting && !o.released {
		return
	}
	needs := 0
	if rest := len(o.head) + len(o.tail); rest > largeDelivery {
		needs = rest
	}
	for _, d := range o.taken {
		if d.Size() > largeDelivery {
			needs += d.Size()
		}
	}
	o.memory.held = needs > 0
	o.askMemory(needs)
}

// endIfStalled detaches a link whose client does not take its large delivery while others wait. The message goes back
// to the queue, or its lock ends.
func (o *outgoingLink) endIfStalled() {
	reading := false
	if len(o.taken) > 0 && !o.partial() {
		ready, _ := o.taken[0].Ready()
		reading = !ready
	}
	if o.memory.held && !o.memory.waiting && !reading {
		o.detach(o.amqpError(errStalled))
	}
}
