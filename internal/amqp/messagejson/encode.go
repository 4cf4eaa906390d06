package messagejson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// Descriptor codes of the sections before and behind the body [AMQP 3.2].
const (
	codeHeader                = 0x70
	codeDeliveryAnnotations   = 0x71
	codeMessageAnnotations    = 0x72
	codeProperties            = 0x73
	codeApplicationProperties = 0x74
	codeFooter                = 0x78
)

// farthest is the end of the service's time.
var farthest = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// Encode returns the message as it is sent. now is the time at which a time to live begins that the header does not
// hold. Errors name the part that is wrong and what it may be.
func (m *Message) Encode(now time.Time) ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	c := *m
	ttl, err := c.timeToLive(now)
	if err != nil {
		return nil, err
	}
	out := c.appendHeader(nil, ttl)
	out, err = appendSection(out, codeDeliveryAnnotations, "deliveryAnnotations", c.DeliveryAnnotations)
	if err != nil {
		return nil, err
	}
	if out, err = appendSection(out, codeMessageAnnotations, "annotations", c.Annotations, c.own()...); err != nil {
		return nil, err
	}
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	if out, err = c.appendProperties(out); err != nil {
		return nil, err
	}
	out, err = appendSection(out, codeApplicationProperties, "applicationProperties", c.ApplicationProperties)
	if err != nil {
		return nil, err
	}
	if len(body) >= large && c.Footer == nil && len(out) <= headRoom {
		return slices.Insert(body, 0, out...), nil
	}
	out, err = appendSection(append(out, body...), codeFooter, "footer", c.Footer)
	return bytes.Clone(out), err // the broker keeps it, so it has no room to spare
}

// timeToLive returns the time to live as the header has it, nil for none. One that it does not hold is told by two
// times, as the SDKs do (EXP-17).
func (m *Message) timeToLive(now time.Time) (any, error) {
	if m.TimeToLive == "" {
		return nil, nil
	}
	d, err := dotnet.ParseDuration(m.TimeToLive)
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("timeToLive: found %q; allowed: an ISO 8601 duration such as PT1M or P14D",
			clip(m.TimeToLive))
	}
	const longest = math.MaxUint32 * time.Millisecond
	if d <= longest {
		m.AbsoluteExpiryTime = nil
		return uint32(max(d.Milliseconds(), 1)), nil
	}
	now = now.UTC().Truncate(time.Millisecond)
	end := now.Add(d)
	if d >= dotnet.Forever || end.After(farthest) {
		end = farthest
	}
	m.CreationTime, m.AbsoluteExpiryTime = &now, &end
	return uint32(math.MaxUint32), nil
}

func (m *Message) appendHeader(dst []byte, ttl any) []byte {
	fields := amqp.List{nil, nil, ttl, nil}
	if m.Durable {
		fields[0] = true
	}
	if m.Priority != nil {
		fields[1] = *m.Priority
	}
	if m.FirstAcquirer {
		fields[3] = true
	}
	dst, _ = amqp.AppendValue(amqp.AppendDescriptor(dst, codeHeader), fields) // only plain types
	return dst
}

// own are the annotations that the message has as properties of its own.
func (m *Message) own() (pairs []amqp.Pair) {
	if m.PartitionKey != nil {
		pairs = append(pairs, amqp.Pair{Key: amqp.Symbol(partitionKey), Value: *m.PartitionKey})
	}
	if m.ScheduledEnqueueTime != nil {
		at := amqp.TimestampOf(*m.ScheduledEnqueueTime)
		pairs = append(pairs, amqp.Pair{Key: amqp.Symbol(scheduledTime), Value: at})
	}
	return pairs
}

// appendSection appends a section that is a map; nothing if it is empty. The keys of application properties are
// strings, of the others symbols.
func appendSection(dst []byte, code byte, name string, values Values, pairs ...amqp.Pair) ([]byte, error) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		v, err := FromJSON(values[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, clip(key), err)
		}
		if !utf8.ValidString(key) {
			return nil, fmt.Errorf("%s: a name is not text in UTF-8", name)
		}
		if code == codeApplicationProperties {
			pairs = append(pairs, amqp.Pair{Key: key, Value: v})
		} else {
			pairs = append(pairs, amqp.Pair{Key: amqp.Symbol(key), Value: v})
		}
	}
	if len(pairs) == 0 {
		return dst, nil
	}
	dst, err := amqp.AppendValue(amqp.AppendDescriptor(dst, code), amqp.Map(pairs))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return dst, nil
}

func (m *Message) appendProperties(dst []byte) ([]byte, error) {
	var fields amqp.List = make([]any, message.PropertyReplyToGroupID+1)
	for i, s := range m.texts() {
		switch {
		case *s == nil:
		case i == message.PropertyContentType || i == message.PropertyContentEncoding:
			v, err := symbol(**s)
			if err != nil {
				return nil, fmt.Errorf("contentType or contentEncoding: %w", err)
			}
			fields[i] = v
		default:
			fields[i] = **s
		}
	}
	if m.AbsoluteExpiryTime != nil {
		fields[message.PropertyAbsoluteExpiryTime] = amqp.TimestampOf(*m.AbsoluteExpiryTime)
	}
	if m.CreationTime != nil {
		fields[message.PropertyCreationTime] = amqp.TimestampOf(*m.CreationTime)
	}
	if m.GroupSequence != nil {
		fields[message.PropertyGroupSequence] = *m.GroupSequence
	}
	if err := m.ids(fields); err != nil {
		return nil, err
	}
	return amqp.AppendValue(amqp.AppendDescriptor(dst, codeProperties), fields)
}

// ids sets the properties that may have several types.
func (m *Message) ids(fields amqp.List) (err error) {
	for _, id := range []struct {
		name string
		at   int
		from any
	}{
		{"messageId", message.PropertyMessageID, m.MessageID},
		{"correlationId", message.PropertyCorrelationID, m.CorrelationID},
		{"userId", message.PropertyUserID, m.UserID},
	} {
		v, err := FromJSON(id.from)
		switch v := v.(type) {
		case nil, string, uint64, amqp.UUID, []byte:
			fields[id.at] = v
		default:
			err = errors.New(`found neither a text nor a value of type ulong, uuid or binary`)
		}
		if id.at == message.PropertyUserID && err == nil {
			fields[id.at], err = userID(v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", id.name, err)
		}
	}
	return nil
}

func userID(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return []byte(v), nil
	case nil, []byte:
		return v, nil
	}
	return nil, errors.New(`found neither a text nor {"binary":"..."}`)
}

// body encodes the sections of the body. It leaves room for those before it.
func (m *Message) body() ([]byte, error) {
	switch text, isText := m.Body.(string); {
	case isText:
		return data(nil, []byte(text)), nil
	case m.Body != nil:
		document, err := Document(m.Body)
		if m.ContentType == nil {
			m.ContentType = new("application/json")
		}
		return data(nil, document), err
	case m.BodyBase64 != nil:
		return data(nil, m.BodyBase64), nil
	case m.BodySections != nil:
		var out []byte
		for _, s := range m.BodySections {
			out = data(out, s)
		}
		return out, nil
	case m.BodySequence != nil:
		return m.sequence()
	case m.BodyValue != nil:
		v, err := FromJSON(m.BodyValue)
		if err != nil {
			return nil, fmt.Errorf("bodyValue: %w", err)
		}
		return amqp.AppendValue(amqp.AppendDescriptor(nil, codeValue), v)
	}
	return data(nil, nil), nil
}

// Behind a large encoded body some bytes are left free, so that the sections before it need no second copy.
const (
	large    = 1 << 20
	headRoom = 8 << 10
)

func data(dst, content []byte) []byte {
	if dst == nil && len(content) >= large {
		dst = make([]byte, 0, len(content)+16+headRoom)
	}
	return amqp.AppendBinary(amqp.AppendDescriptor(dst, codeData), content)
}

// Document writes JSON as people do: < and & as they are.
func Document(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

func (m *Message) sequence() (out []byte, err error) {
	for _, section := range m.BodySequence {
		items, err := listFromJSON(section, 0)
		if err != nil {
			return nil, fmt.Errorf("bodySequence: %w", err)
		}
		if out, err = amqp.AppendValue(amqp.AppendDescriptor(out, codeSequence), items); err != nil {
			return nil, fmt.Errorf("bodySequence: %w", err)
		}
	}
	return out, nil
}
