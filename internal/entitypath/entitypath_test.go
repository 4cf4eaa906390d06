package entitypath

import (
	"strings"
	"testing"
)

func TestSplitSubscription(t *testing.T) {
	for _, c := range []struct {
		path, topic, name string
		ok                bool
	}{
		{"t/Subscriptions/s", "t", "s", true},
		{"a/t/SUBSCRIPTIONS/S", "a/t", "S", true},
		{"subscriptions/subscriptions/subscriptions", "subscriptions", "subscriptions", true},
		{"a/Subscriptions/b/Subscriptions/c", "a/Subscriptions/b", "c", true},
		{"a/Subscriptions/b/c/Subscriptions/d", "a/Subscriptions/b/c", "d", true},
		{"a/Subscriptions/b/c", "a/Subscriptions/b/c", "", false},
		{"a/b", "a/b", "", false},
		{"t/subscriptions", "t/subscriptions", "", false},
		{"t/subscriptions/", "t", "", true},
		{"subscriptions/x", "subscriptions/x", "", false},
		{"/subscriptions/x", "/subscriptions/x", "", false},
		{"t/subscriptionsx/s", "t/subscriptionsx/s", "", false},
		{"t/xsubscriptions/s", "t/xsubscriptions/s", "", false},
		{"t/\u017fubscriptions/s", "t/\u017fubscriptions/s", "", false}, // a letter that folds to s and has two bytes
		{strings.Repeat("\u023a", 40) + "/Subscriptions/s", strings.Repeat("\u023a", 40), "s", true},
		{"", "", "", false},
	} {
		topic, name, ok := SplitSubscription(c.path)
		if topic != c.topic || name != c.name || ok != c.ok {
			t.Errorf("%q: %q, %q, %v", c.path, topic, name, ok)
		}
		if root := Root(c.path); root != c.topic {
			t.Errorf("root of %q: %q", c.path, root)
		}
	}
}

func TestIsReserved(t *testing.T) {
	for path, want := range map[string]bool{
		"t/subscriptions/s":                       true,
		"t/Subscriptions/s/Rules":                 true,
		"t/subscriptions/s/rules/r":               true,
		"t/subscriptions/s/rules/a/b":             true,
		"t/subscriptions/":                        true,
		"a/subscriptions/b/subscriptions/c/rules": true,
		"t/subscriptions/s/rules/":                false,
		"t/subscriptions/s/rulesx":                false,
		"a/subscriptions/b/c":                     false,
		"subscriptions/s":                         false,
		"t/subscriptions":                         false,
		"t":                                       false,
	} {
		if got := IsReserved(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

func TestNodes(t *testing.T) {
	for _, c := range []struct {
		path, entity string
		sub          SubQueue
		management   bool
	}{
		{"q", "q", Main, false},
		{"a/b", "a/b", Main, false},
		{"q/$DeadLetterQueue", "q", DeadLetter, false},
		{"q/$Transfer/$DeadLetterQueue", "q", TransferDeadLetter, false},
		{"q/$TRANSFER/$deadletterqueue/$Management", "q", TransferDeadLetter, true},
		{"t/Subscriptions/s/$deadletterqueue/$management", "t/Subscriptions/s", DeadLetter, true},
		{"q//$management", "q", Main, true},
		{"$management", "", Main, true},
		{"$deadletterqueue", "", DeadLetter, false},
		{"x$management", "x$management", Main, false},
		{"x$deadletterqueue", "x$deadletterqueue", Main, false},
		{"q/$Transfer", "q/$Transfer", Main, false},
		{"q/$management/$deadletterqueue", "q/$management", DeadLetter, false},
		{"", "", Main, false},
	} {
		rest, management := CutManagement(c.path)
		entity, sub := CutSubQueue(rest)
		if entity != c.entity || sub != c.sub || management != c.management {
			t.Errorf("%q: %q, %d, %v", c.path, entity, sub, management)
		}
		if got := Entity(c.path); got != c.entity {
			t.Errorf("entity of %q: %q", c.path, got)
		}
	}
}

// FuzzPaths checks that splitting and joining a path gives the same path but for case, and that both ways agree.
func FuzzPaths(f *testing.F) {
	for _, path := range []string{"t/Subscriptions/s", "a/subscriptions/b/subscriptions/c/rules/d", "q/$Transfer/$DeadLetterQueue/$management", "//", "\u023a/s"} {
		f.Add(path, "name")
	}
	f.Fuzz(func(t *testing.T, path, name string) {
		if topic, sub, ok := SplitSubscription(path); ok {
			if !strings.EqualFold(Subscription(topic, sub), path) || !IsReserved(path) {
				t.Errorf("%q is of %q and %q", path, topic, sub)
			}
		} else if topic != path || sub != "" {
			t.Errorf("%q: %q and %q, and no subscription", path, topic, sub)
		}
		if !strings.Contains(name, "/") && path != "" {
			if topic, sub, ok := SplitSubscription(Subscription(path, name)); !ok || topic != path || sub != name {
				t.Errorf("%q and %q: %q and %q", path, name, topic, sub)
			}
		}
		if strings.HasSuffix(path, "/") || Entity(path) != path {
			return // several slashes before a node are lost
		}
		for _, sub := range []SubQueue{Main, DeadLetter, TransferDeadLetter} {
			rest, managed := CutManagement(Management(sub.Join(path)))
			if entity, cut := CutSubQueue(rest); !managed || entity != path || cut != sub {
				t.Errorf("%q, %d: %q, %d, %v", path, sub, entity, cut, managed)
			}
		}
	})
}
