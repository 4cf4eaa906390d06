package amqp

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

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
