package filter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A second evaluator, to compare with: it walks the syntax tree as it is, with the truth tables written out, without
// compiling, folding or indexing anything.

var errNaive = errors.New("evaluation error")

func naiveEval(n predicate, m Message) (Tri, error) {
	switch n := n.(type) {
	case junction:
		return naiveJunction(n, m)
	case negation:
		t, err := naiveEval(n.x, m)
		return map[Tri]Tri{True: False, False: True, Unknown: Unknown}[t], err
	case existence:
		if !n.x.sys {
			_, ok := m.User(n.x.name)
			return triOf(ok), nil
		}
		v, err := naiveValue(n.x, m)
		return triOf(!v.IsUnknown()), err
	case comparison:
		x, y, err := naivePair(n.x, n.y, m)
		return Compare(n.op, x, y), err
	case nullness:
		x, err := naiveValue(n.x, m)
		return triOf(x.IsUnknown() != n.not), err
	case membership:
		t, err := naiveMember(n, m)
		if n.not {
			t = t.not()
		}
		return t, err
	case likeness:
		t, err := naiveLikeness(n, m)
		if n.not {
			t = t.not()
		}
		return t, err
	}
	return Unknown, fmt.Errorf("node %T: %w", n, errNaive)
}

func naiveJunction(n junction, m Message) (Tri, error) {
	decisive, unknown := False, false
	if n.or {
		decisive = True
	}
	for _, term := range n.terms {
		t, err := naiveEval(term, m)
		if err != nil || t == decisive {
			return t, err
		}
		unknown = unknown || t == Unknown
	}
	switch {
	case unknown:
		return Unknown, nil
	case n.or:
		return False, nil
	default:
		return True, nil
	}
}

func naiveMember(n membership, m Message) (Tri, error) {
	x, err := naiveValue(n.x, m)
	if err != nil || x.IsUnknown() {
		return Unknown, err
	}
	result := False
	for _, item := range n.items {
		v, err := naiveValue(item, m)
		if err != nil {
			return Unknown, err
		}
		switch Compare(Equal, x, v) {
		case True:
			return True, nil
		case Unknown:
			result = Unknown
		}
	}
	return result, nil
}

func naiveLikeness(n likeness, m Message) (Tri, error) {
	x, pattern, err := naivePair(n.x, n.pattern, m)
	if err != nil {
		return Unknown, err
	}
	escape := String("")
	if n.escape != nil {
		if escape, err = naiveValue(n.escape, m); err != nil {
			return Unknown, err
		}
	}
	if x.IsUnknown() || pattern.IsUnknown() || escape.IsUnknown() {
		return Unknown, nil
	}
	runes := []rune(escape.Text())
	if n.escape != nil && (escape.Kind() != KindString || len(runes) != 1) {
		return Unknown, errNaive
	}
	if x.Kind() != KindString || pattern.Kind() != KindString {
		return Unknown, nil
	}
	return triOf(naiveLike(x.Text(), pattern.Text(), append(runes, 0)[0], n.escape != nil)), nil
}

func naivePair(a, b operand, m Message) (x, y Value, err error) {
	if x, err = naiveValue(a, m); err == nil {
		y, err = naiveValue(b, m)
	}
	return x, y, err
}

func naiveValue(n operand, m Message) (Value, error) {
	switch n := n.(type) {
	case literal:
		return n.value, nil
	case parameter:
		return n.value, nil
	case newidCall:
		return newGUID(), nil
	case property:
		return naiveProperty(n, m)
	case propertyCall:
		name, err := naiveValue(n.name, m)
		if err != nil || name.IsUnknown() {
			return Value{}, err
		}
		if name.Kind() != KindString {
			return Value{}, errNaive
		}
		if text := name.Text(); strings.HasPrefix(strings.ToLower(text), "sys.") {
			return naiveProperty(property{sys: true, name: text[4:]}, m)
		}
		return naiveProperty(property{name: name.Text()}, m)
	case signed:
		x, err := naiveValue(n.x, m)
		if err != nil {
			return Value{}, err
		}
		return applySign(n.minus, x)
	case arithmetic:
		x, y, err := naivePair(n.x, n.y, m)
		if err != nil {
			return Value{}, err
		}
		return calculate(n.op, x, y)
	}
	return Value{}, fmt.Errorf("node %T: %w", n, errNaive)
}

func naiveProperty(n property, m Message) (Value, error) {
	if !n.sys {
		v, _ := m.User(n.name)
		return v, nil
	}
	p, ok := lookupSystem(n.name)
	if !ok {
		return Value{}, errNaive
	}
	if v := m.System(p); !v.IsUnknown() {
		return v, nil
	}
	return Null(), nil
}

// checkAgainstNaive compares the compiled filter with the naive evaluation and returns the outcome.
func checkAgainstNaive(t testing.TB, f *Filter, m Message) (Tri, error) {
	t.Helper()
	got, err := f.Eval(m)
	want, wantErr := naiveEval(f.tree, m)
	if (err == nil) != (wantErr == nil) || err == nil && got != want {
		t.Fatalf("%s: %v, %v; naively %v, %v", f, got, err, want, wantErr)
	}
	return got, err
}

// maker makes random filters and messages from few names and values, so that they often match.
type maker struct {
	*rand.Rand
	values []Value
}

func pick[T any](r *maker, from ...T) T { return from[r.IntN(len(from))] }

func (r *maker) property() string {
	return pick(r, "a", "b", "c", "A", "user.b", "[B]", "missing", "sys.Label", "sys.subject", "sys.To", "sys.SequenceNumber", "p('a')", "p('sys.To')")
}

func (r *maker) constant() string {
	return pick(r, "0", "1", "10", "10.0", "2.5", "'10'", "'blue'", "'Blue'", "TRUE", "FALSE", "NULL", "''", "'"+guidText+"'", "5 * 2", "-1",
		"9007199254740993", "9223372036854775807", "@p", "@q", "1/0", "@guid")
}

func (r *maker) operand(depth int) string {
	switch n := r.IntN(20); {
	case n < 9:
		return r.property()
	case n < 18 || depth == 0:
		return r.constant()
	case n < 19:
		return "(" + r.operand(depth-1) + pick(r, " + ", " - ", " * ", " / ", " % ") + r.operand(depth-1) + ")"
	default:
		return pick(r, "sys.Nope", "p(a)", "-a", "newid()")
	}
}

func (r *maker) predicate(depth int) string {
	if depth > 0 {
		switch n := r.IntN(10); {
		case n < 4:
			return "(" + r.predicate(depth-1) + pick(r, " AND ", " AND ", " OR ") + r.predicate(depth-1) + ")"
		case n < 5:
			return "NOT " + r.predicate(depth-1)
		}
	}
	not := pick(r, "", "", "", "NOT ")
	switch n := r.IntN(12); {
	case n < 5:
		return r.property() + " = " + r.constant()
	case n < 6:
		return r.constant() + " = " + r.property()
	case n < 8:
		return r.property() + " " + not + "IN (" + r.constant() + ", " + r.constant() + ", " + r.operand(0) + ")"
	case n < 9:
		return r.property() + " IS " + not + "NULL"
	case n < 10:
		return "EXISTS(" + pick(r, "a", "b", "sys.To", "sys.Nope") + ")"
	case n < 11:
		return r.property() + " " + not + "LIKE " + pick(r, "'b%'", "'%1%'", "a", "'!%' ESCAPE '!'", "'b' ESCAPE a")
	default:
		return r.operand(depth) + pick(r, " <> ", " < ", " <= ", " > ", " >= ", " = ") + r.operand(depth)
	}
}

func (r *maker) params() map[string]Value {
	return map[string]Value{"p": pick(r, r.values...), "q": pick(r, r.values...), "guid": guidValue()}
}

func (r *maker) filter(t testing.TB) *Filter {
	return parseFilter(t, r.predicate(r.IntN(4)), r.params())
}

func (r *maker) correlation(t testing.TB) *Correlation {
	system, user := map[SystemProperty]string{}, map[string]Value{}
	for range 1 + r.IntN(2) {
		if r.IntN(2) == 0 {
			system[pick(r, Label, To)] = pick(r, "", "10", "blue", "Blue", guidText)
		} else if v := pick(r, r.values...); familyOf(v.kind) != familyNone {
			user[pick(r, "a", "b", "c", "A")] = v
		}
	}
	return correlation(t, system, user)
}

func (r *maker) message() *testMessage {
	m := &testMessage{system: map[SystemProperty]Value{SequenceNumber: Int64(int64(r.IntN(12)))}}
	for range r.IntN(5) {
		m.user = append(m.user, userProp{pick(r, "a", "b", "c", "A", "C"), pick(r, r.values...)})
	}
	for _, p := range []SystemProperty{Label, To} {
		if r.IntN(3) > 0 {
			m.system[p] = String(pick(r, "", "10", "blue", "Blue", guidText))
		}
	}
	return m
}
