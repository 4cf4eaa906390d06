package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/config"
	"minibus/internal/amqp/messagejson"
)

// encodeMessage makes the message that is sent.
func encodeMessage(j *message, now time.Time) (*azservicebus.AMQPAnnotatedMessage, error) {
	m := &azservicebus.AMQPAnnotatedMessage{
		Header: &azservicebus.AMQPAnnotatedMessageHeader{Durable: j.Durable, Priority: defaultPriority},
		Properties: &azservicebus.AMQPAnnotatedMessageProperties{
			GroupID: j.SessionID, Subject: j.Subject, ContentType: j.ContentType, ContentEncoding: j.ContentEncoding, To: j.To,
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

// setTTL sets the time to live. One that the header does not hold is told by two times, as the SDKs for other languages do.
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
	}{{"annotations", j.Annotations, &m.MessageAnnotations}, {"deliveryAnnotations", j.DeliveryAnnotations, &m.DeliveryAnnotations},
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
