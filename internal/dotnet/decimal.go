package dotnet

import (
	"math/big"
	"strings"
)

// A System.Decimal has a coefficient of 96 bits and at most 28 places.
const (
	DecimalBits   = 96
	DecimalPlaces = 28
)

// decimalBias is the exponent of a decimal128 that stands for zero.
const decimalBias = 6176

// decimalRange bounds the exponents that [DecimalParts] reads. No number beyond is one of .NET.
const decimalRange = 80

// DecimalParts reads the sixteen bytes of an AMQP decimal128: the number is coefficient * 10^exponent. IEEE 754-2008
// shifts the exponent by 49 bits. .NET's client shifts its upper half by two bits more: it writes 12.50 as 0c 3c ...
// 04 e2, and the standard as 30 3c ... 04 e2. What .NET writes would be far too small for a System.Decimal as a
// number of the standard, so the bytes tell the two apart. ok is false for infinities, NaN and numbers that are too
// far from a System.Decimal.
func DecimalParts(b [16]byte) (coefficient *big.Int, exponent int, ok bool) {
	exponent = int(b[0]&0x7f)<<7 | int(b[1]>>1) - decimalBias
	negative := b[0]&0x80 != 0
	special := b[0]&0x60 == 0x60 // also coefficients that the standard counts as zero
	if isDotNet(b) {
		exponent = int(b[1]>>1) - decimalBias&0x7f
	}
	b[0], b[1] = 0, b[1]&1
	coefficient = new(big.Int).SetBytes(b[:])
	if coefficient.Sign() == 0 && (exponent < -DecimalPlaces || exponent > 0) {
		exponent = 0
	}
	if negative {
		coefficient.Neg(coefficient)
	}
	return coefficient, exponent, !special && exponent >= -decimalRange && exponent <= decimalRange
}

// isDotNet reports whether .NET's client wrote the bytes of a decimal128.
func isDotNet(b [16]byte) bool {
	scale := decimalBias&0x7f - int(b[1]>>1)
	return b[0]&0x7f == decimalBias>>9 && b[1]&1 == 0 && scale >= 0 && scale <= DecimalPlaces && b[2] == 0 && b[3] == 0
}

// DecimalText writes the number in a decimal128, with the places that its sender gave it; ok is false as for
// [DecimalParts].
func DecimalText(b [16]byte) (text string, ok bool) {
	coefficient, exponent, ok := DecimalParts(b)
	if !ok {
		return "", false
	}
	digits := new(big.Int).Abs(coefficient).String()
	if exponent > 0 {
		digits += strings.Repeat("0", exponent)
	}
	places := max(-exponent, 0)
	if pad := places + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	if places > 0 {
		digits = digits[:len(digits)-places] + "." + digits[len(digits)-places:]
	}
	if b[0]&0x80 != 0 {
		digits = "-" + digits
	}
	return digits, true
}

// ParseDecimal encodes the text of a System.Decimal, digits with an optional sign and point, as .NET's client encodes a
// decimal128. ok is false for anything else and for numbers beyond System.Decimal.
func ParseDecimal(text string) (b [16]byte, ok bool) {
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = whole + fraction
	if digits == "" || len(digits) > 2*DecimalPlaces+2 || len(fraction) > DecimalPlaces ||
		strings.Trim(digits, "0123456789") != "" {
		return b, false
	}
	coefficient, _ := new(big.Int).SetString(digits, 10)
	if coefficient.BitLen() > DecimalBits {
		return b, false
	}
	coefficient.FillBytes(b[:])
	exponent := decimalBias - len(fraction)
	b[0], b[1] = byte(exponent>>9), byte(exponent&0x7f)<<1
	if negative {
		b[0] |= 0x80
	}
	return b, true
}
