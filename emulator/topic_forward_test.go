package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// forwardingTo is a subscription whose messages go to another entity.
func forwardingTo(name, to string) emulator.SubscriptionOptions {
	return emulator.SubscriptionOptions{Name: name, Queue: emulator.QueueOptions{ForwardTo: to}}
}

func TestFWD1_FWD7_SEQ16_TIME5_FromASubscription(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "first"}, forwardingTo("s", "q")}, func(b *broker) {
		b.sendTexts("0", "1", "2")
		wait(time.Second)
		wantCode(t, "receive", b.sub("s").q.CanReceive(emulator.Main), emulator.CodeNotAllowed)
		gs := b.on("q").receive(5)
		equal(t, "forwarded", bodies(gs), "0 1 2")
		equalSlices(t, "numbers", seqsOf(gs), 1, 2, 3)
		equalSlices(t, "topic's numbers", mapped(gs, (*got).firstSeq), 1, 2, 3)
		b.sub("s").wantCounts(0, 0, 0, 0)
		b.wantStored(6, 3)
		b = b.again()
		equal(t, "topic's size is that of the other subscription", b.q.Counts().SizeBytes, b.sub("first").q.Counts().SizeBytes)
		b.sub("first").drain()
		b.wantStored(3, 3)
		b.on("q").drain()
		b.wantStored(0, 0)
	})
}

func TestFWD1_FWD9_ToATopicAndOn(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{forwardingTo("on", "t2"), {Name: "keep"}}, func(b *broker) {
		subs := []emulator.SubscriptionOptions{
			withRules("red", sql("r", "color = 'red' AND RuleName IS NULL")), withRules("painted", action("r", "SET color = 'green'; SET sys.Label = 'l'")), forwardingTo("on", "t3"),
		}
		b.ns.Plan("t3")
		if _, err := b.ns.Entities().CreateTopic("t2", emulator.TopicOptions{Subscriptions: subs}); err != nil {
			t.Fatalf("create topic: %v", err)
		}
		if _, err := b.ns.Entities().CreateTopic("t3", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{
			withRules("end", sql("r", "sys.SequenceNumber > 0")),
		}}); err != nil {
			t.Fatalf("create topic: %v", err)
		}
		b.sendTexts("skew the numbers")
		b.send(props("x", "color", "red"))
		wait(time.Second)
		g := b.on("t2/Subscriptions/red").one()
		equal(t, "topic's number", g.firstSeq(), 2)
		equal(t, "number", g.seq(), 1)
		g = b.on("t2/Subscriptions/painted").peek()[1]
		equal(t, "color", g.property("color"), any("green"))
		g = b.on("t3/Subscriptions/end").peek()[1]
		equal(t, "number at the first submission", g.firstSeq(), 2)
		equal(t, "body", g.body(), "x")
		b.wantStored(7, 2)
		for range 2 {
			for path, want := range map[string]bool{"t": true, "t2": true, "t3": true, "t2/Subscriptions/on": false} {
				equal(t, path+" has a size", b.on(path).q.Counts().SizeBytes > 0, want)
			}
			b = b.again()
		}
		for _, path := range []string{"t/Subscriptions/keep", "t2/Subscriptions/red", "t2/Subscriptions/painted", "t3/Subscriptions/end"} {
			b.on(path).drain()
		}
		b.wantStored(0, 0)
		for _, path := range []string{"t", "t2", "t3"} {
			equal(t, path+": size", b.on(path).q.Counts().SizeBytes, 0)
		}
	})
}

func TestFWD1_ToATopicFromAQueueWithHigherAndLowerID(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b", "c"), func(b *broker) {
		for _, path := range []string{"q", "late"} { // created before and after the topic
			if path == "late" {
				if _, err := b.ns.Entities().CreateQueue(path, emulator.QueueOptions{}); err != nil {
					t.Fatalf("create queue: %v", err)
				}
			}
			if _, err := b.ns.Entities().UpdateQueue(path, emulator.QueueOptions{ForwardTo: "t"}); err != nil {
				t.Fatalf("update queue: %v", err)
			}
			b.on(path).sendTexts("1", "2")
			wait(time.Second)
			b.on(path).wantCounts(0, 0, 0, 0)
			for _, name := range []string{"a", "b", "c"} {
				equal(t, path+" to "+name, bodies(b.sub(name).drain()), "1 2")
			}
			b.wantStored(0, 0)
		}
	})
}

func TestFWD3_FailedForwardThroughATopicIsTriedAgain(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{RequiresDuplicateDetection: true}, named("a", "b"), func(b *broker) {
		if _, err := b.ns.Entities().CreateTopic("src", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "x"}, {Name: "y"}}}); err != nil {
			t.Fatalf("create topic: %v", err)
		}
		src := b.on("src")
		src.sendTexts("1")
		src.wantStored(2, 1)
		b.failOnce()
		if _, err := b.ns.Entities().UpdateSubscription("src", emulator.SubscriptionOptions{Name: "y", Queue: emulator.QueueOptions{ForwardTo: "t"}}); err == nil {
			t.Fatal("an update that could not be written succeeded")
		}
		synctest.Wait() // what follows a failure is done on the journal's goroutine
		b.j.Pause()
		done := newOutcome()
		go func() {
			_, err := b.ns.Entities().UpdateSubscription("src", emulator.SubscriptionOptions{Name: "y", Queue: emulator.QueueOptions{ForwardTo: "t"}})
			done <- err
		}()
		b.j.Resume()
		if err := <-done; err != nil {
			t.Fatalf("update: %v", err)
		}
		wait(5 * time.Second)
		b.wantStored(3, 1)
		b.on("src/Subscriptions/x").drain()
		b.sub("a").drain()
		b.wantStored(1, 1)
		b.sub("b").drain()
		b.wantStored(0, 0)
	})
}

func TestFWD11_FWD6_TargetsThatRefuse(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{Status: emulator.StatusDisabled}, []emulator.SubscriptionOptions{{Name: "s", Queue: emulator.QueueOptions{RequiresSession: true}}}, func(b *broker) {
		b.ns.Plan("t/Subscriptions/s", "nope") // as in a database of an older version
		for to, reason := range map[string]string{"t": "MessagingEntityDisabledException", "t/Subscriptions/s": "MessagingEntityNotFoundException", "nope": "MessagingEntityNotFoundException"} {
			if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{ForwardTo: to}); err != nil {
				t.Fatalf("update: %v", err)
			}
			q := b.on("q")
			q.sendTexts("x")
			wait(time.Second)
			g := q.receiveFrom(emulator.DeadLetter, emulator.ReceiveAndDelete, 1)
			if len(g) != 1 {
				t.Fatalf("%s: %d messages in the dead-letter queue", to, len(g))
			}
			equal(t, to+": reason", g[0].property(emulator.DeadLetterReason), any(reason))
		}
		if _, err := b.ns.Entities().UpdateTopic("t", emulator.TopicOptions{}); err != nil {
			t.Fatalf("update: %v", err)
		}
		if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{ForwardTo: "t"}); err != nil {
			t.Fatalf("update: %v", err)
		}
		b.on("q").sendTexts("no session")
		wait(time.Second)
		b.on("q").wantCounts(0, 0, 0, 0)
		b.sub("s").wantCounts(0, 1, 0, 0) // SESS-3, not FWD-6: the topic takes it
	})
}

func TestDLQ10_DeadLettersOfASubscriptionForwardedToATopic(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		{Name: "s", Queue: emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "dead"}},
	}, func(b *broker) {
		if _, err := b.ns.Entities().CreateTopic("dead", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{
			withRules("mine", sql("r", "DeadLetterReason = 'why'")), withRules("others", sql("r", "DeadLetterReason <> 'why'")),
		}}); err != nil {
			t.Fatalf("create topic: %v", err)
		}
		b.sendTexts("x")
		s := b.sub("s")
		s.settleWith(emulator.DeadLetterOutcome, b.properties(emulator.DeadLetterReason, "why"), s.one())
		wait(time.Second)
		b = b.again()
		g := b.on("dead/Subscriptions/mine").one()
		equal(t, "source", annotation[string](g, "x-opt-deadletter-source"), "t/Subscriptions/s")
		equal(t, "number at the first submission", g.firstSeq(), 1)
		b.on("dead/Subscriptions/others").wantCounts(0, 0, 0, 0)
		b.sub("s").wantCounts(0, 0, 0, 0)
	})
}

func TestDEL1_FWD3_DeletingTheSourceWhileItForwards(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{}); err != nil {
			t.Fatalf("update: %v", err)
		}
		b.on("q").sendTexts("1", "2", "3")
		if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{ForwardTo: "t"}); err != nil {
			t.Fatalf("update: %v", err)
		}
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		wait(time.Minute)
		for _, name := range []string{"a", "b"} {
			for _, g := range b.sub(name).drain() {
				if g.body() == "" {
					t.Error("a message lost its body")
				}
			}
		}
		b.wantStored(0, 0)
	})
}

func TestFWD1_TOP2_ForwardToATopicWithoutTakers(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, nil, func(b *broker) {
		if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{ForwardTo: "t"}); err != nil {
			t.Fatalf("update: %v", err)
		}
		b.on("q").sendTexts("1", "2")
		wait(time.Second)
		b.wantStored(0, 0)
		b.on("q").wantCounts(0, 0, 0, 0)
		b.subscribe(emulator.SubscriptionOptions{Name: "s"})
		b.on("q").sendTexts("3")
		wait(time.Second)
		equal(t, "number at the first submission", b.sub("s").one().firstSeq(), 3)
	})
}

func TestFWD6_FWD11_DeadLettersWithoutSessionIDWait(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "s", Queue: emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "target"}}}, func(b *broker) {
		if _, err := b.ns.Entities().CreateQueue("target", emulator.QueueOptions{RequiresSession: true}); err != nil {
			t.Fatalf("create queue: %v", err)
		}
		b.send(text("none"), inSession("id", "with"))
		s := b.sub("s")
		s.settle(emulator.DeadLetterOutcome, s.receive(2)...)
		wait(10 * time.Second)
		s.wantCounts(0, 1, 0, 0)
		b.on("target").wantCounts(1, 0, 0, 0)
	})
}
