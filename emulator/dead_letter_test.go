package emulator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestDLQ1_EveryQueueHasOneAndPathsIgnoreCase(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		if _, err := b.ns.Entities().CreateQueue("Orders/In", emulator.QueueOptions{}); err != nil {
			t.Fatalf("create queue: %v", err)
		}
		for _, path := range []string{"Orders/In", "orders/in", "ORDERS/IN"} {
			q, err := b.ns.Entity(path)
			if err != nil {
				t.Fatalf("queue %s: %v", path, err)
			}
			equal(t, "path", q.Path(), "orders/in")
			for _, sub := range []emulator.SubQueue{emulator.DeadLetter, emulator.TransferDeadLetter} {
				if err := q.CanReceive(sub); err != nil {
					t.Errorf("receive from sub-queue %d: %v", sub, err)
				}
			}
		}
	})
}

func TestDLQ2_DLQ11_DeadLetteringIsOneChange(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		before, _ := b.j.seen()
		b.settle(emulator.DeadLetterOutcome, gs...)
		after, _ := b.j.seen()
		equal(t, "changes in the journal", after-before, 1)
		for _, op := range b.j.since(before) {
			if op.Kind != emulator.OpUpdate || op.DrawsNumber {
				t.Errorf("a move is not an update of the row: %+v", op)
			}
		}
		b.restart()
		b.wantCounts(0, 2, 0, 0)
	})
}

func TestDLQ11_FailedMoveLeavesTheMessageWhereItWas(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		b.j.Pause()
		done := newOutcome()
		if err := b.q.Settle(tokensOf([]*got{g}), emulator.Settlement{Outcome: emulator.DeadLetterOutcome}, done); err != nil {
			t.Fatalf("dead-letter: %v", err)
		}
		synctest.Wait()
		b.wantCounts(1, 0, 0, 0)
		equal(t, "received from the dead-letter queue early", len(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 1)), 0)
		equal(t, "peeked there early", len(b.peekFrom(emulator.DeadLetter, 0, 1)), 0)
		b.failOnce()
		b.j.Resume()
		if err := <-done; err == nil {
			t.Fatal("a move that could not be written succeeded")
		}
		synctest.Wait()
		b.wantCounts(1, 0, 0, 0)
		equal(t, "in the dead-letter queue", len(b.peekFrom(emulator.DeadLetter, 0, 1)), 0)
		b.settle(emulator.DeadLetterOutcome, g)
		b.wantCounts(0, 1, 0, 0)
		b.restart()
		b.wantCounts(0, 1, 0, 0)
	})
}

func TestDLQ3_BehavesAsAQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		for _, s := range []string{"a", "b", "c"} {
			b.deadLetterOne(text(s))
		}
		g := b.oneFrom(emulator.DeadLetter)
		equal(t, "others skip what is locked", bodies(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 1)), "b")
		wait(5 * time.Second)
		if _, err := b.q.Renew(tokensOf([]*got{g}), nil); err != nil {
			t.Errorf("renew: %v", err)
		}
		wait(5 * time.Second)
		gs := b.receiveFrom(emulator.DeadLetter, emulator.ReceiveAndDelete, 5)
		equal(t, "received and deleted", bodies(gs), "b c")
		b.settle(emulator.Complete, g)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestDLQ5_EXP12_NoTimeToLiveInside(t *testing.T) {
	bubble(t, emulator.QueueOptions{DefaultMessageTimeToLive: time.Minute}, func(b *broker) {
		b.deadLetterOne(text("a"))
		wait(24 * time.Hour)
		b.wantCounts(0, 1, 0, 0)
		b.restart()
		wait(24 * time.Hour)
		g := b.oneFrom(emulator.DeadLetter)
		b.settle(emulator.Abandon, g)
		b.wantCounts(0, 1, 0, 0)
		b.settle(emulator.Defer, b.oneFrom(emulator.DeadLetter))
		wait(24 * time.Hour)
		if _, err := b.byNumber(emulator.DeadLetter, emulator.PeekLock, 1); err != nil {
			t.Errorf("by number: %v", err)
		}
	})
}

func TestDLQ8_DLQR7_TheCallersWordsAndOnlyWhenGiven(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		m := text("a")
		m.Properties = properties("id")
		session := "s"
		m.Properties.GroupID = &session
		m.ApplicationProperties = map[string]any{"mine": int32(1)}
		for _, c := range []struct {
			properties []byte
			want       map[string]any
		}{
			{nil, map[string]any{}},
			{b.properties(emulator.DeadLetterReason, "why"), map[string]any{"DeadLetterReason": "why"}},
			{
				b.properties(emulator.DeadLetterReason, "why", emulator.DeadLetterErrorDescription, "because"),
				map[string]any{"DeadLetterReason": "why", "DeadLetterErrorDescription": "because"},
			},
			{b.properties(emulator.DeadLetterReason, int64(5)), map[string]any{"DeadLetterReason": int64(5)}},
		} {
			b.send(m)
			b.settleWith(emulator.DeadLetterOutcome, c.properties, b.one())
			g := b.oneFrom(emulator.DeadLetter)
			equal(t, "body", g.body(), "a")
			equal(t, "message id", g.Properties.MessageID, any("id"))
			equal(t, "session id", *g.Properties.GroupID, "s")
			equal(t, "the sender's property", g.property("mine"), any(int32(1)))
			equal(t, "number of properties", len(g.ApplicationProperties), len(c.want)+1)
			for k, v := range c.want {
				equal(t, k, g.property(k), v)
			}
			b.settle(emulator.Complete, g)
		}
	})
}

func TestDLQ8_ReasonIsStoredForPeopleToo(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		before, _ := b.j.seen()
		b.settleWith(emulator.DeadLetterOutcome, b.properties(emulator.DeadLetterReason, "why"), b.one())
		ops := b.j.since(before)
		equal(t, "reason in the record", ops[len(ops)-1].Record.Reason, "why")
	})
}

func TestDLQ14_LongReasonsAreTaken(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		long := strings.Repeat("r", 10_000)
		b.sendTexts("a")
		b.settleWith(emulator.DeadLetterOutcome,
			b.properties(emulator.DeadLetterReason, long, emulator.DeadLetterErrorDescription, long), b.one())
		g := b.oneFrom(emulator.DeadLetter)
		equal(t, "reason", g.property(emulator.DeadLetterReason), any(long))
		equal(t, "description", g.property(emulator.DeadLetterErrorDescription), any(long))
	})
}

func TestDLQ17_TokensOfTheDeadLetterQueueAreGoodOnItsParent(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deadLetterOne(text("dead"))
		b.sendTexts("alive")
		gs := []*got{b.one(), b.oneFrom(emulator.DeadLetter)}
		if _, err := b.q.Renew(tokensOf(gs), nil); err != nil {
			t.Errorf("renew: %v", err)
		}
		b.settle(emulator.Complete, gs...)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestDLQR3_PropertiesThatOutgrowTheirLimit(t *testing.T) {
	big := strings.Repeat("x", 40_000)
	for _, o := range []emulator.Outcome{emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("a")
			b.settleWith(emulator.Abandon, b.properties("first", big), b.one())
			b.wantCounts(1, 0, 0, 0)
			b.settleWith(o, b.properties("second", big), b.one())
			b.wantCounts(0, 1, 0, 0)
			g := b.oneFrom(emulator.DeadLetter)
			equal(t, "reason", g.property("DeadLetterReason"), any("HeaderSizeExceeded"))
			equal(t, "description", g.property("DeadLetterErrorDescription"),
				any("The size quota for this stream has been exceeded."))
			equal(t, "what fitted", g.property("first"), any(big))
			equal(t, "what did not", g.property("second"), nil)
		})
	}
}

func TestDLQ3_SentAgainToTheQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.settleWith(emulator.DeadLetterOutcome, b.properties(emulator.DeadLetterReason, "why"), b.one())
		g := b.oneFrom(emulator.DeadLetter)
		b.send(&goamqp.Message{ // a resubmitting program copies everything
			Header: g.Header, Annotations: g.Annotations, Properties: g.Properties,
			ApplicationProperties: g.ApplicationProperties, Data: g.Data,
		})
		b.settle(emulator.Complete, g)
		again := b.one()
		equal(t, "number", again.seq(), 2)
		equal(t, "delivery count", again.count(), 0)
		equal(t, "reason as a plain property", again.property(emulator.DeadLetterReason), any("why"))
	})
}
