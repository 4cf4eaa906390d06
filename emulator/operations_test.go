package emulator_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// grid is the step in which the random test lets time pass. What fails at one step is tried again a second later,
// before the next.
const grid = 5 * time.Second

// player does random operations on a broker and on the model, and compares.
type player struct {
	*broker
	r     *rand.Rand
	m     *model
	held  []lockToken // tokens ever received, good and dead ones
	sent  int
	marks int64
	log   []string
}

// TestRandomOperations_AgainstTheModel plays several thousand operations on a few queues of different settings.
func TestRandomOperations_AgainstTheModel(t *testing.T) {
	r := emulator.NewRandom(t)
	for i := range 8 {
		o := emulator.QueueOptions{
			LockDuration: 6 * grid, MaxDeliveryCount: 3, DeadLetteringOnExpiration: i%2 == 0,
			DefaultMessageTimeToLive: time.Duration(i%3) * 20 * grid,
		}
		no := emulator.Options{}
		if i%4 > 1 {
			no = small
		}
		bubbleWith(t, no, o, func(b *broker) {
			p := &player{broker: b, r: r, m: &model{options: o}}
			for range 1000 {
				p.step()
				if p.compare(); t.Failed() {
					for _, line := range p.log[max(0, len(p.log)-20):] {
						t.Log(line)
					}
					return
				}
			}
			if p.m.last < 200 {
				t.Errorf("only %d numbers were given: the test hardly did anything", p.m.last)
			}
		})
	}
}

func (p *player) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf("%s: ", now().Format("15:04:05"))+fmt.Sprintf(format, args...))
}

// failing decides whether the next commit fails, and arms the journal.
func (p *player) failing() bool {
	if p.r.IntN(6) > 0 {
		return false
	}
	p.failOnce()
	return true
}

// step does one random operation.
func (p *player) step() {
	steps := []func(){
		p.sendSome, p.sendSome, p.scheduleSome, p.cancelSome, p.lockSome, p.lockSome, p.lockSome, p.deleteSome,
		p.fetchSome, p.settleSome, p.settleSome, p.settleSome, p.settleSome, p.renewSome, p.passTime, p.passTime, p.restartIt,
	}
	i := p.r.IntN(len(steps))
	if len(p.m.messages) > 60 {
		p.deleteFrom(emulator.SubQueue(p.r.IntN(2)), 20) // most of all, the dead-letter queue fills up
		i = max(i, 3)                                    // enough of sending
	}
	steps[i]()
	synctest.Wait() // a commit that fails takes along what is appended before it is over
	p.j.FailNext(0, nil)
}

// some makes up to three messages and tells what the model shall do with them.
func (p *player) some() (ms []*goamqp.Message, store func() []int64) {
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

func (p *player) sendSome() {
	ms, store := p.some()
	fail := p.failing()
	err := p.trySend(ms...)
	p.note("send %d, failing %v: %v", len(ms), fail, err)
	if p.wantFailure(fail, err) {
		return
	}
	store()
}

func (p *player) scheduleSome() {
	ms, store := p.some()
	fail := p.failing()
	done := newOutcome()
	seqs, err := p.q.Schedule(p.encodeAll(ms), done)
	if err == nil {
		err = <-done
	}
	p.note("schedule %v, failing %v: %v", seqs, fail, err)
	if p.wantFailure(fail, err) {
		return
	}
	equalSlices(p.t, "numbers of scheduled messages", seqs, store()...)
}

// wantFailure checks that an operation failed if and only if its commit did.
func (p *player) wantFailure(failed bool, err error) bool {
	p.t.Helper()
	if failed != errors.Is(err, errDisk) || !failed && err != nil {
		p.t.Errorf("failing commit: %v; error: %v", failed, err)
	}
	return failed || err != nil
}

// numbers picks up to three numbers of messages of a kind, and now and then one of another.
func (p *player) numbers(sub emulator.SubQueue, state emulator.State) []int64 {
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
func (p *player) all(sub emulator.SubQueue, seqs []int64, f func(*modelMessage) bool) (found []*modelMessage, ok bool) {
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

func (p *player) cancelSome() {
	seqs := p.numbers(emulator.Main, emulator.Scheduled)
	found, ok := p.all(emulator.Main, seqs, func(m *modelMessage) bool { return m.state == emulator.Scheduled })
	fail := len(seqs) > 0 && ok && p.failing()
	err := p.cancel(seqs...)
	p.note("cancel %v, failing %v: %v", seqs, fail, err)
	if !ok {
		wantCode(p.t, "cancel", err, emulator.CodeMessageNotFound)
		return
	}
	if p.wantFailure(fail, err) {
		return
	}
	for _, m := range found {
		p.m.remove(m)
	}
}

func (p *player) anySub() emulator.SubQueue {
	if p.r.IntN(4) == 0 {
		return emulator.DeadLetter
	}
	return emulator.Main
}

// ready is what a receive of n messages should get.
func (p *player) ready(sub emulator.SubQueue, n int) []*modelMessage {
	ms := p.m.in(sub, (*modelMessage).ready)
	return ms[:min(n, len(ms))]
}

func (p *player) lockSome() {
	sub, n := p.anySub(), 1+p.r.IntN(4)
	gs, want := p.receiveFrom(sub, emulator.PeekLock, n), p.ready(sub, n)
	p.note("lock %d of %d: %v", n, sub, mapped(gs, (*got).body))
	p.deliver(gs, want)
}

// deliver checks what was received with locks and locks it in the model.
func (p *player) deliver(gs []*got, want []*modelMessage) {
	equalSlices(p.t, "received with locks", mapped(gs, (*got).seq), mapped(want, func(m *modelMessage) int64 { return m.seq })...)
	if p.t.Failed() {
		return
	}
	for i, m := range want {
		equal(p.t, "body", gs[i].body(), m.body)
		equal(p.t, "delivery count", gs[i].count(), m.count)
		p.m.lock(m, gs[i].token(), now())
		equal(p.t, "locked until", gs[i].until(), m.until)
		p.held = append(p.held, m.token)
	}
}

func (p *player) deleteSome() { p.deleteFrom(p.anySub(), 1+p.r.IntN(4)) }

func (p *player) deleteFrom(sub emulator.SubQueue, n int) {
	want := p.ready(sub, n)
	fail := len(want) > 0 && p.failing()
	r := p.receiver(sub, emulator.ReceiveAndDelete)
	ds := r.pull(n)
	r.c.Take(nil, 0)
	gs := p.written(ds)
	if fail {
		p.note("delete %d of %d, failing", n, sub)
		equal(p.t, "received though the removal failed", len(gs), 0)
		r.c.Close()
		return
	}
	back := p.r.IntN(len(ds) + 1) // these do not reach the wire
	r.c.Return(ds[len(ds)-back:])
	r.c.Close()
	wait(0)
	p.note("delete %d of %d: %v, %d returned", n, sub, mapped(gs, (*got).body), back)
	equalSlices(p.t, "received and deleted", mapped(gs, (*got).body), mapped(want, func(m *modelMessage) string { return m.body })...)
	for _, m := range want[:max(0, len(want)-back)] {
		p.m.remove(m)
	}
}

func (p *player) fetchSome() {
	sub := p.anySub()
	seqs := p.numbers(sub, emulator.Deferred)
	mode := emulator.ReceiveMode(p.r.IntN(2))
	found, ok := p.all(sub, seqs, func(m *modelMessage) bool { return m.state == emulator.Deferred && !m.locked })
	expired := slices.DeleteFunc(slices.Clone(found), func(m *modelMessage) bool { return !m.expired(now()) })
	ok = ok && len(expired) == 0
	fail := len(seqs) > 0 && (len(expired) > 0 || ok && mode == emulator.ReceiveAndDelete) && p.failing()
	gs, err := p.byNumber(sub, mode, seqs...)
	wait(0)
	p.note("fetch %v of %d, mode %d, failing %v: %v", seqs, sub, mode, fail, err)
	switch {
	case !ok:
		wantCode(p.t, "receive by number", err, emulator.CodeMessageNotFound)
		for _, m := range expired {
			if !fail {
				p.m.expire(m)
			}
		}
	case p.wantFailure(fail, err):
	case mode == emulator.PeekLock:
		p.deliver(gs, found)
	default:
		for _, m := range found {
			p.m.remove(m)
		}
	}
}

// tokens picks up to three tokens, most of which are good, and the messages that they lock; ok is false if one is
// dead or named twice.
func (p *player) tokens(sub emulator.SubQueue) (tokens []lockToken, found []*modelMessage, ok bool) {
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

func (p *player) settleSome() {
	sub := p.anySub()
	tokens, found, ok := p.tokens(sub)
	if !ok && slices.ContainsFunc(p.m.messages, func(m *modelMessage) bool { return m.locked && m.sub != sub && m.token == tokens[len(tokens)-1] }) {
		return // it is good after all, in another sub-queue
	}
	o := emulator.Outcome(p.r.IntN(5))
	var properties []byte
	mark := int64(0)
	if p.r.IntN(2) == 0 {
		p.marks++
		mark, properties = p.marks, p.properties("mark", p.marks)
	}
	writes := o != emulator.Release && (o != emulator.Abandon || sub == emulator.Main || mark != 0)
	refused := ok && o == emulator.DeadLetterOutcome && sub == emulator.DeadLetter && len(tokens) > 0
	fail := ok && writes && !refused && len(tokens) > 0 && p.failing()
	err := p.trySettle(o, properties, tokens...)
	wait(0)
	p.note("settle %v with %d, mark %d, failing %v: %v", mapped(found, func(m *modelMessage) string { return m.body }), o, mark, fail, err)
	switch {
	case !ok:
		wantCode(p.t, "settle", err, emulator.CodeMessageLockLost)
	case refused:
		wantCode(p.t, "dead-letter a dead letter", err, emulator.CodeNotAllowed)
		for _, m := range found {
			p.m.unlock(m, now())
		}
	case p.wantFailure(fail, err):
	default:
		for _, m := range found {
			p.m.settle(m, o, mark, now())
		}
	}
}

func (p *player) renewSome() {
	tokens, found, ok := p.tokens(p.anySub())
	untils, err := p.q.Renew(tokens)
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
func (p *player) passTime() {
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

func (p *player) restartIt() {
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
func (p *player) compare() {
	p.t.Helper()
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

func (p *player) compareSub(sub emulator.SubQueue) {
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
