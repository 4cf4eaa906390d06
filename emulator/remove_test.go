package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// remove removes messages of the main queue by their numbers.
func (b *broker) remove(seqs ...int64) error {
	b.t.Helper()
	done := newOutcome()
	err := b.q.Messages().Remove(emulator.Main, seqs, done)
	if err == nil {
		err = <-done
	}
	synctest.Wait()
	return err
}

// reschedule gives a scheduled message another time.
func (b *broker) reschedule(seq int64, to time.Time) error {
	b.t.Helper()
	done := newOutcome()
	err := b.q.Messages().Reschedule(seq, to.UnixMilli(), done)
	if err == nil {
		err = <-done
	}
	synctest.Wait()
	return err
}

func TestRemoveTakesAllOrNone(t *testing.T) {
	for _, no := range []emulator.Options{{}, small} {
		bubbleWith(t, no, emulator.QueueOptions{Status: emulator.StatusActive}, func(b *broker) {
			deferred := b.deferOne(text("deferred"))
			b.sendTexts("two", "three", "four")
			later := b.schedule(at("later", now().Add(time.Hour)))
			locked := b.one()
			wantCode(t, "remove a locked one", b.remove(3, locked.seq()), emulator.CodeNotAllowed)
			wantCode(t, "remove what is not there", b.remove(3, 99), emulator.CodeMessageNotFound)
			wantCode(t, "remove nothing", b.remove(), emulator.CodeArgument)
			b.wantCounts(4, 0, 1, 1)
			b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
			equal(t, "remove", b.remove(deferred, later[0], 3, 3), nil)
			b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
			b.settle(emulator.Complete, locked)
			b.verify(true)
			b.restart()
			equal(t, "left", bodies(b.receive(9)), "four")
			wait(2 * time.Hour)
			b.wantCounts(1, 0, 0, 0)
		})
	}
}

// TestRemoveIsTakenBackIfItCannotBeWritten with the order of a session kept.
func TestRemoveIsTakenBackIfItCannotBeWritten(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.send(inSession("s", "a"), inSession("s", "b"))
		later := inSession("t", "later")
		later.Annotations = at("", now().Add(time.Hour)).Annotations
		seqs := b.schedule(later)
		h := b.accept("s")
		b.j.Pause()
		done := newOutcome()
		if err := b.q.Messages().Remove(emulator.Main, []int64{1, seqs[0]}, done); err != nil {
			t.Fatal(err)
		}
		b.failOnce()
		equal(t, "deliveries meanwhile", len(h.c.Take(nil, 9)), 0)
		b.j.Resume()
		if err := <-done; err == nil {
			t.Error("the removal did not fail")
		}
		synctest.Wait()
		equal(t, "in order", bodies(b.written(h.c.Take(nil, 9))), "a b")
		h.c.Close()
		b.verify(true)
		wait(time.Hour)
		b.wantCounts(3, 0, 0, 0)
	})
}

func TestRescheduleMovesTheTime(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		start := now()
		seq := b.schedule(at("later", start.Add(time.Hour)))[0]
		equal(t, "later", b.reschedule(seq, start.Add(3*time.Hour)), nil)
		b.failOnce()
		if err := b.reschedule(seq, start.Add(time.Minute)); err == nil {
			t.Error("a reschedule that can't be written succeeded")
		}
		wait(2 * time.Hour)
		b.wantCounts(0, 0, 1, 0)
		equal(t, "time that receivers are told", annotation[time.Time](b.peek()[0], "x-opt-scheduled-enqueue-time").UTC(), start.Add(3*time.Hour))
		b.restart()
		equal(t, "earlier", b.reschedule(seq, start.Add(150*time.Minute)), nil)
		b.verify(true)
		b.restart()
		wait(29 * time.Minute)
		b.wantCounts(0, 0, 1, 0)
		wait(time.Minute)
		b.wantCounts(1, 0, 0, 0)
		equal(t, "body", b.one().body(), "later")
		b.verify(true)
		wantCode(t, "an active one", b.reschedule(seq+1, start), emulator.CodeNotAllowed)
		wantCode(t, "one that is not there", b.reschedule(seq, start), emulator.CodeMessageNotFound)
		wantCode(t, "a time that the service does not have", b.reschedule(seq, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), emulator.CodeArgument)
	})
}

// TestRescheduleLeavesNoDeadlines however often, and to and fro.
func TestRescheduleLeavesNoDeadlines(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		start := now()
		seq := b.schedule(at("later", start.Add(time.Hour)))[0]
		for i := range 1000 {
			if err := b.reschedule(seq, start.Add(time.Duration(1+i%2)*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if n := b.q.InMemory().Deadlines(); n > 100 {
			t.Errorf("%d deadlines of one message", n)
		}
		equal(t, "now", b.reschedule(seq, start.Add(-time.Hour)), nil)
		b.wantCounts(1, 0, 0, 0)
		b.verify(true)
	})
}

func TestRescheduleOnATopicCopiesOnce(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		start := now()
		seq := b.schedule(at("later", start.Add(time.Hour)))[0]
		equal(t, "reschedule", b.reschedule(seq, start.Add(2*time.Hour)), nil)
		wait(time.Hour)
		b.sub("s").wantCounts(0, 0, 0, 0)
		wait(time.Hour)
		b.sub("s").wantCounts(1, 0, 0, 0)
		b.verify(true)
	})
}
