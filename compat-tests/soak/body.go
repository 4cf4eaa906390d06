package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strconv"
)

// body makes a body: its id, its size, and bytes that follow from the id, so that a receiver can check
// them.
func body(id string, size int) []byte {
	b := fmt.Appendf(make([]byte, 0, size+len(id)+16), "%s\n%d\n", id, size)
	h := fnv.New64a()
	h.Write([]byte(id))
	for x, left := h.Sum64()|1, size; left > 0; left -= 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		word := binary.LittleEndian.AppendUint64(nil, x)
		b = append(b, word[:min(8, left)]...)
	}
	return b
}

// idOf returns the id at the beginning of a body. It fails if the body is not as it was sent.
func idOf(b []byte) (string, error) {
	id, rest, found := bytes.Cut(b, []byte{'\n'})
	length, _, more := bytes.Cut(rest, []byte{'\n'})
	size, err := strconv.Atoi(string(length))
	if !found || !more || err != nil {
		return "", fmt.Errorf("a body of %d bytes does not begin as one of ours: %q", len(b), b[:min(40, len(b))])
	}
	if !bytes.Equal(b, body(string(id), size)) {
		return string(id), fmt.Errorf("the body of %s, %d bytes, is not what was sent", id, len(b))
	}
	return string(id), nil
}
