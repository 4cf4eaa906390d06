package emulator

import (
	"encoding/json"
	"fmt"
	"time"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

// Values are named values of a rule: the application properties of a correlation filter, or the parameters of a SQL text.
// Their types count, so they are kept as AMQP has them, in memory as well as in the journal's JSON. Callers may use what
// message.EncodeValue takes, and time.Duration for a TimeSpan.
type Values map[string]any

// storedValue is a value in JSON, other than a text or a boolean, which stand for themselves.
type storedValue struct {
	Type string `json:"type"` // for people, as is Text
	Text string `json:"text"`
	AMQP []byte `json:"amqp"` // the encoded value
}

// MarshalJSON implements [json.Marshaler].
func (v Values) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, len(v))
	for name, x := range v {
		switch x.(type) {
		case string, bool:
			out[name] = x
			continue
		}
		encoded, err := encodeValue(x)
		if err != nil {
			return nil, fmt.Errorf("store value %q: %w", name, err)
		}
		f := filterValue(message.DecodeScalar(encoded))
		out[name] = storedValue{Type: f.Kind().String(), Text: f.String(), AMQP: encoded}
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Values) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*v = make(Values, len(raw))
	for name, text := range raw {
		x, err := loadValue(text)
		if err != nil {
			return fmt.Errorf("read value %q: %w", name, err)
		}
		(*v)[name] = x
	}
	return nil
}

func loadValue(text json.RawMessage) (any, error) {
	if len(text) == 0 || text[0] != '{' {
		var x any
		err := json.Unmarshal(text, &x)
		return x, err
	}
	var s storedValue
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return message.DecodeValue(s.AMQP)
}

// encodeValue encodes a value that a caller gave.
func encodeValue(x any) ([]byte, error) {
	if d, ok := x.(time.Duration); ok {
		return message.Scalar{Type: message.TypeTimeSpan, Bits: uint64(d.Nanoseconds() / 100)}.Append(nil), nil
	}
	return message.EncodeValue(x)
}

// canonical returns the values with the types that they have after a restart, which are those of AMQP.
func (v Values) canonical() (Values, error) {
	if len(v) == 0 {
		return nil, nil
	}
	out := make(Values, len(v))
	for name, x := range v {
		encoded, err := encodeValue(x)
		if err == nil {
			out[name], err = message.DecodeValue(encoded)
		}
		if err != nil {
			return nil, fmt.Errorf("take value %q: %w", name, err)
		}
	}
	return out, nil
}

// forFilter returns the values as the rule language has them.
func (v Values) forFilter() (map[string]filter.Value, error) {
	out := make(map[string]filter.Value, len(v))
	for name, x := range v {
		encoded, err := encodeValue(x)
		if err != nil {
			return nil, fmt.Errorf("take value %q: %w", name, err)
		}
		out[name] = filterValue(message.DecodeScalar(encoded))
	}
	return out, nil
}
