package filter

import (
	"slices"
	"strings"
	"testing"
)

// TestTOP9_FiltersSeePropertiesOnly: a filter reads user and system properties, each only when it is looked at, and has no
// way to the body.
func TestTOP9_FiltersSeePropertiesOnly(t *testing.T) {
	for _, c := range []struct {
		text  string
		reads int
	}{
		{TrueText, 0}, {FalseText, 0}, {"1 + 1 = 2", 0}, {"'a' LIKE '_'", 0}, {"3 IN (1, 2)", 0},
		{"color = 'blue'", 1}, {"color = 'red' AND quantity = 10", 1}, {"color = 'blue' AND quantity = 10", 2},
		{"sys.Label = 'Order'", 1}, {"quantity IN (1, 2, 3)", 1}, {"EXISTS(color)", 1}, {"missing IN (color)", 1},
	} {
		m := messageM()
		if _, err := parseFilter(t, c.text, nil).Eval(m); err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if m.reads != c.reads {
			t.Errorf("%s reads %d properties, want %d", c.text, m.reads, c.reads)
		}
	}
	for _, text := range []string{"sys.Body = 'x'", "sys.body IS NULL", "EXISTS(sys.Body)", "p('sys.body') = 'x'"} {
		evalFails(t, messageM(), text)
	}
	evalM(t, expect{"color = 'BLUE'", False}, expect{"sys.Label = 'order'", False}) // strings keep their case
}

func TestExactNameWins(t *testing.T) {
	m := &testMessage{user: []userProp{{"KEY", Int32(1)}, {"Key", Int32(2)}, {"key", Int32(3)}}}
	evalOn(t, m, nil, expect{"KEY = 1", True}, expect{"Key = 2", True}, expect{"key = 3", True},
		expect{"kEY = 1", True}) // no exact match: the first in the order of the message
}

func TestMatchName(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		have, want string
		match      NameMatch
	}{
		{"abc", "abc", ExactMatch}, {"aBc", "abc", FoldedMatch}, {"abc", "abd", noMatch}, {"abc", "ab", noMatch}, {"ab", "abc", noMatch},
		{"", "", ExactMatch}, {"a[", "a{", noMatch}, {"a@", "a`", noMatch}, {"straße", "straße", ExactMatch}, {"STRAßE", "straße", FoldedMatch},
		{"Änderung", "änderung", FoldedMatch}, {"Änderung", "Ånderung", noMatch}, {"\u212a", "k", FoldedMatch}, {"K", "\u212a", FoldedMatch},
		{"x\u212a", "xk1", noMatch}, {long + "é", long + "É", FoldedMatch}, {"日本", "日本", ExactMatch}, {"日本", "日", noMatch},
	} {
		if got := MatchName(c.have, c.want); got != c.match {
			t.Errorf("MatchName(%q, %q) = %d, want %d", c.have, c.want, got, c.match)
		}
		if got := MatchName([]byte(c.have), c.want); got != c.match {
			t.Errorf("MatchName of bytes (%q, %q) = %d, want %d", c.have, c.want, got, c.match)
		}
		if same := foldName(c.have) == foldName(c.want); same != (c.match != noMatch) {
			t.Errorf("folded %q and %q are the same: %v", c.have, c.want, same)
		}
	}
}

func TestSystemProperties(t *testing.T) {
	settable := []string{"ContentType", "CorrelationId", "ForcePersistence", "Label", "MessageId", "PartitionKey", "ReplyTo",
		"ReplyToSessionId", "ScheduledEnqueueTimeUtc", "SessionId", "TimeToLive", "To", "ViaPartitionKey"}
	for p := range systemProperties {
		found, ok := lookupSystem(strings.ToUpper(p.String()))
		if !ok || found != p {
			t.Errorf("lookup of %s gives %v, %v", p, found, ok)
		}
		if want := slices.Contains(settable, p.String()); p.settable() != want {
			t.Errorf("%s is settable: %v, want %v", p, p.settable(), want)
		}
		if p.kind() <= KindNull {
			t.Errorf("%s has no type", p)
		}
	}
	for alias, want := range map[string]SystemProperty{"subject": Label, "ScheduledEnqueueTime": ScheduledEnqueueTimeUtc,
		"transactionPartitionKey": ViaPartitionKey} {
		if got, ok := lookupSystem(alias); !ok || got != want {
			t.Errorf("lookup of %s gives %v, %v, want %v", alias, got, ok, want)
		}
	}
	if _, ok := lookupSystem("Body"); ok {
		t.Error("there is a system property Body")
	}
	if systemProperties.String() != "invalid" || Kind(99).String() != "invalid" {
		t.Error("an invalid property or kind has a name")
	}
}

func TestPropertyFunction(t *testing.T) {
	params := map[string]Value{"name": String("sys.label")}
	evalOn(t, messageM(), params, expect{"p('sys.Label') = 'Order'", True}, expect{"p(@name) = 'Order'", True},
		expect{"p('SYS.' + 'label') = 'Order'", True}, expect{"p('user.color') = 'blue'", Unknown}, expect{"p(txt) IS NULL", True},
		expect{"p('sys.To') = 'x'", Unknown}, expect{"p(sys.MessageId) IS NULL", True})
	evalFails(t, messageM(), "p('sys.Nope') = 1")
	evalFails(t, messageM(), "p('sys.' + color) = 1")
	evalFails(t, messageM(), "p(quantity) = 1")
	evalFails(t, messageM(), "p(10) = 1")
}
