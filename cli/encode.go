package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/config"
)

// parseJSON reads a message as JSON. Unknown names are errors, since a misspelt property would be missed silently.
func parseJSON(line []byte) (*message, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	d.DisallowUnknownFields()
	var j message
	if err := d.Decode(&j); err != nil {
		return nil, fmt.Errorf("not a message in JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON document on a line")
	}
	return &j, nil
}

// encode makes the message that is sent.
func (j *message) encode(now time.Time) (*azservicebus.AMQPAnnotatedMessage, error) {
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
	return m, errors.Join(j.encodeIDs(m), j.encodeMaps(m), j.encodeBody(m))
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

func (j *message) encodeIDs(m *azservicebus.AMQPAnnotatedMessage) (err error) {
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

func (j *message) encodeMaps(m *azservicebus.AMQPAnnotatedMessage) error {
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
		from map[string]any
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

func (j *message) encodeBody(m *azservicebus.AMQPAnnotatedMessage) (err error) {
	if j.bodies() > 1 {
		return errors.New("found more than one of body, bodyBase64, bodySections, bodyValue and bodySequence")
	}
	switch body, isText := j.Body.(string); {
	case isText:
		m.Body.Data = [][]byte{[]byte(body)}
	case j.Body != nil:
		document, err := encode(j.Body, "")
		if err != nil {
			return err
		}
		m.Body.Data = [][]byte{bytes.TrimSpace(document)}
		if m.Properties.ContentType == nil {
			m.Properties.ContentType = new("application/json")
		}
	case j.BodyBase64 != nil:
		m.Body.Data = make([][]byte, 1)
		if m.Body.Data[0], err = base64.StdEncoding.DecodeString(*j.BodyBase64); err != nil {
			return errors.New("bodyBase64: not base64")
		}
	case j.BodySections != nil:
		for _, section := range j.BodySections {
			data, err := base64.StdEncoding.DecodeString(section)
			if err != nil {
				return errors.New("bodySections: not base64")
			}
			m.Body.Data = append(m.Body.Data, data)
		}
	case j.BodySequence != nil:
		return j.encodeSequence(m)
	default:
		if m.Body.Value, err = fromJSON(j.BodyValue); err != nil {
			return fmt.Errorf("bodyValue: %w", err)
		}
	}
	return nil
}

// bodies returns how many kinds of body are given.
func (j *message) bodies() (given int) {
	for _, yes := range []bool{j.Body != nil, j.BodyBase64 != nil, j.BodySections != nil, j.BodyValue != nil, j.BodySequence != nil} {
		if yes {
			given++
		}
	}
	return given
}

func (j *message) encodeSequence(m *azservicebus.AMQPAnnotatedMessage) error {
	for _, section := range j.BodySequence {
		items, err := listFromJSON(section)
		if err != nil {
			return fmt.Errorf("bodySequence: %w", err)
		}
		m.Body.Sequence = append(m.Body.Sequence, items.([]any))
	}
	return nil
}
