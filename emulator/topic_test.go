package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestTOP1_TOP15_ORD6_EverySubscriptionGetsItsOwnCopyInOrder(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		b.sendTexts("1", "2")
		b.sendTexts("3")
		x, y := b.sub("a"), b.sub("b")
		gs := x.receive(5)
		equal(t, "first subscription", bodies(gs), "1 2 3")
		x.settle(emulator.Complete, gs[0])
		x.settle(emulator.Abandon, gs[1])
		x.settle(emulator.DeadLetterOutcome, gs[2])
		x.wantCounts(1, 1, 0, 0)
		y.wantCounts(3, 0, 0, 0)
		gs = y.receive(5)
		equal(t, "second subscription", bodies(gs), "1 2 3")
		equalSlices(t, "its delivery counts", countsOf(gs), 0, 0, 0)
	})
}

func TestTOP1_SCHED17_DLQ1_NothingIsReceivedFromATopic(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		for _, sub := range []emulator.SubQueue{emulator.Main, emulator.DeadLetter} {
			wantCode(t, "attach", b.q.CanReceive(sub), emulator.CodeNotFound)
			_, err := b.q.NewConsumer(sub, emulator.PeekLock, func() {})
			wantCode(t, "consume", err, emulator.CodeNotFound)
		}
		if err := b.q.CanReceive(emulator.TransferDeadLetter); err != nil {
			t.Errorf("attach to the transfer dead-letter queue: %v", err)
		}
		_, err := b.byNumber(emulator.Main, emulator.PeekLock, 1)
		wantCode(t, "receive by number", err, emulator.CodeMessageNotFound)
		_, err = b.q.Sessions().Accept("x", emulator.Accept{})
		wantCode(t, "accept a session", err, emulator.CodeNotFound)
	})
}

func TestTOP1_NothingIsSentToASubscription(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		s := b.sub("s")
		wantCode(t, "attach", s.q.CanSend(), emulator.CodeNotAllowed)
		wantCode(t, "send", s.trySend(text("x")), emulator.CodeNotAllowed)
		_, err := s.q.Schedule(s.encodeAll(texts("x")), newOutcome())
		wantCode(t, "schedule", err, emulator.CodeNotAllowed)
		wantCode(t, "cancel", s.cancel(1), emulator.CodeNotAllowed)
	})
}

func TestTOP2_NobodyTakesIt(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, nil, func(b *broker) {
		b.sendTexts("no subscription")
		b.subscribe(withRules("s", sql("none", "1=0")))
		b.sendTexts("no match")
		b.wantStored(0, 0)
		b.sub("s").addRule(sql("all", "1=1"))
		b = b.again()
		b.sendTexts("match")
		g := b.sub("s").one()
		equal(t, "its number", g.seq(), 1)
		equal(t, "the topic's number", g.firstSeq(), 3)
	})
}

func TestTOP3_NewSubscriptionSeesLaterMessagesOnly(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("old"), func(b *broker) {
		b.sendTexts("before")
		b.send(at("scheduled before", soon(time.Minute)))
		b.subscribe(emulator.SubscriptionOptions{Name: "new"})
		b.sendTexts("after")
		wait(time.Minute)
		equal(t, "new", bodies(b.sub("new").peek()), "after scheduled before")
		equal(t, "old", bodies(b.sub("old").peek()), "before after scheduled before")
	})
}

func TestSEQ15_PROP2_EachSubscriptionNumbersItsCopies(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		{Name: "all"}, withRules("even", sql("r", "n % 2 = 0")),
	}, func(b *broker) {
		for i := range 6 {
			b.send(props("x", "n", int32(i+1)))
		}
		b = b.again()
		b.send(props("x", "n", int32(8)))
		all, even := b.sub("all").peek(), b.sub("even").peek()
		equalSlices(t, "all: numbers", seqsOf(all), 1, 2, 3, 4, 5, 6, 7)
		equalSlices(t, "even: numbers", seqsOf(even), 1, 2, 3, 4)
		equalSlices(t, "even: topic's numbers", mapped(even, (*got).firstSeq), 2, 4, 6, 7)
	})
}

func TestSEQ14_SEQ15_BatchIsOneChangeWithConsecutiveNumbers(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		before := b.j.Commits()
		b.sendTexts("1", "2", "3")
		equal(t, "commits", b.j.Commits()-before, 1)
		b.wantStored(6, 3)
		for _, name := range []string{"a", "b"} {
			gs := b.sub(name).receive(5)
			equal(t, name, bodies(gs), "1 2 3")
			equalSlices(t, "numbers", seqsOf(gs), 1, 2, 3)
			equalSlices(t, "topic's numbers", mapped(gs, (*got).firstSeq), 1, 2, 3)
		}
	})
}

func TestSEQ2_SEQ15_FailedFanOutLeavesNothing(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{RequiresDuplicateDetection: true}, []emulator.SubscriptionOptions{
		{Name: "a"}, {Name: "sessions", Queue: emulator.QueueOptions{RequiresSession: true}}, withRules("c", action("r", "SET x = 1")),
	}, func(b *broker) {
		m := func() *goamqp.Message {
			m := inSession("s1", "x")
			m.Properties.MessageID = "id"
			return m
		}
		b.failOnce()
		if err := b.trySend(m(), at("later", soon(time.Minute))); err == nil {
			t.Fatal("a send that could not be written succeeded")
		}
		b.wantStored(0, 0)
		b.wantCounts(0, 0, 0, 0)
		for _, name := range []string{"a", "sessions", "c"} {
			b.sub(name).wantCounts(0, 0, 0, 0)
		}
		b.send(m())
		for _, name := range []string{"a", "c"} {
			g := b.sub(name).one()
			equal(t, name+": number", g.seq(), 1)
			equal(t, name+": topic's number", g.firstSeq(), 1)
		}
		b.sub("sessions").wantCounts(1, 0, 0, 0)
		b = b.again()
		b.wantStored(3, 1)
		equal(t, "size", b.q.Counts().SizeBytes > 0, true)
	})
}

func TestTIME5_TIME4_EXP2_CopyHasTheSmallestTTL(t *testing.T) {
	const m, s, top = time.Hour, 2 * time.Hour, 3 * time.Hour
	for _, c := range []struct {
		name                 string
		message, topic, sub  time.Duration
		want                 time.Duration
		deadLetter, expiresA bool
	}{
		{"message", m, top, s, m, false, true}, {"subscription", 3 * s, top, s, s, false, true},
		{"topic", 0, m, s, m, false, true}, {"none", 0, 0, 0, 0, false, false}, {"subscription alone", 0, 0, s, s, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			topicBubble(t, emulator.TopicOptions{DefaultMessageTimeToLive: c.topic}, []emulator.SubscriptionOptions{
				{Name: "s", Queue: emulator.QueueOptions{DefaultMessageTimeToLive: c.sub}},
			}, func(b *broker) {
				sent := now()
				b.send(withTTL("x", c.message))
				g := b.sub("s").peek()[0]
				equal(t, "enqueued", g.enqueued(), sent)
				equal(t, "ttl", g.Header.TTL, c.want)
				if c.want == 0 {
					return
				}
				equal(t, "expires", g.Properties.AbsoluteExpiryTime.UTC(), sent.Add(c.want))
				wait(c.want - time.Millisecond)
				b.sub("s").wantCounts(1, 0, 0, 0)
				wait(time.Millisecond)
				b.sub("s").wantCounts(0, 0, 0, 0)
				b.wantStored(0, 0)
			})
		})
	}
}

func TestSESS3_DLQR4_SEQ21_CopyWithoutSessionIDGoesToTheDeadLetterQueue(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		{Name: "plain"}, {Name: "s", Queue: emulator.QueueOptions{RequiresSession: true}},
	}, func(b *broker) {
		b.send(inSession("x", "1"), text("2"), inSession("", "3"))
		equal(t, "plain", bodies(b.sub("plain").peek()), "1 2 3")
		s := b.sub("s")
		equalSlices(t, "numbers", seqsOf(s.peek()), 1, 3)
		g := s.oneFrom(emulator.DeadLetter)
		equal(t, "number in the dead-letter queue", g.seq(), 2)
		equal(t, "topic's number", g.firstSeq(), 2)
		equal(t, "reason", g.property(emulator.DeadLetterReason), any("Session id is null."))
		equal(t, "description", g.property(emulator.DeadLetterErrorDescription),
			any("Session enabled entity doesn't allow a message whose session identifier is null."))
	})
}

func TestTOP12_STAT3_StatusOfTopicAndSubscription(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		set := func(o emulator.QueueOptions) {
			t.Helper()
			if _, err := b.ns.Entities().UpdateSubscription("T", emulator.SubscriptionOptions{Name: "S", Queue: o}); err != nil {
				t.Fatalf("update subscription: %v", err)
			}
		}
		for _, status := range []emulator.Status{emulator.StatusDisabled, emulator.StatusReceiveDisabled} {
			set(emulator.QueueOptions{Status: status})
			b.sendTexts("accumulates")
			wantCode(t, "receive", b.sub("s").q.CanReceive(emulator.Main), emulator.CodeEntityDisabled)
		}
		set(emulator.QueueOptions{})
		if _, err := b.ns.Entities().UpdateTopic("t", emulator.TopicOptions{Status: emulator.StatusDisabled}); err != nil {
			t.Fatalf("update topic: %v", err)
		}
		wantCode(t, "send to a disabled topic", b.trySend(text("x")), emulator.CodeEntityDisabled)
		equal(t, "backlog of a disabled topic", bodies(b.sub("s").drain()), "accumulates accumulates")
	})
}

func TestCNT2_CNT7_QUO4_CountsAndSizes(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		b.send(text("0123456789"), at("later", soon(time.Hour)))
		a := b.sub("a")
		a.settle(emulator.DeadLetterOutcome, a.one())
		one := a.q.Counts().SizeBytes
		c := b.q.Counts()
		equal(t, "topic: active, dead-lettered, scheduled, subscriptions", [4]int64{c.Active, c.DeadLetter, c.Scheduled, c.Subscriptions}, [4]int64{0, 0, 1, 2})
		a.wantCounts(0, 1, 0, 0)
		b.sub("b").wantCounts(1, 0, 0, 0)
		scheduled := c.SizeBytes - one
		if scheduled <= 0 || scheduled >= c.SizeBytes || one <= 0 {
			t.Fatalf("topic has %d bytes, a copy %d", c.SizeBytes, one)
		}
		b = b.again()
		equal(t, "topic's size after a restart", b.q.Counts().SizeBytes, c.SizeBytes)
		b.sub("b").drain()
		equal(t, "topic's size while one copy is left", b.q.Counts().SizeBytes, c.SizeBytes)
		b.sub("a").receiveFrom(emulator.DeadLetter, emulator.ReceiveAndDelete, 5)
		equal(t, "topic's size without copies", b.q.Counts().SizeBytes, scheduled)
		b.wantStored(1, 1)
	})
}

func TestQUO3_LargeMessagesCountOncePerSubscriptionAndOnceMore(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{MaxMessageSizeInKilobytes: 4096}, named("a", "b"), func(b *broker) {
		body := string(make([]byte, 2<<20))
		b.sendTexts(body)
		for range 2 {
			each := b.sub("a").q.Counts().SizeBytes
			if each < 4<<20 || each > 4<<20+1000 {
				t.Fatalf("a subscription has %d bytes, want twice the message", each)
			}
			equal(t, "topic's size", b.q.Counts().SizeBytes, each/2*3)
			b = b.again()
		}
		b.sub("a").drain()
		equal(t, "topic's size with one copy", b.q.Counts().SizeBytes, b.sub("b").q.Counts().SizeBytes)
		b.sub("b").drain()
		equal(t, "topic's size without", b.q.Counts().SizeBytes, 0)
	})
}

func TestTOP13_QUO2_TheQuotaIsTheTopics(t *testing.T) {
	topicBubbleWith(t, emulator.Options{Limits: emulator.ProfileStandard}, emulator.TopicOptions{MaxSizeInMegabytes: 1}, named("a", "b"), func(b *broker) {
		big := string(make([]byte, 200<<10))
		for range 6 {
			b.sendTexts(big)
		}
		err := b.trySend(text("x"))
		wantCode(t, "send to a full topic", err, emulator.CodeQuotaExceeded)
		b.sub("a").drain()
		wantCode(t, "send while one subscription is full", b.trySend(text("x")), emulator.CodeQuotaExceeded)
		b.sub("b").settle(emulator.Complete, b.sub("b").one())
		b.sendTexts("x")
	})
}

func TestTOP14_DEL1_DeletingASubscription(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		b.sendTexts("1", "2")
		a := b.sub("a")
		var told []error
		a.q.Watch(emulator.Main, func(err error) { told = append(told, err) })
		if err := b.ns.Entities().Delete("T/subscriptions/A"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		if len(told) != 1 {
			t.Fatalf("links were told %d times", len(told))
		}
		wantCode(t, "what links are told", told[0], emulator.CodeNotFound)
		_, err := b.ns.Entity("t/Subscriptions/a")
		equal(t, "text", err.Error(), "The messaging entity 'sbemulatorns:Topic:t|a' could not be found.")
		wantCode(t, "add a rule", a.tryRule(sql("r", "1=1")), emulator.CodeNotFound)
		b.wantStored(2, 2)
		b.sendTexts("3")
		equal(t, "the other subscription", bodies(b.sub("b").drain()), "1 2 3")
		b.wantStored(0, 0)
		b.subscribe(emulator.SubscriptionOptions{Name: "a"}) // DEL-3
		b.sendTexts("4")
		equalSlices(t, "numbers of a new one with the name", seqsOf(b.sub("a").peek()), 1)
		equal(t, "topic's size", b.q.Counts().SizeBytes, b.sub("a").q.Counts().SizeBytes)
	})
}

func TestTOP14_DeletingATopicDeletesItsSubscriptions(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		b.send(text("1"), at("2", soon(time.Minute)))
		deletions := 0
		b.j.on(emulator.OpDeleteEntity, func() { deletions++ })
		if err := b.ns.Entities().Delete("t"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		equal(t, "changes that delete something", deletions, 1) // another one may drop the body that the copies shared
		b.wantStored(0, 0)
		for _, path := range []string{"t", "t/Subscriptions/a", "t/Subscriptions/b"} {
			_, err := b.ns.Entity(path)
			wantCode(t, path, err, emulator.CodeNotFound)
			equal(t, path+" exists", b.ns.Exists(path), false)
		}
		wait(time.Hour)
		b.restart()
		equal(t, "topics after a restart", len(b.ns.Entities().Topics()), 0)
	})
}

func TestTOP14_FailedDeletionLeavesTheTopicAlive(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		b.sendTexts("1")
		for _, path := range []string{"t", "t/Subscriptions/a"} {
			b.failOnce()
			if err := b.ns.Entities().Delete(path); err == nil {
				t.Fatalf("the deletion of %s could not be written and succeeded", path)
			}
			synctest.Wait()
		}
		b.sendTexts("2")
		for _, name := range []string{"a", "b"} {
			equal(t, name, bodies(b.sub(name).drain()), "1 2")
		}
		b.wantStored(0, 0)
	})
}

func TestIDLE2_IDLE3_TopicAndSubscriptionIdle(t *testing.T) {
	const span = 10 * time.Minute
	idle := emulator.QueueOptions{AutoDeleteOnIdle: span}
	exists := func(b *broker, path string) bool { return b.ns.Exists(path) }
	subExists := func(b *broker) bool { _, err := b.ns.Entity("t/Subscriptions/s"); return err == nil }
	t.Run("a message does not keep a subscription", func(t *testing.T) {
		topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "s", Queue: idle}}, func(b *broker) {
			wait(span - time.Second)
			b.sendTexts("x")
			equal(t, "exists", subExists(b), true)
			wait(time.Second)
			equal(t, "exists", subExists(b), false)
			b.wantStored(0, 0)
		})
	})
	t.Run("receives, peeks and rules do", func(t *testing.T) {
		topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "s", Queue: idle}}, func(b *broker) {
			for i, use := range []func(){
				func() { b.sub("s").receive(1) }, func() { b.sub("s").peek() }, func() { b.sub("s").addRule(sql("r", "1=1")) },
			} {
				wait(span - time.Second)
				use()
				wait(span - time.Second)
				equal(t, "exists after use "+string(rune('0'+i)), subExists(b), true)
				b.sub("s").peek()
			}
		})
	})
	t.Run("uses of a subscription keep the topic", func(t *testing.T) {
		topicBubble(t, emulator.TopicOptions{AutoDeleteOnIdle: span}, named("s"), func(b *broker) {
			wait(span - time.Second)
			b.sub("s").peek()
			wait(span - time.Second)
			equal(t, "exists", exists(b, "t"), true)
			c := b.sub("s").receiver(emulator.Main, emulator.PeekLock)
			c.c.Take(nil, 1) // waits with credit (IDLE-5)
			wait(3 * span)
			equal(t, "exists while a receiver waits", exists(b, "t"), true)
			c.c.Close()
			b.send(at("later", soon(3*span))) // SCHED-26
			wait(2 * span)
			equal(t, "exists while a message is scheduled", exists(b, "t"), true)
			wait(3 * span)
			equal(t, "exists", exists(b, "t"), false)
			equal(t, "subscription exists", subExists(b), false)
		})
	})
}

func TestERR5_NamesOfTopicsAndSubscriptions(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		_, err := b.ns.Entities().CreateTopic("Q", emulator.TopicOptions{})
		wantCode(t, "topic where a queue is", err, emulator.CodeAlreadyExists)
		_, err = b.ns.Entities().CreateQueue("T", emulator.QueueOptions{})
		wantCode(t, "queue where a topic is", err, emulator.CodeAlreadyExists)
		_, err = b.ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: "S"})
		wantCode(t, "second subscription", err, emulator.CodeAlreadyExists)
		equal(t, "text", err.Error(), "The messaging entity 'sbemulatorns:Topic:t|S' already exists.")
		_, err = b.ns.Entities().CreateSubscription("q", emulator.SubscriptionOptions{Name: "S"})
		wantCode(t, "subscription of a queue", err, emulator.CodeNotFound)
		_, err = b.ns.Entities().UpdateSubscription("t", emulator.SubscriptionOptions{Name: "nope"})
		wantCode(t, "update of a missing subscription", err, emulator.CodeNotFound)
		_, err = b.ns.Entities().UpdateTopic("q", emulator.TopicOptions{})
		wantCode(t, "update of a queue as a topic", err, emulator.CodeNotFound)
		_, err = b.ns.Entities().UpdateQueue("t", emulator.QueueOptions{})
		wantCode(t, "update of a topic as a queue", err, emulator.CodeNotFound)
		_, err = b.ns.Entities().Subscriptions("q")
		wantCode(t, "subscriptions of a queue", err, emulator.CodeNotFound)
		list, err := b.ns.Entities().Subscriptions("T")
		if err != nil || len(list) != 1 || list[0].Path() != "t/Subscriptions/s" || len(b.ns.Entities().Topics()) != 1 || len(b.ns.Entities().Queues()) != 1 {
			t.Errorf("lists: %v %v %v %v", list, err, b.ns.Entities().Topics(), b.ns.Entities().Queues())
		}
	})
}

func TestCNT9_ANewSubscriptionIsAnAccessOfItsTopic(t *testing.T) {
	for name, subscribe := range map[string]func(b *broker) error{
		"one by one": func(b *broker) error {
			_, err := b.ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: "s"})
			return err
		},
		"a configuration": func(b *broker) error {
			topic := emulator.TopicOptions{Subscriptions: named("s")}
			return b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "t", Topic: &topic}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			topicBubble(t, emulator.TopicOptions{}, nil, func(b *broker) {
				topic := b.on("t").q
				wait(time.Minute)
				equal(t, "accessed before", topic.Times().Accessed, 0)
				if err := subscribe(b); err != nil {
					t.Fatal(err)
				}
				equal(t, "accessed", topic.Times().Accessed, time.Now().UnixMilli())
				if times := topic.Times(); times.Updated != times.Created {
					t.Errorf("updated at %d, created at %d", times.Updated, times.Created)
				}
			})
		})
	}
}
