package cli

import (
	"encoding/base64"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/config"
	"minibus/internal/amqp/messagejson"
)

// message is a message as JSON: what peek and receive write, and what send reads.
type message = messagejson.Message

// The annotations of the service.
const (
	partitionKey  = "x-opt-partition-key"
	scheduledTime = "x-opt-scheduled-enqueue-time"
)

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
	setBody(&j, raw.Body)
	return j
}

// setBody shows the body as the kind of section that it is.
func setBody(j *message, b azservicebus.AMQPAnnotatedMessageBody) {
	switch {
	case len(b.Data) == 1 && utf8.Valid(b.Data[0]):
		j.Body = string(b.Data[0])
	case len(b.Data) == 1:
		j.BodyBase64 = b.Data[0]
	case len(b.Data) > 1:
		j.BodySections = b.Data
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
func shownBody(j *message) string {
	switch {
	case j.Body != nil:
		body, _ := j.Body.(string)
		return body
	case j.BodyBase64 != nil:
		return "base64 " + base64.StdEncoding.EncodeToString(j.BodyBase64)
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

func mapToJSON(m map[string]any) messagejson.Values {
	if len(m) == 0 {
		return nil
	}
	out := make(messagejson.Values, len(m))
	for name, v := range m {
		out[name] = toJSON(v)
	}
	return out
}

// annotationsToJSON leaves out those that the message has as properties of its own.
func annotationsToJSON(m map[any]any) messagejson.Values {
	rest := make(messagejson.Values)
	for key, v := range m {
		if name := fmt.Sprint(key); !messagejson.OfTheService(name) {
			rest[name] = toJSON(v)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}
