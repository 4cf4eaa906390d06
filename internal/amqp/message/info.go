package message

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"minibus/internal/amqp"
)

// Info holds what the broker needs to know about a message that is being sent.
type Info struct {
	MessageID          string // canonical text for every type on the wire (DUP-11)
	HasMessageID       bool
	GroupID            string // session id; the empty string is one (SESS-2)
	HasGroupID         bool
	PartitionKey       string
	HasPartitionKey    bool
	ViaPartitionKey    string
	HasViaPartitionKey bool
	TTL                int64 // milliseconds; 0: none (EXP-16, EXP-17)
	Scheduled          Timestamp
	HasScheduled       bool
}

// PropertyError says which property of a message the broker cannot accept, and why. The send is refused as an
// argument error.
type PropertyError struct {
	Key    string // annotation key or property name
	Reason string
}

// Error implements error.
func (e *PropertyError) Error() string { return fmt.Sprintf("message property %s %s", e.Key, e.Reason) }

// Info reads the header, the properties and the message annotations. It returns a [*PropertyError] for a value that
// the broker would have to act on and cannot (PROP-13). It ignores annotations that only the broker writes,
// whatever they hold (SEQ-7).
func (m *Message) Info() (Info, error) {
	var in Info
	if err := m.readHeader(&in); err != nil {
		return Info{}, err
	}
	if err := m.readProperties(&in); err != nil {
		return Info{}, err
	}
	if err := m.readAnnotations(&in); err != nil {
		return Info{}, err
	}
	return in, nil
}

var headerNames = [headerFields]string{"durable", "priority", "ttl", "first-acquirer", "delivery-count"}

func (m *Message) readHeader(in *Info) error {
	n, r := m.items(m.Header)
	for i := range n {
		var err error
		var v uint32
		switch i {
		case headerDurable, headerFirstAcquirer:
			_, _, err = r.Bool()
		default:
			v, _, err = r.Uint32()
		}
		if err != nil {
			return &PropertyError{headerNames[i], "has a wrong type"}
		}
		if i == headerTTL {
			in.TTL = int64(v)
		}
	}
	return nil
}

func (m *Message) readProperties(in *Info) error {
	n, r := m.items(m.Properties)
	var expiry, created Timestamp
	var hasExpiry, hasCreated bool
	for i := range n {
		var err error
		switch i {
		case PropertyMessageID:
			in.MessageID, in.HasMessageID, err = idText(&r)
		case PropertyAbsoluteExpiryTime:
			expiry, hasExpiry, err = r.Timestamp()
		case PropertyCreationTime:
			created, hasCreated, err = r.Timestamp()
		case PropertyGroupID:
			in.GroupID, in.HasGroupID, err = r.Text()
		default:
			err = r.Skip()
		}
		if err != nil {
			return &PropertyError{propertyNames[i], "has a wrong type"}
		}
	}
	// EXP-17: the two times carry a TTL that the header cannot hold.
	if in.TTL == math.MaxUint32 && hasExpiry && hasCreated {
		if ttl := int64(expiry) - int64(created); expiry > created && ttl > 0 {
			in.TTL = ttl
		}
	}
	return nil
}

var propertyNames = [propertyFields]string{
	"message-id", "user-id", "to", "subject", "reply-to", "correlation-id", "content-type", "content-encoding",
	"absolute-expiry-time", "creation-time", "group-id", "group-sequence", "reply-to-group-id",
}

// idText reads a message-id and returns its canonical text (DUP-11): a string as it is, a uuid in lower case with
// dashes, an integer in decimal, a binary in hex.
func idText(r *amqp.Reader) (string, bool, error) {
	code, _ := r.Peek()
	switch code {
	case amqp.CodeUUID:
		u, ok, err := r.UUID()
		return u.String(), ok, err
	case amqp.CodeBinary8, amqp.CodeBinary32:
		b, ok, err := r.Bytes()
		return hex.EncodeToString(b), ok, err
	case amqp.CodeString8, amqp.CodeString32, amqp.CodeSymbol8, amqp.CodeSymbol32, amqp.CodeNull:
		return r.Text()
	case amqp.CodeUlong:
		n, ok, err := r.Uint64()
		return strconv.FormatUint(n, 10), ok, err
	case amqp.CodeTimestamp:
		return "", false, r.Fail("message-id", amqp.ErrWrongType)
	}
	n, ok, err := r.Int64()
	return strconv.FormatInt(n, 10), ok, err
}

func (m *Message) readAnnotations(in *Info) error {
	n, r := m.items(m.MessageAnnotations)
	var delivery Timestamp
	var hasDelivery bool
	for range n {
		key := keyOf(&r)
		var err error
		switch string(key) {
		case keyPartitionKey:
			in.PartitionKey, in.HasPartitionKey, err = keyText(&r, keyPartitionKey)
		case keyViaPartitionKey:
			in.ViaPartitionKey, in.HasViaPartitionKey, err = keyText(&r, keyViaPartitionKey)
		case keyScheduledEnqueueTime:
			in.Scheduled, in.HasScheduled, err = scheduled(&r)
		case keyDeliveryTime:
			delivery, hasDelivery, err = deliveryTime(&r)
		case keyMessageState:
			err = refuseNull(&r, keyMessageState)
		case keyEnqueueSequenceNumber:
			err = refuseNull(&r, keyEnqueueSequenceNumber)
		default:
			err = r.Skip()
		}
		if err != nil {
			return err
		}
	}
	if hasDelivery && !in.HasScheduled { // SCHED-5a
		in.Scheduled, in.HasScheduled = delivery, true
	}
	return nil
}

// keyOf consumes a map key and returns its text. For a key that is not text it returns nil, which matches nothing.
func keyOf(r *amqp.Reader) []byte {
	switch code, _ := r.Peek(); code {
	case amqp.CodeSymbol8, amqp.CodeSymbol32, amqp.CodeString8, amqp.CodeString32, amqp.CodeBinary8, amqp.CodeBinary32:
		text, _, _ := r.Bytes()
		return text
	}
	_ = r.Skip() // Scan has stepped over it before
	return nil
}

// keyText reads a partition key, which may be null.
func keyText(r *amqp.Reader, key string) (string, bool, error) {
	b, ok, err := r.Bytes()
	if err != nil || !utf8.Valid(b) {
		return "", false, &PropertyError{key, "is not a string"}
	}
	return string(b), ok, nil
}

func scheduled(r *amqp.Reader) (Timestamp, bool, error) {
	t, ok, err := r.Timestamp()
	if err != nil || !ok {
		return 0, false, &PropertyError{keyScheduledEnqueueTime, "is not a timestamp"}
	}
	return t, true, nil
}

// deliveryTime reads the delivery time of a JMS message, a long. There is none in a null.
func deliveryTime(r *amqp.Reader) (Timestamp, bool, error) {
	ms, ok, err := r.Int64()
	if err != nil {
		return 0, false, &PropertyError{keyDeliveryTime, "is not a long"}
	}
	return Timestamp(ms), ok, nil
}

func refuseNull(r *amqp.Reader, key string) error {
	if r.Null() {
		return &PropertyError{key, "is null"}
	}
	return r.Skip()
}

// Map is [amqp.Map], for callers that build overlays.
type Map = amqp.Map

// HasMessageID reports whether the sender gave the message a message-id; otherwise the broker makes one (PROP-10).
func (m *Message) HasMessageID() bool {
	n, r := m.items(m.Properties)
	return n > PropertyMessageID && !r.Null()
}

// HeaderBytes returns the bytes of the message's properties of all kinds, which count against the limit on the
// message's header (QUO-8).
func (m *Message) HeaderBytes() int {
	return m.MessageAnnotations.Len() + m.Properties.Len() + m.ApplicationProperties.Len() + m.Header.Len()
}

// LargestProperty returns the name of the largest value among the application properties and the fields of the
// properties section, and its size in bytes without type and length. It skips sections of at most floor bytes.
func (m *Message) LargestProperty(floor int) (name string, size int) {
	if m.ApplicationProperties.Len() > floor {
		for e := m.UserProperties(); e.Next(); {
			if n := contentLength(e.Encoded()); n > size {
				name, size = string(e.Key()), n
			}
		}
	}
	if m.Properties.Len() > floor {
		fields, r := m.items(m.Properties)
		for i := range fields {
			raw, err := r.Raw()
			if n := contentLength(raw); err == nil && n > size {
				name, size = propertyNames[i], n
			}
		}
	}
	return name, size
}

// contentLength returns the size of an encoded value without its constructor and, for text or binary, its length field.
func contentLength(raw []byte) int {
	if len(raw) == 0 {
		return 0
	}
	switch raw[0] {
	case amqp.CodeBinary8, amqp.CodeString8, amqp.CodeSymbol8:
		return len(raw) - 2
	case amqp.CodeBinary32, amqp.CodeString32, amqp.CodeSymbol32:
		return len(raw) - 5
	}
	return len(raw) - 1
}
