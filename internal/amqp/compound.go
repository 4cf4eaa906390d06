package amqp

import "encoding/binary"

// A compound holds the header of a list, map or array: the number of elements it claims, and where they lie.
type compound struct {
	count      uint32
	start, end int
}

// compoundAt reads the size and the count that follow the constructor at pos. It checks the size against the bytes
// of b; the count is only a claim.
func compoundAt(b []byte, pos int, code byte) (compound, error) {
	at := pos + 1
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
	return c, nil
}

// sequenceAt is compoundAt for lists, list0 included, and maps, whose elements take at least a byte each.
func sequenceAt(b []byte, pos int, code byte) (compound, error) {
	if code == CodeList0 {
		return compound{start: pos + 1, end: pos + 1}, nil
	}
	c, err := compoundAt(b, pos, code)
	if err != nil {
		return c, err
	}
	if uint64(c.count) > uint64(c.end-c.start) {
		return c, &DecodeError{"element count", pos, ErrTooMany}
	}
	if (code == CodeMap8 || code == CodeMap32) && c.count%2 != 0 {
		return c, &DecodeError{"map with a key that has no value", pos, ErrMalformed}
	}
	return c, nil
}
