package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// Received is a message to deliver.
type Received struct {
	Raw   []byte // the message as an AMQP client gets it
	Seq   int64
	Count uint32 // earlier failed deliveries (DC-1)
	Token string // of the lock; "" if the message was received and deleted

	Bare bool // leave out the properties: a browser would obey some of them
}

// typeNone is the content type of an answer whose message has none. The service says application/xml (management-rest
// 7.2), in which a browser would run the sender's scripts.
const typeNone = "text/plain; charset=utf-8"

// Headers sets the headers of an answer that carries the message and returns its body (management-rest 7.2). It
// leaves out properties whose names can't be header names. It never fails: receivers would get a message that can't
// be shown again and again.
func (r Received) Headers(h http.Header) (body []byte) {
	m, err := message.Scan(r.Raw)
	if err != nil {
		m = message.Message{} // every stored message was scanned before
	}
	body, contentType := bodyOf(&m)
	if contentType == "" {
		contentType = typeNone
	}
	if t, ok := m.Field(message.PropertyContentType).TextOf(); ok && t != "" {
		contentType = strings.Map(visible, t)
	}
	for e := m.UserProperties(); !r.Bare && e.Next(); {
		if name := string(e.Key()); isShown(name) {
			if text, ok := formatValue(e.Value()); ok {
				h[name] = []string{text} // as it is: net/http would change its case
			}
		}
	}
	h["Content-Type"] = []string{contentType}
	h[BrokerProperties] = []string{r.brokerProperties(&m)}
	return body
}

// shown is the content of BrokerProperties, in the order of the names.
type shown struct {
	ContentType             *string `json:",omitempty"`
	CorrelationID           *string `json:"CorrelationId,omitempty"`
	DeadLetterSource        *string `json:",omitempty"`
	DeliveryCount           int64
	EnqueuedSequenceNumber  int64
	EnqueuedTimeUtc         string
	Label                   *string `json:",omitempty"`
	LockToken               string  `json:",omitempty"`
	LockedUntilUtc          string  `json:",omitempty"`
	MessageID               *string `json:"MessageId,omitempty"`
	PartitionKey            *string `json:",omitempty"`
	ReplyTo                 *string `json:",omitempty"`
	ReplyToSessionID        *string `json:"ReplyToSessionId,omitempty"`
	ScheduledEnqueueTimeUtc string  `json:",omitempty"`
	SequenceNumber          int64
	SessionID               *string `json:"SessionId,omitempty"`
	State                   string
	TimeToLive              json.Number
	To                      *string `json:",omitempty"`
}

// forever is the time to live of a message that has none, in seconds: the longest .NET TimeSpan.
const forever json.Number = "922337203685.47754"

func (r Received) brokerProperties(m *message.Message) string {
	info, _ := m.Info() // without error, or the message would not have been stored
	field := func(index int) *string {
		if s, ok := m.Field(index).TextOf(); ok {
			return &s
		}
		return nil
	}
	s := shown{
		ContentType:      field(message.PropertyContentType),
		CorrelationID:    field(message.PropertyCorrelationID),
		DeliveryCount:    int64(r.Count) + 1,
		Label:            field(message.PropertySubject),
		MessageID:        field(message.PropertyMessageID),
		ReplyTo:          field(message.PropertyReplyTo),
		ReplyToSessionID: field(message.PropertyReplyToGroupID),
		SequenceNumber:   r.Seq,
		SessionID:        field(message.PropertyGroupID),
		State:            "Active",
		TimeToLive:       forever,
		To:               field(message.PropertyTo),
	}
	if info.TTL > 0 {
		s.TimeToLive = json.Number(strconv.FormatFloat(float64(info.TTL)/1000, 'f', -1, 64))
	}
	if info.HasPartitionKey {
		s.PartitionKey = &info.PartitionKey
	}
	if info.HasScheduled {
		s.ScheduledEnqueueTimeUtc = date(info.Scheduled)
	}
	r.annotations(m, &s)
	return asciiJSON(s)
}

// annotations fills in the broker's annotations of the message.
func (r Received) annotations(m *message.Message, s *shown) {
	annotation := func(key string) any {
		v, _ := m.MessageAnnotation(key)
		return v
	}
	if source, ok := amqp.AsString(annotation(keyDeadLetterSource)); ok {
		s.DeadLetterSource = &source
	}
	if n, ok := amqp.AsInt64(annotation(keyEnqueuedSequence)); ok {
		s.EnqueuedSequenceNumber = n
	}
	if t, ok := annotation(keyEnqueuedTime).(amqp.Timestamp); ok {
		s.EnqueuedTimeUtc = date(t)
	}
	if t, ok := annotation(keyLockedUntil).(amqp.Timestamp); ok && r.Token != "" {
		s.LockToken, s.LockedUntilUtc = r.Token, date(t)
	}
}

// asciiJSON writes JSON in ASCII, which a header can hold whatever its texts are.
func asciiJSON(v shown) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts and numbers can't fail
	var out []byte
	for _, c := range string(bytes.TrimSpace(b.Bytes())) {
		switch {
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		case c >= 0x7f:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, byte(c))
		}
	}
	return string(out)
}
