package filter

import "math"

// class is the type in which C# computes with a number, after it has promoted small ones to int.
type class uint8

const (
	classNone class = iota // not a number
	classInt
	classUInt
	classLong
	classULong
	classFloat
	classDouble
	classDecimal
)

// classOf has the class of each kind: byte, sbyte, short, ushort and char compute as int.
var classOf = [...]class{
	KindInt8: classInt, KindInt16: classInt, KindInt32: classInt,
	KindUInt8: classInt, KindUInt16: classInt, KindChar: classInt,
	KindUInt32: classUInt, KindInt64: classLong, KindUInt64: classULong,
	KindFloat32: classFloat, KindFloat64: classDouble, KindDecimal: classDecimal,
	KindOpaque: classNone,
}

// isNumber reports whether values of the kind take part in arithmetic.
func isNumber(k Kind) bool { return classOf[k] != classNone }

// isInteger reports whether values of the kind are whole numbers, characters included.
func isInteger(k Kind) bool { return k >= KindInt8 && k <= KindChar }

// isUnsigned reports whether values of the kind cannot be negative.
func isUnsigned(k Kind) bool { return k >= KindUInt8 && k <= KindChar }

// promote returns the class in which a binary operator computes. C# has no rule for ulong with a signed number, which
// computes in decimal here, nor for decimal with floating point, which computes in double. The difference of two
// unsigned numbers may be negative, so it computes in the next wider signed class.
func promote(op arithOp, a, b Kind) class {
	x, y := classOf[a], classOf[b]
	high, low := max(x, y), min(x, y)
	switch high {
	case classDecimal:
		if low == classFloat || low == classDouble {
			return classDouble
		}
		return classDecimal
	case classULong:
		if isUnsigned(a) && isUnsigned(b) && op != opSub {
			return classULong
		}
		return classDecimal
	case classUInt:
		if low == classUInt && op != opSub {
			return classUInt
		}
		return classLong // int with uint, and the difference of two uints
	default:
		return high
	}
}

// float returns any number as the nearest double.
func float(v Value) float64 {
	switch classOf[v.kind] {
	case classFloat, classDouble:
		return v.Float()
	case classDecimal:
		f, _ := rational(v).Float64()
		return f
	case classULong:
		return float64(v.num)
	default:
		return float64(v.signed())
	}
}

// intValue wraps a result into the class it was computed in; overflow is not an error.
func intValue(c class, n int64) Value {
	switch c {
	case classInt:
		return Int32(int32(n))
	case classUInt:
		return UInt32(uint32(n))
	default:
		return Int64(n)
	}
}

// isFinite reports whether a number is neither infinite nor NaN.
func isFinite(v Value) bool {
	c := classOf[v.kind]
	if c != classFloat && c != classDouble {
		return true
	}
	f := v.Float()
	return !math.IsInf(f, 0) && !math.IsNaN(f)
}
