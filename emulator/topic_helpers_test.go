package emulator_test

import (
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// topicBubble is bubble with a topic "t" that has subscriptions of the given names. The broker starts on the topic.
func topicBubble(t *testing.T, o emulator.TopicOptions, subs []emulator.SubscriptionOptions, f func(b *broker)) {
	t.Helper()
	topicBubbleWith(t, emulator.Options{}, o, subs, f)
}

func topicBubbleWith(t *testing.T, no emulator.Options, o emulator.TopicOptions, subs []emulator.SubscriptionOptions, f func(b *broker)) {
	t.Helper()
	bubbleWith(t, no, emulator.QueueOptions{}, func(b *broker) {
		o.Subscriptions = subs
		for _, s := range subs {
			b.ns.Plan(s.Queue.ForwardTo, s.Queue.ForwardDeadLetteredMessagesTo)
		}
		if _, err := b.ns.Entities().CreateTopic("t", o); err != nil {
			t.Fatalf("create topic: %v", err)
		}
		f(b.on("t"))
	})
}

// named returns plain subscriptions.
func named(names ...string) []emulator.SubscriptionOptions {
	list := make([]emulator.SubscriptionOptions, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return list
}

// withRules is one subscription with rules.
func withRules(name string, rules ...emulator.RuleOptions) emulator.SubscriptionOptions {
	return emulator.SubscriptionOptions{Name: name, Rules: rules}
}

func sql(name, text string) emulator.RuleOptions { return emulator.RuleOptions{Name: name, SQL: text} }

// action is a rule that selects everything and changes it.
func action(name, text string) emulator.RuleOptions {
	return emulator.RuleOptions{Name: name, SQL: "1=1", Action: text}
}

// sub returns the broker working on a subscription of "t".
func (b *broker) sub(name string) *broker {
	b.t.Helper()
	return b.on("t/Subscriptions/" + name)
}

// again is a restart after which the broker works on the topic.
func (b *broker) again() *broker {
	b.t.Helper()
	b.restart()
	return b.on("t")
}

// subscribe creates a subscription of "t".
func (b *broker) subscribe(o emulator.SubscriptionOptions) {
	b.t.Helper()
	if _, err := b.ns.Entities().CreateSubscription("t", o); err != nil {
		b.t.Fatalf("create subscription %s: %v", o.Name, err)
	}
}

// subscription returns the entity as the subscription that it is.
func (b *broker) subscription() *emulator.Subscription {
	b.t.Helper()
	s, err := b.q.Subscription()
	if err != nil {
		b.t.Fatalf("subscription: %v", err)
	}
	return s
}

// changeRules changes rules of the entity, which need not have any, and waits.
func (b *broker) changeRules(f func(s *emulator.Subscription, c emulator.Completion) error) error {
	b.t.Helper()
	s, err := b.q.Subscription()
	if err != nil {
		return err
	}
	done := newOutcome()
	if err := f(s, done); err != nil {
		return err
	}
	return <-done
}

// tryRule adds a rule and waits.
func (b *broker) tryRule(o emulator.RuleOptions) error {
	b.t.Helper()
	return b.changeRules(func(s *emulator.Subscription, c emulator.Completion) error { return s.AddRule(o, c) })
}

func (b *broker) addRule(o emulator.RuleOptions) {
	b.t.Helper()
	if err := b.tryRule(o); err != nil {
		b.t.Fatalf("add rule %s: %v", o.Name, err)
	}
}

func (b *broker) tryRemoveRule(name string) error {
	b.t.Helper()
	return b.changeRules(func(s *emulator.Subscription, c emulator.Completion) error { return s.RemoveRule(name, c) })
}

// ruleNames lists the names of all rules.
func (b *broker) ruleNames() []string {
	b.t.Helper()
	rules, err := b.subscription().Rules(0, 1<<30)
	if err != nil {
		b.t.Fatalf("list rules: %v", err)
	}
	return mapped(rules, func(o emulator.RuleOptions) string { return o.Name })
}

// props makes a message with a body and application properties, keys and values in turn.
func props(body string, pairs ...any) *goamqp.Message {
	m := text(body)
	m.ApplicationProperties = map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m.ApplicationProperties[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// labelled makes a message with a subject.
func labelled(body, label string) *goamqp.Message {
	m := text(body)
	m.Properties = &goamqp.MessageProperties{Subject: &label}
	return m
}

// firstSeq is the enqueued sequence number.
func (g *got) firstSeq() int64 {
	g.t.Helper()
	return annotation[int64](g, "x-opt-enqueue-sequence-number")
}

// wantStored checks how many messages and bodies the journal holds.
func (b *broker) wantStored(messages, bodies int) {
	b.t.Helper()
	m, n := b.j.Stored()
	equal(b.t, "messages and bodies in the journal", [2]int{m, n}, [2]int{messages, bodies})
}
