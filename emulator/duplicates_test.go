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

// deduplicating remembers message ids for a minute.
var deduplicating = emulator.QueueOptions{RequiresDuplicateDetection: true, DuplicateDetectionWindow: time.Minute}

// ids sends one message per id, each on its own.
func (b *broker) ids(ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		b.send(withID(id))
	}
}

func TestDUP1_FlagIsFixedAndTheWindowIsNot(t *testing.T) {
	bubble(t, emulator.QueueOptions{RequiresDuplicateDetection: true}, func(b *broker) {
		b.ids("a")
		wait(emulator.DefaultDedupWindow - time.Millisecond)
		b.ids("a")
		b.wantCounts(1, 0, 0, 0)
		wait(time.Millisecond)
		b.ids("a")
		b.wantCounts(2, 0, 0, 0)
		_, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{})
		wantCode(t, "switch it off", err, emulator.CodeArgument)
		b.update(func(o *emulator.QueueOptions) { o.DuplicateDetectionWindow = 20 * time.Second })
		wait(20 * time.Second)
		b.ids("a")
		b.wantCounts(3, 0, 0, 0)
		b.update(func(o *emulator.QueueOptions) { o.DuplicateDetectionWindow = time.Hour })
		wait(59 * time.Minute)
		b.ids("a")
		b.wantCounts(3, 0, 0, 0)
	})
}

func TestDUP1_OffUnlessAsked(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.ids("a", "a")
		b.wantCounts(2, 0, 0, 0)
		equal(t, "remembered ids", b.q.InMemory().Duplicates(), 0)
	})
}

func TestDUP2_DUP3_SEQ18_DuplicateIsAcceptedAndDropped(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		b.ids("a", "a", "b", "a")
		other := text("another body")
		other.Properties = properties("a")
		other.ApplicationProperties = map[string]any{"k": "v"}
		b.send(other)
		b.ids("A", "c") // ids are case-sensitive
		gs := b.receive(10)
		equal(t, "received", bodies(gs), "a b A c")
		equalSlices(t, "numbers, of which duplicates take none", seqsOf(gs), 1, 2, 3, 4)
	})
}

func TestDUP4_PartitionKeyBelongsToTheIDOnAPartitionedQueue(t *testing.T) {
	for _, partitioned := range []bool{true, false} {
		o := deduplicating
		o.EnablePartitioning = partitioned
		bubble(t, o, func(b *broker) {
			for _, key := range []string{"x", "y", "x"} {
				m := withKey(key, key)
				m.Properties = properties("id")
				b.send(m)
			}
			s := inSession("z", "z")
			s.Properties.MessageID = "id"
			b.send(s)
			want := "x"
			if partitioned {
				want = "x y z"
			}
			equal(t, fmt.Sprintf("stored, partitioned %v", partitioned), bodies(b.receive(9)), want)
		})
	}
}

func TestDUP5_WindowCountsFromTheFirstSubmission(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		b.ids("a")
		b.settle(emulator.Complete, b.one())
		for range 5 {
			wait(11 * time.Second)
			b.ids("a")
		}
		b.wantCounts(0, 0, 0, 0)
		wait(5*time.Second - time.Millisecond)
		b.ids("a")
		b.wantCounts(0, 0, 0, 0)
		wait(time.Millisecond)
		b.ids("a")
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestDUP6_ScheduledMessagesTakePartFromTheirSubmission(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		later := func(id string, d time.Duration) *goamqp.Message {
			m := at(id, soon(d))
			m.Properties = properties(id)
			return m
		}
		b.ids("sent first")
		b.schedule(later("sent first", time.Hour), later("scheduled first", time.Hour))
		b.ids("scheduled first")
		b.wantCounts(1, 0, 1, 0)
		wait(time.Minute)
		b.schedule(later("scheduled first", 2*time.Hour))
		b.wantCounts(1, 0, 2, 0)
		wait(59 * time.Minute)
		equal(t, "after the first activation", bodies(b.peek()), "sent first scheduled first scheduled first")
		b.ids("scheduled first") // activation leaves nothing in the history
		b.wantCounts(3, 0, 1, 0)
	})
}

func TestDUP7_DEC30_DuplicateScheduleCallReturnsANumber(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		m := at("a", soon(time.Hour))
		m.Properties = properties("a")
		seqs := append(b.schedule(m), b.schedule(m)...)
		equalSlices(t, "numbers", seqs, 1, 2)
		b.wantCounts(0, 0, 1, 0)
		wantCode(t, "cancel of the duplicate", b.cancel(seqs[1]), emulator.CodeMessageNotFound)
		b.ids("b")
		equal(t, "number of the next message", b.one().seq(), 3)
		b.restart()
		b.ids("c")
		equal(t, "number after a restart", b.peekFrom(emulator.Main, 4, 1)[0].seq(), 4)
	})
}

func TestDUP8_CancelDoesNotClearTheHistory(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		m := at("a", soon(time.Hour))
		m.Properties = properties("a")
		if err := b.cancel(b.schedule(m)...); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		b.ids("a")
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestDUP9_FirstOfABatchIsKept(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		twin := text("twin")
		twin.Properties = properties("a")
		b.send(withID("a"), twin, withID("b"), withID("a"))
		b.send(withID("a"), withID("b"))
		gs := b.receive(9)
		equal(t, "stored", bodies(gs), "a b")
		equalSlices(t, "numbers", seqsOf(gs), 1, 2)
	})
}

func TestDUP10_WithoutAnIDNeverADuplicate(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		b.sendTexts("a", "a")
		b.send(withID(""), withID(""))
		b.wantCounts(4, 0, 0, 0)
		equal(t, "remembered ids", b.q.InMemory().Duplicates(), 0)
	})
}

func TestDUP11_IDsOfEveryTypeAreComparedByTheirText(t *testing.T) {
	uuid := goamqp.UUID{0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0x4d, 0xef, 1, 2, 3, 4, 5, 6, 7, 8}
	for _, ids := range [][2]any{{uint64(42), "42"}, {uuid, "12345678-9abc-4def-0102-030405060708"}, {uuid, uuid}, {[]byte{1, 2}, []byte{1, 2}}} {
		t.Run(fmt.Sprintf("%T %T", ids[0], ids[1]), func(t *testing.T) {
			bubble(t, deduplicating, func(b *broker) {
				for _, id := range ids {
					m := text("x")
					m.Properties = &goamqp.MessageProperties{MessageID: id}
					b.send(m)
				}
				b.wantCounts(1, 0, 0, 0)
			})
		})
	}
}

func TestDUP12_TransactionalSendsAreRememberedAtCommit(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		w := b.begin()
		w.send(b, withID("a"))
		equal(t, "remembered before the end", b.q.InMemory().Duplicates(), 0)
		w.Rollback()
		b.ids("a")
		b.wantCounts(1, 0, 0, 0)
		w = b.begin()
		w.send(b, withID("a"), withID("b"))
		w.send(b, withID("b"))
		w.commit()
		equal(t, "stored", bodies(b.peek()), "a b")
		w = b.begin()
		w.send(b, withID("c"))
		b.failOnce()
		if err := w.tryCommit(); !errors.Is(err, errDisk) {
			t.Errorf("commit: %v", err)
		}
		b.ids("b", "c")
		equal(t, "stored", bodies(b.peek()), "a b c")
	})
}

func TestDUP13_TargetOfAForwardHasItsOwnHistory(t *testing.T) {
	bubble(t, emulator.QueueOptions{ForwardTo: "target"}, func(b *broker) {
		target := b.create("target", deduplicating)
		b.ids("a", "b")
		target.ids("b", "c")
		b.ids("a", "c", "d")
		synctest.Wait()
		equal(t, "in the target", bodies(target.peek()), "a b c d")
		b.wantCounts(0, 0, 0, 0)
		b.restart()
		b.ids("d", "e")
		synctest.Wait()
		equal(t, "in the target after a restart", bodies(b.on("target").peek()), "a b c d e")
	})
}

func TestDUP14_IDsSpanSessions(t *testing.T) {
	o := deduplicating
	o.RequiresSession = true
	bubble(t, o, func(b *broker) {
		for _, id := range []string{"s", "t"} {
			m := inSession(id, id)
			m.Properties.MessageID = "id"
			b.send(m)
		}
		equal(t, "stored", bodies(b.peek()), "s")
		equal(t, "sessions", b.q.InMemory().Sessions(), 1)
	})
}

func TestDUP16_HistorySurvivesRestartsAndDisabling(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		b.ids("a")
		wait(30 * time.Second)
		b.ids("b")
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
		b.restart()
		b.ids("a", "b")
		b.wantCounts(2, 0, 0, 0)
		wait(30 * time.Second)
		b.ids("a", "b")
		equal(t, "stored", bodies(b.peek()), "a b a")
		b.restart()
		wait(30 * time.Second)
		b.ids("a", "b")
		equal(t, "stored", bodies(b.peek()), "a b a b")
	})
}

func TestDUP16_DEL3_HistoryGoesWithTheQueue(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		b.ids("a")
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		again, err := b.ns.Entities().CreateQueue("q", deduplicating)
		if err != nil {
			t.Fatalf("create: %v", err)
		}
		b.q = again.Entity
		b.ids("a")
		b.wantCounts(1, 0, 0, 0)
		b.restart()
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestDUP2_FailedSendIsNotRemembered(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		b.failOnce()
		if err := b.trySend(withID("a"), withID("b")); !errors.Is(err, errDisk) {
			t.Errorf("send: %v", err)
		}
		b.ids("a")
		b.wantCounts(1, 0, 0, 0)
		b.ids("a")
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestDUP2_DuplicateOfASendThatFails(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		b.j.Pause()
		first, second := newOutcome(), newOutcome()
		in := b.encodeAll([]*goamqp.Message{withID("a")})
		if err := errors.Join(b.q.Send(in, first), b.q.Send(in, second)); err != nil {
			t.Fatalf("send: %v", err)
		}
		b.failOnce()
		b.j.Resume()
		if err := <-first; err == nil {
			t.Error("the first send did not fail")
		}
		if err := <-second; err == nil {
			t.Error("the duplicate of a message that was not stored was accepted")
		}
		synctest.Wait() // what follows a failure is done on the journal's goroutine
		b.ids("a")
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestDUP1_HistoryIsBoundedByTheWindow(t *testing.T) {
	bubble(t, deduplicating, func(b *broker) {
		const perMinute = 600
		for i := range 10 * perMinute {
			time.Sleep(time.Minute / perMinute)
			done := newOutcome()
			if err := b.q.Send(b.encodeAll([]*goamqp.Message{withID(fmt.Sprint(i))}), done); err != nil {
				t.Fatalf("send: %v", err)
			}
			<-done
		}
		synctest.Wait()
		if n := b.q.InMemory().Duplicates(); n > perMinute+perMinute/20 {
			t.Errorf("%d ids are remembered of %d in a window", n, perMinute)
		}
		if n := b.j.history(t); n > perMinute+perMinute/2 {
			t.Errorf("%d ids are stored of %d in a window", n, perMinute)
		}
		wait(2 * time.Minute)
		equal(t, "ids remembered after a pause", b.q.InMemory().Duplicates(), 0)
		equal(t, "ids stored after a pause", b.j.history(t), 0)
	})
}

// historyCounter counts the message ids that a journal holds for duplicate detection.
type historyCounter struct{ n int }

func (c *historyCounter) LoadEntity(emulator.EntityRecord) error                   { return nil }
func (c *historyCounter) LoadMessage(*emulator.MessageRecord) error                { return nil }
func (c *historyCounter) LoadSession(int64, string, []byte, int64) error           { return nil }
func (c *historyCounter) LoadDuplicate(entity int64, key [16]byte, at int64) error { c.n++; return nil }

func (j *journal) history(t *testing.T) int {
	t.Helper()
	var c historyCounter
	if err := j.Load(&c); err != nil {
		t.Fatalf("load the journal: %v", err)
	}
	return c.n
}
