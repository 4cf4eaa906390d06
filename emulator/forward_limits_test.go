package emulator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

var large = strings.Repeat("x", 3<<10)

// TestFWD7_QUO5_TargetWithASmallerSizeLimit: the limit is looked at again at the destination.
func TestFWD7_QUO5_TargetWithASmallerSizeLimit(t *testing.T) {
	for name, queue := range map[string]bool{"queue": true, "topic": false} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			if queue {
				b.create("target", emulator.QueueOptions{MaxMessageSizeInKilobytes: 1})
			} else if _, err := b.ns.Entities().CreateTopic("target", emulator.TopicOptions{MaxMessageSizeInKilobytes: 1}); err != nil {
				t.Fatalf("create topic: %v", err)
			}
			b.sendTexts("a", large, "b")
			b.set(func(o *emulator.QueueOptions) { o.ForwardTo = "target" })
			synctest.Wait()
			g := b.oneFrom(emulator.DeadLetter)
			equal(t, name+": dead-lettered", g.body(), large)
			equal(t, "reason", g.property(emulator.DeadLetterReason), any("MessageSizeExceededException"))
			text, _ := g.property(emulator.DeadLetterErrorDescription).(string)
			if !strings.Contains(text, "exceeds the limit of 1024 bytes for the entity 'target'") {
				t.Errorf("description: %q", text)
			}
			b.wantCounts(0, 1, 0, 0)
			if queue {
				equal(t, "moved", bodies(b.on("target").peek()), "a b")
			}
		})
	}
}

// TestFWD7_DEC28_TooLargeInADeadLetterQueue: there it waits, apart, until the target takes it.
func TestFWD7_DEC28_TooLargeInADeadLetterQueue(t *testing.T) {
	bubble(t, dies, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{MaxMessageSizeInKilobytes: 1})
		b.kill(texts("a", large, "b")...)
		wait(time.Hour)
		equal(t, "moved", bodies(target.peek()), "a b")
		b.wantCounts(0, 1, 0, 0)
		changes, reads := b.j.seen()
		target.set(func(o *emulator.QueueOptions) { o.UserMetadata = "nothing that matters" })
		wait(time.Hour)
		after, readsAfter := b.j.seen()
		equal(t, "changes, but that of the settings, and reads", after-changes-1+readsAfter-reads, 0)
		target.set(func(o *emulator.QueueOptions) { o.MaxMessageSizeInKilobytes = 4 })
		synctest.Wait()
		equal(t, "moved later", target.peekFrom(emulator.Main, 3, 1)[0].body(), large)
		b.wantCounts(0, 0, 0, 0)
	})
}

// TestFWD7_TooLargeWhileTheLimitGrows: a limit that grows while a forwarder looks at messages is not missed.
func TestFWD7_TooLargeWhileTheLimitGrows(t *testing.T) {
	bubbleWith(t, small, dies, func(b *broker) { // bodies have to be read
		target := b.create("target", emulator.QueueOptions{MaxMessageSizeInKilobytes: 1})
		b.send(texts(large, "2")...)
		gs := b.receive(2)
		grown := make(chan error, 1)
		b.j.onRead(func() {
			b.j.onRead(nil)
			go func() {
				_, err := b.ns.Entities().UpdateQueue("target", emulator.QueueOptions{MaxMessageSizeInKilobytes: 4})
				grown <- err
			}()
		})
		b.settle(emulator.Abandon, gs...)
		if err := <-grown; err != nil {
			t.Fatalf("update: %v", err)
		}
		synctest.Wait()
		equal(t, "moved", len(target.peek()), 2)
	})
}

// TestFWD10_DEC29_CircleThroughDeadLetterQueuesEnds: the hop limit does not hold there, but a circle must not turn for ever.
func TestFWD10_DEC29_CircleThroughDeadLetterQueuesEnds(t *testing.T) {
	bubble(t, emulator.QueueOptions{ForwardTo: "other", ForwardDeadLetteredMessagesTo: "other"}, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{ForwardTo: "q", ForwardDeadLetteredMessagesTo: "q"})
		b.sendTexts("a", "b")
		synctest.Wait()
		changes, _ := b.j.seen()
		wait(time.Hour)
		after, _ := b.j.seen()
		equal(t, "changes after the circle has ended", after-changes, 0)
		if changes < 40 || changes > 200 {
			t.Errorf("%d changes until it ended", changes)
		}
		for _, end := range []*broker{b, other} {
			end.set(func(o *emulator.QueueOptions) { o.ForwardDeadLetteredMessagesTo = "" })
		}
		there := append(b.deadReasons(emulator.DeadLetter), other.deadReasons(emulator.DeadLetter)...)
		equalSlices(t, "dead-lettered", there, "a=MaxTransferHopCountExceeded", "b=MaxTransferHopCountExceeded")
	})
}

// TestFWD10_RingThatTurnsByExpiryGoesOn: a queue whose expired messages come back to it is a way to wait. How often they have come
// does not matter, but they are counted.
func TestFWD10_FWD9_RingThatTurnsByExpiryGoesOn(t *testing.T) {
	o := emulator.QueueOptions{DefaultMessageTimeToLive: time.Minute, DeadLetteringOnExpiration: true, ForwardDeadLetteredMessagesTo: "q"}
	bubble(t, o, func(b *broker) {
		b.sendTexts("a")
		wait(300 * time.Minute)
		equal(t, "number", b.peekOne(emulator.Main, 0).seq(), 301)
		b.set(func(o *emulator.QueueOptions) { o.ForwardTo, o.ForwardDeadLetteredMessagesTo = "q", "" })
		synctest.Wait()
		b.set(func(o *emulator.QueueOptions) { o.ForwardTo = "" })
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "a=MaxTransferHopCountExceeded")
	})
}

// TestDLQR3_DC8_PropertiesInADeadLetterQueueStayBounded: what a settlement adds counts as long as there is room for it.
func TestDLQR3_DC8_PropertiesInADeadLetterQueueStayBounded(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deadLetterOne(text("a"))
		for _, name := range []string{"first", "second", "third"} {
			g := b.oneFrom(emulator.DeadLetter)
			b.settleWith(emulator.Abandon, b.properties(name, strings.Repeat("x", 25<<10)), g)
		}
		g := b.oneFrom(emulator.DeadLetter)
		for name, want := range map[string]bool{"first": true, "second": true, "third": false} {
			if _, have := g.ApplicationProperties[name]; have != want {
				t.Errorf("property %s is there: %v, want %v", name, have, want)
			}
		}
	})
}
