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

// Send sends messages to a queue or topic, all or none, and returns their sequence numbers, in their order. Those
// with a ScheduledEnqueueTime in the future are scheduled. On a topic the numbers are the topic's; the copies in
// subscriptions have others.
func (n *Namespace) Send(t testing.TB, entity string, messages ...Message) []int64 {
	t.Helper()
	e := n.entity(t, entity)
	list := make([]message.Message, len(messages))
	for i := range messages {
		list[i] = messages[i].encode(t, n.Now())
	}
	var numbers []int64
	durable(t, "send to "+entity, func(done emulator.Completion) (err error) {
		numbers, err = e.Submit(list, done)
		return err
	})
	return numbers
}

// encode returns the message as a client would send it.
func (m *Message) encode(t testing.TB, now time.Time) message.Message {
	t.Helper()
	encoded, err := m.json(t).Encode(now)
	check(t, "encode a message", err)
	scanned, err := message.Scan(encoded)
	check(t, "encode a message", err)
	return scanned
}

// json returns the message in the form that is encoded.
func (m *Message) json(t testing.TB) *messagejson.Message {
	t.Helper()
	j := &messagejson.Message{
		BodyBase64:       append([]byte{}, m.Body...),
		SessionID:        m.SessionID,
		PartitionKey:     m.PartitionKey,
		Subject:          given(m.Subject),
		ContentType:      given(m.ContentType),
		To:               given(m.To),
		ReplyTo:          given(m.ReplyTo),
		ReplyToSessionID: given(m.ReplyToSessionID),
	}
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

// DeleteMessages removes messages of an entity or sub-queue by their sequence numbers, all or none. Scheduled ones are
// cancelled. The test fails if one is not there, or is locked.
func (n *Namespace) DeleteMessages(t testing.TB, entity string, sequenceNumbers ...int64) {
	t.Helper()
	e, sub := n.entityAt(t, entity)
	durable(t, "delete messages of "+entity, func(done emulator.Completion) error {
		return e.Messages().Remove(sub, sequenceNumbers, done)
	})
}

// Reschedule changes the time at which a scheduled message becomes active. It keeps its sequence number until then.
func (n *Namespace) Reschedule(t testing.TB, entity string, sequenceNumber int64, to time.Time) {
	t.Helper()
	e := n.entity(t, entity)
	durable(t, "reschedule a message of "+entity, func(done emulator.Completion) error {
		return e.Messages().Reschedule(sequenceNumber, to.UnixMilli(), done)
	})
}
