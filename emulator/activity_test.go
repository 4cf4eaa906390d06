package emulator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"minibus/emulator"
)

// stepsOf writes the steps of the last hour in which something changed: its number from the first, what came and went, and what was left.
func stepsOf(a emulator.Activity) (lines []string) {
	var last emulator.ActivityOfStep
	for i, s := range a.Steps {
		left := fmt.Sprintf("%d active %d dead %d scheduled", s.Active, s.DeadLetter, s.Scheduled)
		if s.Stored != 0 || s.Completed != 0 || s.Active != last.Active || s.DeadLetter != last.DeadLetter || s.Scheduled != last.Scheduled {
			lines = append(lines, fmt.Sprintf("%d: +%d -%d, %s", i, s.Stored, s.Completed, left))
		}
		last = s
	}
	return lines
}

func TestActivityTellsWhatCameAndWentInEachStep(t *testing.T) {
	bubble(t, emulator.QueueOptions{MaxDeliveryCount: 1}, func(b *broker) {
		equalSlices(t, "before the first message", stepsOf(b.q.Activity()))
		equal(t, "steps", len(b.q.Activity().Steps), 1)
		wait(emulator.ActivityStep)
		b.sendTexts("a", "b", "c")
		b.schedule(at("later", now().Add(time.Hour)))
		wait(5 * emulator.ActivityStep)
		b.settle(emulator.Complete, b.one())
		b.settle(emulator.Abandon, b.one())
		wait(emulator.ActivityStep)
		want := []string{"1: +4 -0, 3 active 0 dead 1 scheduled", "6: +0 -1, 1 active 1 dead 1 scheduled"}
		equalSlices(t, "steps", stepsOf(b.q.Activity()), want...)
		equal(t, "steps", len(b.q.Activity().Steps), 8)
		b.failOnce()
		if b.trySend(text("fails")) == nil {
			t.Fatal("the journal has not failed")
		}
		equalSlices(t, "steps after what failed", stepsOf(b.q.Activity()), want...)
	})
}

func TestActivityForgetsAfterAnHour(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for range emulator.ActivitySteps + 20 {
			b.sendTexts("a")
			wait(emulator.ActivityStep)
		}
		a := b.q.Activity()
		equal(t, "steps", len(a.Steps), emulator.ActivitySteps)
		for i, s := range a.Steps[:len(a.Steps)-1] {
			equal(t, fmt.Sprintf("step %d", i), s, emulator.ActivityOfStep{Stored: 1, Active: int64(i + 22)})
		}
		if n := b.q.InMemory().Activity(); n > emulator.ActivitySteps+1 {
			t.Errorf("%d steps are kept", n)
		}
		wait(2 * time.Hour)
		b.sendTexts("a")
		a = b.q.Activity()
		equal(t, "the first step", a.Steps[0], emulator.ActivityOfStep{Active: 200})
		equal(t, "the last step", a.Steps[emulator.ActivitySteps-1], emulator.ActivityOfStep{Stored: 1, Active: 201})
		if !a.From.Equal(now().Truncate(emulator.ActivityStep).Add(-(emulator.ActivitySteps - 1) * emulator.ActivityStep)) {
			t.Errorf("it begins at %s, now %s", a.From, now())
		}
	})
}

// TestActivityFollowsTheMachinesTime, whatever the clock of the namespace shows.
func TestActivityFollowsTheMachinesTime(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		if err := b.ns.Clock().Advance(context.Background(), 24*time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := b.ns.Clock().Freeze(); err != nil {
			t.Fatal(err)
		}
		wait(emulator.ActivityStep)
		b.sendTexts("b")
		equalSlices(t, "steps", stepsOf(b.q.Activity()), "0: +1 -0, 1 active 0 dead 0 scheduled", "1: +1 -0, 2 active 0 dead 0 scheduled")
	})
}

func TestActivityBeginsAnewWithTheProcess(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		wait(3 * emulator.ActivityStep)
		b.restart()
		wait(emulator.ActivityStep)
		b.sendTexts("c")
		b.settle(emulator.Complete, b.receive(2)...)
		want := []string{"0: +0 -0, 2 active 0 dead 0 scheduled", "1: +1 -2, 1 active 0 dead 0 scheduled"}
		equalSlices(t, "steps", stepsOf(b.q.Activity()), want...)
		equalSlices(t, "steps of the namespace", stepsOf(b.ns.Activity()), want...)
	})
}

// TestActivityOfANamespaceCountsWhatIsSentToATopicOnce, without its copies.
func TestActivityOfANamespaceCountsWhatIsSentToATopicOnce(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("one", "two"), func(b *broker) {
		b.sendTexts("a", "b")
		one := b.sub("one")
		one.settle(emulator.Complete, one.one())
		equalSlices(t, "steps", stepsOf(b.ns.Activity()), "0: +2 -1, 3 active 0 dead 0 scheduled")
		equalSlices(t, "steps of the topic", stepsOf(b.on("t").q.Activity()), "0: +2 -0, 0 active 0 dead 0 scheduled")
		equalSlices(t, "steps of a subscription", stepsOf(b.sub("two").q.Activity()), "0: +2 -0, 2 active 0 dead 0 scheduled")
	})
}

// BenchmarkActivity is what each change pays so that the last hour is known.
func BenchmarkActivity(b *testing.B) {
	x := bench(b)
	kept, at := x.q.InMemory(), x.ns.Now()
	for b.Loop() {
		kept.NoteActivity(at)
	}
}
