package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"minibus/emulator/filter"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// Times of rules that AMQP's timestamp can't say. Its milliseconds are too coarse for what .NET's clients give over
// HTTP, ticks of 100 ns. These descriptors are Minibus's own and do not leave the broker: see [PlainValue].
const (
	// DescriptorUnzoned describes a time that the client gave without a time zone: the service shows it again without
	// one (Python's live tests of rules). It is a timestamp, or a long, the ticks since the year 1, if it has a
	// fraction of a millisecond.
	DescriptorUnzoned = amqp.Symbol("minibus:unzoned")

	descriptorTicks = amqp.Symbol("minibus:datetime") // a long, the ticks since the year 1
)

// ticked returns an instant in ticks with a descriptor, or without a fraction of a millisecond as the timestamp.
func ticked(t time.Time, d amqp.Symbol) any {
	v := filter.DateTimeOf(t)
	if ms := amqp.Timestamp(v.UnixMilli()); filter.DateTime(int64(ms)) == v {
		return ms
	}
	return amqp.Described{Descriptor: d, Value: v.Ticks()}
}

// UnzonedTime is a time without a zone as [Values] have it. It counts as UTC.
func UnzonedTime(t time.Time) any {
	x := ticked(t, DescriptorUnzoned)
	if ms, ok := x.(amqp.Timestamp); ok {
		return amqp.Described{Descriptor: DescriptorUnzoned, Value: ms}
	}
	return x
}

// TimeOf returns the instant of a value that is a DateTime, and whether it was given with a zone; ok is false if it
// is none.
func TimeOf(x any) (t time.Time, zoned, ok bool) {
	v, zoned, ok := dateTime(x)
	return v.Time(), zoned, ok
}

// dateTime is TimeOf in the rule language's terms.
func dateTime(x any) (v filter.Value, zoned, ok bool) {
	if ms, ok := x.(amqp.Timestamp); ok {
		return filter.DateTime(int64(ms)), true, true
	}
	d, _ := x.(amqp.Described)
	if d.Descriptor != DescriptorUnzoned && d.Descriptor != descriptorTicks {
		return filter.Value{}, false, false
	}
	zoned = d.Descriptor != DescriptorUnzoned
	switch x := d.Value.(type) {
	case amqp.Timestamp:
		return filter.DateTime(int64(x)), zoned, true
	case int64:
		return filter.DateTimeTicks(x), zoned, true
	}
	return filter.Value{}, false, false
}

// Values are named values of a rule: the application properties of a correlation filter, or the parameters of a SQL
// text. Their types count, so they are kept as AMQP has them, in memory as well as in the journal's JSON. Callers may
// use what message.EncodeValue takes, and time.Duration for a TimeSpan; a time.Time and a time.Duration keep their
// ticks of 100 ns.
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
	switch v := x.(type) {
	case time.Duration:
		return message.Scalar{Type: message.TypeTimeSpan, Bits: uint64(v.Nanoseconds() / 100)}.Append(nil), nil
	case time.Time:
		x = ticked(v, descriptorTicks)
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

// comparable returns the values encoded, as texts. Those of equal values are equal, even of NaN, which differs from
// itself.
func (v Values) comparable() (Values, error) {
	v, err := v.canonical()
	for name, x := range v {
		encoded, e := encodeValue(x)
		v[name], err = string(encoded), errors.Join(err, e)
	}
	return v, err
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
	if t, ok := x.(time.Time); ok {
		return filter.DateTimeOf(t), nil
	}
	if v, _, ok := dateTime(x); ok {
		return v, nil
	}
	encoded, err := encodeValue(x)
	if err != nil {
		return filter.Value{}, err
	}
	return filterValue(message.DecodeScalar(encoded)), nil
}

// PlainValue returns a value as messages have it: a time as a timestamp, which has milliseconds, everything else as
// it is.
func PlainValue(x any) any {
	if v, _, ok := dateTime(x); ok {
		return amqp.Timestamp(v.UnixMilli())
	}
	return x
}
