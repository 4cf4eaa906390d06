package emulator_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

var partitioned = emulator.QueueOptions{EnablePartitioning: true}

// partition returns the partition that a number names.
func partition(seq int64) int64 { return seq >> 48 }

// counterOf returns the number within its partition.
func counterOf(seq int64) int64 { return seq & (1<<48 - 1) }

func TestSEQ3_SEQ5_PROP8_ACounterForEachPartition(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		for i := range 64 {
			b.sendTexts(fmt.Sprint(i))
		}
		last := map[int64]int64{}
		for _, g := range b.receive(64) {
			p := partition(g.seq())
			equal(t, "number within its partition", counterOf(g.seq()), last[p]+1)
			equal(t, "partition of the annotation", int64(annotation[int16](g, "x-opt-partition-id")), p)
			last[p]++
		}
		equal(t, "partitions", len(last), 16)
		b.restart()
		for range 16 {
			b.sendTexts("after")
		}
		for _, g := range b.peek() {
			if g.body() == "after" {
				equal(t, "number within its partition after a restart", counterOf(g.seq()), 5)
			}
		}
	})
}

func TestSEQ6_CounterOfAPartitionRollsOver(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		b.send(withKey("k", "old"))
		p := partition(b.peek()[0].seq())
		b.stop()
		b.j.Memory = b.j.Reopen()
		done := newOutcome()
		b.j.Append(&emulator.Change{Done: done, Ops: []emulator.Op{{
			Kind: emulator.OpCounter, DrawsNumber: true, Partition: uint8(p),
			Record: emulator.MessageRecord{Entity: b.q.ID(), Seq: p<<48 | (1<<48 - 2)},
		}}})
		if err := <-done; err != nil {
			t.Fatalf("move the counter: %v", err)
		}
		b.stop()
		b.start()
		b.send(withKey("k", "last"))
		b.send(withKey("k", "zero"))
		b.send(withKey("k", "one")) // the old one has this number too, but that is 2^48 messages later
		equalSlices(t, "numbers within the partition", mapped(seqsOf(b.peek()), counterOf), 0, 1, 1, 1<<48-1)
		for _, s := range seqsOf(b.peek()) {
			equal(t, "partition", partition(s), p)
		}
		b.restart()
		b.send(withKey("k", "two"))
		equal(t, "messages", len(b.receive(9)), 5)
		b.wantCounts(5, 0, 0, 0)
	})
}

func TestSEQ6_SCHED9_ActivationBeyondTheRangeOfAPartition(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		jump(t, b.j, b.q, 1<<62)
		b.restart()
		b.schedule(at("a", soon(time.Minute)))
		wait(time.Minute)
		equal(t, "number", b.one().seq(), 1<<62+2)
	})
}

func TestSEQ20_NumberOfAPartitionIsNotTakenAlong(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		plain := b.create("plain", emulator.QueueOptions{})
		b.send(withKey("k", "a"))
		g := b.one()
		again := text("a")
		again.Annotations = g.Annotations
		plain.send(again)
		equal(t, "number", plain.one().seq(), 1)
	})
}

func TestPART1_FlagIsFixedAndTheQuotaIsSixteenfold(t *testing.T) {
	o := partitioned
	o.MaxSizeInMegabytes = 1
	bubbleWith(t, emulator.Options{Limits: emulator.ProfileStandard}, o, func(b *broker) {
		_, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{})
		wantCode(t, "update", err, emulator.CodeArgument)
		m := b.encodeAll([]*goamqp.Message{goamqp.NewMessage(make([]byte, 255<<10))})
		for range 4*16 + 1 { // a plain queue is full after the fifth
			done := newOutcome()
			if err := b.q.Send(m, done); err != nil {
				t.Fatalf("send: %v", err)
			}
			<-done
		}
		wantCode(t, "one more", b.q.Send(m, newOutcome()), emulator.CodeQuotaExceeded)
	})
}

func TestPART2_TheSameKeyIsTheSamePartition(t *testing.T) {
	for name, c := range map[string]struct {
		o emulator.QueueOptions
		m func(key string, i int) *goamqp.Message
	}{
		"session id":    {emulator.QueueOptions{EnablePartitioning: true, RequiresSession: true}, func(key string, _ int) *goamqp.Message { return inSession(key, key) }},
		"plain session": {partitioned, func(key string, _ int) *goamqp.Message { return inSession(key, key) }},
		"partition key": {partitioned, func(key string, _ int) *goamqp.Message { return withKey(key, key) }},
		"message id": {emulator.QueueOptions{EnablePartitioning: true, RequiresDuplicateDetection: true, DuplicateDetectionWindow: time.Millisecond},
			func(key string, _ int) *goamqp.Message { return withID(key) }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.o, func(b *broker) {
				for i := range 3 {
					for k := range 40 {
						b.send(c.m(fmt.Sprintf("key-%d", k), i))
					}
					wait(time.Second)
					b.restart()
				}
				where, used := map[string]int64{}, map[int64]bool{}
				for _, g := range b.peek() {
					p := partition(g.seq())
					if old, ok := where[g.body()]; ok && old != p {
						t.Errorf("%s is in the partitions %d and %d", g.body(), old, p)
					}
					where[g.body()], used[p] = p, true
				}
				equal(t, "messages", len(b.peek()), 120)
				if len(used) < 8 {
					t.Errorf("only %d partitions are used by 40 keys", len(used))
				}
			})
		})
	}
}

func TestPART2_MessageIDIsNoKeyWithoutDuplicateDetection(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		b.ids("a", "a")
		gs := b.receive(2)
		if partition(gs[0].seq()) == partition(gs[1].seq()) {
			t.Error("both messages are in one partition")
		}
	})
}

func TestPART3_PartitionKeyMustBeTheSessionID(t *testing.T) {
	for _, o := range []emulator.QueueOptions{partitioned, {}} {
		bubble(t, o, func(b *broker) {
			same, other := inSession("s", "same"), inSession("s", "other")
			same.Annotations = goamqp.Annotations{"x-opt-partition-key": "s"}
			other.Annotations = goamqp.Annotations{"x-opt-partition-key": "k"}
			b.send(same)
			err := b.trySend(other)
			if o.EnablePartitioning {
				wantCode(t, "send", err, emulator.CodeNotAllowed)
			} else if err != nil {
				t.Errorf("send to a plain queue: %v", err)
			}
		})
	}
}

func TestPART4_PART8_KeysArePreserved(t *testing.T) {
	for _, o := range []emulator.QueueOptions{partitioned, {}} {
		bubble(t, o, func(b *broker) {
			m := withKey("k", "a")
			m.Annotations["x-opt-via-partition-key"] = "another"
			b.send(m)
			b.send(withKey("k", "b"))
			gs := b.receive(2)
			equal(t, "key", annotation[string](gs[0], "x-opt-partition-key"), "k")
			equal(t, "via key", annotation[string](gs[0], "x-opt-via-partition-key"), "another")
			equal(t, "same partition", partition(gs[0].seq()), partition(gs[1].seq()))
		})
	}
}

func TestPART5_BatchIsForOnePartition(t *testing.T) {
	for _, o := range []emulator.QueueOptions{partitioned, {}} {
		bubble(t, o, func(b *broker) {
			for what, batch := range map[string][]*goamqp.Message{
				"keys":        {withKey("a", "1"), withKey("b", "2")},
				"sessions":    {inSession("a", "1"), inSession("b", "2")},
				"with or w/o": {withKey("a", "1"), text("2")},
			} {
				if err := b.trySend(batch...); o.EnablePartitioning {
					wantCode(t, what, err, emulator.CodeNotAllowed)
				} else if err != nil {
					t.Errorf("%s on a plain queue: %v", what, err)
				}
			}
			b.send(withKey("a", "1"), withKey("a", "2"))
			b.sendTexts("3", "4") // without a key all go where the first goes
		})
	}
}

func TestPART5_MixedSessionsInABatchOfAPlainQueue(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.send(inSession("s", "s:1"), inSession("t", "t:1"), inSession("s", "s:2"))
		equal(t, "in s", bodies(b.accept("s").take(5)), "s:1 s:2")
		equal(t, "in t", bodies(b.accept("t").take(5)), "t:1")
	})
}

func TestPART6_ORD7_ReceivesMergeByArrivalAndCountsAreOfAll(t *testing.T) {
	bubbleWith(t, small, partitioned, func(b *broker) {
		var want []string
		for i := range 100 {
			want = append(want, fmt.Sprint(i))
			b.send(withKey(fmt.Sprint(i%7), want[i]))
		}
		b.wantCounts(100, 0, 0, 0)
		first := b.receive(10)
		equalSlices(t, "received", mapped(first, (*got).body), want[:10]...)
		b.settle(emulator.Abandon, first[7], first[2])
		b.settle(emulator.Defer, first[3])
		b.settle(emulator.DeadLetterOutcome, first[4])
		equal(t, "received, the returned ones first", bodies(b.receive(3)), "2 7 10")
		b.wantCounts(99, 1, 0, 1)
		equal(t, "deferred", b.fetch(first[3].seq()).body(), "3")
		b.restart()
		b.wantCounts(99, 1, 0, 1)
		equalSlices(t, "received after a restart", mapped(b.receive(4), (*got).body), "0", "1", "2", "5")
	})
}

func TestPART6_ORD4_WaitingReceiverGetsAMessageOfAnyPartition(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		notices := 0
		c, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { notices++ })
		if err != nil {
			t.Fatalf("attach: %v", err)
		}
		for range 40 {
			equal(t, "received at first", len(c.Take(nil, 1)), 0)
			before := notices
			b.sendTexts("x")
			equal(t, "notices", notices-before, 1)
			equal(t, "received", len(c.Take(nil, 1)), 1)
		}
	})
}

func TestPART6_SESS10_SessionsOfAPartitionedQueue(t *testing.T) {
	o := sessionful
	o.EnablePartitioning = true
	bubble(t, o, func(b *broker) {
		for i := range 30 {
			b.sendSession(fmt.Sprintf("%d:%d", i%10, i))
		}
		for i := range 10 {
			gs := b.accept(fmt.Sprint(i)).take(9)
			equal(t, "received", bodies(gs), fmt.Sprintf("%d:%d %d:%d %d:%d", i, i, i, i+10, i, i+20))
		}
		equal(t, "next session", b.nextID(), "none")
		wait(10 * time.Second)
		seen := map[string]bool{}
		for range 10 {
			seen[b.nextID()] = true
		}
		equal(t, "sessions", len(seen), 10)
	})
}

func TestPEEK8_PartitionsArePeekedByTheirNumbers(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		for i := range 50 {
			b.sendTexts(fmt.Sprint(i))
		}
		var seqs []int64
		for from := int64(0); ; {
			gs := b.peekFrom(emulator.Main, from, 7)
			if len(gs) == 0 {
				break
			}
			seqs = append(seqs, seqsOf(gs)...)
			from = seqs[len(seqs)-1] + 1
		}
		equal(t, "messages", len(seqs), 50)
		equal(t, "in order", slices.IsSorted(seqs), true)
	})
}

func TestPART2_SCHED9_ActivationStaysInItsPartition(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		for i := range 20 {
			b.schedule(at(fmt.Sprint(i), soon(time.Minute)))
		}
		before := map[string]int64{}
		for _, g := range b.peek() {
			before[g.body()] = partition(g.seq())
		}
		wait(time.Minute)
		synctest.Wait()
		for _, g := range b.receive(20) {
			equal(t, "partition", partition(g.seq()), before[g.body()])
		}
	})
}

func TestPART2_FailedSendsLeaveNoGapInAnyPartition(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		for i := range 60 {
			if i%3 == 0 {
				b.failOnce()
			}
			if err := b.trySend(withKey(fmt.Sprint(i%5), "x")); (err != nil) != (i%3 == 0) {
				t.Errorf("send %d: %v", i, err)
			}
		}
		last := map[int64]int64{}
		for _, g := range b.peek() {
			p := partition(g.seq())
			last[p]++
			equal(t, "number", counterOf(g.seq()), last[p])
		}
	})
}
