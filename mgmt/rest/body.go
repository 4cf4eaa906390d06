package rest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// The content types of bodies that are not what their message's own type says, if it names one at all.
const (
	typeJSON  = "application/json"         // written as JSON
	typeBytes = "application/octet-stream" // the encoded sections
)

// bodyOf returns the bytes of a message's body (management-rest 7.2): those of its data sections, or of the text or binary
// that is its value. A body that is no bytes, a sequence or any other value, becomes JSON. One that can't be decoded, for the
// broker only looks where sections end, goes out as its sections are encoded: it must not stay at the head of its queue
// for ever. contentType is that of a body that had to be changed so, else empty.
func bodyOf(m *message.Message) (body []byte, contentType string) {
	sections := m.Raw[m.Body.Start:m.Body.End]
	body, value, err := readBody(sections)
	if err == nil && value != nil {
		body, err = json.Marshal(plain(value))
		contentType = typeJSON
	}
	if err != nil {
		return sections, typeBytes
	}
	return body, contentType
}

// readBody reads the sections of a body: bytes, or the value that they are.
func readBody(sections []byte) (body []byte, value any, err error) {
	r := amqp.NewReader(sections)
	var items amqp.List // of sequences; not nil if there is one
	count := 0
	for r.Len() > 0 {
		code, _, err := r.Descriptor()
		if err != nil {
			return nil, nil, fmt.Errorf("read body: %w", err)
		}
		if code == codeData || isText(&r) {
			b, _, err := r.Bytes()
			if err != nil {
				return nil, nil, fmt.Errorf("read body: %w", err)
			}
			if count++; count == 1 {
				body = b // no copy where there is one section, as nearly always
			} else {
				body = append(body[:len(body):len(body)], b...)
			}
			continue
		}
		v, err := r.Value()
		if err != nil {
			return nil, nil, fmt.Errorf("read body: %w", err)
		}
		list, ok := v.(amqp.List)
		if !ok || code != codeSequence {
			return nil, v, nil
		}
		items = append(slices.Grow(items, len(list)+1), list...)
	}
	if items == nil {
		return body, nil, nil
	}
	return nil, items, nil
}

// isText reports whether a text or a binary follows, whose bytes are the body whatever they are.
func isText(r *amqp.Reader) bool {
	switch c, _ := r.Peek(); c {
	case amqp.CodeString8, amqp.CodeString32, amqp.CodeSymbol8, amqp.CodeSymbol32, amqp.CodeBinary8, amqp.CodeBinary32:
		return true
	}
	return false
}

// plain makes of an AMQP value one that encoding/json can write. How deep values nest was bounded when they were decoded.
func plain(v any) any {
	if items, ok := amqp.ItemsOf(v); ok {
		out := make([]any, len(items))
		for i, item := range items {
			out[i] = plain(item)
		}
		return out
	}
	switch v := v.(type) {
	case amqp.Map:
		out := make(map[string]any, len(v))
		for _, p := range v {
			out[keyText(p.Key)] = plain(p.Value)
		}
		return out
	case amqp.Described:
		return plain(v.Value)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case amqp.Timestamp:
		return v.Time().Format(time.RFC3339Nano)
	case amqp.UUID:
		return v.String()
	case amqp.Char:
		return string(rune(v))
	case float32:
		return finite(float64(v), 32)
	case float64:
		return finite(v, 64)
	}
	return v
}

// finite writes a number; JSON has no word for those that are none.
func finite(f float64, bits int) any {
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return s
	}
	return json.Number(s)
}

func keyText(key any) string {
	if s, ok := amqp.AsString(key); ok {
		return s
	}
	return fmt.Sprint(plain(key))
}
