package emulator_test

import (
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

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
	if err := g.UnmarshalBinary(raw); err != nil && !strings.HasSuffix(err.Error(), " not implemented") { // a type that this client lacks
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
