package emulator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestSCHED16_SCHED17_ScheduledMessagesLiveInTheTopic(t *testing.T) {
	for name, budget := range map[string]int64{"bodies in memory": 0, "bodies on disk": 1} {
		t.Run(name, func(t *testing.T) {
			topicBubbleWith(t, emulator.Options{BodyBudget: budget}, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
				withRules("s", sql("old", "color = 'red'")), {Name: "all"},
			}, func(b *broker) {
				m := props("due", "color", "blue")
				m.Annotations = at("", soon(time.Minute)).Annotations
				b.send(m)
				seqs := b.schedule(at("cancelled", soon(time.Minute)), at("later", soon(time.Hour)), text("now"))
				equalSlices(t, "numbers", seqs, 2, 3, 4)
				b.wantCounts(0, 0, 3, 0)
				b.sub("all").wantCounts(1, 0, 0, 0)
				gs := b.peek()
				equal(t, "peeked at the topic", bodies(gs), "due cancelled later")
				equal(t, "state", gs[0].state(), 2)
				if err := b.cancel(seqs[0]); err != nil {
					t.Fatalf("cancel: %v", err)
				}
				wantCode(t, "cancel what was not scheduled", b.cancel(seqs[2]), emulator.CodeMessageNotFound)
				b.sub("s").addRule(sql("new", "color = 'blue'")) // the rules of the moment count
				wait(time.Minute - time.Millisecond)
				b.sub("s").wantCounts(0, 0, 0, 0)
				wait(time.Millisecond)
				b.wantCounts(0, 0, 1, 0)
				g := b.sub("s").one()
				equal(t, "activated", g.body(), "due")
				equal(t, "number", g.seq(), 1)
				equal(t, "topic's number", g.firstSeq(), 5) // SCHED-9, SEQ-11
				equal(t, "enqueued", g.enqueued(), now())   // TIME-3
				wantCode(t, "cancel after activation", b.cancel(1), emulator.CodeMessageNotFound)
				equal(t, "all", bodies(b.sub("all").peek()), "now due")
				b.wantStored(4, 3)
			})
		})
	}
}

func TestSCHED16_DEC21_DueWhileTheBrokerWasDown(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "a"}, withRules("none", sql("r", "1=0"))}, func(b *broker) {
		b.send(at("1", soon(time.Minute)), at("2", soon(2*time.Minute)), at("3", soon(time.Hour)))
		b.stop()
		time.Sleep(3 * time.Minute)
		b.start()
		b = b.on("t")
		gs := b.sub("a").peek()
		equal(t, "activated at the start", bodies(gs), "1 2")
		equal(t, "enqueued", gs[0].enqueued(), now())
		b.wantCounts(0, 0, 1, 0)
		b.sendTexts("4")
		equal(t, "topic's number afterwards", b.sub("a").peek()[2].firstSeq(), 6)
	})
}

// What falls due while the broker is down may be more than fits into memory: it is read and published in turns, in its order.
func TestSCHED16_DEC21_ManyDueAtTheStartAreReadInTurns(t *testing.T) {
	topicBubbleWith(t, small, emulator.TopicOptions{}, named("a"), func(b *broker) {
		const many = 300
		var want []string
		for i := range many {
			name := fmt.Sprint(i)
			want = append(want, name)
			b.send(at(name+strings.Repeat(" ", 100_000), soon(time.Minute)))
		}
		b.stop()
		time.Sleep(time.Hour)
		b.start()
		b = b.on("t")
		b.j.mu.Lock()
		if b.j.together != 1 || b.j.most > 1<<20+100_100 {
			t.Errorf("%d reads at a time, %d bytes in one", b.j.together, b.j.most)
		}
		b.j.mu.Unlock()
		var got []string
		for len(got) < many {
			some := b.sub("a").receive(10)
			if len(some) == 0 {
				break
			}
			for _, g := range some {
				got = append(got, strings.TrimSpace(g.body()))
			}
		}
		equalSlices(t, "activated", got, want...)
	})
}

// A topic whose deletion fails goes on with what was due meanwhile.
func TestSCHED16_DueWhileADeletionFails(t *testing.T) {
	topicBubbleWith(t, small, emulator.TopicOptions{}, named("a"), func(b *broker) {
		const many = 50 // several turns
		for range many {
			b.send(at(strings.Repeat("x", 100_000), soon(time.Minute)))
		}
		b.j.on(emulator.OpInsert, b.j.Pause)
		wait(time.Minute) // the first turn is being committed
		b.j.on(emulator.OpDeleteEntity, func() {
			b.j.Resume()
			synctest.Wait()
			b.failOnce()
		})
		if err := b.ns.Entities().Delete("t"); !errors.Is(err, errDisk) {
			t.Fatalf("the deletion ended with %v", err)
		}
		wait(time.Minute)
		b.on("t").wantCounts(0, 0, 0, 0)
		b.sub("a").wantCounts(many, 0, 0, 0)
	})
}

// What is due while nothing can be stored is tried again later, in its order. A start does not wait for that.
func TestSCHED16_DEC21_DueWhileNothingCanBeStored(t *testing.T) {
	topicBubbleWith(t, small, emulator.TopicOptions{}, named("a"), func(b *broker) {
		const many = 50 // several turns
		var want []string
		for i := range many {
			want = append(want, fmt.Sprint(i))
			b.send(at(want[i]+strings.Repeat(" ", 100_000), soon(time.Minute)))
		}
		b.stop()
		time.Sleep(time.Hour)
		b.j.Memory = b.j.Reopen()
		b.failOnce()
		reads := b.j.reads
		start := time.Now()
		b.open()
		if took := time.Since(start); took > time.Second || b.j.reads-reads != 1 {
			t.Errorf("the start took %v and %d reads", took, b.j.reads-reads)
		}
		b = b.on("t")
		b.wantCounts(0, 0, many, 0)
		wait(time.Minute)
		var got []string
		for range 10 {
			for _, g := range b.sub("a").receive(many) {
				got = append(got, strings.TrimSpace(g.body()))
			}
		}
		equalSlices(t, "activated", got, want...)
	})
}

func TestSCHED16_DEL4_ActivationWithoutTakers(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, nil, func(b *broker) {
		b.send(at("x", soon(time.Minute)))
		b.wantStored(1, 1)
		wait(time.Minute)
		b.wantStored(0, 0)
		b.wantCounts(0, 0, 0, 0)
		equal(t, "size", b.q.Counts().SizeBytes, 0)
	})
}

func TestSCHED12_FailedActivationIsTriedAgain(t *testing.T) {
	for name, budget := range map[string]int64{"commit": 0, "read": 1} {
		t.Run(name, func(t *testing.T) {
			topicBubbleWith(t, emulator.Options{BodyBudget: budget}, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
				b.send(at("x", soon(time.Minute)))
				if name == "read" {
					b.j.setReads(errDisk, 0)
				}
				b.failOnce()
				wait(time.Minute)
				b.wantCounts(0, 0, 1, 0)
				b.sub("a").wantCounts(0, 0, 0, 0)
				b.j.setReads(nil, 0)
				wait(3 * time.Second)
				b.wantCounts(0, 0, 0, 0)
				b.wantStored(2, 1)
				equal(t, "number", b.sub("b").one().seq(), 1)
			})
		})
	}
}

func TestSCHED18_EXP2_TTLOfAScheduledTopicMessage(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{DefaultMessageTimeToLive: 10 * time.Minute}, []emulator.SubscriptionOptions{
		{Name: "short", Queue: emulator.QueueOptions{DefaultMessageTimeToLive: time.Minute}}, {Name: "long"},
	}, func(b *broker) {
		b.send(at("x", soon(time.Hour)))
		wait(time.Hour)
		equal(t, "short", b.sub("short").peek()[0].Header.TTL, time.Minute)
		equal(t, "long", b.sub("long").peek()[0].Header.TTL, 10*time.Minute)
		wait(10 * time.Minute)
		b.wantStored(0, 0)
	})
}

// TestSCHED16_CancelOfATopicMessageThatIsDue comes too late, also for one whose turn is still to come.
func TestSCHED16_CancelOfATopicMessageThatIsDue(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b", "c", "d", "e", "f", "g", "h"), func(b *broker) {
		var seqs []int64
		for range 100 {
			seqs = append(seqs, b.schedule(at("a", soon(time.Minute)))...)
		}
		b.j.Pause()
		wait(time.Minute)
		for _, seq := range []int64{seqs[0], seqs[99]} {
			wantCode(t, "cancel", b.cancel(seq), emulator.CodeMessageNotFound)
		}
		b.j.Resume()
		synctest.Wait()
		equal(t, "arrived", len(b.sub("h").receive(150)), 100)
	})
}

func TestSCHED24_ScheduledTimeOfAnAction(t *testing.T) {
	due := time.UnixMilli(4_000_000_000_000).UTC() // far in the future of every bubble
	set := emulator.RuleOptions{Name: "r", SQL: "1=1", Action: "SET sys.ScheduledEnqueueTimeUtc = @due", ActionParameters: emulator.Values{"due": due}}
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		withRules("here", set), {Name: "on", Queue: emulator.QueueOptions{ForwardTo: "q"}, Rules: []emulator.RuleOptions{set}},
	}, func(b *broker) {
		b.sendTexts("x")
		wait(time.Second)
		g := b.sub("here").one()
		equal(t, "annotation", annotation[time.Time](g, "x-opt-scheduled-enqueue-time").UTC(), due)
		b.on("q").wantCounts(0, 0, 1, 0)
		wait(time.Until(due))
		g = b.on("q").one()
		equal(t, "enqueued", g.enqueued(), due)
		equal(t, "rule", g.property("RuleName"), any("r"))
		equal(t, "topic's number", g.firstSeq(), 1)
	})
}

func TestDUP2_DUP6_DUP13_TopicsDetectDuplicatesSubscriptionsDoNot(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{RequiresDuplicateDetection: true, DuplicateDetectionWindow: time.Minute},
		[]emulator.SubscriptionOptions{withRules("s", action("r", "SET sys.MessageId = 'same'"))}, func(b *broker) {
			send := func(ids ...string) {
				t.Helper()
				for _, id := range ids {
					m := text(id)
					m.Properties = inSession("x", "").Properties
					m.Properties.MessageID = id
					b.send(m)
				}
			}
			send("1", "2", "1")
			b = b.again()
			send("2", "3")
			gs := b.sub("s").peek()
			equal(t, "stored", bodies(gs), "1 2 3")
			equalSlices(t, "topic's numbers", mapped(gs, (*got).firstSeq), 1, 2, 3)
			equal(t, "id", gs[2].Properties.MessageID, any("same"))
			wait(2 * time.Minute)
			send("1")
			b.sub("s").wantCounts(4, 0, 0, 0)
		})
}

// Due messages of a topic with many subscriptions become many copies: they go in short turns, so that nobody waits
// for all of them.
func TestSCHED16_DueMessagesOfAWideTopicGoInShortTurns(t *testing.T) {
	const subscriptions, messages = 100, 60
	var names []string
	for i := range subscriptions {
		names = append(names, fmt.Sprint("s", i))
	}
	topicBubble(t, emulator.TopicOptions{}, named(names...), func(b *broker) {
		for i := range messages {
			b.send(at(fmt.Sprint(i), soon(time.Minute)))
		}
		before := b.j.Commits()
		wait(time.Minute)
		if n := b.j.Commits() - before; n < messages*subscriptions/1000 {
			t.Errorf("%d messages with %d copies each went in %d changes", messages, subscriptions, n)
		}
		want := make([]string, messages)
		for i := range want {
			want[i] = fmt.Sprint(i)
		}
		equal(t, "in the last subscription", bodies(b.sub("s99").peek()), strings.Join(want, " "))
	})
}
