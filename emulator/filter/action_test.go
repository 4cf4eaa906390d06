package filter

import (
	"errors"
	"testing"

	"minibus/internal/dotnet"
)

func TestSetKeepsTheTypeOfTheProperty(t *testing.T) {
	wantUser(t, apply(t, "SET quantity = '7'"), "quantity", Int32(7))
	wantUser(t, apply(t, "SET QUANTITY = 7.5"), "quantity", Int32(8))
	wantUser(t, apply(t, "SET color = 5"), "color", String("5"))
	wantUser(t, apply(t, "SET color = active"), "color", String("True"))
	wantUser(t, apply(t, "SET d1 = '1970-01-01'"), "d1", DateTime(0))
	wantUser(t, apply(t, "SET empty = 5"), "empty", Int64(5))
	for _, text := range []string{"SET quantity = 'many'", "SET quantity = 5000000000", "SET d1 = 5", "SET active = color"} {
		applyFails(t, messageM(), text)
	}
}

func TestTypesOfNewProperties(t *testing.T) {
	m := apply(t, "SET i = 1 SET d = 1.5 SET s = 'x' SET b = TRUE SET q = quantity SET n = -1")
	wantUser(t, m, "i", Int64(1))
	wantUser(t, m, "d", Float64(1.5))
	wantUser(t, m, "s", String("x"))
	wantUser(t, m, "b", Bool(true))
	wantUser(t, m, "q", Int32(10))
	wantUser(t, m, "n", Int64(-1))
	params := map[string]Value{"when": DateTime(1), "span": TimeSpan(2), "small": Int8(3)}
	m = messageM()
	if err := parseAction(t, "SET w = @when SET s = @span SET i = @small", params).Apply(m); err != nil {
		t.Fatal(err)
	}
	wantUser(t, m, "w", DateTime(1))
	wantUser(t, m, "s", TimeSpan(2))
	wantUser(t, m, "i", Int8(3))
}

func TestLaterStatementsSeeEarlierOnes(t *testing.T) {
	m := apply(t, "SET a = 1; SET a = a + 1; SET b = a * 10; REMOVE a; SET c = a; SET sys.To = 'x'; SET d = sys.To")
	wantNoUser(t, m, "a")
	wantUser(t, m, "b", Int64(20))
	wantNoUser(t, m, "c")
	wantUser(t, m, "d", String("x"))
}

func TestSetNull(t *testing.T) {
	m := apply(t, "SET color = NULL SET fresh = NULL SET sys.Label = NULL")
	wantUser(t, m, "color", Null())
	wantUser(t, m, "fresh", Null())
	if got := m.system[Label]; got != Null() {
		t.Errorf("Label = %q, want null", got)
	}
	m = apply(t, "SET sys.Label = missing SET sys.MessageId = quantity / missing")
	if m.system[Label] != String("Order") || m.system[MessageID] != String("m1") {
		t.Error("a missing value changed a system property")
	}
}

func TestSetSystemConvertsToItsType(t *testing.T) {
	m := apply(t, `SET sys.CorrelationId = quantity SET sys.Subject = newid() SET sys.TimeToLive = '00:01:00'
		SET sys.ScheduledEnqueueTime = '1970-01-01T00:00:01Z' SET sys.ForcePersistence = 'true' SET sys.SessionId = 's' + 'x'`)
	for p, want := range map[SystemProperty]Value{CorrelationID: String("10"), TimeToLive: TimeSpan(dotnet.Minute),
		ScheduledEnqueueTimeUtc: DateTime(1000), ForcePersistence: Bool(true), SessionID: String("sx")} {
		if got := m.system[p]; got != want {
			t.Errorf("%s = %s %q, want %s %q", p, got.Kind(), got, want.Kind(), want)
		}
	}
	if got := m.system[Label]; got.Kind() != KindString || len(got.Text()) != 36 {
		t.Errorf("Label = %s %q, want the text of a Guid", got.Kind(), got)
	}
	applyFails(t, messageM(), "SET sys.TimeToLive = 'soon'")
	applyFails(t, messageM(), "SET sys.TimeToLive = 60")
}

func TestActionErrors(t *testing.T) {
	if got := applyFails(t, messageM(), "SET a = quantity / 0").Detail; got != "Attempted to divide by zero." {
		t.Errorf("detail %q", got)
	}
	applyFails(t, messageM(), "SET a = sys.Nope")
	applyFails(t, messageM(), "SET a = color * 2")
	applyFails(t, messageM(), "SET a = -color")
	applyFails(t, messageM(), "SET a = -(quantity / 0)")
	err := applyFails(t, messageM(), "SET refused = 1")
	if !errors.Is(&err, errRefused) || err.Detail != errRefused.Error() || err.Error() != err.Detail {
		t.Errorf("error %+v, want what the target said", err)
	}
	m := messageM()
	applyFails(t, m, "SET a = 1; SET sys.Foo = 1; SET b = 1")
	wantNoUser(t, m, "b") // statements stop at the first error
}

func TestRemoveTakesOneProperty(t *testing.T) {
	m := &testMessage{user: []userProp{{"KEY", Int32(1)}, {"key", Int32(2)}}}
	if err := parseAction(t, "REMOVE key", nil).Apply(m); err != nil {
		t.Fatal(err)
	}
	if len(m.user) != 1 || m.user[0].name != "KEY" {
		t.Errorf("left are %v, want KEY", m.user)
	}
}
