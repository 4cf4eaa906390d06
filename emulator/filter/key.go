package filter

import "math"

// key stands for a value in the index: values that are equal, in a SQL filter or in a correlation filter, have the same
// key. Different values may share a key (integers beyond 2^53, a Guid's text in two spellings), which only costs an
// evaluation.
type key struct {
	family family
	num    uint64
	hi     uint64
	str    string
}

// family is the set of kinds that compare with each other as equals.
type family uint8

const (
	familyNone family = iota // equals nothing
	familyBool
	familyNumber
	familyString
	familyGUID
	familyInstant
	familySpan
)

// familyOf returns the family of a kind. In a SQL filter a Guid also equals a string that it parses from.
func familyOf(k Kind) family {
	switch k {
	case KindMissing, KindNull, KindOpaque:
		return familyNone
	case KindBool:
		return familyBool
	case KindString:
		return familyString
	case KindGUID:
		return familyGUID
	case KindDateTime, KindDateTimeOffset:
		return familyInstant
	case KindTimeSpan:
		return familySpan
	default:
		return familyNumber
	}
}

// keyOf returns the key of a value; ok is false for a value that equals nothing.
func keyOf(v Value) (k key, ok bool) {
	k.family = familyOf(v.kind)
	switch k.family {
	case familyNone:
		return key{}, false
	case familyNumber:
		f := float(v)
		if math.IsNaN(f) {
			return key{}, false // NaN equals nothing, not even itself
		}
		k.num = math.Float64bits(f + 0) // minus zero becomes zero
	case familyString:
		if guid, parses := parseGUID(v.str); parses {
			return key{family: familyGUID, num: guid.num, hi: guid.hi}, true
		}
		k.str = v.str
	default:
		k.num, k.hi = v.num, v.hi
	}
	return k, true
}
