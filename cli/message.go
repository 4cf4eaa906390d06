package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
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
	given := 0
	for _, yes := range []bool{j.Body != nil, j.BodyBase64 != nil, j.BodySections != nil, j.BodyValue != nil, j.BodySequence != nil} {
		if yes {
			given++
		}
	}
	if given > 1 {
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
