package emulator_test

import (
	"testing"
	"testing/synctest"

	"minibus/emulator"
)

// TestJobsTakeParkedDeadLetters: they wait for a target that can never take them, and are at rest as users see them.
func TestJobsTakeParkedDeadLetters(t *testing.T) {
	parking := func(t *testing.T, f func(b *broker)) {
		bubble(t, emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "picky", MaxDeliveryCount: 1}, func(b *broker) {
			b.create("picky", emulator.QueueOptions{RequiresSession: true})
			b.create("end", emulator.QueueOptions{})
			b.sendTexts("one", "two", "three")
			b.settle(emulator.Abandon, b.receive(3)...)
			synctest.Wait()
			b.wantCounts(0, 3, 0, 0)
			f(b)
		})
	}
	dead := func(o emulator.JobOptions) emulator.JobOptions {
		o.Sub = emulator.DeadLetter
		return o
	}
	t.Run("purge", func(t *testing.T) {
		parking(t, func(b *broker) {
			b.wantJob(b.job(dead(emulator.JobOptions{Max: 1})), emulator.JobDone, 3, 1, 0, 0)
			b.failOnce()
			equal(t, "state", b.job(dead(emulator.JobOptions{})).State, emulator.JobFailed)
			synctest.Wait()
			b.wantCounts(0, 2, 0, 0)
			b.wantJob(b.job(dead(emulator.JobOptions{})), emulator.JobDone, 2, 2, 0, 0)
			b.wantCounts(0, 0, 0, 0)
			b.restart()
			b.wantCounts(0, 0, 0, 0)
		})
	})
	t.Run("move", func(t *testing.T) {
		parking(t, func(b *broker) {
			b.wantJob(b.job(dead(emulator.JobOptions{Kind: emulator.MoveJob, Target: "end", Select: emulator.Selection{Text: "two"}})), emulator.JobDone, 3, 1, 0, 0)
			equal(t, "moved", bodies(b.on("end").receive(1)), "two")
			p := b.job(dead(emulator.JobOptions{Kind: emulator.MoveJob, Target: "picky"}))
			b.wantJob(p, emulator.JobDone, 2, 0, 2, 0) // they stay, and are parked again
			synctest.Wait()
			b.wantJob(b.job(dead(emulator.JobOptions{Kind: emulator.MoveJob, Edit: emulator.Edit{Strip: true}})), emulator.JobDone, 2, 2, 0, 0)
			equal(t, "resubmitted", bodies(b.receive(2)), "one three")
		})
	})
	t.Run("the rest is tried again", func(t *testing.T) {
		parking(t, func(b *broker) {
			b.wantJob(b.job(dead(emulator.JobOptions{Max: 2})), emulator.JobDone, 3, 2, 0, 0)
			b.update(func(o *emulator.QueueOptions) { o.ForwardDeadLetteredMessagesTo = "end" })
			synctest.Wait()
			equal(t, "forwarded", bodies(b.on("end").receive(1)), "three")
			b.wantCounts(0, 0, 0, 0)
		})
	})
}
