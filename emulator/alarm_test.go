package emulator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// most is more than the broker does in one change of its own accord.
const most = 128

// TestAlarm_ClientsWaitForOneTurnOfWhatIsDue: of many messages that expire together, the journal has a few at a time.
func TestAlarm_ClientsWaitForOneTurnOfWhatIsDue(t *testing.T) {
	bubble(t, emulator.QueueOptions{DefaultMessageTimeToLive: time.Minute}, func(b *broker) {
		b.sendTexts(strings.Split(strings.Repeat("x ", 3*most)+"x", " ")...)
		b.j.Pause()
		before := b.j.last()
		wait(2 * time.Minute)
		if n := len(b.j.since(before + 1)); n == 0 || n > most {
			t.Errorf("%d messages are being removed at once, want some and at most %d", n, most)
		}
		b.j.Resume()
		synctest.Wait()
		b.wantCounts(0, 0, 0, 0)
	})
}

// TestAlarm_BodiesOfADeletedTopicGoInTurns.
func TestAlarm_BodiesOfADeletedTopicGoInTurns(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		b.sendTexts(strings.Split(strings.Repeat("x ", 3*most)+"x", " ")...)
		before := b.j.last()
		if err := b.ns.Entities().Delete("t"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		sizes := map[int]int{}
		for n := before + 1; n <= b.j.last(); n++ {
			if ops := b.j.since(n)[:len(b.j.since(n))-len(b.j.since(n+1))]; ops[0].DropBody {
				sizes[len(ops)]++
			}
		}
		if sizes[most] != 3 || sizes[1] != 1 || len(sizes) != 2 {
			t.Errorf("changes that remove bodies, by their number: %v", sizes)
		}
	})
}
