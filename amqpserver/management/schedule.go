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
func scheduleMessage(c *call, a args) error {
	if err := c.refuseSubQueue("scheduled messages"); err != nil {
		return err
	}
	msgs, err := parseScheduled(a)
	if err != nil {
		return err
	}
	if c.Tx != nil { // the answer has the numbers that the messages will have after the commit (SCHED-19)
		seqs, err := c.Tx.Schedule(c.Queue, msgs)
		if err == nil {
			c.scheduled(seqs)
		}
		return err
	}
	if len(msgs) == 0 {
		c.scheduled(nil)
		return nil
	}
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
		return err
	}
	seqs = numbers
	done()
	return nil
}

func (c *call) scheduled(seqs []int64) {
	c.okField(64+8*len(seqs), "sequence-numbers", func(dst []byte) []byte { return amqp.AppendLongArray(dst, seqs) })
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
		return m, argumentError(
			"The argument '%s' has no message annotation 'x-opt-scheduled-enqueue-time'; expected a timestamp.", name)
	}
	return m, nil
}

// cancelScheduledMessage serves cancel-scheduled-message: it removes all the messages or none (SCHED-13, SCHED-14).
func cancelScheduledMessage(c *call, a args) error {
	if err := c.refuseSubQueue("scheduled messages"); err != nil {
		return err
	}
	seqs, err := a.numbers("sequence-numbers")
	if err != nil {
		return err
	}
	if c.Tx != nil {
		c.finish(c.Tx.CancelScheduled(c.Queue, seqs))
		return nil
	}
	return c.Queue.CancelScheduled(seqs, emulator.By(c.Client, emulator.CompletionFunc(c.finish)))
}

// refuseSubQueue refuses operations that a dead-letter queue does not have.
func (c *call) refuseSubQueue(what string) error {
	if c.Sub == emulator.Main {
		return nil
	}
	path := c.Queue.Path()
	text := fmt.Sprintf("The dead-letter queue of '%s' has no %s; use the node of the entity itself.", path, what)
	return &emulator.Error{Code: emulator.CodeNotAllowed, Entity: path, Text: text}
}
