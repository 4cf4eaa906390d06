package export

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/emulator/filter"
	"minibus/mgmt/atom"
)

func TestParametersBecomeConstants(t *testing.T) {
	parameters := []atom.Parameter{{Key: "@s", Value: "it's @i"}, {Key: "@I", Value: int32(-7)}, {Key: "l", Value: int64(math.MaxInt64)},
		{Key: "@b", Value: true}, {Key: "@d", Value: 2.0}, {Key: "@e", Value: 1e-30}, {Key: "@t", Value: time.Now()}, {Key: "@m", Value: int64(math.MinInt64)},
		{Key: "@byte", Value: int8(-3)}, {Key: "@ulong", Value: uint64(math.MaxInt64)}, {Key: "@more", Value: uint64(math.MaxInt64) + 1}, {Key: "@float", Value: float32(0.1)},
		{Key: "@inf", Value: math.Inf(1)}, {Key: "@span", Value: atom.Minute}}
	for sql, want := range map[string]string{
		"a = @s":                       "a = 'it''s @i'",
		"a = @i - @I":                  "a = (-7) - (-7)",
		"a=@l":                         "a=9223372036854775807",
		"a = @b OR b = @d OR c = @e":   "a = TRUE OR b = 2.0 OR c = 1E-30",
		"[@i] = '@i''@i' AND b IN(@i)": "[@i] = '@i''@i' AND b IN((-7))",
		`"@i" = @i AND [a]]@i] = 1`:    `"@i" = (-7) AND [a]]@i] = 1`,
		"a = @byte OR b = @ulong":      "a = (-3) OR b = 9223372036854775807",
		"a = @float":                   "a = 0.10000000149011612",
		"a = @more":                    "",
		"a = @t":                       "",
		"a = @m":                       "",
		"a = @inf":                     "",
		"a = @span":                    "",
		"a = @unknown":                 "",
		"a = '" + strings.Repeat("x", maxExpression) + "'": "",
	} {
		got, ok := inline(sql, parameters)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", sql, got, ok)
		}
		if !ok {
			continue
		}
		if _, err := filter.ParseFilter(got, nil); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}

func TestCorrelationFiltersOnOtherThanTextBecomeSQL(t *testing.T) {
	r := atom.Rule{Name: "r", Filter: atom.Filter{Kind: atom.CorrelationFilter, Correlation: []atom.Test{{Property: "Label", Value: "it's"}},
		Properties: []atom.Parameter{{Key: "a]b", Value: int64(5)}, {Key: "c d", Value: false}, {Key: "f", Value: -1.5}}}}
	p := plain(r)
	if want := "sys.Label = 'it''s' AND [a]]b] = 5 AND [c d] = FALSE AND [f] = (-1.5)"; p.Filter.Kind != atom.SQLFilter || p.Filter.SQL != want {
		t.Errorf("got %+v", p)
	}
	if _, err := filter.ParseFilter(p.Filter.SQL, nil); err != nil {
		t.Error(err)
	}
	for range 100 {
		r.Filter.Properties = append(r.Filter.Properties, atom.Parameter{Key: "more", Value: int64(1)})
	}
	if p := plain(r); p.Filter.Kind != atom.FalseFilter || p.Action != "" {
		t.Errorf("too long: %+v", p)
	}
}

// A template wants at least one condition in a correlation filter.
func TestCorrelationFiltersWithoutAConditionBecomeSQL(t *testing.T) {
	r := atom.Rule{Name: "r", Filter: atom.Filter{Kind: atom.CorrelationFilter}, Action: atom.Action{SQL: "SET a = 1"}}
	if p := plain(r); p.Filter.Kind != atom.SQLFilter || p.Filter.SQL != "1=1" || p.Action != "SET a = 1" || len(p.Notes) != 1 {
		t.Errorf("a template has %+v", p)
	}
}

// Azure makes $Default itself, so that Terraform could not create it in any spelling. Untouched it is left out; changed, it gets a
// name of its own and the module says why.
func TestTerraformNeverGetsTheDefaultRule(t *testing.T) {
	always := atom.Filter{Kind: atom.TrueFilter, SQL: "1=1"}
	for name, tt := range map[string]struct {
		rules []atom.Rule
		want  []string // names of the rules
	}{
		"untouched":            {[]atom.Rule{{Name: "$Default", Filter: always}}, nil},
		"untouched, respelled": {[]atom.Rule{{Name: "$dEFAULT", Filter: always}}, nil},
		"narrowed":             {[]atom.Rule{{Name: "$default", Filter: atom.Filter{Kind: atom.SQLFilter, SQL: "a = 1"}}}, []string{"Default"}},
		"with an action":       {[]atom.Rule{{Name: "$DEFAULT", Filter: always, Action: atom.Action{SQL: "SET a = 1"}}}, []string{"Default"}},
		"beside others":        {[]atom.Rule{{Name: "$default", Filter: always}, {Name: "DEFAULT", Filter: always}}, []string{"DEFAULT"}},
		"changed beside others": {[]atom.Rule{{Name: "$default", Filter: atom.Filter{Kind: atom.SQLFilter, SQL: "a = 1"}}, {Name: "DEFAULT", Filter: always}},
			[]string{"Default_", "DEFAULT"}},
		"no rules": {nil, []string{"Default"}},
	} {
		n := &Namespace{Topics: []Topic{{Path: "t", Subscriptions: []Subscription{{Name: "s", Rules: tt.rules}}}}}
		data, _, err := Write(n, FormatTerraform)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if got := strings.Count(text, "azurerm_servicebus_subscription_rule"); got != len(tt.want) {
			t.Errorf("%s: %d rules in\n%s", name, got, text)
		}
		for _, want := range tt.want {
			if !strings.Contains(text, `= "`+want+`"`) {
				t.Errorf("%s: no rule is called %s in\n%s", name, want, text)
			}
		}
		if renamed := slices.ContainsFunc(tt.want, func(s string) bool { return strings.HasPrefix(s, "Default") }); strings.Contains(text, "Terraform can't create") != renamed {
			t.Errorf("%s: the comment in\n%s", name, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(strings.ToLower(line), "$default") && !strings.HasPrefix(line, "#") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// A copy must not take more than its original, nor less: a module says how $Default goes, or makes it take nothing.
func TestACopyHasNoDefaultRuleThatItsOriginalLacks(t *testing.T) {
	always := atom.Filter{Kind: atom.TrueFilter, SQL: "1=1"}
	untouched, some := atom.Rule{Name: "$Default", Filter: always}, atom.Rule{Name: "some", Filter: atom.Filter{Kind: atom.SQLFilter, SQL: "a = 1"}}
	write := func(f Format, rules ...[]atom.Rule) (string, string) {
		n := &Namespace{Topics: []Topic{{Path: "t"}}}
		for i, r := range rules {
			n.Topics[0].Subscriptions = append(n.Topics[0].Subscriptions, Subscription{Name: string(rune('a' + i)), Rules: r})
		}
		data, warnings, err := Write(n, f)
		if err != nil {
			t.Fatal(err)
		}
		return string(data), strings.Join(warnings, "\n")
	}
	const feature = "auto_delete_subscription_default_rule = true"
	text, warnings := write(FormatTerraform, []atom.Rule{some}, []atom.Rule{some}, []atom.Rule{some}, []atom.Rule{some}, []atom.Rule{untouched})
	if !strings.Contains(text, "#       servicebus { "+feature) || !strings.Contains(warnings, "t/a, t/b, t/c and 1 more: ") || !strings.Contains(warnings, feature) {
		t.Errorf("%s in\n%s", warnings, text)
	}
	if !strings.Contains(text, `"t_e_Default"`) { // the provider deletes $Default of all
		t.Errorf("t/e takes nothing in\n%s", text)
	}
	text, warnings = write(FormatTerraform, []atom.Rule{untouched, some}, []atom.Rule{untouched})
	if strings.Contains(text, "Default") || warnings != "" || strings.Count(text, "azurerm_servicebus_subscription_rule") != 1 {
		t.Errorf("%s in\n%s", warnings, text)
	}
	text, warnings = write(FormatBicep, []atom.Rule{some}, []atom.Rule{untouched}, []atom.Rule{untouched, some})
	if strings.Count(text, "name: '$Default'") != 2 || strings.Count(text, "sqlExpression: '1=0'") != 1 || !strings.Contains(warnings, "t/a: $Default takes nothing") {
		t.Errorf("%s in\n%s", warnings, text)
	}
}

// A rule whose action can't be expressed must not let messages through unchanged.
func TestARuleThatCantBeSaidTakesNothing(t *testing.T) {
	r := atom.Rule{Name: "r", Filter: atom.Filter{Kind: atom.TrueFilter, SQL: "1=1"},
		Action: atom.Action{SQL: "SET x = @t", Parameters: []atom.Parameter{{Key: "@t", Value: time.Now()}}}}
	if p := plain(r); p.Filter.Kind != atom.FalseFilter || p.Action != "" || len(p.Notes) != 1 {
		t.Errorf("got %+v", p)
	}
}

func TestTextsAreQuoted(t *testing.T) {
	const text = "a'b\"c\\d\n\r\t${e}%{f}$g\u0085h\u00e4\U000e0001"
	if got, want := bicepString(text), `'a\'b"c\\d\n\r\t\${e}%{f}$g\u{85}hä\u{e0001}'`; got != want {
		t.Errorf("Bicep %s", got)
	}
	if got, want := hclString(text), `"a'b\"c\\d\n\r\t$${e}%%{f}$g\u0085hä\U000e0001"`; got != want {
		t.Errorf("HCL %s", got)
	}
}

func TestIdentifiersAreUnique(t *testing.T) {
	n := &Namespace{}
	for _, path := range []string{"a-b", "a.b", "A_B", "a_b_2", "2", "_2", strings.Repeat("x", 260), strings.Repeat("x", 259) + "y"} {
		n.Queues = append(n.Queues, Queue{Path: path})
	}
	seen := map[string]bool{}
	for _, x := range newPlan(n, FormatTerraform).nodes {
		key := strings.ToLower(x.id)
		if seen[key] || len(x.id) > 210 || x.id[0] >= '0' && x.id[0] <= '9' {
			t.Errorf("%s: %s", x.full, x.id)
		}
		seen[key] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d resources", len(seen))
	}
}

// An older version allowed a queue with the path of a subscription. No service accepts it, so it is left out, with a warning.
func TestEntitiesCalledAsSubscriptionsAreLeftOut(t *testing.T) {
	r := &reader{found: &Namespace{}}
	for name, kept := range map[string]bool{"t/Subscriptions/s": false, "t/subscriptions/s/Rules/r": false, "t/s": true} {
		for kind, take := range map[string]func(entry){"queue": r.queue, "topic": r.topic} {
			*r.found = Namespace{}
			take(entry{name: name, description: &atom.Element{}})
			if got := len(r.found.Queues) + len(r.found.Topics); (got == 1) != kept || (len(r.found.Warnings) == 0) != kept {
				t.Errorf("the %s %s: %+v", kind, name, r.found)
			}
		}
	}
}
