package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// deep runs f with a queue of n messages named by their numbers, whose bodies are on disk.
func deep(t *testing.T, n int, o emulator.QueueOptions, f func(b *broker)) {
	bubbleWith(t, emulator.Options{BodyBudget: 1}, o, func(b *broker) {
		fillQueue(b, n)
		f(b)
	})
}

func fillQueue(b *broker, n int) {
	padding := strings.Repeat("x", 1<<10) // so that the least that each queue may keep in memory is soon full
	for i := range n {
		b.sendTexts(fmt.Sprintf("%d %s", i+1, padding))
	}
}

func wantNumber(t *testing.T, g *got, seq int64) {
	t.Helper()
	equal(t, "number", g.seq(), seq)
	if name, _, _ := strings.Cut(g.body(), " "); name != fmt.Sprint(seq) {
		t.Errorf("message %d has the body of %s", seq, name)
	}
}

func TestPacked_DeepQueueIs(t *testing.T) {
	const n = 20_000
	deep(t, n, emulator.QueueOptions{}, func(b *broker) {
		if packed := b.q.InMemory().Packed(emulator.Main); packed < n/4 || packed > n-9_000 {
			t.Fatalf("%d of %d messages are packed", packed, n)
		}
		b.wantCounts(n, 0, 0, 0)
		before := b.q.InMemory().Packed(emulator.Main)
		for from := int64(1); from < n; from += 997 {
			for i, g := range b.peekFrom(emulator.Main, from, 20) {
				wantNumber(t, g, from+int64(i))
			}
		}
		equal(t, "packed after peeks", b.q.InMemory().Packed(emulator.Main), before)
		b.restart()
		b.wantCounts(n, 0, 0, 0)
		if b.q.InMemory().Packed(emulator.Main) < before {
			t.Errorf("%d messages are packed after a restart, %d before", b.q.InMemory().Packed(emulator.Main), before)
		}
		for next := int64(1); next <= n; {
			for _, g := range b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 500) {
				wantNumber(t, g, next)
				next++
			}
		}
		b.wantCounts(0, 0, 0, 0)
		equal(t, "packed in an empty queue", b.q.InMemory().Packed(emulator.Main), 0)
	})
}

// TestPacked_DEF3_SCHED8_AskedForByNumber: a message deep in the queue is neither deferred nor scheduled. To say so costs nothing.
func TestPacked_DEF3_SCHED8_AskedForByNumber(t *testing.T) {
	const n = 14_000
	deep(t, n, emulator.QueueOptions{}, func(b *broker) {
		before := b.q.InMemory().Packed(emulator.Main)
		if before == 0 {
			t.Fatal("nothing is packed, so the test proves nothing")
		}
		_, err := b.byNumber(emulator.Main, emulator.PeekLock, 9_500)
		wantCode(t, "receive an available message as deferred", err, emulator.CodeMessageNotFound)
		wantCode(t, "cancel an available message", b.cancel(9_501), emulator.CodeMessageNotFound)
		equal(t, "packed", b.q.InMemory().Packed(emulator.Main), before)
		b.wantCounts(n, 0, 0, 0)
		wantNumber(t, b.peekOne(emulator.Main, 9_500), 9_500)
	})
}

// TestPacked_SCHED9_LoadedOutOfOrder: rows that are older than their numbers, as those of activated messages are, do not keep a
// queue from being packed when it is loaded.
func TestPacked_SCHED9_LoadedOutOfOrder(t *testing.T) {
	const n = 14_000
	bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
		b.schedule(at("later", soon(time.Minute)))
		fillQueue(b, n)
		wait(time.Minute)
		b.sendTexts("last")
		b.restart()
		if packed := b.q.InMemory().Packed(emulator.Main); packed != n+2 {
			t.Errorf("%d messages are packed, want all %d", packed, n+2)
		}
		all := b.peekFrom(emulator.Main, n, 9)
		equalSlices(t, "numbers at the end", mapped(all, func(g *got) int64 { return g.seq() }), n, n+1, n+2, n+3)
		equal(t, "last but one", all[2].body(), "later")
		equal(t, "first", b.one().seq(), 2)
	})
}

// TestPacked_EXP5_EXP6_ExpireDeepInTheQueue: messages expire wherever they stand.
func TestPacked_EXP5_EXP6_ExpireDeepInTheQueue(t *testing.T) {
	const n = 14_000
	deep(t, n, emulator.QueueOptions{DefaultMessageTimeToLive: time.Hour, DeadLetteringOnExpiration: true}, func(b *broker) {
		if b.q.InMemory().Packed(emulator.Main) == 0 {
			t.Fatal("nothing is packed, so the test proves nothing")
		}
		wait(59 * time.Minute)
		b.sendTexts(fmt.Sprint(n+1, " "))
		b.wantCounts(n+1, 0, 0, 0)
		wait(time.Minute)
		b.wantCounts(1, n, 0, 0)
		wantNumber(t, b.one(), n+1)
		wantNumber(t, b.oneFrom(emulator.DeadLetter), 1)
	})
}

func TestPacked_BDEL5_DeletedFromTheFront(t *testing.T) {
	const n = 14_000
	deep(t, n, emulator.QueueOptions{}, func(b *broker) {
		equal(t, "older than any", b.deleteBatch(emulator.Main, 4000, now().Add(-time.Hour)), 0)
		packed := b.q.InMemory().Packed(emulator.Main)
		if packed == 0 {
			t.Fatal("a search that finds nothing unpacks the queue")
		}
		equal(t, "deleted", b.deleteBatch(emulator.Main, 4000, now()), 4000)
		b.wantCounts(n-4000, 0, 0, 0)
		wantNumber(t, b.one(), 4001)
	})
}

// TestPacked_DEL1_WithItsQueue: the bytes of the bodies in memory are given back, and nothing is left behind.
func TestPacked_DEL1_WithItsQueue(t *testing.T) {
	deep(t, 14_000, emulator.QueueOptions{}, func(b *broker) {
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete queue: %v", err)
		}
		all, _ := b.q.InMemory().Bodies()
		equal(t, "bytes of bodies in memory", all, 0)
	})
}

// TestPacked_QUO4_SizesOfSubscriptions: copies that share a body are not packed, single ones are; sizes are exact all the same,
// also after a restart.
func TestPacked_QUO4_SizesOfSubscriptions(t *testing.T) {
	topicBubbleWith(t, small, emulator.TopicOptions{}, named("all"), func(b *broker) {
		for range 20 {
			b.send(text("one copy"))
		}
		b.subscribe(emulator.SubscriptionOptions{Name: "later"})
		for range 20 {
			b.send(text("two copies"))
		}
		before := b.q.Counts().SizeBytes
		if packed := b.sub("all").q.InMemory().Packed(emulator.Main); before == 0 || packed == 0 || packed > 20 {
			t.Fatalf("the topic has %d bytes, and %d copies are packed", before, packed)
		}
		b = b.again()
		equal(t, "size of the topic after a restart", b.q.Counts().SizeBytes, before)
		for name, n := range map[string]int{"all": 40, "later": 20} {
			sub := b.sub(name)
			if packed := sub.q.InMemory().Packed(emulator.Main); packed > n-20 {
				t.Errorf("%d copies of %s are packed", packed, name)
			}
			sub.settle(emulator.Complete, sub.receive(n)...)
		}
		equal(t, "size of the emptied topic", b.q.Counts().SizeBytes, 0)
		b.wantStored(0, 0)
	})
}

// TestPacked_SESS20_Sessions: what waits in sessions is packed too, and each session is received in its order, before and after a restart. A session
// opens its own messages only.
func TestPacked_SESS20_Sessions(t *testing.T) {
	const n, sessions = 16_000, 1600
	bubbleWith(t, emulator.Options{BodyBudget: 1}, sessionful, func(b *broker) {
		padding := strings.Repeat("x", 1<<10)
		for i := range n {
			b.send(inSession(fmt.Sprint(i%sessions), fmt.Sprintf("%d %s", i+1, padding)))
		}
		for _, id := range []int{77, 1234} {
			before := b.q.InMemory().Packed(emulator.Main)
			if before < n/4 {
				t.Fatalf("%d of %d messages are packed", before, n)
			}
			h := b.accept(fmt.Sprint(id))
			gs := h.take(20)
			equal(t, "messages of the session", len(gs), n/sessions)
			for i, g := range gs {
				wantNumber(t, g, int64(i*sessions+id+1))
			}
			if packed := b.q.InMemory().Packed(emulator.Main); packed < before-n/sessions {
				t.Errorf("%d messages are packed, %d before one session was received", packed, before)
			}
			b.settle(emulator.Complete, gs...)
			h.c.Close()
			b.restart()
		}
		b.wantCounts(n-2*n/sessions, 0, 0, 0)
		equal(t, "next session", b.nextID(), "0")
	})
}
