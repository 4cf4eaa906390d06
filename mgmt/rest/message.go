package rest

import (
	"encoding/binary"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// Message is a message to send, without its body.
type Message struct {
	Properties
	User amqp.Map // application properties
}

// FromHeaders makes a message from a request's headers. spelling returns the client's spelling of a canonical header
// name; nil means that it is unknown.
func FromHeaders(h http.Header, spelling func(canonical string) string) (Message, error) {
	p, err := parseProperties(joined(h[HeaderBrokerProperties]))
	if err != nil {
		return Message{}, err
	}
	m := Message{Properties: p}
	if t := text(h.Get("Content-Type")); t != "" {
		m.ContentType = &t
	}
	for canonical, values := range h {
		if !isProperty(canonical) {
			continue
		}
		name := canonical
		if spelling != nil {
			name = spelling(canonical)
		}
		m.User = append(m.User, amqp.Pair{Key: name, Value: parseValue(joined(values))})
	}
	sortByName(m.User)
	return m, nil
}

// joined returns the value of a header, which may have several lines.
func joined(lines []string) string {
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = text(line)
	}
	return strings.Join(texts, ",")
}

// text decodes a line of a header. HTTP does not say how it is encoded [RFC 9110 5.5]: if it is not UTF-8 it is taken
// as Latin-1.
func text(line string) string {
	if utf8.ValidString(line) {
		return line
	}
	var b strings.Builder
	for _, c := range []byte(line) {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// sortByName sorts properties by their names, which are strings, so that the same request always makes the same
// message.
func sortByName(m amqp.Map) {
	slices.SortFunc(m, func(a, b amqp.Pair) int { return strings.Compare(a.Key.(string), b.Key.(string)) })
}

// AppendHead appends the sections of the encoded message that precede its body. now is the broker's time in
// milliseconds: a time to live too long for the header section is encoded as two instants (EXP-17).
func (m *Message) AppendHead(dst []byte, now int64) ([]byte, error) {
	notASCII := func(r rune) bool { return r > 0x7e || r < ' ' }
	if m.ContentType != nil && strings.ContainsFunc(*m.ContentType, notASCII) {
		return nil, errorf("The content type %s of the message has characters that are not ASCII.",
			clip(*m.ContentType))
	}
	if m.TTL > 0 {
		var mark amqp.Mark
		dst, mark = amqp.BeginList(amqp.AppendDescriptor(dst, codeHeader))
		dst = amqp.AppendUint(amqp.AppendNull(amqp.AppendNull(dst)), uint32(min(m.TTL, math.MaxUint32)))
		dst = amqp.EndList(dst, mark, 3)
	}
	dst = m.appendAnnotations(dst)
	dst = m.appendProperties(dst, now)
	if len(m.User) == 0 {
		return dst, nil
	}
	user, err := message.EncodeProperties(m.User)
	if err != nil {
		return nil, errorf("The properties of the message can't be encoded: %v.", err)
	}
	return append(amqp.AppendDescriptor(dst, codeApplicationProperties), user...), nil
}

// The sections and annotations that AppendHead writes [AMQP 3.2], [PROP-1].
const (
	codeHeader                = 0x70
	codeAnnotations           = 0x72
	codeProperties            = 0x73
	codeApplicationProperties = 0x74
	codeData                  = 0x75
	codeSequence              = 0x76
	codeValue                 = 0x77

	keyPartitionKey     = "x-opt-partition-key"
	keyViaPartitionKey  = "x-opt-via-partition-key"
	keyScheduled        = "x-opt-scheduled-enqueue-time"
	keyEnqueuedTime     = "x-opt-enqueued-time"
	keyEnqueuedSequence = "x-opt-enqueue-sequence-number"
	keyLockedUntil      = "x-opt-locked-until"
	keyDeadLetterSource = "x-opt-deadletter-source"
)

func (m *Message) appendAnnotations(dst []byte) []byte {
	if m.PartitionKey == nil && m.ViaPartitionKey == nil && m.Scheduled.IsZero() {
		return dst
	}
	dst, mark := amqp.BeginMap(amqp.AppendDescriptor(dst, codeAnnotations))
	n := 0
	for _, a := range []struct {
		key  amqp.Symbol
		text *string
	}{{keyPartitionKey, m.PartitionKey}, {keyViaPartitionKey, m.ViaPartitionKey}} {
		if a.text != nil {
			dst = amqp.AppendString(amqp.AppendSymbol(dst, a.key), *a.text)
			n++
		}
	}
	if !m.Scheduled.IsZero() {
		dst = amqp.AppendTimestamp(amqp.AppendSymbol(dst, keyScheduled), amqp.TimestampOf(m.Scheduled))
		n++
	}
	return amqp.EndMap(dst, mark, n)
}

func (m *Message) appendProperties(dst []byte, now int64) []byte {
	var fields [message.PropertyReplyToGroupID + 1]*string
	fields[message.PropertyMessageID], fields[message.PropertyTo] = m.MessageID, m.To
	fields[message.PropertySubject], fields[message.PropertyReplyTo] = m.Label, m.ReplyTo
	fields[message.PropertyCorrelationID], fields[message.PropertyGroupID] = m.CorrelationID, m.SessionID
	fields[message.PropertyReplyToGroupID] = m.ReplyToSessionID
	dst, mark := amqp.BeginList(amqp.AppendDescriptor(dst, codeProperties))
	for i, text := range fields {
		switch {
		case i == message.PropertyContentType && m.ContentType != nil:
			dst = amqp.AppendSymbol(dst, amqp.Symbol(*m.ContentType))
		case i == message.PropertyAbsoluteExpiryTime && m.TTL >= math.MaxUint32:
			dst = amqp.AppendTimestamp(dst, amqp.Timestamp(now+m.TTL))
		case i == message.PropertyCreationTime && m.TTL >= math.MaxUint32:
			dst = amqp.AppendTimestamp(dst, amqp.Timestamp(now))
		case text != nil:
			dst = amqp.AppendString(dst, *text)
		default:
			dst = amqp.AppendNull(dst)
		}
	}
	return amqp.EndList(dst, mark, len(fields))
}

// dataHead is the number of bytes before the content of a data section: descriptor, constructor and size.
const dataHead = 3 + 1 + 4

// BeginData appends the beginning of a data section. The caller appends its content, then calls EndData.
func BeginData(dst []byte) []byte {
	return append(amqp.AppendDescriptor(dst, codeData), amqp.CodeBinary32, 0, 0, 0, 0)
}

// EndData sets the size of a data section that reaches to the end of dst. start is the length of dst before BeginData.
func EndData(dst []byte, start int) {
	binary.BigEndian.PutUint32(dst[start+dataHead-4:], uint32(len(dst)-start-dataHead))
}
