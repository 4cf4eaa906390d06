package amqp

import "encoding/binary"

// Skip skips one encoded value and returns the bytes after it. It never allocates. It checks sizes
// against the length of b, and does not look inside compound values.
// Errors are of type [*DecodeError].
func Skip(b []byte) (rest []byte, err error) {
	end, err := skipAt(b, 0, 0)
	if err != nil {
		return nil, err
	}
	return b[end:], nil
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
