package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

// selector parses a selector.
func selector(t testing.TB, text string) *filter.Selector {
	t.Helper()
	s, err := filter.ParseSelector(text)
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return s
}

// selecting is a receiver with a selector, which counts how often it is notified.
func (b *broker) selecting(text string) *picky {
	b.t.Helper()
	return b.selectingFrom(emulator.Main, emulator.PeekLock, text)
}

func (b *broker) selectingFrom(sub emulator.SubQueue, mode emulator.ReceiveMode, text string) *picky {
	b.t.Helper()
	p := &picky{}
	c, err := b.q.NewSelectingConsumer(sub, mode, selector(b.t, text), func() {
		p.n.Add(1)
		p.poked.Store(true)
	})
	if err != nil {
		b.t.Fatalf("attach consumer: %v", err)
	}
	p.receiver = &receiver{b: b, c: c}
	return p
}

type picky struct {
	*receiver
	n     atomic.Int64
	poked atomic.Bool // and it has not taken since
}

func (p *picky) pokes() int { return int(p.n.Load()) }

// drain takes up to n messages as a receiver does that wants an answer: it waits while the search goes on.
func (p *picky) drain(n int) []*got {
	p.b.t.Helper()
	var ds []*emulator.Delivery
	for len(ds) < n {
		before, pokes := len(ds), p.pokes()
		ds = p.c.Take(ds, n-len(ds))
		if incomplete := p.c.Incomplete(); len(ds) == before && !incomplete {
			break
		}
		if synctest.Wait(); len(ds) == before && p.pokes() == pokes {
			p.b.t.Fatalf("a search ends without telling")
		}
	}
	p.c.Take(nil, 0)
	return p.b.written(ds)
}

// of makes a message with a property.
func of(body, color string) *goamqp.Message {
	m := text(body)
	m.ApplicationProperties = map[string]any{"color": color}
	return m
}

// colored makes messages of a color each, named by their places.
func colored(colors ...string) []*goamqp.Message {
	ms := make([]*goamqp.Message, len(colors))
	for i, c := range colors {
		ms[i] = of(fmt.Sprintf("%d%s", i+1, c), c)
	}
	return ms
}

func TestJMS3_SelectorTakesItsMessagesInOrderAndLeavesTheOthers(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(colored("red", "blue", "red", "green", "blue", "red")...)
		red := b.selecting("color = 'red'")
		equal(t, "first", bodies(red.drain(2)), "1red 3red")
		equal(t, "then", bodies(red.drain(5)), "6red")
		equal(t, "nothing is left", len(red.drain(1)), 0)
		b.wantCounts(6, 0, 0, 0)
		equal(t, "for others", bodies(b.receive(9)), "2blue 4green 5blue")
		b.verify(false)
	})
}

func TestJMS3_SelectorIsPokedForItsMessagesOnly(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		red, other := b.selecting("color = 'red'"), b.selecting("color = 'other'")
		red.c.Take(nil, 5)
		other.c.Take(nil, 5)
		b.send(colored("blue", "green")...)
		equal(t, "pokes before", red.pokes()+other.pokes(), 0)
		b.send(of("x", "red"))
		equal(t, "pokes of the one", red.pokes(), 1)
		equal(t, "pokes of the other", other.pokes(), 0)
		equal(t, "taken", bodies(red.take(5)), "x")
		b.verify(false)
	})
}

func TestDEC27_SelectorsAndOthersTakeTurns(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first, second := b.selecting("color = 'red'"), &picky{}
		c, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { second.n.Add(1) })
		if err != nil {
			t.Fatalf("attach consumer: %v", err)
		}
		second.receiver = &receiver{b: b, c: c}
		third := b.selecting("color LIKE 'r%'")
		for _, p := range []*picky{first, second, third} {
			p.c.Take(nil, 1)
		}
		for i, p := range []*picky{first, second, third} {
			b.send(of(fmt.Sprint(i), "red"))
			equal(t, fmt.Sprintf("pokes of receiver %d", i), p.pokes(), 1)
			ds := p.c.Take(nil, 1)
			equal(t, "taken", bodies(b.written(ds)), fmt.Sprint(i))
			b.verify(false)
		}
	})
}

// A plain consumer that was poked for a thousand must not keep what it leaves from the others, nor the other way round.
func TestJMS3_WhatAPokedConsumerLeavesGoesToOthers(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		var plainPokes atomic.Int64
		plain, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { plainPokes.Add(1) })
		if err != nil {
			t.Fatalf("attach consumer: %v", err)
		}
		plain.Take(nil, 1000)
		red := b.selecting("color = 'red'")
		red.c.Take(nil, 10)
		b.send(colored("red", "blue", "red")...)
		equal(t, "pokes of the plain one", plainPokes.Load(), 1)
		plain.Take(nil, 0) // it changed its mind
		equal(t, "pokes of the other", red.pokes(), 1)
		ds := plain.Take(nil, 1000) // and again
		equal(t, "taken", len(ds), 2)
		red.c.Close()
		equal(t, "pokes of the plain one at last", plainPokes.Load(), 2)
		equal(t, "taken at last", bodies(b.written(plain.Take(ds, 1000))), "1red 2blue 3red")
		b.verify(false)
	})
}

func TestJMS3_ReturnedMessagesComeAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.send(colored("red", "red", "blue", "red")...)
		red := b.selecting("color = 'red'")
		gs := red.drain(3)
		red.c.Take(nil, 1)
		done := newOutcome()
		if err := red.c.Settle(gs[1].d.Lock(), emulator.Settlement{Outcome: emulator.Abandon}, done); err != nil || <-done != nil {
			t.Fatalf("abandon: %v", err)
		}
		equal(t, "pokes after an abandon", red.pokes(), 1)
		again := red.drain(1)
		equal(t, "abandoned", bodies(again), "2red")
		equal(t, "delivery count", again[0].count(), 1)
		red.c.Take(nil, 1)
		wait(10 * time.Second)
		equal(t, "after the locks' ends", bodies(red.drain(9)), "1red 2red 4red")
		b.verify(false)
	})
}

// An abandon that changes a property decides anew.
func TestJMS3_SelectorsSeeChangedProperties(t *testing.T) {
	for _, small := range []int64{0, 1} { // with bodies in memory and without
		bubbleWith(t, emulator.Options{BodyBudget: small}, emulator.QueueOptions{}, func(b *broker) {
			b.send(colored("red", "blue")...)
			red, blue := b.selecting("color = 'red'"), b.selecting("color = 'blue'")
			b.settleWith(emulator.Abandon, b.properties("color", "blue"), red.drain(2)...)
			equal(t, "not red any more", len(red.drain(1)), 0)
			equal(t, "blue now", bodies(blue.drain(9)), "1red 2blue")
			b.verify(false)
		})
	}
}

func TestJMS3_DeferredExpiredAndDeletedMessagesAreNotTaken(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		red := b.selecting("color = 'red'")
		b.send(colored("red", "red", "red", "red")...)
		m := of("5red", "red")
		m.Header = &goamqp.MessageHeader{TTL: time.Second}
		b.send(m)
		gs := red.drain(1)
		b.settle(emulator.Defer, gs...)
		done := newOutcome()
		if err := b.q.Messages().Remove(emulator.Main, []int64{3}, done); err != nil || <-done != nil {
			t.Fatalf("remove: %v", err)
		}
		wait(time.Second)
		equal(t, "taken", bodies(red.drain(9)), "2red 4red")
		equal(t, "by its number", b.fetch(1).body(), "1red")
		b.verify(false)
	})
}

func TestJMS3_DeadLetterQueueAndReceiveAndDelete(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(colored("red", "blue", "red")...)
		gs := b.receive(3)
		dead := b.selectingFrom(emulator.DeadLetter, emulator.ReceiveAndDelete, "color = 'red'")
		dead.c.Take(nil, 9)
		b.settle(emulator.DeadLetterOutcome, gs[2], gs[1])
		b.settle(emulator.DeadLetterOutcome, gs[0]) // a lower number, later
		equal(t, "taken", bodies(dead.drain(9)), "1red 3red")
		equal(t, "left", bodies(b.peekFrom(emulator.DeadLetter, 0, 9)), "2blue")
		b.verify(true)
	})
}

func TestJMS3_ReceivedAndDeletedThatIsGivenBackComesAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(colored("red", "blue", "red")...)
		red := b.selectingFrom(emulator.Main, emulator.ReceiveAndDelete, "color = 'red'")
		ds := red.c.Take(nil, 2)
		synctest.Wait()
		red.c.Return(ds)
		synctest.Wait()
		equal(t, "taken", bodies(red.drain(9)), "1red 3red")
		b.verify(true)
	})
}

// A deep queue whose messages are on disk only is searched as far as it takes, in order, and a drain waits for that.
func TestJMS3_DeepQueueIsSearched(t *testing.T) {
	no := emulator.SmallChunks(emulator.Options{BodyBudget: 1})
	bubbleWith(t, no, emulator.QueueOptions{}, func(b *broker) {
		const n = 1000
		for i := range n {
			color := "blue"
			if i == 700 || i == 900 {
				color = "red"
			}
			b.send(of(fmt.Sprint(i), color))
		}
		b.restart()
		packed := b.q.InMemory().Packed(emulator.Main)
		red := b.selecting("color = 'red'")
		ds := red.c.Take(nil, 1)
		equal(t, "at once", len(ds), 0)
		equal(t, "is incomplete", red.c.Incomplete(), true)
		equal(t, "first", bodies(red.drain(1)), "700")
		_, reads := b.j.seen()
		equal(t, "second", bodies(red.drain(1)), "900")
		equal(t, "no third", len(red.drain(1)), 0)
		if left := b.q.InMemory().Packed(emulator.Main); left < packed-4 {
			t.Errorf("%d of %d messages are packed still", left, packed)
		}
		_, before := b.j.seen()
		again := b.selecting("color = 'red'")
		equal(t, "for another consumer", len(again.drain(1)), 0)
		if _, after := b.j.seen(); after != before || before == reads {
			t.Errorf("%d, then %d, then %d reads: each body once", reads, before, after)
		}
		b.verify(false)
	})
}

// What comes while a body can't be kept in memory does not overtake, and is found.
func TestJMS3_ArrivalsWhoseBodiesAreOnDisk(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
		b.send(colored("blue", "red", "blue", "red")...)
		dead := b.selectingFrom(emulator.DeadLetter, emulator.PeekLock, "color = 'red'")
		gs := b.receive(9)
		b.settle(emulator.DeadLetterOutcome, gs[3], gs[2])
		b.verify(false)
		_, before := b.j.seen()
		equal(t, "last dead letter", bodies(dead.drain(1)), "4red")
		dead.c.Take(nil, 2)
		b.settle(emulator.DeadLetterOutcome, gs[0], gs[1])
		equal(t, "pokes", dead.pokes() > 0, true)
		equal(t, "first dead letter", bodies(dead.drain(9)), "2red")
		if _, after := b.j.seen(); after == before {
			t.Error("no body was read: they are in memory")
		}
		b.verify(false)
	})
}

// Large bodies are read one at a time for selectors, and four in the process.
func TestJMS3_LargeBodiesAreReadInTurn(t *testing.T) {
	o := emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096}
	bubbleWith(t, emulator.Options{BodyBudget: 1}, o, func(b *broker) {
		for i := range 12 {
			b.send(of(strings.Repeat("x", 3<<20), []string{"blue", "red"}[i%12/11]))
		}
		found := 0
		for i := range 3 { // each of them has to read all
			p := b.selecting(fmt.Sprintf("color = 'red' AND %d = %d", i, i))
			found += len(p.drain(1))
		}
		equal(t, "found", found, 1)
		if b.j.most > 4<<20 {
			t.Errorf("%d bytes of bodies are read at once", b.j.most)
		}
		b.verify(false)

		gate := make(chan struct{})
		var reading atomic.Int64
		b.j.onRead(func() {
			reading.Add(1)
			<-gate
		})
		var consumers []*picky
		var browsers []*reader
		for i := range 3 {
			other := b.create(fmt.Sprint("q", i), o)
			other.send(of(strings.Repeat("x", 3<<20), "red"))
			consumers = append(consumers, other.selecting("color = 'red'"))
			consumers[i].c.Take(nil, 1)
			browsers = append(browsers, other.browser(emulator.Main, "color = 'red'"))
			browsers[i].c.Next(nil, 1)
		}
		synctest.Wait()
		equal(t, "reads at a time, of six", reading.Load(), 4)
		close(gate)
		synctest.Wait()
		for i := range 3 {
			equal(t, "browsed", len(browsers[i].read(1)), 1)
			equal(t, "received", len(consumers[i].drain(1)), 1)
		}
	})
}

func TestJMS3_FailedReadIsTriedAgain(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
		b.send(colored("blue", "red")...)
		b.restart()
		b.j.setReads(errDisk, 0)
		red := b.selecting("color = 'red'")
		red.c.Take(nil, 1)
		wait(10 * time.Second)
		equal(t, "pokes", red.pokes(), 0)
		equal(t, "is incomplete", red.c.Incomplete(), true)
		b.j.setReads(nil, 0)
		wait(2 * time.Second)
		equal(t, "poked at last", red.pokes() > 0, true)
		equal(t, "taken", bodies(red.take(1)), "2red")
	})
}

func TestJMS3_ScheduledMessagesWhenTheyAreActive(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		red := b.selecting("color = 'red'")
		red.c.Take(nil, 1)
		m := of("later", "red")
		m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": now().Add(time.Minute)}
		b.send(m)
		equal(t, "pokes before", red.pokes(), 0)
		wait(time.Minute)
		equal(t, "pokes", red.pokes(), 1)
		equal(t, "taken", bodies(red.take(1)), "later")
	})
}

func TestJMS3_PartitionedQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{EnablePartitioning: true}, func(b *broker) {
		var want []string
		for i := range 40 {
			color := []string{"red", "blue"}[i%2]
			b.send(of(fmt.Sprintf("%d%s", i, color), color))
			if i%2 == 0 {
				want = append(want, fmt.Sprintf("%dred", i))
			}
			time.Sleep(time.Millisecond)
		}
		red := b.selecting("color = 'red'")
		equalSlices(t, "taken", mapped(red.drain(99), (*got).body), want...)
		b.verify(false)
	})
}

func TestJMS3_SessionsAreRefused(t *testing.T) {
	bubble(t, emulator.QueueOptions{RequiresSession: true}, func(b *broker) {
		_, err := b.q.NewSelectingConsumer(emulator.Main, emulator.PeekLock, selector(t, "TRUE"), func() {})
		wantCode(t, "selector", err, emulator.CodeNotAllowed)
		_, err = b.q.NewQueueBrowser(emulator.Main, nil, func() {})
		wantCode(t, "browser", err, emulator.CodeNotAllowed)
	})
}

func TestJMS3_UnusedSelectorIndexIsKeptForAMinute(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.selecting("color = 'red'").c.Close()
		wait(59 * time.Second)
		equal(t, "kept", b.q.InMemory().SelectorIndexes(), 1)
		red := b.selecting("color = 'red'")
		wait(time.Hour)
		equal(t, "used", b.q.InMemory().SelectorIndexes(), 1)
		red.c.Close()
		wait(time.Minute)
		equal(t, "left", b.q.InMemory().SelectorIndexes(), 0)
		b.verify(true)
	})
}

func TestJMS3_AtMostAThousandSelectors(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		var all []*picky
		for i := range 1000 {
			all = append(all, b.selecting(fmt.Sprintf("n = %d", i)))
		}
		_, err := b.q.NewSelectingConsumer(emulator.Main, emulator.PeekLock, selector(t, "n = -1"), func() {})
		wantCode(t, "one more", err, emulator.CodeQuotaExceeded)
		equal(t, "receivers", b.q.InMemory().Receivers(), 1000)
		b.selecting("n = 7").c.Close() // a text that is in use
		all[3].c.Close()
		b.selecting("n = -1") // instead of it
		b.verify(true)
	})
}

func TestJMS3_UpdateAndDeletionEndTheWait(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		red := b.selecting("color = 'red'")
		red.c.Take(nil, 1)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusReceiveDisabled })
		b.send(of("x", "red"))
		equal(t, "taken while it is disabled", len(red.take(1)), 0)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
		equal(t, "taken later", bodies(red.drain(1)), "x")
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		equal(t, "taken of what is gone", len(red.c.Take(nil, 1)), 0)
		equal(t, "is incomplete", red.c.Incomplete(), false)
		red.c.Close()
	})
}

// Matches that others take and settle do not add up.
func TestJMS3_WhatOthersTakeIsForgotten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		red := b.selecting("color = 'red'")
		for range 100 {
			b.send(slices.Repeat([]*goamqp.Message{of("x", "red")}, 100)...)
			b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 100)
		}
		if n := b.q.InMemory().Matches(); n > 3000 {
			t.Errorf("%d matches are kept, of none that is there", n)
		}
		equal(t, "taken", len(red.drain(1)), 0)
	})
}

// Two selectors and a plain consumer, with senders at work: each gets its own in order, and together they get all, once.
func TestJMS3_ManyAtOnce(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		const n = 3000
		var mu sync.Mutex
		seen := map[string]bool{}
		var group sync.WaitGroup
		stop := make(chan struct{})
		consume := func(text, color string) {
			poked := make(chan struct{}, 1)
			var s *filter.Selector
			if text != "" {
				s = selector(t, text)
			}
			c, err := b.q.NewSelectingConsumer(emulator.Main, emulator.PeekLock, s, func() {
				select {
				case poked <- struct{}{}:
				default:
				}
			})
			if err != nil {
				t.Errorf("attach consumer: %v", err)
				return
			}
			group.Go(func() {
				defer c.Close()
				last := int64(0)
				for {
					ds := c.Take(nil, 7)
					for _, d := range ds {
						for ready, _ := d.Ready(); !ready; ready, _ = d.Ready() {
							<-poked
						}
						g := decode(t, d.Append(nil), d)
						mu.Lock()
						if seen[g.body()] || d.Seq() <= last || color != "" && g.property("color") != color {
							t.Errorf("%q gets %s, %v, after %d", text, g.body(), g.property("color"), last)
						}
						seen[g.body()] = true
						mu.Unlock()
						last = d.Seq()
						if err := c.Settle(d.Lock(), emulator.Settlement{}, newOutcome()); err != nil {
							t.Errorf("complete: %v", err)
						}
					}
					if len(ds) > 0 {
						continue
					}
					select {
					case <-poked:
					case <-stop:
						return
					}
				}
			})
		}
		consume("color = 'red'", "red")
		consume("color = 'red'", "red")
		consume("color IN ('blue')", "blue")
		consume("", "")
		var senders sync.WaitGroup
		for sender := range 3 {
			senders.Go(func() {
				for i := range n / 3 {
					done := newOutcome()
					m := encode(t, of(fmt.Sprint(sender, " ", i), []string{"red", "blue", "green"}[i%3]))
					if err := b.q.Send([]message.Message{m}, done); err != nil || <-done != nil {
						t.Errorf("send: %v", err)
					}
				}
			})
		}
		senders.Wait()
		synctest.Wait()
		close(stop)
		group.Wait()
		equal(t, "received", len(seen), n)
		b.wantCounts(0, 0, 0, 0)
		b.verify(true)
	})
}

func TestJMS3_WhySelectorsMatchNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		red := b.selecting("color = 'red'")
		red.c.Introduce(&emulator.Client{Container: "worker"})
		red.c.Take(nil, 1)
		b.send(colored("blue", "green")...)
		d := b.q.Why(emulator.Question{})
		if !d.Has(emulator.FindSelectors) || !d.Blocked() || !strings.Contains(d.String(), "color = 'red'") {
			t.Errorf("findings: %s", d.String())
		}
		b.send(of("x", "red")) // it is poked, and has not come yet
		if d := b.q.Why(emulator.Question{}); d.Has(emulator.FindSelectors) {
			t.Errorf("findings while there is one: %s", d.String())
		}
	})
}
