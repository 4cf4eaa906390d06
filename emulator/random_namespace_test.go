package emulator_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// modelPaths are the queues of a namespaceModel:
//
//	in (duplicate detection) ──► s (sessions)     p (plain) ── dead letters ──► e
//	   └── dead letters ──► d (duplicate detection)
var modelPaths = []string{"in", "s", "p", "d", "e"}

var modelOptions = map[string]emulator.QueueOptions{
	"in": {RequiresDuplicateDetection: true, DuplicateDetectionWindow: 10 * grid, ForwardTo: "s", ForwardDeadLetteredMessagesTo: "d"},
	"s":  {RequiresSession: true, LockDuration: 6 * grid, MaxDeliveryCount: 3, DeadLetteringOnExpiration: true, DefaultMessageTimeToLive: 40 * grid},
	"p":  {LockDuration: 6 * grid, MaxDeliveryCount: 3, DeadLetteringOnExpiration: true, ForwardDeadLetteredMessagesTo: "e"},
	"d":  {RequiresDuplicateDetection: true, DuplicateDetectionWindow: 20 * grid, LockDuration: 6 * grid, MaxDeliveryCount: 3},
	"e":  {LockDuration: 6 * grid, MaxDeliveryCount: 3, DefaultMessageTimeToLive: 30 * grid},
}

// namespacePlayer does random operations on a broker of several queues and on the model, and compares.
type namespacePlayer struct {
	*broker
	r     *rand.Rand
	a     *namespaceModel
	sent  int
	marks int64
	log   []string
}

// TestRandom_NamespaceAsItsModel plays operations on queues with sessions, duplicate detection, time to live,
// forwards and transactions, while commits fail and the broker is restarted.
func TestRandom_NamespaceAsItsModel(t *testing.T) {
	r := emulator.NewRandom(t)
	for _, no := range []emulator.Options{{}, small} {
		bubbleWith(t, no, emulator.QueueOptions{}, func(b *broker) {
			p := &namespacePlayer{broker: b, r: r, a: newNamespaceModel(modelOptions)}
			for _, path := range modelPaths {
				b.create(path, modelOptions[path])
			}
			for range operations(t) / 2 {
				p.step()
				if p.compare(); t.Failed() {
					for _, line := range p.log[max(0, len(p.log)-25):] {
						t.Log(line)
					}
					return
				}
			}
			if p.sent < operations(t)/20 {
				t.Errorf("only %d messages were sent", p.sent)
			}
		})
	}
}

func (p *namespacePlayer) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf("%s: ", now().Format("15:04:05"))+fmt.Sprintf(format, args...))
}

func (p *namespacePlayer) step() {
	steps := []func(){
		p.send, p.send, p.send, p.accept, p.accept, p.takeSession, p.takeSession, p.takeSession, p.closeSession, p.setState,
		p.renewSession, p.lock, p.lock, p.settle, p.settle, p.settle, p.settle, p.fetch, p.cancel, p.begin, p.sendInWork, p.sendInWork,
		p.settleInWork, p.settleInWork, p.settleInWork, p.commit, p.rollback, p.pass, p.pass, p.restartAll, p.clear,
	}
	steps[p.r.IntN(len(steps))]()
	synctest.Wait() // what fails takes along what comes behind it
	p.j.FailNext(0, nil)
	p.a.forward(now())
	p.look()
}

// failing decides whether the commits of the operation fail, and arms the journal.
func (p *namespacePlayer) failing(may bool) bool {
	if !may || p.r.IntN(6) > 0 {
		return false
	}
	p.j.FailNext(1<<30, errDisk)
	return true
}

func (p *namespacePlayer) pick(paths ...string) *queueModel {
	return p.a.queues[paths[p.r.IntN(len(paths))]]
}

// message makes a message and what the model knows of it.
func (p *namespacePlayer) message() (*goamqp.Message, *modelMessage) {
	p.sent++
	x := &modelMessage{body: fmt.Sprintf("m%d", p.sent)}
	m := text(x.body)
	m.Properties = &goamqp.MessageProperties{}
	if p.r.IntN(3) == 0 {
		x.id = fmt.Sprintf("id%d", p.r.IntN(8))
		m.Properties.MessageID = x.id
	}
	if p.r.IntN(8) > 0 {
		x.session = ptr([]string{"", "a", "b", "c"}[p.r.IntN(4)])
		m.Properties.GroupID = x.session
	}
	if p.r.IntN(4) == 0 {
		x.ttl = time.Duration(1+p.r.IntN(30)) * grid
		m.Header = &goamqp.MessageHeader{TTL: x.ttl}
	}
	if p.r.IntN(5) == 0 {
		x.due = now().Add(time.Duration(p.r.IntN(20)-2) * grid)
		m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": x.due}
	}
	return m, x
}

// batch makes up to three messages; wrong says that one lacks the session id that the queue wants.
func (p *namespacePlayer) batch(q *queueModel) (ms []*goamqp.Message, xs []*modelMessage, wrong bool) {
	for range 1 + p.r.IntN(3) {
		m, x := p.message()
		ms, xs = append(ms, m), append(xs, x)
		wrong = wrong || q.options.RequiresSession && x.session == nil
	}
	return ms, xs, wrong
}

func bodiesOf(xs []*modelMessage) []string {
	return mapped(xs, func(m *modelMessage) string { return m.body })
}

func (p *namespacePlayer) send() {
	q := p.pick(modelPaths...)
	ms, xs, wrong := p.batch(q)
	fail := p.failing(!wrong)
	err := p.on(q.path).trySend(ms...)
	p.note("send %v to %s, failing %v: %v", bodiesOf(xs), q.path, fail, err)
	if wrong {
		wantCode(p.t, "send without a session id", err, emulator.CodeNotAllowed)
		return
	}
	if p.wantFailure(fail, err) {
		return
	}
	for _, x := range xs {
		q.store(x, now())
	}
}

// wantFailure checks that an operation failed if and only if its commit did.
func (p *namespacePlayer) wantFailure(failed bool, err error) bool {
	p.t.Helper()
	if failed != errors.Is(err, errDisk) || !failed && err != nil {
		p.t.Errorf("failing commit: %v; error: %v", failed, err)
	}
	return failed || err != nil
}

// accept accepts a session by its id, or the next one.
func (p *namespacePlayer) accept() {
	q, b := p.a.queues["s"], p.on("s")
	id := []string{"", "a", "b", "c", "empty"}[p.r.IntN(5)]
	if p.r.IntN(2) == 0 {
		w := b.next()
		next, ok := q.nextSession()
		p.note("accept the next session: %v, want %q %v", w.granted(), next, ok)
		if equal(p.t, "granted", w.granted() == 1, ok); !ok || p.t.Failed() {
			w.cancel()
			return
		}
		equal(p.t, "next session", w.id(), next)
		q.hold(next, w.holder)
		return
	}
	h, err := b.tryAccept(id)
	p.note("accept session %q: %v", id, err)
	if q.session(id).holder != nil {
		wantCode(p.t, "accept a held session", err, emulator.CodeSessionLocked)
		return
	}
	equal(p.t, "accept", err, nil)
	q.hold(id, h)
}

func (q *queueModel) hold(id string, h *holder) {
	s := q.session(id)
	s.holder, s.until = h, now().Add(q.options.LockDuration)
}

// held picks a session that somebody holds.
func (p *namespacePlayer) held() (id string, s *modelSession) {
	q := p.a.queues["s"]
	var ids []string
	for id, s := range q.sessions {
		if s.holder != nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return "", nil
	}
	ids = sorted(ids)
	id = ids[p.r.IntN(len(ids))]
	return id, q.sessions[id]
}

func (p *namespacePlayer) takeSession() {
	id, s := p.held()
	if s == nil {
		return
	}
	q, n := p.a.queues["s"], 1+p.r.IntN(3)
	want := q.readyIn(id)
	want = want[:min(n, len(want))]
	s.holder.b = p.on("s")
	gs := s.holder.take(n)
	p.note("take %d of session %q: %s", n, id, bodies(gs))
	p.deliver(gs, want, func(m *modelMessage, token lockToken) {
		m.locked, m.token, m.held, m.until = true, token, s, s.until
	})
}

// deliver checks what was received.
func (p *namespacePlayer) deliver(gs []*got, want []*modelMessage, lock func(*modelMessage, lockToken)) {
	equalSlices(p.t, "received", mapped(gs, (*got).body), bodiesOf(want)...)
	if p.t.Failed() {
		return
	}
	for i, m := range want {
		equal(p.t, "delivery count", gs[i].count(), m.count)
		lock(m, gs[i].token())
		equal(p.t, "locked until", gs[i].until(), m.until)
	}
}

func (p *namespacePlayer) closeSession() {
	if id, s := p.held(); s != nil && p.r.IntN(2) == 0 {
		p.note("close session %q", id)
		s.holder.c.Close()
		synctest.Wait()
		p.a.queues["s"].endSession(id, false, false, now())
	}
}

func (p *namespacePlayer) setState() {
	id, s := p.held()
	if s == nil {
		return
	}
	state := []string{"", "one", "two"}[p.r.IntN(3)]
	fail := p.failing(true)
	err := s.holder.setState([]byte(state))
	p.note("set state of session %q to %q, failing %v: %v", id, state, fail, err)
	if !p.wantFailure(fail, err) {
		s.state = state
	}
}

func (p *namespacePlayer) renewSession() {
	if id, s := p.held(); s != nil {
		p.note("renew session %q", id)
		until, err := s.holder.c.RenewSession()
		equal(p.t, "renew", err, nil)
		s.until = now().Add(p.a.queues["s"].options.LockDuration)
		equal(p.t, "renewed until", until, s.until.UnixMilli())
	}
}

// partition is a sub-queue that plain receivers may read.
type shelf struct {
	path string
	sub  emulator.SubQueue
}

var shelves = []shelf{{"p", 0}, {"d", 0}, {"e", 0}, {"s", 1}, {"d", 1}, {"e", 1}}

func (p *namespacePlayer) lock() {
	x, n := shelves[p.r.IntN(len(shelves))], 1+p.r.IntN(3)
	q := p.a.queues[x.path]
	want := q.in(x.sub, (*modelMessage).ready)
	want = want[:min(n, len(want))]
	gs := p.on(x.path).receiveFrom(x.sub, emulator.PeekLock, n)
	p.note("lock %d of %v: %s", n, x, bodies(gs))
	p.deliver(gs, want, func(m *modelMessage, token lockToken) { q.lock(m, token, now()) })
}

// clear receives and deletes much, so that the queues stay small.
func (p *namespacePlayer) clear() {
	x := shelves[p.r.IntN(len(shelves))]
	q := p.a.queues[x.path]
	want := q.in(x.sub, (*modelMessage).ready)
	if len(want) < 10 {
		return
	}
	gs := p.on(x.path).receiveFrom(x.sub, emulator.ReceiveAndDelete, 1000)
	p.note("clear %v: %d", x, len(gs))
	equalSlices(p.t, "received and deleted", mapped(gs, (*got).body), bodiesOf(want)...)
	for _, m := range want {
		q.remove(m)
	}
}

// locked picks up to three messages of a sub-queue that somebody holds; ok is false if a transaction has one of them.
func (p *namespacePlayer) locked(q *queueModel, sub emulator.SubQueue) (ms []*modelMessage, tokens []lockToken, ok bool) {
	ok = true
	for _, m := range q.in(sub, func(m *modelMessage) bool { return m.locked && m.token != lockToken{} }) {
		if m.work != nil && p.r.IntN(4) > 0 || p.r.IntN(2) == 0 || len(ms) == 3 {
			continue
		}
		ms, tokens, ok = append(ms, m), append(tokens, m.token), ok && m.work == nil
	}
	return ms, tokens, ok
}

func (p *namespacePlayer) settle() {
	q, sub := p.pick("s", "p", "d", "e"), emulator.SubQueue(p.r.IntN(4)/3)
	ms, tokens, ok := p.locked(q, sub)
	o := emulator.Outcome(p.r.IntN(5))
	var properties []byte
	mark := int64(0)
	if p.r.IntN(2) == 0 {
		p.marks++
		mark, properties = p.marks, p.properties("mark", p.marks)
	}
	writes := o != emulator.Release && (o != emulator.Abandon || sub == emulator.Main || mark != 0)
	refused := ok && o == emulator.DeadLetterOutcome && sub == emulator.DeadLetter && len(ms) > 0
	fail := p.failing(ok && writes && !refused && len(ms) > 0)
	err := p.on(q.path).trySettle(o, properties, tokens...)
	p.note("settle %v of %s with %d, mark %d, failing %v: %v", bodiesOf(ms), q.path, o, mark, fail, err)
	switch {
	case !ok:
		wantCode(p.t, "settle what a transaction has", err, emulator.CodeMessageLockLost)
	case refused:
		wantCode(p.t, "dead-letter a dead letter", err, emulator.CodeNotAllowed)
		for _, m := range ms {
			q.unlock(m, now())
		}
	case p.wantFailure(fail, err):
	default:
		for _, m := range ms {
			q.settle(m, o, mark, now())
		}
	}
}

// fetch receives a deferred message by its number.
func (p *namespacePlayer) fetch() {
	q := p.pick("s", "p", "d")
	ms := q.in(emulator.Main, func(m *modelMessage) bool { return m.state == emulator.Deferred && !m.locked })
	if len(ms) == 0 {
		return
	}
	m := ms[p.r.IntN(len(ms))]
	b, c := p.on(q.path), (*emulator.Consumer)(nil)
	if q.options.RequiresSession {
		s := q.session(*m.session)
		if s.holder == nil {
			return
		}
		c, m.held = s.holder.c, s
	}
	gs, err := b.fetchAs(c, emulator.PeekLock, m.seq)
	p.note("fetch %s of %s: %v", m.body, q.path, err)
	if m.expired(now()) { // EXP-11
		wantCode(p.t, "fetch an expired message", err, emulator.CodeMessageNotFound)
		m.held = nil
		q.expire(m)
		return
	}
	if err != nil {
		p.t.Errorf("fetch: %v", err)
		return
	}
	p.deliver(gs, []*modelMessage{m}, func(m *modelMessage, token lockToken) {
		if q.lock(m, token, now()); m.held != nil {
			m.until = m.held.until
		}
	})
}

func (p *namespacePlayer) cancel() {
	q := p.pick("s", "p", "d", "e")
	ms := q.in(emulator.Main, func(m *modelMessage) bool { return m.state == emulator.Scheduled })
	if len(ms) == 0 {
		return
	}
	m := ms[p.r.IntN(len(ms))]
	fail := p.failing(true)
	err := p.on(q.path).cancel(m.seq)
	p.note("cancel %s, failing %v: %v", m.body, fail, err)
	if !p.wantFailure(fail, err) {
		q.remove(m)
	}
}

// pass lets some steps of the grid pass; at one of them nothing can be written.
func (p *namespacePlayer) pass() {
	steps := 1 + p.r.IntN(5)
	start := now()
	broken := time.Time{}
	if steps > 1 && p.r.IntN(3) == 0 {
		broken = start.Add(time.Duration(1+p.r.IntN(steps-1)) * grid)
		wait(broken.Sub(start) - time.Millisecond)
		p.j.FailNext(1<<30, errDisk)
		wait(time.Millisecond)
		p.j.FailNext(0, nil)
	}
	to := start.Add(time.Duration(steps) * grid)
	wait(to.Sub(now()))
	p.note("%d steps pass, broken at %s", steps, broken.Format("15:04:05"))
	p.a.pass(to, broken)
}

func (p *namespacePlayer) restartAll() {
	if p.r.IntN(4) > 0 {
		return
	}
	down := time.Duration(p.r.IntN(5)) * grid
	p.stop()
	time.Sleep(down)
	p.start()
	wait(0)
	p.note("restart after %s", down)
	p.a.restart(now())
}
