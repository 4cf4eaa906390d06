package emulator_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// grid is the step in which the random test lets time pass. What fails at one step is tried again a second later,
// before the next.
const grid = 5 * time.Second

// queuePlayer does random operations on a broker and on the model, and compares.
type queuePlayer struct {
	*broker
	r     *rand.Rand
	m     *queueModel
	held  []lockToken // tokens ever received, good and dead ones
	sent  int
	marks int64
	log   []string
}

// TestRandom_OneQueueAsItsModel plays several thousand operations on a few queues of different settings.
func TestRandom_OneQueueAsItsModel(t *testing.T) {
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
			p := &queuePlayer{broker: b, r: r, m: &queueModel{options: o}}
			for range operations(t) / 8 {
				p.step()
				if p.compare(); t.Failed() {
					for _, line := range p.log[max(0, len(p.log)-20):] {
						t.Log(line)
					}
					return
				}
			}
			if p.m.last < 50 {
				t.Errorf("only %d numbers were given: the test hardly did anything", p.m.last)
			}
		})
	}
}

// step does one random operation.
func (p *queuePlayer) step() {
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

func (p *queuePlayer) sendSome() {
	ms, store := p.some()
	fail := p.failing()
	err := p.trySend(ms...)
	p.note("send %d, failing %v: %v", len(ms), fail, err)
	if p.wantFailure(fail, err) {
		return
	}
	store()
}

func (p *queuePlayer) scheduleSome() {
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

func (p *queuePlayer) cancelSome() {
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

func (p *queuePlayer) lockSome() {
	sub, n := p.anySub(), 1+p.r.IntN(4)
	gs, want := p.receiveFrom(sub, emulator.PeekLock, n), p.ready(sub, n)
	p.note("lock %d of %d: %v", n, sub, mapped(gs, (*got).body))
	p.deliver(gs, want)
}

// deliver checks what was received with locks and locks it in the model.
func (p *queuePlayer) deliver(gs []*got, want []*modelMessage) {
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

func (p *queuePlayer) deleteSome() { p.deleteFrom(p.anySub(), 1+p.r.IntN(4)) }

func (p *queuePlayer) deleteFrom(sub emulator.SubQueue, n int) {
	want := p.ready(sub, n)
	fail := len(want) > 0 && p.failing()
	r := p.receiver(sub, emulator.ReceiveAndDelete)
	ds := r.c.Take(nil, n) // once: after a failure the next Take would have the messages again
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

func (p *queuePlayer) fetchSome() {
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

func (p *queuePlayer) settleSome() {
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
