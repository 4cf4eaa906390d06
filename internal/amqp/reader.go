package amqp

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Reader walks encoded values in place, for code that must not allocate: performatives, message
// sections, single entries of a map. Offsets in its errors count from the start of the slice it was made with.
// The typed reads consume one value; for a null they return ok = false. After an error the
// position is undefined. Copying a Reader copies the position. The zero Reader is empty.
type Reader struct {
	b   []byte
	pos int
}

// NewReader returns a Reader at the start of b. The bytes that it returns alias b.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Len returns the number of bytes left.
func (r *Reader) Len() int { return len(r.b) - r.pos }

// Offset returns the position, in bytes from the start of the slice that the Reader was made with.
func (r *Reader) Offset() int { return r.pos }

// Rest returns the bytes left, without consuming them.
func (r *Reader) Rest() []byte { return r.b[r.pos:] }

// Fail returns a *DecodeError at the current position.
func (r *Reader) Fail(what string, err error) error { return &DecodeError{what, r.pos, err} }

// Peek returns the constructor of the next value, or ok = false at the end.
func (r *Reader) Peek() (code byte, ok bool) {
	if r.pos >= len(r.b) {
		return 0, false
	}
	return r.b[r.pos], true
}

// Null consumes the next value if it is null and reports whether it was.
func (r *Reader) Null() bool {
	if r.pos < len(r.b) && r.b[r.pos] == CodeNull {
		r.pos++
		return true
	}
	return false
}

// Skip skips one value. It never allocates. It checks sizes against the bytes that are left, and does not look inside
// compound values.
func (r *Reader) Skip() error {
	end, err := skipAt(r.b, r.pos, 0)
	if err == nil {
		r.pos = end
	}
	return err
}

// Raw consumes one value and returns its encoding.
func (r *Reader) Raw() ([]byte, error) {
	start := r.pos
	if err := r.Skip(); err != nil {
		return nil, err
	}
	return r.b[start:r.pos:r.pos], nil
}

// Value decodes one value, like [Decode].
func (r *Reader) Value() (any, error) {
	d := newDecoder(r.b, r.pos)
	v, err := d.value(0)
	if err == nil {
		r.pos = d.pos
	}
	return v, err
}

// Descriptor consumes the descriptor of a described value and leaves the Reader at the value described. For a numeric
// descriptor it returns code and a nil name, for a symbolic one name.
func (r *Reader) Descriptor() (code uint64, name []byte, err error) {
	b := r.b[r.pos:]
	if len(b) >= 3 && b[0] == CodeDescribed && b[1] == CodeSmallUlong {
		r.pos += 3
		return uint64(b[2]), nil, nil
	}
	if len(b) == 0 {
		return 0, nil, r.Fail("descriptor", ErrTruncated)
	}
	if b[0] != CodeDescribed {
		return 0, nil, r.Fail("descriptor", ErrWrongType)
	}
	r.pos++
	switch c, _ := r.Peek(); c {
	case CodeSymbol8, CodeSymbol32:
		name, _, err = r.Bytes()
		return 0, name, err
	}
	code, ok, err := r.Uint64()
	if err == nil && !ok {
		err = r.Fail("descriptor", ErrWrongType)
	}
	return code, nil, err
}

// List consumes a list and returns the count of its items and a Reader over them. No item reaches beyond the list.
func (r *Reader) List() (count int, items Reader, err error) {
	switch code, _ := r.Peek(); code {
	case CodeList0, CodeList8, CodeList32:
		return r.compound(code)
	}
	return 0, Reader{}, r.unexpected("list")
}

// Map consumes a map and returns the count of its pairs and a Reader over keys and values in turn.
func (r *Reader) Map() (pairs int, items Reader, err error) {
	switch code, _ := r.Peek(); code {
	case CodeMap8, CodeMap32:
		n, items, err := r.compound(code)
		return n / 2, items, err
	}
	return 0, Reader{}, r.unexpected("map")
}

func (r *Reader) compound(code byte) (int, Reader, error) {
	c, err := compoundAt(r.b, r.pos, code)
	if err != nil {
		return 0, Reader{}, err
	}
	r.pos = c.end
	return int(c.count), Reader{b: r.b[:c.end], pos: c.start}, nil
}

// fixed returns the data bytes of a fixed-width value and consumes it.
func (r *Reader) fixed(code byte) ([]byte, error) {
	start, end := r.pos+1, r.pos+1+int(widths[code>>4])
	if end > len(r.b) {
		return nil, r.Fail("value", ErrTruncated)
	}
	r.pos = end
	return r.b[start:end], nil
}

func bigEndian(data []byte) uint64 {
	switch len(data) {
	case 1:
		return uint64(data[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(data))
	case 4:
		return uint64(binary.BigEndian.Uint32(data))
	case 8:
		return binary.BigEndian.Uint64(data)
	}
	return 0
}

// Uint64 reads an integer of any width and sign that is not negative.
func (r *Reader) Uint64() (v uint64, ok bool, err error) {
	v, signed, ok, err := r.integer()
	if err == nil && signed && int64(v) < 0 {
		return 0, false, r.Fail("unsigned integer", ErrRange)
	}
	return v, ok, err
}

// Int64 reads an integer of any width and sign, or a timestamp, that an int64 holds.
func (r *Reader) Int64() (v int64, ok bool, err error) {
	u, signed, ok, err := r.integer()
	if err == nil && !signed && u > math.MaxInt64 {
		return 0, false, r.Fail("integer", ErrRange)
	}
	return int64(u), ok, err
}

// Uint32 reads an integer of any width and sign that a uint32 holds.
func (r *Reader) Uint32() (v uint32, ok bool, err error) {
	switch b := r.b[r.pos:]; { // nearly every field of every transfer and flow
	case len(b) >= 1 && b[0] == CodeUint0:
		r.pos++
		return 0, true, nil
	case len(b) >= 2 && b[0] == CodeSmallUint:
		r.pos += 2
		return uint32(b[1]), true, nil
	case len(b) >= 5 && b[0] == CodeUint:
		r.pos += 5
		return binary.BigEndian.Uint32(b[1:]), true, nil
	}
	u, ok, err := r.Uint64()
	if err == nil && u > math.MaxUint32 {
		return 0, false, r.Fail("unsigned integer", ErrRange)
	}
	return uint32(u), ok, err
}

// Timestamp reads a timestamp, and no other number.
func (r *Reader) Timestamp() (v Timestamp, ok bool, err error) {
	if code, _ := r.Peek(); code != CodeTimestamp && code != CodeNull {
		return 0, false, r.unexpected("timestamp")
	}
	n, ok, err := r.Int64()
	return Timestamp(n), ok, err
}

// integer reads any integer or timestamp. v is sign-extended to 64 bits if signed.
func (r *Reader) integer() (v uint64, signed, ok bool, err error) {
	code, _ := r.Peek()
	switch code {
	case CodeUint0, CodeUlong0, CodeUbyte, CodeSmallUint, CodeSmallUlong, CodeUshort, CodeUint, CodeUlong:
	case CodeByte, CodeSmallInt, CodeSmallLong, CodeShort, CodeInt, CodeLong, CodeTimestamp:
		signed = true
	default:
		if r.Null() {
			return 0, false, false, nil
		}
		return 0, false, false, r.unexpected("integer")
	}
	data, err := r.fixed(code)
	if err != nil {
		return 0, false, false, err
	}
	v = bigEndian(data)
	if signed {
		v = signExtend(v, len(data))
	}
	return v, signed, true, nil
}

func signExtend(v uint64, width int) uint64 {
	shift := 64 - 8*width
	return uint64(int64(v<<shift) >> shift)
}

// Bool reads a boolean in any of its three encodings.
func (r *Reader) Bool() (v, ok bool, err error) {
	code, _ := r.Peek()
	switch code {
	case CodeTrue, CodeFalse:
		r.pos++
		return code == CodeTrue, true, nil
	case CodeBool:
		data, err := r.fixed(code)
		if err != nil {
			return false, false, err
		}
		if data[0] > 1 {
			return false, false, r.Fail("boolean", ErrMalformed)
		}
		return data[0] == 1, true, nil
	case CodeNull:
		r.pos++
		return false, false, nil
	}
	return false, false, r.unexpected("boolean")
}

// Bytes reads a binary, string or symbol. The result aliases the input and is never nil when ok.
func (r *Reader) Bytes() (v []byte, ok bool, err error) {
	code, _ := r.Peek()
	var head int
	switch code {
	case CodeBinary8, CodeString8, CodeSymbol8:
		head = 2
	case CodeBinary32, CodeString32, CodeSymbol32:
		head = 5
	default:
		if r.Null() {
			return nil, false, nil
		}
		return nil, false, r.unexpected("text or binary")
	}
	end, err := skipPrimitive(r.b, r.pos, code)
	if err != nil {
		return nil, false, err
	}
	v = r.b[r.pos+head : end : end]
	r.pos = end
	return v, true, nil
}

// Text reads a string, symbol or binary that is valid UTF-8. It allocates the string; [Reader.Bytes] does not.
func (r *Reader) Text() (v string, ok bool, err error) {
	b, ok, err := r.Bytes()
	if err == nil && !utf8.Valid(b) {
		return "", false, r.Fail("text", ErrMalformed)
	}
	return string(b), ok, err
}

// UUID reads a uuid.
func (r *Reader) UUID() (v UUID, ok bool, err error) {
	if r.Null() {
		return UUID{}, false, nil
	}
	if code, _ := r.Peek(); code != CodeUUID {
		return UUID{}, false, r.unexpected("uuid")
	}
	data, err := r.fixed(CodeUUID)
	if err != nil {
		return UUID{}, false, err
	}
	return UUID(data), true, nil
}

// unexpected distinguishes the end of the input from a value of the wrong type.
func (r *Reader) unexpected(what string) error {
	if r.Len() == 0 {
		return r.Fail(what, ErrTruncated)
	}
	return r.Fail(what, ErrWrongType)
}

// skipAt returns the offset after the value at pos. The loop walks a described value whose value is described again;
// a described descriptor is walked by recursion. Both count towards MaxDepth.
func skipAt(b []byte, pos, depth int) (int, error) {
	for {
		if pos >= len(b) {
			return 0, &DecodeError{"value", pos, ErrTruncated}
		}
		code := b[pos]
		if layouts[code] != layoutDescribed {
			return skipPrimitive(b, pos, code)
		}
		if depth++; depth > MaxDepth {
			return 0, &DecodeError{"described value", pos, ErrTooDeep}
		}
		next, err := skipAt(b, pos+1, depth)
		if err != nil {
			return 0, err
		}
		pos = next
	}
}

func skipPrimitive(b []byte, pos int, code byte) (int, error) {
	var need uint64
	start := pos + 1
	switch layouts[code] {
	case layoutFixed:
		need = uint64(widths[code>>4])
	case layoutSize8:
		if start >= len(b) {
			return 0, &DecodeError{"size", start, ErrTruncated}
		}
		need = uint64(b[start])
		start++
	case layoutSize32:
		if len(b)-start < 4 {
			return 0, &DecodeError{"size", start, ErrTruncated}
		}
		need = uint64(binary.BigEndian.Uint32(b[start:]))
		start += 4
	default:
		return 0, &DecodeError{"constructor", pos, ErrMalformed}
	}
	if need > uint64(len(b)-start) {
		return 0, &DecodeError{"value", pos, ErrTruncated}
	}
	return start + int(need), nil
}

// A compound holds the header of a list, map or array: the number of elements it claims, and where they lie.
type compound struct {
	count      uint32
	start, end int
}

// compoundAt reads the size and the count that follow the constructor at pos. It checks the size against the bytes
// of b, and the count of a list or map, whose elements take at least a byte each, against the size. That of an array is
// only a claim.
func compoundAt(b []byte, pos int, code byte) (compound, error) {
	at := pos + 1
	if code == CodeList0 {
		return compound{start: at, end: at}, nil
	}
	var size uint64
	var c compound
	width := 1
	if layouts[code] == layoutSize32 {
		width = 4
	}
	if len(b)-at < 2*width {
		return compound{}, &DecodeError{"compound header", pos, ErrTruncated}
	}
	if width == 1 {
		size, c.count = uint64(b[at]), uint32(b[at+1])
	} else {
		size, c.count = uint64(binary.BigEndian.Uint32(b[at:])), binary.BigEndian.Uint32(b[at+4:])
	}
	at += width // the size counts from here: the count is a part of it
	if size < uint64(width) {
		return compound{}, &DecodeError{"compound size", pos, ErrMalformed}
	}
	if size > uint64(len(b)-at) {
		return compound{}, &DecodeError{"compound value", pos, ErrTruncated}
	}
	c.start, c.end = at+width, at+int(size)
	switch code {
	case CodeArray8, CodeArray32:
		return c, nil
	}
	if uint64(c.count) > uint64(c.end-c.start) {
		return c, &DecodeError{"element count", pos, ErrTooMany}
	}
	if (code == CodeMap8 || code == CodeMap32) && c.count%2 != 0 {
		return c, &DecodeError{"map with a key that has no value", pos, ErrMalformed}
	}
	return c, nil
}

// widths holds the bytes after a fixed-width constructor by its upper four bits [AMQP 1.2].
var widths = [16]uint8{4: 0, 5: 1, 6: 2, 7: 4, 8: 8, 9: 16}
