package emulator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// circleEnds checks that what send sets going ends by itself. Changes with an operation of that kind are
// counted: in a bubble, nothing would ever come to rest if it went on.
func (b *broker) circleEnds(kind emulator.OpKind, send func()) {
	b.t.Helper()
	turns := 0
	b.j.on(kind, func() {
		if turns++; turns == 1000 {
			panic("the circle does not end")
		}
	})
	send()
	synctest.Wait()
	if turns < 60 {
		b.t.Errorf("it ended after %d turns", turns)
	}
	changes, _ := b.j.seen()
	wait(time.Hour)
	after, _ := b.j.seen()
	equal(b.t, "changes after the circle has ended", after-changes, 0)
}

// TestFWD10_DEC29_CircleThroughATopicEnds: what a subscription can't take goes to its dead-letter queue as it arrives, which takes
// no time.
func TestFWD10_DEC29_CircleThroughATopicEnds(t *testing.T) {
	for reason, o := range map[string]emulator.SubscriptionOptions{
		"Session id is null.": {Name: "s", Queue: emulator.QueueOptions{RequiresSession: true}},           // DLQ-R4
		"FilterException":     withRules("s", sql("r", "n / 0 = 1")),                                      // TOP-10
		"RuleActionException": withRules("s", action("r", "SET sys.SequenceNumber = 1")),                  // TOP-10
		"HeaderSizeExceeded":  withRules("s", action("r", "SET b = a + a; SET c = b + b; SET d = c + c")), // DLQ-R3
	} {
		t.Run(reason, func(t *testing.T) {
			topicBubble(t, emulator.TopicOptions{}, named("other"), func(b *broker) {
				o.Queue.ForwardDeadLetteredMessagesTo = "t"
				b.subscribe(o)
				b.circleEnds(emulator.OpInsert, func() { b.send(props("x", "n", int64(1), "a", strings.Repeat("x", 8000))) })
				equal(t, "copies elsewhere", b.sub("other").q.Counts().Active, 65)
				b = b.again()
				synctest.Wait()
				equal(t, "copies elsewhere after a restart", b.sub("other").q.Counts().Active, 65)
				o.Queue.ForwardDeadLetteredMessagesTo = ""
				if _, err := b.ns.Entities().UpdateSubscription("t", o); err != nil {
					t.Fatalf("update: %v", err)
				}
				equalSlices(t, "dead-lettered", b.sub("s").deadReasons(emulator.DeadLetter), "x="+reason)
			})
		})
	}
}

// TestFWD10_FWD12_DEC29_CircleForWantOfATargetEnds: the hop limit of the queue itself is not asked where there is no target.
func TestFWD10_FWD12_DEC29_CircleForWantOfATargetEnds(t *testing.T) {
	o := emulator.QueueOptions{ForwardTo: "nowhere", ForwardDeadLetteredMessagesTo: "q"}
	bubble(t, o, func(b *broker) {
		b.circleEnds(emulator.OpUpdate, func() { b.sendTexts("x") })
		b.set(func(o *emulator.QueueOptions) { o.ForwardDeadLetteredMessagesTo = "" })
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "x=MessagingEntityNotFoundException")
	})
}

// TestFWD10_DEC29_RingThatAClientTurnsGoesOn: it turns no faster than the client does.
func TestFWD10_DEC29_RingThatAClientTurnsGoesOn(t *testing.T) {
	s := emulator.SubscriptionOptions{Name: "s", Queue: emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "t"}}
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{s}, func(b *broker) {
		b.sendTexts("x")
		s := b.sub("s")
		for range 300 {
			s.settleWith(emulator.DeadLetterOutcome, b.properties(emulator.DeadLetterReason, "why"), s.one())
			synctest.Wait()
		}
		equal(t, "still there", bodies(s.peek()), "x")
	})
}
