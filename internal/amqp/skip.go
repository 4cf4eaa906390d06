package amqp

import "encoding/binary"

// Skip steps over one encoded value and returns what follows it. It allocates nothing, whatever the value; sizes are
// checked against the bytes that are there, the inside of compound values is not looked at.
// Errors are of type [*DecodeError].
func Skip(b []byte) (rest []byte, err error) {
	end, err := skipAt(b, 0, 0)
	if err != nil {
		return nil, err
	}
	return b[end:], nil
}

// skipAt returns the offset behind the value at pos. A described value whose value is described again is walked in
// the loop, a described descriptor by recursion; both count towards MaxDepth.
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
		need = uint64(fixedWidth(code))
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
