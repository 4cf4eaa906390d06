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
	c *emulator.QueueBrowser
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
	if r.c, err = b.q.NewQueueBrowser(sub, s, func() { r.n.Add(1) }); err != nil {
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

// A browser whose reads fail tries again after a while, and passes no message over.
func TestJMS3_BrowserWhoseReadFails(t *testing.T) {
	for _, selector := range []string{"", "color = 'red'"} {
		bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
			b.send(colored("red", "red")...)
			b.restart()
			b.j.setReads(errDisk, 0)
			_, before := b.j.seen()
			r := b.browser(emulator.Main, selector)
			ds := r.c.Next(nil, 9)
			for range 20 { // as a link does that is notified
				wait(0)
				ds = r.c.Next(ds, 9)
			}
			equal(t, "at the end", r.c.AtEnd() && len(ds) == 0, false)
			_, after := b.j.seen()
			equal(t, "reads that failed", after-before, 1)
			b.j.setReads(nil, 0)
			wait(2 * time.Second)
			for range 3 {
				ds = r.c.Next(ds, 9)
				wait(0)
			}
			equal(t, "then", len(ds), 2)
			for _, d := range ds {
				ready, gone := d.Ready()
				equal(t, "ready", ready && !gone, true)
			}
		})
	}
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
