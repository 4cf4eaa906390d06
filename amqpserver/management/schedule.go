package management

import (
	"fmt"
	"math"
	"sync/atomic"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// scheduleMessage serves schedule-message: it stores messages for later and answers with their numbers, in the order
// of the request (SCHED-6).
func scheduleMessage(c *call, a args) {
	if err := c.refuseSubQueue("scheduled messages"); err != nil {
		c.fail(err)
		return
	}
	msgs, err := parseScheduled(a)
	if err != nil {
		c.fail(err)
		return
	}
	switch {
	case c.Tx != nil:
		c.scheduleInTransaction(msgs)
	case len(msgs) == 0:
		c.scheduled(nil)
	default:
		c.schedule(msgs)
	}
}

// schedule stores messages and answers once they are durable.
func (c *call) schedule(msgs []message.Message) {
	// The answer needs the numbers, which Schedule returns, and the commit. Either may come first.
	var seqs []int64
	var failure error
	var open atomic.Int32
	open.Store(2)
	done := func() {
		if open.Add(-1) != 0 {
			return
		}
		if failure != nil {
			c.fail(failure)
			return
		}
		c.scheduled(seqs)
	}
	numbers, err := c.Queue.Schedule(msgs, emulator.By(c.Client, emulator.CompletionFunc(func(err error) {
		failure = err
		done()
	})))
	if err != nil {
		c.fail(err)
		return
	}
	seqs = numbers
	done()
}

// scheduleInTransaction answers with the numbers that the messages will have after the commit
// (SCHED-19).
func (c *call) scheduleInTransaction(msgs []message.Message) {
	seqs, err := c.Tx.Schedule(c.Queue, msgs)
	if err != nil {
		c.fail(err)
		return
	}
	c.scheduled(seqs)
}

func (c *call) scheduled(seqs []int64) {
	c.ok(64+8*len(seqs), func(dst []byte) []byte {
		return appendField(dst, "sequence-numbers", func(dst []byte) []byte {
			return amqp.AppendLongArray(dst, seqs)
		})
	})
}

// parseScheduled returns the messages of a request. Each entry repeats some properties of its message (message-id,
// session-id, partition keys); only the message itself counts.
func parseScheduled(a args) ([]message.Message, error) {
	const key = "messages"
	items, err := a.items(key, "a list of maps", math.MaxInt) // the size of the request bounds them (DEC-17)
	if err != nil {
		return nil, err
	}
	msgs := make([]message.Message, len(items))
	for i, v := range items {
		entry, ok := v.(amqp.Map)
		if !ok {
			return nil, wrong(element(key, i), v, "a map")
		}
		name := element(key, i) + ".message"
		encoded, _ := entry.Get("message")
		raw, ok := encoded.([]byte)
		if !ok {
			return nil, wrong(name, encoded, "a binary")
		}
		if msgs[i], err = scanScheduled(name, raw); err != nil {
			return nil, err
		}
	}
	return msgs, nil
}

func scanScheduled(name string, raw []byte) (message.Message, error) {
	m, err := message.Scan(raw)
	m.Part = true // of the request
	if err != nil {
		return m, argumentError("The argument '%s' is not an encoded message: %v.", name, err)
	}
	info, err := m.Info()
	if err != nil {
		return m, argumentError("The argument '%s' cannot be accepted: %v.", name, err)
	}
	if !info.HasScheduled {
		return m, argumentError("The argument '%s' has no message annotation 'x-opt-scheduled-enqueue-time'; expected a timestamp.", name)
	}
	return m, nil
}

// cancelScheduledMessage serves cancel-scheduled-message: it removes all the messages or none (SCHED-13, SCHED-14).
func cancelScheduledMessage(c *call, a args) {
	if err := c.refuseSubQueue("scheduled messages"); err != nil {
		c.fail(err)
		return
	}
	seqs, err := a.numbers("sequence-numbers")
	if err != nil {
		c.fail(err)
		return
	}
	if c.Tx != nil {
		c.finish(c.Tx.CancelScheduled(c.Queue, seqs))
		return
	}
	if err := c.Queue.CancelScheduled(seqs, emulator.By(c.Client, emulator.CompletionFunc(c.finish))); err != nil {
		c.fail(err)
	}
}

// refuseSubQueue refuses operations that a dead-letter queue does not have.
func (c *call) refuseSubQueue(what string) error {
	if c.Sub == emulator.Main {
		return nil
	}
	return &emulator.Error{
		Code:   emulator.CodeNotAllowed,
		Entity: c.Queue.Path(),
		Text:   fmt.Sprintf("The dead-letter queue of '%s' has no %s; use the node of the entity itself.", c.Queue.Path(), what),
	}
}
