package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
)

// A fraction of a millisecond never makes a message live for ever, or shorter than it was told: it counts as a whole one. A database of
// an older version may have such a time to live.
func TestTIME7_EXP1_AFractionOfAMillisecondIsOne(t *testing.T) {
	for _, c := range []struct{ def, message, want time.Duration }{
		{100, 0, time.Millisecond},
		{999_999, 0, time.Millisecond},
		{1_500_000, 0, 2 * time.Millisecond},
		{1_500_000, time.Millisecond, time.Millisecond},
		{100, time.Hour, time.Millisecond},
	} {
		t.Run(c.def.String()+" "+c.message.String(), func(t *testing.T) {
			bubble(t, emulator.QueueOptions{DefaultMessageTimeToLive: c.def}, func(b *broker) {
				b.send(withTTL("a", c.message))
				equal(t, "ttl", b.peekOne(emulator.Main, 0).Header.TTL, c.want)
				wait(c.want)
				b.wantCounts(0, 0, 0, 0)
			})
			topicBubble(t, emulator.TopicOptions{DefaultMessageTimeToLive: c.def}, named("s"), func(b *broker) {
				b.send(withTTL("a", c.message))
				equal(t, "ttl", b.sub("s").peekOne(emulator.Main, 0).Header.TTL, c.want)
			})
		})
	}
}

// What an action sets is rounded up to a millisecond too; a schedule is, so that nothing comes early (TIME-3).
func TestTIME7_TOP6_ActionsRoundUp(t *testing.T) {
	for given, want := range map[string]time.Duration{
		"00:00:00.0000001": time.Millisecond, "00:00:00.0010000": time.Millisecond, "00:00:00.0010001": 2 * time.Millisecond,
	} {
		t.Run(given, func(t *testing.T) {
			r := action("r", "SET sys.TimeToLive = '"+given+"'; SET sys.ScheduledEnqueueTimeUtc = '2030-01-01T00:00:00.0010001Z'")
			topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", r)}, func(b *broker) {
				b.sendTexts("x")
				g := b.sub("s").peekOne(emulator.Main, 0)
				equal(t, "ttl", g.Header.TTL, want)
				equal(t, "schedule", annotation[time.Time](g, "x-opt-scheduled-enqueue-time").UnixMilli(), time.Date(2030, 1, 1, 0, 0, 0, 2_000_000, time.UTC).UnixMilli())
			})
		})
	}
}

func TestTIME7_LOCK1_ALockLastsForAMillisecond(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 100}, func(b *broker) {
		b.sendTexts("a")
		equal(t, "lock", b.one().until().UnixMilli(), now().Add(time.Millisecond).UnixMilli())
	})
}
