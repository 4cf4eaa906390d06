package emulator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestSCHED3_SCHED4_CancelledIsDeletedAndNeverArrives(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)), at("b", soon(time.Minute)), at("c", soon(time.Minute)))
		wait(time.Minute - time.Millisecond) // any time before
		if err := b.cancel(seqs[0], seqs[2]); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		equal(t, "peek at a cancelled number", len(b.peekFrom(emulator.Main, seqs[2], 10)), 0)
		b.wantCounts(0, 0, 1, 0)
		wait(time.Hour)
		equal(t, "arrived", bodies(b.receive(10)), "b")
		b.restart()
		equal(t, "left after a restart", bodies(b.peek()), "b")
	})
}

func TestSCHED8_SCHED13_NumberDiesAtActivation(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)), at("b", soon(time.Hour)))
		wait(time.Minute)
		err := b.cancel(seqs[0])
		wantCode(t, "cancel after activation", err, emulator.CodeMessageNotFound)
		g := b.peekOne(emulator.Main, seqs[0])
		equal(t, "next after the dead number", g.seq(), seqs[1])
		wantCode(t, "cancel by the new number", b.cancel(3), emulator.CodeMessageNotFound)
	})
}

func TestSCHED13_SCHED14_CancelIsAllOrNothingAndNamesTheMissing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)), at("b", soon(time.Minute)))
		b.sendTexts("active")
		err := b.cancel(seqs[0], 3, seqs[1], 999)
		wantCode(t, "cancel with missing numbers", err, emulator.CodeMessageNotFound)
		if !strings.HasPrefix(err.Error(), "Messages not found. Missing sequence numbers: 3,999") {
			t.Errorf("text: %q", err)
		}
		b.wantCounts(1, 0, 2, 0)
		wantCode(t, "the same number twice", b.cancel(seqs[0], seqs[0]), emulator.CodeMessageNotFound)
		b.wantCounts(1, 0, 2, 0)
		if err := b.cancel(seqs...); err != nil {
			t.Errorf("cancel of what is there: %v", err)
		}
		wantCode(t, "cancel of cancelled ones", b.cancel(seqs...), emulator.CodeMessageNotFound)
		if err := b.cancel(); err != nil {
			t.Errorf("cancel of nothing: %v", err)
		}
	})
}

func TestSCHED15_SecondOfTwoRacingCancels(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)))
		b.j.Pause()
		first := newOutcome()
		if err := b.q.CancelScheduled(seqs, first); err != nil {
			t.Fatalf("first cancel: %v", err)
		}
		wantCode(t, "second cancel", b.cancel(seqs...), emulator.CodeMessageNotFound)
		b.j.Resume()
		if err := <-first; err != nil {
			t.Errorf("first cancel: %v", err)
		}
	})
}

func TestSCHED4_FailedCancelLeavesTheScheduleAndActivatesOnce(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)))
		for range 3 {
			b.failOnce()
			if err := b.cancel(seqs...); err == nil {
				t.Fatal("a cancel that could not be written succeeded")
			}
		}
		b.wantCounts(0, 0, 1, 0)
		wait(time.Minute)
		b.wantCounts(1, 0, 0, 0)
		gs := b.receive(10)
		equal(t, "arrived", bodies(gs), "a")
		equalSlices(t, "numbers", seqsOf(gs), 2)
	})
}

// TestSCHED4_DueWhileTheCancelFails: a message whose time comes while its cancel is being written arrives when that has failed.
func TestSCHED4_DueWhileTheCancelFails(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)))
		b.j.Pause()
		b.failOnce()
		cancelled := newOutcome()
		if err := b.q.CancelScheduled(seqs, cancelled); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		wait(time.Minute)
		b.wantCounts(0, 0, 1, 0)
		b.j.Resume()
		if err := <-cancelled; err == nil {
			t.Fatal("a cancel that could not be written succeeded")
		}
		wait(time.Second)
		equal(t, "arrived", bodies(b.receive(2)), "a")
	})
}

func TestSCHED3_CancelWhileActivationIsBeingWritten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)))
		b.j.Pause()
		wait(time.Minute)
		wantCode(t, "cancel of a message that is due", b.cancel(seqs...), emulator.CodeMessageNotFound)
		b.j.Resume()
		synctest.Wait()
		equal(t, "arrived", bodies(b.receive(2)), "a")
	})
}
