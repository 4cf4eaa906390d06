package emulator_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/store/storetest"
)

// errDisk is what a failing journal answers in these tests.
var errDisk = errors.New("disk on fire")

// broker is a namespace under test with one queue, over a journal in memory that can fail.
type broker struct {
	t       *testing.T
	options emulator.Options
	j       *journal
	ns      *emulator.Namespace
	q       *emulator.Queue
}

// bubble runs f in a synctest bubble with a broker whose queue "q" has the settings o.
func bubble(t *testing.T, o emulator.QueueOptions, f func(b *broker)) {
	t.Helper()
	bubbleWith(t, emulator.Options{}, o, f)
}

// bubbleWith is bubble with options for the namespace too.
func bubbleWith(t *testing.T, no emulator.Options, o emulator.QueueOptions, f func(b *broker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &broker{t: t, options: no, j: &journal{Memory: storetest.NewMemory()}}
		b.open()
		defer b.close()
		q, err := b.ns.CreateQueue("q", o)
		if err != nil {
			t.Fatalf("create queue: %v", err)
		}
		b.q = q
		f(b)
	})
}

func (b *broker) open() {
	b.t.Helper()
	ns, err := emulator.Open(b.j, b.options)
	if err != nil {
		b.t.Fatalf("open namespace: %v", err)
	}
	b.ns = ns
}

func (b *broker) close() {
	b.ns.Close()
	b.j.Close()
}

// stop ends the process, so to speak; start brings it up again over the same journal.
func (b *broker) stop() { b.close() }

func (b *broker) start() {
	b.t.Helper()
	b.j.Memory = b.j.Reopen()
	b.open()
	q, err := b.ns.Queue("q")
	if err != nil {
		b.t.Fatalf("find queue after restart: %v", err)
	}
	b.q = q
}

// restart is stop and start without a pause.
func (b *broker) restart() {
	b.t.Helper()
	b.stop()
	b.start()
}

// failOnce makes the next commit fail.
func (b *broker) failOnce() { b.j.FailNext(1, errDisk) }

// update changes the queue's settings.
func (b *broker) update(change func(o *emulator.QueueOptions)) {
	b.t.Helper()
	o := b.q.Options()
	change(&o)
	if _, err := b.ns.UpdateQueue("q", o); err != nil {
		b.t.Fatalf("update queue: %v", err)
	}
}

// journal is a journal in memory that also notes what it is asked, and whose reads can fail.
type journal struct {
	*storetest.Memory
	mu       sync.Mutex
	appended [][]emulator.Op
	reads    int
	readErr  error // what all reads answer, if not nil
	lose     int64 // the body that reads do not find
}

func (j *journal) Append(c *emulator.Change) {
	j.mu.Lock()
	j.appended = append(j.appended, slices.Clone(c.Ops))
	j.mu.Unlock()
	j.Memory.Append(c)
}

func (j *journal) ReadBodies(r *emulator.BodyRead) {
	j.mu.Lock()
	j.reads++
	err, lost := j.readErr, j.lose
	j.mu.Unlock()
	switch {
	case err != nil:
		go r.Done.Completed(err)
		return
	case lost != 0:
		done := r.Done
		r.Done = emulator.CompletionFunc(func(err error) {
			for i, id := range r.IDs {
				if id == lost {
					r.Bodies[i] = nil
				}
			}
			done.Completed(err)
		})
	}
	j.Memory.ReadBodies(r)
}

func (j *journal) setReads(err error, lose int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.readErr, j.lose = err, lose
}

// seen returns how many changes were appended and how many reads were asked for.
func (j *journal) seen() (changes, reads int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.appended), j.reads
}

// since returns the operations of all changes from the n-th on.
func (j *journal) since(n int) []emulator.Op {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Concat(j.appended[n:]...)
}

// outcome is a completion that can be waited for.
type outcome chan error

func newOutcome() outcome { return make(outcome, 1) }

func (o outcome) Completed(err error) { o <- err }

// text makes a message with a body.
func text(body string) *goamqp.Message { return goamqp.NewMessage([]byte(body)) }

// texts makes one message per body.
func texts(bodies ...string) []*goamqp.Message {
	ms := make([]*goamqp.Message, len(bodies))
	for i, s := range bodies {
		ms[i] = text(s)
	}
	return ms
}

// at makes a message that asks to be enqueued at an instant.
func at(body string, when time.Time) *goamqp.Message {
	m := text(body)
	m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": when}
	return m
}

// withTTL makes a message with a time to live.
func withTTL(body string, ttl time.Duration) *goamqp.Message {
	m := text(body)
	m.Header = &goamqp.MessageHeader{TTL: ttl}
	return m
}

// encode turns a client's message into what the broker gets.
func encode(t testing.TB, m *goamqp.Message) message.Message {
	t.Helper()
	raw, err := m.MarshalBinary()
	if err != nil {
		t.Fatalf("marshal message: %v", err)
	}
	scanned, err := message.Scan(raw)
	if err != nil {
		t.Fatalf("scan message: %v", err)
	}
	return scanned
}

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

// got is a message as a client sees it. Its accessors read what is on the wire.
type got struct {
	t   *testing.T
	d   *emulator.Delivery // nil for a peeked message
	raw []byte
	*goamqp.Message
}

func decode(t *testing.T, raw []byte, d *emulator.Delivery) *got {
	t.Helper()
	g := &got{t: t, d: d, raw: raw, Message: &goamqp.Message{}}
	if err := g.UnmarshalBinary(raw); err != nil {
		t.Fatalf("unmarshal what a client gets: %v\n%x", err, raw)
	}
	return g
}

func annotation[T any](g *got, key string) T {
	g.t.Helper()
	v, ok := g.Annotations[key].(T)
	if !ok {
		g.t.Fatalf("annotation %s is %T %v", key, g.Annotations[key], g.Annotations[key])
	}
	return v
}

func (g *got) seq() int64 { g.t.Helper(); return annotation[int64](g, "x-opt-sequence-number") }
func (g *got) enqueued() time.Time {
	g.t.Helper()
	return annotation[time.Time](g, "x-opt-enqueued-time").UTC()
}
func (g *got) until() time.Time {
	g.t.Helper()
	return annotation[time.Time](g, "x-opt-locked-until").UTC()
}
func (g *got) state() int32          { g.t.Helper(); return annotation[int32](g, "x-opt-message-state") }
func (g *got) count() uint32         { return g.Header.DeliveryCount }
func (g *got) body() string          { return string(g.GetData()) }
func (g *got) property(k string) any { return g.ApplicationProperties[k] }
func (g *got) has(annot string) bool { _, ok := g.Annotations[annot]; return ok }
func bodies(gs []*got) string        { return strings.Join(mapped(gs, (*got).body), " ") }
func seqsOf(gs []*got) []int64       { return mapped(gs, (*got).seq) }
func countsOf(gs []*got) []uint32    { return mapped(gs, (*got).count) }
func tokensOf(gs []*got) []lockToken { return mapped(gs, (*got).token) }
func (g *got) token() lockToken      { return g.d.Token() }

type lockToken = emulator.LockToken

func mapped[T, U any](in []T, f func(T) U) []U {
	out := make([]U, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
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

func (b *broker) peekFrom(sub emulator.SubQueue, from int64, max int) []*got {
	b.t.Helper()
	gs, err := b.tryPeek(sub, from, max, 0, false)
	if err != nil {
		b.t.Fatalf("peek: %v", err)
	}
	return gs
}

// peek looks at the whole main queue.
func (b *broker) peek() []*got { b.t.Helper(); return b.peekFrom(emulator.Main, 0, 250) }

func (b *broker) tryPeek(sub emulator.SubQueue, from int64, max, maxBytes int, omit bool) ([]*got, error) {
	b.t.Helper()
	var msgs [][]byte
	done := newOutcome()
	err := b.q.Peek(sub, from, max, maxBytes, omit, func(m [][]byte, err error) { msgs = m; done <- err })
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
	err := b.q.ReceiveDeferred(sub, seqs, mode, func(d []*emulator.Delivery, err error) { ds = d; done <- err })
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

// wait lets time pass.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// now is the bubble's time at the broker's resolution.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func equal[T comparable](t *testing.T, what string, have, want T) {
	t.Helper()
	if have != want {
		t.Errorf("%s: %v, want %v", what, have, want)
	}
}

func equalSlices[T comparable](t *testing.T, what string, have []T, want ...T) {
	t.Helper()
	if !slices.Equal(have, want) {
		t.Errorf("%s: %v, want %v", what, have, want)
	}
}

// wantCode checks that an error is the domain's and has that code.
func wantCode(t *testing.T, what string, err error, code emulator.Code) {
	t.Helper()
	var e *emulator.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: error %v, want one of the domain with code %d", what, err, code)
	}
	equal(t, what+": code", e.Code, code)
}

// wantCounts compares the numbers of active, dead-lettered, scheduled and deferred messages.
func (b *broker) wantCounts(active, dead, scheduled, deferred int64) {
	b.t.Helper()
	c := b.q.Counts()
	equal(b.t, "counts of active, dead-lettered, scheduled and deferred messages",
		[4]int64{c.Active, c.DeadLetter, c.Scheduled, c.Deferred}, [4]int64{active, dead, scheduled, deferred})
}
