package emulator_test

import (
	"testing"
	"time"

	"minibus/config"
	"minibus/emulator"
)

// TestTOP4_TOP9_MicrosoftsDefaultTopology proves what the subscriptions of the topology get that Microsoft's emulator has
// when nothing is configured: tutorials depend on it (drop-in 2.4).
func TestTOP4_TOP9_MicrosoftsDefaultTopology(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for range 2 { // as it is created, and as it is found again
			if err := b.ns.Configuration().Ensure(config.DefaultTopology().Entities); err != nil {
				t.Fatalf("ensure: %v", err)
			}
			topic := b.on("topic.1")
			json := text("json")
			contentType := "application/json"
			json.Properties = inSession("s", "").Properties
			json.Properties.ContentType = &contentType
			sqlMatch := props("sql", "userProp1", "value1")
			sqlMatch.Properties = labelled("", "l").Properties
			sqlMatch.Properties.MessageID = "123456"
			topic.send(json, props("prop", "prop1", "value1"), sqlMatch, props("close", "prop1", "Value1", "userProp1", "value1"))
			for name, want := range map[string]string{
				"subscription.1": "json", "subscription.2": "prop", "subscription.3": "json prop sql close", "subscription.4": "sql",
			} {
				s := b.on("topic.1/subscriptions/" + name)
				gs := s.receive(10)
				equal(t, name, bodies(gs), want)
				equal(t, name+": ttl", gs[0].Header.TTL, time.Hour)
				if name == "subscription.4" {
					equal(t, "to", *gs[0].Properties.To, "Entity")
					equal(t, "rule", gs[0].property("RuleName"), any("sql-filter-1"))
				}
				for range 3 { // three deliveries
					s.settle(emulator.Abandon, gs...)
					gs = s.receive(10)
				}
				equal(t, name+": after three deliveries", len(gs), 0)
				equal(t, name+": dead-lettered", len(s.receiveFrom(emulator.DeadLetter, emulator.ReceiveAndDelete, 10)) > 0, true)
			}
			b.restart()
		}
	})
}

func TestDEC7_EnsureTopicsAndSubscriptions(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		o := emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "a"}, withRules("b", sql("r", "1=1"))}}
		ensure := func() error {
			return b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "t", Topic: &o}})
		}
		changes := func(want int) {
			t.Helper()
			before, _ := b.j.seen()
			if err := ensure(); err != nil {
				t.Fatalf("ensure: %v", err)
			}
			after, _ := b.j.seen()
			equal(t, "changes", after-before, want)
			b.restart()
		}
		changes(1) // all in one
		changes(0)
		b.on("t").sendTexts("kept")
		b.on("t").subscribe(emulator.SubscriptionOptions{Name: "at run time"})
		b.on("t/Subscriptions/a").addRule(sql("added", "1=0"))
		changes(0) // the file names no rules: those of the run time stay
		equalSlices(t, "rules of a", b.on("t/Subscriptions/a").ruleNames(), "$Default", "added")
		b.on("t/Subscriptions/b").addRule(sql("added", "1=0"))
		changes(1) // the file names rules: they are the ones
		equalSlices(t, "rules of b", b.on("t/Subscriptions/b").ruleNames(), "r")
		o.Subscriptions[1].Rules[0].SQL = "1=0"
		o.Subscriptions[0].Queue.MaxDeliveryCount = 7
		o.DefaultMessageTimeToLive = time.Hour
		changes(1) // all in one
		changes(0)
		equal(t, "setting", b.on("t/Subscriptions/a").q.Options().MaxDeliveryCount, 7)
		topic, err := b.on("t").q.Topic()
		if err != nil {
			t.Fatalf("topic: %v", err)
		}
		equal(t, "setting of the topic", topic.Options().DefaultMessageTimeToLive, time.Hour)
		equalSlices(t, "rules of a", b.on("t/Subscriptions/a").ruleNames(), "$Default", "added")
		equal(t, "backlog", bodies(b.on("t/Subscriptions/b").peek()), "kept")
		equal(t, "not in the file", b.ns.Exists("t/Subscriptions/at run time"), true)
		for what, change := range map[string]func(){
			"RequiresSession":            func() { o.Subscriptions[0].Queue.RequiresSession = true },
			"RequiresDuplicateDetection": func() { o.RequiresDuplicateDetection = true },
			"EnablePartitioning":         func() { o.EnablePartitioning = true },
		} {
			saved := o
			o.Subscriptions = append([]emulator.SubscriptionOptions(nil), o.Subscriptions...)
			change()
			wantCode(t, what, ensure(), emulator.CodeArgument)
			o = saved
		}
		o.Subscriptions[0].Rules = []emulator.RuleOptions{sql("bad", "==")}
		wantCode(t, "a rule that does not parse", ensure(), emulator.CodeArgument)
	})
}
