package sbtest_test

import (
	"testing"

	"minibus/sbtest"
)

// TestPutAndDelete in a namespace of a test's own, beside what is there.
func TestPutAndDelete(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "q"})
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "q"})
	ns.Put(t, sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{{Name: "s", ForwardTo: "Q"}}})
	e, err := ns.Domain().Entity("t/Subscriptions/s")
	if err != nil || e.Options().ForwardTo != "q" {
		t.Fatal(err, "it does not forward to q")
	}
	ns.PutRule(t, e.Path(), sbtest.Rule{Name: "red", SQL: "color = 'red'"})
	ns.DeleteRule(t, e.Path(), "$Default")
	s, err := e.Subscription()
	if err != nil {
		t.Fatal(err)
	}
	if rules := s.Options().Rules; len(rules) != 1 || rules[0].Name != "red" {
		t.Errorf("the rules are %+v", rules)
	}
	ns.Delete(t, "t")
	if ns.Exists("t") || !bus.Exists("q") || bus.Exists("t") {
		t.Error("another namespace changed, or nothing was deleted")
	}
	bus.Put(t, sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{{Name: "s"}}})
	bus.DeleteRule(t, "t/Subscriptions/s", "$default")
	bus.Delete(t, "t")
}
