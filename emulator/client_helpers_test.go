package emulator_test

import (
	"testing/synctest"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func (b *broker) encodeAll(ms []*goamqp.Message) []message.Message {
	b.t.Helper()
	in := make([]message.Message, len(ms))
	for i, m := range ms {
		in[i] = encode(b.t, m)
	}
	return in
}

// trySend sends one batch and waits for the outcome.
func (b *broker) trySend(ms ...*goamqp.Message) error {
	b.t.Helper()
	done := newOutcome()
	if err := b.q.Send(b.encodeAll(ms), done); err != nil {
		return err
	}
	err := <-done
	synctest.Wait()
	return err
}

// send is trySend that must succeed.
func (b *broker) send(ms ...*goamqp.Message) {
	b.t.Helper()
	if err := b.trySend(ms...); err != nil {
		b.t.Fatalf("send: %v", err)
	}
}

func (b *broker) sendTexts(bodies ...string) {
	b.t.Helper()
	b.send(texts(bodies...)...)
}

// schedule uses the schedule operation and returns the numbers.
func (b *broker) schedule(ms ...*goamqp.Message) []int64 {
	b.t.Helper()
	done := newOutcome()
	seqs, err := b.q.Schedule(b.encodeAll(ms), done)
	if err == nil {
		err = <-done
	}
	if err != nil {
		b.t.Fatalf("schedule: %v", err)
	}
	synctest.Wait()
	return seqs
}

func (b *broker) cancel(seqs ...int64) error {
	b.t.Helper()
	done := newOutcome()
	if err := b.q.CancelScheduled(seqs, done); err != nil {
		return err
	}
	err := <-done
	synctest.Wait()
	return err
}

// receiver is a consumer that asks for messages and takes what is there.
type receiver struct {
	b *broker
	c *emulator.Consumer
}

func (b *broker) receiver(sub emulator.SubQueue, mode emulator.ReceiveMode) *receiver {
	b.t.Helper()
	c, err := b.q.NewConsumer(sub, mode, func() {})
	if err != nil {
		b.t.Fatalf("attach consumer: %v", err)
	}
	return &receiver{b: b, c: c}
}

// take gives credit for n messages, takes what is there and withdraws the rest of the credit.
func (r *receiver) take(n int) []*got {
	r.b.t.Helper()
	gs := r.b.written(r.pull(n))
	r.c.Take(nil, 0)
	return gs
}

// pull takes up to n deliveries as they come, without looking whether they are ready.
func (r *receiver) pull(n int) []*emulator.Delivery {
	var ds []*emulator.Delivery
	for len(ds) < n {
		before := len(ds)
		if ds = r.c.Take(ds, n-len(ds)); len(ds) == before {
			break
		}
	}
	return ds
}

// written waits for deliveries and encodes those that are not gone.
func (b *broker) written(ds []*emulator.Delivery) []*got {
	b.t.Helper()
	synctest.Wait()
	var gs []*got
	for _, d := range ds {
		switch ready, gone := d.Ready(); {
		case ready:
			gs = append(gs, decode(b.t, d.Append(nil), d))
		case !gone:
			b.t.Fatalf("delivery of message %d is neither ready nor gone", d.Seq())
		}
	}
	return gs
}

// receive takes up to n messages of the main queue in peek-lock mode on a link of its own.
func (b *broker) receive(n int) []*got {
	b.t.Helper()
	return b.receiveFrom(emulator.Main, emulator.PeekLock, n)
}

func (b *broker) receiveFrom(sub emulator.SubQueue, mode emulator.ReceiveMode, n int) []*got {
	b.t.Helper()
	r := b.receiver(sub, mode)
	defer r.c.Close()
	return r.take(n)
}

// one receives exactly one message of the main queue.
func (b *broker) one() *got {
	b.t.Helper()
	return b.oneFrom(emulator.Main)
}

func (b *broker) oneFrom(sub emulator.SubQueue) *got {
	b.t.Helper()
	gs := b.receiveFrom(sub, emulator.PeekLock, 1)
	if len(gs) != 1 {
		b.t.Fatalf("got %d messages, want one", len(gs))
	}
	return gs[0]
}

func (b *broker) peekFrom(sub emulator.SubQueue, from int64, limit int) []*got {
	b.t.Helper()
	gs, err := b.tryPeek(sub, from, limit, 0, false)
	if err != nil {
		b.t.Fatalf("peek: %v", err)
	}
	return gs
}

// peekOne looks at the first message from a number on, which must be there.
func (b *broker) peekOne(sub emulator.SubQueue, from int64) *got {
	b.t.Helper()
	gs := b.peekFrom(sub, from, 1)
	if len(gs) != 1 {
		b.t.Fatalf("nothing to peek at from number %d on", from)
	}
	return gs[0]
}

// peek looks at the whole main queue.
func (b *broker) peek() []*got { b.t.Helper(); return b.peekFrom(emulator.Main, 0, 250) }

func (b *broker) tryPeek(sub emulator.SubQueue, from int64, limit, maxBytes int, omit bool) ([]*got, error) {
	b.t.Helper()
	var msgs [][]byte
	done := newOutcome()
	err := b.q.Peek(emulator.Peek{Sub: sub, From: from, Max: limit, MaxBytes: maxBytes, OmitBody: omit}, func(ds []*emulator.Delivery, err error) { msgs = encoded(ds); done <- err })
	if err == nil {
		err = <-done
	}
	return mapped(msgs, func(raw []byte) *got { return decode(b.t, raw, nil) }), err
}

// byNumber receives deferred messages.
func (b *broker) byNumber(sub emulator.SubQueue, mode emulator.ReceiveMode, seqs ...int64) ([]*got, error) {
	b.t.Helper()
	var ds []*emulator.Delivery
	done := newOutcome()
	err := b.q.ReceiveDeferred(sub, seqs, mode, nil, nil, func(d []*emulator.Delivery, err error) { ds = d; done <- err })
	if err == nil {
		err = <-done
	}
	if err != nil {
		return nil, err
	}
	return b.written(ds), nil
}

// fetch receives one deferred message of the main queue with a lock.
func (b *broker) fetch(seq int64) *got {
	b.t.Helper()
	gs, err := b.byNumber(emulator.Main, emulator.PeekLock, seq)
	if err != nil {
		b.t.Fatalf("receive message %d by number: %v", seq, err)
	}
	return gs[0]
}

// trySettle settles by token and waits for the outcome.
func (b *broker) trySettle(o emulator.Outcome, p []byte, tokens ...lockToken) error {
	b.t.Helper()
	done := newOutcome()
	if err := b.q.Settle(tokens, emulator.Settlement{Outcome: o, Properties: p}, done); err != nil {
		return err
	}
	err := <-done
	synctest.Wait()
	return err
}

func (b *broker) settle(o emulator.Outcome, gs ...*got) {
	b.t.Helper()
	b.settleWith(o, nil, gs...)
}

func (b *broker) settleWith(o emulator.Outcome, p []byte, gs ...*got) {
	b.t.Helper()
	if err := b.trySettle(o, p, tokensOf(gs)...); err != nil {
		b.t.Fatalf("settle: %v", err)
	}
}

// properties encodes properties to modify from keys and values in turn.
func (b *broker) properties(pairs ...any) []byte {
	b.t.Helper()
	var m amqp.Map
	for i := 0; i < len(pairs); i += 2 {
		m = append(m, amqp.Pair{Key: pairs[i], Value: pairs[i+1]})
	}
	p, err := message.EncodeProperties(m)
	if err != nil {
		b.t.Fatalf("encode properties: %v", err)
	}
	return p
}

// deferOne sends a message, receives and defers it, and returns its number.
func (b *broker) deferOne(m *goamqp.Message) int64 {
	b.t.Helper()
	b.send(m)
	gs := b.receive(1)
	b.settle(emulator.Defer, gs...)
	return gs[0].seq()
}

// deadLetterOne sends a message and dead-letters it.
func (b *broker) deadLetterOne(m *goamqp.Message) {
	b.t.Helper()
	b.send(m)
	b.settle(emulator.DeadLetterOutcome, b.receive(1)...)
}

// encoded returns messages as a client sees them.
func encoded(ds []*emulator.Delivery) [][]byte {
	msgs := make([][]byte, len(ds))
	for i, d := range ds {
		msgs[i] = d.Append(nil)
	}
	return msgs
}
