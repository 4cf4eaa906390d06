package messagejson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"minibus/internal/strictjson"
)

// Message is a message as JSON. Who sends one leaves out what only the service can set; it is not looked at.
type Message struct {
	SequenceNumber         *int64     `json:"sequenceNumber,omitempty"`
	EnqueuedSequenceNumber *int64     `json:"enqueuedSequenceNumber,omitempty" doc:"The first, if it was another one"`
	State                  string     `json:"state,omitempty" doc:"active, locked, deferred or scheduled"`
	EnqueuedTime           *time.Time `json:"enqueuedTime,omitempty"`
	ExpiresAt              *time.Time `json:"expiresAt,omitempty" doc:"When its time to live is over"`
	LockedUntil            *time.Time `json:"lockedUntil,omitempty"`
	LockedBy               string     `json:"lockedBy,omitempty" doc:"Who has locked it, in words"`
	LockToken              string     `json:"lockToken,omitempty" doc:"With which to settle it; of received messages"`
	DeliveryCount          *uint32    `json:"deliveryCount,omitempty" doc:"Earlier deliveries that failed"`
	DeadLetterReason       string     `json:"deadLetterReason,omitempty" doc:"As the property DeadLetterReason"`
	DeadLetterSource       string     `json:"deadLetterSource,omitempty" doc:"Where it was dead-lettered before"`
	SizeBytes              *int64     `json:"sizeBytes,omitempty" doc:"Of the encoded message as it was sent"`

	MessageID            any        `json:"messageId,omitempty" doc:"A text, or a value such as {\"uuid\":\"...\"}"`
	CorrelationID        any        `json:"correlationId,omitempty" doc:"A text, or a typed value"`
	SessionID            *string    `json:"sessionId,omitempty"`
	PartitionKey         *string    `json:"partitionKey,omitempty"`
	Subject              *string    `json:"subject,omitempty"`
	ContentType          *string    `json:"contentType,omitempty"`
	ContentEncoding      *string    `json:"contentEncoding,omitempty"`
	To                   *string    `json:"to,omitempty"`
	ReplyTo              *string    `json:"replyTo,omitempty"`
	ReplyToSessionID     *string    `json:"replyToSessionId,omitempty"`
	UserID               any        `json:"userId,omitempty" doc:"{\"binary\":\"...\"}; a text is taken too"`
	GroupSequence        *uint32    `json:"groupSequence,omitempty"`
	TimeToLive           string     `json:"timeToLive,omitempty" example:"PT1H" doc:"An ISO 8601 duration"`
	CreationTime         *time.Time `json:"creationTime,omitempty"`
	AbsoluteExpiryTime   *time.Time `json:"absoluteExpiryTime,omitempty"`
	ScheduledEnqueueTime *time.Time `json:"scheduledEnqueueTime,omitempty" doc:"When it becomes active"`
	Durable              bool       `json:"durable,omitempty"`
	Priority             *uint8     `json:"priority,omitempty" doc:"None: 4"`
	FirstAcquirer        bool       `json:"firstAcquirer,omitempty"`

	ApplicationProperties Values `json:"applicationProperties,omitempty" nullable:"false" doc:"As 5 or {\"int\":5}"`
	Annotations           Values `json:"annotations,omitempty" nullable:"false" doc:"But those that have a property"`
	DeliveryAnnotations   Values `json:"deliveryAnnotations,omitempty" nullable:"false"`
	Footer                Values `json:"footer,omitempty" nullable:"false"`

	Body         any      `json:"body,omitempty" doc:"Text of one data section; any JSON that is sent becomes text"`
	BodyBase64   []byte   `json:"bodyBase64,omitempty" doc:"One data section that is no text"`
	BodySections [][]byte `json:"bodySections,omitempty" nullable:"false" doc:"Several data sections"`
	BodyValue    any      `json:"bodyValue,omitempty" doc:"An AMQP value"`
	BodySequence [][]any  `json:"bodySequence,omitempty" nullable:"false" doc:"AMQP sequences"`
	BodyBytes    *int64   `json:"bodyBytes,omitempty" doc:"Its size; if it is no data, as AMQP encodes it"`
	BodyCut      bool     `json:"bodyCut,omitempty" doc:"The body is only its beginning, or is left out"`

	Malformed []Malformed `json:"malformed,omitempty" nullable:"false"`
}

// Values are named values, each as [ToJSON] makes it.
type Values map[string]any

// UnmarshalJSON implements [json.Unmarshaler]. It keeps numbers as they are written: 5 and 5.0 are of different types.
func (v *Values) UnmarshalJSON(text []byte) error {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return strictjson.Words(err)
	}
	*v = m
	return nil
}

// Read reads a message. Names that a message does not have are errors, since a misspelt one would be missed silently.
func Read(text []byte) (*Message, error) {
	var m Message
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
		return nil, errors.New("found null; allowed: an object")
	}
	err := strictjson.Decode(text, &m)
	if e := base64.CorruptInputError(0); errors.As(err, &e) {
		return nil, errors.New("bodyBase64 or bodySections: not base64")
	}
	if err != nil {
		return nil, fmt.Errorf("not a message in JSON: %w", err)
	}
	m.KeepOrder(text)
	return &m, nil
}

// KeepOrder lets names in a body of JSON stay in the order that they have in the text of the message.
func (m *Message) KeepOrder(text []byte) {
	switch m.Body.(type) {
	case map[string]any, []any:
		var raw struct {
			Body json.RawMessage `json:"body"`
		}
		if json.Unmarshal(text, &raw) == nil {
			m.Body = raw.Body
		}
	}
}

// Check reports why the body can't be sent, or nil.
func (m *Message) Check() error {
	given := 0
	for _, yes := range []bool{m.Body != nil, m.BodyBase64 != nil, m.BodySections != nil, m.BodyValue != nil,
		m.BodySequence != nil} {
		if yes {
			given++
		}
	}
	switch {
	case len(m.Malformed) > 0:
		return errors.New("malformed: the message is not whole; leave malformed out to send the rest")
	case given > 1:
		return errors.New("found more than one of body, bodyBase64, bodySections, bodyValue and bodySequence")
	case m.BodyCut:
		return errors.New("bodyCut: the body is not whole; show the message with more of its body")
	}
	return nil
}
