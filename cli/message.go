package cli

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
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
		Annotations:           annotationsToJSON(raw.MessageAnnotations),
		DeliveryAnnotations:   annotationsToJSON(raw.DeliveryAnnotations),
		Footer:                annotationsToJSON(raw.Footer),
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
		j.MessageID = toJSON(p.MessageID)
		j.CorrelationID = toJSON(p.CorrelationID)
		j.SessionID = p.GroupID
		j.Subject = p.Subject
		j.ContentType = p.ContentType
		j.ContentEncoding = p.ContentEncoding
		j.To = p.To
		j.ReplyTo = p.ReplyTo
		j.ReplyToSessionID = p.ReplyToGroupID
		j.GroupSequence = p.GroupSequence
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

// encodeMessage makes the message that is sent.
func encodeMessage(j *message, now time.Time) (*azservicebus.AMQPAnnotatedMessage, error) {
	m := &azservicebus.AMQPAnnotatedMessage{
		Header: &azservicebus.AMQPAnnotatedMessageHeader{Durable: j.Durable, Priority: defaultPriority},
		Properties: &azservicebus.AMQPAnnotatedMessageProperties{
			GroupID: j.SessionID, Subject: j.Subject, ContentType: j.ContentType, ContentEncoding: j.ContentEncoding,
			To:      j.To,
			ReplyTo: j.ReplyTo, ReplyToGroupID: j.ReplyToSessionID, GroupSequence: j.GroupSequence,
			CreationTime: j.CreationTime, AbsoluteExpiryTime: j.AbsoluteExpiryTime,
		},
		MessageAnnotations: make(map[any]any),
	}
	if j.Priority != nil {
		m.Header.Priority = *j.Priority
	}
	if j.PartitionKey != nil {
		m.MessageAnnotations[partitionKey] = *j.PartitionKey
	}
	if j.ScheduledEnqueueTime != nil {
		m.MessageAnnotations[scheduledTime] = *j.ScheduledEnqueueTime
	}
	if j.TimeToLive != "" {
		ttl, err := parseDuration(j.TimeToLive)
		if err != nil {
			return nil, fmt.Errorf("timeToLive: found %q; allowed: %s", oneLine(j.TimeToLive), allowedDurations)
		}
		setTTL(m, ttl, now)
	}
	return m, errors.Join(encodeIDs(j, m), encodeMaps(j, m), encodeBody(j, m))
}

// setTTL sets the time to live. One that the header does not hold is told by two times, as the SDKs for other
// languages do.
func setTTL(m *azservicebus.AMQPAnnotatedMessage, ttl time.Duration, now time.Time) {
	m.Header.TTL = min(ttl, longestTTL)
	m.Properties.AbsoluteExpiryTime = nil
	if ttl > longestTTL {
		now = now.UTC().Truncate(time.Millisecond)
		end := now.Add(ttl)
		if ttl >= config.Forever || end.After(farthest) {
			end = farthest
		}
		m.Properties.CreationTime, m.Properties.AbsoluteExpiryTime = &now, &end
	}
}

// farthest is the end of the service's time.
var farthest = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

func encodeIDs(j *message, m *azservicebus.AMQPAnnotatedMessage) (err error) {
	p := m.Properties
	if p.MessageID, err = fromJSON(j.MessageID); err != nil {
		return fmt.Errorf("messageId: %w", err)
	}
	if p.CorrelationID, err = fromJSON(j.CorrelationID); err != nil {
		return fmt.Errorf("correlationId: %w", err)
	}
	user, err := fromJSON(j.UserID)
	switch u := user.(type) {
	case nil:
	case string:
		p.UserID = []byte(u)
	case []byte:
		p.UserID = u
	default:
		err = errors.New(`found neither a string nor {"binary":"..."}`)
	}
	if err != nil {
		return fmt.Errorf("userId: %w", err)
	}
	return nil
}

func encodeMaps(j *message, m *azservicebus.AMQPAnnotatedMessage) error {
	for _, name := range slices.Sorted(maps.Keys(j.ApplicationProperties)) {
		v, err := fromJSON(j.ApplicationProperties[name])
		if err != nil {
			return fmt.Errorf("applicationProperties: %s: %w", oneLine(name), err)
		}
		if m.ApplicationProperties == nil {
			m.ApplicationProperties = make(map[string]any)
		}
		m.ApplicationProperties[name] = v
	}
	for _, part := range []struct {
		name string
		from messagejson.Values
		to   *map[any]any
	}{{"annotations", j.Annotations, &m.MessageAnnotations},
		{"deliveryAnnotations", j.DeliveryAnnotations, &m.DeliveryAnnotations},
		{"footer", j.Footer, &m.Footer}} {
		for name, value := range part.from {
			v, err := fromJSON(value)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", part.name, oneLine(name), err)
			}
			if *part.to == nil {
				*part.to = make(map[any]any)
			}
			(*part.to)[name] = v
		}
	}
	return nil
}

func encodeBody(j *message, m *azservicebus.AMQPAnnotatedMessage) (err error) {
	if err := j.Check(); err != nil {
		return err
	}
	switch body, isText := j.Body.(string); {
	case isText:
		m.Body.Data = [][]byte{[]byte(body)}
	case j.Body != nil:
		document, err := messagejson.Document(j.Body)
		if err != nil {
			return err
		}
		m.Body.Data = [][]byte{document}
		if m.Properties.ContentType == nil {
			m.Properties.ContentType = new("application/json")
		}
	case j.BodyBase64 != nil:
		m.Body.Data = [][]byte{j.BodyBase64}
	case j.BodySections != nil:
		m.Body.Data = j.BodySections
	case j.BodySequence != nil:
		return encodeSequence(j, m)
	default:
		if m.Body.Value, err = fromJSON(j.BodyValue); err != nil {
			return fmt.Errorf("bodyValue: %w", err)
		}
	}
	return nil
}

func encodeSequence(j *message, m *azservicebus.AMQPAnnotatedMessage) error {
	for _, section := range j.BodySequence {
		items := make([]any, len(section))
		for i, item := range section {
			var err error
			if items[i], err = fromJSON(item); err != nil {
				return fmt.Errorf("bodySequence: %w", err)
			}
		}
		m.Body.Sequence = append(m.Body.Sequence, items)
	}
	return nil
}
