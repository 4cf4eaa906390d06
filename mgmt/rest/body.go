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

// The content types of bodies that Minibus had to convert, instead of the message's own.
const (
	typeJSON  = "application/json"         // written as JSON
	typeBytes = "application/octet-stream" // the encoded sections
)

// bodyOf returns the bytes of a message's body (management-rest 7.2): its data sections, or its value if that is text
// or binary. Sequences and other values become JSON. A body that can't be decoded goes out as the encoded sections:
// the broker accepts it, since it only looks for the ends of sections, and it must not stay at the head of its queue
// for ever. contentType is empty unless the body was converted.
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

// readBody reads the sections of a body into bytes or, if it is not bytes, into a value.
func readBody(sections []byte) (body []byte, value any, err error) {
	r := amqp.NewReader(sections)
	var items amqp.List // of all sequences; nil without one
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
				body = b // usually there is one section, which needs no copy
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

// isText reports whether a string, symbol or binary follows, whose bytes are the body.
func isText(r *amqp.Reader) bool {
	switch c, _ := r.Peek(); c {
	case amqp.CodeString8, amqp.CodeString32, amqp.CodeSymbol8, amqp.CodeSymbol32, amqp.CodeBinary8, amqp.CodeBinary32:
		return true
	}
	return false
}

// plain converts an AMQP value into one that encoding/json can write. The decoder has bounded its depth.
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

// finite returns a number, or the text of NaN and infinities, which JSON can't write.
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
