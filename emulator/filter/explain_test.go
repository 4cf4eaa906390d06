package filter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// reasons returns the reasons of an explanation, a line each.
func reasons(e Explanation) (lines []string) {
	for _, r := range e.Reasons {
		line := r.Condition + " is " + r.Outcome.String()
		for _, s := range r.Seen {
			line += fmt.Sprintf("; %s %s %q", s.Name, s.Value.Kind(), s.Value)
		}
		if r.Note != "" {
			line += "; " + r.Note
		}
		lines = append(lines, line)
	}
	return lines
}

func TestExplainSaysWhichConditionsDecided(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"color = 'red'", []string{`color = 'red' is false; color string "blue"`}},
		{"color = 'blue'", []string{`color = 'blue' is true; color string "blue"`}},
		{"missing > 5", []string{`missing > 5 is unknown; missing missing ""`}},
		{"color > 5", []string{`color > 5 is unknown; color string "blue"; string > long: the types do not fit`}},
		{"color = 'red' AND quantity = 10 AND missing = 1", []string{`color = 'red' is false; color string "blue"`, `missing = 1 is unknown; missing missing ""`}},
		{"color = 'red' OR quantity = 11", []string{`color = 'red' is false; color string "blue"`, `quantity = 11 is false; quantity int "10"`}},
		{"color = 'red' OR quantity = 10", []string{`quantity = 10 is true; quantity int "10"`}},
		{"NOT (color = 'blue' OR quantity = 11)", []string{`color = 'blue' is true; color string "blue"`}},
		{"NOT (color = 'blue' AND missing = 1)", []string{`color = 'blue' is true; color string "blue"`, `missing = 1 is unknown; missing missing ""`}},
		{"NOT (color = 'red' AND missing = 1)", []string{`color = 'red' is false; color string "blue"`}},
		{"color NOT IN ('blue', 'red')", []string{`color NOT IN ('blue', 'red') is false; color string "blue"`}},
		{"quantity IN ('10', 'x')", []string{`quantity IN ('10', 'x') is unknown; quantity int "10"; int = string: the types do not fit`}},
		{"quantity LIKE '1%'", []string{`quantity LIKE '1%' is unknown; quantity int "10"; int LIKE string: the types do not fit`}},
		{"quantity * 2 + quantity < -missing", []string{`quantity * 2 + quantity < -missing is unknown; quantity int "10"; missing missing ""`}},
		{"p('sys.' + 'Label') = @p", []string{`property('sys.' + 'Label') = @p is false; property('sys.' + 'Label') string "Order"; @p long "5"`}},
		{"EXISTS(sys.To)", []string{`EXISTS(sys.To) is false; sys.To null ""`}},
		{"1 = 0", []string{`1 = 0 is false`}},
		// The evaluation ends at the first false condition, so the error behind it fails nothing.
		{"color = 'red' AND sys.Nope = 1", []string{`color = 'red' is false; color string "blue"`}},
		{"color = 'blue' AND sys.Nope = 1", []string{`sys.Nope = 1 is unknown; The system property 'Nope' does not exist.`}},
	} {
		e := parseFilter(t, c.text, map[string]Value{"p": Int64(5)}).Explain(messageM())
		if c.text == "p('sys.' + 'Label') = @p" {
			c.want[0] = strings.ReplaceAll(c.want[0], " is false", " is unknown") + "; string = long: the types do not fit"
		}
		if got := reasons(e); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestExplainCorrelation(t *testing.T) {
	e := correlation(t, map[SystemProperty]string{Label: "Order", To: "x"}, map[string]Value{"color": String("red"), "quantity": String("10")}).Explain(messageM())
	want := []string{`sys.To = 'x' is false; sys.To null ""`, `color = 'red' is false; color string "blue"`,
		`quantity = '10' is false; quantity int "10"; int = string: the types differ`}
	if got := reasons(e); e.Outcome != False || len(got) != len(want) || !containsAll(got, want) {
		t.Errorf("got %v %q, want %q", e.Outcome, got, want)
	}
	e = correlation(t, map[SystemProperty]string{Label: "Order"}, map[string]Value{"quantity": Int64(10)}).Explain(messageM())
	if got := reasons(e); e.Outcome != True || len(got) != 2 {
		t.Errorf("got %v %q, want both equalities, true", e.Outcome, got)
	}
}

func containsAll(got, want []string) bool {
	for _, w := range want {
		if !slices.Contains(got, w) {
			return false
		}
	}
	return true
}

// checkExplained compares an explanation with the evaluation, and its reasons with each other.
func checkExplained(t testing.TB, x Matcher, m Message) {
	t.Helper()
	want, wantErr := x.Eval(m)
	e := x.Explain(m)
	if (wantErr == nil) != (e.Err == nil) || wantErr == nil && e.Outcome != want || wantErr != nil && wantErr.Error() != e.Err.Error() {
		t.Fatalf("%v: evaluated %v, %v; explained %v, %v", x, want, wantErr, e.Outcome, e.Err)
	}
	if f, ok := x.(*Filter); ok && len(e.Reasons) == 0 {
		t.Fatalf("%v: %v without a reason", f, e.Outcome)
	}
	if e.Err != nil && (len(e.Reasons) != 1 || e.Reasons[0].Note != e.Err.Error()) {
		t.Fatalf("%v: failed with %v, for the reasons %q", x, e.Err, reasons(e))
	}
}

// TestExplainAgreesWithEval: random filters on random messages.
func TestExplainAgreesWithEval(t *testing.T) {
	r := &maker{Rand: rand.New(rand.NewPCG(7, 11)), values: []Value{String("blue"), String("10"), Int64(10), Int32(1), Float64(2.5), Bool(true), Null(), guidValue()}}
	seen := map[Tri]int{}
	for range 30_000 {
		m := r.message()
		f := r.filter(t)
		checkExplained(t, f, m)
		checkExplained(t, r.correlation(t), m)
		outcome, _ := f.Eval(m)
		seen[outcome]++
	}
	if len(seen) != 3 {
		t.Errorf("the filters gave %v", seen)
	}
}

// TestReasonsAreEnough: a filter that did not select a message does so when each of its reasons has the opposite outcome, and no error comes.
func TestReasonsAreEnough(t *testing.T) {
	for _, text := range []string{"color = 'red' AND (quantity = 11 OR missing = 1)", "NOT (color = 'blue' AND quantity = 10)", "color = 'red' OR NOT quantity = 10"} {
		f := parseFilter(t, text, nil)
		e := f.Explain(messageM())
		replaced := f.String()
		for _, r := range e.Reasons {
			to := TrueText
			if r.Outcome == True {
				to = FalseText
			}
			replaced = strings.Replace(replaced, r.Condition, to, 1)
		}
		if got, err := parseFilter(t, replaced, nil).Eval(messageM()); got != True || err != nil || e.Outcome == True {
			t.Errorf("%s (%v) became %s, which is %v, %v", text, e.Outcome, replaced, got, err)
		}
	}
}
