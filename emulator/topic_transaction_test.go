package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// commit commits a transaction and waits.
func commit(tx *emulator.Transaction) error {
	done := newOutcome()
	if err := tx.Commit(done); err != nil {
		return err
	}
	err := <-done
	synctest.Wait()
	return err
}

func TestTXN8_TXN2_SendToATopicAndCompleteOnItsSubscription(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "a"}, withRules("b", action("r", "SET x = 1"))}, func(b *broker) {
		b.sendTexts("1")
		a := b.sub("a")
		g := a.one()
		tx := b.ns.Begin(false, "")
		if err := tx.Settle(a.q, []lockToken{g.token()}, emulator.Settlement{}); err != nil {
			t.Fatalf("complete: %v", err)
		}
		if err := tx.Send(b.q, b.encodeAll(texts("2", "3"))); err != nil {
			t.Fatalf("send: %v", err)
		}
		seqs, err := tx.Schedule(b.q, b.encodeAll(texts("4")))
		if err != nil || len(seqs) != 1 {
			t.Fatalf("schedule: %v %v", seqs, err)
		}
		wantCode(t, "another entity", tx.Send(b.on("q").q, b.encodeAll(texts("x"))), emulator.CodeNotAllowed)
		wantCode(t, "a subscription", tx.Send(a.q, b.encodeAll(texts("x"))), emulator.CodeNotAllowed)
		synctest.Wait()
		a.wantCounts(1, 0, 0, 0)
		b.sub("b").wantCounts(1, 0, 0, 0)
		before := b.j.Commits()
		if err := commit(tx); err != nil {
			t.Fatalf("commit: %v", err)
		}
		equal(t, "commits", b.j.Commits()-before, 1)
		b = b.again()
		equal(t, "a", bodies(b.sub("a").peek()), "2 3 4")
		equal(t, "b", bodies(b.sub("b").peek()), "1 2 3 4")
		equalSlices(t, "numbers", seqsOf(b.sub("a").peek()), 2, 3, 4)
		equal(t, "number at its first submission", b.sub("a").peek()[2].firstSeq(), seqs[0]+3) // TXN-23
		b.wantStored(7, 4)
	})
}

func TestTXN6_RollbackOfASendToATopic(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a"), func(b *broker) {
		tx := b.ns.Begin(false, "")
		if err := tx.Send(b.q, b.encodeAll(texts("x"))); err != nil {
			t.Fatalf("send: %v", err)
		}
		tx.Rollback()
		b.sendTexts("y")
		g := b.sub("a").one()
		equal(t, "body", g.body(), "y")
		equal(t, "topic's number", g.firstSeq(), 1) // SEQ-19
	})
}

func TestTXN2_FailedCommitWithAFanOutChangesNothing(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		b.sendTexts("1")
		g := b.sub("a").one()
		tx := b.ns.Begin(false, "")
		if err := tx.Settle(b.sub("a").q, []lockToken{g.token()}, emulator.Settlement{}); err != nil {
			t.Fatalf("complete: %v", err)
		}
		if err := tx.Send(b.q, b.encodeAll(texts("2"))); err != nil {
			t.Fatalf("send: %v", err)
		}
		b.failOnce()
		if err := commit(tx); err == nil {
			t.Fatal("a commit that could not be written succeeded")
		}
		b.wantStored(2, 1)
		if err := b.sub("a").trySettle(emulator.Complete, nil, g.token()); err != nil {
			t.Errorf("complete afterwards: %v", err)
		}
		b.sendTexts("3")
		equalSlices(t, "b: numbers", seqsOf(b.sub("b").peek()), 1, 2)
		b.sub("a").drain()
		b.sub("b").drain()
		b.wantStored(0, 0)
	})
}

func TestTXN9_TXN10_TopicAsTheWayAndAsTheDestination(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a"), func(b *broker) {
		q := b.on("q")
		q.sendTexts("in")
		g := q.one()
		tx := b.ns.Begin(true, "q") // a queue is the way, the topic the destination
		if err := tx.Settle(q.q, []lockToken{g.token()}, emulator.Settlement{}); err != nil {
			t.Fatalf("complete: %v", err)
		}
		if err := tx.Send(b.q, b.encodeAll(texts("out"))); err != nil {
			t.Fatalf("send: %v", err)
		}
		if err := commit(tx); err != nil {
			t.Fatalf("commit: %v", err)
		}
		g = b.sub("a").one()
		equal(t, "through the topic", g.body(), "out")
		q.wantCounts(0, 0, 0, 0)
		tx = b.ns.Begin(true, "T") // the topic is the way
		if err := tx.Settle(b.sub("a").q, []lockToken{g.token()}, emulator.Settlement{}); err != nil {
			t.Fatalf("complete: %v", err)
		}
		if err := tx.Send(q.q, b.encodeAll(texts("back"))); err != nil {
			t.Fatalf("send: %v", err)
		}
		if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{Status: emulator.StatusDisabled}); err != nil {
			t.Fatalf("update: %v", err)
		}
		if err := commit(tx); err != nil {
			t.Fatalf("commit: %v", err)
		}
		b.wantCounts(0, 0, 0, 0)
		equal(t, "in the topic's transfer dead-letter queue", b.q.Counts().TransferDeadLetter, 1) // TXN-11
		equal(t, "transfer dead-letter", b.oneFrom(emulator.TransferDeadLetter).body(), "back")
		if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{}); err != nil {
			t.Fatalf("update: %v", err)
		}
		for _, via := range []string{"t/Subscriptions/a", ""} { // a subscription is the first entity
			b.sendTexts("again")
			tx = b.ns.Begin(true, via)
			if err := tx.Settle(b.sub("a").q, []lockToken{b.sub("a").one().token()}, emulator.Settlement{}); err != nil {
				t.Fatalf("complete: %v", err)
			}
			if err := tx.Send(q.q, b.encodeAll(texts("command"))); err != nil {
				t.Fatalf("send: %v", err)
			}
			if err := commit(tx); err != nil {
				t.Fatalf("commit: %v", err)
			}
			equal(t, "completed", len(b.sub("a").peek()), 0)
			equal(t, "in the queue", q.one().body(), "command")
		}
	})
}

func TestTXN2_SubscriptionsThatComeAndGoBeforeTheCommit(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("old", "gone"), func(b *broker) {
		tx := b.ns.Begin(false, "")
		if err := tx.Send(b.q, b.encodeAll(texts("x"))); err != nil {
			t.Fatalf("send: %v", err)
		}
		b.subscribe(emulator.SubscriptionOptions{Name: "new"})
		if err := b.ns.Entities().Delete("t/Subscriptions/gone"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		if err := commit(tx); err != nil {
			t.Fatalf("commit: %v", err)
		}
		for _, name := range []string{"old", "new"} {
			equal(t, name, bodies(b.sub(name).peek()), "x")
		}
	})
}

func TestTXN2_DeadlockFreeWithTopicsInBothDirections(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		if _, err := b.ns.Entities().CreateTopic("t2", emulator.TopicOptions{Subscriptions: named("c", "d")}); err != nil {
			t.Fatalf("create topic: %v", err)
		}
		b.subscribe(emulator.SubscriptionOptions{Name: "late"}) // its id is above those of t2
		t2 := b.on("t2")
		const n = 200
		done := make(chan error, 4)
		work := func(root, other *broker) {
			var err error
			for range n {
				tx := b.ns.Begin(true, root.q.Path())
				if err == nil {
					err = tx.Send(root.q, b.encodeAll(texts("x")))
				}
				if err == nil {
					err = tx.Send(other.q, b.encodeAll(texts("y")))
				}
				o := newOutcome()
				if err == nil {
					err = tx.Commit(o)
				}
				if err == nil {
					err = <-o
				}
			}
			done <- err
		}
		plain := func(x *broker) {
			var err error
			for range n {
				o := newOutcome()
				if err == nil {
					err = x.q.Send(b.encodeAll(texts("z")), o)
				}
				if err == nil {
					err = <-o
				}
			}
			done <- err
		}
		go work(b, t2)
		go work(t2, b)
		go plain(b)
		go plain(t2)
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		wait(time.Second)
		for _, path := range []string{"t/Subscriptions/a", "t/Subscriptions/late", "t2/Subscriptions/d"} {
			b.on(path).wantCounts(3*n, 0, 0, 0)
		}
	})
}
