package emulator_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/filter"
)

// plainMessage is a message as the naive evaluation sees it: no bytes, no index, no laziness.
type plainMessage struct {
	users map[string]filter.Value
	label filter.Value
}

func (m *plainMessage) User(name string) (filter.Value, bool) {
	if v, ok := m.users[name]; ok {
		return v, true
	}
	for k, v := range m.users {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	return filter.Value{}, false
}

func (m *plainMessage) Exact(name string) (filter.Value, bool) {
	v, ok := m.users[name]
	return v, ok
}

func (m *plainMessage) System(p filter.SystemProperty) filter.Value {
	if p == filter.Label {
		return m.label
	}
	return filter.Null()
}

// holdsItsType reports whether a property has a type to which no letter can be converted.
func (m *plainMessage) holdsItsType(name string) bool {
	v, _ := m.User(name)
	return !v.IsUnknown() && v.Kind() != filter.KindString
}

// topicMaker makes random rules and messages of few names and values, so that they often meet.
type topicMaker struct{ *rand.Rand }

func choose[T any](r topicMaker, from ...T) T { return from[r.IntN(len(from))] }

func (r topicMaker) predicate(depth int) string {
	if depth > 0 && r.IntN(3) > 0 {
		return "(" + r.predicate(depth-1) + choose(r, " AND ", " OR ") + choose(r, "", "NOT ") + r.predicate(depth-1) + ")"
	}
	p, v := choose(r, "a", "b", "C", "user.a", "sys.Label", "missing"), choose(r, "1", "2", "2.5", "'x'", "'y'", "TRUE", "NULL")
	switch r.IntN(6) {
	case 0:
		return p + " IN (" + v + ", " + choose(r, "1", "'y'") + ")"
	case 1:
		return p + choose(r, " IS NULL", " IS NOT NULL")
	case 2:
		return p + choose(r, " < ", " <> ", " >= ") + v
	case 3:
		return choose(r, "a / 0 = 1", "a % 2 = 1", "sys.Nope = 1", "b LIKE '%x'")
	}
	return p + " = " + v
}

func (r topicMaker) rule(i int) emulator.RuleOptions {
	o := emulator.RuleOptions{Name: fmt.Sprint("rule", i)}
	if r.IntN(4) == 0 {
		o.Correlation = &emulator.CorrelationFilter{Label: choose(r, nil, new(""), new("x"), new("y")), Properties: emulator.Values{
			choose(r, "a", "B"): choose[any](r, "x", int64(1), int32(2), 2.5, true),
		}}
	} else {
		o.SQL = r.predicate(2)
	}
	if r.IntN(3) == 0 {
		o.Action = choose(r, "SET n = 1", "SET a = 'z'; REMOVE b", "SET sys.Nope = 1", "REMOVE a")
	}
	return o
}

func (r topicMaker) message() (*goamqp.Message, *plainMessage) {
	m, p := text("body"), &plainMessage{users: map[string]filter.Value{}, label: filter.Null()}
	m.ApplicationProperties = map[string]any{}
	for _, name := range []string{"a", "b", "c"} {
		switch r.IntN(8) {
		case 0:
			m.ApplicationProperties[name], p.users[name] = int32(1), filter.Int32(1)
		case 1:
			m.ApplicationProperties[name], p.users[name] = int64(2), filter.Int64(2)
		case 2:
			m.ApplicationProperties[name], p.users[name] = 2.5, filter.Float64(2.5)
		case 3:
			m.ApplicationProperties[name], p.users[name] = true, filter.Bool(true)
		case 4:
			m.ApplicationProperties[name], p.users[name] = nil, filter.Null()
		case 5, 6:
			s := choose(r, "x", "y")
			m.ApplicationProperties[name], p.users[name] = s, filter.String(s)
		}
	}
	if s := choose(r, nil, new(""), new("x"), new("y")); s != nil {
		m.Properties, p.label = &goamqp.MessageProperties{Subject: s}, filter.String(*s)
	}
	return m, p
}

// naive says, rule by rule, what a subscription gets: active and dead-lettered copies.
func naive(t *testing.T, rules []emulator.RuleOptions, m *plainMessage) (active, dead int64) {
	t.Helper()
	plain, failed := false, false
	for _, o := range rules {
		outcome, err := naiveRule(t, o, m)
		switch {
		case err != nil:
			failed = true
		case outcome != filter.True:
		case o.Action == "":
			plain = true
		case o.Action == "SET sys.Nope = 1", strings.HasPrefix(o.Action, "SET a = 'z'") && m.holdsItsType("a"):
			failed = true
		default:
			active++
		}
	}
	if plain {
		active++
	}
	if failed {
		dead++
	}
	return active, dead
}

func naiveRule(t *testing.T, o emulator.RuleOptions, m *plainMessage) (filter.Tri, error) {
	t.Helper()
	if o.Correlation == nil {
		f, err := filter.ParseFilter(o.SQL, nil)
		if err != nil {
			t.Fatalf("parse %q: %v", o.SQL, err)
		}
		return f.Eval(m)
	}
	if l := o.Correlation.Label; l != nil && (m.label.Kind() != filter.KindString || m.label.Text() != *l) {
		return filter.False, nil
	}
	for name, want := range o.Correlation.Properties {
		have, _ := m.User(name)
		same := false
		switch want := want.(type) {
		case string:
			same = have.Kind() == filter.KindString && have.Text() == want
		case bool:
			same = have.Kind() == filter.KindBool && have.Bool() == want
		case int32:
			same = filter.Compare(filter.Equal, have, filter.Int32(want)) == filter.True
		case int64:
			same = filter.Compare(filter.Equal, have, filter.Int64(want)) == filter.True
		case float64:
			same = filter.Compare(filter.Equal, have, filter.Float64(want)) == filter.True
		}
		if !same {
			return filter.False, nil
		}
	}
	return filter.True, nil
}

// TestTOP5_TOP10_FanOutAgainstNaiveEvaluation sends random messages to a topic whose subscriptions have random rules that
// come and go, over a journal that fails now and then and restarts, and compares what each subscription has with a naive
// evaluation of its rules.
func TestTOP5_TOP10_FanOutAgainstNaiveEvaluation(t *testing.T) {
	r := topicMaker{emulator.NewRandom(t)}
	names := make([]string, 25)
	for i := range names {
		names[i] = fmt.Sprint("s", i)
	}
	topicBubble(t, emulator.TopicOptions{}, named(names...), func(b *broker) {
		rules := make([][]emulator.RuleOptions, len(names))
		want := make([][2]int64, len(names))
		for i := range rules {
			rules[i] = []emulator.RuleOptions{emulator.DefaultRule()}
		}
		delivered := 0
		for step := range 1500 {
			switch i := r.IntN(len(names)); {
			case step == 700:
				b = b.again()
			case r.IntN(5) == 0 && len(rules[i]) > 0:
				j := r.IntN(len(rules[i]))
				if err := b.sub(names[i]).tryRemoveRule(rules[i][j].Name); err != nil {
					t.Fatalf("remove rule: %v", err)
				}
				rules[i] = slices.Delete(rules[i], j, j+1)
			case r.IntN(4) == 0:
				o := r.rule(step)
				b.sub(names[i]).addRule(o)
				rules[i] = append(rules[i], o)
			default:
				m, p := r.message()
				if r.IntN(10) == 0 {
					b.failOnce()
					if b.trySend(m) == nil {
						t.Fatal("a send that could not be written succeeded")
					}
					continue
				}
				b.send(m)
				delivered++
				for k := range names {
					active, dead := naive(t, rules[k], p)
					want[k][0] += active
					want[k][1] += dead
				}
			}
		}
		rows := int64(0)
		for k, name := range names {
			c := b.sub(name).q.Counts()
			equal(t, name+": active and dead-lettered", [2]int64{c.Active, c.DeadLetter}, want[k])
			rows += c.Active + c.DeadLetter
			for _, g := range append(b.sub(name).peek(), b.sub(name).peekFrom(emulator.DeadLetter, 0, 250)...) {
				if g.body() != "body" || g.firstSeq() < 1 || g.firstSeq() > int64(delivered) {
					t.Errorf("%s has %q with the topic's number %d of %d", name, g.body(), g.firstSeq(), delivered)
				}
			}
		}
		if messages, stored := b.j.Stored(); int64(messages) != rows || stored > delivered || rows < 2000 {
			t.Errorf("%d messages and %d bodies are stored for %d copies of %d messages", messages, stored, rows, delivered)
		}
		for _, name := range names {
			b.sub(name).drain()
			for c := b.sub(name).q.Counts(); c.Active+c.DeadLetter > 0; c = b.sub(name).q.Counts() {
				b.sub(name).receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1000)
				b.sub(name).receiveFrom(emulator.DeadLetter, emulator.ReceiveAndDelete, 1000)
			}
		}
		b.wantStored(0, 0)
		equal(t, "topic's size at the end", b.q.Counts().SizeBytes, 0)
	})
}
