package management

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"
	"minibus/store/storetest"

	goamqp "github.com/Azure/go-amqp"
)

// lockDuration is the lock duration of the queue in every test.
const lockDuration = 30 * time.Second

// fixture has a queue in a bubble of synthetic time, over a journal in memory.
type fixture struct {
	*testing.T
	journal *storetest.Memory
	ns      *emulator.Namespace
	queue   *emulator.Entity
	ctx     Context
}

// inBubble runs a test in which time stands still except where the test sleeps.
func inBubble(t *testing.T, test func(f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.T = t
		test(f)
	})
}

func open(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{journal: storetest.NewMemory()}
	var err error
	if f.ns, err = emulator.Open(f.journal, emulator.Options{}); err != nil {
		t.Fatalf("open the namespace: %v", err)
	}
	t.Cleanup(f.ns.Close)
	q, err := f.ns.Entities().CreateQueue("orders", emulator.QueueOptions{LockDuration: lockDuration})
	if err != nil {
		t.Fatalf("create the queue: %v", err)
	}
	f.queue = q.Entity
	f.ctx = Context{Queue: f.queue}
	return f
}

// deadLetters returns the context of the dead-letter queue's node.
func (f *fixture) deadLetters() Context {
	ctx := f.ctx
	ctx.Sub = emulator.DeadLetter
	return ctx
}

// send sends messages with these bodies and waits until they are stored. A fresh queue numbers them from 1 (SEQ-10).
func (f *fixture) send(bodies ...string) {
	f.Helper()
	msgs := make([]message.Message, len(bodies))
	for i, b := range bodies {
		msgs[i] = f.scan(marshal(f, &goamqp.Message{Data: [][]byte{[]byte(b)}}))
	}
	f.await(func(c emulator.Completion) error { return f.queue.Send(msgs, c) })
}

// await runs an operation of the domain and waits for its commit.
func (f *fixture) await(operation func(emulator.Completion) error) {
	f.Helper()
	done := make(chan error, 1)
	if err := operation(emulator.CompletionFunc(func(err error) { done <- err })); err != nil {
		f.Fatalf("operation refused: %v", err)
	}
	if err := <-done; err != nil {
		f.Fatalf("commit: %v", err)
	}
}

func (f *fixture) scan(raw []byte) message.Message {
	f.Helper()
	m, err := message.Scan(raw)
	if err != nil {
		f.Fatalf("scan: %v", err)
	}
	return m
}

// take receives up to n messages on a link that it closes at once: locks outlive it (LOCK-10).
func (f *fixture) take(sub emulator.SubQueue, n int) []*emulator.Delivery {
	f.Helper()
	c, err := f.queue.NewConsumer(sub, emulator.PeekLock, func() {})
	if err != nil {
		f.Fatalf("attach: %v", err)
	}
	defer c.Close()
	ds := c.Take(nil, n)
	synctest.Wait()
	for _, d := range ds {
		if ready, _ := d.Ready(); !ready {
			f.Fatalf("message %d is not ready", d.Seq())
		}
	}
	return ds
}

// deferred sends n messages and defers them all.
func (f *fixture) deferred(n int) {
	f.Helper()
	for range n {
		f.send("later")
	}
	f.await(func(c emulator.Completion) error {
		return f.queue.Settle(tokensOf(f.take(emulator.Main, n)), emulator.Settlement{Outcome: emulator.Defer}, c)
	})
}

func tokensOf(ds []*emulator.Delivery) []emulator.LockToken {
	tokens := make([]emulator.LockToken, len(ds))
	for i, d := range ds {
		tokens[i] = d.Token()
	}
	return tokens
}

// uuids returns the lock tokens of deliveries as a client writes them.
func uuids(ds []*emulator.Delivery) []amqp.UUID {
	out := make([]amqp.UUID, len(ds))
	for i, d := range ds {
		out[i] = amqp.UUID(d.Token())
	}
	return out
}

// answer is a response as an independent client decodes it.
type answer struct {
	*goamqp.Message
	code      int32
	condition string // empty for null
	text      string // empty for null
}

// request sends an operation with its arguments and waits for the answer.
func (f *fixture) request(operation string, fields amqp.Map) answer {
	f.Helper()
	return f.requestTo(f.ctx, operation, fields)
}

func (f *fixture) requestTo(ctx Context, operation string, fields amqp.Map) answer {
	f.Helper()
	raw := amqptest.EncodeRequest(f, "1", amqp.Map{{Key: "operation", Value: "com.microsoft:" + operation}}, fields)
	return decodeAnswer(f, f.handle(ctx, raw))
}

// handle waits for the one response to an encoded request. Without one, the bubble ends in a deadlock.
func (f *fixture) handle(ctx Context, raw []byte) []byte {
	f.Helper()
	req := f.scan(raw)
	replies := make(chan []byte, 2)
	Handle(ctx, &req, func(resp []byte) { replies <- resp })
	resp := <-replies
	synctest.Wait()
	if len(replies) > 0 {
		f.Fatal("the request was answered twice")
	}
	return resp
}

// want checks status and condition; an empty condition means success.
func (a answer) want(t testing.TB, code int32, condition string) {
	t.Helper()
	if a.code != code || a.condition != condition {
		t.Fatalf("answer %d %q %q, want %d %q", a.code, a.condition, a.text, code, condition)
	}
}

func decodeAnswer(t testing.TB, raw []byte) answer {
	t.Helper()
	a := answer{Message: new(goamqp.Message)}
	if err := a.UnmarshalBinary(raw); err != nil {
		t.Fatalf("the client cannot decode the response: %v", err)
	}
	properties := a.ApplicationProperties
	var ok bool
	if a.code, ok = properties["statusCode"].(int32); !ok {
		t.Fatalf("statusCode is %T, want an int", properties["statusCode"])
	}
	if c := properties["errorCondition"]; c != nil {
		// This client reads symbols as strings; .NET casts to the type.
		resp, err := message.Scan(raw)
		if err != nil {
			t.Fatalf("scan response: %v", err)
		}
		if v, _ := resp.ApplicationProperty("errorCondition"); v != amqp.Symbol(c.(string)) {
			t.Fatalf("errorCondition is %T, want a symbol", v)
		}
		a.condition = c.(string)
	}
	a.text, _ = properties["statusDescription"].(string)
	return a
}

// field returns the one value in the body of a reply.
func field[T any](t testing.TB, a answer, key string) T {
	t.Helper()
	body, _ := a.Value.(map[string]any)
	v, ok := body[key].(T)
	if !ok {
		t.Fatalf("answer %d %q: %s is %T, want %T", a.code, a.text, key, body[key], v)
	}
	return v
}

// messages returns the decoded messages of a reply, with their lock tokens.
func messages(t testing.TB, a answer) (msgs []*goamqp.Message, tokens []any) {
	t.Helper()
	for _, v := range field[[]any](t, a, "messages") {
		entry := v.(map[string]any)
		m := new(goamqp.Message)
		if err := m.UnmarshalBinary(entry["message"].([]byte)); err != nil {
			t.Fatalf("the client cannot decode a message: %v", err)
		}
		msgs = append(msgs, m)
		tokens = append(tokens, entry["lock-token"])
	}
	return msgs, tokens
}

func marshal(t testing.TB, m *goamqp.Message) []byte {
	t.Helper()
	raw, err := m.MarshalBinary()
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	return raw
}
