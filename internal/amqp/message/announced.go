package message

import (
	"encoding/binary"

	"minibus/internal/amqp"
)

// Announced returns the length of a message up to the end of the section that begins in its first bytes and does not
// end there: of a large message, its body. It returns 0 if the first bytes do not tell. The section may not hold what
// it announces.
func Announced(first []byte) uint64 {
	r := amqp.NewReader(first)
	for {
		if _, err := sectionCode(&r); err != nil {
			return 0
		}
		if r.Skip() == nil {
			continue
		}
		const code, size = 1, 4 // bytes
		value := r.Rest()
		if len(value) < code+size || !sizeOfFourBytes(value[0]) {
			return 0
		}
		return uint64(r.Offset()) + code + size + uint64(binary.BigEndian.Uint32(value[code:]))
	}
}

// sizeOfFourBytes reports whether a value with that constructor begins with a size of four bytes [AMQP 1.2].
func sizeOfFourBytes(constructor byte) bool {
	switch constructor >> 4 {
	case 0xb, 0xd, 0xf:
		return true
	}
	return false
}
