package filter

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"minibus/internal/dotnet"
)

var fuzzParams = map[string]Value{"p": Int32(10), "s": String("blue"), "t": TimeSpan(dotnet.Hour), "d": DateTime(0), "g": guidValue(), "n": Null()}

func fuzzSeeds(f *testing.F) {
	for _, text := range []string{
		TrueText, "color = 'blue' AND quantity >= @p", "NOT (a IN (1, 2.5, 'x', NULL) OR b LIKE '!%_%' ESCAPE '!')",
		"sys.Label IS NOT NULL AND EXISTS(user.[a]]b])", "p('sys.To') = \"x\"", "-a * (b + 1) / 2 % 3 - +c <> -9223372036854775808",
		"d2 - d1 <= @t OR id = newid()", "((((a)))) = ((1))", "a == 1", "a = 'x", "[", "'", "@", "1e", "5.", ".5e+1", "a.b", "!=",
		"SET a = 1; REMOVE b, SET sys.To = 'x'", "SET", "a NOT", "\u212a = 'ſ'", "a = 99999999999999999999",
	} {
		f.Add(text, uint64(1))
	}
	r := &maker{Rand: rand.New(rand.NewPCG(3, 4)), values: valuesOfAllKinds(f)}
	for i := range 20 {
		f.Add(strings.ReplaceAll(r.predicate(3), "@q", "@n"), uint64(i))
	}
}

// FuzzParse: no text breaks the parser, an error has a place inside the text, and the canonical form of a parsed text
// parses to an equal tree.
func FuzzParse(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, text string, _ uint64) {
		filter, err := ParseFilter(text, fuzzParams)
		checkError(t, text, err)
		if err == nil {
			again, err := ParseFilter(filter.String(), fuzzParams)
			if errors.Is(err, errTooLong) {
				return // spaces and scopes can make the canonical form longer
			}
			if err != nil || !reflect.DeepEqual(again.tree, filter.tree) {
				t.Fatalf("%q has the canonical form %q, which gives %v", text, filter, err)
			}
		}
		action, err := ParseAction(text, fuzzParams)
		checkError(t, text, err)
		if err == nil {
			again, err := ParseAction(action.String(), fuzzParams)
			if !errors.Is(err, errTooLong) && (err != nil || !reflect.DeepEqual(again.tree, action.tree)) {
				t.Fatalf("%q has the canonical form %q, which gives %v", text, action, err)
			}
		}
	})
}

func checkError(t *testing.T, text string, err error) {
	var syntax *syntaxError
	if err == nil || errors.Is(err, errTooLong) {
		return
	}
	if !errors.As(err, &syntax) {
		t.Fatalf("%q: error %v is no SyntaxError", text, err)
	}
	lines := strings.Split(text, "\n")
	if syntax.Line < 1 || syntax.Line > len(lines) || syntax.Column < 0 || syntax.Column > len(lines[syntax.Line-1]) ||
		!strings.Contains(text, syntax.Token) || syntax.Detail == "" {
		t.Fatalf("%q: %+v is not in the text", text, syntax)
	}
}

// FuzzEvaluate: on messages made from the seed, the compiled filter agrees with the naive evaluation, the index finds
// it, and neither a filter nor an action breaks.
func FuzzEvaluate(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		r := &maker{Rand: rand.New(rand.NewPCG(seed, 5)), values: append(valuesOfAllKinds(t), String(text))}
		m := r.message()
		if action, err := ParseAction(text, fuzzParams); err == nil {
			if err := action.Apply(m); err != nil && err.Error() == "" {
				t.Fatalf("%q: an error without a text", text)
			}
		}
		filter, err := ParseFilter(text, fuzzParams)
		if err != nil || strings.Contains(strings.ToLower(text), "newid") {
			return // two evaluations of newid() need not agree
		}
		outcome, err := checkAgainstNaive(t, filter, m)
		checkExplained(t, filter, m)
		var index Index[int]
		index.Add(1, filter)
		if (outcome == True || err != nil) && !candidates(t, &index, m)[1] {
			t.Fatalf("%q is %v, %v, but no candidate", text, outcome, err)
		}
	})
}

// FuzzLike compares the matcher with the definition of LIKE.
func FuzzLike(f *testing.F) {
	f.Add("50% off_now", `50\% off\_now`, "\\")
	f.Add("mississippi", "%iss%i__%", "")
	f.Add("aaa😀b", "%a_b", "b")
	f.Fuzz(func(t *testing.T, text, pattern, escape string) {
		if len(text)*len(pattern) > 1<<16 || !utf8.ValidString(text) || !utf8.ValidString(pattern) {
			return
		}
		r, err := escapeOf(String(escape))
		got, want := compilePattern(pattern, r, err == nil).match(text), naiveLike(text, pattern, r, err == nil)
		if got != want {
			t.Fatalf("%q LIKE %q ESCAPE %q: %v, want %v", text, pattern, escape, got, want)
		}
	})
}

// FuzzValues: conversions, operators and texts take any pair of values.
func FuzzValues(f *testing.F) {
	f.Add(uint8(KindDecimal), uint8(KindFloat64), uint64(1)<<63, math.Float64bits(math.NaN()), "1.5")
	f.Add(uint8(KindString), uint8(KindTimeSpan), uint64(0), uint64(1), "P1DT2H")
	f.Add(uint8(KindDateTime), uint8(KindTimeSpan), uint64(5), uint64(1)<<63, "2026-01-01")
	f.Fuzz(func(t *testing.T, kindA, kindB uint8, a, b uint64, text string) {
		x, y := fuzzValue(Kind(kindA), a, text), fuzzValue(Kind(kindB), b, text)
		for op := opAdd; op <= opMod; op++ {
			if v, err := calculate(op, x, y); err == nil {
				_ = v.String()
			}
		}
		for op := Equal; op <= GreaterOrEqual; op++ {
			Compare(op, x, y)
		}
		if kx, _ := keyOf(x); Compare(Equal, x, y) == True {
			if ky, _ := keyOf(y); kx != ky {
				t.Fatalf("%s %q = %s %q, but the keys differ", x.Kind(), x, y.Kind(), y)
			}
		}
		for to := KindMissing; to <= KindOpaque; to++ {
			if v, err := convert(x, to); err == nil && v.Kind() != to && !x.IsUnknown() && to > KindNull {
				t.Fatalf("%s %q to %s gives a %s", x.Kind(), x, to, v.Kind())
			}
		}
	})
}

// fuzzValue makes a value of a kind out of raw numbers and text.
func fuzzValue(k Kind, n uint64, text string) Value {
	switch k {
	case KindNull:
		return Null()
	case KindBool:
		return Bool(n&1 == 1)
	case KindInt8:
		return Int8(int8(n))
	case KindInt32:
		return Int32(int32(n))
	case KindInt64:
		return Int64(int64(n))
	case KindUInt32:
		return UInt32(uint32(n))
	case KindUInt64:
		return UInt64(n)
	case KindChar:
		return Char(rune(n))
	case KindFloat32:
		return Float32(math.Float32frombits(uint32(n)))
	case KindFloat64:
		return Float64(math.Float64frombits(n))
	case KindDecimal:
		var b [16]byte
		copy(b[:], text)
		if v, ok := parseDecimal(text); ok {
			return v
		}
		return Decimal128(b)
	case KindGUID:
		var b [16]byte
		copy(b[:], text)
		return GUID(b)
	case KindDateTime:
		return DateTime(int64(n))
	case KindDateTimeOffset:
		return DateTimeOffset(int64(n))
	case KindTimeSpan:
		return TimeSpan(int64(n))
	case KindOpaque:
		return Opaque(text)
	default:
		return String(text)
	}
}
