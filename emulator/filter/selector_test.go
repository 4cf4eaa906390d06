package filter

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func parseSelector(t testing.TB, text string) *Selector {
	t.Helper()
	s, err := ParseSelector(text)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return s
}

// selectorMessage is the message of the selectors' tests.
func selectorMessage() *testMessage {
	return &testMessage{
		user: []userProp{
			{"color", String("blue")}, {"Color", String("red")}, {"n", Int32(7)}, {"big", Int64(1 << 40)}, {"f", Float64(2.5)},
			{"yes", Bool(true)}, {"no", Bool(false)}, {"text", String("true")}, {"digits", String("7")}, {"_a$1", Int8(1)},
			{"a.b", Int8(2)}, {"none", Null()}, {"guid", guidValue()}, {"note", String("50% off_now")}, {"exists", Int8(3)},
		},
		system: map[SystemProperty]Value{
			JMSMessageID: String("plain"), JMSCorrelationID: String("ID:AMQP_UUID:11111111-2222-3333-4444-555555555555"),
			JMSPriority: Int32(4), JMSTimestamp: Int64(1000), JMSDeliveryMode: String("PERSISTENT"), Label: String("Order"),
			JMSXGroupID: String("g"), JMSXGroupSeq: UInt32(3), JMSXUserID: String("me"),
		},
	}
}

func TestJMS3_SelectorOutcomes(t *testing.T) {
	for text, want := range map[string]Tri{
		// names
		"color = 'blue'": True, "COLOR = 'blue'": Unknown, "Color = 'red'": True, `"color" = 'blue'`: True, `"a.b" = 2`: True,
		"_a$1 = 1": True, "exists = 3": True, "set IS NULL": True,
		// bare booleans
		"yes": True, "no": False, "NOT no": True, "NOT yes": False, "missing": Unknown, "NOT missing": Unknown, "text": False,
		"NOT text": True, "n": False, "TRUE": True, "NOT FALSE AND true": True, "(yes) AND (NOT (no))": True, "yes = TRUE": True,
		"yes <> FALSE": True, "(yes) = true": True, "yes OR missing": True, "((yes))": True, "no = missing": Unknown,
		// numbers
		"n = 7": True, "n = 7L": True, "n = 0x7": True, "n = 07": True, "n = 7.0": True, "n = 7d": True, "n = 7.0f": True,
		"n = 70e-1": True, "n < 7.5": True, "f > 2": True, "f = 2.5D": True, "n / 2 = 3": True, "n * 2 + 1 = 15": True,
		"-n = -7": True, "+n - -1 = 8": True, "n + 1 * 2 = 9": True, "(n + 1) * 2 = 16": True, "big = 0x10000000000": True,
		"n = -9223372036854775808": False, "n >= 7 AND n <= 7": True, "0xffL = 255": True, "010 = 8": True, ".5 = 5e-1": True,
		"n / 0 = 1": Unknown, "NOT (n / 0 = 1)": Unknown, "missing + 1 = 2": Unknown, "color + 1 = 2": Unknown,
		// BETWEEN
		"n BETWEEN 1 AND 7": True, "n NOT BETWEEN 1 AND 6": True, "n BETWEEN 8 AND 9": False, "missing BETWEEN 1 AND 2": Unknown,
		"NOT missing BETWEEN 1 AND 2": Unknown, "n BETWEEN n - 1 AND n + 1 AND yes": True, "color BETWEEN 1 AND 2": False,
		"color NOT BETWEEN 1 AND 2": True,
		// types that do not fit
		"n = 'blue'": False, "NOT (n = 'blue')": True, "n <> 'blue'": False, "digits = 7": False, "digits > 6": False,
		"NOT digits > 6": True, "color = 1": False, "color = TRUE": False, "yes = 'true'": False, "yes = 1": False,
		"color > Color": False, "yes > no": False, "guid = '00000000-0000-0000-0000-000000000000'": False,
		"guid IS NOT NULL": True, "n LIKE '7'": False, "n NOT LIKE '7'": True, "n IN ('7')": False, "n NOT IN ('7')": True,
		// missing ones
		"missing = 1": Unknown, "missing <> 1": Unknown, "NOT (missing = 1)": Unknown, "missing IS NULL": True,
		"missing IS NOT NULL": False, "none IS NULL": True, "none = 1": Unknown, "color IS NOT NULL": True,
		"missing LIKE 'x'": Unknown, "missing NOT LIKE 'x'": Unknown, "missing IN ('x')": Unknown, "missing NOT IN ('x')": Unknown,
		// texts
		"color <> 'red'": True, "color IN ('red', 'blue')": True, "color NOT IN ('red')": True, "color LIKE 'b%'": True,
		"color LIKE '_lue'": True, "color NOT LIKE 'r%'": True, "note LIKE '50!% off!_%' ESCAPE '!'": True,
		"note LIKE '50!%' ESCAPE '!'": False, "color = 'it''s'": False, "'blue' = color": True, "color = Color": False,
		// precedence, keywords in any case
		"no AND no OR yes": True, "yes or no and no": True, "not no and yes": True, "n between 1 and 9": True,
		"color like 'b%' and color is not null": True,
		// headers
		"JMSMessageID = 'plain'": True, "JMSMessageID = 'ID:AMQP_NO_PREFIX:plain'": True, "'ID:AMQP_NO_PREFIX:plain' = JMSMessageID": True,
		"JMSMessageID IN ('x', 'ID:AMQP_NO_PREFIX:plain')": True, "JMSMessageID LIKE 'ID:AMQP_NO_PREFIX:pl%'": True,
		"JMSMessageID LIKE 'ID:%'":                                  False,
		"JMSCorrelationID LIKE 'ID:AMQP_UUID:11111111-%'":           True,
		"JMSCorrelationID = '11111111-2222-3333-4444-555555555555'": False,
		"JMSPriority = 4":                                           True, "JMSPriority BETWEEN 0 AND 4": True, "JMSTimestamp < 2000": True, "JMSType = 'Order'": True,
		"JMSDeliveryMode = 'PERSISTENT'": True, "JMSXGroupID = 'g' AND JMSXGroupSeq = 3 AND JMSXUserID = 'me'": True,
		"JMSXDeliveryCount IS NULL": True, "JMSXDeliveryCount = 1": Unknown, "JMSReplyTo IS NOT NULL": False, "jmstype = 'Order'": Unknown,
	} {
		s := parseSelector(t, text)
		if got, err := s.Eval(selectorMessage()); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
		if e := s.Explain(selectorMessage()); e.Outcome != want {
			t.Errorf("%s: explained as %v, want %v", text, e.Outcome, want)
		}
		if s.String() != text {
			t.Errorf("the text of %s is %s", text, s)
		}
	}
}

func TestJMS3_SelectorsThatDoNotParse(t *testing.T) {
	for _, text := range []string{
		"", "  ", "a =", "= 1", "a b", "a = 1 b", "a.b = 1", "[a] = 1", "@a = 1", "a != 1", "a == 1", "a = NULL", "a <> NULL",
		"NULL", "a IS 1", "a IS NOT", "EXISTS(a)", "newid() = 1", "p('a') = 1", "sys.Label = 'x'", "a > 'x'", "a <= TRUE",
		"'x' < a", "a + 'x' = 1", "a * TRUE = 1", "-'x' = 1", "a IN (1)", "a IN ()", "a IN ('x'", "a IN (b)", "1 IN ('x')",
		"a + 1 IN ('x')", "a LIKE b", "a LIKE 1", "'x' LIKE 'x'", "a LIKE 'x' ESCAPE 'ab'", "a LIKE 'x' ESCAPE ''",
		"a LIKE 'x' ESCAPE b", "a BETWEEN 1", "a BETWEEN 1 OR 2", "a BETWEEN 'x' AND 'y'", "a BETWEEN 1 AND 'y'", "a NOT", "a NOT 1",
		"NOT", "NOT 1", "1", "'x'", "a + 1", "a AND 1", "a AND", "OR a", "(a", "a)", "()", "(a = 1) = TRUE", "a = (b = 1)", "a; b",
		"a = 'x", `"a = 1`, "a = 1x", "a = 09", "a = 0x", "a = 0xg", "a = 99999999999999999999", "a = 9223372036854775808",
		"a = 1e999", "a, b", "\xff", strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200), "BETWEEN = 1",
		"a = '" + strings.Repeat("x", maxTextLength) + "'",
	} {
		_, err := ParseSelector(text)
		var syntax *syntaxError
		if !errors.As(err, &syntax) && !errors.Is(err, errTooLong) {
			t.Errorf("%q: error %v, want one of the syntax", text, err)
		}
	}
}

func TestJMS3_SelectorExplains(t *testing.T) {
	e := parseSelector(t, "color = 'blue' AND digits > 6 AND NOT missing").Explain(selectorMessage())
	var all []string
	for _, r := range e.Reasons {
		all = append(all, r.String())
	}
	want := []string{"digits > 6 is false: digits is '7', string > long: the types do not fit", "missing = TRUE is unknown: missing is missing"}
	if e.Outcome != False || !slices.Equal(all, want) {
		t.Errorf("%v: %q, want %q", e.Outcome, all, want)
	}
}

// selectorText makes a random selector of a few names.
func (r *maker) selectorText(depth int) string {
	name := func() string {
		return choose(r, "color", "Color", "n", "yes", "missing", "JMSType", "JMSPriority", "JMSMessageID")
	}
	if depth > 0 && r.IntN(3) > 0 {
		return choose(r, "", "NOT ") + "(" + r.selectorText(depth-1) + choose(r, " AND ", " OR ") + r.selectorText(depth-1) + ")"
	}
	switch r.IntN(6) {
	case 0:
		return name() + choose(r, " IN ", " NOT IN ") + "('blue', 'Order')"
	case 1:
		return name() + choose(r, " BETWEEN ", " NOT BETWEEN ") + "1 AND 7"
	case 2:
		return name() + choose(r, " LIKE ", " NOT LIKE ") + choose(r, "'b%'", "'%e_'")
	case 3:
		return name() + choose(r, " IS NULL", " IS NOT NULL", "")
	}
	return name() + choose(r, " = ", " <> ") + choose(r, "'blue'", "7", "4", "TRUE", "color", "n + 0")
}

func choose(r *maker, from ...string) string { return from[r.IntN(len(from))] }

// Selectors beside SQL filters in one index: each that is true is found.
func TestJMS3_SelectorsInAnIndex(t *testing.T) {
	r := &maker{Rand: rand.New(rand.NewPCG(5, 6)), values: valuesOfAllKinds(t)}
	var index Index[int]
	all := make(map[int]Matcher)
	for id := range 300 {
		all[id] = parseSelector(t, r.selectorText(3))
		if id%3 == 0 {
			all[id] = parseFilter(t, choose(r, "color = 'blue'", "COLOR = 'red'", "sys.Label = 'Order'", "n IN (7)"), nil)
		}
		index.Add(id, all[id])
	}
	selected, skipped := 0, 0
	for range 200 {
		m := selectorMessage()
		for i := range m.user {
			if r.IntN(3) == 0 {
				m.user[i].value = m.user[r.IntN(len(m.user))].value
			}
		}
		found := candidates(t, &index, m)
		for id, x := range all {
			switch outcome, _ := x.Eval(m); {
			case outcome == True && !found[id]:
				t.Fatalf("%v is true, and no candidate", x)
			case outcome == True:
				selected++
			case !found[id]:
				skipped++
			}
		}
	}
	if selected < 5000 || skipped < 5000 {
		t.Errorf("%d selected, %d skipped: too few to prove anything", selected, skipped)
	}
}

// FuzzSelector: no text breaks the parser, an error has a place inside the text, the canonical form parses to an equal
// selector, evaluation agrees with its explanation, and the index finds what is true.
func FuzzSelector(f *testing.F) {
	for _, text := range []string{
		"color = 'blue' AND n BETWEEN 1 AND 0x7fL OR NOT yes", `"a.b" IN ('x', 'y''s') AND _a$1 <> 07`, "note LIKE '50!%_' ESCAPE '!'",
		"-(n + 1) * 2.5e1f / .5d >= big - 010", "JMSMessageID = 'ID:AMQP_NO_PREFIX:plain' AND JMSXGroupSeq IS NOT NULL", "((yes))",
		"TRUE OR FALSE", "a != 1", "a = 0x", "a BETWEEN", "NOT", "[a]", "1e", "\"",
	} {
		f.Add(text, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		s, err := ParseSelector(text)
		checkError(t, text, err)
		if err != nil {
			return
		}
		again, err := ParseSelector(canonical(s.tree))
		if errors.Is(err, errTooLong) {
			return
		}
		if err != nil || canonical(again.tree) != canonical(s.tree) {
			t.Fatalf("%q has the canonical form %q, which gives %v", text, canonical(s.tree), err)
		}
		r := &maker{Rand: rand.New(rand.NewPCG(seed, 7)), values: append(valuesOfAllKinds(t), String(text))}
		for _, m := range []Message{selectorMessage(), r.message()} {
			outcome, err := s.Eval(m)
			other, _ := again.Eval(m)
			if e := s.Explain(m); err != nil || e.Outcome != outcome || other != outcome || s.Selects(m) != (outcome == True) {
				t.Fatalf("%q: %v, %v; explained as %v, canonical %v", text, outcome, err, e.Outcome, other)
			}
			var index Index[int]
			if index.Add(1, s); outcome == True && !candidates(t, &index, m)[1] {
				t.Fatalf("%q is true, but no candidate", text)
			}
		}
	})
}
