package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestTXN1_TXN2_CNT10_EverythingTakesEffectAtCommit(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("complete", "abandon", "defer", "dead-letter")
		cancelled := b.schedule(at("cancelled", soon(time.Hour)))
		gs := b.receive(4)
		w := b.begin()
		for i, o := range []emulator.Outcome{emulator.Complete, emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome} {
			w.settle(b, o, gs[i])
		}
		w.send(b, text("sent"), text("too"))
		scheduled := w.schedule(b, at("scheduled", soon(time.Hour)))
		if err := w.CancelScheduled(b.q, cancelled); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		synctest.Wait()
		b.wantCounts(4, 0, 1, 0)
		equal(t, "seen before the commit", bodies(b.peek()), "complete abandon defer dead-letter cancelled")
		w.commit()
		equal(t, "seen after it", bodies(b.peek()), "abandon defer scheduled sent too")
		b.wantCounts(4, 1, 1, 1)
		equalSlices(t, "number of the scheduled message", scheduled, b.peek()[2].seq())
		again := b.receive(5)
		equal(t, "received", bodies(again), "abandon sent too")
		equalSlices(t, "delivery counts", countsOf(again), 1, 0, 0)
		b.restart()
		equal(t, "seen after a restart", bodies(b.peek()), "abandon defer scheduled sent too")
	})
}

func TestTXN2_DESIGN4_CommitIsOneChange(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.create("other", emulator.QueueOptions{})
		b.sendTexts("a", "b")
		gs := b.receive(2)
		w := b.beginCross("q")
		w.settle(b, emulator.Complete, gs[0])
		w.settle(b, emulator.DeadLetterOutcome, gs[1])
		w.send(b.on("other"), text("c"))
		w.send(b, text("d"))
		changes, _ := b.j.seen()
		w.commit()
		after, _ := b.j.seen()
		equal(t, "changes", after-changes, 1)
		equal(t, "operations", len(b.j.since(changes)), 4)
		equal(t, "in the other queue", bodies(b.on("other").peek()), "c")
	})
}

func TestTXN2_SEQ19_NumbersAreGivenAtCommit(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first, second, third := b.begin(), b.begin(), b.begin()
		first.send(b, text("first"))
		second.send(b, text("rolled back"))
		third.send(b, text("third"))
		b.sendTexts("outside")
		third.commit()
		second.Rollback()
		first.commit()
		gs := b.peek()
		equal(t, "order", bodies(gs), "outside third first")
		equalSlices(t, "numbers without a gap", seqsOf(gs), 1, 2, 3)
	})
}

func TestTXN2_TIME1_EnqueuedTimeIsThatOfTheCommit(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		w := b.begin()
		w.send(b, withTTL("a", time.Hour), at("due by then", soon(time.Minute)))
		wait(time.Minute)
		w.commit()
		for _, g := range b.peek() {
			equal(t, "enqueued time of "+g.body(), g.enqueued(), now())
			equal(t, "state of "+g.body(), g.state(), int32(emulator.Active))
		}
	})
}

func TestTXN8_DEC25_OneEntityOnly(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{})
		other.sendTexts("theirs")
		b.sendTexts("ours")
		b.deadLetterOne(text("dead")) // the one that is first
		theirs, dead := other.one(), b.oneFrom(emulator.DeadLetter)
		w := b.begin()
		w.send(b, text("a"))
		wantCode(t, "send", w.Send(other.q, b.encodeAll(texts("x"))), emulator.CodeNotAllowed)
		_, err := w.Schedule(other.q, b.encodeAll(texts("x")))
		wantCode(t, "schedule", err, emulator.CodeNotAllowed)
		wantCode(t, "cancel", w.CancelScheduled(other.q, []int64{1}), emulator.CodeNotAllowed)
		err = w.Settle(other.q, tokensOf([]*got{theirs}), emulator.Settlement{})
		wantCode(t, "settle", err, emulator.CodeNotAllowed)
		equal(t, "received again", len(other.receive(1)), 0) // TXN-15
		err = w.Settle(b.q, tokensOf([]*got{dead}), emulator.Settlement{Outcome: emulator.DeadLetterOutcome})
		wantCode(t, "dead-letter a dead letter", err, emulator.CodeNotAllowed)
		w.settle(b, emulator.Complete, dead) // the dead-letter queue is the same entity
		w.commit()                           // TXN-16
		equal(t, "ours", bodies(b.peek()), "dead a")
		other.settle(emulator.Complete, theirs)
		other.wantCounts(0, 0, 0, 0)
		b.wantCounts(2, 0, 0, 0)
	})
}

func TestTXN9_SendsThroughTheFirstEntity(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		other, third := b.create("other", emulator.QueueOptions{}), b.create("third", emulator.QueueOptions{})
		b.sendTexts("in")
		other.sendTexts("theirs")
		g, theirs := b.one(), other.one()
		w := b.beginCross("")
		w.settle(b, emulator.Complete, g)
		w.send(other, text("x"))
		w.send(third, text("y"))
		w.send(b, text("z"))
		err := w.Settle(other.q, tokensOf([]*got{theirs}), emulator.Settlement{})
		wantCode(t, "settle elsewhere", err, emulator.CodeNotAllowed)
		_, err = w.Schedule(other.q, b.encodeAll(texts("x")))
		wantCode(t, "schedule elsewhere", err, emulator.CodeNotAllowed)
		w.commit()
		equal(t, "in the other queue", bodies(other.receive(5)), "x") // theirs is still locked (TXN-15)
		equal(t, "in the third queue", bodies(third.receive(5)), "y")
		equal(t, "in the first queue", bodies(b.receive(5)), "z")
	})
}

func TestTXN9_FWD9_TransferIsAHop(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for i := 1; i <= 5; i++ {
			b.create(fmt.Sprintf("q%d", i), emulator.QueueOptions{ForwardTo: fmt.Sprintf("q%d", i+1)})
		}
		b.create("q6", emulator.QueueOptions{})
		w := b.beginCross("q")
		w.send(b, text("stays"))
		w.send(b.on("q1"), text("a"))
		w.send(b.on("q2"), text("b"))
		w.commit()
		equalSlices(t, "after four hops", b.on("q4").deadReasons(emulator.DeadLetter), "a=MaxTransferHopCountExceeded")
		equalSlices(t, "after four hops", b.on("q5").deadReasons(emulator.DeadLetter), "b=MaxTransferHopCountExceeded")
	})
}

func TestTXN11_DLQ16_CNT6_DisabledDestination(t *testing.T) {
	for _, sessions := range []bool{false, true} {
		bubble(t, emulator.QueueOptions{RequiresSession: sessions}, func(b *broker) {
			other := b.create("other", emulator.QueueOptions{})
			w := b.beginCross("q")
			w.send(other, text("a"))
			other.set(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
			w.send(other, text("b"))
			w.commit()
			equal(t, "in the transfer dead-letter queue", b.q.Counts().TransferDeadLetter, 2)
			b.wantCounts(0, 0, 0, 0)
			equal(t, "sessions", b.q.InMemory().Sessions(), 0)
			equalSlices(t, "reasons", b.deadReasons(emulator.TransferDeadLetter),
				"a=MessagingEntityDisabledException", "b=MessagingEntityDisabledException")
			b.restart()
			equal(t, "in the transfer dead-letter queue after a restart", b.q.Counts().TransferDeadLetter, 2)
			gs := b.receiveFrom(emulator.TransferDeadLetter, emulator.PeekLock, 5)
			equal(t, "received", bodies(gs), "a b")
			b.settle(emulator.Complete, gs[0])
			wantCode(t, "dead-letter", b.trySettle(emulator.DeadLetterOutcome, nil, gs[1].token()), emulator.CodeNotAllowed)
			equal(t, "left", b.q.Counts().TransferDeadLetter, 1)
		})
	}
}

func TestTXN11_DeletedOrFullDestination(t *testing.T) {
	bubbleWith(t, strict, emulator.QueueOptions{}, func(b *broker) {
		gone, full := b.create("gone", emulator.QueueOptions{}), b.create("full", emulator.QueueOptions{})
		w := b.beginCross("q")
		w.send(full, text("a"))
		full.fill()
		wantCode(t, "send to a full one", w.Send(full.q, b.encodeAll(texts("b"))), emulator.CodeQuotaExceeded)
		wantCode(t, "commit with a full destination", w.tryCommit(), emulator.CodeQuotaExceeded)
		w = b.beginCross("q")
		w.send(gone, text("a"))
		if err := b.ns.Entities().Delete("gone"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		wantCode(t, "send to a deleted one", w.Send(gone.q, b.encodeAll(texts("b"))), emulator.CodeNotFound)
		wantCode(t, "commit with a deleted destination", w.tryCommit(), emulator.CodeNotFound)
		equal(t, "in the transfer dead-letter queue", b.q.Counts().TransferDeadLetter, 0)
	})
}

func TestTXN11_DeletedViaEntityOfADisabledDestination(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		off := b.create("off", emulator.QueueOptions{Status: emulator.StatusDisabled})
		w := b.beginCross("q")
		w.send(off, text("a"))
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		before, _ := b.j.seen()
		err := w.tryCommit()
		wantCode(t, "commit", err, emulator.CodeNotFound)
		wantText(t, "commit", err, "'q'")
		equal(t, "changes of an entity that is no more", len(b.j.since(before)), 0)
	})
}

func TestTXN12_AHundredMessagesAtMost(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		w := b.begin()
		batch := make([]*goamqp.Message, 60)
		for i := range batch {
			batch[i] = text("x")
		}
		w.send(b, batch...)
		w.schedule(b, batch[:40]...)
		err := w.Send(b.q, b.encodeAll(batch[:1]))
		wantCode(t, "the 101st", err, emulator.CodeQuotaExceeded)
		equal(t, "text", err.Error(), "Cannot send more than 100 messages in a single transaction.")
		w.commit()
		b.wantCounts(100, 0, 0, 0)
	})
}

func TestTXN13_SeveralSessions(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "t:1")
		s, u := b.accept("s"), b.accept("t")
		w := b.begin()
		w.settle(b, emulator.Complete, s.take(1)...)
		w.settle(b, emulator.Abandon, u.take(1)...)
		w.send(b, inSession("s", "s:2"), inSession("v", "v:1"))
		wantCode(t, "without a session", w.Send(b.q, b.encodeAll(texts("x"))), emulator.CodeNotAllowed) // TXN-19
		w.commit()
		equal(t, "in s", bodies(s.take(5)), "s:2")
		equal(t, "in t", bodies(u.take(5)), "t:1")
		equal(t, "next session", b.nextID(), "v")
	})
}

func TestTXN14_TXN15_OnePartition(t *testing.T) {
	bubble(t, emulator.QueueOptions{EnablePartitioning: true}, func(b *broker) {
		b.send(withKey("one", "1"))
		b.send(withKey("two", "2"))
		gs := b.receive(2)
		if gs[0].seq()>>48 == gs[1].seq()>>48 {
			t.Fatal("both keys are of one partition")
		}
		w := b.begin()
		wantCode(t, "send without a key", w.Send(b.q, b.encodeAll(texts("x"))), emulator.CodeNotAllowed)
		w.settle(b, emulator.Complete, gs[0])
		w.send(b, withKey("one", "1 again"))
		wantCode(t, "send to another partition", w.Send(b.q, b.encodeAll([]*goamqp.Message{withKey("two", "x")})), emulator.CodeNotAllowed)
		err := w.Settle(b.q, tokensOf(gs[1:]), emulator.Settlement{})
		wantCode(t, "settle of another partition", err, emulator.CodeNotAllowed)
		equal(t, "received again", len(b.receive(5)), 0)
		w.commit()
		b.settle(emulator.Complete, gs[1])
		equal(t, "left", bodies(b.receive(5)), "1 again")
	})
}

func TestTXN14_CancelOfAnotherPartition(t *testing.T) {
	bubble(t, emulator.QueueOptions{EnablePartitioning: true}, func(b *broker) {
		due := soon(time.Hour)
		var seqs []int64
		for _, key := range []string{"one", "two"} {
			m := at(key, due)
			m.Annotations["x-opt-partition-key"] = key
			seqs = append(seqs, b.schedule(m)...)
		}
		w := b.begin()
		wantCode(t, "cancel in two partitions", w.CancelScheduled(b.q, seqs), emulator.CodeNotAllowed)
		w.send(b, withKey("one", "1"))
		wantCode(t, "cancel in another partition", w.CancelScheduled(b.q, seqs[1:]), emulator.CodeNotAllowed)
		if err := w.CancelScheduled(b.q, seqs[:1]); err != nil {
			t.Errorf("cancel: %v", err)
		}
		w.commit()
		equal(t, "left", sorted(strings.Fields(bodies(b.peek())))[1], "two")
		wait(time.Hour)
		equal(t, "arrived", len(b.receive(5)), 2)
	})
}

func TestTXN14_TXN8_ATopicAndItsSubscriptionsHaveThePartitionsInCommon(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{EnablePartitioning: true}, named("s"), func(b *broker) {
		b.send(withKey("one", "1"))
		g := b.sub("s").one()
		w := b.begin()
		w.send(b, withKey("two", "2"))
		err := w.Settle(b.sub("s").q, tokensOf([]*got{g}), emulator.Settlement{})
		wantCode(t, "settle of another partition", err, emulator.CodeNotAllowed)
		w.Rollback()
		w = b.begin()
		w.settle(b.sub("s"), emulator.Complete, g)
		wantCode(t, "send to another partition", w.Send(b.q, b.encodeAll([]*goamqp.Message{withKey("two", "2")})), emulator.CodeNotAllowed)
		w.send(b, withKey("one", "3"))
		w.commit()
		equal(t, "left", bodies(b.sub("s").receive(5)), "3")
	})
}

func TestTXN14_MessageIDIsAKeyWithDuplicateDetection(t *testing.T) {
	o := deduplicating
	o.EnablePartitioning = true
	bubble(t, o, func(b *broker) {
		w := b.begin()
		w.send(b, withID("a"))
		wantCode(t, "send without an id", w.Send(b.q, b.encodeAll(texts("x"))), emulator.CodeNotAllowed)
		wantCode(t, "send with an empty id", w.Send(b.q, b.encodeAll([]*goamqp.Message{withID("")})), emulator.CodeNotAllowed)
		w.commit()
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestTXN16_RefusedOperationDoesNotEndTheTransaction(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		w := b.begin()
		w.send(b, text("a"))
		wantCode(t, "settle", w.Settle(b.q, []lockToken{{1}}, emulator.Settlement{}), emulator.CodeMessageLockLost)
		wantCode(t, "cancel", w.CancelScheduled(b.q, []int64{7}), emulator.CodeMessageNotFound)
		wantCode(t, "send", w.Send(b.q, b.encodeAll([]*goamqp.Message{goamqp.NewMessage(make([]byte, 300<<10))})), emulator.CodeMessageTooLarge)
		w.send(b, text("b"))
		w.commit()
		equal(t, "stored", bodies(b.peek()), "a b")
	})
}

func TestTXN23_SEQ19_NumbersFollowTheOrderOfOperations(t *testing.T) {
	for name, o := range map[string]emulator.QueueOptions{"": {}, "with duplicate detection": deduplicating} {
		bubble(t, o, func(b *broker) {
			w := b.begin()
			later := w.schedule(b, at("later", soon(time.Minute)))
			w.send(b, withID("sent"))
			now := withID("now")
			now.Annotations = at("", soon(0)).Annotations
			w.schedule(b, now, at("later still", soon(time.Minute)))
			w.send(b, withID("last"))
			w.commit()
			equal(t, "received"+name, bodies(b.receive(5)), "sent now last")
			equal(t, "cancel", b.cancel(later...), nil)
		})
	}
}

func TestTXN23_ScheduleThatIsDueGoesThroughATopicInItsTurn(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		w := b.begin()
		w.send(b, text("sent"))
		w.schedule(b, at("now", soon(0)))
		w.send(b, text("last"))
		w.commit()
		equal(t, "received", bodies(b.sub("s").receive(5)), "sent now last")
	})
}

// withViaKey makes a message with .NET's TransactionPartitionKey.
func withViaKey(key, body string) *goamqp.Message {
	m := text(body)
	m.Annotations = goamqp.Annotations{"x-opt-via-partition-key": key}
	return m
}

func TestTXN14_PART2_PART4_ViaPartitionKeyAloneChooses(t *testing.T) {
	bubble(t, emulator.QueueOptions{EnablePartitioning: true}, func(b *broker) {
		b.send(withViaKey("one", "1"))
		b.send(withKey("one", "2"))
		gs := b.receive(5)
		equal(t, "same partition as the same partition key", gs[0].seq()>>48, gs[1].seq()>>48)
		w := b.begin()
		w.settle(b, emulator.Complete, gs[0])
		w.send(b, withViaKey("one", "3"))
		wantCode(t, "another key", w.Send(b.q, b.encodeAll([]*goamqp.Message{withViaKey("two", "x")})), emulator.CodeNotAllowed)
		both := withViaKey("two", "4") // on the entity itself the partition key comes first
		both.Annotations["x-opt-partition-key"] = "one"
		w.send(b, both)
		w.commit()
		equal(t, "left", bodies(b.receive(5)), "3 4")
	})
}

func TestTXN14_TXN9_TargetsChooseTheirOwnPartition(t *testing.T) {
	bubble(t, emulator.QueueOptions{EnablePartitioning: true}, func(b *broker) {
		other, plain := b.create("other", emulator.QueueOptions{EnablePartitioning: true}), b.create("plain", emulator.QueueOptions{})
		b.send(withViaKey("one", "request"))
		w := b.beginCross("")
		w.settle(b, emulator.Complete, b.one())
		w.send(other, withViaKey("one", "reply"))
		for _, key := range []string{"two", "three"} { // of the target
			m := withViaKey("one", key)
			m.Annotations["x-opt-partition-key"] = key
			w.send(other, m)
		}
		w.send(other, withKey("one", "own")) // its only key stands for both
		w.send(plain, withViaKey("one", "plain"))
		refused := func(what string, to *broker, ms ...*goamqp.Message) {
			t.Helper()
			wantCode(t, what, w.Send(to.q, to.encodeAll(ms)), emulator.CodeNotAllowed)
		}
		refused("no key", other, text("x"))
		refused("no key for the way", plain, text("x"))
		refused("another partition on the way", other, withViaKey("two", "x"))
		refused("another partition on the way to a plain queue", plain, withKey("two", "x"))
		refused("two keys in a batch", plain, withViaKey("one", "x"), withViaKey("two", "x"))
		w.commit()
		equal(t, "replies", strings.Join(sorted(strings.Fields(bodies(other.receive(5)))), " "), "own reply three two")
		equal(t, "plain", bodies(plain.receive(5)), "plain")
		equal(t, "left", len(b.peek()), 0)
	})
}

func TestTXN14_TXN9_PartitionedTargetOfAPlainQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{EnablePartitioning: true})
		w := b.beginCross("q")
		w.send(other, withViaKey("one", "1"))
		w.send(other, withKey("two", "2"))
		wantCode(t, "no key", w.Send(other.q, b.encodeAll(texts("x"))), emulator.CodeNotAllowed)
		w.commit()
		equal(t, "arrived", len(other.receive(5)), 2)
	})
}

func TestTXN24_TXN6_TheReceiverKeepsItsDeliveryUntilTheCommit(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("1", "2")
		r := b.receiver(emulator.Main, emulator.PeekLock)
		gs := r.take(2)
		ended := func(what string, want ...lockToken) {
			t.Helper()
			equalSlices(t, what, mapped(r.c.Ended(), (*emulator.Lock).Token), want...)
		}
		w := b.begin()
		if err := r.c.SettleIn(w.Transaction, gs[0].d.Lock(), emulator.Settlement{}); err != nil {
			t.Fatalf("settle: %v", err)
		}
		wantCode(t, "settle outside", r.c.Settle(gs[0].d.Lock(), emulator.Settlement{}, newOutcome()), emulator.CodeMessageLockLost)
		b.failOnce()
		if w.tryCommit() == nil {
			t.Error("committed")
		}
		ended("after the failed commit")
		w = b.begin()
		if err := r.c.SettleIn(w.Transaction, gs[0].d.Lock(), emulator.Settlement{}); err != nil {
			t.Fatalf("settle: %v", err)
		}
		w.settle(b, emulator.Complete, gs[1]) // by token: nothing else tells the receiver
		w.commit()
		ended("after the commit", gs[1].token())
	})
}
