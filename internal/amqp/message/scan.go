package message

import (
	"encoding/binary"
	"math"

	"minibus/internal/amqp"
)

// Timestamp is [amqp.Timestamp]: milliseconds since the Unix epoch.
type Timestamp = amqp.Timestamp

// UUID is [amqp.UUID], in the byte order of RFC 4122.
type UUID = amqp.UUID

// Span is a part of a message's raw bytes. The zero Span is empty: the section is absent.
type Span struct{ Start, End uint32 }

// Empty reports whether the span has no bytes.
func (s Span) Empty() bool { return s.Start == s.End }

// Len returns the span's length in bytes.
func (s Span) Len() int { return int(s.End - s.Start) }

// Message is an encoded message and the positions of its sections. Each span covers a whole section with its
// descriptor; Body covers all body sections. The methods work only on messages from [Scan] and [Batch].
type Message struct {
	Raw  []byte
	Part bool // Raw is a slice of something larger, which stays in memory with it

	Header                Span
	DeliveryAnnotations   Span
	MessageAnnotations    Span
	Properties            Span
	ApplicationProperties Span
	Body                  Span
	Footer                Span
}

// Bytes returns a span's bytes.
func (m *Message) Bytes(s Span) []byte { return m.Raw[s.Start:s.End] }

// Scan finds the sections of an encoded message, which takes all of raw. Sections may come in any order, each at most
// once, except that the body may be several data or several sequence sections in a row; it may also be a single value
// or missing. Scan checks everything that patching will walk, and skips bodies by their size. It does not allocate.
// Errors are of type [*amqp.DecodeError].
func Scan(raw []byte) (Message, error) {
	s := scanner{m: Message{Raw: raw}, r: amqp.NewReader(raw)}
	if uint64(len(raw)) > math.MaxUint32 {
		return Message{}, s.r.Fail("message of more than 4 GiB", amqp.ErrRange)
	}
	for s.r.Len() > 0 {
		if err := s.section(); err != nil {
			return Message{}, err
		}
	}
	return s.m, nil
}

// A scanner holds the state of one Scan.
type scanner struct {
	m    Message
	r    amqp.Reader
	body uint64 // code of the body sections seen, 0 before the first
}

func (s *scanner) section() error {
	start := s.r.Offset()
	code, err := sectionCode(&s.r)
	if err != nil {
		return err
	}
	var span *Span
	switch code {
	case codeHeader:
		span = &s.m.Header
	case codeDeliveryAnnotations:
		span = &s.m.DeliveryAnnotations
	case codeMessageAnnotations:
		span = &s.m.MessageAnnotations
	case codeProperties:
		span = &s.m.Properties
	case codeApplicationProperties:
		span = &s.m.ApplicationProperties
	case codeFooter:
		span = &s.m.Footer
	case codeData, codeSequence, codeValue:
		return s.bodySection(code, start)
	default:
		return s.r.Fail("section of unknown kind", amqp.ErrMalformed)
	}
	if !span.Empty() {
		return s.r.Fail("section that was there before", amqp.ErrMalformed)
	}
	if err := checkSection(&s.r, code); err != nil {
		return err
	}
	*span = Span{uint32(start), uint32(s.r.Offset())}
	return nil
}

// bodySection skips a body section and checks its type.
func (s *scanner) bodySection(code uint64, start int) error {
	if s.body != 0 && (s.body != code || code == codeValue || s.m.Body.End != uint32(start)) {
		return s.r.Fail("second body", amqp.ErrMalformed)
	}
	c, ok := s.r.Peek()
	switch {
	case !ok || code == codeValue:
	case code == codeData && c != amqp.CodeBinary8 && c != amqp.CodeBinary32:
		return s.r.Fail("data section", amqp.ErrWrongType)
	case code == codeSequence && c != amqp.CodeList0 && c != amqp.CodeList8 && c != amqp.CodeList32:
		return s.r.Fail("sequence section", amqp.ErrWrongType)
	}
	if err := s.r.Skip(); err != nil {
		return err
	}
	if s.body == 0 {
		s.m.Body.Start = uint32(start)
	}
	s.body = code
	s.m.Body.End = uint32(s.r.Offset())
	return nil
}

// checkSection skips the content of any other section field by field, so that later walks over
// it cannot fail.
func checkSection(r *amqp.Reader, code uint64) error {
	var n int
	var items amqp.Reader
	var err error
	limit := math.MaxInt
	switch code {
	case codeHeader:
		limit = headerFields
		n, items, err = r.List()
	case codeProperties:
		limit = propertyFields
		n, items, err = r.List()
	default:
		n, items, err = r.Map()
		n *= 2
	}
	if err != nil {
		return err
	}
	if n > limit {
		return r.Fail("section with more fields than are defined", amqp.ErrMalformed)
	}
	for range n {
		if err := items.Skip(); err != nil {
			return err
		}
	}
	if items.Len() > 0 {
		return items.Fail("bytes after the last field", amqp.ErrMalformed)
	}
	return nil
}

// items returns how many fields a section has, or how many pairs if it is a map, and a Reader over them; none if the
// section is absent.
func (m *Message) items(s Span) (n int, items amqp.Reader) {
	if s.Empty() {
		return 0, amqp.Reader{}
	}
	r := amqp.NewReader(m.Bytes(s))
	_, _, _ = r.Descriptor() // Scan has read it before, and all that follows
	if code, _ := r.Peek(); code == amqp.CodeMap8 || code == amqp.CodeMap32 {
		n, items, _ = r.Map()
	} else {
		n, items, _ = r.List()
	}
	return n, items
}

// between returns the bytes between two positions of one Reader.
func between(from, to amqp.Reader) []byte {
	return from.Rest()[:to.Offset()-from.Offset()]
}

// Descriptor codes of the sections [AMQP 3.2].
const (
	codeHeader                = 0x70
	codeDeliveryAnnotations   = 0x71
	codeMessageAnnotations    = 0x72
	codeProperties            = 0x73
	codeApplicationProperties = 0x74
	codeData                  = 0x75
	codeSequence              = 0x76
	codeValue                 = 0x77
	codeFooter                = 0x78
)

// unknownCode stands for a descriptor that is not a section's.
const unknownCode = ^uint64(0)

// sectionCode reads a section's descriptor in any of its forms.
func sectionCode(r *amqp.Reader) (uint64, error) {
	code, name, err := r.Descriptor()
	if name != nil && err == nil {
		code = codeOf(name)
	}
	return code, err
}

// codeOf returns the code of a symbolic descriptor. The conversion in the switch does not allocate.
func codeOf(name []byte) uint64 {
	switch string(name) {
	case "amqp:header:list":
		return codeHeader
	case "amqp:delivery-annotations:map":
		return codeDeliveryAnnotations
	case "amqp:message-annotations:map":
		return codeMessageAnnotations
	case "amqp:properties:list":
		return codeProperties
	case "amqp:application-properties:map":
		return codeApplicationProperties
	case "amqp:data:binary":
		return codeData
	case "amqp:amqp-sequence:list":
		return codeSequence
	case "amqp:amqp-value:*":
		return codeValue
	case "amqp:footer:map":
		return codeFooter
	}
	return unknownCode
}

// Field counts of the two sections that are lists [AMQP 3.2.1, 3.2.4].
const (
	headerFields   = 5
	propertyFields = 13
)

// Field indexes in the header section.
const (
	headerDurable = iota
	headerPriority
	headerTTL
	headerFirstAcquirer
	headerDeliveryCount
)

// Field indexes in the properties section [AMQP 3.2.4], for [Message.Property].
const (
	PropertyMessageID = iota
	PropertyUserID
	PropertyTo
	PropertySubject
	PropertyReplyTo
	PropertyCorrelationID
	PropertyContentType
	PropertyContentEncoding
	PropertyAbsoluteExpiryTime
	PropertyCreationTime
	PropertyGroupID
	PropertyGroupSequence
	PropertyReplyToGroupID
)

// Annotation keys of Service Bus (PROP-1 to PROP-13).
const (
	keySequenceNumber        = "x-opt-sequence-number"
	keyEnqueuedTime          = "x-opt-enqueued-time"
	keyLockedUntil           = "x-opt-locked-until"
	keyEnqueueSequenceNumber = "x-opt-enqueue-sequence-number"
	keyMessageState          = "x-opt-message-state"
	keyPartitionKey          = "x-opt-partition-key"
	keyViaPartitionKey       = "x-opt-via-partition-key"
	keyPartitionID           = "x-opt-partition-id"
	keyScheduledEnqueueTime  = "x-opt-scheduled-enqueue-time"
	keyDeliveryTime          = "x-opt-delivery-time" // of JMS: a long, ms since the Unix epoch
	keyDeadLetterSource      = "x-opt-deadletter-source"
	keyLockToken             = "x-opt-lock-token"
	keyOmittedBodySize       = "omitted-message-body-size"
)

// BatchFormat is the message-format of a transfer whose data sections each hold a whole message.
const BatchFormat = 0x80013700

// Batch opens the envelope of message-format [BatchFormat]. It returns one scanned message per data section, whose
// Raw is a part of raw. The envelope's own sections are checked and dropped; those of the messages count. An empty
// batch is an empty slice. One message that cannot be scanned refuses the whole batch.
func Batch(raw []byte) ([]Message, error) {
	env, err := Scan(raw)
	if err != nil {
		return nil, err
	}
	body := env.Bytes(env.Body)
	count := 0
	for r := amqp.NewReader(body); r.Len() > 0; count++ {
		if code, err := sectionCode(&r); err != nil || code != codeData {
			return nil, r.Fail("batch of anything but data sections", amqp.ErrWrongType)
		}
		if err := r.Skip(); err != nil {
			return nil, err
		}
	}
	out := make([]Message, 0, count)
	for r := amqp.NewReader(body); r.Len() > 0; {
		if _, err := sectionCode(&r); err != nil {
			return nil, err
		}
		inner, _, err := r.Bytes()
		if err != nil {
			return nil, err
		}
		m, err := Scan(inner)
		if err != nil {
			return nil, err
		}
		m.Part = true
		out = append(out, m)
	}
	return out, nil
}

// Announced returns the length of a message up to the end of the section that begins in its first bytes and does not
// end there: of a large message, its body. It returns 0 if the first bytes do not tell. The section may not hold what
// it announces.
func Announced(first []byte) uint64 {
	r := amqp.NewReader(first)
	for {
		if _, err := sectionCode(&r); err != nil {
			return 0
		}
		if r.Skip() == nil {
			continue
		}
		const code, size = 1, 4 // bytes
		value := r.Rest()
		if len(value) < code+size || !sizeOfFourBytes(value[0]) {
			return 0
		}
		return uint64(r.Offset()) + code + size + uint64(binary.BigEndian.Uint32(value[code:]))
	}
}

// sizeOfFourBytes reports whether a value with that constructor begins with a size of four bytes [AMQP 1.2].
func sizeOfFourBytes(constructor byte) bool {
	switch constructor >> 4 {
	case 0xb, 0xd, 0xf:
		return true
	}
	return false
}
