package emulator_test

import (
	"slices"
	"time"

	"minibus/emulator"
)

// begin opens a transaction, two at most.
func (p *namespacePlayer) begin() {
	if len(p.a.works) < 2 {
		p.a.works = append(p.a.works, &modelWork{work: p.broker.beginCross("")})
	}
}

// working picks an open transaction.
func (p *namespacePlayer) working() *modelWork {
	if len(p.a.works) == 0 {
		return nil
	}
	return p.a.works[p.r.IntN(len(p.a.works))]
}

// enter says what the transaction thinks of an operation on q: nil, or a code.
func (w *modelWork) enter(q *queueModel, send bool) (emulator.Code, bool) {
	switch {
	case w.timedOut:
		return emulator.CodeTransactionTimedOut, false
	case w.root != "" && w.root != q.path && !send:
		return emulator.CodeNotAllowed, false
	}
	return 0, true
}

// entered notes that the transaction took an operation on q.
func (w *modelWork) entered(q *queueModel) {
	if w.root == "" {
		w.root, w.deadline = q.path, now().Add(2*time.Minute)
	}
}

func (p *namespacePlayer) sendInWork() {
	w := p.working()
	if w == nil {
		return
	}
	q := p.pick(modelPaths...)
	ms, xs, wrong := p.batch(q)
	code, ok := w.enter(q, true)
	err := w.Send(p.on(q.path).q, p.encodeAll(ms))
	p.note("send %v to %s in a transaction: %v", bodiesOf(xs), q.path, err)
	switch {
	case !ok:
		wantCode(p.t, "send in a transaction", err, code)
	case wrong:
		wantCode(p.t, "send without a session id in a transaction", err, emulator.CodeNotAllowed)
	default:
		equal(p.t, "send in a transaction", err, nil)
		w.entered(q)
		for _, x := range xs {
			w.steps = append(w.steps, modelStep{q: q, send: x})
		}
	}
}

func (p *namespacePlayer) settleInWork() {
	w := p.working()
	if w == nil {
		return
	}
	q, sub := p.pick("s", "p", "d", "e"), emulator.SubQueue(p.r.IntN(4)/3)
	ms, tokens, free := p.locked(q, sub)
	o := []emulator.Outcome{
		emulator.Complete, emulator.Complete, emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome, emulator.Release,
	}[p.r.IntN(6)]
	if len(ms) == 0 {
		return
	}
	err := w.Settle(p.on(q.path).q, tokens, emulator.Settlement{Outcome: o})
	p.note("settle %v of %s with %d in a transaction: %v", bodiesOf(ms), q.path, o, err)
	if !free {
		wantCode(p.t, "settle what a transaction has", err, emulator.CodeMessageLockLost)
		return
	}
	code, ok := w.enter(q, false)
	if ok && o == emulator.DeadLetterOutcome && sub == emulator.DeadLetter {
		code, ok = emulator.CodeNotAllowed, false
	}
	if !ok { // TXN-15
		wantCode(p.t, "settle in a transaction", err, code)
		return
	}
	equal(p.t, "settle in a transaction", err, nil)
	w.entered(q)
	for _, m := range ms {
		m.work = w
	}
	w.steps = append(w.steps, modelStep{q: q, settle: ms, outcome: o})
}

func (p *namespacePlayer) commit() {
	w := p.working()
	if w == nil || len(w.steps) < 2 && p.r.IntN(4) > 0 {
		return
	}
	fail := p.failing(len(w.steps) > 0 && !w.timedOut && !w.lost)
	err := w.tryCommit()
	p.note("commit of %d steps, failing %v: %v", len(w.steps), fail, err)
	p.a.works = slices.DeleteFunc(p.a.works, func(x *modelWork) bool { return x == w })
	switch {
	case w.timedOut:
		wantCode(p.t, "commit", err, emulator.CodeTransactionTimedOut)
	case w.lost:
		wantCode(p.t, "commit", err, emulator.CodeMessageLockLost)
		w.giveUp()
	case p.wantFailure(fail, err):
		w.giveUp()
	default:
		w.commit(now())
	}
}

func (p *namespacePlayer) rollback() {
	if w := p.working(); w != nil && p.r.IntN(2) == 0 {
		p.note("rollback of %d steps", len(w.steps))
		w.Rollback()
		w.giveUp()
		p.a.works = slices.DeleteFunc(p.a.works, func(x *modelWork) bool { return x == w })
	}
}
