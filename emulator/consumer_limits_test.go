package emulator_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// ids are those of locks, in their order.
func ids(locks []*emulator.Lock) (list []uint32) {
	for _, l := range locks {
		list = append(list, l.ID)
	}
	return list
}

func TestLOCK8_ReceiverLearnsWhichOfItsLocksEnded(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("0", "1", "2", "3", "4", "5")
		var notified atomic.Int32
		c, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { notified.Add(1) })
		if err != nil {
			t.Fatalf("attach consumer: %v", err)
		}
		defer c.Close()
		ds := c.Take(nil, 6)
		for i, d := range ds {
			d.Lock().ID = uint32(i)
		}
		c.Take(nil, 0)
		done := newOutcome()
		if err := c.Settle(ds[0].Lock(), emulator.Settlement{}, done); err != nil || <-done != nil {
			t.Fatalf("complete: %v", err)
		}
		c.Return(ds[1:2])
		equal(t, "notified of its own doing", notified.Load(), 0)
		equalSlices(t, "ended by its own doing", ids(c.Ended()))
		b.settle(emulator.Abandon, b.written(ds[2:3])...) // by token (LOCK-9)
		equalSlices(t, "settled by others", ids(c.Ended()), 2)
		if _, err := b.q.Renew([]lockToken{ds[4].Token()}, nil); err != nil {
			t.Fatalf("renew: %v", err)
		}
		wait(5 * time.Second)
		if _, err := b.q.Renew([]lockToken{ds[4].Token()}, nil); err != nil {
			t.Fatalf("renew: %v", err)
		}
		equal(t, "notified before", notified.Load(), 1)
		wait(5 * time.Second)
		equal(t, "notified", notified.Load(), 2)
		equalSlices(t, "over", ids(c.Ended()), 3, 5)
		wait(5 * time.Second)
		equalSlices(t, "renewed once more", ids(c.Ended()), 4)
		equalSlices(t, "told before", ids(c.Ended()))
		for i, d := range ds {
			if _, gone := d.Ready(); gone != (i > 1) {
				t.Errorf("delivery %d is gone: %v", i, gone)
			}
		}
	})
}

func TestTake_GivesNoMoreBytesThanCanBeWrittenSoon(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{MaxMessageSizeInKilobytes: 10_240}, func(b *broker) {
		const size = 200 << 10
		b.sendTexts("small", strings.Repeat("x", 5<<20))
		for range 20 {
			b.send(text(strings.Repeat("x", size)))
		}
		var poked atomic.Int32
		c, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { poked.Add(1) })
		if err != nil {
			t.Fatalf("attach consumer: %v", err)
		}
		defer c.Close()
		for i, want := range []int{2, 6, 6} { // the large one is the last of its Take
			equal(t, fmt.Sprintf("messages of Take %d", i), len(c.Take(nil, 100)), want)
		}
		synctest.Wait()
		poked.Store(0)
		b.send(text("one more"))
		equal(t, "pokes of one that does not wait", poked.Load(), 0)
		other := b.receiver(emulator.Main, emulator.PeekLock)
		defer other.c.Close()
		equal(t, "what is left for others", len(other.c.Take(nil, 6)), 6)
		equal(t, "messages of the last Take", len(c.Take(nil, 100)), 3)
	})
}

func TestForward_ReadsNoMoreBytesAtATimeThanATake(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		for range 20 {
			b.send(text(strings.Repeat("x", 200<<10)))
		}
		_, before := b.j.seen()
		b.set(func(o *emulator.QueueOptions) { o.ForwardTo = "target" })
		_, after := b.j.seen()
		equal(t, "reads of 6, 6, 6 and 2 bodies", after-before, 4)
		equal(t, "arrived", len(target.peekFrom(emulator.Main, 0, 1)), 1)
		target.wantCounts(20, 0, 0, 0)
	})
}
