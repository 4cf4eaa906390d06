package sbtest_test

import (
	"testing"

	"minibus/emulator"
	"minibus/sbtest"
)

// TestPutAndDelete in a namespace of a test's own, beside what is there.
func TestPutAndDelete(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "q"})
	ns := bus.Namespace(t, sbtest.Queue{Name: "q"})
	ns.Put(t, sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{{Name: "s", ForwardTo: "Q"}}})
	e, err := ns.Entity("t/Subscriptions/s")
	if err != nil || e.Options().ForwardTo != "q" {
		t.Fatal(err, "it does not forward to q")
	}
	ns.PutRule(t, e.Path(), sbtest.Rule{Name: "red", SQL: "color = 'red'"})
	ns.DeleteRule(t, e.Path(), emulator.DefaultRuleName)
	s, err := e.Subscription()
	if err != nil {
		t.Fatal(err)
	}
	if rules := s.Options().Rules; len(rules) != 1 || rules[0].Name != "red" {
		t.Errorf("the rules are %+v", rules)
	}
	ns.Remove(t, "t")
	if ns.Exists("t") || !bus.Default().Exists("q") || bus.Default().Exists("t") {
		t.Error("another namespace changed, or nothing was deleted")
	}
	bus.Put(t, sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{{Name: "s"}}})
	bus.DeleteRule(t, "t/Subscriptions/s", "$default")
	bus.Remove(t, "t")
}
