package sas

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// testRing has the policies root and send for the namespace, own for the queue q and root for the topic t.
func testRing() *Ring {
	all := Manage | Send | Listen
	return NewRing([]Policy{
		{Name: "root", Primary: "first", Secondary: "second", Claims: all},
		{Name: "send", Primary: "send-key", Claims: Send},
		{Name: "nothing", Primary: "nothing-key"},
	}, func(path string) []Policy {
		switch strings.ToLower(path) {
		case "q":
			return []Policy{{Name: "own", Primary: "own-key", Claims: Listen}}
		case "both", "both/subscriptions/s":
			return []Policy{{Name: "root", Primary: "first", Claims: Listen}, {Name: "send", Primary: "send-key", Claims: all}, {Name: "nothing", Primary: "nothing-key", Claims: Listen}}
		case "t":
			return []Policy{{Name: "root", Primary: "topic-key", Claims: Listen}, {Name: "root2", Primary: "x", Claims: all}}
		}
		return nil
	})
}

var hour2029 = epoch2030.Add(-time.Hour)

func TestRingVerify(t *testing.T) {
	r := testRing()
	tests := []struct {
		name, resource, policy, key string
		at                          Resource
		want                        Grant
		reason                      Reason
	}{
		{name: "primary key", resource: "sb://h/q", policy: "root", key: "first", at: Resource{Path: "q", Entity: "q"},
			want: Grant{KeyName: "root", Path: "q", Claims: Manage | Send | Listen}},
		{name: "secondary key, other case", resource: "SB://H/Q/", policy: "ROOT", key: "second", at: Resource{Path: "q/$management", Entity: "q"},
			want: Grant{KeyName: "root", Path: "q", Claims: Manage | Send | Listen}},
		{name: "whole namespace", resource: "https://h:443/", policy: "send", key: "send-key", at: Resource{Path: "q", Entity: "q"},
			want: Grant{KeyName: "send", Claims: Send}},
		{name: "entity's own", resource: "sb://h/q", policy: "own", key: "own-key", at: Resource{Path: "Q/$DeadLetterQueue", Entity: "Q"},
			want: Grant{KeyName: "own", Scope: "q", Path: "q", Claims: Listen}},
		{name: "topic's for its subscription", resource: "sb://h/t/Subscriptions/s", policy: "root", key: "topic-key", at: Resource{Path: "t/subscriptions/s", Entity: "t/subscriptions/s"},
			want: Grant{KeyName: "root", Scope: "t", Path: "t/subscriptions/s", Claims: Listen}},
		{name: "namespace's of the same name", resource: "sb://h/t", policy: "root", key: "first", at: Resource{Path: "t", Entity: "t"},
			want: Grant{KeyName: "root", Path: "t", Claims: Manage | Send | Listen}},
		{name: "percent-encoded path", resource: "sb://h/q/%24management", policy: "root", key: "first", at: Resource{Path: "q/$management", Entity: "q"},
			want: Grant{KeyName: "root", Path: "q/$management", Claims: Manage | Send | Listen}},
		{name: "two levels, token of the namespace", resource: "sb://h/", policy: "root", key: "first", at: Resource{Path: "both", Entity: "both"},
			want: Grant{KeyName: "root", Claims: Manage | Send | Listen}},
		{name: "two levels, token of the entity", resource: "sb://h/both", policy: "root", key: "first", at: Resource{Path: "both", Entity: "both"},
			want: Grant{KeyName: "root", Path: "both", Claims: Manage | Send | Listen}},
		{name: "three levels, token of the topic", resource: "sb://h/both", policy: "root", key: "first", at: Resource{Path: "both/Subscriptions/s", Entity: "both/Subscriptions/s"},
			want: Grant{KeyName: "root", Path: "both", Claims: Manage | Send | Listen}},
		{name: "two levels, the entity's allows more", resource: "sb://h/both", policy: "send", key: "send-key", at: Resource{Path: "both", Entity: "both"},
			want: Grant{KeyName: "send", Scope: "both", Path: "both", Claims: Manage | Send | Listen}},
		{name: "two levels, the entity's allows more and does not count", resource: "sb://h/", policy: "send", key: "send-key", at: Resource{Path: "both", Entity: "both"},
			want: Grant{KeyName: "send", Claims: Send}},
		{name: "two levels, one without rights", resource: "sb://h/both", policy: "nothing", key: "nothing-key", at: Resource{Path: "both", Entity: "both"},
			want: Grant{KeyName: "nothing", Scope: "both", Path: "both", Claims: Listen}},

		{name: "two levels, neither counts", resource: "sb://h/", policy: "nothing", key: "nothing-key", at: Resource{Path: "both", Entity: "both"}, reason: Audience},
		{name: "wrong key", resource: "sb://h/q", policy: "root", key: "wrong", at: Resource{Path: "q", Entity: "q"}, reason: BadSignature},
		{name: "empty key", resource: "sb://h/q", policy: "send", key: "", at: Resource{Path: "q", Entity: "q"}, reason: BadSignature},
		{name: "placeholder", resource: "sb://h/q", policy: "nobody", key: placeholder, at: Resource{Path: "q", Entity: "q"}, reason: UnknownKey},
		{name: "another entity's policy", resource: "sb://h/other", policy: "own", key: "own-key", at: Resource{Path: "other", Entity: "other"}, reason: UnknownKey},
		{name: "an entity's policy without the entity", resource: "sb://h/q", policy: "own", key: "own-key", at: Resource{Path: "q", Entity: ""}, reason: UnknownKey},
		{name: "entity's policy beyond it", resource: "sb://h/", policy: "own", key: "own-key", at: Resource{Path: "q", Entity: "q"}, reason: Audience},
		{name: "another resource", resource: "sb://h/other", policy: "root", key: "first", at: Resource{Path: "q", Entity: "q"}, reason: Audience},
		{name: "part of a segment", resource: "sb://h/q", policy: "root", key: "first", at: Resource{Path: "q2", Entity: "q2"}, reason: Audience},
		{name: "more than what is named", resource: "sb://h/q/$management", policy: "root", key: "first", at: Resource{Path: "q", Entity: "q"}, reason: Audience},
		{name: "a policy without rights", resource: "sb://h/q", policy: "nothing", key: "nothing-key", at: Resource{Path: "q", Entity: "q"}, reason: Audience},
	}
	for _, tt := range tests {
		g, err := r.Verify(Sign(tt.resource, tt.policy, tt.key, epoch2030), tt.at, hour2029)
		if tt.reason == 0 {
			tt.want.Until = epoch2030.Add(Skew)
			if err != nil || g != tt.want {
				t.Errorf("%s: %+v, %v", tt.name, g, err)
			}
			continue
		}
		var refused *TokenError
		if !errors.As(err, &refused) || refused.Reason != tt.reason || refused.KeyName != tt.policy {
			t.Errorf("%s: %+v, %v", tt.name, g, err)
		}
	}
}

func TestRingRefusesWhatIsNoToken(t *testing.T) {
	r := testRing()
	for text, want := range map[string]Reason{"": Missing, "x": Malformed, "Bearer x": Malformed, scheme + " " + strings.Repeat("x", maxToken): Malformed,
		Sign("sb://h/q", "root", "first", epoch2030) + "&se=1": Malformed} {
		_, err := r.Verify(text, Resource{Path: "q", Entity: "q"}, hour2029)
		var refused *TokenError
		if !errors.As(err, &refused) || refused.Reason != want {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// A token is accepted up to its expiry plus the skew of clocks, to the second.
func TestERR2_TokensEnd(t *testing.T) {
	r := testRing()
	token := Sign("sb://h/q", "root", "first", epoch2030)
	if _, err := r.Verify(token, Resource{Path: "q", Entity: "q"}, epoch2030.Add(Skew)); err != nil {
		t.Error(err)
	}
	_, err := r.Verify(token, Resource{Path: "q", Entity: "q"}, epoch2030.Add(Skew+time.Second))
	if !errors.Is(err, errExpired) || err.Error() != "ExpiredToken: The token is expired. Expiration time: '2030-01-01 00:00:00Z'." {
		t.Error(err)
	}
	never := Sign("sb://h/q", "root", "first", time.Unix(1<<62, 0))
	if g, err := r.Verify(never, Resource{Path: "q", Entity: "q"}, epoch2030); err != nil || g.Until.Year() < 9999 {
		t.Errorf("%v, %v", g.Until, err)
	}
}

// The vector, and one changed byte of its resource.
func TestChecklist20_TheVector(t *testing.T) {
	r := NewRing([]Policy{{Name: DefaultKeyName, Primary: DefaultKey, Claims: Manage}}, nil)
	if _, err := r.Verify(vector, Resource{Path: "orders", Entity: "orders"}, hour2029); err != nil {
		t.Error(err)
	}
	if _, err := r.Verify(strings.Replace(vector, "orders", "0rders", 1), Resource{Path: "0rders", Entity: "0rders"}, hour2029); !errors.Is(err, errSignature) {
		t.Error(err)
	}
}

func TestVerifyOwn(t *testing.T) {
	r := testRing()
	for resource, ok := range map[string]bool{"sb://h/q": true, "sb://h/q/$DeadLetterQueue": true, "sb://h/": false, "sb://h/other": false} {
		g, err := r.VerifyOwn(Sign(resource, "own", "own-key", epoch2030), nil, hour2029)
		if (err == nil) != ok || ok && (g.Scope != "q" || !strings.HasPrefix(g.Path, "q")) {
			t.Errorf("%s: %+v, %v", resource, g, err)
		}
	}
	if _, err := r.VerifyOwn("x", nil, hour2029); !errors.Is(err, errMalformed) {
		t.Error(err)
	}
}

func TestRingKey(t *testing.T) {
	r := testRing()
	for _, tt := range []struct {
		name, key string
		want      bool
	}{{"root", "first", true}, {"Root", "second", true}, {"root", "First", false}, {"root", "", false}, {"send", "", false}, {"nobody", "", false}, {"own", "own-key", false}} {
		claims, ok := r.Key(tt.name, tt.key)
		if ok != tt.want || ok && claims == 0 {
			t.Errorf("%s %s: %v %v", tt.name, tt.key, claims, ok)
		}
	}
}

// A grant counts for another entity if its token covers that entity too and its policy counts there.
func TestGovernsIsWhatTokenAndPolicyAreFor(t *testing.T) {
	for _, tt := range []struct {
		scope, path, entity string
		want                bool
	}{
		{"", "", "T/Subscriptions/s", true}, {"", "t", "T/Subscriptions/s", true}, {"t", "t", "T/Subscriptions/s", true},
		{"", "other", "T/Subscriptions/s", false}, {"", "t2", "t", false}, {"", "q", "other", false},
		{"t2", "", "T/Subscriptions/s", false}, {"t/subscriptions", "t/subscriptions", "t/Subscriptions/s", false},
		{"a", "a", "a/b", false}, {"a", "a", "A", true}, {"t", "t", "t/subscriptions/x/y", false},
	} {
		if got := (Grant{Scope: tt.scope, Path: tt.path}).Governs(tt.entity); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// Letters whose lower case has another length neither move the place of a cut nor crash anything.
func TestOwnersOfPathsWithOddLetters(t *testing.T) {
	for path, want := range map[string][]string{
		"T/Subscriptions/S":                               {"t/subscriptions/s", "t"},
		"t/subscriptions/x/y":                             {"t/subscriptions/x/y"},
		"\u212a\u212aa/bcd/subscriptions/s":               {"kka/bcd/subscriptions/s", "kka/bcd"},
		strings.Repeat("\u023a", 40) + "/Subscriptions/s": {strings.Repeat("\u2c65", 40) + "/subscriptions/s", strings.Repeat("\u2c65", 40)},
	} {
		if got := owners(path); !slices.Equal(got, want) {
			t.Errorf("%q: %q", path, got)
		}
	}
}

func TestTokenHost(t *testing.T) {
	for resource, want := range map[string]string{
		"sb://orders.localhost:5671/q": "orders.localhost:5671", "orders.servicebus.windows.net/q": "orders.servicebus.windows.net",
		"10.0.0.7:5672": "10.0.0.7:5672", "q": "", "a.b/c": "", "://h/q": "", "": "",
	} {
		if got := (Token{Resource: resource}).Host(); got != want {
			t.Errorf("the host of %q is %q, want %q", resource, got, want)
		}
	}
}

func TestClaims(t *testing.T) {
	for _, tt := range []struct {
		have, need Claims
		want       bool
	}{{Manage, Send | Listen, true}, {Send, Listen, false}, {Send | Listen, Manage, false}, {Send, 0, true}, {0, 0, false}, {Listen, Listen, true}} {
		if got := tt.have.Allows(tt.need); got != tt.want {
			t.Errorf("%s for %s: %v", tt.have, tt.need, got)
		}
	}
	if c := ParseClaims([]string{"listen", "SEND", "fly"}); c != Listen|Send || c.String() != "Send,Listen" {
		t.Errorf("parsed %s", c)
	}
	if got, want := Required(Send, "h:1", "T/s"), "Unauthorized access. 'Send' claim(s) are required to perform this operation. Resource: 'sb://h:1/t/s'."; got != want {
		t.Error(got)
	}
}

// Many goroutines may use a ring while policies change. It asks only for the policies of one entity.
func TestRingIsSharedAndAsksForOneEntity(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	r := NewRing(nil, func(path string) []Policy {
		mu.Lock()
		defer mu.Unlock()
		asked[path]++
		return []Policy{{Name: "p", Primary: fmt.Sprint("key", asked[path]%2), Claims: Send}}
	})
	token := Sign("sb://h/t", "p", "key1", epoch2030)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				_, _ = r.Verify(token, Resource{Path: "t/subscriptions/s", Entity: "t/Subscriptions/s"}, hour2029)
			}
		})
	}
	all.Wait()
	if len(asked) != 2 || asked["t"] != 400 || asked["t/subscriptions/s"] != 400 {
		t.Errorf("asked for %v", asked)
	}
}

// FuzzVerify looks for a token that is accepted although the key did not sign exactly its text.
func FuzzVerify(f *testing.F) {
	f.Add(vector)
	f.Add(Sign("sb://h/q", "send", "wrong", epoch2030))
	f.Add(strings.ReplaceAll(vector, "%2F", "%2f"))
	f.Add(scheme + " sr=&sig=&se=&skn=")
	f.Add("SharedAccessSignature sr=a&sr=b&sig=AAAA&se=9999999999&skn=send")
	r := NewRing([]Policy{{Name: DefaultKeyName, Primary: DefaultKey, Claims: Manage}, {Name: "send", Primary: "k", Claims: Send}}, nil)
	f.Fuzz(func(t *testing.T, text string) {
		g, err := r.Verify(text, Resource{Path: "orders/x", Entity: "orders"}, hour2029)
		if err != nil {
			var refused *TokenError
			if !errors.As(err, &refused) || refused.Reason == 0 || strings.Contains(err.Error(), DefaultKey) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		// An accepted token has the vector's fields, perhaps in another order or with other escapes.
		parsed, err := ParseToken(text)
		want, _ := ParseToken(vector)
		if err != nil || parsed.RawResource != want.RawResource || !parsed.Expires.Equal(want.Expires) || !strings.EqualFold(g.KeyName, DefaultKeyName) {
			t.Errorf("%q was let in as %+v", text, g)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	r := testRing()
	token := Sign("sb://h/q", "own", "own-key", epoch2030)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Verify(token, Resource{Path: "q", Entity: "q"}, hour2029); err != nil {
			b.Fatal(err)
		}
	}
}

// A token for the target of a forward may name it alone. It opens nothing else.
func TestRingVerifiesATargetByItsName(t *testing.T) {
	now := time.Now()
	root := Policy{Name: "root", Claims: Manage | Send | Listen, Primary: "key"}
	r := NewRing([]Policy{root}, nil)
	text := Sign("Orders", "root", "key", now.Add(time.Hour))
	if g, err := r.Verify(text, Resource{Path: "orders", Entity: "orders", ByName: true}, now); err != nil || g.Path != "orders" {
		t.Errorf("as a target: %+v, %v", g, err)
	}
	for _, at := range []Resource{{Path: "orders", Entity: "orders"}, {Path: "other", Entity: "other", ByName: true}, {ByName: true}} {
		if _, err := r.Verify(text, at, now); err == nil {
			t.Errorf("%+v is opened", at)
		}
	}
}
