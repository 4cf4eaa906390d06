package emulator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// awaited waits in the background and returns what comes of it.
func (b *broker) awaited(m emulator.AwaitMessage) <-chan emulator.Awaited {
	b.t.Helper()
	answer := make(chan emulator.Awaited, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s, err := b.ns.Wait(ctx, emulator.Await{Message: &m})
		if err != nil {
			b.t.Error(err)
		}
		answer <- s
	}()
	synctest.Wait()
	return answer
}

func (b *broker) wantAwaited(what string, answer <-chan emulator.Awaited, number int64) {
	b.t.Helper()
	s := <-answer
	equal(b.t, what, fmt.Sprint(s.Met, s.Message), fmt.Sprint(number != 0, number))
}

func TestWaitForAMessage(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{}, func(b *broker) {
		reason := "poison"
		text := func(s string) emulator.Selection { return emulator.Selection{Text: s} }
		b.sendTexts("one", "two")
		locked := b.one()
		b.wantAwaited("it is there", b.awaited(emulator.AwaitMessage{Entity: "q", Select: text("TWO")}), 2)
		b.wantAwaited("it is locked", b.awaited(emulator.AwaitMessage{Entity: "q", Select: text("one")}), 1)
		b.wantAwaited("sql", b.awaited(emulator.AwaitMessage{Entity: "q", Select: emulator.Selection{SQL: "sys.SequenceNumber = 2"}}), 2)

		three := b.awaited(emulator.AwaitMessage{Entity: "q", Select: text("three")})
		dead := b.awaited(emulator.AwaitMessage{Entity: "q", Sub: emulator.DeadLetter, Select: emulator.Selection{Reason: &reason}})
		deferred := b.awaited(emulator.AwaitMessage{Entity: "q", Select: emulator.Selection{States: []emulator.State{emulator.Deferred}}})
		due := b.awaited(emulator.AwaitMessage{Entity: "q", Select: text("later")})
		never := b.awaited(emulator.AwaitMessage{Entity: "q", Select: text("never")})
		b.schedule(at("later", soon(30*time.Second)))
		b.sendTexts("three")
		b.wantAwaited("it comes", three, 4)
		b.settle(emulator.Defer, locked)
		b.wantAwaited("it is deferred", deferred, 1)
		two := b.one()
		b.sendTexts("four")
		b.settleWith(emulator.DeadLetterOutcome, b.properties(emulator.DeadLetterReason, reason), two)
		b.wantAwaited("it is dead-lettered, with a lower number than others", dead, 2)
		b.wantAwaited("it is due", due, 6)
		b.wantAwaited("it does not come", never, 0)
		_, err := b.ns.Wait(context.Background(), emulator.Await{Message: &emulator.AwaitMessage{Entity: "q", Select: emulator.Selection{SQL: "="}}})
		wantCode(t, "bad SQL", err, emulator.CodeArgument)
		_, err = b.ns.Wait(context.Background(), emulator.Await{Message: &emulator.AwaitMessage{Entity: "none"}})
		wantCode(t, "no entity", err, emulator.CodeNotFound)
	})
}

// TestWaitForAMessageThatGoes: the message is there when all holds, and not only before.
func TestWaitForAMessageThatGoes(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("one")
		both := make(chan emulator.Awaited, 1)
		go func() {
			s, _ := b.ns.Wait(context.Background(), emulator.Await{Entity: "q", Counts: []emulator.CountCondition{{Of: emulator.CountedActive, Least: 2, Most: -1}},
				Message: &emulator.AwaitMessage{Entity: "q"}})
			both <- s
		}()
		synctest.Wait()
		b.settle(emulator.Complete, b.one())
		b.sendTexts("two", "three")
		equal(t, "the message that is there at the end", (<-both).Message, int64(2))
	})
}

// TestWaitForAMessageAsksForRoom before it reads from disk, gives it back before it waits, and ends without it when its time is over.
func TestWaitForAMessageAsksForRoom(t *testing.T) {
	o := small
	o.Record = recorded().Record
	bubbleWith(t, o, emulator.QueueOptions{}, func(b *broker) {
		for range 20 {
			b.sendTexts(strings.Repeat("x", 1<<10))
		}
		var asked, held int64
		room := func(_ context.Context, bytes int64) (func(), error) {
			asked, held = asked+bytes, held+bytes
			return func() { held -= bytes }, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		wait := emulator.Await{Message: &emulator.AwaitMessage{Entity: "q", Select: emulator.Selection{SQL: "color = 'red'"}}, Room: room}
		over := make(chan error, 1)
		go func() {
			_, err := b.ns.Wait(ctx, wait)
			over <- err
		}()
		synctest.Wait()
		if asked < 10<<10 || held != 0 {
			t.Errorf("a wait asked for room for %d bytes and holds %d while it waits", asked, held)
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
		brief, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		wait.Room = func(ctx context.Context, _ int64) (func(), error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		s, err := b.ns.Wait(brief, wait)
		if err != nil || s.Met {
			t.Errorf("a wait without room ends with %+v, %v", s, err)
		}
	})
}
