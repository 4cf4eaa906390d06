package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func soon(d time.Duration) time.Time { return time.Now().Add(d) }

func TestSCHED1_SCHED2_NotInTheQueueBeforeItsTime(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.schedule(at("a", soon(time.Minute)))
		b.wantCounts(0, 0, 1, 0)
		wait(59 * time.Second)
		equal(t, "received early", len(b.receive(1)), 0)
		equal(t, "received and deleted early", len(b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)), 0)
		wait(2 * time.Second)
		b.wantCounts(1, 0, 0, 0)
		equal(t, "received in time", b.one().body(), "a")
	})
}

func TestSCHED5_SCHED6_BothWaysToSchedule(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(at("by annotation", soon(time.Minute)))
		seqs := b.schedule(at("x", soon(3*time.Minute)), at("y", soon(2*time.Minute)))
		equalSlices(t, "numbers of the operation, in request order", seqs, 2, 3)
		for _, g := range b.peek() {
			equal(t, "state of "+g.body(), g.state(), int32(emulator.Scheduled))
		}
		equal(t, "at the first number", b.peekOne(emulator.Main, seqs[0]).body(), "x")
		wait(3 * time.Minute)
		equal(t, "arrived, by due time", bodies(b.receive(3)), "by annotation y x")
	})
}

func TestSCHED7_FoundByBrowsing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("active")
		seq := b.schedule(at("a", soon(time.Minute)))[0]
		b.sendTexts("active too")
		gs := b.peek()
		equal(t, "browsed", bodies(gs), "active a active too")
		equal(t, "number found", gs[1].seq(), seq)
		if err := b.cancel(gs[1].seq()); err != nil {
			t.Errorf("cancel by the number found: %v", err)
		}
	})
}

func TestSCHED4_CancelledMessagesLeaveNoDeadlines(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		due := soon(24 * 365 * time.Hour)
		for range 200 {
			if err := b.cancel(b.schedule(at("a", due), at("b", due))...); err != nil {
				t.Fatalf("cancel: %v", err)
			}
		}
		seq := b.schedule(at("kept", due))[0]
		for i := range 200 { // neither do cancels without effect
			w := b.begin()
			if err := w.CancelScheduled(b.q, []int64{seq}); err != nil {
				t.Fatalf("cancel: %v", err)
			}
			if i%2 == 0 {
				w.Rollback()
				continue
			}
			b.failOnce()
			if err := w.tryCommit(); err == nil {
				t.Fatal("a commit that could not be written succeeded")
			}
		}
		if n := b.q.InMemory().Deadlines(); n > 64 {
			t.Errorf("%d deadlines for one message", n)
		}
		wait(24 * 365 * time.Hour)
		equal(t, "arrived in the end", bodies(b.receive(5)), "kept")
		equal(t, "deadlines but that of its lock", b.q.InMemory().Deadlines(), 1)
	})
}

func TestSCHED9_SEQ11_ActivationAppendsAtTheTailWithANewNumber(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		var ms []*goamqp.Message
		for i := range 10 {
			ms = append(ms, at(string(rune('a'+i)), soon(time.Minute)))
		}
		equalSlices(t, "numbers when scheduled", b.schedule(ms...), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
		wait(time.Minute)
		gs := b.receive(20)
		equal(t, "order", bodies(gs), "a b c d e f g h i j")
		equalSlices(t, "numbers when active", seqsOf(gs), 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	})
}

func TestSCHED9_BehindWhatWasSentMeanwhile(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.schedule(at("scheduled first", soon(time.Minute)))
		b.sendTexts("sent second")
		wait(time.Minute)
		b.sendTexts("sent last")
		gs := b.receive(5)
		equal(t, "order", bodies(gs), "sent second scheduled first sent last")
		equalSlices(t, "numbers", seqsOf(gs), 2, 3, 4)
	})
}

func TestSCHED10_OneScheduleOneEnqueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.schedule(at("a", soon(time.Minute)))
		for range 5 {
			wait(time.Minute)
		}
		gs := b.receive(10)
		equal(t, "arrived", bodies(gs), "a")
		b.settle(emulator.Complete, gs...)
		wait(time.Hour)
		equal(t, "arrived again", len(b.receive(10)), 0)
	})
}

func TestSCHED11_TimeInThePastMeansAtOnceAtTheTail(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("before")
		b.send(at("past", soon(-time.Hour)))
		seqs := b.schedule(at("now", time.Now()), text("no time at all"))
		gs := b.receive(5)
		equal(t, "arrived", bodies(gs), "before past now no time at all")
		equalSlices(t, "numbers told by the operation", seqs, gs[2].seq(), gs[3].seq())
		equal(t, "enqueued time", gs[1].enqueued(), now())
		b.wantCounts(4, 0, 0, 0)
		wantCode(t, "cancel", b.cancel(seqs[0]), emulator.CodeMessageNotFound)
	})
}

func TestSCHED12_DueWithinASecondAfterManyOthers(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		due := now().Add(time.Minute)
		ms := make([]*goamqp.Message, 1000)
		for i := range ms {
			ms[i] = at("x", due)
		}
		b.schedule(ms...)
		wait(time.Minute - time.Millisecond)
		b.wantCounts(0, 0, 1000, 0)
		wait(time.Millisecond)
		b.wantCounts(1000, 0, 0, 0)
		for _, g := range b.receive(1000) {
			equal(t, "enqueued time", g.enqueued(), due)
		}
	})
}

func TestSCHED18_EXP12_TTLCountsFromActivation(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		m := at("a", soon(5*time.Minute))
		m.Header = &goamqp.MessageHeader{TTL: time.Minute}
		b.schedule(m)
		wait(5*time.Minute - time.Millisecond) // far past the time to live
		b.wantCounts(0, 0, 1, 0)
		wait(time.Minute)
		g := b.one()
		b.settle(emulator.Abandon, g)
		equal(t, "expires", g.Properties.AbsoluteExpiryTime.UTC(), g.enqueued().Add(time.Minute))
		wait(time.Millisecond)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestSCHED21_BatchMixesScheduledAndImmediateMessages(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(text("a"), at("later", soon(time.Minute)), text("b"), at("past", soon(-time.Minute)))
		b.wantCounts(3, 0, 1, 0)
		gs := b.receive(10)
		equal(t, "at once", bodies(gs), "a b past")
		b.settle(emulator.Complete, gs...)
		wait(time.Minute)
		g := b.receive(1)[0]
		equal(t, "later", g.body(), "later")
		equal(t, "number", g.seq(), 5)
	})
}

func TestSCHED22_CannotBeLockedSettledOrReceivedByNumber(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)))
		for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
			equal(t, "received", len(b.receiveFrom(emulator.Main, mode, 1)), 0)
			_, err := b.byNumber(emulator.Main, mode, seqs...)
			wantCode(t, "receive by number", err, emulator.CodeMessageNotFound)
		}
		b.wantCounts(0, 0, 1, 0)
		if b.q.Counts().SizeBytes <= 0 {
			t.Error("a scheduled message has no size")
		}
	})
}

func TestSCHED23_DeliveryCountZeroAndScheduledTimeReadable(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		due := now().Add(time.Minute)
		b.schedule(at("a", due))
		wait(time.Minute)
		g := b.one()
		equal(t, "delivery count", g.count(), 0)
		equal(t, "scheduled time", annotation[time.Time](g, "x-opt-scheduled-enqueue-time").UTC(), due)
		equal(t, "state", b.peekOne(emulator.Main, 0).state(), int32(emulator.Active))
	})
}

func TestSCHED25_STAT4_DisabledQueueRefusesSchedulesButActivates(t *testing.T) {
	for _, status := range []emulator.Status{emulator.StatusDisabled, emulator.StatusSendDisabled} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			seqs := b.schedule(at("a", soon(time.Minute)), at("b", soon(time.Hour)))
			b.update(func(o *emulator.QueueOptions) { o.Status = status })
			_, err := b.q.Schedule(b.encodeAll([]*goamqp.Message{at("c", soon(time.Minute))}), newOutcome())
			wantCode(t, "schedule", err, emulator.CodeEntityDisabled)
			wantCode(t, "scheduled send", b.trySend(at("c", soon(time.Minute))), emulator.CodeEntityDisabled)
			wait(time.Minute)
			b.wantCounts(1, 0, 1, 0)
			b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
			equal(t, "activated", b.one().body(), "a")
			if err := b.cancel(seqs[1]); err != nil {
				t.Errorf("cancel: %v", err)
			}
		})
	}
}

func TestSCHED9_FailedActivationIsTriedAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.schedule(at("a", soon(time.Minute)), at("b", soon(time.Minute)))
		b.failOnce()
		wait(time.Minute)
		b.wantCounts(0, 0, 2, 0)
		equalSlices(t, "numbers while it fails", seqsOf(b.peek()), 1, 2)
		wait(2 * time.Second)
		b.wantCounts(2, 0, 0, 0)
		gs := b.receive(3)
		equal(t, "arrived", bodies(gs), "a b")
		equalSlices(t, "numbers without a gap", seqsOf(gs), 3, 4)
	})
}

func TestSCHED6_FailedScheduleLeavesNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.failOnce()
		done := newOutcome()
		if _, err := b.q.Schedule(b.encodeAll([]*goamqp.Message{at("a", soon(time.Minute))}), done); err != nil {
			t.Fatalf("schedule: %v", err)
		}
		if err := <-done; err == nil {
			t.Fatal("a schedule that could not be written succeeded")
		}
		synctest.Wait()
		wait(time.Hour)
		b.wantCounts(0, 0, 0, 0)
		equalSlices(t, "next number", b.schedule(at("b", soon(time.Minute))), 1)
	})
}
