package filter

import (
	"testing"
	"time"

	"minibus/internal/dotnet"
)

// Test vectors of the rule language, one test for each.

func TestVector1_TrueAndFalse(t *testing.T) {
	evalM(t, expect{TrueText, True}, expect{FalseText, False}, expect{"1 = 1", True})
}

func TestVector2_AndOfEqualities(t *testing.T) {
	evalM(t, expect{"color='blue' AND quantity=10", True}, expect{"color='blue' AND quantity=11", False})
}

func TestVector3_NamesIgnoreCase(t *testing.T) { evalM(t, expect{"COLOR = 'blue'", True}) }

func TestVector4_ValuesKeepCase(t *testing.T) { evalM(t, expect{"color = 'Blue'", False}) }

func TestVector5_Scopes(t *testing.T) {
	evalM(t, expect{"user.color = 'blue' AND sys.label = 'Order'", True}, expect{"label = 'Order'", Unknown})
}

func TestVector6_DoubleQuotesAreNames(t *testing.T) { evalM(t, expect{`color = "blue"`, Unknown}) }

func TestVector7_MissingIsUnknown(t *testing.T) {
	evalM(t, expect{"missing = 1", Unknown}, expect{"NOT missing = 1", Unknown}, expect{"missing <> 1", Unknown})
}

func TestVector8_UnknownOrTrue(t *testing.T) { evalM(t, expect{"missing = 1 OR quantity = 10", True}) }

func TestVector9_UnknownAndFalse(t *testing.T) {
	evalM(t, expect{"missing = 1 AND quantity = 11", False})
}

func TestVector10_IsNull(t *testing.T) {
	evalM(t, expect{"missing IS NULL", True}, expect{"empty IS NULL", True}, expect{"color IS NOT NULL", True},
		expect{"color IS NULL", False}, expect{"missing IS NOT NULL", False})
}

func TestVector11_Exists(t *testing.T) {
	evalM(t, expect{"EXISTS(color)", True}, expect{"EXISTS(missing)", False}, expect{"NOT EXISTS(missing)", True},
		expect{"exists ( empty )", True}, expect{"EXISTS(sys.Label)", True}, expect{"EXISTS(sys.To)", False})
}

func TestVector12_SystemPropertyWithoutValue(t *testing.T) {
	evalM(t, expect{"sys.To IS NULL", True}, expect{"sys.To = 'x'", Unknown})
}

func TestVector13_UnknownSystemProperty(t *testing.T) {
	err := evalFails(t, messageM(), "sys.Nope = 1")
	if err.Exception != FilterException || err.Detail != "The system property 'Nope' does not exist." {
		t.Errorf("error %+v, want a FilterException that names the property", err)
	}
}

func TestVector14_In(t *testing.T) {
	evalM(t, expect{"quantity IN (1, 10)", True}, expect{"color NOT IN ('red','green')", True},
		expect{"missing NOT IN (1)", Unknown})
}

func TestVector15_LikeAndEscape(t *testing.T) {
	evalM(t, expect{"note LIKE '50%'", True}, expect{`note LIKE '50\% off\_now' ESCAPE '\'`, True}, expect{"note LIKE '50_'", False})
}

func TestVector16_Like(t *testing.T) {
	evalM(t, expect{"color LIKE 'b_ue'", True}, expect{"color NOT LIKE 'r%'", True}, expect{"color LIKE 'B%'", False})
}

func TestVector17_Arithmetic(t *testing.T) {
	evalM(t, expect{"quantity + 5 * 2 = 20", True}, expect{"(quantity + 5) * 2 = 30", True}, expect{"-quantity < 0", True})
}

func TestVector18_Division(t *testing.T) {
	evalM(t, expect{"quantity / 4 = 2", True}, expect{"quantity % 4 = 2", True}, expect{"quantity / 4.0 = 2.5", True})
}

func TestVector19_NumbersOfDifferentTypes(t *testing.T) {
	evalM(t, expect{"price > 2", True}, expect{"price = 2.5E0", True}, expect{"quantity > 9.99", True})
}

func TestVector20_TextIsNoNumber(t *testing.T) {
	evalM(t, expect{"txt > 10", Unknown}, expect{"txt = 11", Unknown}, expect{"txt = '11'", True})
}

func TestVector21_Booleans(t *testing.T) {
	evalM(t, expect{"active = TRUE", True}, expect{"active <> false", True}, expect{"active = FALSE", False})
}

func TestVector22_DatesAndParameters(t *testing.T) {
	params := map[string]Value{
		"@ts": TimeSpan(2 * dotnet.Hour),
		"@d":  DateTime(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC).UnixMilli()),
	}
	evalOn(t, messageM(), params, expect{"d2 - d1 <= @ts", True}, expect{"d2 - d1 < @ts", False}, expect{"d1 < @d", True},
		expect{"((d2-d1)) <= @ts", True})
}

func TestVector23_PropertyFunction(t *testing.T) {
	params := map[string]Value{"@n": String("quantity")}
	evalOn(t, messageM(), params, expect{"property('color') = 'blue'", True}, expect{"p(@n) = 10", True},
		expect{"PROPERTY(@N) = 10", True})
}

func TestVector24_DelimitedNames(t *testing.T) {
	evalM(t, expect{"[color] = 'blue'", True}, expect{`"quantity" = 10`, True})
}

func TestVector25_QuoteInString(t *testing.T) { evalM(t, expect{"color = 'it''s'", False}) }

func TestVector26_NotBindsTighterThanAnd(t *testing.T) {
	evalM(t, expect{"NOT color = 'red' AND quantity = 10", True}, expect{"NOT color = 'red' AND quantity = 11", False})
}

func TestVector27_AndBindsTighterThanOr(t *testing.T) {
	evalM(t, expect{"color = 'red' OR color = 'blue' AND quantity = 11", False},
		expect{"color = 'blue' OR color = 'red' AND quantity = 11", True})
}

func TestVector28_ShortCircuit(t *testing.T) {
	evalM(t, expect{"quantity = 10 OR sys.Nope = 1", True}, expect{"quantity = 11 AND sys.Nope = 1", False})
	evalFails(t, messageM(), "quantity = 11 OR sys.Nope = 1")
	evalFails(t, messageM(), "missing = 1 AND sys.Nope = 1") // unknown decides nothing
}

func TestVector29_DivisionByZero(t *testing.T) {
	evalFails(t, messageM(), "quantity / 0 = 1")
	evalFails(t, messageM(), "quantity % 0 = 1")
	evalM(t, expect{"price / 0 > 1000000", True}) // floating point knows infinity
}

func TestVector30_SyntaxErrors(t *testing.T) {
	for text, mention := range map[string]string{
		"color == 'blue'": "unexpected '='",
		"color":           "unexpected EOF, expecting COMPARISON",
		"AND":             "unexpected AND, expecting NOT, or EXISTS",
		"color LIKE":      "unexpected EOF, expecting IDENTIFIER, or CONSTANT",
		"foo.bar = 1":     "unexpected '.'",
		"color IN ()":     "unexpected ')'",
		"":                "unexpected EOF",
		" \r\n\t":         "unexpected EOF",
	} {
		parseFails(t, text, mention)
	}
}

func TestVectorA1_ThreeStatements(t *testing.T) {
	m := apply(t, "SET quantity = quantity / 2; REMOVE color; SET sys.CorrelationId = 'low';")
	wantUser(t, m, "quantity", Int32(5))
	wantNoUser(t, m, "color")
	wantUser(t, m, RuleNameProperty, String("rule"))
	if got := m.system[CorrelationID]; got != String("low") {
		t.Errorf("CorrelationId = %q, want low", got)
	}
}

func TestVectorA2_NoSeparator(t *testing.T) {
	m := apply(t, "SET a=1 SET b='x'")
	wantUser(t, m, "a", Int64(1))
	wantUser(t, m, "b", String("x"))
}

func TestVectorA3_Newid(t *testing.T) {
	first, _ := apply(t, "SET id = newid()").User("id")
	second, _ := apply(t, "SET id = newid()").User("id")
	if first.Kind() != KindGUID || second.Kind() != KindGUID || first == second {
		t.Errorf("ids %v and %v, want two different Guids", first, second)
	}
}

func TestVectorA4_MixedArithmetic(t *testing.T) {
	wantUser(t, apply(t, "SET total = quantity * price"), "total", Float64(25))
}

func TestVectorA5_UnknownChangesNothing(t *testing.T) {
	m := apply(t, "SET x = missing + 1 SET color = missing")
	wantNoUser(t, m, "x")
	wantUser(t, m, "color", String("blue"))
}

func TestVectorA6_SystemPropertiesThatCannotBeSet(t *testing.T) {
	for _, text := range []string{"SET sys.Foo = 1", "SET sys.SequenceNumber = 1", "SET sys.body = 'x'", "REMOVE sys.Label"} {
		applyFails(t, messageM(), text)
	}
}

func TestVectorA7_RemoveMissing(t *testing.T) { wantNoUser(t, apply(t, "REMOVE missing"), "missing") }

func TestVectorA8_SyntaxErrors(t *testing.T) {
	for text, mention := range map[string]string{
		"UPDATE a = 1": "syntax error, unexpected IDENTIFIER, expecting SET, or REMOVE",
		"SET = 1":      "syntax error, unexpected '=', expecting IDENTIFIER",
		"SET a":        "syntax error, unexpected EOF, expecting '='",
		"quantity = 1": "syntax error, unexpected IDENTIFIER, expecting SET, or REMOVE",
		"":             "syntax error, unexpected EOF, expecting SET, or REMOVE",
		"SET a = 1,":   "syntax error, unexpected EOF, expecting SET, or REMOVE",
	} {
		_, err := ParseAction(text, nil)
		checkSyntaxError(t, text, mention, err)
	}
}

func TestVectorCorrelation(t *testing.T) {
	label := func(s string) map[SystemProperty]string { return map[SystemProperty]string{Label: s} }
	for _, c := range []struct {
		name   string
		system map[SystemProperty]string
		user   map[string]Value
		want   bool
	}{
		{"label and property", label("Order"), map[string]Value{"color": String("blue")}, true},
		{"label in another case", label("order"), nil, false},
		{"text against a number", nil, map[string]Value{"quantity": String("10")}, false},
		{"int against int", nil, map[string]Value{"quantity": Int32(10)}, true},
		{"long against int", nil, map[string]Value{"quantity": Int64(10)}, true},
		{"unset system property", map[SystemProperty]string{To: "x"}, nil, false},
	} {
		filter, err := NewCorrelation(c.system, c.user)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := filter.Match(messageM()); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
