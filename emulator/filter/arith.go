package filter

import (
	"math"
	"math/big"
	"strings"
)

// arithOp is an arithmetic operator.
type arithOp uint8

const (
	opAdd arithOp = iota
	opSub
	opMul
	opDiv
	opMod
)

var arithNames = [...]string{"+", "-", "*", "/", "%"}

func (op arithOp) String() string { return arithNames[op] }

// maxText bounds what concatenation can build, in bytes: a message has no room for more in all its properties (QUO-8).
const maxText = 64 << 10

// calculate applies a binary operator. An unknown operand makes the result missing; types that do not go together are
// an error, as is an integer division by zero.
func calculate(op arithOp, a, b Value) (Value, error) {
	switch {
	case a.IsUnknown() || b.IsUnknown():
		return Value{}, nil
	case isNumber(a.kind) && isNumber(b.kind):
		return calculateNumbers(op, a, b)
	case a.kind == KindString && b.kind == KindString && op == opAdd:
		return concatenate(a, b)
	case op == opAdd || op == opSub:
		return calculateTimes(op, a, b)
	}
	return Value{}, undefined(op, a, b)
}

func undefined(op arithOp, a, b Value) error {
	return evalErrorf("Operator '%s' cannot be applied to operands of type '%s' and '%s'.", op, a.kind, b.kind)
}

func concatenate(a, b Value) (Value, error) {
	if len(a.str)+len(b.str) > maxText {
		return Value{}, evalErrorf("The resulting string is longer than %d bytes.", maxText)
	}
	return String(strings.Join([]string{a.str, b.str}, "")), nil
}

func calculateNumbers(op arithOp, a, b Value) (Value, error) {
	switch c := promote(op, a.kind, b.kind); c {
	case classDecimal:
		return calculateDecimals(op, rational(a), rational(b))
	case classDouble:
		return Float64(calculateFloats(op, float(a), float(b))), nil
	case classFloat:
		return Float32(float32(calculateFloats(op, roundToFloat(a), roundToFloat(b)))), nil
	case classULong:
		n, err := calculateIntegers(op, a.Uint(), b.Uint())
		return UInt64(n), err
	default:
		n, err := calculateIntegers(op, a.signed(), b.signed())
		return intValue(c, n), err
	}
}

// roundToFloat converts a number as C# does beside a float. Computing in double and rounding the result once more
// gives the same float for all five operators.
func roundToFloat(v Value) float64 {
	switch {
	case v.kind == KindUInt64:
		return float64(float32(v.Uint()))
	case isInteger(v.kind):
		return float64(float32(v.signed()))
	default:
		return v.Float()
	}
}

// calculateIntegers wraps around on overflow, divides toward zero and takes the sign of a remainder from the dividend.
// The narrower classes compute here too and intValue truncates them afterwards, which gives the same result.
func calculateIntegers[T int64 | uint64](op arithOp, a, b T) (T, error) {
	switch op {
	case opAdd:
		return a + b, nil
	case opSub:
		return a - b, nil
	case opMul:
		return a * b, nil
	}
	if b == 0 {
		return 0, errDivideByZero()
	}
	if op == opDiv {
		return a / b, nil
	}
	return a % b, nil
}

func errDivideByZero() error { return evalErrorf("Attempted to divide by zero.") }

func calculateFloats(op arithOp, a, b float64) float64 {
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv:
		return a / b
	default:
		return math.Mod(a, b)
	}
}

func calculateDecimals(op arithOp, a, b *big.Rat) (Value, error) {
	result := new(big.Rat)
	switch op {
	case opAdd:
		return decimalOf(result.Add(a, b))
	case opSub:
		return decimalOf(result.Sub(a, b))
	case opMul:
		return decimalOf(result.Mul(a, b))
	}
	if b.Sign() == 0 {
		return Value{}, errDivideByZero()
	}
	result.Quo(a, b)
	if op == opDiv {
		return decimalOf(result)
	}
	whole := new(big.Rat).SetInt(new(big.Int).Quo(result.Num(), result.Denom()))
	return decimalOf(result.Sub(a, whole.Mul(whole, b)))
}

// calculateTimes adds and subtracts instants and durations as .NET does.
func calculateTimes(op arithOp, a, b Value) (Value, error) {
	if op == opSub && isInstant(a.kind) && isInstant(b.kind) {
		return TimeSpan(a.Ticks() - b.Ticks()), nil
	}
	if op == opAdd && a.kind == KindTimeSpan && isInstant(b.kind) {
		a, b = b, a
	}
	if b.kind != KindTimeSpan || !isInstant(a.kind) && a.kind != KindTimeSpan {
		return Value{}, undefined(op, a, b)
	}
	span := b.Ticks()
	if op == opSub {
		var err error
		if span, err = negateSpan(span); err != nil {
			return Value{}, err
		}
	}
	if a.kind == KindTimeSpan {
		return addSpans(a.Ticks(), span)
	}
	return addInstant(a, span)
}

// applySign applies a unary sign. Small integers become int; minus makes a uint a long and a ulong a decimal.
func applySign(minus bool, v Value) (Value, error) {
	switch c := classOf[v.kind]; {
	case v.IsUnknown():
		return Value{}, nil
	case v.kind == KindTimeSpan && minus:
		ticks, err := negateSpan(v.Ticks())
		return TimeSpan(ticks), err
	case v.kind == KindTimeSpan:
		return v, nil
	case c == classNone:
		return Value{}, evalErrorf("A sign cannot be applied to an operand of type '%s'.", v.kind)
	case !minus && c == classInt:
		return Int32(int32(v.signed())), nil
	case !minus:
		return v, nil
	case c == classInt:
		return Int32(int32(-v.signed())), nil
	case c == classUInt || c == classLong:
		return Int64(-v.signed()), nil
	case c == classFloat || c == classDouble:
		return Value{kind: v.kind, num: math.Float64bits(-v.Float())}, nil
	default:
		r := rational(v)
		return decimalOf(r.Neg(r))
	}
}
