package control

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// received is a message that was received.
type received struct {
	SequenceNumber int64          `json:"sequenceNumber"`
	LockToken      string         `json:"lockToken,omitempty" format:"uuid" doc:"With which to settle it; none of a message that is removed"`
	LockedUntil    *time.Time     `json:"lockedUntil,omitempty"`
	DeliveryCount  uint32         `json:"deliveryCount" doc:"Earlier deliveries that failed"`
	EnqueuedTime   time.Time      `json:"enqueuedTime"`
	MessageID      string         `json:"messageId,omitempty"`
	SessionID      *string        `json:"sessionId,omitempty"`
	Subject        string         `json:"subject,omitempty"`
	ContentType    string         `json:"contentType,omitempty"`
	CorrelationID  string         `json:"correlationId,omitempty"`
	To             string         `json:"to,omitempty"`
	ReplyTo        string         `json:"replyTo,omitempty"`
	Properties     map[string]any `json:"properties" doc:"The application properties. What JSON has no type for is a text"`
	Body           *string        `json:"body,omitempty" doc:"The body, if it is text in UTF-8"`
	BodyBase64     []byte         `json:"bodyBase64,omitempty" doc:"Any other body; one that is not bytes or a text is as AMQP encodes it"`
}

// shownReceived returns a delivery as answers show it.
func shownReceived(d *emulator.Delivery) (*received, error) {
	m, err := message.Scan(d.Append(nil))
	if err != nil {
		return nil, fmt.Errorf("read a message: %w", err)
	}
	text := func(field int) string {
		s, _ := m.Field(field).TextOf()
		return s
	}
	r := &received{
		SequenceNumber: d.Seq(), DeliveryCount: d.DeliveryCount(), MessageID: text(message.PropertyMessageID), Subject: text(message.PropertySubject),
		ContentType: text(message.PropertyContentType), CorrelationID: text(message.PropertyCorrelationID), To: text(message.PropertyTo),
		ReplyTo: text(message.PropertyReplyTo), Properties: make(map[string]any),
	}
	if s, ok := m.Field(message.PropertyGroupID).TextOf(); ok {
		r.SessionID = &s
	}
	if t := d.Token(); t != (emulator.LockToken{}) {
		r.LockToken = t.String()
	}
	at := func(key string) *time.Time {
		v, _ := m.MessageAnnotation(key)
		ms, ok := v.(amqp.Timestamp)
		if !ok {
			return nil
		}
		t := time.UnixMilli(int64(ms)).UTC()
		return &t
	}
	r.LockedUntil = at("x-opt-locked-until")
	if t := at("x-opt-enqueued-time"); t != nil {
		r.EnqueuedTime = *t
	}
	for e := m.UserProperties(); e.Next(); {
		r.Properties[string(e.Key())] = jsonValue(e.Encoded())
	}
	return r, r.setBody(&m)
}

// setBody shows the body as text if it is some.
func (r *received) setBody(m *message.Message) error {
	var body []byte
	for at := amqp.NewReader(m.Bytes(m.Body)); at.Len() > 0; {
		if _, _, err := at.Descriptor(); err != nil {
			return err
		}
		raw, err := at.Raw()
		if err != nil {
			return err
		}
		v, err := message.DecodeValue(raw)
		if err != nil {
			return err
		}
		switch v := v.(type) {
		case []byte:
			body = append(body, v...)
		case string:
			body = append(body, v...)
		default:
			body = append(body, raw...)
		}
	}
	if utf8.Valid(body) {
		s := string(body)
		r.Body = &s
		return nil
	}
	r.BodyBase64 = body
	return nil
}

// jsonValue returns an encoded value as JSON can have it.
func jsonValue(raw []byte) any {
	v, err := message.DecodeValue(raw)
	if err != nil {
		return nil
	}
	switch v := v.(type) {
	case nil, bool, string, int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return v
	case float32:
		return jsonFloat(float64(v))
	case float64:
		return jsonFloat(v)
	case amqp.Timestamp:
		return time.UnixMilli(int64(v)).UTC()
	case amqp.Symbol:
		return string(v)
	}
	if s, ok := message.DecodeScalar(raw).TextOf(); ok {
		return s
	}
	return fmt.Sprint(v)
}

func jsonFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprint(f)
	}
	return f
}

// changedProperties are application properties that a request sets.
type changedProperties map[string]any

// encode returns the properties as an encoded map, nil if there are none. Numbers without a fraction are of type long, others of type double.
func (p changedProperties) encode(more ...amqp.Pair) ([]byte, error) {
	var list amqp.Map
	for name, v := range p {
		switch n := v.(type) {
		case nil, bool, string:
		case float64:
			if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
				v = int64(n)
			}
		case json.Number:
			return nil, badRequest("properties: %s is no number that a message can have.", n)
		default:
			return nil, badRequest("properties: the value of %q must be a text, a number, true, false or null.", name)
		}
		list = append(list, amqp.Pair{Key: name, Value: v})
	}
	encoded, err := message.EncodeProperties(append(list, more...))
	if err != nil {
		return nil, badRequest("properties: %v.", err)
	}
	return encoded, nil
}
