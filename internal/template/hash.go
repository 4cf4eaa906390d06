package template

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/google/uuid"
)

// guidSpace is the namespace of the identifiers that guid() makes, as Azure has it.
var guidSpace = uuid.MustParse("11fb06fb-712d-4ddd-98c7-e71bbd588830")

// joined returns the arguments of guid() and uniqueString() as one text; ok is false if there are none.
func joined(args []*Node) (text string, ok bool) {
	var parts []string
	for _, a := range args {
		parts = append(parts, TextOf(a))
	}
	return strings.Join(parts, "-"), len(args) > 0
}

func guid(args []*Node) *Node {
	text, ok := joined(args)
	if !ok {
		return nil
	}
	return textValue(uuid.NewSHA1(guidSpace, []byte(text)).String())
}

// uniqueString writes the 64 bits of murmur in 13 characters, five bits each from the top.
func uniqueString(args []*Node) *Node {
	text, ok := joined(args)
	if !ok {
		return nil
	}
	const digits = "abcdefghijklmnopqrstuvwxyz234567"
	n := murmur([]byte(text))
	b := make([]byte, 13)
	for i := range b {
		b[i] = digits[n>>59]
		n <<= 5
	}
	return textValue(string(b))
}

// murmur is the variant of MurmurHash3 with two lanes of 32 bits that Azure's uniqueString() uses. The last digit of
// that has the four bits that are left, so it is shifted like the others.
func murmur(data []byte) uint64 {
	const c1, c2 = 0x239b961b, 0xab0e9789
	length := uint32(len(data))
	var h1, h2 uint32
	for ; len(data) >= 8; data = data[8:] {
		k1 := binary.LittleEndian.Uint32(data)
		k2 := binary.LittleEndian.Uint32(data[4:])
		h1 ^= bits.RotateLeft32(k1*c1, 15) * c2
		h1 = (bits.RotateLeft32(h1, 19)+h2)*5 + 0x561ccd1b
		h2 ^= bits.RotateLeft32(k2*c2, 17) * c1
		h2 = (bits.RotateLeft32(h2, 13)+h1)*5 + 0x0bcaa747
	}
	tail := make([]byte, 8)
	copy(tail, data)
	if len(data) > 4 {
		h2 ^= bits.RotateLeft32(binary.LittleEndian.Uint32(tail[4:])*c2, 17) * c1
	}
	if len(data) > 0 {
		h1 ^= bits.RotateLeft32(binary.LittleEndian.Uint32(tail)*c1, 15) * c2
	}
	h1 ^= length
	h2 ^= length
	h1 += h2
	h2 += h1
	h1 = finalised(h1)
	h2 = finalised(h2)
	h1 += h2
	h2 += h1
	return uint64(h2)<<32 | uint64(h1)
}

// finalised is the end of MurmurHash3 with 32 bits.
func finalised(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
