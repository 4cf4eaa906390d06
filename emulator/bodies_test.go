package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// small keeps no body in memory: every body is read back from the journal. And it packs all that it can.
var small = emulator.SmallChunks(emulator.Options{BodyBudget: 1})

func TestBodies_ReadBackByEveryWayOfReading(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		for i := range 100 {
			b.sendTexts(fmt.Sprint(i))
		}
		check := func(what string, gs []*got, first int) {
			t.Helper()
			for i, g := range gs {
				equal(t, what, g.body(), fmt.Sprint(first+i))
			}
			if len(gs) == 0 {
				t.Errorf("%s: nothing", what)
			}
		}
		_, before := b.j.seen()
		check("peek", b.peek(), 0)
		locked := b.receive(10)
		check("peek-lock", locked, 0)
		check("receive and delete", b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 10), 10)
		b.settle(emulator.Defer, locked...)
		for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
			gs, err := b.byNumber(emulator.Main, mode, locked[int(mode)].seq())
			if err != nil {
				t.Fatalf("receive by number: %v", err)
			}
			check("by number", gs, int(mode))
		}
		_, after := b.j.seen()
		if after-before < 5 {
			t.Fatalf("%d reads: the bodies were in memory, so the test proves nothing", after-before)
		}
		b.settle(emulator.DeadLetterOutcome, b.receive(1)...)
		check("dead-letter queue", b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 1), 20)
		b.restart()
		check("after a restart", b.receive(5), 21)
	})
}

func TestBodies_NotReadWhileInMemory(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		b.peek()
		b.receive(1)
		b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)
		_, reads := b.j.seen()
		equal(t, "reads", reads, 0)
	})
}

func TestBodies_DeepQueueLeavesRoomForAShallowOne(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 300 << 10}, emulator.QueueOptions{}, func(b *broker) {
		shallow, err := b.ns.Entities().CreateQueue("shallow", emulator.QueueOptions{})
		if err != nil {
			t.Fatalf("create queue: %v", err)
		}
		for range 400 {
			b.send(text(fmt.Sprintf("%1024d", 1)))
		}
		b.q = shallow.Entity
		_, before := b.j.seen()
		b.sendTexts("a", "b")
		b.receive(2)
		_, after := b.j.seen()
		equal(t, "reads of the shallow queue", after-before, 0)
	})
}

func TestBodies_BudgetIsGivenBack(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 100 << 10}, emulator.QueueOptions{}, func(b *broker) {
		for range 20 { // far more than the budget in all, by every way out of memory
			for range 40 {
				b.send(withTTL(fmt.Sprintf("%1024d", 1), time.Minute))
			}
			b.settle(emulator.Complete, b.receive(10)...)
			b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 10)
			wait(time.Minute)
			b.wantCounts(0, 0, 0, 0)
		}
		_, reads := b.j.seen()
		equal(t, "reads", reads, 0)
		equal(t, "bytes", b.q.Counts().SizeBytes, 0)
	})
}

// reading attaches a consumer, takes n messages whose bodies are on disk, and returns what comes of it.
func (b *broker) reading(mode emulator.ReceiveMode, n int) (gs []*got, pokes int) {
	b.t.Helper()
	c, err := b.q.NewConsumer(emulator.Main, mode, func() { pokes++ })
	if err != nil {
		b.t.Fatalf("attach consumer: %v", err)
	}
	defer c.Close()
	ds := c.Take(nil, n)
	c.Take(nil, 0)
	return b.written(ds), pokes
}

func TestBodies_ReadErrorMakesTheMessagesAvailableAgain(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("a", "b")
			b.j.setReads(errDisk, 0)
			gs, pokes := b.reading(mode, 2)
			equal(t, "received", len(gs), 0)
			equal(t, "pokes", pokes, 1)
			if _, err := b.tryPeek(emulator.Main, 0, 2, 0, false); err == nil {
				t.Error("peek without bodies succeeded")
			}
			b.wantCounts(2, 0, 0, 0)
			b.j.setReads(nil, 0)
			gs, _ = b.reading(mode, 2)
			equal(t, "received when the disk is well", bodies(gs), "a b")
			equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
		})
	}
}

func TestBodies_OneThatIsGoneDoesNotHoldUpTheOthers(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("a", "b", "c")
			b.j.setReads(nil, b.bodyOf(2))
			gs, _ := b.reading(mode, 3)
			equal(t, "received", bodies(gs), "a c")
		})
	}
}

func TestPEEK6_OnlyTheEndIsEmpty(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		b.j.setReads(nil, b.bodyOf(2)) // as if it were received while it is being read
		equal(t, "peeked from 2 on", bodies(b.peekFrom(emulator.Main, 2, 1)), "c")
		b.j.setReads(nil, b.bodyOf(3))
		equal(t, "peeked from 3 on", len(b.peekFrom(emulator.Main, 3, 1)), 0)
	})
}

func TestBodies_SettledByTokenWhileBeingRead(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		b.j.Pause()
		ds := b.receiver(emulator.Main, emulator.PeekLock).pull(2)
		done := newOutcome()
		tokens := []lockToken{ds[0].Token()}
		if err := b.q.Settle(tokens, emulator.Settlement{Outcome: emulator.Complete}, done); err != nil {
			t.Fatalf("complete: %v", err)
		}
		wait(10 * time.Second) // the other one's lock ends before its body is there
		b.j.Resume()
		if err := <-done; err != nil {
			t.Fatalf("complete: %v", err)
		}
		synctest.Wait()
		b.written(ds)
		gs := b.receive(5)
		equal(t, "received", bodies(gs), "b")
		equalSlices(t, "delivery counts", countsOf(gs), 1)
	})
}

func TestRAD5_ReturnWhileBodiesAreRead(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		b.j.Pause()
		r, ds := b.deleting(2)
		r.c.Return(ds)
		r.c.Close()
		b.j.Resume()
		synctest.Wait()
		equal(t, "received", bodies(b.receive(5)), "a b")
		b.restart()
		equal(t, "after a restart", bodies(b.receive(5)), "a b")
	})
}

// A fault that lasts must not become a loop: who waits asks again the moment a message is back.
func TestBodies_LastingReadErrorIsTriedWithPauses(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.j.setReads(errDisk, 0)
		poked := make(chan struct{}, 1)
		c, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() {
			select {
			case poked <- struct{}{}:
			default:
			}
		})
		if err != nil {
			t.Fatalf("attach consumer: %v", err)
		}
		defer c.Close()
		takes := 0
		for end := time.After(10 * time.Second); ; takes++ {
			c.Take(nil, 1)
			select {
			case <-poked:
				continue
			case <-end:
			}
			break
		}
		if takes < 20 || takes > 100 {
			t.Errorf("the message was asked for %d times in ten seconds", takes)
		}
		b.j.setReads(nil, 0)
		wait(2 * time.Second)
		if ds := b.written(c.Take(nil, 1)); bodies(ds) != "a" || ds[0].count() != 0 {
			t.Errorf("received when the disk is well: %q", bodies(ds))
		}
	})
}

func TestQUO4_CopiesCountTheirBodyOnceInMemory(t *testing.T) {
	const size = 200 << 10
	topicBubbleWith(t, emulator.Options{BodyBudget: 450 << 10}, emulator.TopicOptions{}, named("a", "b", "c", "d"), func(b *broker) {
		shown := func(what string, messages int64) {
			t.Helper()
			all, _ := b.q.InMemory().Bodies()
			if all < messages*size || all >= (messages+1)*size {
				t.Errorf("%s: %d bytes are counted, want those of %d messages", what, all, messages)
			}
			if faults := b.ns.Verify(); len(faults) > 0 {
				t.Errorf("%s: %v", what, faults)
			}
		}
		body := strings.Repeat("x", size)
		b.sendTexts(body)
		shown("a message and four copies", 1)
		for _, name := range []string{"a", "b", "c"} {
			b.sub(name).drain()
			shown("without the copy in "+name, 1)
		}
		for range 4 { // of which one finds room beside the first
			b.sendTexts(body)
		}
		shown("more than there is room for", 2)
		if err := b.ns.Entities().Delete("t/Subscriptions/d"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		shown("without the entity of the first", 1)
		for _, name := range []string{"c", "b", "a"} {
			b.sub(name).receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 4)
		}
		shown("without copies", 0)
	})
}
