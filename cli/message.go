package cli

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/config"
)

// message is a message as JSON: what peek and receive write, and what send reads. Values that may have any type of AMQP are as toJSON
// makes them. send leaves out what only the service can set.
type message struct {
	SequenceNumber         *int64     `json:"sequenceNumber,omitempty"`
	EnqueuedSequenceNumber *int64     `json:"enqueuedSequenceNumber,omitempty"`
	State                  string     `json:"state,omitempty"`
	EnqueuedTime           *time.Time `json:"enqueuedTime,omitempty"`
	LockedUntil            *time.Time `json:"lockedUntil,omitempty"`
	LockToken              string     `json:"lockToken,omitempty"`
	DeliveryCount          *uint32    `json:"deliveryCount,omitempty"`
	DeadLetterSource       string     `json:"deadLetterSource,omitempty"`

	MessageID            any        `json:"messageId,omitempty"`
	CorrelationID        any        `json:"correlationId,omitempty"`
	SessionID            *string    `json:"sessionId,omitempty"`
	PartitionKey         *string    `json:"partitionKey,omitempty"`
	Subject              *string    `json:"subject,omitempty"`
	ContentType          *string    `json:"contentType,omitempty"`
	ContentEncoding      *string    `json:"contentEncoding,omitempty"`
	To                   *string    `json:"to,omitempty"`
	ReplyTo              *string    `json:"replyTo,omitempty"`
	ReplyToSessionID     *string    `json:"replyToSessionId,omitempty"`
	UserID               any        `json:"userId,omitempty"`
	GroupSequence        *uint32    `json:"groupSequence,omitempty"`
	TimeToLive           string     `json:"timeToLive,omitempty"`
	CreationTime         *time.Time `json:"creationTime,omitempty"`
	AbsoluteExpiryTime   *time.Time `json:"absoluteExpiryTime,omitempty"`
	ScheduledEnqueueTime *time.Time `json:"scheduledEnqueueTime,omitempty"`
	Durable              bool       `json:"durable,omitempty"`
	Priority             *uint8     `json:"priority,omitempty"`

	ApplicationProperties map[string]any `json:"applicationProperties,omitempty"`
	Annotations           map[string]any `json:"annotations,omitempty"`
	DeliveryAnnotations   map[string]any `json:"deliveryAnnotations,omitempty"`
	Footer                map[string]any `json:"footer,omitempty"`

	Body         any      `json:"body,omitempty"`         // text; send takes any JSON, whose text becomes the body
	BodyBase64   *string  `json:"bodyBase64,omitempty"`   // bytes that are no text
	BodySections []string `json:"bodySections,omitempty"` // several data sections, in base64
	BodyValue    any      `json:"bodyValue,omitempty"`    // an AMQP value
	BodySequence [][]any  `json:"bodySequence,omitempty"` // AMQP sequences
}

// The annotations of the service.
const (
	partitionKey  = "x-opt-partition-key"
	scheduledTime = "x-opt-scheduled-enqueue-time"
)

// ofTheService are annotations that the service sets anew.
var ofTheService = []string{"x-opt-sequence-number", "x-opt-enqueued-time", "x-opt-locked-until", "x-opt-deadletter-source",
	"x-opt-enqueue-sequence-number", "x-opt-message-state", "x-opt-partition-id", "x-opt-lock-token", partitionKey, scheduledTime}

// defaultPriority is that of a message which does not say any [AMQP 3.2.1].
const defaultPriority = 4

// longestTTL is the longest time to live that the header holds, in milliseconds.
const longestTTL = math.MaxUint32 * time.Millisecond

// messageOf returns a message as JSON.
func messageOf(m *azservicebus.ReceivedMessage) message {
	raw := m.RawAMQPMessage
	j := message{
		SequenceNumber: m.SequenceNumber, EnqueuedSequenceNumber: m.EnqueuedSequenceNumber, State: stateName(m.State),
		EnqueuedTime: utc(m.EnqueuedTime), LockedUntil: utc(m.LockedUntil), PartitionKey: m.PartitionKey,
		ScheduledEnqueueTime: utc(m.ScheduledEnqueueTime), DeadLetterSource: text(m.DeadLetterSource),
		ApplicationProperties: mapToJSON(raw.ApplicationProperties),
		Annotations:           annotationsToJSON(raw.MessageAnnotations), DeliveryAnnotations: annotationsToJSON(raw.DeliveryAnnotations),
		Footer: annotationsToJSON(raw.Footer),
	}
	if h := raw.Header; h != nil {
		j.DeliveryCount, j.Durable = &h.DeliveryCount, h.Durable
		if h.Priority != defaultPriority {
			j.Priority = &h.Priority
		}
		if h.TTL > 0 {
			j.TimeToLive = config.FormatDuration(h.TTL)
		}
	}
	if p := raw.Properties; p != nil {
		j.MessageID, j.CorrelationID, j.SessionID = toJSON(p.MessageID), toJSON(p.CorrelationID), p.GroupID
		j.Subject, j.ContentType, j.ContentEncoding = p.Subject, p.ContentType, p.ContentEncoding
		j.To, j.ReplyTo, j.ReplyToSessionID, j.GroupSequence = p.To, p.ReplyTo, p.ReplyToGroupID, p.GroupSequence
		j.CreationTime, j.AbsoluteExpiryTime = utc(p.CreationTime), utc(p.AbsoluteExpiryTime)
		if len(p.UserID) > 0 {
			j.UserID = toJSON(p.UserID)
		}
		if p.CreationTime != nil && p.AbsoluteExpiryTime != nil && raw.Header != nil && raw.Header.TTL >= longestTTL {
			j.TimeToLive = config.FormatDuration(p.AbsoluteExpiryTime.Sub(*p.CreationTime))
		}
	}
	j.setBody(raw.Body)
	return j
}

// setBody shows the body as the kind of section that it is.
func (j *message) setBody(b azservicebus.AMQPAnnotatedMessageBody) {
	switch {
	case len(b.Data) == 1 && utf8.Valid(b.Data[0]):
		j.Body = string(b.Data[0])
	case len(b.Data) == 1:
		j.BodyBase64 = new(base64.StdEncoding.EncodeToString(b.Data[0]))
	case len(b.Data) > 1:
		for _, section := range b.Data {
			j.BodySections = append(j.BodySections, base64.StdEncoding.EncodeToString(section))
		}
	case b.Sequence != nil:
		for _, section := range b.Sequence {
			items := make([]any, len(section))
			for i := range section {
				items[i] = toJSON(section[i])
			}
			j.BodySequence = append(j.BodySequence, items)
		}
	default:
		j.BodyValue = toJSON(b.Value)
	}
}

// shownBody is the body for people.
func (j *message) shownBody() string {
	switch {
	case j.Body != nil:
		return j.Body.(string)
	case j.BodyBase64 != nil:
		return "base64 " + *j.BodyBase64
	case j.BodySections != nil:
		return "sections " + brief(j.BodySections)
	case j.BodySequence != nil:
		return "sequence " + brief(j.BodySequence)
	case j.BodyValue != nil:
		return "value " + brief(j.BodyValue)
	}
	return ""
}

func stateName(s azservicebus.MessageState) string {
	switch s {
	case azservicebus.MessageStateDeferred:
		return "deferred"
	case azservicebus.MessageStateScheduled:
		return "scheduled"
	}
	return "active"
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func mapToJSON(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]any, len(m))
	for name, v := range m {
		out[name] = toJSON(v)
	}
	return out
}

// annotationsToJSON leaves out those that the message has as properties of its own.
func annotationsToJSON(m map[any]any) map[string]any {
	rest := make(map[string]any)
	for key, v := range m {
		if name := fmt.Sprint(key); !slices.Contains(ofTheService, name) {
			rest[name] = toJSON(v)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}
