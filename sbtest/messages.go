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
	ApplicationProperties map[string]any // a time is a time.Time, a UUID a [16]byte
	TimeToLive            time.Duration  // 0: that of the entity
	ScheduledEnqueueTime  time.Time      // zero: at once

	// What only the server sets; Send does not look at it.

	SequenceNumber   int64
	State            State
	EnqueuedTime     time.Time
	ExpiresAt        time.Time // zero: never
	LockedUntil      time.Time // zero: not locked
	LockedBy         string    // in words
	DeliveryCount    int       // earlier deliveries that failed
	DeadLetterReason string
}

// State says how a message stands.
type State string

// The states.
const (
	Active    State = "active"
	Locked    State = "locked" // an active or deferred one
	Deferred  State = "deferred"
	Scheduled State = "scheduled"
)

var standings = map[State]emulator.Standing{
	Active: emulator.StandingActive, Locked: emulator.StandingLocked,
	Deferred: emulator.StandingDeferred, Scheduled: emulator.StandingScheduled,
}

func stateOf(standing emulator.Standing) State {
	for state, s := range standings {
		if s == standing {
			return state
		}
	}
	return ""
}

// Browse says which messages [Namespace.Messages] and [Namespace.DeadLetters] return: those that fit all that is set.
// The zero value means all.
type Browse struct {
	States    []State
	SQL       string // a SQL filter, such as "color = 'red'"
	Text      string // in the body, in a property or in its name; upper and lower case are the same
	Reason    string // DeadLetterReason
	SessionID *string
	After     time.Time // enqueued then or later
	Before    time.Time // enqueued before
	Newest    bool      // the highest sequence numbers first
	Max       int       // default all
}

// browsePage is how many messages [Namespace.Messages] asks for at once.
const browsePage = 1000

// Messages returns messages of an entity, by sequence number: of a queue, a topic, which has scheduled ones, a
// subscription, or a sub-queue such as "orders/$DeadLetterQueue": all, or those that you select. It does not receive,
// lock or change them.
func (n *Namespace) Messages(t testing.TB, entity string, which ...Browse) []Message {
	t.Helper()
	if len(which) > 1 {
		t.Fatalf("sbtest: messages: give one selection, not %d", len(which))
	}
	return n.messages(t, entity, append(which, Browse{})[0])
}

// DeadLetters returns the messages in the dead-letter queue of a queue or subscription, as [Namespace.Messages] does.
//
//	for _, m := range bus.DeadLetters(t, "orders") {
//		t.Logf("%s: %s", m.MessageID, m.DeadLetterReason)
//	}
func (n *Namespace) DeadLetters(t testing.TB, entity string, which ...Browse) []Message {
	t.Helper()
	return n.Messages(t, emulator.DeadLetter.Join(entity), which...)
}

func (n *Namespace) messages(t testing.TB, entity string, which Browse) (all []Message) {
	t.Helper()
	e, sub := n.entityAt(t, entity)
	o := emulator.Browse{Sub: sub, Newest: which.Newest, Max: browsePage, Select: emulator.Selection{
		SQL: which.SQL, Text: which.Text, Reason: given(which.Reason), SessionID: which.SessionID,
		After: millis(which.After), Before: millis(which.Before),
	}}
	for _, state := range which.States {
		standing, ok := standings[state]
		if !ok {
			t.Fatalf("sbtest: there is no state %q of messages", state)
		}
		o.Standings = append(o.Standings, standing)
	}
	for more := true; more && (which.Max == 0 || len(all) < which.Max); {
		if which.Max > 0 {
			o.Max = min(browsePage, which.Max-len(all))
		}
		end, err := e.Messages().Browse(o, func(s *emulator.MessageView) { all = append(all, messageOf(t, s)) })
		check(t, "look at messages of "+entity, err)
		more, o.From = end.More, &end.Next
	}
	return all
}

// Message returns the message with a sequence number, as [Namespace.Messages] does. The test fails if there is none.
func (n *Namespace) Message(t testing.TB, entity string, sequenceNumber int64) Message {
	t.Helper()
	e, sub := n.entityAt(t, entity)
	s, err := e.Messages().Get(sub, sequenceNumber)
	if err == nil {
		err = s.Load()
	}
	check(t, "look at a message of "+entity, err)
	return messageOf(t, s)
}

// messageOf returns a message as a test has it.
func messageOf(t testing.TB, s *emulator.MessageView) Message {
	t.Helper()
	head, body, err := s.Sections()
	check(t, "read a message", err)
	info, err := head.Info()
	check(t, "read a message", err)
	data, err := messagejson.Data(&body)
	check(t, "read the body of a message", err)
	text := func(field int) string {
		v, _ := head.Field(field).TextOf()
		return v
	}
	m := Message{
		Body:                  bytes.Join(data, nil),
		MessageID:             text(message.PropertyMessageID),
		Subject:               text(message.PropertySubject),
		ContentType:           text(message.PropertyContentType),
		CorrelationID:         text(message.PropertyCorrelationID),
		To:                    text(message.PropertyTo),
		ReplyTo:               text(message.PropertyReplyTo),
		ReplyToSessionID:      text(message.PropertyReplyToGroupID),
		ApplicationProperties: properties(t, &head),
		TimeToLive:            time.Duration(min(info.TTL, int64(dotnet.Forever/time.Millisecond))) * time.Millisecond,
		ScheduledEnqueueTime:  instant(s.Scheduled),
		SequenceNumber:        s.Sequence,
		State:                 stateOf(s.Standing),
		EnqueuedTime:          instant(s.Enqueued),
		ExpiresAt:             instant(s.Expires),
		LockedUntil:           instant(s.LockedUntil),
		DeliveryCount:         int(s.DeliveryCount),
		DeadLetterReason:      s.Reason,
	}
	if m.State == Locked {
		m.LockedBy = s.HeldBy()
	}
	if info.HasGroupID {
		m.SessionID = &info.GroupID
	}
	if info.HasPartitionKey {
		m.PartitionKey = &info.PartitionKey
	}
	return m
}

// properties returns the application properties of a message, nil if it has none.
func properties(t testing.TB, head *message.Message) map[string]any {
	t.Helper()
	var all map[string]any
	for e := head.UserProperties(); e.Next(); {
		v, err := message.DecodeValue(e.Encoded())
		check(t, "read an application property", err)
		switch x := v.(type) {
		case amqp.Timestamp:
			v = x.Time()
		case amqp.UUID:
			v = [16]byte(x)
		case amqp.Symbol:
			v = string(x)
		}
		if all == nil {
			all = make(map[string]any)
		}
		all[string(e.Key())] = v
	}
	return all
}
