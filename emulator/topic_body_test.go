package emulator_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestQUO4_OneBodyHoweverManyCopies(t *testing.T) {
	for name, budget := range map[string]int64{"in memory": 0, "on disk": 1} {
		t.Run(name, func(t *testing.T) {
			topicBubbleWith(t, emulator.Options{BodyBudget: budget}, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
				{Name: "a"}, withRules("b", action("r", "SET x = 1"), sql("p", "1=1")), {Name: "c"},
			}, func(b *broker) {
				b.sendTexts("1", "2")
				b.wantStored(8, 2)
				for i := range 2 {
					for _, name := range []string{"a", "b", "c"} {
						if gs := b.sub(name).receiveFrom(emulator.Main, emulator.PeekLock, 1); gs[0].body() != "1" {
							t.Errorf("%s: body %q", name, gs[0].body())
						}
					}
					if i == 0 {
						b = b.again()
					}
				}
				b = b.again()
				for i, name := range []string{"a", "b", "c"} {
					gs := b.sub(name).drain()
					equal(t, name+": last body", gs[len(gs)-1].body(), "2")
					if i < 2 {
						_, n := b.j.Stored()
						equal(t, "bodies while a copy is left", n, 2)
					}
				}
				b.wantStored(0, 0)
			})
		})
	}
}

func TestQUO4_LastCopiesThatGoAtOnce(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		b.sendTexts("x")
		x, y := b.sub("a").one(), b.sub("b").one()
		complete := func(fail bool) {
			t.Helper()
			b.j.Pause()
			if fail {
				b.failOnce()
			}
			var done []outcome
			for name, g := range map[string]*got{"a": x, "b": y} {
				o := newOutcome()
				if err := b.sub(name).q.Settle([]lockToken{g.token()}, emulator.Settlement{}, o); err != nil {
					t.Fatalf("complete: %v", err)
				}
				done = append(done, o)
			}
			b.j.Resume()
			for _, o := range done {
				if err := <-o; (err != nil) != fail {
					t.Fatalf("complete: %v", err)
				}
			}
			synctest.Wait()
		}
		complete(true)
		b.wantStored(2, 1)
		complete(false)
		b.wantStored(0, 0)
		equal(t, "topic's size", b.q.Counts().SizeBytes, 0)
	})
}

// TestQUO4_BodyOfLastCopiesThatGoAtOnceIsRemovedThoughTheJournalFails: neither of their removals takes the body along.
func TestQUO4_BodyOfLastCopiesThatGoAtOnceIsRemovedThoughTheJournalFails(t *testing.T) {
	for name, remove := range map[string]func(b *broker, o outcome) error{
		"completed": func(b *broker, o outcome) error {
			return b.q.Settle(tokensOf(b.receive(1)), emulator.Settlement{}, o)
		},
		"received and deleted": func(b *broker, o outcome) error {
			b.receiver(emulator.Main, emulator.ReceiveAndDelete).pull(1)
			o.Completed(nil)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
				b.sendTexts("x")
				failures := 0
				b.j.on(emulator.OpDelete, func() {
					if ops := b.j.since(b.j.last()); ops[0].Record.Row == 0 && failures < 3 {
						failures++
						b.failOnce()
					}
				})
				b.j.Pause()
				x, y := newOutcome(), newOutcome()
				for name, o := range map[string]outcome{"a": x, "b": y} {
					if err := remove(b.sub(name), o); err != nil {
						t.Fatalf("remove: %v", err)
					}
				}
				b.j.Resume()
				if err := errors.Join(<-x, <-y); err != nil {
					t.Fatalf("remove: %v", err)
				}
				wait(5 * time.Second)
				equal(t, "failures", failures, 3)
				b.wantStored(0, 0)
			})
		})
	}
}

func TestRAD5_PROP10_CopyThatComesBackHasABodyOfItsOwn(t *testing.T) {
	for name, first := range map[string]string{"the other copy is there": "a", "the other copy has gone": "b"} {
		t.Run(name, func(t *testing.T) {
			topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
				b.sendTexts("x") // without a message id: the broker makes one
				id := b.sub("a").peek()[0].Properties.MessageID
				r := b.sub("a").receiver(emulator.Main, emulator.ReceiveAndDelete)
				ds := r.pull(1)
				synctest.Wait()
				if first == "b" {
					b.sub("b").drain()
				}
				r.c.Return(ds)
				r.c.Close()
				synctest.Wait()
				b = b.again()
				g := b.sub("a").one()
				equal(t, "message id", g.Properties.MessageID, id)
				equal(t, "number", g.seq(), 1)
				equal(t, "topic's number", g.firstSeq(), 1)
				equal(t, "body", g.body(), "x")
				if first == "a" {
					equal(t, "message id of the other", b.sub("b").drain()[0].Properties.MessageID, id)
				}
				b.sub("a").settle(emulator.Complete, g)
				b.wantStored(0, 0)
				equal(t, "topic's size", b.q.Counts().SizeBytes, 0)
			})
		})
	}
}

func TestQUO4_DeletedSubscriptionLeavesTheBodiesOfOthers(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b", "c"), func(b *broker) {
		b.sendTexts("1", "2", "3")
		b.sub("c").drain()
		if err := b.ns.Entities().Delete("t/Subscriptions/a"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		b.wantStored(3, 3)
		gs := b.sub("b").receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)
		equal(t, "body", gs[0].body(), "1")
		b.wantStored(2, 2)
		equal(t, "topic's size", b.q.Counts().SizeBytes, b.sub("b").q.Counts().SizeBytes)
	})
}

func TestPART2_PART6_CopiesStayInThePartitionOfTheOriginal(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{EnablePartitioning: true}, []emulator.SubscriptionOptions{
		{Name: "all"}, withRules("other session", action("r", "SET sys.SessionId = 'z'; SET sys.PartitionKey = 'z'")),
	}, func(b *broker) {
		for range 2 {
			for _, id := range []string{"s1", "s2", "s3"} {
				b.send(inSession(id, id))
			}
			b = b.again()
		}
		for _, name := range []string{"all", "other session"} {
			gs := b.sub(name).peek()
			equal(t, "messages", len(gs), 6)
			for _, g := range gs {
				equal(t, name+": partition", g.seq()>>48, g.firstSeq()>>48) // TOP-6: misplaced, as in the cloud
				equal(t, name+": number in the partition", g.seq()&(1<<48-1), g.firstSeq()&(1<<48-1))
				equal(t, name+": partition id", int64(annotation[int16](g, "x-opt-partition-id")), g.seq()>>48)
			}
		}
		wantCode(t, "batch over partitions", b.trySend(inSession("s1", "1"), inSession("s2", "2")), emulator.CodeNotAllowed)
	})
}

func TestSESS32_EachSubscriptionHasItsOwnSessions(t *testing.T) {
	sessions := emulator.QueueOptions{RequiresSession: true}
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "a", Queue: sessions}, {Name: "b", Queue: sessions}}, func(b *broker) {
		b.send(inSession("s", "x"))
		accept := func(name string) *emulator.Consumer {
			t.Helper()
			c, err := b.sub(name).q.Sessions().Accept("s", emulator.Accept{Notify: func() {}})
			if err != nil {
				t.Fatalf("accept in %s: %v", name, err)
			}
			return c
		}
		x, y := accept("a"), accept("b")
		size := b.q.Counts().SizeBytes
		o := newOutcome()
		if err := x.SetSessionState([]byte("state"), o); err != nil || <-o != nil {
			t.Fatalf("set state: %v", err)
		}
		equal(t, "the topic's size has the state", b.q.Counts().SizeBytes, size+5)
		if state, err := y.SessionState(); err != nil || state != nil {
			t.Errorf("the other subscription's state is %q, %v", state, err)
		}
		b = b.again()
		equal(t, "the topic's size after a restart", b.q.Counts().SizeBytes, size+5)
	})
}
