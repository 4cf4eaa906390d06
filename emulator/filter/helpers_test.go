package filter

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// userProp is one application property of a test message.
type userProp struct {
	name  string
	value Value
}

// testMessage is a message in memory. It counts a filter's reads.
type testMessage struct {
	user   []userProp
	system map[SystemProperty]Value
	reads  int
}

func (m *testMessage) find(name string) int {
	folded := -1
	for i := range m.user {
		switch MatchName(m.user[i].name, name) {
		case ExactMatch:
			return i
		case FoldedMatch:
			if folded < 0 {
				folded = i
			}
		}
	}
	return folded
}

func (m *testMessage) User(name string) (Value, bool) {
	m.reads++
	if i := m.find(name); i >= 0 {
		return m.user[i].value, true
	}
	return Value{}, false
}

func (m *testMessage) Exact(name string) (Value, bool) {
	m.reads++
	for _, p := range m.user {
		if p.name == name {
			return p.value, true
		}
	}
	return Value{}, false
}

func (m *testMessage) System(p SystemProperty) Value {
	m.reads++
	return m.system[p]
}

func (m *testMessage) SetUser(name string, v Value) error {
	if name == "refused" {
		return errRefused
	}
	if i := m.find(name); i >= 0 {
		m.user[i].value = v
		return nil
	}
	m.user = append(m.user, userProp{name, v})
	return nil
}

func (m *testMessage) RemoveUser(name string) {
	if i := m.find(name); i >= 0 {
		m.user = append(m.user[:i], m.user[i+1:]...)
	}
}

func (m *testMessage) SetSystem(p SystemProperty, v Value) error {
	m.system[p] = v
	return nil
}

var errRefused = errors.New("the property is too large")

// messageM is the message of the test vectors.
func messageM() *testMessage {
	d1 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &testMessage{
		user: []userProp{
			{"color", String("blue")},
			{"quantity", Int32(10)},
			{"price", Float64(2.5)},
			{"active", Bool(true)},
			{"note", String("50% off_now")},
			{"txt", String("11")},
			{"empty", Null()},
			{"d1", DateTime(d1.UnixMilli())},
			{"d2", DateTime(d1.Add(2 * time.Hour).UnixMilli())},
		},
		system: map[SystemProperty]Value{Label: String("Order"), MessageID: String("m1")},
	}
}

func parseFilter(t testing.TB, text string, params map[string]Value) *Filter {
	t.Helper()
	f, err := ParseFilter(text, params)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return f
}

// expect is an expression and what it evaluates to on a message.
type expect struct {
	text string
	want Tri
}

// evalOn evaluates expressions on a message.
func evalOn(t *testing.T, m Message, params map[string]Value, table ...expect) {
	t.Helper()
	for _, e := range table {
		got, err := parseFilter(t, e.text, params).Eval(m)
		if err != nil {
			t.Errorf("%s: error %v, want %v", e.text, err, e.want)
		} else if got != e.want {
			t.Errorf("%s: %v, want %v", e.text, got, e.want)
		}
	}
}

// evalM evaluates expressions on the message of the test vectors.
func evalM(t *testing.T, table ...expect) {
	t.Helper()
	evalOn(t, messageM(), nil, table...)
}

// evalFails expects an error when an expression is evaluated, and returns it.
func evalFails(t *testing.T, m Message, text string) EvalError {
	t.Helper()
	got, err := parseFilter(t, text, nil).Eval(m)
	var eval *EvalError
	if !errors.As(err, &eval) {
		t.Fatalf("%s: %v and error %v, want an EvalError", text, got, err)
	}
	if got == True {
		t.Errorf("%s: true beside an error", text)
	}
	return *eval
}

// parseFails expects a syntax error that mentions a text.
func parseFails(t *testing.T, text, mention string) syntaxError {
	t.Helper()
	_, err := ParseFilter(text, nil)
	return checkSyntaxError(t, text, mention, err)
}

func checkSyntaxError(t *testing.T, text, mention string, err error) syntaxError {
	t.Helper()
	var syntax *syntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("parse %q: error %v, want a SyntaxError", text, err)
	}
	if !strings.Contains(syntax.Detail, mention) {
		t.Errorf("parse %q: detail %q does not mention %q", text, syntax.Detail, mention)
	}
	return *syntax
}

// apply runs an action on the message of the test vectors, after the emulator has set RuleName.
func apply(t *testing.T, text string) *testMessage {
	t.Helper()
	m := messageM()
	if err := m.SetUser(RuleNameProperty, String("rule")); err != nil {
		t.Fatalf("set the rule's name: %v", err)
	}
	if err := parseAction(t, text, nil).Apply(m); err != nil {
		t.Fatalf("apply %q: %v", text, err)
	}
	return m
}

func parseAction(t testing.TB, text string, params map[string]Value) *Action {
	t.Helper()
	a, err := ParseAction(text, params)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return a
}

// applyFails expects an error of an action.
func applyFails(t *testing.T, m *testMessage, text string) EvalError {
	t.Helper()
	err := parseAction(t, text, nil).Apply(m)
	var eval *EvalError
	if !errors.As(err, &eval) {
		t.Fatalf("apply %q: error %v, want an EvalError", text, err)
	}
	if eval.Exception != RuleActionException || eval.Detail == "" {
		t.Errorf("apply %q: %+v, want a RuleActionException with a detail", text, eval)
	}
	return *eval
}

// wantUser checks an application property.
func wantUser(t *testing.T, m *testMessage, name string, want Value) {
	t.Helper()
	if got, ok := m.User(name); !ok || got != want {
		t.Errorf("property %s = %s %q (present %v), want %s %q", name, got.Kind(), got, ok, want.Kind(), want)
	}
}

func wantNoUser(t *testing.T, m *testMessage, name string) {
	t.Helper()
	if got, ok := m.User(name); ok {
		t.Errorf("property %s = %s %q, want none", name, got.Kind(), got)
	}
}
