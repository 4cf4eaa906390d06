package amqp

import "encoding/binary"

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

// Skip skips one value, like the function [Skip].
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
	switch code, ok := r.Peek(); {
	case !ok:
		return 0, Reader{}, r.Fail("list", ErrTruncated)
	case code == CodeList0 || code == CodeList8 || code == CodeList32:
		return r.sequence(code)
	}
	return 0, Reader{}, r.Fail("list", ErrWrongType)
}

// Map consumes a map and returns the count of its pairs and a Reader over keys and values in turn.
func (r *Reader) Map() (pairs int, items Reader, err error) {
	switch code, ok := r.Peek(); {
	case !ok:
		return 0, Reader{}, r.Fail("map", ErrTruncated)
	case code == CodeMap8 || code == CodeMap32:
		n, items, err := r.sequence(code)
		return n / 2, items, err
	}
	return 0, Reader{}, r.Fail("map", ErrWrongType)
}

func (r *Reader) sequence(code byte) (int, Reader, error) {
	c, err := sequenceAt(r.b, r.pos, code)
	if err != nil {
		return 0, Reader{}, err
	}
	r.pos = c.end
	return int(c.count), Reader{b: r.b[:c.end], pos: c.start}, nil
}

// fixed returns the data bytes of a fixed-width value and consumes it.
func (r *Reader) fixed(code byte) ([]byte, error) {
	start, end := r.pos+1, r.pos+1+fixedWidth(code)
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
