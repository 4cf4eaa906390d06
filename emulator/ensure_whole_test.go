package emulator_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// entitiesOf describes every entity with its settings and rules.
func (b *broker) entitiesOf() map[string]any {
	b.t.Helper()
	all := map[string]any{}
	for _, q := range b.ns.Entities().Queues() {
		all[q.Path()] = q.Options()
	}
	for _, t := range b.ns.Entities().Topics() {
		all[t.Path()] = t.Options()
		list, err := b.ns.Entities().Subscriptions(t.Path())
		if err != nil {
			b.t.Fatal(err)
		}
		for _, s := range list {
			all[s.Path()] = s.Options()
		}
	}
	return all
}

// A configuration that is refused for its last entity changes nothing: neither what stands before it, nor what was there.
func TestDEC7_ARefusedConfigurationChangesNothing(t *testing.T) {
	queue := func(path string, o emulator.QueueOptions) emulator.EntityConfig {
		return emulator.EntityConfig{Path: path, Queue: &o}
	}
	topic := func(path string, subscriptions ...emulator.SubscriptionOptions) emulator.EntityConfig {
		return emulator.EntityConfig{Path: path, Topic: &emulator.TopicOptions{Subscriptions: subscriptions}}
	}
	var many []emulator.SubscriptionOptions
	for i := range 51 {
		many = append(many, emulator.SubscriptionOptions{Name: fmt.Sprint("s", i)})
	}
	var filters []emulator.RuleOptions
	for i := range 70 { // with the one of the subscription that is there: 71
		filters = append(filters, sql(fmt.Sprint("r", i), "1=1"))
	}
	for name, c := range map[string]struct {
		limits emulator.Profile
		last   emulator.EntityConfig
		code   emulator.Code
	}{
		"a name that is too long":             {0, queue(strings.Repeat("x", 261), emulator.QueueOptions{}), emulator.CodeArgument},
		"the path of a subscription":          {0, queue("t/Subscriptions/z", emulator.QueueOptions{}), emulator.CodeArgument},
		"a subscription's name":               {0, topic("t", emulator.SubscriptionOptions{Name: strings.Repeat("x", 51)}), emulator.CodeArgument},
		"a topic where a queue is":            {0, topic("Q"), emulator.CodeAlreadyExists},
		"a topic where a queue will be":       {0, topic("NEW"), emulator.CodeAlreadyExists},
		"a fixed setting of a queue":          {0, queue("q", emulator.QueueOptions{RequiresSession: true}), emulator.CodeArgument},
		"a fixed setting of a subscription":   {0, topic("t", emulator.SubscriptionOptions{Name: "s", Queue: emulator.QueueOptions{RequiresSession: true}}), emulator.CodeArgument},
		"a target that is missing":            {0, queue("last", emulator.QueueOptions{ForwardTo: "nowhere"}), emulator.CodeArgument},
		"a target that is a subscription":     {0, topic("t", emulator.SubscriptionOptions{Name: "z", Queue: emulator.QueueOptions{ForwardTo: "t/Subscriptions/s"}}), emulator.CodeArgument},
		"sessions and a target":               {0, queue("last", emulator.QueueOptions{RequiresSession: true, ForwardTo: "q"}), emulator.CodeArgument},
		"an idle time that is too short":      {0, queue("last", emulator.QueueOptions{AutoDeleteOnIdle: time.Second}), emulator.CodeArgument},
		"a status":                            {0, queue("last", emulator.QueueOptions{Status: "Gone"}), emulator.CodeArgument},
		"a rule of a new subscription":        {0, topic("t", withRules("z", sql("r", "=="))), emulator.CodeArgument},
		"a rule of an existing subscription":  {0, topic("t", withRules("s", sql("r", "1=1"), action("x", "SET"))), emulator.CodeArgument},
		"a rule twice":                        {0, topic("t", withRules("s", sql("r", "1=1"), sql("R", "1=1"))), emulator.CodeAlreadyExists},
		"a rule that is too long":             {emulator.ProfileStandard, topic("t", withRules("z", sql("r", "a = '"+strings.Repeat("x", 1024)+"'"))), emulator.CodeArgument},
		"one subscription too many":           {emulator.ProfileEmulator, topic("t", many...), emulator.CodeQuotaExceeded},
		"one filter too many":                 {emulator.ProfileEmulator, topic("t", withRules("z", filters...)), emulator.CodeQuotaExceeded},
		"one partitioned queue too many":      {emulator.ProfileStandard, queue("last", emulator.QueueOptions{EnablePartitioning: true}), emulator.CodeQuotaExceeded},
		"one subscription too many, in a row": {emulator.ProfileEmulator, topic("another", many...), emulator.CodeQuotaExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, emulator.Options{Limits: c.limits}, emulator.QueueOptions{}, func(b *broker) {
				if _, err := b.ns.Entities().CreateTopic("t", emulator.TopicOptions{Subscriptions: named("s")}); err != nil {
					t.Fatal(err)
				}
				b.sendTexts("kept")
				list := []emulator.EntityConfig{queue("q", emulator.QueueOptions{MaxDeliveryCount: 7}), queue("new", emulator.QueueOptions{}),
					topic("t", withRules("s", sql("r", "1=0")), emulator.SubscriptionOptions{Name: "new"})}
				if c.limits == emulator.ProfileStandard {
					for i := range 100 {
						list = append(list, queue(fmt.Sprint("part", i), emulator.QueueOptions{EnablePartitioning: true}))
					}
				}
				before := b.entitiesOf()
				changes, _ := b.j.seen()
				wantCode(t, "ensure", b.ns.Configuration().Ensure(append(list, c.last)), c.code)
				after, _ := b.j.seen()
				equal(t, "changes", after-changes, 0)
				if now := b.entitiesOf(); !reflect.DeepEqual(now, before) {
					t.Errorf("now there is %v\nand was %v", now, before)
				}
				b.restart()
				if now := b.entitiesOf(); !reflect.DeepEqual(now, before) {
					t.Errorf("after a restart there is %v\nand was %v", now, before)
				}
				equal(t, "backlog", bodies(b.peek()), "kept")
				if err := b.ns.Configuration().Ensure(list); err != nil {
					t.Errorf("without the last one: %v", err)
				}
				equal(t, "setting", b.q.Options().MaxDeliveryCount, 7)
			})
		})
	}
}
