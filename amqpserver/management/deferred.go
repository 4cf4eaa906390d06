package management

import (
	"slices"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// The values of receiver-settle-mode [AMQP 2.8.3]: how to settle a message that is received by number.
const (
	settleFirst  = 0 // receive and delete
	settleSecond = 1 // peek-lock
)

// maxReceived is how many bytes several messages have together that one request receives: as many as the largest that
// an entity may allow (QUO-5).
const maxReceived = 100 << 20

// receiveBySequenceNumber serves receive-by-sequence-number. It returns deferred messages in the requested order
// (DEF-4), all of them or none (DEF-5), locked or removed at once (DEF-3, RAD-3). Those of a session go to its
// receiver only (DEF-9, DEF-13, DEF-14).
func receiveBySequenceNumber(c *call, a args) error {
	seqs, err := a.numbers("sequence-numbers")
	if err != nil {
		return err
	}
	mode, err := parseMode(a)
	if err != nil {
		return err
	}
	holder, err := c.holder(a)
	if err != nil {
		return err
	}
	bytes := c.Queue.SizeOf(c.Sub, seqs)
	if bytes > maxReceived && len(seqs) > 1 {
		return argumentError("The %d messages have %d bytes together, more than the %d that one reply can have. "+
			"Receive fewer of them at a time.", len(seqs), bytes, maxReceived)
	}
	receive := func(err error) {
		if err == nil {
			received := func(ds []*emulator.Delivery, err error) { c.received(ds, mode, err) }
			err = c.Queue.ReceiveDeferred(c.Sub, seqs, mode, holder, c.Client, received)
		}
		if err != nil {
			c.fail(err)
		}
	}
	if c.Reserve == nil {
		receive(nil)
	} else {
		c.Reserve(bytes, receive) // the locks begin when there is memory for the reply
	}
	return nil
}

// parseMode reads receiver-settle-mode. The default is a lock, which loses nothing.
func parseMode(a args) (emulator.ReceiveMode, error) {
	const key = "receiver-settle-mode"
	v := a.get(key)
	n, ok := amqp.AsInt64(v)
	if second, isBool := v.(bool); isBool {
		n, ok = settleFirst, true
		if second {
			n = settleSecond
		}
	}
	switch {
	case v == nil, ok && n == settleSecond:
		return emulator.PeekLock, nil
	case ok && n == settleFirst:
		return emulator.ReceiveAndDelete, nil
	}
	return 0, wrong(key, v, "0 (receive and delete) or 1 (peek-lock)")
}

// received replies with deliveries. The lock token stands beside its message, for the clients that do not take it from
// the message's annotations; deleted messages have none.
func (c *call) received(ds []*emulator.Delivery, mode emulator.ReceiveMode, err error) {
	if err != nil {
		c.fail(err)
		return
	}
	if mode == emulator.ReceiveAndDelete && c.Removed != nil {
		c.Removed(ds)
	}
	c.messages(ds, mode == emulator.PeekLock)
}

func (c *call) messages(ds []*emulator.Delivery, locked bool) {
	const perMessage = 512 // the map around each message, and what the broker adds to it
	size := 32
	for _, d := range ds {
		if size += perMessage; !d.Bodiless() {
			size += d.Size()
		}
	}
	c.okField(size, "messages", func(dst []byte) []byte { return appendDeliveries(dst, ds, locked) })
}

func appendDeliveries(dst []byte, ds []*emulator.Delivery, locked bool) []byte {
	dst, list := amqp.BeginList(dst)
	var scratch []byte
	for _, d := range ds {
		head, tail := d.AppendHead(scratch[:0])
		scratch = head
		var m amqp.Mark
		pairs := 1
		dst, m = amqp.BeginMap(dst)
		dst = amqp.AppendString(dst, "message")
		dst = append(amqp.AppendBinarySize(dst, len(head)+len(tail)), head...)
		for step := range slices.Chunk(tail, 1<<20) { // nothing can interrupt a copy
			dst = append(dst, step...)
		}
		if locked {
			dst = amqp.AppendString(dst, "lock-token")
			dst = amqp.AppendUUID(dst, amqp.UUID(d.Token()))
			pairs++
		}
		dst = amqp.EndMap(dst, m, pairs)
	}
	return amqp.EndList(dst, list, len(ds))
}
