package amqpserver

import (
	"slices"
	"sync/atomic"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/entitypath"
)

// modeCopy is the distribution mode of browsers, and of JMS's durable subscriptions.
const modeCopy amqp.Symbol = "copy"

// browserLink is a link on which the client looks at messages. They are settled when they are sent; the queue does not
// change.
type browserLink struct {
	deliveringLink
	browser  *emulator.QueueBrowser
	selector *sourceFilter // nil: it shows all messages
	notified atomic.Bool   // an event is in the mailbox; any goroutine may set it
	due      bool          // ask the browser in this turn
	taken    []*emulator.Delivery
	share    memoryShare // for a large message
	sharing  bool        // it has that, or waits for it
	waiting  bool        // it waits for it
}

// attachBrowser opens a link that browses what another link has found.
func (s *session) attachBrowser(a *frames.Attach, found link, sel *sourceFilter) error {
	fix := " Peek by requests to '" + entitypath.Management(found.node.String()) + "'."
	if err := s.c.needJMS("browsers, the distribution mode 'copy',", fix); err != nil {
		return err
	}
	b := &browserLink{deliveringLink: deliveringLink{link: found}, selector: sel}
	if err := b.hitAttach(); err != nil {
		return err
	}
	if err := b.queue.CanReceive(b.node.sub); err != nil {
		return err
	}
	matcher, err := sel.parse()
	if err != nil {
		return err
	}
	if b.browser, err = b.queue.NewQueueBrowser(b.node.sub, matcher, b.notify); err != nil {
		return err
	}
	s.put(b)
	b.watch()
	answer := s.accepted(a)
	answer.MaxMessageSize, answer.HasMaxMessageSize = unlimited, true
	sel.describe(answer)
	s.write(answer)
	return nil
}

// notify is called by the domain, from any goroutine and under its mutex.
func (b *browserLink) notify() {
	if b.notified.CompareAndSwap(false, true) {
		b.s.c.mailbox.post(b)
	}
}

// run is the event that notify posts.
func (b *browserLink) run(c *conn) {
	b.notified.Store(false)
	b.resume()
}

// flow takes the client's credit. Messages that were taken for more than is left now wait for the next.
func (b *browserLink) flow(f *frames.Flow) {
	if f.HasLinkCredit {
		b.credit.grant(f.DeliveryCount, f.HasDeliveryCount, f.LinkCredit, f.Drain)
	}
	if f.Echo && !f.Drain {
		b.writeFlow(false)
	}
	b.resume()
}

// resume lets the link go on: there is credit, capacity or a message.
func (b *browserLink) resume() {
	if b.released {
		return
	}
	b.due = true
	b.s.c.runQueue.add(b)
}

// pump writes messages, and takes more. It reports whether there may be more at once. The answer to a drain says that
// the client has seen all that there is.
func (b *browserLink) pump() bool {
	if b.released {
		return false
	}
	b.waiting = false
	defer b.updateMemory()
	if !b.write() || !b.due {
		return false
	}
	b.due = false
	asked := min(b.credit.left(), b.s.capacity())
	if b.s.c.draining {
		asked = 0
	}
	got := b.take(asked)
	if !b.write() {
		return false
	}
	if got > 0 && b.credit.left() > 0 {
		b.due = true
		return true
	}
	if b.credit.drain && !b.s.c.out.full() && (b.credit.left() == 0 || asked > 0 && b.browser.AtEnd()) {
		b.credit.exhaust()
		b.writeFlow(true)
	}
	return false
}

// take asks the browser for as much as the link can have. A large message comes alone, once there is memory for it.
func (b *browserLink) take(asked int) (got int) {
	if asked == 0 {
		return 0
	}
	b.browser.Limit(largeDelivery)
	b.taken = b.browser.Next(b.taken, asked)
	if size := b.browser.OverLimit(); size > 0 && len(b.taken) == 0 {
		if b.waiting = !b.askMemory(size); b.waiting {
			return 0
		}
		b.browser.Limit(size)
		b.taken = b.browser.Next(b.taken, 1)
	}
	return len(b.taken)
}

// write writes what was taken, and reports whether nothing is left.
func (b *browserLink) write() bool {
	if !b.finish() {
		return false
	}
	for len(b.taken) > 0 {
		d := b.taken[0]
		ready, gone := d.Ready()
		switch {
		case gone:
		case !ready, b.s.capacity() == 0, b.credit.left() == 0:
			return false
		default:
			b.send(d, b.s.c.tags.make(), true)
		}
		b.taken = slices.Delete(b.taken, 0, 1)
		if b.partial() {
			return false
		}
	}
	return true
}

func (*browserLink) detached() bool { return true }

func (b *browserLink) release() {
	b.browser.Close()
	b.taken, b.waiting = nil, false
	b.head, b.tail, b.written = nil, nil, 0
	b.updateMemory()
}

// askMemory asks for a share of the memory for large deliveries to clients.
func (b *browserLink) askMemory(bytes int) bool {
	c := b.s.c
	if b.share.resume == nil {
		b.share.resume = func() { c.post(b.resume) }
		b.share.stall = func() { c.post(func() { b.detach(b.amqpError(errStalled)) }) }
	}
	b.sharing = bytes > 0
	return c.srv.outgoingMemory.ask(&b.share, bytes, bytes, b.movedBytes)
}

// updateMemory gives back what the link does not need any more.
func (b *browserLink) updateMemory() {
	if b.sharing && !b.waiting && !b.partial() && (len(b.taken) == 0 || b.taken[0].Size() <= largeDelivery) {
		b.askMemory(0)
	}
}
