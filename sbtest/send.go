package sbtest

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/dotnet"
)

// Send sends messages to a queue or topic of the default namespace, all or none, and returns their sequence numbers, in their order. Those with a
// ScheduledEnqueueTime in the future are scheduled. On a topic the numbers are the topic's; the copies in subscriptions have others.
func (s *Server) Send(t testing.TB, entity string, messages ...Message) []int64 {
	t.Helper()
	return sendTo(t, s.Default(), entity, messages)
}

// Send is [Server.Send] in this namespace.
func (n *Namespace) Send(t testing.TB, entity string, messages ...Message) []int64 {
	t.Helper()
	return sendTo(t, n.Namespace, entity, messages)
}

func sendTo(t testing.TB, ns *emulator.Namespace, entity string, messages []Message) []int64 {
	t.Helper()
	e, err := ns.Entity(entity)
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
	list := make([]message.Message, len(messages))
	for i := range messages {
		raw, err := messages[i].json(t).Encode(instant(ns.Now()))
		if err == nil {
			list[i], err = message.Scan(raw)
		}
		if err != nil {
			t.Fatalf("sbtest: message %d: %v", i+1, err)
		}
	}
	var numbers []int64
	durable(t, func(done emulator.Completion) (err error) {
		numbers, err = e.Submit(list, done)
		return err
	})
	return numbers
}

// json returns the message in the form that is encoded.
func (m *Message) json(t testing.TB) *messagejson.Message {
	t.Helper()
	given := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	body := m.Body
	if body == nil {
		body = []byte{}
	}
	j := &messagejson.Message{BodyBase64: body, SessionID: m.SessionID, PartitionKey: m.PartitionKey, Subject: given(m.Subject), ContentType: given(m.ContentType),
		To: given(m.To), ReplyTo: given(m.ReplyTo), ReplyToSessionID: given(m.ReplyToSessionID)}
	if m.MessageID != "" {
		j.MessageID = m.MessageID
	}
	if m.CorrelationID != "" {
		j.CorrelationID = m.CorrelationID
	}
	if m.TimeToLive > 0 {
		j.TimeToLive = dotnet.FormatDuration(m.TimeToLive)
	}
	if !m.ScheduledEnqueueTime.IsZero() {
		j.ScheduledEnqueueTime = &m.ScheduledEnqueueTime
	}
	for name, v := range m.ApplicationProperties {
		if id, ok := v.([16]byte); ok {
			v = amqp.UUID(id)
		}
		encoded, err := message.EncodeValue(v)
		if err == nil {
			v, err = message.DecodeValue(encoded)
		}
		if err != nil {
			t.Fatalf("sbtest: application property %q: %v", name, err)
		}
		if j.ApplicationProperties == nil {
			j.ApplicationProperties = make(messagejson.Values)
		}
		j.ApplicationProperties[name] = messagejson.ToJSON(v)
	}
	return j
}

// Delete removes messages of an entity or sub-queue of the default namespace by their sequence numbers, all or none. Scheduled ones are cancelled. The test
// fails if one is not there, or is locked.
func (s *Server) Delete(t testing.TB, entity string, sequenceNumbers ...int64) {
	t.Helper()
	remove(t, s.Default(), entity, sequenceNumbers)
}

// Delete is [Server.Delete] in this namespace.
func (n *Namespace) Delete(t testing.TB, entity string, sequenceNumbers ...int64) {
	t.Helper()
	remove(t, n.Namespace, entity, sequenceNumbers)
}

func remove(t testing.TB, ns *emulator.Namespace, entity string, numbers []int64) {
	t.Helper()
	e, sub := entityAt(t, ns, entity)
	durable(t, func(done emulator.Completion) error { return e.Messages().Remove(sub, numbers, done) })
}

// Reschedule changes the time at which a scheduled message of the default namespace becomes active. It keeps its sequence number until then.
func (s *Server) Reschedule(t testing.TB, entity string, sequenceNumber int64, to time.Time) {
	t.Helper()
	reschedule(t, s.Default(), entity, sequenceNumber, to)
}

// Reschedule is [Server.Reschedule] in this namespace.
func (n *Namespace) Reschedule(t testing.TB, entity string, sequenceNumber int64, to time.Time) {
	t.Helper()
	reschedule(t, n.Namespace, entity, sequenceNumber, to)
}

func reschedule(t testing.TB, ns *emulator.Namespace, entity string, number int64, to time.Time) {
	t.Helper()
	e, err := ns.Entity(entity)
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
	durable(t, func(done emulator.Completion) error { return e.Messages().Reschedule(number, to.UnixMilli(), done) })
}

// durable waits until an operation is durable, and fails the test if it does not come to that.
func durable(t testing.TB, start func(emulator.Completion) error) {
	t.Helper()
	done := make(chan error, 1)
	err := start(emulator.CompletionFunc(func(err error) { done <- err }))
	if err == nil {
		err = <-done
	}
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
}
