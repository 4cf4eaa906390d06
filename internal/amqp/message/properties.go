package message

import (
	"bytes"
	"fmt"

	"minibus/internal/amqp"
)

// EncodeProperties encodes an overlay for application properties: a map with string keys. Keys may be strings,
// symbols or binaries; the later of two equal keys wins. For an empty map it returns nil, which is no overlay.
func EncodeProperties(m amqp.Map) ([]byte, error) {
	if len(m) == 0 {
		return nil, nil
	}
	last := make(map[string]int, len(m))
	for i, p := range m {
		key, ok := amqp.AsString(p.Key)
		if !ok {
			return nil, fmt.Errorf("encode properties: key of type %T", p.Key)
		}
		last[key] = i
	}
	out, mark := amqp.BeginMap(nil)
	for i, p := range m {
		key, _ := amqp.AsString(p.Key)
		if last[key] != i {
			continue
		}
		var err error
		if out, err = amqp.AppendValue(amqp.AppendString(out, key), p.Value); err != nil {
			return nil, fmt.Errorf("encode property %q: %w", key, err)
		}
	}
	return amqp.EndMap(out, mark, len(last)), nil
}

// Compound reports whether a value has a type that application properties can't have. A described value counts as the
// value in it: some clients describe dates and URIs.
func Compound(v any) bool {
	switch v := v.(type) {
	case amqp.List, amqp.Map, amqp.Array:
		return true
	case amqp.Described:
		return Compound(v.Value)
	}
	return false
}

// MergeProperties returns an overlay with the entries of both; for a key in both, the entry of add counts. Either may
// be nil. It may return one of its arguments.
func MergeProperties(old, add []byte) []byte {
	n, r, ok := overlayPairs(old)
	if !ok {
		return add
	}
	over, ok := newOverlay(add)
	if !ok {
		return old
	}
	out, mark := amqp.BeginMap(make([]byte, 0, len(old)+len(add)+mapOverhead))
	out, pairs := over.merge(out, n, r)
	return amqp.EndMap(out, mark, pairs)
}

// LookupProperty decodes the entry of an overlay with that key.
func LookupProperty(props []byte, key string) (any, bool) {
	n, r, _ := overlayPairs(props)
	return lookup(n, r, key)
}

// overlayPairs opens an encoded map; ok is false if it is nil or not a map.
func overlayPairs(props []byte) (n int, items amqp.Reader, ok bool) {
	if len(props) == 0 {
		return 0, amqp.Reader{}, false
	}
	r := amqp.NewReader(props)
	n, items, err := r.Map()
	return n, items, err == nil
}

// mapOverhead is the size of a map header: constructor, size and count.
const mapOverhead = 9

// indexFrom is the size from which an overlay uses an index of its keys: walking it for each entry of the message
// would be slow if both have thousands of entries.
const indexFrom = 32

// An overlay is an encoded map whose entries replace or join those of another.
type overlay struct {
	n     int
	items amqp.Reader
	index map[string]struct{} // nil for a small overlay
}

func newOverlay(props []byte) (overlay, bool) {
	n, items, ok := overlayPairs(props)
	if !ok || n == 0 {
		return overlay{}, false
	}
	o := overlay{n: n, items: items}
	if n >= indexFrom {
		o.index = make(map[string]struct{}, n)
		for r, i := items, 0; i < n; i++ {
			o.index[string(keyOf(&r))] = struct{}{}
			if r.Skip() != nil {
				break
			}
		}
	}
	return o, true
}

func (o *overlay) has(key []byte) bool {
	if o.index != nil {
		_, ok := o.index[string(key)]
		return ok
	}
	r := o.items
	for range o.n {
		if bytes.Equal(keyOf(&r), key) {
			return true
		}
		if r.Skip() != nil {
			break
		}
	}
	return false
}

// merge appends the n pairs of r that the overlay does not replace, as they are encoded, then those of the overlay. It
// returns the number of pairs written.
func (o *overlay) merge(dst []byte, n int, r amqp.Reader) ([]byte, int) {
	pairs := 0
	for range n {
		entry := r
		key := keyOf(&r)
		if r.Skip() != nil {
			break
		}
		if !o.has(key) {
			dst = append(dst, between(entry, r)...)
			pairs++
		}
	}
	return append(dst, o.items.Rest()...), pairs + o.n
}

// EncodeValue encodes one value, of any type that [amqp.AppendValue] takes.
func EncodeValue(v any) ([]byte, error) { return amqp.AppendValue(nil, v) }

// DecodeValue decodes one value; bytes after it are an error.
func DecodeValue(b []byte) (any, error) {
	r := amqp.NewReader(b)
	v, err := r.Value()
	if err == nil && r.Len() > 0 {
		err = r.Fail("value", amqp.ErrMalformed)
	}
	return v, err
}
