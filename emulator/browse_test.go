package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// numbers browses page by page and returns the numbers that were shown, and how many messages were looked at.
func (b *broker) numbers(o emulator.Browse) (shown string, examined int) {
	b.t.Helper()
	var list []string
	if o.Max == 0 {
		o.Max = 3
	}
	for more := true; more; {
		end, err := b.q.Messages().Browse(o, func(s *emulator.MessageView) { list = append(list, fmt.Sprint(s.Sequence)) })
		if err != nil {
			b.t.Fatalf("browse: %v", err)
		}
		examined += end.Examined
		more, o.From = end.More, &end.Next
	}
	return strings.Join(list, " "), examined
}

func TestBrowseShowsWhatIsSelected(t *testing.T) {
	for _, no := range []emulator.Options{{}, small} {
		bubbleWith(t, no, emulator.QueueOptions{LockDuration: time.Minute}, func(b *broker) {
			deferred := b.deferOne(text("deferred"))
			b.sendTexts("two", "three", "four")
			locked := b.one()
			b.schedule(at("five", now().Add(time.Hour)))
			for i := range 40 {
				b.sendTexts(fmt.Sprint("more", i))
			}
			b.settle(emulator.Complete, b.receiveFrom(emulator.Main, emulator.PeekLock, 1)...)
			equal(t, "first", deferred, 1)
			for name, c := range map[string]struct {
				o    emulator.Browse
				want string
			}{
				"deferred":  {emulator.Browse{Standings: []emulator.Standing{emulator.StandingDeferred}}, "1"},
				"locked":    {emulator.Browse{Standings: []emulator.Standing{emulator.StandingLocked}}, "2"},
				"scheduled": {emulator.Browse{Standings: []emulator.Standing{emulator.StandingScheduled, emulator.StandingDeferred}, Newest: true}, "5 1"},
				"text":      {emulator.Browse{Select: emulator.Selection{Text: "MORE3"}}, "9 36 37 38 39 40 41 42 43 44 45"},
				"nothing":   {emulator.Browse{Select: emulator.Selection{SQL: "color = 'red'"}}, ""},
				"before":    {emulator.Browse{Select: emulator.Selection{Before: 1}}, ""},
				"after":     {emulator.Browse{Select: emulator.Selection{After: now().UnixMilli() + 1}}, ""},
			} {
				have, examined := b.numbers(c.o)
				equal(t, name, have, c.want)
				equal(t, name+": examined", examined, 44)
			}
			all, _ := b.numbers(emulator.Browse{})
			back, _ := b.numbers(emulator.Browse{Newest: true})
			turned := strings.Fields(back)
			slices.Reverse(turned)
			equal(t, "the newest first, turned round", strings.Join(turned, " "), all)
			b.settle(emulator.Complete, locked)
			b.verify(true)
		})
	}
}

func TestBrowseIsBounded(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		large := strings.Repeat("x", 200<<10)
		for range 50 {
			b.sendTexts(large)
		}
		shown := 0
		end, err := b.q.Messages().Browse(emulator.Browse{Max: 100}, func(*emulator.MessageView) { shown++ })
		if err != nil || shown < 40 || shown > 48 || !end.More || end.Next != int64(shown+1) || end.Examined != shown {
			t.Errorf("a page of large messages shows %d: %+v, %v", shown, end, err)
		}
		end, err = b.q.Messages().Browse(emulator.Browse{Max: 100, From: &end.Next}, func(*emulator.MessageView) { shown++ })
		if err != nil || shown != 50 || end.More {
			t.Errorf("with the last page %d are shown: %+v, %v", shown, end, err)
		}
		_, err = b.q.Messages().Browse(emulator.Browse{Max: 1, Select: emulator.Selection{SQL: "="}}, func(*emulator.MessageView) {})
		wantCode(t, "a wrong filter", err, emulator.CodeArgument)
	})
}

// TestBrowseTouchesNothing of a queue in use, neither its order nor its locks, counts and idle time.
func TestBrowseTouchesNothing(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{AutoDeleteOnIdle: 5 * time.Minute, LockDuration: time.Minute, EnablePartitioning: true}, func(b *broker) {
		for i := range 60 {
			b.send(withID(fmt.Sprint(i)))
		}
		held := b.one()
		for range 3 {
			wait(time.Second)
			all, _ := b.numbers(emulator.Browse{})
			back, _ := b.numbers(emulator.Browse{Newest: true})
			equal(t, "messages", len(strings.Fields(all)), 60)
			equal(t, "messages back", len(strings.Fields(back)), 60)
		}
		equal(t, "deliveries", held.count(), 0)
		b.settle(emulator.Complete, held)
		got := b.receive(59)
		for i, g := range got {
			equal(t, "order", fmt.Sprint(g.Properties.MessageID), fmt.Sprint(i+1))
			equal(t, "delivery count", g.count(), 0)
		}
		b.settle(emulator.Complete, got...)
		b.verify(true)
		for range 6 {
			wait(time.Minute - time.Second)
			_, _ = b.q.Messages().Browse(emulator.Browse{Max: 1}, func(*emulator.MessageView) {})
			_, _ = b.q.Messages().Get(emulator.Main, 1)
		}
		if _, err := b.ns.Entity("q"); err == nil {
			t.Error("browsing kept an idle queue alive")
		}
	})
}

func TestMessageSaysHowItStands(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{LockDuration: time.Minute}, func(b *broker) {
		b.sendTexts("one", "two")
		until := now().Add(time.Minute)
		b.one()
		s, err := b.q.Messages().Get(emulator.Main, 1)
		if err != nil || s.Standing != emulator.StandingLocked || s.LockedUntil != until.UnixMilli() || s.HeldBy() != "a client of which nothing more is known" {
			t.Errorf("a locked message: %+v, %v", s, err)
		}
		if err := s.Load(); err != nil {
			t.Fatal(err)
		}
		head, body, err := s.Sections()
		if err != nil || !head.Body.Empty() || !strings.Contains(string(body.Bytes(body.Body)), "one") {
			t.Errorf("sections: %v", err)
		}
		gone, err := b.q.Messages().Get(emulator.Main, 2)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "removed", b.remove(2), nil)
		wantCode(t, "load what is gone", gone.Load(), emulator.CodeMessageNotFound)
		_, err = b.q.Messages().Get(emulator.Main, 2)
		wantCode(t, "look at what is gone", err, emulator.CodeMessageNotFound)
		synctest.Wait()
	})
}
