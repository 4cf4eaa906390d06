package emulator_test

import (
	"fmt"
	"slices"
	"time"

	"minibus/emulator"
)

func (w *overlap) peekAny() {
	if _, q := w.any(); q != nil {
		_ = q.Peek(emulator.Peek{Sub: w.anySub(), Max: 3}, func([]*emulator.Delivery, error) {})
	}
}

func (w *overlap) beginWork() {
	if len(w.works) < 3 {
		path, _ := w.any()
		cross, via := w.r.IntN(2) == 0, ""
		if w.r.IntN(2) == 0 {
			via = path
		}
		w.works = append(w.works, &overlapWork{w.ns.Begin(cross, via), path})
		w.note("begin, cross %v, via %q", cross, via)
	}
}

func (w *overlap) inWork() {
	if len(w.works) == 0 {
		return
	}
	t := w.works[w.r.IntN(len(w.works))]
	path, q := w.any()
	if w.r.IntN(4) > 0 {
		path = t.path
		q, _ = w.ns.Entity(path)
	}
	if q == nil {
		return
	}
	var err error
	what := w.r.IntN(6)
	switch what {
	case 0, 1:
		err = t.Send(q, w.encodeAll(w.messages()))
	case 2:
		var seqs []int64
		seqs, err = t.Schedule(q, w.encodeAll(w.messages()))
		w.seqs[path] = append(w.seqs[path], seqs...)
	case 3:
		err = t.CancelScheduled(q, w.someSeqs(path))
	case 4:
		_, err = t.Renew(q, w.some(w.tokens[path]))
	default:
		if tokens := w.some(w.tokens[path]); len(tokens) > 0 {
			err = t.Settle(q, tokens, w.settlement())
		}
	}
	w.note("operation %d in a transaction on %s: %v", what, path, err)
}

func (w *overlap) endWork() {
	if len(w.works) == 0 {
		return
	}
	i := w.r.IntN(len(w.works))
	t := w.works[i]
	w.works = slices.Delete(w.works, i, i+1)
	if w.r.IntN(3) == 0 {
		t.Rollback()
		w.note("rollback")
		return
	}
	w.note("commit: %v", t.Commit(w.done("commit")))
}

func (w *overlap) updateAny() {
	path, q := w.any()
	if q == nil || w.r.IntN(2) == 0 {
		return
	}
	change := func(o *emulator.QueueOptions) {
		switch w.r.IntN(5) {
		case 0:
			o.Status = []emulator.Status{"", emulator.StatusDisabled, emulator.StatusReceiveDisabled, emulator.StatusSendDisabled}[w.r.IntN(4)]
		case 1:
			o.MaxDeliveryCount = 1 + w.r.IntN(4)
		case 2:
			if !o.RequiresSession {
				o.ForwardTo = []string{"", "", "d", "t", "s"}[w.r.IntN(5)]
			}
		case 3:
			if path != "d" { // no hop limit ends a circle of dead-letter queues (FWD-10)
				o.ForwardDeadLetteredMessagesTo = []string{"", "d"}[w.r.IntN(2)]
			}
		default:
			o.LockDuration = time.Duration(1+w.r.IntN(9)) * time.Second
		}
	}
	switch q.Kind() {
	case emulator.KindQueue:
		o := q.Options()
		change(&o)
		w.admin(func() { _, err := w.ns.Entities().UpdateQueue(path, o); w.note("update %s: %v", path, err) })
	case emulator.KindTopic:
		topic, _ := q.Topic()
		o := topic.Options()
		o.UserMetadata = fmt.Sprint(w.round)
		w.admin(func() { _, err := w.ns.Entities().UpdateTopic(path, o); w.note("update %s: %v", path, err) })
	default:
		s, _ := q.Subscription()
		o := s.Options()
		change(&o.Queue)
		w.admin(func() {
			_, err := w.ns.Entities().UpdateSubscription(path[:len(path)-len("/Subscriptions/a")], o)
			w.note("update %s: %v", path, err)
		})
	}
}

func (w *overlap) deleteAny() {
	if w.r.IntN(3) == 0 {
		path, _ := w.any()
		w.admin(func() { w.note("delete %s: %v", path, w.ns.Entities().Delete(path)) })
	}
}

func (w *overlap) makeAny() {
	for _, path := range overlapPaths {
		q, _ := w.ns.Entity(path)
		if _, isQueue := overlapQueues[path]; q == nil && (isQueue || path == "t" || path == "pt") {
			w.make(path)
		}
	}
}

func (w *overlap) ruleAny() {
	path, q := w.any()
	if q == nil {
		return
	}
	o := sql(fmt.Sprint("extra", w.r.IntN(3)), fmt.Sprint("x = ", w.r.IntN(3)))
	if w.r.IntN(2) == 0 {
		o.Action = "SET y = 1"
	}
	s, err := q.Subscription()
	if err != nil {
		w.note("rules of %s: %v", path, err)
		return
	}
	if w.r.IntN(2) == 0 {
		w.note("add a rule to %s: %v", path, s.AddRule(o, w.done("rule")))
	} else {
		w.note("remove a rule from %s: %v", path, s.RemoveRule(o.Name, w.done("rule")))
	}
}

func (w *overlap) pass() {
	d := time.Duration(w.r.IntN(8000)) * time.Millisecond
	w.note("%v pass", d)
	time.Sleep(d)
}

func (w *overlap) breakReads() {
	if w.r.IntN(3) == 0 {
		w.note("reads fail")
		w.j.setReads(errDisk, 0)
	}
}
