package filter

import "testing"

func correlation(t testing.TB, system map[SystemProperty]string, user map[string]Value) *Correlation {
	t.Helper()
	c, err := NewCorrelation(system, user)
	if err != nil {
		t.Fatalf("make correlation filter: %v", err)
	}
	return c
}

// Correlation filters test equality of all properties that are set, type-strict between families of types.
func TestCorrelationProperties(t *testing.T) {
	for _, c := range []struct {
		name  string
		value Value
		want  bool
	}{
		{"color", String("blue"), true}, {"COLOR", String("blue"), true}, {"color", String("Blue"), false},
		{"quantity", Float64(10), true}, {"quantity", UInt8(10), true}, {"quantity", Int64(11), false}, {"quantity", Bool(true), false},
		{"price", Float32(2.5), true}, {"active", Bool(true), true}, {"active", String("True"), false}, {"txt", Int64(11), false},
		{"id", guidValue(), true}, {"id", String(guidText), false}, {"d1", DateTime(1767225600000), true}, {"d1", TimeSpan(0), false},
		{"missing", String(""), false}, {"empty", String(""), false},
	} {
		m := messageM()
		m.user = append(m.user, userProp{"id", guidValue()})
		filter := correlation(t, nil, map[string]Value{c.name: c.value})
		if got := filter.Match(m); got != c.want {
			t.Errorf("%s = %s %q: %v, want %v", c.name, c.value.Kind(), c.value, got, c.want)
		}
		if got, err := filter.Eval(m); err != nil || got != triOf(c.want) {
			t.Errorf("%s: Eval gives %v, %v", c.name, got, err)
		}
	}
}

func TestCorrelationSystemProperties(t *testing.T) {
	all := map[SystemProperty]string{CorrelationID: "c", MessageID: "m", To: "t", ReplyTo: "r", Label: "l", SessionID: "s",
		ReplyToSessionID: "rs", ContentType: "ct"}
	m := &testMessage{system: make(map[SystemProperty]Value)}
	for p, text := range all {
		m.system[p] = String(text)
	}
	if !correlation(t, all, nil).Match(m) {
		t.Error("all eight properties do not match")
	}
	for p := range all {
		text := m.system[p]
		m.system[p] = String(text.Text() + "x")
		if correlation(t, all, nil).Match(m) {
			t.Errorf("matches with another %s", p)
		}
		delete(m.system, p)
		if correlation(t, map[SystemProperty]string{p: ""}, nil).Match(m) {
			t.Errorf("the empty %s matches a message without one", p)
		}
		m.system[p] = String("")
		if !correlation(t, map[SystemProperty]string{p: ""}, nil).Match(m) {
			t.Errorf("the empty %s does not match the empty one", p)
		}
		m.system[p] = text
	}
	if !correlation(t, nil, nil).Match(m) {
		t.Error("a filter that tests nothing does not match")
	}
}

func TestCorrelationRefusesWhatItCannotTest(t *testing.T) {
	if _, err := NewCorrelation(map[SystemProperty]string{PartitionKey: "x"}, nil); err == nil {
		t.Error("a test of the partition key is accepted")
	}
	for _, v := range []Value{{}, Null(), Opaque("x")} {
		if _, err := NewCorrelation(nil, map[string]Value{"a": v}); err == nil {
			t.Errorf("a test against a value of kind %s is accepted", v.Kind())
		}
	}
}

func TestCorrelationEqualities(t *testing.T) {
	c := correlation(t, map[SystemProperty]string{To: "t", Label: "l"}, map[string]Value{"b": Int32(1), "a": Bool(true)})
	want := []equality{{brokerProperty(Label), String("l")}, {brokerProperty(To), String("t")}, {userProperty("a"), Bool(true)},
		{userProperty("b"), Int32(1)}}
	if got := c.tests; len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("equalities %v, want %v", got, want)
	}
	if len(c.needs()) != len(want) {
		t.Errorf("%d conditions, want %d", len(c.needs()), len(want))
	}
}
