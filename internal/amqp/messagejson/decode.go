package messagejson

import (
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// ofTheService are the annotations that are not shown as such: the JSON has properties for them, or the service sets
// them when the message is sent.
var ofTheService = []string{
	"x-opt-sequence-number", "x-opt-enqueued-time", "x-opt-locked-until", "x-opt-deadletter-source",
	"x-opt-enqueue-sequence-number", "x-opt-message-state", "x-opt-partition-id", "x-opt-lock-token",
	partitionKey, scheduledTime,
}

const (
	partitionKey  = "x-opt-partition-key"
	scheduledTime = "x-opt-scheduled-enqueue-time"
)

// defaultPriority is that of a message which does not say any [AMQP 3.2.1].
const defaultPriority = 4

// OfTheService reports whether an annotation is left out of [Message.Annotations].
func OfTheService(key string) bool { return slices.Contains(ofTheService, key) }

// Of returns a message as JSON. Its sections before the body are those of head, as [emulator.Delivery] has them; body
// has those of the body. At most maxBody bytes of the body are shown; less than 0: all. What does not decode is in
// [Message.Malformed].
func Of(head, body *message.Message, maxBody int64) *Message {
	m := new(Message)
	m.annotations(head)
	m.note("header", head.Bytes(head.Header), m.header(head))
	m.note("properties", head.Bytes(head.Properties), m.properties(head))
	for _, part := range []struct {
		name    string
		section message.Span
		to      *Values
	}{
		{"applicationProperties", head.ApplicationProperties, &m.ApplicationProperties},
		{"annotations", head.MessageAnnotations, &m.Annotations},
		{"deliveryAnnotations", head.DeliveryAnnotations, &m.DeliveryAnnotations},
		{"footer", head.Footer, &m.Footer},
	} {
		values, err := section(head, part.section)
		m.note(part.name, head.Bytes(part.section), err)
		*part.to = values
	}
	m.note("body", body.Bytes(body.Body), m.setBody(body, maxBody))
	return m
}

// section returns the values of a section that is a map.
func section(m *message.Message, at message.Span) (Values, error) {
	if at.Empty() {
		return nil, nil
	}
	r := amqp.NewReader(m.Bytes(at))
	if _, _, err := r.Descriptor(); err != nil {
		return nil, err
	}
	v, err := r.Value()
	if err != nil {
		return nil, err
	}
	var out Values
	pairs, _ := v.(amqp.Map)
	for _, p := range pairs {
		key, ok := textOf(p.Key)
		if !ok {
			key = brief(ToJSON(p.Key))
		}
		if OfTheService(key) {
			continue
		}
		if out == nil {
			out = make(Values)
		}
		out[key] = ToJSON(p.Value)
	}
	return out, nil
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case amqp.Symbol:
		return string(v), true
	}
	return "", false
}

// header reads the header section.
func (m *Message) header(head *message.Message) error {
	fields, err := list(head, head.Header)
	if err != nil {
		return err
	}
	for i, v := range fields {
		switch v := v.(type) {
		case bool:
			if i == 0 {
				m.Durable = v
			} else if i == 3 {
				m.FirstAcquirer = v
			}
		case uint8:
			if i == 1 && v != defaultPriority {
				m.Priority = &v
			}
		case uint32:
			if i == 2 && v > 0 {
				m.TimeToLive = dotnet.FormatDuration(time.Duration(v) * time.Millisecond)
			} else if i == 4 {
				m.DeliveryCount = &v
			}
		}
	}
	if len(fields) > 2 && fields[2] == uint32(math.MaxUint32) { // the two times say how long really (EXP-17)
		if info, err := head.Info(); err == nil {
			ms := min(info.TTL, math.MaxInt64/int64(time.Millisecond))
			m.TimeToLive = dotnet.FormatDuration(time.Duration(ms) * time.Millisecond)
		}
	}
	return nil
}

// list returns the fields of a section that is a list.
func list(m *message.Message, at message.Span) (amqp.List, error) {
	if at.Empty() {
		return nil, nil
	}
	r := amqp.NewReader(m.Bytes(at))
	if _, _, err := r.Descriptor(); err != nil {
		return nil, err
	}
	v, err := r.Value()
	fields, _ := v.(amqp.List)
	return fields, err
}

// texts returns the properties that are texts, by their place in the section.
func (m *Message) texts() map[int]**string {
	return map[int]**string{
		message.PropertyTo:              &m.To,
		message.PropertySubject:         &m.Subject,
		message.PropertyReplyTo:         &m.ReplyTo,
		message.PropertyContentType:     &m.ContentType,
		message.PropertyContentEncoding: &m.ContentEncoding,
		message.PropertyGroupID:         &m.SessionID,
		message.PropertyReplyToGroupID:  &m.ReplyToSessionID,
	}
}

// properties reads the properties section.
func (m *Message) properties(head *message.Message) error {
	fields, err := list(head, head.Properties)
	if err != nil {
		return err
	}
	texts := m.texts()
	for i, v := range fields {
		if to := texts[i]; to != nil {
			if s, ok := textOf(v); ok {
				*to = &s
			}
			continue
		}
		switch i {
		case message.PropertyMessageID:
			m.MessageID = ToJSON(v)
		case message.PropertyCorrelationID:
			m.CorrelationID = ToJSON(v)
		case message.PropertyUserID:
			if b, ok := v.([]byte); ok && len(b) > 0 {
				m.UserID = ToJSON(b)
			}
		case message.PropertyAbsoluteExpiryTime:
			m.AbsoluteExpiryTime = timeOf(v)
		case message.PropertyCreationTime:
			m.CreationTime = timeOf(v)
		case message.PropertyGroupSequence:
			if n, ok := v.(uint32); ok {
				m.GroupSequence = &n
			}
		}
	}
	return nil
}

// timeOf returns a timestamp as a time; nil for anything else, and for what JSON can't say.
func timeOf(v any) *time.Time {
	ms, ok := v.(amqp.Timestamp)
	if !ok || ms.Time().Year() > 9999 || ms.Time().Year() < 0 {
		return nil
	}
	t := ms.Time()
	return &t
}

// annotations reads what the service tells by annotations.
func (m *Message) annotations(head *message.Message) {
	get := func(key string) any {
		v, _ := head.MessageAnnotation(key)
		return v
	}
	if n, ok := get("x-opt-sequence-number").(int64); ok {
		m.SequenceNumber = &n
	}
	if n, ok := get("x-opt-enqueue-sequence-number").(int64); ok {
		m.EnqueuedSequenceNumber = &n
	}
	m.EnqueuedTime = timeOf(get("x-opt-enqueued-time"))
	m.LockedUntil = timeOf(get("x-opt-locked-until"))
	m.ScheduledEnqueueTime = timeOf(get(scheduledTime))
	if s, ok := textOf(get(partitionKey)); ok {
		m.PartitionKey = &s
	}
	m.DeadLetterSource, _ = textOf(get("x-opt-deadletter-source"))
	m.State = "active"
	if n, ok := get("x-opt-message-state").(int32); ok && n > 0 && n < 3 {
		m.State = []string{"", "deferred", "scheduled"}[n]
	}
}

// validText reports whether bytes are text in UTF-8; with cut, their last character may be incomplete.
func validText(b []byte, cut bool) ([]byte, bool) {
	if !cut {
		return b, utf8.Valid(b)
	}
	for range utf8.UTFMax {
		if utf8.Valid(b) {
			return b, true
		}
		if len(b) > 0 {
			b = b[:len(b)-1]
		}
	}
	return nil, false
}
