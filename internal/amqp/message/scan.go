package message

import (
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
	switch code {
	case codeData, codeSequence, codeValue:
		return s.bodySection(code, start)
	}
	span := s.m.spanOf(code)
	if span == nil {
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

func (m *Message) spanOf(code uint64) *Span {
	switch code {
	case codeHeader:
		return &m.Header
	case codeDeliveryAnnotations:
		return &m.DeliveryAnnotations
	case codeMessageAnnotations:
		return &m.MessageAnnotations
	case codeProperties:
		return &m.Properties
	case codeApplicationProperties:
		return &m.ApplicationProperties
	case codeFooter:
		return &m.Footer
	}
	return nil
}

func (s *scanner) bodySection(code uint64, start int) error {
	if s.body != 0 && (s.body != code || code == codeValue || s.m.Body.End != uint32(start)) {
		return s.r.Fail("second body", amqp.ErrMalformed)
	}
	if err := checkBody(&s.r, code); err != nil {
		return err
	}
	if s.body == 0 {
		s.m.Body.Start = uint32(start)
	}
	s.body = code
	s.m.Body.End = uint32(s.r.Offset())
	return nil
}

// checkBody skips the content of a body section and checks its type.
func checkBody(r *amqp.Reader, code uint64) error {
	c, ok := r.Peek()
	switch {
	case !ok || code == codeValue:
	case code == codeData && c != amqp.CodeBinary8 && c != amqp.CodeBinary32:
		return r.Fail("data section", amqp.ErrWrongType)
	case code == codeSequence && c != amqp.CodeList0 && c != amqp.CodeList8 && c != amqp.CodeList32:
		return r.Fail("sequence section", amqp.ErrWrongType)
	}
	return r.Skip()
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

// content returns a Reader at the list or map of a section that Scan has accepted.
func (m *Message) content(s Span) amqp.Reader {
	r := amqp.NewReader(m.Bytes(s))
	_, _, _ = r.Descriptor() // Scan has read it before
	return r
}

// list returns the number of fields of a list section and a Reader over them; none if the section is absent.
func (m *Message) list(s Span) (int, amqp.Reader) {
	if s.Empty() {
		return 0, amqp.Reader{}
	}
	r := m.content(s)
	n, items, err := r.List()
	if err != nil {
		return 0, amqp.Reader{}
	}
	return n, items
}

// pairs returns the number of entries of a map section and a Reader over them; none if the section is absent.
func (m *Message) pairs(s Span) (int, amqp.Reader) {
	if s.Empty() {
		return 0, amqp.Reader{}
	}
	r := m.content(s)
	n, items, err := r.Map()
	if err != nil {
		return 0, amqp.Reader{}
	}
	return n, items
}
