package template

import (
	"math/big"

	"minibus/internal/jsontree"
)

// What an expression can't mean, in Azure either: an error wherever it stands.
const (
	divides   = "it divides by zero"
	overflows = "its result has more than 64 bits"
	noNeedle  = "replace() has no text to look for"
)

// IsFault reports whether a value is unknown because of one of those.
func IsFault(why string) bool { return why == divides || why == overflows || why == noNeedle }

// arithmetic returns a function of two numbers. f says what is wrong with them.
func arithmetic(f func(x, y int64) (result int64, wrong string)) func([]*Node) *Node {
	return func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		x, ok := jsontree.Whole(args[0])
		y, both := jsontree.Whole(args[1])
		if !ok || !both {
			return nil
		}
		n, wrong := f(x, y)
		if wrong != "" {
			return Unknown(wrong)
		}
		return numberValue(n)
	}
}

// exactly is arithmetic whose result may have too many bits.
func exactly(f func(result, x, y *big.Int) *big.Int) func([]*Node) *Node {
	return arithmetic(func(x, y int64) (int64, string) {
		n := f(new(big.Int), big.NewInt(x), big.NewInt(y))
		if !n.IsInt64() {
			return 0, overflows
		}
		return n.Int64(), ""
	})
}

// divided is arithmetic that divides by the second number.
func divided(f func(result, x, y *big.Int) *big.Int) func([]*Node) *Node {
	divide := exactly(f)
	return func(args []*Node) *Node {
		if len(args) == 2 {
			if y, ok := jsontree.Whole(args[1]); ok && y == 0 {
				return Unknown(divides)
			}
		}
		return divide(args)
	}
}

// extreme returns a function of numbers, or of an array of them.
func extreme(of func(x, y int64) int64) func([]*Node) *Node {
	return func(args []*Node) *Node {
		if len(args) == 1 && args[0].Kind == jsontree.Array {
			args = args[0].Items
		}
		if len(args) == 0 {
			return nil
		}
		most, ok := jsontree.Whole(args[0])
		for _, a := range args[1:] {
			n, whole := jsontree.Whole(a)
			ok = ok && whole
			most = of(most, n)
		}
		if !ok {
			return nil
		}
		return numberValue(most)
	}
}
