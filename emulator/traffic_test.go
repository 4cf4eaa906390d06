package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
)

func TestTrafficCountsWhatHappenedToMessages(t *testing.T) {
	o := emulator.QueueOptions{MaxDeliveryCount: 2, DeadLetteringOnExpiration: true}
	bubble(t, o, func(b *broker) {
		b.sendTexts("completed", "deferred", "dead-lettered", "abandoned twice")
		got := b.receive(4)
		b.settle(emulator.Complete, got[0])
		b.settle(emulator.Defer, got[1])
		b.settle(emulator.DeadLetterOutcome, got[2])
		b.settle(emulator.Abandon, got[3])
		b.settle(emulator.Abandon, b.one()) // to the dead-letter queue
		b.send(withTTL("expired", time.Second))
		wait(time.Second)
		equal(t, "traffic", b.q.Traffic(), emulator.Traffic{
			Stored: 5, Delivered: 5, Completed: 1, Abandoned: 1, Deferred: 1, DeadLettered: 2, Expired: 1,
		})
	})
}

func TestTrafficDoesNotCountWhatCouldNotBeWritten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		b.failOnce()
		if err := b.trySettle(emulator.Complete, nil, g.token()); err == nil {
			t.Error("completed without the journal")
		}
		equal(t, "after a failed commit", b.q.Traffic(), emulator.Traffic{Stored: 1, Delivered: 1})
	})
}

func TestTrafficOfATopicCountsWhatWasSentAndItsSubscriptionsWhatTheyGot(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("all"), withRules("none", sql("r", "1=0"))}, func(b *broker) {
		b.sendTexts("a", "b")
		b.schedule(at("c", time.Now().Add(time.Minute)))
		wait(time.Minute)
		b.create("source", emulator.QueueOptions{ForwardTo: "t"}).sendTexts("d")
		equal(t, "stored by the topic", b.q.Traffic().Stored, 4)
		equal(t, "stored by all", b.sub("all").q.Traffic().Stored, 4)
		equal(t, "stored by none", b.sub("none").q.Traffic().Stored, 0)
	})
}
