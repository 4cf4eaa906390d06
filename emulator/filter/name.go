package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// NameMatch says how well the name of a property fits the name that a filter asks for.
type NameMatch uint8

// The outcomes of [MatchName]. A lookup takes the exact match if there is one, and otherwise the first folded match in
// the order of the message.
const (
	noMatch     NameMatch = iota
	FoldedMatch           // the same but for upper and lower case
	ExactMatch
)

// MatchName compares a property's name, which may still lie in the message's bytes, with the name a filter asks for. It
// does not allocate.
func MatchName[T ~string | ~[]byte](have T, want string) NameMatch {
	exact := len(have) == len(want)
	for i := 0; i < len(have) && i < len(want); i++ {
		a, b := have[i], want[i]
		if a == b && a < utf8.RuneSelf {
			continue
		}
		if a|b >= utf8.RuneSelf {
			// The rest is not plain ASCII, so lengths may differ under folding. The ASCII before it already matches.
			switch {
			case exact && string(have[i:]) == want[i:]:
				return ExactMatch
			case strings.EqualFold(string(have[i:]), want[i:]):
				return FoldedMatch
			}
			return noMatch
		}
		if lower(a) != lower(b) {
			return noMatch
		}
		exact = false
	}
	switch {
	case exact:
		return ExactMatch
	case len(have) == len(want):
		return FoldedMatch
	}
	return noMatch
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// foldName returns the same spelling for all names that differ only by case.
func foldName(s string) string { return strings.Map(foldRune, s) }

// foldRune returns the smallest of the runes that differ only by case from r.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf && (r < 'A' || r > 'z') {
		return r
	}
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	return smallest
}
