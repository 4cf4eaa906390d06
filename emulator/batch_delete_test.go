package emulator_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func (b *broker) tryDeleteBatch(sub emulator.SubQueue, limit int, before time.Time, c *emulator.Consumer) (int, error) {
	b.t.Helper()
	deleted, done := 0, newOutcome()
	err := b.q.DeleteBatch(sub, limit, before.UnixMilli(), c, nil, func(n int, err error) { deleted = n; done <- err })
	if err == nil {
		err = <-done
	}
	synctest.Wait()
	return deleted, err
}

func (b *broker) deleteBatch(sub emulator.SubQueue, limit int, before time.Time) int {
	b.t.Helper()
	n, err := b.tryDeleteBatch(sub, limit, before, nil)
	if err != nil {
		b.t.Fatalf("batch delete: %v", err)
	}
	return n
}

func TestBDEL1_BDEL5_OldestFirstUpToTheCutoff(t *testing.T) {
	for _, no := range []emulator.Options{{}, small} {
		bubbleWith(t, no, emulator.QueueOptions{}, func(b *broker) {
			for i := range 6 {
				b.sendTexts(fmt.Sprint(i))
				wait(time.Second)
			}
			cut := b.peek()[4].enqueued()
			equal(t, "deleted", b.deleteBatch(emulator.Main, 2, cut), 2)
			equal(t, "left", bodies(b.peek()), "2 3 4 5")
			equal(t, "deleted before the millisecond", b.deleteBatch(emulator.Main, 9, cut.Add(-time.Millisecond)), 2)
			equal(t, "deleted in the millisecond", b.deleteBatch(emulator.Main, 9, cut), 1)
			b.restart()
			equal(t, "left after a restart", bodies(b.peek()), "5")
		})
	}
}

func TestBDEL2_CountIsLimited(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for _, n := range []int{-1, 0, 4001} {
			_, err := b.tryDeleteBatch(emulator.Main, n, now(), nil)
			wantCode(t, fmt.Sprint(n), err, emulator.CodeArgument)
		}
		batch := texts()
		for range 4500 {
			batch = append(batch, text("x"))
		}
		b.send(batch...)
		equal(t, "deleted at most", b.deleteBatch(emulator.Main, 4000, now()), 4000)
		equal(t, "deleted then", b.deleteBatch(emulator.Main, 4000, now()), 500)
		equal(t, "deleted at the end", b.deleteBatch(emulator.Main, 4000, now()), 0)
	})
}

func TestBDEL3_DEC33_LockedDeferredAndScheduledStay(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deferOne(text("deferred"))
		b.sendTexts("locked")
		b.one()
		b.send(text("a"), at("scheduled", soon(time.Hour)), text("b"))
		equal(t, "deleted", b.deleteBatch(emulator.Main, 9, now().Add(time.Hour)), 2)
		equal(t, "left", bodies(b.peek()), "deferred locked scheduled")
	})
}

func TestBDEL4_SessionsAreDeletedByTheirHolder(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "t:1", "s:2", "s:3")
		h := b.accept("s")
		h.take(1)
		_, err := b.tryDeleteBatch(emulator.Main, 9, now(), nil)
		wantCode(t, "without a session", err, emulator.CodeNotAllowed)
		n, err := b.tryDeleteBatch(emulator.Main, 9, now(), h.c)
		if n != 2 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		equal(t, "left", bodies(b.peek()), "s:1 t:1")
		wait(10 * time.Second)
		_, err = b.tryDeleteBatch(emulator.Main, 9, now(), h.c)
		wantCode(t, "with a lost session", err, emulator.CodeSessionLockLost)
		b.settle(emulator.DeadLetterOutcome, b.accept("t").take(1)...)
		equal(t, "deleted from the dead-letter queue", b.deleteBatch(emulator.DeadLetter, 9, now()), 1)
	})
}

func TestBDEL6_DeletedMessagesAreGone(t *testing.T) {
	bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(b *broker) {
		equal(t, "deleted of nothing", b.deleteBatch(emulator.Main, 9, now()), 0)
		b.sendTexts("a")
		b.deadLetterOne(text("b"))
		equal(t, "deleted", b.deleteBatch(emulator.Main, 9, now()), 1)
		b.wantCounts(0, 1, 0, 0)
		equal(t, "deleted from the dead-letter queue", b.deleteBatch(emulator.DeadLetter, 9, now()), 1)
		b.wantCounts(0, 0, 0, 0)
		equal(t, "size", b.q.Counts().SizeBytes, 0)
	})
}

func TestBDEL1_FailedDeletionLeavesTheMessages(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		r := b.receiver(emulator.Main, emulator.PeekLock)
		b.sendTexts("a", "b")
		b.failOnce()
		n, err := b.tryDeleteBatch(emulator.Main, 9, now(), nil)
		if n != 0 || !errors.Is(err, errDisk) {
			t.Errorf("deleted %d, %v", n, err)
		}
		equal(t, "received", bodies(r.take(5)), "a b")
	})
}

func TestBDEL1_PART7_PartitionedQueues(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		for i := range 40 {
			b.send(withKey(fmt.Sprint(i%9), fmt.Sprint(i)))
			wait(time.Millisecond)
		}
		equal(t, "deleted", b.deleteBatch(emulator.Main, 38, now()), 38)
		b.failOnce()
		if n, err := b.tryDeleteBatch(emulator.Main, 9, now(), nil); n != 0 || err == nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		equal(t, "left", bodies(b.receive(9)), "38 39")
	})
}

func TestBDEL4_PART7_SessionsOfAPartitionedQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{RequiresSession: true, EnablePartitioning: true}, func(b *broker) {
		b.sendSession("s:1", "t:1", "s:2", "s:3")
		h := b.accept("s")
		n, err := b.tryDeleteBatch(emulator.Main, 2, now(), h.c)
		if n != 2 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		equal(t, "left in the session", bodies(h.take(5)), "s:3")
		equal(t, "left in the other", bodies(b.accept("t").take(5)), "t:1")
	})
}

func TestBDEL1_MessagesOfAWaitingReceiver(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		notices := 0
		c, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { notices++ })
		if err != nil {
			t.Fatalf("attach: %v", err)
		}
		c.Take(nil, 5)
		b.send([]*goamqp.Message{text("a"), text("b")}...)
		equal(t, "notices", notices, 1)
		equal(t, "deleted before it came", b.deleteBatch(emulator.Main, 9, now()), 2)
		equal(t, "taken", len(c.Take(nil, 5)), 0)
		b.sendTexts("c")
		equal(t, "notices", notices, 2)
		equal(t, "taken", len(c.Take(nil, 5)), 1)
	})
}
