package filter

import (
	"encoding/binary"
	"math/big"
	"strings"

	"minibus/internal/dotnet"
)

// Decimals are rare: a client must send one on purpose, or an action must subtract unsigned longs. A Value holds the
// shortest text, and arithmetic uses exact fractions, rounded to the range of System.Decimal: 96 bits and 28 places.
const maxDecimalText = 64 // no number in range needs more characters

var (
	decimalLimit = new(big.Int).Lsh(big.NewInt(1), dotnet.DecimalBits)
	ten          = big.NewInt(10)
)

// parseDecimal makes a decimal from digits with an optional sign and point. It returns false for anything else and for
// numbers beyond System.Decimal.
func parseDecimal(text string) (Value, bool) {
	if len(text) == 0 || len(text) > maxDecimalText || strings.Trim(text, "+-.0123456789") != "" {
		return Value{}, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return Value{}, false
	}
	v, err := decimalOf(r)
	return v, err == nil
}

// Decimal128 makes a decimal from the sixteen bytes of an AMQP decimal128, as IEEE 754-2008 or as .NET's client
// encodes it. Numbers beyond System.Decimal, infinities and NaN become opaque, with the sixteen bytes as their text.
func Decimal128(b [16]byte) Value {
	coefficient, exponent, ok := dotnet.DecimalParts(b)
	if !ok {
		return Opaque(string(b[:]))
	}
	r := new(big.Rat).SetInt(coefficient)
	scale := new(big.Rat).SetInt(new(big.Int).Exp(ten, big.NewInt(int64(max(exponent, -exponent))), nil))
	if exponent < 0 {
		r.Quo(r, scale)
	} else {
		r.Mul(r, scale)
	}
	v, err := decimalOf(r)
	if err != nil {
		return Opaque(string(b[:]))
	}
	v.num, v.hi = binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	return v
}

// Decimal128 encodes a [KindDecimal] as an AMQP decimal128: as it came, or as .NET's client does if it was computed.
func (v Value) Decimal128() (b [16]byte) {
	if v.num == 0 && v.hi == 0 {
		b, _ = dotnet.ParseDecimal(v.str) // decimalOf has rounded it to what .NET has
		return b
	}
	binary.BigEndian.PutUint64(b[:8], v.num)
	binary.BigEndian.PutUint64(b[8:], v.hi)
	return b
}

// rational returns the exact value of a finite number.
func rational(v Value) *big.Rat {
	r := new(big.Rat)
	switch classOf[v.kind] {
	case classDecimal:
		r.SetString(v.str)
	case classFloat, classDouble:
		r.SetFloat64(v.Float())
	case classULong:
		r.SetUint64(v.num)
	default:
		r.SetInt64(v.signed())
	}
	return r
}

// decimalOf rounds a fraction, half to even, to as many places as fit.
func decimalOf(r *big.Rat) (Value, error) {
	scale := new(big.Int).Exp(ten, big.NewInt(dotnet.DecimalPlaces), nil)
	for places := dotnet.DecimalPlaces; places >= 0; places-- {
		coefficient := roundHalfEven(new(big.Int).Mul(r.Num(), scale), r.Denom())
		if coefficient.CmpAbs(decimalLimit) < 0 {
			return Value{kind: KindDecimal, str: decimalText(coefficient, places)}, nil
		}
		scale.Quo(scale, ten)
	}
	return Value{}, evalErrorf("The resulting number is too large for a decimal.")
}

// decimalText writes coefficient / 10^places without zeros at the end of the fraction.
func decimalText(coefficient *big.Int, places int) string {
	digits := new(big.Int).Abs(coefficient).String()
	if pad := places + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	whole, fraction := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if coefficient.Sign() < 0 {
		return "-" + whole
	}
	return whole
}

// roundHalfEven divides and rounds to the nearest integer, and to the even one of two that are equally near.
func roundHalfEven(num, den *big.Int) *big.Int {
	quotient, rest := new(big.Int).QuoRem(num, den, new(big.Int))
	twice := rest.Lsh(rest, 1)
	switch c := twice.CmpAbs(den); {
	case c > 0, c == 0 && quotient.Bit(0) == 1:
		quotient.Add(quotient, big.NewInt(int64(num.Sign())))
	}
	return quotient
}
