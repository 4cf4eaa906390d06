package emulator_test

import (
	"time"

	"minibus/emulator"
)

// look finds out the numbers that the model left open, and checks that they are the next ones (SEQ-2).
func (p *namespacePlayer) look() {
	p.a.all(func(q *queueModel) {
		last := p.on(q.path).q.LastSequenceNumber()
		if q.path == "in" { // which the test does not peek at
			q.last = last
			return
		}
		actual := map[string]*got{}
		for _, sub := range []emulator.SubQueue{emulator.Main, emulator.DeadLetter} {
			for _, g := range p.everything(q, sub) {
				actual[g.body()] = g
			}
		}
		for _, m := range q.messages {
			g := actual[m.body]
			if g == nil {
				continue
			}
			if m.seq == 0 {
				if m.seq = g.seq(); m.seq <= q.last || m.seq > last {
					p.t.Errorf("message %s of %s has number %d, not between %d and %d", m.body, q.path, m.seq, q.last, last)
				}
			}
			if m.first == unknown {
				m.first = annotation[int64](g, "x-opt-enqueue-sequence-number")
			}
		}
		q.last = last
	})
}

// everything peeks at a whole sub-queue, as far as that is allowed.
func (p *namespacePlayer) everything(q *queueModel, sub emulator.SubQueue) []*got {
	if q.path == "in" || q.path == "p" && sub == emulator.DeadLetter {
		return nil
	}
	var all []*got
	for from := int64(0); ; {
		gs := p.on(q.path).peekFrom(sub, from, 250)
		if len(gs) == 0 {
			return all
		}
		all = append(all, gs...)
		from = gs[len(gs)-1].seq() + 1
	}
}

// compare checks everything that can be seen against the model.
func (p *namespacePlayer) compare() {
	p.t.Helper()
	p.verify(len(p.log)%8 == 0)
	p.a.all(func(q *queueModel) {
		b := p.on(q.path)
		for _, sub := range []emulator.SubQueue{emulator.Main, emulator.DeadLetter} {
			if q.path == "in" || q.path == "p" && sub == emulator.DeadLetter {
				continue
			}
			have := mapped(p.everything(q, sub), func(g *got) string { return p.seen(g).details() })
			want := mapped(q.in(sub, func(*modelMessage) bool { return true }), (*modelMessage).details)
			for i := range max(len(have), len(want)) {
				if h, w := tail(have, i), tail(want, i); h != w {
					p.t.Errorf("queue %s, sub-queue %d, message %d:\nhave %s\nwant %s", q.path, sub, i, h, w)
					return
				}
			}
		}
		var want emulator.Counts
		for _, m := range q.messages {
			switch {
			case m.sub == emulator.DeadLetter:
				want.DeadLetter++
			case m.state == emulator.Scheduled:
				want.Scheduled++
			case q.options.ForwardTo != "" && m.ready():
				want.Transfer++
			default:
				want.Active++
				want.Deferred += int64(m.state) // 1 if it is
			}
		}
		have := b.q.Counts()
		have.SizeBytes = 0
		equal(p.t, "counts of "+q.path, have, want)
	})
	q := p.a.queues["s"]
	equalSlices(p.t, "sessions", p.on("s").sessions(true, time.Time{}, 0, 100), q.listed()...)
	for id, s := range q.sessions {
		want := s.state
		if want == "" {
			want = "none"
		}
		equal(p.t, "state of session "+id, p.on("s").stateOf(id), want)
	}
}

// seen holds the fields of a peeked message.
func (p *namespacePlayer) seen(g *got) *modelMessage {
	m := &modelMessage{
		body: g.body(), seq: g.seq(), state: emulator.State(g.state()), count: g.count(), enqueued: g.enqueued(), ttl: g.Header.TTL,
		session: g.Properties.GroupID, reason: g.property(emulator.DeadLetterReason),
	}
	m.mark, _ = g.property("mark").(int64)
	m.first, _ = g.Annotations["x-opt-enqueue-sequence-number"].(int64)
	m.source, _ = g.Annotations["x-opt-deadletter-source"].(string)
	if id, _ := g.Properties.MessageID.(string); len(id) < 32 { // not one that the broker made
		m.id = id
	}
	return m
}
