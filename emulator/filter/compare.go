package filter

import (
	"cmp"
	"math"
	"strings"
)

// Comparison is a comparison operator.
type Comparison uint8

// The comparison operators.
const (
	Equal Comparison = iota
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
)

var comparisonNames = [...]string{"=", "<>", "<", "<=", ">", ">="}

// String returns the operator as it is written.
func (c Comparison) String() string { return comparisonNames[c] }

// holds reports whether an order of -1, 0 or 1 satisfies the operator.
func (c Comparison) holds(order int) bool {
	switch c {
	case Equal:
		return order == 0
	case NotEqual:
		return order != 0
	case Less:
		return order < 0
	case LessOrEqual:
		return order <= 0
	case Greater:
		return order > 0
	default:
		return order >= 0
	}
}

// Compare applies a comparison. It is unknown when an operand is missing or null and when the types do not fit:
// text is never read as a number, so '11' > 10 selects nothing and raises no error. Strings compare ordinally and
// case-sensitively; booleans and Guids only have = and <>; a Guid equals the text that it parses from.
func Compare(c Comparison, a, b Value) Tri {
	switch {
	case a.IsUnknown() || b.IsUnknown():
		return Unknown
	case isNumber(a.kind) && isNumber(b.kind):
		return compareNumbers(c, a, b)
	case isInstant(a.kind) && isInstant(b.kind):
		return triOf(c.holds(cmp.Compare(a.Ticks(), b.Ticks())))
	case a.kind == b.kind:
		return compareSame(c, a, b)
	case a.kind == KindGUID && b.kind == KindString:
		return compareGUID(c, a, b)
	case a.kind == KindString && b.kind == KindGUID:
		return compareGUID(c, b, a)
	}
	return Unknown
}

func compareSame(c Comparison, a, b Value) Tri {
	switch a.kind {
	case KindString:
		if c <= NotEqual {
			return triOf((a.str == b.str) == (c == Equal))
		}
		return triOf(c.holds(strings.Compare(a.str, b.str)))
	case KindTimeSpan:
		return triOf(c.holds(cmp.Compare(a.Ticks(), b.Ticks())))
	case KindBool, KindGUID:
		if c <= NotEqual {
			return triOf((a == b) == (c == Equal))
		}
	}
	return Unknown
}

func compareGUID(c Comparison, guid, text Value) Tri {
	parsed, ok := parseGUID(text.str)
	if !ok || c > NotEqual {
		return Unknown
	}
	return triOf((guid == parsed) == (c == Equal))
}

func compareNumbers(c Comparison, a, b Value) Tri {
	order, ordered := numberOrder(a, b)
	if !ordered {
		return triOf(c == NotEqual) // NaN
	}
	return triOf(c.holds(order))
}

// numberOrder compares two numbers by value. Integers compare exactly whatever their widths and signs, and so do
// decimals; an integer and a floating point number compare as doubles. ordered is false when one is NaN.
func numberOrder(a, b Value) (order int, ordered bool) {
	x, y := classOf[a.kind], classOf[b.kind]
	switch {
	case x < classFloat && y < classFloat:
		return integerOrder(a, b), true
	case (x == classDecimal || y == classDecimal) && isFinite(a) && isFinite(b):
		return rational(a).Cmp(rational(b)), true
	}
	f, g := float(a), float(b)
	if math.IsNaN(f) || math.IsNaN(g) {
		return 0, false
	}
	return cmp.Compare(f, g), true
}

func integerOrder(a, b Value) int {
	aBig, bBig := a.kind == KindUInt64 && a.signed() < 0, b.kind == KindUInt64 && b.signed() < 0
	switch {
	case aBig && bBig:
		return cmp.Compare(a.num, b.num)
	case aBig:
		return 1
	case bBig:
		return -1
	}
	return cmp.Compare(a.signed(), b.signed())
}
