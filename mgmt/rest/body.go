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

// typeJSON is the content type of bodies that have to be written as JSON, if their message names none.
const typeJSON = "application/json"

// bodyOf returns the bytes of a message's body (management-rest 7.2): those of its data sections, or of the string or
// binary that is its value. A body that is no bytes, a sequence or any other value, becomes JSON, and the second result
// says so.
func bodyOf(m *message.Message) (body []byte, isJSON bool, err error) {
	r := amqp.NewReader(m.Raw[m.Body.Start:m.Body.End])
	var items []any // of sequences; not nil if there is one
	sections := 0
	for r.Len() > 0 {
		code, _, err := r.Descriptor()
		if err != nil {
			return nil, false, fmt.Errorf("read body: %w", err)
		}
		if code == codeData {
			b, _, err := r.Bytes()
			if err != nil {
				return nil, false, fmt.Errorf("read body: %w", err)
			}
			if sections++; sections == 1 {
				body = b // no copy where there is one section, as nearly always
			} else {
				body = append(body[:len(body):len(body)], b...)
			}
			continue
		}
		v, err := r.Value()
		if err != nil {
			return nil, false, fmt.Errorf("read body: %w", err)
		}
		if list, ok := v.(amqp.List); ok && code == codeSequence {
			items = append(slices.Grow(items, len(list)+1), list...)
			continue
		}
		return valueBody(v)
	}
	if items == nil {
		return body, false, nil
	}
	return jsonBody(amqp.List(items))
}

func valueBody(v any) ([]byte, bool, error) {
	switch v := v.(type) {
	case nil:
		return nil, false, nil
	case []byte:
		return v, false, nil
	case string:
		return []byte(v), false, nil
	case amqp.Symbol:
		return []byte(v), false, nil
	}
	return jsonBody(v)
}

func jsonBody(v any) ([]byte, bool, error) {
	b, err := json.Marshal(plain(v))
	if err != nil {
		return nil, false, fmt.Errorf("write body as JSON: %w", err)
	}
	return b, true, nil
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
