package filter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The compiled and indexed evaluation against the naive one, on random filters and messages: every rule that is true or
// fails must be a candidate, once, and compiling must not change an outcome.
func TestIndexAgainstNaiveEvaluation(t *testing.T) {
	r := &maker{Rand: rand.New(rand.NewPCG(7, 11)), values: valuesOfAllKinds(t)}
	var index Index[int]
	rules := make(map[int]Matcher)
	selected, skipped, failed := 0, 0, 0
	for round := range 4000 {
		id := r.IntN(60)
		switch r.IntN(4) {
		case 0:
			index.Remove(id)
			delete(rules, id)
		case 1:
			rules[id] = r.correlation(t)
			index.Add(id, rules[id])
		default:
			rules[id] = r.filter(t)
			index.Add(id, rules[id])
		}
		if index.Len() != len(rules) {
			t.Fatalf("round %d: the index holds %d rules, want %d", round, index.Len(), len(rules))
		}
		m := r.message()
		found := candidates(t, &index, m)
		for id, rule := range rules {
			var outcome Tri
			var err error
			if f, ok := rule.(*Filter); ok {
				outcome, err = checkAgainstNaive(t, f, m)
			} else {
				outcome, err = rule.Eval(m)
			}
			if (outcome == True || err != nil) && !found[id] {
				t.Fatalf("round %d: %v is %v, %v but no candidate for %v", round, rule, outcome, err, m)
			}
			switch {
			case err != nil:
				failed++
			case outcome == True:
				selected++
			case !found[id]:
				skipped++
			}
		}
	}
	if selected < 5000 || skipped < 30_000 || failed < 3000 {
		t.Errorf("%d selected, %d skipped, %d failed: too few to prove anything", selected, skipped, failed)
	}
	for id := range rules {
		index.Remove(id)
	}
	if len(index.shelves)+len(index.order)+len(index.always) != 0 {
		t.Error("an empty index still holds something")
	}
}

// candidates collects the candidates for a message.
func candidates(t *testing.T, index *Index[int], m Message) map[int]bool {
	t.Helper()
	found := make(map[int]bool)
	index.Candidates(m, func(id int) bool {
		if found[id] {
			t.Errorf("rule %d comes twice", id)
		}
		found[id] = true
		return true
	})
	return found
}

// The conditions of filters; a filter that can fail has none.
func TestRequired(t *testing.T) {
	params := map[string]Value{"n": Int32(10)}
	for text, want := range map[string]string{
		"color = 'blue'":                                   "[[color=blue]]",
		"'blue' = color":                                   "[[color=blue]]",
		"sys.Label = 'x' AND color = 'y'":                  "[[sys.Label=x] [color=y]]",
		"quantity = @n":                                    "[[quantity=10]]",
		"quantity = 2 * 5":                                 "[[quantity=10]]",
		"color IN ('a', 'b', NULL)":                        "[[color=a color=b]]",
		"color = 'a' OR color = 'b'":                       "[[color=a color=b]]",
		"color = 'a' OR sys.To = 'b'":                      "[[color=a sys.To=b]]",
		"(color = 'a' OR color = 'b') AND n > 5 AND m = 1": "[[color=a color=b] [m=1]]",
		"(a IN (1, 2) AND b = 1) OR c = 3":                 "[[b=1 c=3]]",
		"NOT NOT color = 'a'":                              "[[color=a]]",
		"p('color') = 'a'":                                 "[[color=a]]",
		"color = NULL":                                     "[[]]",
		FalseText:                                          "[[]]",
		"1=0 OR color = 'a'":                               "[[color=a]]",
		TrueText:                                           "[]",
		"color = 'a' OR n > 5":                             "[]",
		"NOT color = 'a'":                                  "[]",
		"color <> 'a'":                                     "[]",
		"color NOT IN ('a')":                               "[]",
		"color = other":                                    "[]",
		"color IN ('a', other)":                            "[]",
		"a IN (1) AND b + 1 = 2":                           "[]",
		"a = 1 AND sys.Nope = 1":                           "[]",
		"a = 1 AND EXISTS(sys.Nope)":                       "[]",
		"a = 1 AND p(b) = 1":                               "[]",
		"a = 1 AND p('sys.Nope') = 1":                      "[]",
		"a = 1 AND 1 / 0 = 1":                              "[]",
		"a = 1 AND -b = 1":                                 "[]",
		"a = 1 AND b LIKE 'x' ESCAPE '!!'":                 "[]",
		"a = 1 AND b LIKE 'x' ESCAPE c":                    "[]",
	} {
		var got []string
		for _, condition := range parseFilter(t, text, params).needs() {
			var choices []string
			for _, e := range condition {
				name := e.Property.User
				if !e.Property.IsUser {
					name = "sys." + e.Property.System.String()
				}
				choices = append(choices, name+"="+e.Value.String())
			}
			got = append(got, fmt.Sprint(choices))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s requires %v, want %s", text, got, want)
		}
	}
}

// The index uses the condition that tells rules apart, wherever it is in the filter.
func TestIndexFilesUnderWhatTellsRulesApart(t *testing.T) {
	var index Index[int]
	for i := range 1000 {
		index.Add(i, parseFilter(t, fmt.Sprintf("sys.Label = 'order' AND region = %d AND active = TRUE", i), nil))
	}
	m := &testMessage{user: []userProp{{"region", Int64(7)}, {"active", Bool(true)}}, system: map[SystemProperty]Value{Label: String("order")}}
	found := candidates(t, &index, m)
	if !found[7] || len(found) > 4 {
		t.Errorf("%d candidates %v, want the one that matches and few others", len(found), found)
	}
}

// The index matches equal values of different types, and finds a rule with several values once.
func TestIndexFollowsComparison(t *testing.T) {
	var index Index[string]
	index.Add("ten", parseFilter(t, "n = 10", nil))
	index.Add("several", parseFilter(t, "n IN (10, 10.0, 11) OR s = 'x'", nil))
	index.Add("guid", parseFilter(t, "id = '"+guidText+"'", nil))
	index.Add("strict", correlation(t, nil, map[string]Value{"n": Int32(10)}))
	index.Add("never", parseFilter(t, FalseText, nil))
	index.Add("always", parseFilter(t, "n > 5", nil))
	find := func(user ...userProp) []string {
		var found []string
		index.Candidates(&testMessage{user: user}, func(id string) bool {
			found = append(found, id)
			return true
		})
		slices.Sort(found)
		return found
	}
	for _, n := range []Value{Int32(10), UInt8(10), Int64(10), UInt64(10), Float32(10), Float64(10), decimal(t, "10"), Char(10)} {
		if got := find(userProp{"N", n}, userProp{"s", String("x")}); !slices.Equal(got, []string{"always", "several", "strict", "ten"}) {
			t.Errorf("candidates for a %s are %v", n.Kind(), got)
		}
	}
	if got := find(userProp{"id", guidValue()}, userProp{"n", String("10")}); !slices.Equal(got, []string{"always", "guid"}) {
		t.Errorf("candidates for a Guid are %v", got)
	}
	stopped := 0
	index.Candidates(&testMessage{user: []userProp{{"n", Int32(10)}}}, func(string) bool {
		stopped++
		return stopped < 2
	})
	if stopped != 2 {
		t.Errorf("the walk went on to %d rules after it was stopped", stopped)
	}
	index.Add("ten", parseFilter(t, "n = 12", nil))
	if got := find(userProp{"n", Int32(10)}); slices.Contains(got, "ten") {
		t.Errorf("a replaced rule is still found: %v", got)
	}
}
