package emulator_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

// accept notes that messages are stored.
func (s *clients) accept(bodies ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range bodies {
		s.accepted[body] = true
	}
}

// remove notes that a message is gone for good. Of a session, later ones must not go first (SESS-20). Completions
// call it, which run in the order of the commits.
func (s *clients) remove(body string, inSession bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed[body]++
	if !inSession {
		return
	}
	id, number, _ := strings.Cut(body, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		s.t.Errorf("message %q in a session: %v", body, err)
	}
	if n <= s.last[id] {
		s.t.Errorf("message %d of session %s was completed after message %d", n, id, s.last[id])
	}
	s.last[id] = n
}

// more says whether more is to be sent.
func (s *clients) more() bool {
	s.ops.Add(1)
	return s.sends.Add(1) <= s.limit && !s.t.Failed()
}

func (s *clients) encode(ms ...*goamqp.Message) []message.Message {
	in := make([]message.Message, len(ms))
	for i, m := range ms {
		in[i] = encode(s.t, m)
	}
	return in
}

// send sends one batch and says whether it was accepted.
func (s *clients) send(path string, ms ...*goamqp.Message) bool {
	done := newOutcome()
	if err := s.queue(path).Send(s.encode(ms...), done); err != nil {
		return false
	}
	return <-done == nil
}

// sendOften sends a message several times at once and says whether it was accepted.
func (s *clients) sendOften(path string, m *goamqp.Message, n int) (accepted bool) {
	outcomes := make(chan bool, n)
	for range n {
		go func() { outcomes <- s.send(path, m) }()
	}
	for range n {
		accepted = <-outcomes || accepted
	}
	return accepted
}

// sendSessions sends numbered messages to sessions that no other sender uses, again and again until each is accepted,
// and some of them twice.
func (s *clients) sendSessions(sender int, r *rand.Rand) {
	var next [5]int
	for s.more() {
		k := r.IntN(len(next))
		id := fmt.Sprintf("s%d-%d", sender, k)
		next[k]++
		m := inSession(id, fmt.Sprintf("%s:%d", id, next[k]))
		m.Properties.MessageID = string(m.GetData())
		if r.IntN(20) == 0 {
			m.Header = &goamqp.MessageHeader{TTL: time.Duration(1+r.IntN(10)) * time.Second}
		}
		for !s.sendOften("in", m, 1+r.IntN(5)/4) {
			s.ops.Add(1)
			time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
		}
		s.accept(string(m.GetData()))
		if r.IntN(5) == 0 {
			s.send("in", m)
		}
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	}
}

// sendPlain sends batches, each again and again until it is accepted. Some of their messages expire, and some are scheduled.
func (s *clients) sendPlain(sender int, r *rand.Rand) {
	for n := 0; s.more(); n++ {
		var batch []*goamqp.Message
		var names []string
		for i := range 1 + r.IntN(4) {
			m := text(fmt.Sprintf("p%d-%d-%d", sender, n, i))
			switch r.IntN(6) {
			case 0:
				m.Header = &goamqp.MessageHeader{TTL: time.Duration(r.IntN(8000)) * time.Millisecond}
			case 1:
				m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": soon(time.Duration(r.IntN(8000)) * time.Millisecond)}
			}
			batch, names = append(batch, m), append(names, string(m.GetData()))
		}
		for !s.send("plain", batch...) { // a refused message that is stored all the same comes twice
			s.ops.Add(1)
			time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
		}
		s.accept(names...)
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	}
}

// link is a consumer with a flag that something may have changed for it.
type link struct {
	s    *clients
	g    *generation
	q    *emulator.Entity
	c    *emulator.Consumer
	poke chan struct{}
}

func (s *clients) newLink(path string) *link {
	g := s.gen()
	if isClosed(g.over) { // the next one comes soon
		time.Sleep(time.Millisecond)
		g = s.gen()
	}
	return &link{s: s, g: g, q: g.queue(s.t, path), poke: make(chan struct{}, 1)}
}

func (l *link) notify() {
	select {
	case l.poke <- struct{}{}:
	default:
	}
}

// take returns up to n messages that can be handled, waiting for the first a little while.
func (l *link) take(n int, quit chan struct{}) []*emulator.Delivery {
	ds := l.c.Take(nil, n)
	if len(ds) == 0 {
		select {
		case <-l.poke:
			ds = l.c.Take(nil, n)
		case <-time.After(3 * time.Second):
		case <-l.g.over:
		case <-quit:
		}
	}
	l.c.Take(nil, 0)
	var ready []*emulator.Delivery
	for _, d := range ds {
		for {
			ok, gone := d.Ready()
			if ok {
				ready = append(ready, d)
			}
			if ok || gone {
				break
			}
			<-l.poke
		}
	}
	return ready
}

func (l *link) body(d *emulator.Delivery) string { return decode(l.s.t, d.Append(nil), d).body() }

// settle settles one delivery and waits. A completed message is noted by the completion.
func (l *link) settle(d *emulator.Delivery, o emulator.Outcome, inSession bool) bool {
	body, done := l.body(d), newOutcome()
	err := l.c.Settle(d.Lock(), emulator.Settlement{Outcome: o}, emulator.CompletionFunc(func(err error) {
		if err == nil && o == emulator.Complete {
			l.s.remove(body, inSession)
		}
		done <- err
	}))
	return err == nil && <-done == nil
}

// acceptNext waits for a session; nil says that there was none in time.
func (l *link) acceptNext(r *rand.Rand, quit chan struct{}) bool {
	granted := make(chan *emulator.Consumer, 1)
	cancel, err := l.q.Sessions().AcceptNext(emulator.Accept{Notify: l.notify, Lost: func(error) { l.notify() }},
		func(c *emulator.Consumer) { granted <- c })
	if err != nil {
		time.Sleep(100 * time.Millisecond)
		return false
	}
	select {
	case l.c = <-granted:
		return true
	case <-time.After(time.Duration(r.IntN(3000)) * time.Millisecond):
	case <-l.g.over:
	case <-quit:
	}
	cancel()
	select {
	case c := <-granted: // too late
		c.Close()
	default:
	}
	return false
}

// workSessions handles sessions, one after the other and each in order.
func (s *clients) workSessions(r *rand.Rand, quit chan struct{}) {
	for !isClosed(quit) {
		s.ops.Add(1)
		l := s.newLink("work")
		if !l.acceptNext(r, quit) {
			continue
		}
		for range 1 + r.IntN(20) {
			ds := l.take(1, quit)
			if len(ds) == 0 || !s.workOne(l, ds[0], r) {
				break
			}
		}
		l.c.Close()
	}
}

// workOne handles one message of a session and says whether to go on with the session.
func (s *clients) workOne(l *link, d *emulator.Delivery, r *rand.Rand) bool {
	s.ops.Add(1)
	switch r.IntN(20) {
	case 0:
		return l.settle(d, emulator.Abandon, true)
	case 1:
		return l.settle(d, emulator.DeadLetterOutcome, true)
	case 2:
		if r.IntN(2) == 0 { // it is on its way back when the session is closed
			_ = l.c.Settle(d.Lock(), emulator.Settlement{Outcome: emulator.Abandon}, newOutcome())
		}
		return false // the close gives back what is not settled
	case 3:
		time.Sleep(6 * time.Second) // the lock ends
		return l.settle(d, emulator.Complete, true)
	case 4:
		_, err := l.c.RenewSession()
		return err == nil && l.settle(d, emulator.Complete, true)
	case 5:
		return s.setState(l, r) && l.settle(d, emulator.Complete, true)
	case 6, 7, 8, 9:
		return s.replace(l, d, r)
	}
	return l.settle(d, emulator.Complete, true)
}

func (s *clients) setState(l *link, r *rand.Rand) bool {
	id, _ := l.c.SessionID()
	state, done := strconv.Itoa(r.IntN(1000)), newOutcome()
	err := l.c.SetSessionState([]byte(state), emulator.CompletionFunc(func(err error) {
		if err == nil {
			s.mu.Lock()
			s.states[id] = state
			s.mu.Unlock()
		}
		done <- err
	}))
	return err == nil && <-done == nil
}

// replace completes a message and sends others to "out", all in one transaction.
func (s *clients) replace(l *link, d *emulator.Delivery, r *rand.Rand) bool {
	t := l.g.ns.Begin(true, "work")
	body := l.body(d)
	if err := t.Settle(l.q, []lockToken{d.Token()}, emulator.Settlement{}); err != nil {
		return false
	}
	var names []string
	out := l.g.queue(s.t, "out")
	var err error
	for range 1 + r.IntN(3) {
		name := fmt.Sprintf("x%d", s.products.Add(1))
		if err == nil {
			err = t.Send(out, s.encode(withKey(body[:3], name)))
		}
		names = append(names, name)
	}
	if err != nil || r.IntN(5) == 0 {
		t.Rollback()
		return l.settle(d, emulator.Complete, true) && err == nil
	}
	if r.IntN(10) == 0 {
		time.Sleep(time.Duration(r.IntN(6000)) * time.Millisecond)
	}
	done := newOutcome()
	if err := t.Commit(emulator.CompletionFunc(func(err error) {
		if err == nil {
			s.remove(body, true)
			s.accept(names...)
		}
		done <- err
	})); err != nil {
		return false
	}
	return <-done == nil
}

// workPlain handles messages of "plain" in every way.
func (s *clients) workPlain(r *rand.Rand, quit chan struct{}) {
	for !isClosed(quit) {
		l := s.newLink("plain")
		var err error
		if l.c, err = l.q.NewConsumer(emulator.Main, emulator.PeekLock, l.notify); err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for range 10 {
			for _, d := range l.take(1+r.IntN(5), quit) {
				s.ops.Add(1)
				switch o := emulator.Outcome(r.IntN(10)); o {
				case emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome, emulator.Release:
					l.settle(d, o, false)
				case 9: // given back before it reached the wire, or kept until its lock ends
					if r.IntN(2) == 0 {
						l.c.Return([]*emulator.Delivery{d})
					}
				default:
					l.settle(d, emulator.Complete, false)
				}
			}
		}
		l.c.Close()
	}
}

// fetchDeferred completes what was deferred.
func (s *clients) fetchDeferred() {
	l := s.newLink("plain")
	var msgs [][]byte
	done := newOutcome()
	if err := l.q.Peek(emulator.Peek{Max: 250, OmitBody: true}, func(ds []*emulator.Delivery, err error) { msgs = encoded(ds); done <- err }); err != nil {
		return
	}
	<-done
	for _, raw := range msgs {
		g := decode(s.t, raw, nil)
		if g.state() != int32(emulator.Deferred) {
			continue
		}
		err := l.q.ReceiveDeferred(emulator.Main, []int64{g.seq()}, emulator.ReceiveAndDelete, nil, nil, func(ds []*emulator.Delivery, err error) {
			for _, d := range ds {
				s.remove(l.body(d), false)
			}
			done <- err
		})
		if err == nil {
			<-done
		}
	}
}

// deletePlain receives and deletes.
func (s *clients) deletePlain(path string, sub emulator.SubQueue, r *rand.Rand, quit chan struct{}) {
	for !isClosed(quit) {
		l := s.newLink(path)
		var err error
		if l.c, err = l.q.NewConsumer(sub, emulator.ReceiveAndDelete, l.notify); err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for range 5 {
			for _, d := range l.take(1+r.IntN(8), quit) {
				s.ops.Add(1)
				body := l.body(d)
				if r.IntN(8) > 0 {
					s.remove(body, false)
					continue
				}
				l.c.Return([]*emulator.Delivery{d})
				s.giveBack(body, l.g)
			}
		}
		l.c.Close()
		time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
	}
}

// giveBack notes that a message was given back. If the process had ended before, no client took it.
func (s *clients) giveBack(body string, g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isClosed(g.over) {
		g = &generation{crashed: true}
	}
	s.back[body] = g
}

// browse looks at everything all the time.
func (s *clients) browse(r *rand.Rand, quit chan struct{}) {
	for !isClosed(quit) {
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		for path := range clientsQueues {
			s.ops.Add(1)
			q := s.queue(path)
			if c := q.Counts(); min(c.Active, c.DeadLetter, c.Scheduled, c.Deferred, c.Transfer, c.SizeBytes) < 0 || c.Deferred > c.Active {
				s.t.Errorf("counts of %s: %+v", path, c)
			}
			_ = q.Peek(emulator.Peek{Max: 1 + r.IntN(20), Sub: emulator.SubQueue(r.IntN(2))}, func([]*emulator.Delivery, error) {})
			_, _ = q.Sessions().IDs(r.IntN(2) == 0, 0, 0, 100)
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
