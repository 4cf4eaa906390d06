package emulator_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/filter"
)

// wish is a selector, with what it means said once more.
type wish struct {
	text string // empty: any message
	is   func(color string, n int64) bool
}

var wishes = []wish{
	{"", func(string, int64) bool { return true }},
	{"color = 'red'", func(color string, _ int64) bool { return color == "red" }},
	{"n > 3", func(_ string, n int64) bool { return n > 3 }},
	{"color = 'red' AND n BETWEEN 2 AND 5", func(color string, n int64) bool { return color == "red" && n >= 2 && n <= 5 }},
	{"color IN ('blue', 'green')", func(color string, _ int64) bool { return color == "blue" || color == "green" }},
	{"NOT color LIKE 'b%'", func(color string, _ int64) bool { return color != "blue" }},
	{"JMSPriority = 4", func(string, int64) bool { return true }},
	{"FALSE", func(string, int64) bool { return false }},
}

// selectorPlayer does random operations with consumers that have selectors and some that have none.
type selectorPlayer struct {
	*broker
	r       *rand.Rand
	clients []*selectorClient
	sent    int
	gone    map[string]bool      // completed, purged, or received and deleted
	mortal  map[string]bool      // has a time to live
	locked  map[string]time.Time // until when
	log     []string
	blind   bool // reads fail
	off     bool // the queue gives out nothing
	taken   int
	exact   int
}

// selectorClient is a receiving link: it has credit, and answers each notification with a Take.
type selectorClient struct {
	p      *selectorPlayer
	c      *emulator.Consumer
	sub    emulator.SubQueue
	mode   emulator.ReceiveMode
	wish   wish
	credit int
	poked  *atomic.Bool
	flight []*emulator.Delivery // taken, and not written yet
	held   []*got
}

// TestRandom_SelectorsTakeWhatTheyMeanAndNobodySleeps: each consumer gets exactly the messages that its selector means, the
// lowest numbers first; none is lost or had twice; and no consumer waits while there is something for it.
func TestRandom_SelectorsTakeWhatTheyMeanAndNobodySleeps(t *testing.T) {
	r := emulator.NewRandom(t)
	taken, exact := 0, 0
	for i := range 8 {
		no := emulator.Options{}
		if i%4 == 1 || i%4 == 2 {
			no = emulator.SmallChunks(emulator.Options{BodyBudget: 1})
		}
		o := emulator.QueueOptions{LockDuration: 5 * time.Second, MaxDeliveryCount: 4, EnablePartitioning: i%4 == 3}
		bubbleWith(t, no, o, func(b *broker) {
			p := &selectorPlayer{broker: b, r: r, gone: map[string]bool{}, mortal: map[string]bool{}, locked: map[string]time.Time{}}
			for n := 0; n < operations(t)/8 && !t.Failed(); n++ {
				p.step()
			}
			p.end()
			if t.Failed() {
				for _, line := range p.log[max(0, len(p.log)-40):] {
					t.Log(line)
				}
				return
			}
			taken, exact = taken+p.taken, exact+p.exact
		})
		if t.Failed() {
			return
		}
	}
	if taken < 500 || exact < 50 {
		t.Errorf("%d deliveries, %d exact ones: the test hardly did anything", taken, exact)
	}
}

func (p *selectorPlayer) note(format string, args ...any) {
	p.log = append(p.log, now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (p *selectorPlayer) step() {
	p.t.Helper()
	steps := []func(){
		p.send, p.send, p.send, p.send, p.attach, p.attach, p.detach, p.grant, p.grant, p.grant, p.grant, p.withdraw, p.settleOne, p.settleOne, p.settleOne,
		p.settleOne, p.settleOne, p.pass, p.purge, p.fetchDeferred, p.takeExactly, p.takeExactly, p.browse, p.rollBack, p.blinden, p.restartIt, p.toggle,
	}
	steps[p.r.IntN(len(steps))]()
	p.rest()
}

// rest lets all clients answer until nothing happens any more, and looks whether one sleeps that should not.
func (p *selectorPlayer) rest() {
	p.t.Helper()
	for again := true; again; {
		synctest.Wait()
		again = false
		for _, c := range p.clients {
			again = c.write() || again
			if c.poked.Load() {
				again = true
				c.take()
			}
		}
	}
	p.j.FailNext(0, nil)
	p.verify(false)
	if p.blind || p.off {
		return
	}
	for _, c := range p.clients {
		if c.credit == 0 {
			continue
		}
		if waiting := p.available(c.sub, c.wish); len(waiting) > 0 {
			p.t.Errorf("%s sleeps, with a credit of %d, beside %v", c, c.credit, waiting)
		}
	}
}

func (c *selectorClient) String() string { return fmt.Sprintf("%q of %d", c.wish.text, c.sub) }

// take asks for as much as the client has credit for.
func (c *selectorClient) take() {
	c.poked.Store(false)
	for _, l := range c.c.Ended() {
		c.held = slices.DeleteFunc(c.held, func(g *got) bool { return g.d.Lock() == l })
	}
	ds := c.c.Take(nil, c.credit)
	c.credit -= len(ds)
	c.flight = append(c.flight, ds...)
}

// write has what was taken and is ready, in order.
func (c *selectorClient) write() (some bool) {
	for len(c.flight) > 0 {
		d := c.flight[0]
		ready, gone := d.Ready()
		switch {
		case gone:
			c.credit++
			c.poked.Store(true)
		case ready:
			c.have(d)
		default:
			return some
		}
		c.flight = c.flight[1:]
		some = true
	}
	return some
}

// have receives a message.
func (c *selectorClient) have(d *emulator.Delivery) {
	p := c.p
	g := decode(p.t, d.Append(nil), d)
	name, _ := g.property("name").(string)
	p.note("%s has %s", c, name)
	p.taken++
	if color, _ := g.property("color").(string); !c.wish.is(color, g.property("n").(int64)) {
		p.t.Errorf("%s gets %s, which is %s %v", c, name, color, g.property("n"))
	}
	if p.gone[name] || now().Before(p.locked[name]) {
		p.t.Errorf("%s gets %s, which is gone: %v, or somebody else's until %s", c, name, p.gone[name], p.locked[name])
	}
	if c.mode == emulator.ReceiveAndDelete {
		p.gone[name] = true
		return
	}
	p.locked[name] = g.until()
	c.held = append(c.held, g)
}

// available lists the messages that a receiver with a wish could have, in their order.
func (p *selectorPlayer) available(sub emulator.SubQueue, w wish) (names []string) {
	return p.list(sub, w, []emulator.Standing{emulator.StandingActive})
}

func (p *selectorPlayer) list(sub emulator.SubQueue, w wish, standings []emulator.Standing) (names []string) {
	p.t.Helper()
	type one struct {
		name     string
		enqueued int64
	}
	var all []one
	b := emulator.Browse{Sub: sub, Standings: standings, Select: emulator.Selection{States: []emulator.State{emulator.Active}}, Max: 10_000}
	for more := true; more; {
		end, err := p.q.Messages().Browse(b, func(v *emulator.MessageView) {
			head, _, err := v.Sections()
			if err != nil {
				p.t.Fatalf("look at a message: %v", err)
			}
			name, _ := head.ApplicationProperty("name")
			color, _ := head.ApplicationProperty("color")
			n, _ := head.ApplicationProperty("n")
			if w.is(color.(string), n.(int64)) {
				all = append(all, one{name.(string), v.Enqueued})
			}
		})
		if err != nil {
			p.t.Fatalf("browse: %v", err)
		}
		more, b.From = end.More, &end.Next
	}
	if p.q.Options().EnablePartitioning && sub == emulator.Main {
		slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(a.enqueued, b.enqueued) })
	}
	return mapped(all, func(x one) string { return x.name })
}

func (p *selectorPlayer) send() {
	m := text("x")
	p.sent++
	name := fmt.Sprintf("m%d", p.sent)
	m.ApplicationProperties = map[string]any{
		"name": name, "color": []string{"red", "blue", "green"}[p.r.IntN(3)], "n": p.r.Int64N(7),
	}
	if p.r.IntN(8) == 0 {
		m.Header = &goamqp.MessageHeader{TTL: time.Duration(1+p.r.IntN(20)) * time.Second, Priority: 4}
		p.mortal[name] = true
	}
	if p.r.IntN(8) == 0 {
		m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": now().Add(time.Duration(p.r.IntN(20)) * time.Second)}
	}
	if p.r.IntN(10) == 0 {
		p.failOnce()
	}
	time.Sleep(time.Millisecond) // no two messages of one instant
	err := p.trySend(m)
	p.note("send %s %v %v: %v", name, m.ApplicationProperties["color"], m.ApplicationProperties["n"], err)
	if err != nil {
		p.gone[name] = true
	}
}

func (p *selectorPlayer) attach() {
	if len(p.clients) > 7 {
		return
	}
	c := &selectorClient{p: p, wish: wishes[p.r.IntN(len(wishes))], poked: new(atomic.Bool)}
	if p.r.IntN(4) == 0 {
		c.sub = emulator.DeadLetter
	}
	if p.r.IntN(4) == 0 {
		c.mode = emulator.ReceiveAndDelete
	}
	var s *filter.Selector
	if c.wish.text != "" {
		s = selector(p.t, c.wish.text)
	}
	var err error
	if c.c, err = p.q.NewSelectingConsumer(c.sub, c.mode, s, func() { c.poked.Store(true) }); err != nil {
		if !p.off {
			p.t.Errorf("attach %s: %v", c, err)
		}
		return
	}
	p.note("attach %s", c)
	p.clients = append(p.clients, c)
}

// any returns a client, or nil.
func (p *selectorPlayer) any() *selectorClient {
	if len(p.clients) == 0 {
		return nil
	}
	return p.clients[p.r.IntN(len(p.clients))]
}

func (p *selectorPlayer) detach() {
	if c := p.any(); c != nil {
		p.note("detach %s", c)
		c.c.Return(c.flight)
		c.c.Close()
		p.clients = slices.DeleteFunc(p.clients, func(x *selectorClient) bool { return x == c })
	}
}

func (p *selectorPlayer) grant() {
	if c := p.any(); c != nil {
		c.credit += 1 + p.r.IntN(5)
		p.note("%s has a credit of %d", c, c.credit)
		c.take()
		if p.r.IntN(6) == 0 { // these do not reach the wire
			n := len(c.flight)
			c.c.Return(c.flight)
			c.flight = nil
			c.credit += n
			c.poked.Store(true)
			p.note("%s returns %d", c, n)
		}
	}
}

func (p *selectorPlayer) withdraw() {
	if c := p.any(); c != nil {
		p.note("%s has no credit", c)
		c.credit = 0
		c.take()
	}
}

// heldOne picks a message that a client has.
func (p *selectorPlayer) heldOne() (*selectorClient, *got) {
	for range 8 {
		if c := p.any(); c != nil && len(c.held) > 0 {
			g := c.held[p.r.IntN(len(c.held))]
			if now().Before(g.until()) {
				return c, g
			}
		}
	}
	return nil, nil
}

func (p *selectorPlayer) settleOne() {
	c, g := p.heldOne()
	if c == nil {
		return
	}
	name := g.property("name").(string)
	s := emulator.Settlement{Outcome: emulator.Outcome(p.r.IntN(5))}
	if c.sub == emulator.DeadLetter && s.Outcome == emulator.DeadLetterOutcome {
		return
	}
	if s.Outcome != emulator.Complete && p.r.IntN(2) == 0 {
		s.Properties = p.properties("color", []string{"red", "blue", "green"}[p.r.IntN(3)])
	}
	if p.r.IntN(8) == 0 {
		p.failOnce()
	}
	done := newOutcome()
	err := c.c.Settle(g.d.Lock(), s, done)
	if err == nil {
		err = <-done
	}
	p.note("%s settles %s with %d %s: %v", c, name, s.Outcome, s.Properties, err)
	c.held = slices.DeleteFunc(c.held, func(x *got) bool { return x == g })
	if err != nil { // its lock runs on
		if !p.off && !errors.Is(err, errDisk) {
			p.t.Errorf("settle: %v", err)
		}
		return
	}
	p.gone[name] = s.Outcome == emulator.Complete
	delete(p.locked, name)
}

// rollBack settles in a transaction that comes to nothing. The client has forgotten the delivery.
func (p *selectorPlayer) rollBack() {
	c, g := p.heldOne()
	if c == nil || p.off {
		return
	}
	w := p.begin()
	if err := c.c.SettleIn(w.Transaction, g.d.Lock(), emulator.Settlement{Forgotten: true}); err != nil {
		p.t.Errorf("settle in a transaction: %v", err)
	}
	w.Rollback()
	p.note("%s rolls back %s", c, g.property("name"))
	delete(p.locked, g.property("name").(string))
}

func (p *selectorPlayer) pass() {
	d := time.Duration(p.r.IntN(7000)) * time.Millisecond
	wait(d)
	p.note("%s pass", d)
}

func (p *selectorPlayer) purge() {
	if p.off || p.blind || p.q.Options().EnablePartitioning {
		return
	}
	free := p.available(emulator.Main, wishes[0])
	if len(free) < 12 {
		return
	}
	done := newOutcome()
	if err := p.q.DeleteBatch(emulator.Main, 3, now().UnixMilli(), nil, nil, func(_ int, err error) { done <- err }); err != nil || <-done != nil {
		p.t.Errorf("purge: %v", err)
	}
	p.note("purge %v", free[:3])
	for _, name := range free[:3] {
		p.gone[name] = true
	}
}

func (p *selectorPlayer) fetchDeferred() {
	if p.off || p.blind {
		return
	}
	var seqs []int64
	for _, g := range p.peek() {
		if g.state() == int32(emulator.Deferred) {
			seqs = append(seqs, g.seq())
		}
	}
	if len(seqs) == 0 {
		return
	}
	gs, err := p.byNumber(emulator.Main, emulator.ReceiveAndDelete, seqs[p.r.IntN(len(seqs))])
	if err != nil {
		wantCode(p.t, "receive by number", err, emulator.CodeMessageNotFound) // it is locked, or has expired
		return
	}
	name := gs[0].property("name").(string)
	p.note("%s is received by its number", name)
	p.gone[name] = true
}

// takeExactly compares what a new client takes with what it should have.
func (p *selectorPlayer) takeExactly() {
	if p.blind || p.off {
		return
	}
	c := &selectorClient{p: p, wish: wishes[1+p.r.IntN(len(wishes)-1)]}
	r := p.selecting(c.wish.text)
	c.c, c.poked = r.c, &r.poked
	n := 1 + p.r.IntN(6)
	want := p.available(emulator.Main, c.wish)
	gs := r.drain(n)
	names := mapped(gs, func(g *got) string { return g.property("name").(string) })
	p.note("%s takes %v", c, names)
	equalSlices(p.t, "taken by "+c.String(), names, want[:min(n, len(want))]...)
	for _, g := range gs {
		c.have(g.d)
	}
	p.exact += len(gs)
	p.clients = append(p.clients, c)
	r.c.Take(nil, 0)
	if len(p.clients) > 8 {
		p.detach()
	}
}

func (p *selectorPlayer) browse() {
	if p.blind || p.off {
		return
	}
	w := wishes[p.r.IntN(len(wishes))]
	r := p.browser(emulator.Main, w.text)
	names := mapped(r.read(1+p.r.IntN(5)), func(g *got) string { return g.property("name").(string) })
	slices.Sort(names)
	want := p.list(emulator.Main, w, nil)
	slices.Sort(want)
	equalSlices(p.t, "browsed by "+w.text, names, want...)
	r.c.Close()
}

// blinden lets reads fail for a while.
func (p *selectorPlayer) blinden() {
	if p.r.IntN(2) == 0 {
		return
	}
	p.note("reads fail: %v", !p.blind)
	if !p.blind {
		p.blind = true
		p.j.setReads(errDisk, 0)
		return
	}
	p.j.setReads(nil, 0)
	wait(2 * time.Second) // what failed is tried again
	p.blind = false
}

// toggle takes the queue out of service, and in again, when the links attach anew.
func (p *selectorPlayer) toggle() {
	if !p.off && p.r.IntN(3) > 0 {
		return
	}
	p.off = !p.off
	p.note("out of service: %v", p.off)
	p.update(func(o *emulator.QueueOptions) {
		if o.Status = emulator.StatusActive; p.off {
			o.Status = emulator.StatusReceiveDisabled
		}
	})
	for _, c := range p.clients {
		c.poked.Store(true)
	}
}

func (p *selectorPlayer) restartIt() {
	if p.blind || p.r.IntN(4) > 0 {
		return
	}
	for len(p.clients) > 0 {
		p.detach()
	}
	synctest.Wait()
	p.note("restart")
	p.restart()
	p.locked = map[string]time.Time{}
}

// end takes what is left without selectors, and misses nothing.
func (p *selectorPlayer) end() {
	if p.t.Failed() {
		return
	}
	p.blind, p.off = false, false
	p.j.setReads(nil, 0)
	p.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
	for len(p.clients) > 0 {
		p.detach()
	}
	wait(time.Minute)
	left := map[string]bool{}
	for _, sub := range []emulator.SubQueue{emulator.Main, emulator.DeadLetter} {
		for from := int64(0); ; {
			gs := p.peekFrom(sub, from, 250)
			if len(gs) == 0 {
				break
			}
			for _, g := range gs {
				name := g.property("name").(string)
				if left[name] || p.gone[name] {
					p.t.Errorf("%s is there twice: %v, or although it is gone: %v", name, left[name], p.gone[name])
				}
				left[name] = true
				from = g.seq() + 1
			}
		}
	}
	for i := range p.sent {
		if name := fmt.Sprintf("m%d", i+1); !left[name] && !p.gone[name] && !p.mortal[name] {
			p.t.Errorf("%s is lost", name)
		}
	}
	p.verify(true)
}
