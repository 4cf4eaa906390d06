package emulator_test

import (
	"slices"
	"testing/synctest"

	"minibus/emulator"
)

// done is a completion that must come once.
func (w *overlap) done(what string) emulator.Completion {
	n := 0
	return emulator.CompletionFunc(func(err error) {
		w.note("%s done: %v", what, err)
		if n++; n > 1 {
			w.t.Errorf("%s was completed %d times", what, n)
		}
	})
}

func (w *overlap) some(tokens []lockToken) []lockToken {
	var list []lockToken
	for _, t := range tokens {
		if w.r.IntN(2) == 0 && len(list) < 4 {
			list = append(list, t)
		}
	}
	return list
}

func (w *overlap) took(path string, ds []*emulator.Delivery) {
	for _, d := range ds {
		w.seqs[path] = append(w.seqs[path], d.Seq())
		if d.Token() != (lockToken{}) {
			w.tokens[path] = append(w.tokens[path], d.Token())
		}
	}
	if n := len(w.tokens[path]); n > 12 {
		w.tokens[path] = w.tokens[path][n-12:]
	}
	if n := len(w.seqs[path]); n > 20 {
		w.seqs[path] = w.seqs[path][n-20:]
	}
}

func (w *overlap) someSeqs(path string) []int64 {
	var list []int64
	for _, s := range w.seqs[path] {
		if w.r.IntN(3) == 0 && len(list) < 3 {
			list = append(list, s)
		}
	}
	return list
}

func (w *overlap) settlement() emulator.Settlement {
	s := emulator.Settlement{Outcome: emulator.Outcome(w.r.IntN(5))}
	if w.r.IntN(3) == 0 {
		s.Properties = w.properties("mark", int64(w.r.IntN(100)))
	}
	return s
}

func (w *overlap) step() {
	steps := []func(){
		w.send, w.send, w.send, w.schedule, w.cancel, w.receive, w.receive, w.receive, w.giveBack, w.closeOne, w.settle, w.settle, w.settle, w.renew,
		w.fetch, w.fetch, w.batch, w.accept, w.accept, w.takeHeld, w.takeHeld, w.useHeld, w.peekAny, w.beginWork, w.inWork, w.inWork, w.inWork, w.inWork, w.endWork,
		w.endWork, w.updateAny, w.deleteAny, w.makeAny, w.ruleAny, w.pass, w.pass, w.pass, w.breakReads,
	}
	steps[w.r.IntN(len(steps))]()
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, tokens := range w.fetched {
		w.tokens[path] = append(w.tokens[path], tokens...)
	}
	clear(w.fetched)
}

func (w *overlap) send() {
	path, q := w.any()
	if q == nil {
		return
	}
	ms := w.messages()
	err := q.Send(w.encodeAll(ms), w.done("send to "+path))
	w.note("send %d to %s: %v", len(ms), path, err)
}

func (w *overlap) schedule() {
	path, q := w.any()
	if q == nil {
		return
	}
	seqs, err := q.Schedule(w.encodeAll(w.messages()), w.done("schedule in "+path))
	w.note("schedule in %s: %v %v", path, seqs, err)
	w.seqs[path] = append(w.seqs[path], seqs...)
}

func (w *overlap) cancel() {
	path, q := w.any()
	if seqs := w.someSeqs(path); q != nil {
		err := q.CancelScheduled(seqs, w.done("cancel in "+path))
		w.note("cancel %v in %s: %v", seqs, path, err)
	}
}

func (w *overlap) receive() {
	if len(w.open) > 0 && w.r.IntN(2) == 0 {
		x := w.open[w.r.IntN(len(w.open))]
		ds := x.c.Take(nil, w.r.IntN(5))
		w.note("take %d of %s, mode %d", len(ds), x.path, x.mode)
		x.ds = append(x.ds, ds...)
		w.took(x.path, ds)
		return
	}
	path, q := w.any()
	if q == nil {
		return
	}
	x := &overlapReceiver{path: path, mode: emulator.ReceiveMode(w.r.IntN(2))}
	c, err := q.NewConsumer(w.anySub(), x.mode, func() {})
	if err != nil {
		return
	}
	x.c = c
	w.open = append(w.open, x)
	x.ds = c.Take(nil, 1+w.r.IntN(4))
	w.note("attach to %s, mode %d, take %d", path, x.mode, len(x.ds))
	w.took(path, x.ds)
}

func (w *overlap) giveBack() {
	if len(w.open) > 0 {
		x := w.open[w.r.IntN(len(w.open))]
		w.note("give %d back to %s", len(x.ds), x.path)
		x.c.Return(x.ds)
		x.ds = nil
	}
}

func (w *overlap) closeOne() {
	if len(w.open) > 4 || len(w.open) > 0 && w.r.IntN(4) == 0 {
		i := w.r.IntN(len(w.open))
		w.note("close a receiver of %s", w.open[i].path)
		w.open[i].c.Close()
		w.open = slices.Delete(w.open, i, i+1)
	}
}

func (w *overlap) settle() {
	path, q := w.any()
	if tokens := w.some(w.tokens[path]); q != nil && len(tokens) > 0 {
		s := w.settlement()
		err := q.Settle(tokens, s, w.done("settle in "+path))
		w.note("settle %d in %s, outcome %d: %v", len(tokens), path, s.Outcome, err)
	}
}

func (w *overlap) renew() {
	path, q := w.any()
	if q != nil {
		_, err := q.Renew(w.some(w.tokens[path]), nil)
		w.note("renew in %s: %v", path, err)
	}
}

func (w *overlap) holderOf(path string) *emulator.Consumer {
	for _, h := range w.holders {
		if h.path == path {
			return h.c
		}
	}
	return nil
}

func (w *overlap) fetch() {
	path, q := w.any()
	if q == nil {
		return
	}
	seqs, mode := w.someSeqs(path), emulator.ReceiveMode(w.r.IntN(2))
	err := q.ReceiveDeferred(w.anySub(), seqs, mode, w.holderOf(path), nil, func(ds []*emulator.Delivery, err error) {
		w.note("fetched %d of %s: %v", len(ds), path, err)
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, d := range ds {
			if mode == emulator.PeekLock {
				w.fetched[path] = append(w.fetched[path], d.Token())
			}
		}
	})
	w.note("fetch %v of %s: %v", seqs, path, err)
}

func (w *overlap) batch() {
	path, q := w.any()
	if q == nil || w.r.IntN(3) > 0 {
		return
	}
	err := q.DeleteBatch(w.anySub(), 1+w.r.IntN(4), now().UnixMilli(), w.holderOf(path), nil, func(n int, err error) { w.note("deleted %d of %s: %v", n, path, err) })
	w.note("delete of %s: %v", path, err)
}

func (w *overlap) accept() {
	path, q := w.any()
	if q == nil {
		return
	}
	h := &overlapHolder{path: path}
	a := emulator.Accept{Mode: emulator.ReceiveMode(w.r.IntN(2)), Notify: func() {}, Lost: func(err error) { w.note("session of %s lost: %v", path, err) }}
	if w.r.IntN(2) == 0 {
		c, err := q.Sessions().Accept([]string{"", "a", "b"}[w.r.IntN(3)], a)
		if err == nil {
			h.c = c
			w.holders = append(w.holders, h)
			w.note("accept in %s", path)
		}
		return
	}
	var granted *emulator.Consumer
	cancel, err := q.Sessions().AcceptNext(a, func(c *emulator.Consumer) { granted = c })
	if err != nil {
		return
	}
	w.note("accept next in %s", path)
	if w.r.IntN(2) == 0 {
		synctest.Wait()
	}
	cancel()
	if granted != nil {
		h.c = granted
		w.holders = append(w.holders, h)
	}
}

func (w *overlap) takeHeld() {
	if len(w.holders) > 0 {
		h := w.holders[w.r.IntN(len(w.holders))]
		ds := h.c.Take(nil, 1+w.r.IntN(4))
		w.note("take %d of a session in %s", len(ds), h.path)
		h.ds = append(h.ds, ds...)
		w.took(h.path, ds)
	}
}

func (w *overlap) useHeld() {
	if len(w.holders) == 0 {
		return
	}
	i := w.r.IntN(len(w.holders))
	h := w.holders[i]
	switch w.r.IntN(5) {
	case 0:
		_, err := h.c.RenewSession()
		w.note("renew a session in %s: %v", h.path, err)
	case 1, 2:
		err := h.c.SetSessionState([]byte("state"[:w.r.IntN(6)]), w.done("state in "+h.path))
		w.note("set a state in %s: %v", h.path, err)
	case 3:
		w.note("return %d to a session in %s", len(h.ds), h.path)
		h.c.Return(h.ds)
		h.ds = nil
	default:
		w.note("close a session in %s", h.path)
		h.c.Close()
		w.holders = slices.Delete(w.holders, i, i+1)
	}
}
