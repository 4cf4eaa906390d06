package filter

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestLike(t *testing.T) {
	for _, c := range []struct {
		text, pattern, escape string
		want                  bool
	}{
		{"", "", "", true}, {"", "%", "", true}, {"", "_", "", false}, {"a", "", "", false}, {"abc", "abc", "", true}, {"abc", "ABC", "", false},
		{"abc", "%", "", true}, {"abc", "a%", "", true}, {"abc", "%c", "", true}, {"abc", "%b%", "", true}, {"abc", "a%c", "", true},
		{"abc", "a%b", "", false}, {"abc", "ab%bc", "", false}, {"abbc", "ab%bc", "", true}, {"abc", "%%%", "", true}, {"abc", "___", "", true},
		{"abc", "____", "", false}, {"abc", "_%_", "", true}, {"a", "_%_", "", false}, {"abcabd", "%ab_", "", true}, {"xaybzc", "%a_b%", "", true},
		{"aab", "%a_b%", "", true}, {"abb", "%a_a%", "", false}, {"héllo", "h_llo", "", true}, {"日本語", "%_語", "", true}, {"日本語", "日__", "", true}, {"😀", "_", "", true},
		{"a.b*c[d]", "a.b*c[d]", "", true}, {"a", "[a]", "", false}, {"a\nb", "a_b", "", true}, {"a\nb", "a%", "", true},
		{"ABC%", `ABC\%`, `\`, true}, {"ABCD", `ABC\%`, `\`, false}, {"a_b", "a!_b", "!", true}, {"axb", "a!_b", "!", false},
		{"a!", "a!!", "!", true}, {"ab", "a!b", "!", true}, {"a!", "a!", "!", true}, {"%", "%%", "%", true}, {"xaXX", "%aX%", "X", false},
		{"mississippi", "%iss%ip%", "", true}, {"mississippi", "%iss%iss%iss%", "", false}, {"abab", "%ab_%", "", true},
		{strings.Repeat("a", 300) + "b", "%" + strings.Repeat("a_", 140) + "b", "", true},
		{strings.Repeat("a", 300) + "bc", "%" + strings.Repeat("a_", 140) + "b%", "", true},
		{strings.Repeat("a", 300) + "cc", "%" + strings.Repeat("a_", 140) + "b%", "", false},
	} {
		escape, _ := escapeOf(String(c.escape))
		if got := compilePattern(c.pattern, escape, c.escape != "").match(c.text); got != c.want {
			t.Errorf("%q LIKE %q ESCAPE %q: %v, want %v", c.text, c.pattern, c.escape, got, c.want)
		}
	}
}

func TestLikeOperands(t *testing.T) {
	params := map[string]Value{"pattern": String("bl__"), "escape": String("!"), "long": String("!!"), "number": Int32(1)}
	evalOn(t, messageM(), params, expect{"color LIKE @pattern", True}, expect{"quantity LIKE '1%'", Unknown}, expect{"color LIKE 5", Unknown},
		expect{"color LIKE color", True}, expect{"color LIKE 'b' + '%'", True}, expect{"note LIKE '50!%%' ESCAPE @escape", True},
		expect{"color LIKE p('color') + '%'", True}, expect{"note NOT LIKE '50!%%' ESCAPE @escape", False},
		expect{"'blue' LIKE 'b%'", True}, expect{"quantity LIKE color", Unknown})
	for _, text := range []string{"color LIKE 'b%' ESCAPE '!!'", "color LIKE 'b%' ESCAPE ''", "color LIKE 'b%' ESCAPE 1", "color LIKE 'b%' ESCAPE color",
		"'a' LIKE 'a' ESCAPE '!!'"} {
		evalFails(t, messageM(), text)
	}
	evalOn(t, messageM(), nil, expect{"missing LIKE 'b%' ESCAPE '!!'", Unknown})
}

// naiveLike is the definition of LIKE as a recursion over runes, by dynamic programming.
func naiveLike(text, pattern string, escape rune, escaped bool) bool {
	type item struct {
		r         rune
		any, many bool
	}
	var items []item
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch {
		case escaped && runes[i] == escape && i+1 < len(runes):
			i++
			items = append(items, item{r: runes[i]})
		case escaped && runes[i] == escape:
			items = append(items, item{r: escape})
		default:
			items = append(items, item{r: runes[i], any: runes[i] == '_', many: runes[i] == '%'})
		}
	}
	reach := []bool{true} // reach[i]: the items so far match the first i runes
	for range text {
		reach = append(reach, false)
	}
	for _, it := range items {
		next := make([]bool, len(reach))
		for i := range reach {
			if it.many {
				next[i] = reach[i] || i > 0 && next[i-1]
			} else if i > 0 && reach[i-1] {
				next[i] = it.any || []rune(text)[i-1] == it.r
			}
		}
		reach = next[:len([]rune(text))+1]
	}
	return reach[len([]rune(text))]
}

func TestLikeAgainstItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(alphabet string, most int) string {
		runes := make([]rune, random.IntN(most+1))
		for i := range runes {
			runes[i] = []rune(alphabet)[random.IntN(len([]rune(alphabet)))]
		}
		return string(runes)
	}
	matches := 0
	for range 20_000 {
		text, pattern := word("abé", 8), word("abé__%%!", 7)
		escaped := random.IntN(2) == 0
		got, want := compilePattern(pattern, '!', escaped).match(text), naiveLike(text, pattern, '!', escaped)
		if got != want {
			t.Fatalf("%q LIKE %q (escaped %v): %v, want %v", text, pattern, escaped, got, want)
		}
		if got {
			matches++
		}
	}
	if matches < 1000 {
		t.Errorf("only %d of the random patterns match, which proves little", matches)
	}
}

// Patterns on which a backtracking matcher would practically never end. Matching takes milliseconds, far below the bound.
func TestLikeTakesLinearTime(t *testing.T) {
	text := strings.Repeat("a", 1<<20)
	for _, pattern := range []string{
		strings.Repeat("%a", 500) + "%b", strings.Repeat("%a_", 300) + "b%", "%" + strings.Repeat("a", 500) + "b%",
		"%" + strings.Repeat("a", 500) + "_b%", strings.Repeat("%", 1000) + "b",
	} {
		start := time.Now()
		if compilePattern(pattern, 0, false).match(text) {
			t.Errorf("pattern %.20q... matches", pattern)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("pattern %.20q... takes %v", pattern, took)
		}
	}
}
