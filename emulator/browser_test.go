package emulator_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/filter"
)

// reader is a browser that counts how often it is notified.
type reader struct {
	b *broker
	c *emulator.Browser
	n atomic.Int64
}

func (r *reader) pokes() int { return int(r.n.Load()) }

func (b *broker) browser(sub emulator.SubQueue, text string) *reader {
	b.t.Helper()
	var s *filter.Selector
	if text != "" {
		s = selector(b.t, text)
	}
	r := &reader{b: b}
	var err error
	if r.c, err = b.q.NewBrowser(sub, s, func() { r.n.Add(1) }); err != nil {
		b.t.Fatalf("browse: %v", err)
	}
	return r
}

// read asks for messages one at a time, or so many, until the browser is at its end.
func (r *reader) read(atOnce int) []*got {
	r.b.t.Helper()
	var gs []*got
	for {
		pokes := r.pokes()
		ds := r.c.Next(nil, atOnce)
		end := r.c.AtEnd()
		gs = append(gs, r.b.written(ds)...)
		if end && len(ds) == 0 {
			return gs
		}
		if synctest.Wait(); len(ds) == 0 && r.pokes() == pokes {
			r.b.t.Fatal("a search ends without telling")
		}
	}
}

func TestJMS3_BrowserShowsActiveMessagesAndDisturbsNothing(t *testing.T) {
	for _, budget := range []int64{0, 1} {
		bubbleWith(t, emulator.SmallChunks(emulator.Options{BodyBudget: budget}), emulator.QueueOptions{}, func(b *broker) {
			b.send(colored("red", "blue", "red", "blue", "red", "blue")...)
			b.schedule(at("later", now().Add(time.Hour)))
			m := of("short", "red")
			m.Header = &goamqp.MessageHeader{TTL: time.Second}
			b.send(m)
			b.settle(emulator.Defer, b.receive(1)...)
			held := b.receive(1)
			wait(time.Second)
			before, packed := b.q.Counts(), b.q.InMemory().Packed(emulator.Main)
			changes, _ := b.j.seen()
			all := b.browser(emulator.Main, "")
			equal(t, "all", bodies(all.read(2)), "2blue 3red 4blue 5red 6blue")
			equal(t, "red", bodies(b.browser(emulator.Main, "color = 'red'").read(1)), "3red 5red")
			equal(t, "counts", b.q.Counts(), before)
			equal(t, "packed", b.q.InMemory().Packed(emulator.Main), packed)
			after, _ := b.j.seen()
			equal(t, "changes", after, changes)
			b.send(of("more", "red"))
			equal(t, "what came since", bodies(all.read(9)), "more")
			b.settle(emulator.Complete, held...)
			equal(t, "received", bodies(b.receive(9)), "3red 4blue 5red 6blue more")
			b.verify(true)
		})
	}
}

func TestJMS3_BrowserSeesWhatIsBeingWrittenLater(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		all := b.browser(emulator.Main, "")
		b.sendTexts("a")
		b.j.Pause()
		done := newOutcome()
		if err := b.q.Send(b.encodeAll(texts("b")), done); err != nil {
			t.Fatalf("send: %v", err)
		}
		equal(t, "before", bodies(all.read(9)), "a")
		b.j.Resume()
		<-done
		equal(t, "after", bodies(all.read(9)), "b")
	})
}

func TestJMS3_BrowserOfADeepQueue(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
		var want []string
		for i := range 2500 {
			color := "blue"
			if i%500 == 499 {
				color = "red"
				want = append(want, fmt.Sprint(i))
			}
			b.send(of(fmt.Sprint(i), color))
		}
		equal(t, "messages", len(b.browser(emulator.Main, "").read(100)), 2500)
		red := b.browser(emulator.Main, "color = 'red'")
		equalSlices(t, "red", mapped(red.read(1), (*got).body), want...)
		equal(t, "none", len(b.browser(emulator.Main, "color = 'green'").read(1)), 0)
		closed := b.browser(emulator.Main, "color = 'green'")
		closed.c.Next(nil, 1)
		closed.c.Close()
		wait(0)
		equal(t, "of one that is closed", len(closed.c.Next(nil, 1)), 0)
	})
}

func TestJMS3_BrowserTakesBackWhatWasNotWritten(t *testing.T) {
	for _, text := range []string{"", "color = 'red'"} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			b.send(colored("red", "red", "red")...)
			r := b.browser(emulator.Main, text)
			var ds []*emulator.Delivery
			for len(ds) < 2 {
				ds = r.c.Next(ds, 2)
				synctest.Wait()
			}
			r.c.Return(ds[1:])
			ds[0].Return() // has no effect
			equal(t, "then", bodies(r.read(9)), "2red 3red")
			b.verify(true)
		})
	}
}

func TestJMS3_BrowserWhoseReadFails(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
		b.send(colored("blue", "red")...)
		b.restart()
		b.j.setReads(errDisk, 0)
		red := b.browser(emulator.Main, "color = 'red'")
		red.c.Next(nil, 1)
		wait(0)
		equal(t, "at the end", red.c.AtEnd(), false)
		b.j.setReads(nil, 0)
		wait(2 * time.Second)
		equal(t, "pokes", red.pokes() > 0, true)
		equal(t, "then", bodies(red.read(1)), "2red")
	})
}

func TestJMS3_BrowserOfADeletedQueueIsAtItsEnd(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		r := b.browser(emulator.Main, "")
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		equal(t, "shown", len(r.read(1)), 0)
	})
}
