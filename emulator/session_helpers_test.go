package emulator_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// create makes one more queue and returns the broker with that one at hand.
func (b *broker) create(path string, o emulator.QueueOptions) *broker {
	b.t.Helper()
	b.ns.Plan(o.ForwardTo, o.ForwardDeadLetteredMessagesTo)
	if _, err := b.ns.Entities().CreateQueue(path, o); err != nil {
		b.t.Fatalf("create queue %s: %v", path, err)
	}
	return b.on(path)
}

// on returns the broker with another queue at hand. After a restart it must be asked for again.
func (b *broker) on(path string) *broker {
	b.t.Helper()
	q, err := b.ns.Entity(path)
	if err != nil {
		b.t.Fatalf("find queue %s: %v", path, err)
	}
	other := *b
	other.q = q
	return &other
}

// set changes the settings of the queue at hand, whatever its name.
func (b *broker) set(change func(o *emulator.QueueOptions)) {
	b.t.Helper()
	o := b.q.Options()
	change(&o)
	if _, err := b.ns.Entities().UpdateQueue(b.q.Path(), o); err != nil {
		b.t.Fatalf("update queue %s: %v", b.q.Path(), err)
	}
	synctest.Wait()
}

// inSession makes a message of a session.
func inSession(id, body string) *goamqp.Message {
	m := text(body)
	m.Properties = &goamqp.MessageProperties{GroupID: &id}
	return m
}

// withID makes a message with a message id, which is its body too.
func withID(id string) *goamqp.Message {
	m := text(id)
	m.Properties = properties(id)
	return m
}

// withKey makes a message with a partition key.
func withKey(key, body string) *goamqp.Message {
	m := text(body)
	m.Annotations = goamqp.Annotations{"x-opt-partition-key": key}
	return m
}

// sendSession sends messages named "session:body" one by one.
func (b *broker) sendSession(names ...string) {
	b.t.Helper()
	for _, name := range names {
		id, _, _ := strings.Cut(name, ":")
		b.send(inSession(id, name))
	}
}

// holder is a session receiver.
type holder struct {
	*receiver
	notified atomic.Int64
	mu       sync.Mutex
	losses   []error
}

func (h *holder) accept() emulator.Accept {
	return emulator.Accept{Notify: func() { h.notified.Add(1) }, Lost: func(err error) {
		h.mu.Lock()
		h.losses = append(h.losses, err)
		h.mu.Unlock()
	}}
}

// lost returns what it was told of the end of its lock.
func (h *holder) lost() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.losses
}

// notices returns how often it was told to look.
func (h *holder) notices() int64 { return h.notified.Load() }

func (h *holder) id() string {
	id, ok := h.c.SessionID()
	if !ok {
		return "no session"
	}
	return id
}

func (h *holder) until() time.Time { return time.UnixMilli(h.c.SessionLockedUntil()).UTC() }

func (b *broker) tryAccept(id string) (*holder, error) { return b.tryAcceptIn(id, emulator.PeekLock) }

func (b *broker) tryAcceptIn(id string, mode emulator.ReceiveMode) (*holder, error) {
	h := &holder{receiver: &receiver{b: b}}
	a := h.accept()
	a.Mode = mode
	c, err := b.q.Sessions().Accept(id, a)
	h.c = c
	return h, err
}

// accept locks the session with that id.
func (b *broker) accept(id string) *holder { b.t.Helper(); return b.acceptIn(id, emulator.PeekLock) }

// acceptIn is accept for a receiver of any mode.
func (b *broker) acceptIn(id string, mode emulator.ReceiveMode) *holder {
	b.t.Helper()
	h, err := b.tryAcceptIn(id, mode)
	if err != nil {
		b.t.Fatalf("accept session %q: %v", id, err)
	}
	return h
}

// acceptNext is an accept of the next session.
type acceptNext struct {
	*holder
	grants atomic.Int64
	cancel func()
}

// granted returns how often the accept was answered.
func (w *acceptNext) granted() int64 { return w.grants.Load() }

// next asks for the next session.
func (b *broker) next() *acceptNext {
	b.t.Helper()
	w := &acceptNext{holder: &holder{receiver: &receiver{b: b}}}
	cancel, err := b.q.Sessions().AcceptNext(w.accept(), func(c *emulator.Consumer) { w.c = c; w.grants.Add(1) })
	if err != nil {
		b.t.Fatalf("accept the next session: %v", err)
	}
	w.cancel = cancel
	return w
}

// nextID asks for the next session and returns its id, or "none" if there is none now. The session stays locked.
func (b *broker) nextID() string {
	b.t.Helper()
	w := b.next()
	if w.granted() == 0 {
		w.cancel()
		return "none"
	}
	return w.id()
}

// setState sets the state of the session that h holds.
func (h *holder) setState(state []byte) error {
	done := newOutcome()
	if err := h.c.SetSessionState(state, done); err != nil {
		return err
	}
	err := <-done
	synctest.Wait()
	return err
}

// fetch receives deferred messages of the session that h holds.
func (h *holder) fetch(mode emulator.ReceiveMode, seqs ...int64) ([]*got, error) {
	return h.b.fetchAs(h.c, mode, seqs...)
}

func (b *broker) fetchAs(c *emulator.Consumer, mode emulator.ReceiveMode, seqs ...int64) ([]*got, error) {
	b.t.Helper()
	var ds []*emulator.Delivery
	done := newOutcome()
	err := b.q.ReceiveDeferred(emulator.Main, seqs, mode, c, nil, func(d []*emulator.Delivery, err error) { ds = d; done <- err })
	if err == nil {
		err = <-done
	}
	if err != nil {
		return nil, err
	}
	return b.written(ds), nil
}

// peekSession looks at the messages of a session.
func (b *broker) peekSession(id string) []*got {
	b.t.Helper()
	var msgs [][]byte
	done := newOutcome()
	err := b.q.Peek(emulator.Peek{Max: 250, SessionID: &id}, func(ds []*emulator.Delivery, err error) { msgs = encoded(ds); done <- err })
	if err == nil {
		err = <-done
	}
	if err != nil {
		b.t.Fatalf("peek session %q: %v", id, err)
	}
	return mapped(msgs, func(raw []byte) *got { return decode(b.t, raw, nil) })
}

// sessions lists sessions; all is mode A of SESS-27.
func (b *broker) sessions(all bool, after time.Time, skip, top int) []string {
	b.t.Helper()
	ids, err := b.q.Sessions().IDs(all, after.UnixMilli(), skip, top)
	if err != nil {
		b.t.Fatalf("list sessions: %v", err)
	}
	return ids
}

// work is a transaction under test.
type work struct {
	b *broker
	*emulator.Transaction
}

// begin opens a transaction on one entity.
func (b *broker) begin() *work { return &work{b, b.ns.Begin(false, "")} }

// beginCross opens a transaction that may send through the entity via.
func (b *broker) beginCross(via string) *work { return &work{b, b.ns.Begin(true, via)} }

func (w *work) send(b *broker, ms ...*goamqp.Message) {
	b.t.Helper()
	if err := w.Send(b.q, b.encodeAll(ms)); err != nil {
		b.t.Fatalf("send in a transaction: %v", err)
	}
}

func (w *work) settle(b *broker, o emulator.Outcome, gs ...*got) {
	b.t.Helper()
	if err := w.Settle(b.q, tokensOf(gs), emulator.Settlement{Outcome: o}); err != nil {
		b.t.Fatalf("settle in a transaction: %v", err)
	}
}

func (w *work) schedule(b *broker, ms ...*goamqp.Message) []int64 {
	b.t.Helper()
	seqs, err := w.Schedule(b.q, b.encodeAll(ms))
	if err != nil {
		b.t.Fatalf("schedule in a transaction: %v", err)
	}
	return seqs
}

func (w *work) tryCommit() error {
	done := newOutcome()
	if err := w.Commit(done); err != nil {
		return err
	}
	err := <-done
	synctest.Wait()
	return err
}

func (w *work) commit() {
	w.b.t.Helper()
	if err := w.tryCommit(); err != nil {
		w.b.t.Fatalf("commit: %v", err)
	}
}

// deadReasons returns body and reason of what is in the dead-letter queue.
func (b *broker) deadReasons(sub emulator.SubQueue) []string {
	b.t.Helper()
	return mapped(b.peekFrom(sub, 0, 250), func(g *got) string {
		reason, _ := g.property(emulator.DeadLetterReason).(string)
		return g.body() + "=" + reason
	})
}

// drain receives and deletes everything.
func (b *broker) drain() []*got {
	b.t.Helper()
	return b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1000)
}

// wantText checks how an error reads.
func wantText(t *testing.T, what string, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: error %v, want a text with %q", what, err, part)
	}
}

func sorted(ss []string) []string { return slices.Sorted(slices.Values(ss)) }
