package amqp

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Decode decodes the first value of b and returns the bytes after it. The value is one of: nil, bool, uint8, uint16,
// uint32, uint64, int8, int16, int32, int64, float32, float64, Char, Timestamp, UUID, []byte, string, Symbol, List,
// Map, Array, Described, Decimal32, Decimal64, Decimal128. A []byte aliases b. Decode allocates at most a small
// multiple of the value's bytes. Errors are of type [*DecodeError].
func Decode(b []byte) (v any, rest []byte, err error) {
	d := newDecoder(b, 0)
	v, err = d.value(0)
	if err != nil {
		return nil, nil, err
	}
	return v, b[d.pos:], nil
}

// zeroWidthBudget is how many elements without bytes of their own (arrays of null, true, uint0 ...) one call of Decode
// may produce. Such arrays have no use, but ten bytes can claim four billion elements.
const zeroWidthBudget = 1024

// firstItems is the capacity that a list or map starts with; it grows only as elements are decoded.
const firstItems = 8

// A decoder builds Go values. While it decodes a compound, b ends with that compound, so that no element reaches
// beyond its parent; offsets stay those of the whole input.
type decoder struct {
	b    []byte
	pos  int
	zero int
}

func newDecoder(b []byte, pos int) decoder { return decoder{b: b, pos: pos, zero: zeroWidthBudget} }

func (d *decoder) fail(what string, err error) error { return &DecodeError{what, d.pos, err} }

func (d *decoder) value(depth int) (any, error) {
	if d.pos >= len(d.b) {
		return nil, d.fail("value", ErrTruncated)
	}
	code := d.b[d.pos]
	if code == CodeDescribed {
		return d.described(depth)
	}
	return d.primitive(code, depth)
}

func (d *decoder) described(depth int) (any, error) {
	if depth >= MaxDepth {
		return nil, d.fail("described value", ErrTooDeep)
	}
	d.pos++
	descriptor, err := d.value(depth + 1)
	if err != nil {
		return nil, err
	}
	v, err := d.value(depth + 1)
	if err != nil {
		return nil, err
	}
	return Described{descriptor, v}, nil
}

// primitive decodes the value whose constructor is at d.pos. The elements of an array have no constructor of their own:
// for them d.pos is one byte before the data.
func (d *decoder) primitive(code byte, depth int) (any, error) {
	switch code {
	case CodeList0, CodeList8, CodeList32:
		return d.list(code, depth)
	case CodeMap8, CodeMap32:
		return d.mapping(code, depth)
	case CodeArray8, CodeArray32:
		return d.array(code, depth)
	}
	end, err := skipPrimitive(d.b, d.pos, code)
	if err != nil {
		return nil, err
	}
	at := d.pos
	data := d.b[at+1 : end]
	var v any
	switch layouts[code] {
	case layoutSize8:
		v, err = d.variable(code, data[1:])
	case layoutSize32:
		v, err = d.variable(code, data[4:])
	default:
		v, err = d.fixed(code, data)
	}
	if err != nil {
		return nil, err
	}
	d.pos = end
	return v, nil
}

func (d *decoder) variable(code byte, data []byte) (any, error) {
	switch code {
	case CodeBinary8, CodeBinary32:
		return data[:len(data):len(data)], nil
	case CodeString8, CodeString32:
		if !utf8.Valid(data) {
			return nil, d.fail("string", ErrMalformed)
		}
		return string(data), nil
	default:
		if !utf8.Valid(data) {
			return nil, d.fail("symbol", ErrMalformed)
		}
		return Symbol(data), nil
	}
}

func (d *decoder) fixed(code byte, data []byte) (any, error) {
	switch len(data) {
	case 0:
		return fixed0(code), nil
	case 1:
		return d.fixed1(code, data[0])
	case 2:
		n := binary.BigEndian.Uint16(data)
		if code == CodeUshort {
			return n, nil
		}
		return int16(n), nil
	case 4:
		return d.fixed4(code, data)
	case 8:
		return fixed8(code, data), nil
	}
	if code == CodeUUID {
		return UUID(data), nil
	}
	return Decimal128(data), nil
}

func fixed0(code byte) any {
	switch code {
	case CodeTrue:
		return true
	case CodeFalse:
		return false
	case CodeUint0:
		return uint32(0)
	case CodeUlong0:
		return uint64(0)
	}
	return nil
}

func (d *decoder) fixed1(code, n byte) (any, error) {
	switch code {
	case CodeUbyte:
		return n, nil
	case CodeByte:
		return int8(n), nil
	case CodeSmallUint:
		return uint32(n), nil
	case CodeSmallUlong:
		return uint64(n), nil
	case CodeSmallInt:
		return int32(int8(n)), nil
	case CodeSmallLong:
		return int64(int8(n)), nil
	}
	if n > 1 {
		return nil, d.fail("boolean", ErrMalformed)
	}
	return n == 1, nil
}

func (d *decoder) fixed4(code byte, data []byte) (any, error) {
	n := binary.BigEndian.Uint32(data)
	switch code {
	case CodeUint:
		return n, nil
	case CodeInt:
		return int32(n), nil
	case CodeFloat:
		return math.Float32frombits(n), nil
	case CodeDecimal32:
		return Decimal32(data), nil
	}
	if n > utf8.MaxRune {
		return nil, d.fail("char", ErrMalformed)
	}
	return Char(n), nil
}

func fixed8(code byte, data []byte) any {
	n := binary.BigEndian.Uint64(data)
	switch code {
	case CodeUlong:
		return n
	case CodeLong:
		return int64(n)
	case CodeDouble:
		return math.Float64frombits(n)
	case CodeTimestamp:
		return Timestamp(n)
	}
	return Decimal64(data)
}

// within decodes elements with the input cut to their compound, and checks that they fill it exactly.
func (d *decoder) within(c compound, elements func() error) error {
	whole := d.b
	d.b, d.pos = whole[:c.end], c.start
	err := elements()
	d.b = whole
	if err != nil {
		return err
	}
	if d.pos != c.end {
		return d.fail("bytes after the last element", ErrMalformed)
	}
	return nil
}

func (d *decoder) list(code byte, depth int) (any, error) {
	c, err := d.enter(code, depth)
	if err != nil {
		return nil, err
	}
	var items List
	err = d.within(c, func() error {
		for range c.count {
			v, err := d.value(depth + 1)
			if err != nil {
				return err
			}
			items = append(grow(items, c.count), v)
		}
		return nil
	})
	if c.count == 0 && err == nil {
		return emptyList, nil
	}
	return items, err
}

func (d *decoder) mapping(code byte, depth int) (any, error) {
	c, err := d.enter(code, depth)
	if err != nil {
		return nil, err
	}
	var pairs Map
	err = d.within(c, func() error {
		for range c.count / 2 {
			k, err := d.value(depth + 1)
			if err != nil {
				return err
			}
			v, err := d.value(depth + 1)
			if err != nil {
				return err
			}
			pairs = append(grow(pairs, c.count/2), Pair{k, v})
		}
		return nil
	})
	if c.count == 0 && err == nil {
		return emptyMap, nil
	}
	return pairs, err
}

// Empty lists and maps are not nil, unlike absent ones; all share these two.
var (
	emptyList any = List{}
	emptyMap  any = Map{}
)

// grow returns s with space for one more of the count elements that its compound claims. It doubles the capacity: a
// claim alone allocates only a few elements, and append's own growth would cost more in all.
func grow[T any](s []T, count uint32) []T {
	if len(s) < cap(s) {
		return s
	}
	larger := make([]T, len(s), min(int64(count), int64(max(firstItems, 2*cap(s)))))
	copy(larger, s)
	return larger
}

func (d *decoder) enter(code byte, depth int) (compound, error) {
	if depth >= MaxDepth {
		return compound{}, d.fail("compound value", ErrTooDeep)
	}
	return compoundAt(d.b, d.pos, code)
}

func (d *decoder) array(code byte, depth int) (any, error) {
	c, err := d.enter(code, depth)
	if err != nil {
		return nil, err
	}
	arr := Array{Code: CodeNull, Items: []any{}}
	if c.count == 0 && c.start == c.end {
		d.pos = c.end // some encoders omit the constructor of an empty array
		return arr, nil
	}
	err = d.within(c, func() error { return d.elements(&arr, c.count, depth+1) })
	return arr, err
}

// elements reads an array's element constructor, with its descriptor if it has one, and the elements.
func (d *decoder) elements(arr *Array, count uint32, depth int) error {
	if d.pos >= len(d.b) {
		return d.fail("element constructor", ErrTruncated)
	}
	arr.Code = d.b[d.pos]
	code := arr.Code
	var descriptor any
	if arr.Code == CodeDescribed {
		var err error
		d.pos++
		if descriptor, err = d.value(depth); err != nil {
			return err
		}
		if d.pos >= len(d.b) {
			return d.fail("element constructor", ErrTruncated)
		}
		code = d.b[d.pos]
	}
	if l := layouts[code]; l == layoutUnknown || l == layoutDescribed {
		return d.fail("element constructor", ErrMalformed)
	}
	if err := d.afford(code, count); err != nil {
		return err
	}
	for range count {
		v, err := d.primitive(code, depth)
		if err != nil {
			return err
		}
		d.pos-- // the next element has no constructor of its own either
		if arr.Code == CodeDescribed {
			v = Described{descriptor, v}
		}
		arr.Items = append(grow(arr.Items, count), v)
	}
	d.pos++
	return nil
}

// afford refuses an element count that is too large for the remaining bytes, before anything is allocated for it.
func (d *decoder) afford(code byte, count uint32) error {
	if layouts[code] != layoutFixed || widths[code>>4] > 0 {
		if uint64(count) > uint64(len(d.b)-d.pos-1) {
			return d.fail("array", ErrTooMany)
		}
		return nil
	}
	if uint64(count) > uint64(d.zero) {
		return d.fail("array of elements without bytes", ErrTooMany)
	}
	d.zero -= int(count)
	return nil
}
