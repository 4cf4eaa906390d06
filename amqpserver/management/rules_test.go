package management

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"
)

// subscriptionOf makes a topic "t" with a subscription "s" and returns the latter.
func subscriptionOf(t testing.TB, ns *emulator.Namespace) *emulator.Entity {
	t.Helper()
	if _, err := ns.Entities().CreateTopic("t",
		emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "s"}}}); err != nil {
		t.Fatalf("create the topic: %v", err)
	}
	q, err := ns.Entity("t/Subscriptions/s")
	if err != nil {
		t.Fatalf("find the subscription: %v", err)
	}
	return q
}

// subscription returns the entity of the node as a subscription.
func (f *fixture) subscription() *emulator.Subscription {
	f.Helper()
	s, err := f.ctx.Queue.Subscription()
	if err != nil {
		f.Fatalf("subscription: %v", err)
	}
	return s
}

// inRuleBubble runs a test on the node of a subscription.
func inRuleBubble(t *testing.T, test func(f *fixture)) {
	t.Helper()
	inBubble(t, func(f *fixture) {
		f.queue = subscriptionOf(f, f.ns)
		f.ctx.Queue = f.queue
		test(f)
	})
}

// ruleNamed returns the arguments of add-rule.
func ruleNamed(name string, description ...amqp.Pair) amqp.Map {
	return amqp.Map{{Key: "rule-name", Value: name}, {Key: "rule-description", Value: amqp.Map(description)}}
}

func sqlFilter(text string) amqp.Pair {
	return amqp.Pair{Key: "sql-filter", Value: amqp.Map{{Key: "expression", Value: text}}}
}

func sqlAction(text string) amqp.Pair {
	return amqp.Pair{Key: "sql-rule-action", Value: amqp.Map{{Key: "expression", Value: text}}}
}

// correlationFilter returns a filter as .NET and JavaScript write it: all fields, null if unset.
func correlationFilter(label any, properties amqp.Map) amqp.Pair {
	return amqp.Pair{Key: "correlation-filter", Value: amqp.Map{
		{Key: "correlation-id", Value: nil}, {Key: "message-id", Value: nil}, {Key: "to", Value: nil},
		{Key: "reply-to", Value: nil},
		{Key: "label", Value: label}, {Key: "session-id", Value: nil}, {Key: "reply-to-session-id", Value: nil},
		{Key: "content-type", Value: nil},
		{Key: "properties", Value: properties},
	}}
}

// TestQUO9_NamesOfRulesAreThoseOfTheOtherAPI: AMQP must not make rules that can't be read or removed over HTTP.
func TestQUO9_NamesOfRulesAreThoseOfTheOtherAPI(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		for _, name := range []string{"", strings.Repeat("n", 51), "a/b", "a b", "b@d", ".", "..", "$mine",
			"Schön", "-a", "a?b"} {
			f.request("add-rule", ruleNamed(name, sqlFilter("1=1"))).want(f, 400, "com.microsoft:argument-error")
		}
		for _, name := range []string{strings.Repeat("n", 50), "a.b-c_d", "_a~", "0"} {
			f.request("add-rule", ruleNamed(name, sqlFilter("1=1"))).want(f, 200, "")
		}
		f.request("remove-rule", amqp.Map{{Key: "rule-name", Value: "$Default"}}).want(f, 200, "")
		f.request("add-rule", ruleNamed("$Default", sqlFilter("1=1"))).want(f, 200, "")
	})
}

// rules lists the rules, decoded from the wire.
func (f *fixture) rules(skip, top any) []amqp.List {
	f.Helper()
	raw := amqptest.EncodeRequest(f, "1", amqp.Map{{Key: "operation", Value: "com.microsoft:enumerate-rules"}},
		amqp.Map{{Key: "skip", Value: skip}, {Key: "top", Value: top}})
	resp, err := message.Scan(f.handle(f.ctx, raw))
	if err != nil {
		f.Fatalf("scan: %v", err)
	}
	body, err := resp.BodyValue()
	if err != nil {
		f.Fatalf("decode: %v", err)
	}
	m, _ := body.(amqp.Map)
	v, _ := m.Get("rules")
	items, ok := v.(amqp.List)
	if !ok {
		f.Fatalf("rules are %T, want a list", v)
	}
	var rules []amqp.List
	for _, item := range items {
		d, _ := item.(amqp.Map).Get("rule-description")
		described := d.(amqp.Described)
		if described.Descriptor != uint64(0x0000013700000004) {
			f.Fatalf("descriptor of a rule: %#x", described.Descriptor)
		}
		rules = append(rules, described.Value.(amqp.List))
	}
	return rules
}

func TestTOP4_EnumerateRulesShowsTheDefaultRule(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		rules := f.rules(int32(0), int32(100))
		want := fmt.Sprint([]amqp.List{{amqp.Described{Descriptor: uint64(0x1370000007), Value: amqp.List{}},
			amqp.Described{Descriptor: uint64(0x13700000005),
				Value: amqp.List{}}, "$Default", amqp.TimestampOf(time.Now())}})
		if got := fmt.Sprint(rules); got != want {
			f.Errorf("rules\n%s, want\n%s", got, want)
		}
	})
}

// The bytes of amqp-data-plane 7.4: descriptors in full width, empty lists in short form, the level as an int.
func TestTOP4_DefaultRuleOnTheWire(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		raw := amqptest.EncodeRequest(f, "1", amqp.Map{{Key: "operation", Value: "com.microsoft:enumerate-rules"}},
			amqp.Map{{Key: "skip", Value: int32(0)}, {Key: "top", Value: int32(1)}})
		resp := f.handle(f.ctx, raw)
		filter := append([]byte{0x00, 0x80}, 0, 0, 0, 0x13, 0x70, 0, 0, 0x07, 0x45)
		action := append([]byte{0x00, 0x80}, 0, 0, 0x01, 0x37, 0, 0, 0, 0x05, 0x45)
		if !bytes.Contains(resp, append(filter, action...)) {
			f.Errorf("reply % x", resp)
		}
	})
}

func TestTOP8_TOP16_RulesInTheDialectOfEverySDK(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			inRuleBubble(t, func(f *fixture) {
				do := func(operation string, fields amqp.Map) {
					f.Helper()
					decodeAnswer(f, f.handle(f.ctx, d.encode(f, d, operation, fields))).want(f, 200, "")
				}
				do("add-rule", ruleNamed("c-sql", sqlFilter("a = 1"), sqlAction("SET b = 2"),
					amqp.Pair{Key: "rule-name", Value: "c-sql"}))
				do("add-rule", ruleNamed("b-correlation",
					correlationFilter("label", amqp.Map{{Key: "p", Value: int32(5)}, {Key: "t", Value: "x"}}),
					amqp.Pair{Key: "sql-rule-action", Value: nil}))
				do("add-rule", ruleNamed("d-true", sqlFilter("1=1")))
				do("remove-rule", amqp.Map{{Key: "rule-name", Value: "$Default"}})
				nothing := amqp.Described{Descriptor: uint64(0x13700000005), Value: amqp.List{}}
				created := amqp.TimestampOf(time.Now())
				want := fmt.Sprint([]amqp.List{
					{amqp.Described{Descriptor: uint64(0x1370000009),
						Value: amqp.List{nil, nil, nil, nil, "label", nil, nil, nil,
							amqp.Map{{Key: "p", Value: int32(5)}, {Key: "t", Value: "x"}}}}, nothing,
						"b-correlation", created},
					{amqp.Described{Descriptor: uint64(0x1370000006), Value: amqp.List{"a = 1", int32(20)}},
						amqp.Described{Descriptor: uint64(0x13700000006),
							Value: amqp.List{"SET b = 2", int32(20)}}, "c-sql", created},
					{amqp.Described{Descriptor: uint64(0x1370000006), Value: amqp.List{"1=1", int32(20)}},
						nothing, "d-true", created},
				})
				if got := fmt.Sprint(f.rules(uint32(0), int32(2147483647))); got != want {
					f.Errorf("rules\n%s, want\n%s", got, want)
				}
			})
		})
	}
}

// A null field is not tested; an empty text is, and is returned as such.
func TestTOP9_EmptyTextsOfACorrelationFilterAreTested(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		f.request("remove-rule", amqp.Map{{Key: "rule-name", Value: "$Default"}}).want(f, 200, "")
		f.request("add-rule", ruleNamed("a", correlationFilter("", nil))).want(f, 200, "")
		f.request("add-rule", ruleNamed("b", correlationFilter(nil, nil))).want(f, 200, "")
		rules, err := f.subscription().Rules(0, 2)
		if err != nil || rules[0].Correlation.Label == nil || *rules[0].Correlation.Label != "" ||
			rules[0].Correlation.To != nil || rules[1].Correlation.Label != nil {
			f.Errorf("rules %+v, %v", rules, err)
		}
		shown := f.rules(uint32(0), uint32(2))
		for i, want := range []any{"", nil} {
			filter := shown[i][0].(amqp.Described).Value.(amqp.List)
			if filter[4] != want || filter[2] != nil {
				f.Errorf("rule %d is shown as %v", i, filter)
			}
		}
	})
}

// A time without a zone, given over HTTP, becomes a timestamp here: no client knows our own descriptor.
func TestTOP16_UnzonedTimesLeaveAsTimestamps(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		at := amqp.Timestamp(1_700_000_000_000)
		rule := emulator.RuleOptions{Name: "a", Correlation: &emulator.CorrelationFilter{
			Properties: emulator.Values{"at": amqp.Described{Descriptor: emulator.DescriptorUnzoned, Value: at}},
		}}
		done := make(chan error, 1)
		if err := f.subscription().AddRule(rule, emulator.CompletionFunc(func(err error) { done <- err })); err != nil {
			f.Fatalf("add rule: %v", err)
		}
		if err := <-done; err != nil {
			f.Fatalf("commit rule: %v", err)
		}
		want := fmt.Sprint(amqp.Map{{Key: "at", Value: at}})
		if got := fmt.Sprint(f.rules(int32(0), int32(100))); !strings.Contains(got, want) {
			f.Errorf("rules %s, want them to have %s", got, want)
		}
	})
}

// The bytes are those of Azure.Messaging.ServiceBus 7.21.0 for 12.5m.
func TestTOP9_TOP16_DecimalsComeBackAsTheyWere(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		properties := amqp.Map{{Key: "price", Value: amqp.Decimal128{0x0c, 0x3e, 15: 125}}}
		f.request("add-rule", ruleNamed("a", correlationFilter(nil, properties))).want(f, 200, "")
		if got := fmt.Sprint(f.rules(int32(0), int32(100))); !strings.Contains(got, fmt.Sprint(properties)) {
			f.Errorf("rules %s, want them to have %v", got, properties)
		}
	})
}

func TestTOP16_PagesEndWithNoContent(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		for _, name := range []string{"b", "a"} {
			f.request("add-rule", ruleNamed(name, sqlFilter("1=0"))).want(f, 200, "")
		}
		for i, want := range []string{"$Default", "a", "b"} {
			if page := f.rules(int64(i), int32(1)); len(page) != 1 || page[0][2] != want {
				f.Errorf("page %d is %v, want %s", i, page, want)
			}
		}
		a := f.request("enumerate-rules", amqp.Map{{Key: "skip", Value: int32(3)}, {Key: "top", Value: int32(1)}})
		a.want(f, 204, "com.microsoft:rules-not-found")
		if a.text != "No rules found" || a.Value != nil {
			f.Errorf("text %q, body %v", a.text, a.Value)
		}
	})
}

func TestTOP8_ERR6_RefusalsOfRules(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		f.ctx.TrackingSuffix = func(string) string { return " TrackingId:x" }
		a := f.request("add-rule", ruleNamed("$default", sqlFilter("1=1")))
		a.want(f, 409, "com.microsoft:entity-already-exists")
		if a.text != "The messaging entity 'sbemulatorns:Topic:t|s|$default' already exists. TrackingId:x" {
			f.Errorf("text %q", a.text)
		}
		a = f.request("remove-rule", amqp.Map{{Key: "rule-name", Value: "nope"}})
		a.want(f, 404, "amqp:not-found")
		if a.text != "The messaging entity 'sbemulatorns:Topic:t|s|nope' could not be found. TrackingId:x" {
			f.Errorf("text %q", a.text)
		}
		a = f.request("add-rule", ruleNamed("r", sqlFilter("a = = 5 AND (")))
		a.want(f, 400, "com.microsoft:argument-error")
		if !strings.HasPrefix(a.text, "There was an error parsing the SQL expression. [Token line=1, column=4,") {
			f.Errorf("text %q", a.text)
		}
		for what, fields := range map[string]amqp.Map{
			"no name":               {{Key: "rule-description", Value: amqp.Map{sqlFilter("1=1")}}},
			"no description":        {{Key: "rule-name", Value: "r"}},
			"no filter":             ruleNamed("r"),
			"two filters":           ruleNamed("r", sqlFilter("1=1"), correlationFilter("x", nil)),
			"filter that is no map": ruleNamed("r", amqp.Pair{Key: "sql-filter", Value: "1=1"}),
			"no expression":         ruleNamed("r", amqp.Pair{Key: "sql-filter", Value: amqp.Map{}}),
			"number for a label":    ruleNamed("r", correlationFilter(int32(5), nil)),
			"action that is no map": ruleNamed("r", sqlFilter("1=1"), amqp.Pair{Key: "sql-rule-action", Value: 5}),
			"key that is no text":   ruleNamed("r", correlationFilter("x", amqp.Map{{Key: 5, Value: "x"}})),
			"list for a property":   ruleNamed("r", correlationFilter("x", amqp.Map{{Key: "p", Value: amqp.List{}}})),
			"action with a typo":    ruleNamed("r", sqlFilter("1=1"), sqlAction("UPDATE a = 1")),
			"properties of a list": ruleNamed("r",
				amqp.Pair{Key: "correlation-filter", Value: amqp.Map{{Key: "properties", Value: amqp.List{}}}}),
		} {
			if a := f.request("add-rule", fields); a.code != 400 || a.condition != "com.microsoft:argument-error" {
				f.Errorf("%s: %d %q %q", what, a.code, a.condition, a.text)
			}
		}
		a = f.request("add-rule", amqp.Map{{Key: "rule-name", Value: int32(5)},
			{Key: "rule-description", Value: amqp.Map{sqlFilter("1=1")}}})
		a.want(f, 400, "com.microsoft:argument-error")
		if !strings.HasPrefix(a.text, "The argument 'rule-name' is the value 5; expected ") {
			f.Errorf("text %q", a.text)
		}
		f.request("remove-rule", nil).want(f, 400, "com.microsoft:argument-error")
		f.request("enumerate-rules", nil).want(f, 400, "com.microsoft:argument-error")
		if rules := f.rules(int32(0), int32(10)); len(rules) != 1 {
			f.Errorf("%d rules at the end, want the default one", len(rules))
		}
	})
}

func TestTOP8_OnlySubscriptionsHaveRules(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		topic, err := f.ns.Entity("t")
		if err != nil {
			f.Fatalf("find the topic: %v", err)
		}
		orders, err := f.ns.Entity("orders")
		if err != nil {
			f.Fatalf("find the queue: %v", err)
		}
		for what, ctx := range map[string]Context{"topic": {Queue: topic}, "queue": {Queue: orders},
			"dead-letter queue": f.deadLetters()} {
			for operation, fields := range map[string]amqp.Map{
				"add-rule": ruleNamed("r", sqlFilter("1=1")), "remove-rule": {{Key: "rule-name", Value: "$Default"}},
				"enumerate-rules": {{Key: "skip", Value: int32(0)}, {Key: "top", Value: int32(9)}},
			} {
				if a := f.requestTo(ctx, operation, fields); a.code/100 == 2 {
					f.Errorf("%s of a %s: %d", operation, what, a.code)
				}
			}
		}
	})
}

func TestTOP8_FailedCommitIsAnError(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		f.journal.FailNext(1, fmt.Errorf("disk on fire"))
		f.request("add-rule", ruleNamed("r", sqlFilter("1=1"))).want(f, 500, "amqp:internal-error")
		f.request("add-rule", ruleNamed("r", sqlFilter("1=1"))).want(f, 200, "")
	})
}
