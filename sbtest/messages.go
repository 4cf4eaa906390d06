package sbtest

import (
	"bytes"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/dotnet"
)

// Message is a message that a test sends or looks at.
type Message struct {
	Body                  []byte
	MessageID             string
	SessionID             *string
	PartitionKey          *string
	Subject               string
	ContentType           string
	CorrelationID         string
	To                    string
	ReplyTo               string
	ReplyToSessionID      string
	ApplicationProperties map[string]any // values of Go's types for those of AMQP; a time is a time.Time, a UUID a [16]byte
	TimeToLive            time.Duration  // 0: that of the entity
	ScheduledEnqueueTime  time.Time      // zero: at once

	// What only the server sets; Send does not look at it.

	SequenceNumber   int64
	Standing         emulator.Standing // emulator.StandingActive, StandingLocked, StandingDeferred, StandingScheduled
	EnqueuedTime     time.Time
	ExpiresAt        time.Time // zero: never
	LockedUntil      time.Time // zero: not locked
	LockedBy         string    // in words
	DeliveryCount    int       // earlier deliveries that failed
	DeadLetterReason string
}

// Browse says which messages [Server.Messages] returns: those that fit all that is set. The zero value means all.
type Browse struct {
	Standings []emulator.Standing
	SQL       string // a SQL filter, such as "color = 'red'"
	Text      string // in the body, in a property or in its name, in letters of any case
	Reason    string // DeadLetterReason
	SessionID *string
	After     time.Time // enqueued then or later
	Before    time.Time // enqueued before
	Newest    bool      // the highest sequence numbers first
	Max       int       // default all
}

// browsePage is how many messages [Server.Messages] asks for at once.
const browsePage = 1000

func (b *Browse) browse(sub emulator.SubQueue) emulator.Browse {
	o := emulator.Browse{Sub: sub, Standings: b.Standings, Newest: b.Newest, Max: browsePage,
		Select: emulator.Selection{SQL: b.SQL, Text: b.Text, SessionID: b.SessionID}}
	if b.Reason != "" {
		o.Select.Reason = &b.Reason
	}
	if !b.After.IsZero() {
		o.Select.After = b.After.UnixMilli()
	}
	if !b.Before.IsZero() {
		o.Select.Before = b.Before.UnixMilli()
	}
	return o
}

// Messages returns messages of an entity of the default namespace, by sequence number: of a queue, a topic, which has scheduled ones, a subscription, or
// a sub-queue such as "orders/$DeadLetterQueue". It does not receive, lock or change them.
func (s *Server) Messages(t testing.TB, entity string, which Browse) []Message {
	t.Helper()
	return messagesOf(t, s.Default(), entity, which)
}

// Messages is [Server.Messages] in this namespace.
func (n *Namespace) Messages(t testing.TB, entity string, which Browse) []Message {
	t.Helper()
	return messagesOf(t, n.Namespace, entity, which)
}

func messagesOf(t testing.TB, ns *emulator.Namespace, entity string, which Browse) (all []Message) {
	t.Helper()
	e, sub := entityAt(t, ns, entity)
	o := which.browse(sub)
	for more := true; more && (which.Max == 0 || len(all) < which.Max); {
		if which.Max > 0 {
			o.Max = min(browsePage, which.Max-len(all))
		}
		end, err := e.Messages().Browse(o, func(s *emulator.Seen) { all = append(all, seen(t, s)) })
		if err != nil {
			t.Fatalf("sbtest: %v", err)
		}
		more, o.From = end.More, &end.Next
	}
	return all
}

// Message returns the message with a sequence number of an entity of the default namespace, as [Server.Messages] does. The test fails if there is none.
func (s *Server) Message(t testing.TB, entity string, sequenceNumber int64) Message {
	t.Helper()
	return messageOf(t, s.Default(), entity, sequenceNumber)
}

// Message is [Server.Message] in this namespace.
func (n *Namespace) Message(t testing.TB, entity string, sequenceNumber int64) Message {
	t.Helper()
	return messageOf(t, n.Namespace, entity, sequenceNumber)
}

func messageOf(t testing.TB, ns *emulator.Namespace, entity string, number int64) Message {
	t.Helper()
	e, sub := entityAt(t, ns, entity)
	s, err := e.Messages().Get(sub, number)
	if err == nil {
		err = s.Load()
	}
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
	return seen(t, s)
}

func entityAt(t testing.TB, ns *emulator.Namespace, path string) (*emulator.Entity, emulator.SubQueue) {
	t.Helper()
	e, sub, err := ns.EntityAt(path)
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
	return e, sub
}

// seen returns a message as a test has it.
func seen(t testing.TB, s *emulator.Seen) Message {
	t.Helper()
	head, body, err := s.Sections()
	if err != nil {
		t.Fatalf("sbtest: read message %d: %v", s.Sequence, err)
	}
	text := func(field int) string {
		v, _ := head.Field(field).TextOf()
		return v
	}
	m := Message{SequenceNumber: s.Sequence, Standing: s.Standing, EnqueuedTime: instant(s.Enqueued), ExpiresAt: instant(s.Expires), LockedUntil: instant(s.LockedUntil),
		DeliveryCount: int(s.DeliveryCount), DeadLetterReason: s.Reason, ScheduledEnqueueTime: instant(s.Scheduled),
		MessageID: text(message.PropertyMessageID), Subject: text(message.PropertySubject), ContentType: text(message.PropertyContentType), CorrelationID: text(message.PropertyCorrelationID),
		To: text(message.PropertyTo), ReplyTo: text(message.PropertyReplyTo), ReplyToSessionID: text(message.PropertyReplyToGroupID)}
	if s.Standing == emulator.StandingLocked {
		m.LockedBy = s.HeldBy()
	}
	info, err := head.Info()
	if err == nil {
		err = m.content(&head, &body)
	}
	if err != nil {
		t.Fatalf("sbtest: read message %d: %v", s.Sequence, err)
	}
	m.TimeToLive = time.Duration(min(info.TTL, int64(dotnet.Forever/time.Millisecond))) * time.Millisecond
	if info.HasGroupID {
		m.SessionID = &info.GroupID
	}
	if info.HasPartitionKey {
		m.PartitionKey = &info.PartitionKey
	}
	return m
}

// content reads the application properties and the body.
func (m *Message) content(head, body *message.Message) error {
	for e := head.UserProperties(); e.Next(); {
		v, err := message.DecodeValue(e.Encoded())
		if err != nil {
			return err
		}
		if m.ApplicationProperties == nil {
			m.ApplicationProperties = make(map[string]any)
		}
		switch x := v.(type) {
		case amqp.Timestamp:
			v = x.Time()
		case amqp.UUID:
			v = [16]byte(x)
		case amqp.Symbol:
			v = string(x)
		}
		m.ApplicationProperties[string(e.Key())] = v
	}
	data, err := messagejson.Data(body)
	m.Body = bytes.Join(data, nil)
	return err
}

// instant returns a time in milliseconds; 0 is the zero time.
func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
