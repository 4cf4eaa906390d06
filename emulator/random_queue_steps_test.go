package emulator_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func (p *queuePlayer) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf("%s: ", now().Format("15:04:05"))+fmt.Sprintf(format, args...))
}

// failing decides whether the next commit fails, and arms the journal.
func (p *queuePlayer) failing() bool {
	if p.r.IntN(6) > 0 {
		return false
	}
	p.failOnce()
	return true
}

// some makes up to three messages and tells what the model shall do with them.
func (p *queuePlayer) some() (ms []*goamqp.Message, store func() []int64) {
	type plan struct {
		body string
		ttl  time.Duration
		due  time.Time
	}
	var plans []plan
	for range 1 + p.r.IntN(3) {
		p.sent++
		x := plan{body: fmt.Sprintf("m%d", p.sent)}
		m := text(x.body)
		if p.r.IntN(3) == 0 {
			x.ttl = time.Duration(1+p.r.IntN(30)) * grid
			m.Header = &goamqp.MessageHeader{TTL: x.ttl}
		}
		if p.r.IntN(3) == 0 {
			x.due = now().Add(time.Duration(p.r.IntN(20)-2) * grid)
			m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": x.due}
		}
		plans, ms = append(plans, x), append(ms, m)
	}
	return ms, func() (seqs []int64) {
		for _, x := range plans {
			seqs = append(seqs, p.m.send(x.body, x.ttl, x.due, now()).seq)
		}
		return seqs
	}
}

// wantFailure checks that an operation failed if and only if its commit did.
func (p *queuePlayer) wantFailure(failed bool, err error) bool {
	p.t.Helper()
	if failed != errors.Is(err, errDisk) || !failed && err != nil {
		p.t.Errorf("failing commit: %v; error: %v", failed, err)
	}
	return failed || err != nil
}

// numbers picks up to three numbers of messages of a kind, and now and then one of another.
func (p *queuePlayer) numbers(sub emulator.SubQueue, state emulator.State) []int64 {
	var seqs []int64
	for _, m := range p.m.in(sub, func(m *modelMessage) bool { return m.state == state }) {
		if p.r.IntN(4) == 0 && len(seqs) < 3 {
			seqs = append(seqs, m.seq)
		}
	}
	if p.r.IntN(8) == 0 {
		seqs = append(seqs, p.r.Int64N(p.m.last+2))
	}
	p.r.Shuffle(len(seqs), func(i, j int) { seqs[i], seqs[j] = seqs[j], seqs[i] })
	return seqs
}

// all finds messages by number; ok is false if one is missing, not as f wants it, or named twice.
func (p *queuePlayer) all(sub emulator.SubQueue, seqs []int64, f func(*modelMessage) bool) (found []*modelMessage, ok bool) {
	ok = true
	for _, s := range seqs {
		m := p.m.find(sub, s, f)
		if m == nil || slices.Contains(found, m) {
			ok = false
			continue
		}
		found = append(found, m)
	}
	return found, ok
}

func (p *queuePlayer) anySub() emulator.SubQueue {
	if p.r.IntN(4) == 0 {
		return emulator.DeadLetter
	}
	return emulator.Main
}

// ready returns the messages that a receive of n should get.
func (p *queuePlayer) ready(sub emulator.SubQueue, n int) []*modelMessage {
	ms := p.m.in(sub, (*modelMessage).ready)
	return ms[:min(n, len(ms))]
}

// tokens picks up to three tokens, most of which are good, and the messages that they lock; ok is false if one is
// dead or named twice.
func (p *queuePlayer) tokens(sub emulator.SubQueue) (tokens []lockToken, found []*modelMessage, ok bool) {
	ok = true
	for _, m := range p.m.in(sub, func(m *modelMessage) bool { return m.locked }) {
		if p.r.IntN(3) > 0 && len(tokens) < 3 {
			tokens, found = append(tokens, m.token), append(found, m)
		}
	}
	if len(p.held) > 0 && p.r.IntN(10) == 0 {
		t := p.held[p.r.IntN(len(p.held))]
		i := slices.IndexFunc(p.m.messages, func(m *modelMessage) bool { return m.locked && m.token == t && m.sub == sub })
		tokens = append(tokens, t)
		if i >= 0 && !slices.Contains(found, p.m.messages[i]) {
			found = append(found, p.m.messages[i])
		} else {
			ok = false
		}
	}
	return tokens, found, ok
}

func (p *queuePlayer) renewSome() {
	tokens, found, ok := p.tokens(p.anySub())
	untils, err := p.q.Renew(tokens, nil)
	p.note("renew %v: %v", mapped(found, func(m *modelMessage) string { return m.body }), err)
	if err != nil {
		wantCode(p.t, "renew", err, emulator.CodeMessageLockLost)
	}
	if err == nil && !ok && len(tokens) > 0 {
		// The extra token may be good in the other sub-queue, or be named twice, which does no harm.
		found = slices.DeleteFunc(slices.Clone(p.m.messages), func(m *modelMessage) bool { return !m.locked || !slices.Contains(tokens, m.token) })
		ok = len(found) > 0
	}
	equal(p.t, "renewed", err == nil, ok)
	if err != nil {
		return
	}
	for _, m := range found {
		m.until = now().Add(p.m.options.LockDuration)
	}
	for _, u := range untils {
		equal(p.t, "renewed until", u, now().Add(p.m.options.LockDuration).UnixMilli())
	}
}

// passTime lets some steps of the grid pass; at one of them the commits may fail.
func (p *queuePlayer) passTime() {
	steps := 1 + p.r.IntN(6)
	start := now()
	broken := time.Time{}
	if steps > 1 && p.r.IntN(3) == 0 {
		broken = start.Add(time.Duration(1+p.r.IntN(steps-1)) * grid)
		wait(broken.Sub(start) - time.Millisecond)
		p.failOnce()
		wait(time.Millisecond)
		p.j.FailNext(0, nil)
	}
	to := start.Add(time.Duration(steps) * grid)
	wait(to.Sub(now()))
	p.note("%d steps pass, broken at %s", steps, broken.Format("15:04:05"))
	p.m.advance(to, broken)
}

func (p *queuePlayer) restartIt() {
	if p.r.IntN(3) > 0 {
		return
	}
	down := time.Duration(p.r.IntN(5)) * grid
	p.stop()
	time.Sleep(down)
	p.start()
	wait(0)
	p.note("restart after %s", down)
	p.m.restart(now())
}

// compare checks everything that can be seen of the queue against the model.
func (p *queuePlayer) compare() {
	p.t.Helper()
	p.verify(len(p.log)%8 == 0)
	p.compareSub(emulator.Main)
	p.compareSub(emulator.DeadLetter)
	var want emulator.Counts
	for _, m := range p.m.messages {
		switch {
		case m.sub == emulator.DeadLetter:
			want.DeadLetter++
		case m.state == emulator.Scheduled:
			want.Scheduled++
		case m.state == emulator.Deferred:
			want.Deferred++
			want.Active++
		default:
			want.Active++
		}
	}
	p.wantCounts(want.Active, want.DeadLetter, want.Scheduled, want.Deferred)
	equal(p.t, "last number", p.q.LastSequenceNumber(), p.m.last)
}

func (p *queuePlayer) compareSub(sub emulator.SubQueue) {
	p.t.Helper()
	want := p.m.in(sub, func(*modelMessage) bool { return true })
	var have []*modelMessage
	for from := int64(0); ; {
		gs := p.peekFrom(sub, from, 250)
		if len(gs) == 0 {
			break
		}
		for _, g := range gs {
			mark, _ := g.property("mark").(int64)
			have = append(have, &modelMessage{
				body: g.body(), seq: g.seq(), state: emulator.State(g.state()), count: g.count(),
				enqueued: g.enqueued(), ttl: g.Header.TTL, mark: mark, reason: g.property(emulator.DeadLetterReason),
			})
		}
		from = gs[len(gs)-1].seq() + 1
	}
	h, w := mapped(have, (*modelMessage).String), mapped(want, (*modelMessage).String)
	if !slices.Equal(h, w) {
		p.t.Errorf("sub-queue %d differs", sub)
		for i := range max(len(h), len(w)) {
			if i >= len(h) || i >= len(w) || h[i] != w[i] {
				p.t.Errorf("first difference, message %d:\nhave %q\nwant %q", i, tail(h, i), tail(w, i))
				return
			}
		}
	}
}

// tail returns the first of the strings from i on, if there is one.
func tail(s []string, i int) string {
	if i >= len(s) {
		return "nothing"
	}
	return s[i]
}
