package emulator

import (
	"encoding/json"
	"fmt"
	"time"

	"minibus/emulator/filter"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// DescriptorUnzoned describes a timestamp that the client gave without a time zone: the service shows it again without one
// (Python's live tests of rules). It is Minibus's own and does not leave the broker: see [PlainValue].
const DescriptorUnzoned = amqp.Symbol("minibus:unzoned")

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
		f, err := valueForFilter(x)
		if err != nil {
			return nil, fmt.Errorf("store value %q: %w", name, err)
		}
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
		f, err := valueForFilter(x)
		if err != nil {
			return nil, fmt.Errorf("take value %q: %w", name, err)
		}
		out[name] = f
	}
	return out, nil
}

func valueForFilter(x any) (filter.Value, error) {
	encoded, err := encodeValue(PlainValue(x))
	if err != nil {
		return filter.Value{}, err
	}
	return filterValue(message.DecodeScalar(encoded)), nil
}

// PlainValue returns a value as messages have it: a time without a zone as the timestamp that it counts as, everything
// else as it is.
func PlainValue(x any) any {
	if d, ok := x.(amqp.Described); ok && d.Descriptor == DescriptorUnzoned {
		return d.Value
	}
	return x
}
