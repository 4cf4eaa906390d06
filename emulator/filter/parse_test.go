package filter

import (
	"errors"
	"strings"
	"testing"
)

// Filters that the live service is known to have accepted, and the language's spellings.
func TestAcceptedFilters(t *testing.T) {
	params := map[string]Value{"@stringVar": String("s"), "@intVar": Int32(1), "@floatVar": Float64(1), "@dateTimeVar": DateTime(0),
		"@boolVar": Bool(true), "@param1": Int64(1), "@param2": Int64(2), "@name": String("color"), "@t": TimeSpan(1), "@unused": Null()}
	for _, text := range []string{
		"MessageID=rule1",
		"SomeProperty LIKE 'O%'",
		"MessageID=@stringVar OR MessageID=@intVar OR MessageID=@floatVar OR MessageID=@dateTimeVar OR MessageID=@boolVar",
		"Priority = @param1 AND Level = @param2",
		"PROPERTY(@name) = 'x'",
		"PROPERTY(intProperty) = 1",
		"(priority = 1 OR priority = 3) AND (sys.label LIKE '%String1')",
		"sys.To=[parameters('bar')] OR sys.MessageId IS NULL",
		"((a = 1))", "(a + 1) * 2 > 3", "((DateTime2-DateTime1)) <= @t", "(((a)))=(((1)))",
		"(a) IN ((1), (2 + 3))", "(a = 1) AND ((b)) = 2", "NOT (NOT (a = 1))", "(NOT a = 1) OR (EXISTS(b))",
		"@name IS NULL", "newid() IS NOT NULL", "newid ( ) <> @name",
		"newid = 1 AND property = 2 AND p = 3 AND sys = 4 AND user = 5", "p IN (1)", "user.sys = sys.To",
		"sys . label = 'x'", "[sys.label] = 'x'", `"http://x/y" = 'account'`, "[HR-EmployeeID] = 1", "[a]]b] = 1", `"a""b" = 1`,
		"[NServiceBus.EnclosedMessageTypes] LIKE '%X%'",
		"a=.5 AND b=5. AND c=1e3 AND d=1.5E-3 AND e=2.E+1", "a=1 and b=2 Or nOt c=3", "a\t=\r\n1\u00a0", "änderung_9 = 'é'",
		"a = -9223372036854775808", "a = - - + 1", "a - -1 = 2", "a = 'two\nlines'", "x IS not NULL", "x not in (1)", "x Not Like 'a' escape 'b'",
		"a <> 1 AND b != 2 AND c <= 3 AND d >= 4 AND e < 5 AND f > 6", "1E5 = a",
		"a = 1 -- b", // there are no comments
	} {
		if _, err := ParseFilter(text, params); err != nil {
			t.Errorf("parse %q: %v", text, err)
		}
	}
}

func TestAcceptedActions(t *testing.T) {
	params := map[string]Value{"a": Int64(1), "b": Int64(2)}
	for _, text := range []string{
		"SET MessageID=@a SET MessageID=@b",
		"SET quantity = quantity / 2; REMOVE priority;SET sys.CorrelationId = 'low';",
		"SET a = 1, SET b = 2", "SET a = 1;, REMOVE b", "set [a b] = NULL remove user.c",
		"SET sys.body = 1",
	} {
		if _, err := ParseAction(text, params); err != nil {
			t.Errorf("parse %q: %v", text, err)
		}
	}
}

// The place of an error, its name for the token and the expected tokens.
func TestSyntaxErrorPositions(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
		token        string
		detail       string
	}{
		{"AND a = 1", 1, 0, "AND", "syntax error, unexpected AND, expecting NOT, or EXISTS, or IDENTIFIER, or CONSTANT, or PARAMETER, or '('"},
		{"a = 1 b", 1, 6, "b", "syntax error, unexpected IDENTIFIER, expecting AND, or OR, or EOF"},
		{"a = 1\n  AND = 2", 2, 6, "=", "syntax error, unexpected '=', expecting NOT, or EXISTS, or IDENTIFIER, or CONSTANT, or PARAMETER, or '('"},
		{"a = 1\r\nAND\n\n  OR", 4, 2, "OR", "syntax error, unexpected OR, expecting NOT, or EXISTS, or IDENTIFIER, or CONSTANT, or PARAMETER, or '('"},
		{"'😀' ='x' x", 1, 10, "x", "syntax error, unexpected IDENTIFIER, expecting AND, or OR, or EOF"},
		{"IsActive", 1, 8, "", "syntax error, unexpected EOF, expecting COMPARISON, or IS, or NOT, or IN, or LIKE"},
		{"TRUE", 1, 4, "", "syntax error, unexpected EOF, expecting COMPARISON, or IS, or NOT, or IN, or LIKE"},
		{"(a) AND b = 1", 1, 4, "AND", "syntax error, unexpected AND, expecting COMPARISON, or IS, or NOT, or IN, or LIKE"},
		{"a = 1 OR b", 1, 10, "", "syntax error, unexpected EOF, expecting COMPARISON, or IS, or NOT, or IN, or LIKE"},
		{"(a = 1) = TRUE", 1, 8, "=", "syntax error, unexpected '=', expecting AND, or OR, or EOF"},
		{"(a = 1) + 1 = 2", 1, 8, "+", "syntax error, unexpected '+', expecting AND, or OR, or EOF"},
		{"1 + (a = 1) = 2", 1, 7, "=", "syntax error, unexpected '=', expecting ')'"},
		{"a = b = c", 1, 6, "=", "syntax error, unexpected '=', expecting AND, or OR, or EOF"},
		{"a NOT = 1", 1, 6, "=", "syntax error, unexpected '=', expecting IN, or LIKE"},
		{"a IS 1", 1, 5, "1", "syntax error, unexpected INTEGER, expecting NULL"},
		{"a IN 1", 1, 5, "1", "syntax error, unexpected INTEGER, expecting '('"},
		{"a IN (1,)", 1, 8, ")", "syntax error, unexpected ')', expecting IDENTIFIER, or CONSTANT, or PARAMETER, or '('"},
		{"(a = 1", 1, 6, "", "syntax error, unexpected EOF, expecting ')'"},
		{"EXISTS(1)", 1, 7, "1", "syntax error, unexpected INTEGER, expecting IDENTIFIER"},
		{"sys.like = 1", 1, 4, "like", "syntax error, unexpected LIKE, expecting IDENTIFIER"},
		{"NServiceBus.X = 1", 1, 11, ".", "syntax error, unexpected '.', expecting COMPARISON, or IS, or NOT, or IN, or LIKE"},
		{"[sys].X = 1", 1, 5, ".", "syntax error, unexpected '.', expecting COMPARISON, or IS, or NOT, or IN, or LIKE"},
		{"a = 1 && b = 2", 1, 6, "&", "syntax error, unexpected character '&'"},
		{"a = 1 || b = 2", 1, 6, "|", "syntax error, unexpected character '|'"},
		{"!a = 1", 1, 0, "!", "syntax error, unexpected character '!'"},
		{"_a = 1", 1, 0, "_", "syntax error, unexpected character '_'"},
		{"a = 'x", 1, 4, "'x", "the string has no closing quote"},
		{"[a = 1", 1, 0, "[a = 1", "the delimited identifier has no closing bracket"},
		{"\"a = 1", 1, 0, "\"a = 1", "the quoted identifier has no closing quote"},
		{"[] = 1", 1, 0, "[]", "the identifier is empty"},
		{"a = @", 1, 4, "@", "the parameter has no name"},
		{"a = @x", 1, 4, "@x", "the parameter @x has no value"},
		{"a = 9223372036854775808", 1, 4, "9223372036854775808", "the integer is out of the range of a long"},
		{"a = 99999999999999999999", 1, 4, "99999999999999999999", "the integer is out of the range of a long"},
		{"a = 1e999", 1, 4, "1e999", "the number is out of the range of a double"},
		{"f(1) = 1", 1, 1, "(", "syntax error, unexpected '(', expecting COMPARISON, or IS, or NOT, or IN, or LIKE"},
		{"newid(1) = 1", 1, 6, "1", "syntax error, unexpected INTEGER, expecting ')'"},
		{"a = 1;", 1, 5, ";", "syntax error, unexpected ';', expecting AND, or OR, or EOF"},
	} {
		got := parseFails(t, c.text, "")
		if want := (syntaxError{c.line, c.column, c.token, c.detail}); got != want {
			t.Errorf("parse %q:\n got %+v\nwant %+v", c.text, got, want)
		}
	}
}

func TestSyntaxErrorText(t *testing.T) {
	_, err := ParseAction("X", nil)
	want := "There was an error parsing the SQL expression. [Token line=1, column=0, Token in error= X, " +
		"Additional details= syntax error, unexpected IDENTIFIER, expecting SET, or REMOVE]"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestQUO10_TextLength(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a = 'é'": 7, "😀": 2, "a\n日": 3} { // characters as .NET counts them, not bytes
		if got := TextLength(text); got != want {
			t.Errorf("%q has %d characters, want %d", text, got, want)
		}
	}
	filler := func(n int) string { return "a = '" + strings.Repeat("x", n-6) + "'" }
	parseFilter(t, filler(maxTextLength), nil)
	for _, text := range []string{filler(maxTextLength + 1), "a = '" + strings.Repeat("😀", maxTextLength/2) + "'"} {
		if _, err := ParseFilter(text, nil); !errors.Is(err, errTooLong) {
			t.Errorf("%d characters: error %v, want ErrTooLong", TextLength(text), err)
		}
	}
	if _, err := ParseAction("SET "+filler(maxTextLength-3), nil); !errors.Is(err, errTooLong) {
		t.Errorf("long action: error %v, want ErrTooLong", err)
	}
	if _, err := ParseFilter("a = '\xff'", nil); err == nil {
		t.Error("invalid UTF-8 parses")
	}
}

func TestQUO10_StatementsAreCounted(t *testing.T) {
	for text, want := range map[string]int{"REMOVE a": 1, "SET a = 1 SET b = 2; REMOVE c,": 0, strings.Repeat("REMOVE a;", 33): 33} {
		a, err := ParseAction(text, nil)
		if want == 0 {
			checkSyntaxError(t, text, "unexpected EOF", err)
			continue
		}
		if err != nil || a.Statements() != want {
			t.Errorf("%q: %v, %v; want %d statements", text, a, err, want)
		}
	}
}

func TestNestingLimit(t *testing.T) {
	for _, shape := range []struct{ open, middle, close string }{
		{"(", "a = 1", ")"}, {"NOT ", "a = 1", ""}, {"-", "a = 1", ""}, {"p(", "'a'", ")"}, {"1+(", "1", ")"},
	} {
		nested := func(n int) string {
			text := strings.Repeat(shape.open, n) + shape.middle + strings.Repeat(shape.close, n)
			if !strings.Contains(text, "=") {
				text += " = 1"
			}
			return text
		}
		parseFilter(t, nested(maxNesting), nil)
		parseFails(t, nested(maxNesting+1), "nested too deeply")
	}
}

func TestParametersIgnoreCaseAndTheSign(t *testing.T) {
	for _, params := range []map[string]Value{
		{"@n": Int32(10)}, {"n": Int32(10)}, {"@N": Int32(10)}, {"N": Int32(10)}, {"@n": Int32(10), "@N": Int32(9), "n": Int32(8)},
	} {
		evalOn(t, messageM(), params, expect{"quantity = @n", True})
	}
}

// A parsed text in its canonical form parses to the same tree.
func TestRoundTrip(t *testing.T) {
	params := map[string]Value{"p1": Int32(1)}
	for text, want := range map[string]string{
		"a=1":                         "a = 1",
		"((a=1))and(b)!=.5":           "a = 1 AND b <> 0.5",
		"(a=1 or b=2)and c=3":         "(a = 1 OR b = 2) AND c = 3",
		"a=1 or (b=2 and c=3)":        "a = 1 OR b = 2 AND c = 3",
		"a=1 and (b=2 and c=3)":       "a = 1 AND b = 2 AND c = 3",
		"not(a=1 and b=2)":            "NOT (a = 1 AND b = 2)",
		"not not a=1":                 "NOT NOT a = 1",
		"(a+1)*2-(b-(c-d))>-(e*f)":    "(a + 1) * 2 - (b - (c - d)) > -(e * f)",
		"a*(b/c)%d=- -1":              "a * (b / c) % d = --1",
		"--9223372036854775808=+a":    "--9223372036854775808 = +a",
		"user.[a b]='it''s'":          "[a b] = 'it''s'",
		`"like"=[x]]y]`:               "[like] = [x]]y]",
		"SYS.label is not null":       "sys.label IS NOT NULL",
		"a not in(1,TRUE,null,@P1)":   "a NOT IN (1, TRUE, NULL, @P1)",
		`a not like 'x' escape '\'`:   `a NOT LIKE 'x' ESCAPE '\'`,
		"exists(sys.[To])":            "EXISTS(sys.To)",
		"P('x')=newid()":              "property('x') = newid()",
		"a=5. and b=1e30 and c=1e-30": "a = 5.0 AND b = 1E+30 AND c = 1E-30",
	} {
		first := parseFilter(t, text, params)
		if got := first.String(); got != want {
			t.Errorf("canonical form of %q is %q, want %q", text, got, want)
		}
		if again := parseFilter(t, first.String(), params).String(); again != want {
			t.Errorf("%q parses to %q", want, again)
		}
	}
	action := parseAction(t, "set a=(1+2)*3 remove sys.b", nil)
	if got, want := action.String(), "SET a = (1 + 2) * 3; REMOVE sys.b"; got != want {
		t.Errorf("canonical action is %q, want %q", got, want)
	}
}
