package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// jmsBubble is a broker with the topics "t" and "other".
func jmsBubble(t *testing.T, f func(b *broker)) {
	t.Helper()
	topicBubble(t, emulator.TopicOptions{}, nil, func(b *broker) {
		if _, err := b.ns.Entities().CreateTopic("other", emulator.TopicOptions{}); err != nil {
			t.Fatal(err)
		}
		f(b)
	})
}

func durable(name, client string) emulator.SubscribeOptions {
	return emulator.SubscribeOptions{Name: name, ClientID: client, Durable: true}
}

func shared(o emulator.SubscribeOptions) emulator.SubscribeOptions {
	o.Shared = true
	return o
}

func selecting(o emulator.SubscribeOptions, text string) emulator.SubscribeOptions {
	o.Selector = text
	return o
}

// join subscribes to a topic as a JMS consumer.
func (b *broker) join(topic string, o emulator.SubscribeOptions) *emulator.Subscription {
	b.t.Helper()
	s, err := b.ns.Subscribe(topic, o)
	if err != nil {
		b.t.Fatalf("subscribe to %s: %v", topic, err)
	}
	return s
}

// unsubscribe deletes the durable subscription of a JMS client.
func (b *broker) unsubscribe(name, clientID string) error {
	s := b.ns.FindDurable(name, clientID)
	if s == nil {
		return emulator.NotFound(name)
	}
	return s.Unsubscribe()
}

// leave ends a JMS consumer.
func (b *broker) leave(s *emulator.Subscription) {
	b.t.Helper()
	if err := s.Leave(); err != nil {
		b.t.Fatalf("leave %s: %v", s.Path(), err)
	}
}

// subscriptions lists the names of the subscriptions of a topic.
func (b *broker) subscriptionsOf(topic string) []string {
	b.t.Helper()
	list, err := b.ns.Entities().Subscriptions(topic)
	if err != nil {
		b.t.Fatal(err)
	}
	return mapped(list, func(s *emulator.Subscription) string { return s.Options().Name })
}

// at returns the broker working on an entity that is there already.
func (b *broker) subAt(s *emulator.Subscription) *broker {
	c := *b
	c.q = s.Entity
	return &c
}

func TestJMS2_JMS9_NamesTellTheClient(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		for _, c := range []struct {
			o    emulator.SubscribeOptions
			want string
		}{
			{durable("audit", "app"), "audit$app$D"},
			{shared(durable("audit", "")), "audit$$D"},
			{shared(emulator.SubscribeOptions{Name: "audit", ClientID: "app"}), "audit$app$ND"},
			{shared(emulator.SubscribeOptions{Name: "audit"}), "audit$$ND"},
			{durable("com.example.Orders$Listener.on", "host:7@x"), "com.example.Orders$Listener.on$host:7@x$D"},
			{durable(strings.Repeat("n", 100), strings.Repeat("c", 157)), strings.Repeat("n", 100) + "$" + strings.Repeat("c", 157) + "$D"},
		} {
			s := b.join("t", c.o)
			equal(t, "name", s.Options().Name, c.want)
			equal(t, "path", s.Path(), "t/Subscriptions/"+c.want)
			equal(t, "client", *s.Client(), emulator.ClientAffine{ClientID: c.o.ClientID, Durable: c.o.Durable, Shared: c.o.Shared})
			name, client := emulator.ClientAffineOf(c.want)
			equal(t, "name in it", name, c.o.Name)
			equal(t, "client in it", *client, emulator.ClientAffine{ClientID: c.o.ClientID, Durable: c.o.Durable})
			found, _, err := b.ns.EntityAt(strings.ToUpper(s.Path()) + "/$deadletterqueue")
			if err != nil || found != s.Entity {
				t.Errorf("%s is not found by its path: %v", c.want, err)
			}
		}
		for client, want := range map[string]string{"": "$$ND", "app": "$app$ND", "ID:a-b:1": "$$ND"} {
			name := b.join("t", emulator.SubscribeOptions{ClientID: client}).Options().Name
			if len(name) != 36+len(want) || !strings.HasSuffix(name, want) {
				t.Errorf("the unshared subscription of the client %q that is not durable is %q, want a random name and %q", client, name, want)
			}
		}
	})
}

func TestJMS9_NamesThatAreNoPath(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		for _, c := range []struct{ name, client, want string }{
			{"", "app", "needs a name"},
			{"a/b", "app", "The subscription name 'a/b' can't be part of a path"},
			{"a b", "app", "The subscription name 'a b'"},
			{"büro", "app", "The subscription name 'büro'"},
			{"a?b", "app", "The subscription name 'a?b'"},
			{"a", "x/y", "The client id 'x/y' can't be part of a path"},
			{"a", "x$y", "The client id 'x$y'"},
			{"a", "x%2Fy", "The client id"},
			{"a", "x\x00", "The client id"},
			{"a", "\xff", "The client id"},
			{"a", "日本", "The client id"},
			{"a", strings.Repeat("x", 257), "exceeds the '260' character limit"},
		} {
			_, err := b.ns.Subscribe("t", durable(c.name, c.client))
			wantCode(t, fmt.Sprintf("%q of %q", c.name, c.client), err, emulator.CodeArgument)
			wantText(t, fmt.Sprintf("%q of %q", c.name, c.client), err, c.want)
		}
		_, err := b.ns.Subscribe("none", durable("a", "x"))
		wantCode(t, "a missing topic", err, emulator.CodeNotFound)
		_, err = b.ns.Subscribe("q", durable("a", "x"))
		wantCode(t, "a queue", err, emulator.CodeNotFound)
		_, err = b.ns.Subscribe("t", selecting(durable("a", "x"), "color ="))
		wantCode(t, "a selector that does not parse", err, emulator.CodeArgument)
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"))
	})
}

func TestJMS4_CommittedWhenSubscribeReturns(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		s := b.join("t", durable("audit", "app"))
		temporary, err := b.ns.CreateTemporary(false)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.ns.AutoCreate("made", false, 0); err != nil {
			t.Fatal(err)
		}
		// What was acknowledged is in the journal, even if nothing else is written.
		stored := map[string]bool{}
		for _, op := range b.j.since(0) {
			if op.Kind == emulator.OpPutEntity {
				stored[op.Entity.Path] = true
			}
		}
		for _, path := range []string{s.Path(), temporary, "made"} {
			if !stored[path] {
				t.Errorf("%s is not stored", path)
			}
		}
		b.failOnce()
		if _, err := b.ns.Subscribe("t", durable("second", "app")); !errors.Is(err, errDisk) {
			t.Errorf("a subscription that can't be stored: %v", err)
		}
		synctest.Wait()
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"), "audit$app$D")
		b.join("t", durable("second", "app"))
	})
}

// What a crash between commit and answer leaves: the durable one is there, and not in use; what is not durable is gone.
func TestJMS4_JMS9_AfterARestart(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		kept := b.join("t", selecting(durable("audit", "app"), "color = 'red'"))
		b.join("t", shared(emulator.SubscribeOptions{Name: "loose"}))
		b.join("t", emulator.SubscribeOptions{})
		queue, err := b.ns.CreateTemporary(false)
		if err != nil {
			t.Fatal(err)
		}
		topic, err := b.ns.CreateTemporary(true)
		if err != nil {
			t.Fatal(err)
		}
		b.join(topic, durable("below", "app"))
		b.join(topic, emulator.SubscribeOptions{})
		b.on(queue).sendTexts("lost")
		b.on(topic).sendTexts("lost too")
		b.send(props("red", "color", "red"), props("blue", "color", "blue"))
		equal(t, "temporary", b.on(queue).q.Options().Temporary, true)

		b.restart()
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"), "audit$app$D")
		for _, path := range []string{queue, topic} {
			if b.ns.Exists(path) {
				t.Errorf("%s is still there", path)
			}
		}
		s := b.on(kept.Path())
		equal(t, "active messages", s.q.Counts().Active, 1)
		equal(t, "the one that was selected", s.one().body(), "red")
		equal(t, "client", *s.subscription().Client(), emulator.ClientAffine{ClientID: "app", Durable: true, Selector: "color = 'red'"})
		equal(t, "consumers", s.subscription().JMSConsumers(), 0)
		b.verify(true)
		b.wantStored(1, 1)
		b.restart() // nothing is left to delete
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"), "audit$app$D")
		b.join("other", durable("below", "app")) // the name is free again
	})
}

func TestJMS9_TheSelectorIsTheRule(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		s := b.join("t", selecting(durable("audit", "app"), " size BETWEEN 2 AND 3 AND Color = 'red' "))
		rules := s.Options().Rules
		equal(t, "rules", len(rules), 1)
		equal(t, "name", rules[0].Name, emulator.DefaultRuleName)
		equal(t, "text", rules[0].SQL, "size BETWEEN 2 AND 3 AND Color = 'red'")
		send := func() {
			b.on("t").send(props("a", "size", int32(2), "Color", "red"), props("b", "size", int32(4), "Color", "red"),
				props("c", "size", int32(2), "color", "red")) // names count letter by letter
		}
		send()
		equal(t, "received", bodies(b.subAt(s).receive(9)), "a")
		b.restart()
		send()
		equal(t, "received after a restart", bodies(b.on(s.Path()).receive(9)), "a a")
		plain := b.join("t", durable("all", "app"))
		equal(t, "without a selector", plain.Options().Rules[0].IsTrue(), true)

		// What does not read as a selector is a SQL filter, as for other subscriptions.
		q := b.on(plain.Path())
		if err := q.changeRules(func(s *emulator.Subscription, c emulator.Completion) error {
			return s.UpdateRule(sql(emulator.DefaultRuleName, "sys.Label LIKE 'x%'"), c)
		}); err != nil {
			t.Fatal(err)
		}
		b.on("t").send(labelled("y", "other"), labelled("x", "xyz"))
		equal(t, "by SQL", bodies(q.receive(9)), "x")
		b.leave(plain)
		b.on("t").send(labelled("kept", "xyz"))
		b.restart()
		again := b.join("t", selecting(durable("all", "app"), "a = 1"))
		equal(t, "a rule by hand stays, with its messages", again.Counts().Active, 2)
	})
}

func TestJMS7_OneActiveConsumerUnlessShared(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		const taken = "Cannot create a new consumer on subscriber audit$app$D because there is already a subscriber using the same name " +
			"with an active consumer on the same or different topic."
		s := b.join("t", durable("audit", "app"))
		for what, try := range map[string]func() error{
			"again":            func() error { _, err := b.ns.Subscribe("t", durable("audit", "app")); return err },
			"on another topic": func() error { _, err := b.ns.Subscribe("other", durable("audit", "app")); return err },
			"shared":           func() error { _, err := b.ns.Subscribe("t", shared(durable("audit", "app"))); return err },
			"other selector": func() error {
				_, err := b.ns.Subscribe("t", selecting(durable("audit", "app"), "a = 1"))
				return err
			},
		} {
			err := try()
			wantCode(t, what, err, emulator.CodeNotAllowed)
			wantText(t, what, err, taken)
		}
		_, err := b.ns.Subscribe("t", durable("AUDIT", "App"))
		wantCode(t, "in other letters", err, emulator.CodeNotAllowed)
		wantCode(t, "unsubscribe while it is active", b.unsubscribe("audit", "app"), emulator.CodeNotAllowed)
		other, none := b.join("t", durable("audit", "y")), b.join("t", durable("audit", ""))
		b.send(text("m"))
		for _, s := range []*emulator.Subscription{s, other, none} {
			equal(t, "copy of "+s.Path(), b.subAt(s).one().body(), "m")
		}
		b.leave(s)
		if again := b.join("t", durable("AUDIT", "App")); again != s {
			t.Error("the consumer that comes when the first has left gets another subscription")
		}
	})
}

func TestJMS7_SharedAndUnsharedExcludeEachOther(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		b.leave(b.join("t", shared(durable("audit", "app"))))
		_, err := b.ns.Subscribe("t", durable("audit", "app"))
		wantCode(t, "unshared", err, emulator.CodeNotAllowed)
		wantText(t, "unshared", err, "consumers share it")
		b.leave(b.join("t", durable("own", "app")))
		_, err = b.ns.Subscribe("t", shared(durable("own", "app")))
		wantText(t, "shared", err, "consumers can't share it")
		b.join("t", shared(emulator.SubscribeOptions{Name: "audit", ClientID: "app"})) // one that is not durable is another

		first := b.join("t", shared(durable("audit", "app")))
		if second := b.join("t", shared(durable("audit", "app"))); second != first {
			t.Error("the second consumer does not share the first one's subscription")
		}
		_, err = b.ns.Subscribe("t", selecting(shared(durable("audit", "app")), "a = 1"))
		wantText(t, "another selector", err, "another selector or of another topic")
		_, err = b.ns.Subscribe("other", shared(durable("audit", "app")))
		wantText(t, "another topic", err, "another selector or of another topic")
		b.leave(first)
		wantCode(t, "delete with another consumer", func() error {
			b.join("t", shared(durable("audit", "app")))
			return first.LeaveAndDelete()
		}(), emulator.CodeNotAllowed)
		equal(t, "consumers", first.JMSConsumers(), 1)
		if err := first.LeaveAndDelete(); err != nil {
			t.Fatal(err)
		}
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"), "audit$app$ND", "own$app$D")
	})
}

func TestJMS8_AnotherSelectorOrTopicMakesItAnew(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		s := b.join("t", durable("audit", "app"))
		b.send(text("kept"))
		b.leave(s)
		same := b.join("t", durable("audit", "app"))
		equal(t, "resumed with", same.Counts().Active, 1)
		b.leave(same)
		anew := b.join("t", selecting(durable("audit", "app"), "a = 1"))
		if anew == s {
			t.Fatal("another selector resumes the subscription")
		}
		equal(t, "made anew with", anew.Counts().Active, 0)
		b.leave(anew)
		other := selecting(durable("audit", "app"), "a = 1")
		_, err := b.ns.Subscribe("other", other)
		wantCode(t, "at another topic, without the right to delete the first", err, emulator.CodeNotAllowed)
		equalSlices(t, "of the first topic still", b.subscriptionsOf("t"), "audit$app$D")
		other.Replaces = anew.Path()
		b.leave(b.join("other", other))
		equalSlices(t, "of the first topic", b.subscriptionsOf("t"))
		equalSlices(t, "of the other one", b.subscriptionsOf("other"), "audit$app$D")

		// Rules by hand stay, whatever the selector.
		q := b.on("other/Subscriptions/audit$app$D")
		q.addRule(sql("more", "1=1"))
		if by := b.join("other", durable("audit", "app")); by != q.subscription() {
			t.Error("a subscription with rules by hand is made anew")
		}
		equalSlices(t, "rules", q.ruleNames(), emulator.DefaultRuleName, "more")
	})
}

func TestJMS8_QUO10_WhatCannotBeReplacedStays(t *testing.T) {
	bubbleWith(t, emulator.Options{Limits: emulator.ProfilePremium}, emulator.QueueOptions{}, func(b *broker) {
		for _, topic := range []string{"full", "other"} {
			if _, err := b.ns.Entities().CreateTopic(topic, emulator.TopicOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		idle := []*emulator.Subscription{b.join("full", durable("audit", "app")), b.join("other", durable("audit", "else"))}
		for _, s := range idle {
			b.leave(s)
		}
		for i := range emulator.ProfilePremium.Limits().Subscriptions - 1 {
			b.leave(b.join("full", selecting(durable(fmt.Sprint("n", i), "app"), "a = 1")))
		}
		o := durable("audit", "else")
		o.Replaces = idle[1].Path()
		_, err := b.ns.Subscribe("full", o)
		wantCode(t, "one too many", err, emulator.CodeQuotaExceeded)
		b.leave(b.join("full", selecting(durable("audit", "app"), "a = 1"))) // one for one
		equalSlices(t, "of the other topic", b.subscriptionsOf("other"), "audit$else$D")
	})
}

func TestJMS4_TheLastConsumerEndsWhatIsNotDurable(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		o := shared(emulator.SubscribeOptions{Name: "loose", ClientID: "app"})
		first, second := b.join("t", o), b.join("t", o)
		own := b.join("t", emulator.SubscribeOptions{Name: "ignored"})
		b.send(text("m"))
		b.leave(first)
		equal(t, "with one of two", b.subAt(second).one().body(), "m")
		var told []error
		second.Watch(emulator.Main, func(err error) { told = append(told, err) })
		b.leave(second)
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"), own.Options().Name)
		equal(t, "links that were told", len(told), 1)
		b.leave(own)
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"))
		b.verify(true)
		b.wantStored(0, 0)
		b.leave(own) // nothing more happens
	})
}

// A deletion that can't be written is tried again, and a consumer that comes first keeps the subscription.
func TestJMS4_ADeletionThatFails(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		o := shared(emulator.SubscribeOptions{Name: "loose"})
		s := b.join("t", o)
		b.failOnce()
		if err := s.Leave(); !errors.Is(err, errDisk) {
			t.Fatalf("leave: %v", err)
		}
		wait(30 * time.Second)
		equalSlices(t, "before it is tried again", b.subscriptionsOf("t"), "loose$$ND")
		if b.join("t", o) != s {
			t.Error("a consumer that comes in time gets another subscription")
		}
		wait(time.Hour)
		equalSlices(t, "with a consumer", b.subscriptionsOf("t"), "loose$$ND")
		b.failOnce()
		if err := s.Leave(); !errors.Is(err, errDisk) {
			t.Fatalf("leave: %v", err)
		}
		wait(2 * time.Minute)
		equalSlices(t, "after it was tried again", b.subscriptionsOf("t"))
	})
}

func TestJMS_TheDeletionOfATemporaryEntityFails(t *testing.T) {
	for _, topic := range []bool{false, true} {
		jmsBubble(t, func(b *broker) {
			path, err := b.ns.CreateTemporary(topic)
			if err != nil {
				t.Fatal(err)
			}
			b.failOnce()
			if err := b.ns.DeleteTemporary(path); !errors.Is(err, errDisk) {
				t.Fatalf("delete: %v", err)
			}
			equal(t, "there", b.ns.Exists(path), true)
			wait(2 * time.Minute)
			equal(t, "there after it was tried again", b.ns.Exists(path), false)
		})
	}
}

func TestJMS7_JoiningAndLeavingRace(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for i := range 50 {
					o := shared(emulator.SubscribeOptions{Name: "loose"})
					if i%2 == 0 {
						o.Durable = true
					}
					s, err := b.ns.Subscribe("t", o)
					if err != nil {
						t.Errorf("subscribe: %v", err)
						return
					}
					if s.CanReceive(emulator.Main) != nil {
						t.Error("a subscription that somebody uses is gone")
					}
					if err := s.Leave(); err != nil {
						t.Errorf("leave: %v", err)
					}
				}
			})
		}
		all.Wait()
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"), "loose$$D")
		b.verify(true)
	})
}

func TestJMS7_Unsubscribe(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		wantCode(t, "unknown", b.unsubscribe("none", "app"), emulator.CodeNotFound)
		b.leave(b.join("t", shared(durable("audit", ""))))
		b.join("t", shared(emulator.SubscribeOptions{Name: "loose"}))
		wantCode(t, "one that is not durable", b.unsubscribe("loose", ""), emulator.CodeNotFound)
		if err := b.unsubscribe("Audit", ""); err != nil {
			t.Fatal(err)
		}
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"), "loose$$ND")
		wantCode(t, "twice", b.unsubscribe("audit", ""), emulator.CodeNotFound)
	})
}

func TestJMS9_IdleSubscriptionsWithConsumersStay(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		o := durable("audit", "app")
		o.AutoDeleteOnIdle = idleSpan
		s := b.join("t", o)
		equal(t, "in use", s.Facts().InUse, true)
		wait(3 * idleSpan)
		equalSlices(t, "with a consumer that asks for nothing", b.subscriptionsOf("t"), "audit$app$D")
		b.leave(s)
		wait(idleSpan - time.Second)
		equalSlices(t, "before the span is over", b.subscriptionsOf("t"), "audit$app$D")
		b.leave(b.join("t", o))
		wait(idleSpan - time.Second)
		equalSlices(t, "after another use", b.subscriptionsOf("t"), "audit$app$D")
		wait(2 * time.Second)
		equalSlices(t, "after the span", b.subscriptionsOf("t"))
		o.AutoDeleteOnIdle = time.Second
		_, err := b.ns.Subscribe("t", o)
		wantCode(t, "a span that is too short", err, emulator.CodeArgument)
	})
}

func TestJMS9_ToolsMakeDurableOnes(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		es := b.ns.Entities()
		s, err := es.CreateSubscription("t", emulator.SubscriptionOptions{Name: "audit$app$D",
			Client: &emulator.ClientAffine{ClientID: "APP", Durable: true, Shared: true}})
		if err != nil {
			t.Fatal(err)
		}
		if b.join("t", shared(durable("audit", "app"))) != s {
			t.Error("a consumer does not find the subscription that a tool has made")
		}
		made, err := es.CreateSubscription("t", emulator.SubscriptionOptions{Name: "own$$D"})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "what the name says", *made.Client(), emulator.ClientAffine{Durable: true})
		for _, c := range []struct {
			topic  string
			name   string
			client *emulator.ClientAffine
			code   emulator.Code
			text   string
		}{
			{"other", "audit$app$D", nil, emulator.CodeAlreadyExists, "The topic 't' has a subscription 'audit$app$D' already"},
			{"t", "AUDIT$app$d", nil, emulator.CodeAlreadyExists, "already exists"},
			{"t", "x$app$ND", nil, emulator.CodeArgument, "made by its first JMS consumer"},
			{"t", "plain", &emulator.ClientAffine{ClientID: "app", Durable: true}, emulator.CodeArgument, "must be NAME$CLIENTID$D"},
			{"t", "x$app$D", &emulator.ClientAffine{ClientID: "other", Durable: true}, emulator.CodeArgument, "say 'other'"},
			{"t", "x$app$D", &emulator.ClientAffine{ClientID: "app"}, emulator.CodeArgument, "IsDurable"},
			{"t", "x$a b$D", nil, emulator.CodeArgument, "The client id 'a b'"},
		} {
			_, err := es.CreateSubscription(c.topic, emulator.SubscriptionOptions{Name: c.name, Client: c.client})
			wantCode(t, c.name, err, c.code)
			wantText(t, c.name, err, c.text)
		}
		_, err = es.UpdateSubscription("t", emulator.SubscriptionOptions{Name: "own$$D", Client: &emulator.ClientAffine{Durable: true, Shared: true}})
		wantText(t, "shared from now on", err, "ClientAffineProperties of the subscription 'own$$D' can't be changed")
		if _, err = es.UpdateSubscription("t", emulator.SubscriptionOptions{Name: "own$$D", Queue: emulator.QueueOptions{UserMetadata: "m"}}); err != nil {
			t.Fatal(err)
		}
		equal(t, "after an update", *made.Options().Client, emulator.ClientAffine{Durable: true})
		b.restart()
		equal(t, "shared after a restart", b.on("t/Subscriptions/audit$app$D").subscription().Client().Shared, true)
	})
}

func TestJMS9_TemporaryEntities(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		path, err := b.ns.CreateTemporary(false)
		if err != nil {
			t.Fatal(err)
		}
		if !emulator.LooksTemporary(path) || emulator.LooksTemporary("jms-temp-mine") {
			t.Errorf("the path %q does not tell what it is", path)
		}
		q := b.on(path)
		q.sendTexts("m")
		o := q.q.Options()
		o.UserMetadata = "changed" // its links would be told to attach again (LOCK-17), and end it
		_, err = b.ns.Entities().UpdateQueue(path, o)
		wantCode(t, "a change of its settings", err, emulator.CodeNotAllowed)
		var told []error
		q.q.Watch(emulator.Main, func(err error) { told = append(told, err) })
		for range 2 { // what is gone is no error
			if err := b.ns.DeleteTemporary(path); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, "links that were told", len(told), 1)
		wantCode(t, "send afterwards", q.trySend(text("late")), emulator.CodeNotFound)
		if err := b.ns.DeleteTemporary("q"); err != nil || !b.ns.Exists("q") {
			t.Errorf("a queue that is not temporary: %v", err)
		}
		topic, err := b.ns.CreateTemporary(true)
		if err != nil {
			t.Fatal(err)
		}
		s := b.join(topic, emulator.SubscribeOptions{})
		_, err = b.ns.Entities().UpdateTopic(topic, emulator.TopicOptions{UserMetadata: "changed"})
		wantCode(t, "a change of a topic's", err, emulator.CodeNotAllowed)
		_, err = b.ns.Entities().UpdateSubscription(topic, s.Options())
		wantCode(t, "a change of a subscription's", err, emulator.CodeNotAllowed)
		b.on(topic).sendTexts("event")
		equal(t, "of a temporary topic", b.subAt(s).one().body(), "event")
		if err := b.ns.DeleteTemporary(topic); err != nil {
			t.Fatal(err)
		}
		b.leave(s) // its topic took it along
		b.verify(true)
		b.wantStored(0, 0)
	})
}

// A transaction takes a reply and sends another, with its work on one partition of the entity to which it is bound.
func TestJMS6_TemporaryQueuesBindNoTransaction(t *testing.T) {
	bubble(t, emulator.QueueOptions{EnablePartitioning: true}, func(b *broker) {
		path, err := b.ns.CreateTemporary(false)
		if err != nil {
			t.Fatal(err)
		}
		replies := b.on(path)
		for _, key := range []string{"one", "two"} { // of two partitions
			b.send(withKey(key, "request"))
			g := b.one()
			replies.sendTexts("reply")
			w := b.begin()
			w.settle(replies, emulator.Complete, replies.one())
			w.send(replies, text("another"))
			w.settle(b, emulator.Complete, g)
			wantCode(t, "a third entity", w.Send(b.create(key, emulator.QueueOptions{}).q, b.encodeAll(texts("x"))),
				emulator.CodeNotAllowed)
			w.commit()
			b.wantCounts(0, 0, 0, 0)
			equal(t, "replies", bodies(replies.receive(5)), "another")
			replies = b.on(path)
			b.verify(true)
		}
	})
}

func TestJMS9_AutoCreate(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		for _, topic := range []bool{false, true} {
			path := fmt.Sprintf("Made/%t", topic)
			for range 2 {
				if err := b.ns.AutoCreate(path, topic, 6*time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			q := b.on(path).q
			kind := map[bool]emulator.EntityKind{false: emulator.KindQueue, true: emulator.KindTopic}[topic]
			equal(t, "kind", q.Kind(), kind)
			equal(t, "AutoDeleteOnIdle", q.Options().AutoDeleteOnIdle, 6*time.Minute)
			equal(t, "time to live", q.Options().DefaultMessageTimeToLive, 0)
		}
		if err := b.ns.AutoCreate("t", false, 0); err != nil {
			t.Errorf("an entity of another kind: %v", err)
		}
		for _, path := range []string{"", "$x", "a//b", "a b", "t/Subscriptions/s", "q/$DeadLetterQueue", strings.Repeat("x", 261), "../x"} {
			wantCode(t, fmt.Sprintf("%q", path), b.ns.AutoCreate(path, false, 0), emulator.CodeArgument)
		}
		wantCode(t, "too short", b.ns.AutoCreate("new", false, time.Minute), emulator.CodeArgument)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := b.ns.AutoCreate("at-once", true, 0); err != nil {
					t.Errorf("at once: %v", err)
				}
			})
		}
		all.Wait()
	})
}

func TestJMS9_QUO11_TemporaryQueuesCount(t *testing.T) {
	bubbleWith(t, emulator.Options{Limits: emulator.ProfilePremium}, emulator.QueueOptions{}, func(b *broker) {
		for i := range 998 {
			b.create(fmt.Sprintf("q%d", i), emulator.QueueOptions{})
		}
		path, err := b.ns.CreateTemporary(false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.ns.CreateTemporary(false)
		wantCode(t, "one too many", err, emulator.CodeQuotaExceeded)
		wantCode(t, "one too many at an attach", b.ns.AutoCreate("new", false, 0), emulator.CodeQuotaExceeded)
		if err := b.ns.DeleteTemporary(path); err != nil {
			t.Fatal(err)
		}
		if err := b.ns.AutoCreate("new", false, 0); err != nil {
			t.Fatal(err)
		}
	})
}

func TestJMS9_AConfigurationLeavesOutWhatEnds(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		b.join("t", durable("audit", "app"))
		s := b.join("t", emulator.SubscribeOptions{})
		path, err := b.ns.CreateTemporary(false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.ns.CreateTemporary(true); err != nil {
			t.Fatal(err)
		}
		c := b.ns.Configuration()
		list := c.Current()
		equalSlices(t, "paths", mapped(list, func(e emulator.EntityConfig) string { return e.Path }), "q", "other", "t")
		equalSlices(t, "subscriptions", mapped(list[2].Topic.Subscriptions, func(o emulator.SubscriptionOptions) string { return o.Name }), "audit$app$D")
		list[2].Topic.Subscriptions = append(list[2].Topic.Subscriptions, emulator.SubscriptionOptions{Name: "own$x$D"})
		plan, err := c.Apply(list, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plan {
			if p.Action == emulator.ActionDelete {
				t.Errorf("%s is deleted", p.Path)
			}
		}
		if !b.ns.Exists(path) || s.CanReceive(emulator.Main) != nil {
			t.Error("what JMS clients use is gone")
		}
		equal(t, "made by the configuration", *b.on("t/Subscriptions/own$x$D").subscription().Client(), emulator.ClientAffine{ClientID: "x", Durable: true})

		list[2].Topic.Subscriptions[1].Client = &emulator.ClientAffine{ClientID: "x", Durable: true, Shared: true}
		_, err = c.Apply(list, true)
		wantText(t, "shared from now on", err, "exists with another ClientAffineProperties")
		list[2].Topic.Subscriptions = list[2].Topic.Subscriptions[:1]
		list[1].Topic.Subscriptions = []emulator.SubscriptionOptions{{Name: "audit$app$D"}}
		_, err = c.Apply(list, true)
		wantCode(t, "a name for two topics", err, emulator.CodeAlreadyExists)

		if err := b.ns.Reset(list[:1]); err != nil {
			t.Fatal(err)
		}
		b.leave(s)
		equal(t, "after a reset", b.ns.Exists(path), false)
		equal(t, "after a reset", len(b.ns.Entities().Topics()), 0)
	})
}

func TestJMS9_RestoreLeavesOutWhatEnded(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		b := h.in("orders")
		if _, err := b.ns.Entities().CreateTopic("t", emulator.TopicOptions{}); err != nil {
			t.Fatal(err)
		}
		kept := b.join("t", durable("audit", "app"))
		loose := b.join("t", emulator.SubscribeOptions{})
		path, err := b.ns.CreateTemporary(false)
		if err != nil {
			t.Fatal(err)
		}
		b.on("t").sendTexts("m")
		b.on(path).sendTexts("reply")
		if _, err := b.ns.Snapshots().Save(context.Background(), "now", false); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ns.Snapshots().Restore(context.Background(), "now"); err != nil {
			t.Fatal(err)
		}
		equalSlices(t, "subscriptions", b.subscriptionsOf("t"), "audit$app$D")
		equal(t, "the temporary queue", b.ns.Exists(path), false)
		b.leave(kept) // of the state before
		b.leave(loose)
		again := b.join("t", durable("audit", "app"))
		equal(t, "messages", again.Counts().Active, 1)
		equal(t, "consumers", again.JMSConsumers(), 1)
		h.wantContent("after the restore", "orders", h.content("orders"))
		if strings.Contains(h.content("orders"), path) || strings.Contains(h.content("orders"), "$ND") {
			t.Error("what ended is still stored")
		}
		h.restart()
		equalSlices(t, "subscriptions after a restart", h.in("orders").subscriptionsOf("t"), "audit$app$D")
		if !slices.Contains(h.names(), "orders") {
			t.Error("the namespace is gone")
		}
	})
}

// Deleting a topic ends its consumers' subscriptions; their names are free.
func TestJMS7_TOP14_ATopicIsDeletedWithActiveConsumers(t *testing.T) {
	jmsBubble(t, func(b *broker) {
		s, loose := b.join("t", durable("audit", "app")), b.join("t", emulator.SubscribeOptions{})
		var told []error
		s.Watch(emulator.Main, func(err error) { told = append(told, err) })
		if err := b.ns.Entities().Delete("t"); err != nil {
			t.Fatal(err)
		}
		equal(t, "links that were told", len(told), 1)
		b.leave(loose)
		if err := s.LeaveAndDelete(); err != nil {
			t.Errorf("leave what is gone: %v", err)
		}
		wantCode(t, "unsubscribe", b.unsubscribe("audit", "app"), emulator.CodeNotFound)
		b.join("other", durable("audit", "app"))
	})
}
