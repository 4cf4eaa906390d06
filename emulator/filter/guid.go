package filter

import (
	"crypto/rand"
	"encoding/binary"
)

// GUID makes a Guid from the sixteen bytes of an AMQP uuid, which is the order of its text.
func GUID(b [16]byte) Value {
	return Value{kind: KindGUID, num: binary.BigEndian.Uint64(b[:8]), hi: binary.BigEndian.Uint64(b[8:])}
}

// GUID returns the bytes of a [KindGUID] in the order of its text.
func (v Value) GUID() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], v.num)
	binary.BigEndian.PutUint64(b[8:], v.hi)
	return b
}

// newGUID makes a random Guid, version 4.
func newGUID() Value {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime stops the process instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return GUID(b)
}

// dashes are the places of the dashes in the usual text of a Guid.
const dashes = 1<<8 | 1<<13 | 1<<18 | 1<<23

// appendGUID appends the text of a Guid: lower case with dashes.
func appendGUID(dst []byte, v Value) []byte {
	const hexDigits = "0123456789abcdef"
	for i, b := range v.GUID() {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}

// parseGUID reads a Guid with or without dashes, and with braces or parentheses around the form with dashes, in either
// case. It rejects most strings by their length.
func parseGUID(s string) (Value, bool) {
	if len(s) == 38 && (s[0] == '{' && s[37] == '}' || s[0] == '(' && s[37] == ')') {
		s = s[1:37]
	}
	if len(s) != 36 && len(s) != 32 {
		return Value{}, false
	}
	dashed := len(s) == 36
	var halves [2]uint64
	digits := 0
	for i := range len(s) {
		if dashed && dashes>>i&1 == 1 {
			if s[i] != '-' {
				return Value{}, false
			}
			continue
		}
		d, ok := hexDigit(s[i])
		if !ok {
			return Value{}, false
		}
		halves[digits/16] = halves[digits/16]<<4 | d
		digits++
	}
	return Value{kind: KindGUID, num: halves[0], hi: halves[1]}, true
}

func hexDigit(c byte) (uint64, bool) {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0'), true
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10, true
	}
	return 0, false
}
