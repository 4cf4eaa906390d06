package management

import (
	"fmt"
	"math"
	"strconv"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/printable"
)

// Bounds on the elements of one request. The queue works through them under its mutex, so they also bound how long
// others wait. SDKs send one lock token at a time; the most numbers that a known client sends is the service's limit
// for a batch, 4,500 (QUO-7). Messages are bounded by their bytes (DEC-17).
const (
	maxItems  = 10_000
	maxTokens = 1_000
)

// args holds the arguments of a request: the map in its body. The same argument is a long from one SDK and a uint
// from another, a list or an array, under a string or a binary key, so every method here takes all of them. A
// null counts as absent.
type args struct{ fields amqp.Map }

// parseArgs decodes the body of a request. A request without a body has no arguments.
func parseArgs(req *message.Message, limit int64) (args, error) {
	if req.Body.Empty() {
		return args{}, nil
	}
	body := req.Bytes(req.Body)
	if int64(len(body)) > limit {
		return args{}, &emulator.Error{
			Code: emulator.CodeMessageTooLarge,
			Text: fmt.Sprintf("The request is too large: its body takes %d bytes; the limit is %d.", len(body), limit),
		}
	}
	v, _, err := amqp.Decode(body)
	if err != nil {
		return args{}, argumentError("The body of the request cannot be decoded: %v.", err)
	}
	d, _ := v.(amqp.Described)
	switch fields := d.Value.(type) {
	case amqp.Map:
		return args{fields}, nil
	case nil:
		return args{}, nil
	}
	return args{}, argumentError("The body of the request holds %s; expected a map in an amqp-value section.",
		found(d.Value))
}

// get returns an argument, or nil if it is absent.
func (a args) get(key string) any {
	v, _ := a.fields.Get(key)
	return v
}

func (a args) int64(key string) (int64, error) {
	v := a.get(key)
	n, ok := amqp.AsInt64(v)
	if !ok {
		return 0, wrong(key, v, "an integer")
	}
	return n, nil
}

// count returns an integer between two bounds, both allowed.
func (a args) count(key string, least, most int64) (int, error) {
	n, err := a.int64(key)
	if err == nil && (n < least || n > most) {
		err = wrong(key, a.get(key), fmt.Sprintf("a number from %d to %d", least, most))
	}
	return int(n), err
}

// text returns a string; ok reports whether it was given.
func (a args) text(key string) (s string, ok bool, err error) {
	v := a.get(key)
	if v == nil {
		return "", false, nil
	}
	if s, ok = amqp.AsString(v); !ok {
		return "", false, wrong(key, v, "a string")
	}
	return s, true, nil
}

// needText returns a string that must be present.
func (a args) needText(key string) (string, error) {
	s, ok, err := a.text(key)
	if err == nil && !ok {
		err = wrong(key, nil, "a string")
	}
	return s, err
}

// sub returns the arguments in an argument that is a map itself; ok reports whether it was given.
func (a args) sub(key string) (inner args, ok bool, err error) {
	v := a.get(key)
	if v == nil {
		return args{}, false, nil
	}
	m, ok := v.(amqp.Map)
	if !ok {
		return args{}, false, wrong(key, v, "a map")
	}
	return args{m}, true, nil
}

// flag returns a boolean, false if it is absent.
func (a args) flag(key string) (bool, error) {
	v := a.get(key)
	b, ok := amqp.AsBool(v)
	if v != nil && !ok {
		return false, wrong(key, v, "a boolean")
	}
	return b, nil
}

// items returns the first elements of a list or an array, no more than most. It must be present but may be empty.
func (a args) items(key, expected string, most int) ([]any, error) {
	v := a.get(key)
	items, ok := amqp.ItemsOf(v)
	if !ok {
		return nil, wrong(key, v, expected)
	}
	if len(items) > most {
		return nil, argumentError("The argument '%s' has %d elements; at most %d are allowed in one request.",
			key, len(items), most)
	}
	return items, nil
}

func (a args) numbers(key string) ([]int64, error) {
	return elements(a, key, "long", maxItems, amqp.AsInt64)
}

// tokens returns lock tokens. An empty array is refused: a request about no lock is a mistake.
func (a args) tokens(key string) ([]emulator.LockToken, error) {
	tokens, err := elements(a, key, "uuid", maxTokens, func(v any) (emulator.LockToken, bool) {
		u, ok := v.(amqp.UUID)
		return emulator.LockToken(u), ok
	})
	if err == nil && len(tokens) == 0 {
		err = argumentError("The argument '%s' is empty; expected at least one lock token.", key)
	}
	return tokens, err
}

// elements returns the elements of a list or an array as values of one type, which texts call kind.
func elements[T any](a args, key, kind string, most int, as func(any) (T, bool)) ([]T, error) {
	items, err := a.items(key, "an array of "+kind, most)
	if err != nil {
		return nil, err
	}
	values := make([]T, len(items))
	for i, v := range items {
		var ok bool
		if values[i], ok = as(v); !ok {
			return nil, wrong(element(key, i), v, "a "+kind)
		}
	}
	return values, nil
}

func element(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

func wrong(key string, v any, expected string) error {
	if v == nil {
		return argumentError("The argument '%s' is missing; expected %s.", key, expected)
	}
	return argumentError("The argument '%s' is %s; expected %s.", key, found(v), expected)
}

// found describes a value for an error text: its AMQP type, and the value itself if it is short.
func found(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "the string " + strconv.Quote(clip(v))
	case amqp.Symbol:
		return "the symbol " + strconv.Quote(clip(string(v)))
	case []byte:
		return fmt.Sprintf("a binary of %d bytes", len(v))
	case amqp.List:
		return fmt.Sprintf("a list of %d", len(v))
	case amqp.Array:
		return fmt.Sprintf("an array of %d", len(v.Items))
	case amqp.Map:
		return fmt.Sprintf("a map of %d", len(v))
	case amqp.Described:
		return "a described value"
	case amqp.UUID:
		return "the uuid " + v.String()
	case uint64:
		if v > math.MaxInt64 {
			return fmt.Sprintf("%d, which is out of range", v)
		}
	}
	return "the value " + clip(fmt.Sprint(v))
}

// clip shortens a client's text before an error repeats it.
func clip(s string) string { return printable.Clip(s, 64) }
