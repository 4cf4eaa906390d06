package emulator_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// TestUpcomingSaysHowManyAreDueWhen while messages are scheduled, moved, cancelled and become active, and after a restart.
func TestUpcomingSaysHowManyAreDueWhen(t *testing.T) {
	for _, no := range []emulator.Options{{}, small} {
		bubbleWith(t, no, emulator.QueueOptions{}, func(b *broker) {
			begin := now().Truncate(time.Hour).Add(time.Hour)
			wants := func(what string, step time.Duration, steps int, want string) {
				t.Helper()
				u, err := b.q.Messages().Upcoming(begin.UnixMilli()+59_999, step.Milliseconds(), steps)
				if err != nil {
					t.Fatal(err)
				}
				next := "none"
				if u.Next != 0 {
					next = time.UnixMilli(u.Next).Sub(begin).String()
				}
				equal(t, what, fmt.Sprint(u.Total, " next ", next, " ", u.Slots), want)
			}
			wants("nothing", time.Hour, 2, "0 next none [0 0]")
			var seqs []int64
			for _, after := range []time.Duration{30 * time.Second, 90 * time.Second, 59 * time.Minute, time.Hour, 25 * time.Hour, 26 * time.Hour} {
				seqs = append(seqs, b.schedule(at("m", begin.Add(after)))...)
			}
			wants("hours", time.Hour, 3, "6 next 30s [3 1 0]")
			wants("minutes", time.Minute, 3, "6 next 30s [1 1 0]")
			wants("90 minutes", 90*time.Minute, 2, "6 next 30s [4 0]")
			wants("days", 24*time.Hour, 2, "6 next 30s [4 2]")
			wants("less than a minute", time.Second, 2, "6 next 30s [1 1]")
			shown, _ := b.numbers(emulator.Browse{Select: emulator.Selection{DueAfter: begin.Add(time.Minute).UnixMilli(), DueBefore: begin.Add(time.Hour).UnixMilli()}})
			equal(t, "the messages of a time", shown, fmt.Sprint(seqs[1], " ", seqs[2]))
			if err := b.cancel(seqs[0]); err != nil {
				t.Fatal(err)
			}
			wants("one is cancelled", time.Minute, 3, "5 next 1m30s [0 1 0]")
			if err := b.reschedule(seqs[1], begin.Add(2*time.Hour)); err != nil {
				t.Fatal(err)
			}
			wants("one has moved", time.Hour, 3, "5 next 59m0s [1 1 1]")
			b.restart()
			wants("after a restart", time.Hour, 3, "5 next 59m0s [1 1 1]")
			time.Sleep(time.Until(begin.Add(time.Hour + time.Second)))
			synctest.Wait()
			b.verify(true)
			wants("two became active", time.Hour, 3, "3 next 2h0m0s [0 0 1]")
		})
	}
}

func TestUpcomingOfADeletedEntity(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		q := b.q
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatal(err)
		}
		_, err := q.Messages().Upcoming(0, time.Hour.Milliseconds(), 1)
		wantCode(t, "after its end", err, emulator.CodeNotFound)
	})
}
