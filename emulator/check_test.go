package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// settings tries to create, and to update, an entity of every kind with the settings o, and returns the errors by what was
// tried.
func (b *broker) settings(o emulator.QueueOptions) map[string]error {
	b.t.Helper()
	errs := map[string]error{}
	_, errs["create queue"] = b.ns.Entities().CreateQueue("new", o)
	_, errs["update queue"] = b.ns.Entities().UpdateQueue("plain", o)
	_, errs["create subscription"] = b.ns.Entities().CreateSubscription("topic", emulator.SubscriptionOptions{Name: "new", Queue: o})
	_, errs["update subscription"] = b.ns.Entities().UpdateSubscription("topic", emulator.SubscriptionOptions{Name: "plain", Queue: o})
	if o.ForwardTo == "" && o.ForwardDeadLetteredMessagesTo == "" {
		_, errs["create topic"] = b.ns.Entities().CreateTopic("newtopic", emulator.TopicOptions{AutoDeleteOnIdle: o.AutoDeleteOnIdle})
		_, errs["update topic"] = b.ns.Entities().UpdateTopic("topic", emulator.TopicOptions{AutoDeleteOnIdle: o.AutoDeleteOnIdle})
	}
	return errs
}

// checking runs f with entities of every kind that require sessions or do not.
func checking(t *testing.T, sessions bool, f func(b *broker)) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.create("plain", emulator.QueueOptions{RequiresSession: sessions})
		_, err := b.ns.Entities().CreateTopic("topic", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{
			{Name: "plain", Queue: emulator.QueueOptions{RequiresSession: sessions}},
		}})
		if err != nil {
			t.Fatalf("create topic: %v", err)
		}
		f(b)
	})
}

func TestFWD1_FWD2_DestinationMustExist(t *testing.T) {
	for _, target := range []string{"missing", "topic/Subscriptions/plain"} {
		for _, o := range []emulator.QueueOptions{{ForwardTo: target}, {ForwardDeadLetteredMessagesTo: target}} {
			checking(t, false, func(b *broker) {
				for what, err := range b.settings(o) {
					wantCode(t, what, err, emulator.CodeArgument)
					wantText(t, what, err, "does not exist")
				}
				equal(t, "setting of the queue", b.on("plain").q.Options().ForwardTo, "")
				if _, err := b.ns.Entity("new"); err == nil {
					t.Error("the queue was created")
				}
			})
		}
	}
	checking(t, false, func(b *broker) {
		for what, err := range b.settings(emulator.QueueOptions{ForwardTo: "TOPIC", ForwardDeadLetteredMessagesTo: "Q"}) {
			equal(t, what, err, nil)
		}
		b.create("self", emulator.QueueOptions{ForwardTo: "SELF"}) // DEC-29
	})
}

func TestFWD2_EntitiesOfAConfigurationMayForwardToLaterOnes(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first := emulator.QueueOptions{ForwardTo: "second"}
		second := emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "First"}
		list := []emulator.EntityConfig{{Path: "first", Queue: &first}, {Path: "Second", Queue: &second}}
		for range 2 {
			if err := b.ns.Configuration().Ensure(list); err != nil {
				t.Fatalf("ensure: %v", err)
			}
		}
		_, err := b.ns.Entities().CreateQueue("third", emulator.QueueOptions{ForwardTo: "fourth"})
		wantCode(t, "create when that is over", err, emulator.CodeArgument)
		first.ForwardTo = "missing"
		wantCode(t, "ensure", b.ns.Configuration().Ensure(list), emulator.CodeArgument)
	})
}

func TestFWD5_SourceWithSessions(t *testing.T) {
	checking(t, true, func(b *broker) {
		for what, err := range b.settings(emulator.QueueOptions{RequiresSession: true, ForwardTo: "q"}) {
			wantCode(t, what, err, emulator.CodeArgument)
			wantText(t, what, err, "Bad Request.")
		}
		for what, err := range b.settings(emulator.QueueOptions{RequiresSession: true, ForwardDeadLetteredMessagesTo: "q"}) {
			equal(t, what, err, nil)
		}
	})
}

func TestIDLE1_FiveMinutesAtLeast(t *testing.T) {
	for d, ok := range map[time.Duration]bool{
		0: true, 5 * time.Minute: true, 5*time.Minute - 1: false, 1: false, -time.Hour: false,
	} {
		checking(t, false, func(b *broker) {
			for what, err := range b.settings(emulator.QueueOptions{AutoDeleteOnIdle: d}) {
				if (err == nil) != ok {
					t.Errorf("%s with %v: %v", what, d, err)
				}
			}
		})
	}
}

func TestPART9_PartitionedEntitiesOfANamespace(t *testing.T) {
	for _, limits := range []emulator.Profile{emulator.ProfileRelaxed, emulator.ProfileStandard} {
		bubbleWith(t, emulator.Options{Limits: limits}, emulator.QueueOptions{}, func(b *broker) {
			for i := range 50 {
				b.create(fmt.Sprint("queue", i), emulator.QueueOptions{EnablePartitioning: true})
				if _, err := b.ns.Entities().CreateTopic(fmt.Sprint("topic", i), emulator.TopicOptions{
					EnablePartitioning: true, Subscriptions: named("a", "b"), // which do not count
				}); err != nil {
					t.Fatalf("create topic %d: %v", i, err)
				}
			}
			b.create("plain", emulator.QueueOptions{})
			_, queue := b.ns.Entities().CreateQueue("one more", emulator.QueueOptions{EnablePartitioning: true})
			_, topic := b.ns.Entities().CreateTopic("and a topic", emulator.TopicOptions{EnablePartitioning: true})
			if limits == emulator.ProfileRelaxed {
				equal(t, "relaxed: queue", queue, nil)
				equal(t, "relaxed: topic", topic, nil)
				return
			}
			wantCode(t, "queue", queue, emulator.CodeQuotaExceeded)
			wantCode(t, "topic", topic, emulator.CodeQuotaExceeded)
			wantText(t, "topic", topic, "Actual: 100, Max allowed: 100.")
			if err := b.ns.Entities().Delete("queue0"); err != nil {
				t.Fatalf("delete: %v", err)
			}
			b.create("one more", emulator.QueueOptions{EnablePartitioning: true})
		})
	}
}

func TestQUO9_LengthOfNames(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		long, name := strings.Repeat("ä", 260), strings.Repeat("ä", 50)
		b.create(long, emulator.QueueOptions{})
		if _, err := b.ns.Entities().CreateTopic("t", emulator.TopicOptions{Subscriptions: named(name)}); err != nil {
			t.Errorf("create topic: %v", err)
		}
		_, err := b.ns.Entities().CreateQueue(long+"x", emulator.QueueOptions{})
		wantCode(t, "queue", err, emulator.CodeArgument)
		_, err = b.ns.Entities().CreateTopic(long+"x", emulator.TopicOptions{})
		wantCode(t, "topic", err, emulator.CodeArgument)
		_, err = b.ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: name + "x"})
		wantCode(t, "subscription", err, emulator.CodeArgument)
		_, err = b.ns.Entities().CreateQueue("", emulator.QueueOptions{})
		wantCode(t, "no name", err, emulator.CodeArgument)
	})
}
