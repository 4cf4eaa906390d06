package main

import (
	"context"
	"sync"
	"time"
)

// leanRun measures a mode with lean clients, on links that are there already.
func (r *runner) leanRun(ctx context.Context) (result, error) {
	var all []*lean
	defer func() {
		for _, l := range all {
			l.Close()
		}
	}()
	connections := r.options.connections
	switch r.options.mode {
	case "latency":
		connections = 1
	case "both":
		connections *= 2
	}
	for range connections {
		l, err := r.dialLean()
		if err != nil {
			return result{}, err
		}
		all = append(all, l)
	}
	nothing := func() error { return nil }
	if r.options.mode == "latency" {
		return r.measure(nothing, func() ([]series, error) { return r.leanLoop(all[0]) })
	}
	return r.measure(nothing, func() ([]series, error) { return r.leanLoad(ctx, all) })
}

// leanLoop is oneAfterAnother with a lean client. The credit for a message goes out with the message, in one write.
func (r *runner) leanLoop(l *lean) ([]series, error) {
	send, receive := series{name: "send"}, series{name: "receive"}
	accept, total := series{name: "accept"}, series{name: "total"}
	for r.toSend.take() {
		for !l.maySend() {
			if _, err := l.take(); err != nil {
				return nil, err
			}
		}
		begin := time.Now()
		then := begin
		l.credit(1)
		l.send()
		if err := l.Flush(); err != nil {
			return nil, err
		}
		if err := l.sentAndCame(&send, &receive, &then); err != nil {
			return nil, err
		}
		l.accept(l.delivery, 1, r.options.forget)
		if err := l.Flush(); err != nil {
			return nil, err
		}
		if !r.options.forget {
			if err := l.await(leanDisposition); err != nil {
				return nil, err
			}
		}
		accept.sinceThen(&then)
		total.add(then.Sub(begin))
	}
	return []series{send, receive, accept, total}, nil
}

// sentAndCame waits for the outcome of a send and for the message. The broker may write them in either order.
func (l *lean) sentAndCame(send, receive *series, then *time.Time) error {
	for waiting := 2; waiting > 0; {
		kind, err := l.take()
		switch {
		case err != nil:
			return err
		case kind == leanDisposition:
			send.sinceThen(then)
			waiting--
		case kind == leanTransfer && !l.transfer.More:
			receive.sinceThen(then)
			waiting--
		}
	}
	return nil
}

// leanLoad sends or receives, or both at once, on connections for each.
func (r *runner) leanLoad(ctx context.Context, connections []*lean) ([]series, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		fault error
		all   = map[string][]series{}
	)
	type work func(context.Context, context.CancelFunc, *lean, *series) error
	for name, do := range map[string]work{"send": r.leanSend, "receive": r.leanReceive} {
		if r.options.mode != name && r.options.mode != "both" {
			continue
		}
		for range r.options.connections {
			l := connections[0]
			connections = connections[1:]
			defer context.AfterFunc(ctx, func() { _ = l.SetReadDeadline(time.Now()) })()
			group.Go(func() {
				times := series{name: name}
				err := do(ctx, stop, l, &times)
				mu.Lock()
				defer mu.Unlock()
				all[name] = append(all[name], times)
				if err != nil && ctx.Err() == nil {
					fault = err
					stop()
				}
			})
		}
	}
	group.Wait()
	var merged []series
	for _, name := range []string{"send", "receive"} {
		if len(all[name]) > 0 {
			merged = append(merged, merge(name, all[name]))
		}
	}
	return merged, fault
}

// leanSend keeps the connection's share of transfers in flight. Their outcomes come in their order.
func (r *runner) leanSend(ctx context.Context, _ context.CancelFunc, l *lean, times *series) error {
	begun := make([]time.Time, r.share()) // of those in flight, a ring
	for answers := uint32(0); ; {
		over := false
		for int(l.sent-answers) < r.share() && l.maySend() && !over {
			if over = ctx.Err() != nil || !r.toSend.take(); !over {
				begun[int(l.sent)%len(begun)] = time.Now()
				l.send()
			}
		}
		if over && l.sent == answers {
			return nil
		}
		if err := l.Flush(); err != nil {
			return err
		}
		for more := true; more; more = l.More() {
			kind, err := l.take()
			if err != nil {
				return err
			}
			for range l.answered(kind) {
				times.sinceOf(begun[int(answers)%len(begun)])
				answers++
			}
		}
	}
}

// leanReceive accepts all that has come at a time. It grants credit for those whose accept is answered.
func (r *runner) leanReceive(ctx context.Context, stop context.CancelFunc, l *lean, times *series) error {
	window := uint32(r.share())
	begun := make([]time.Time, window) // of those that are accepted and not answered, a ring
	l.credit(window)
	taken, answers := uint32(0), uint32(0)
	last := l.delivery // the delivery-id of the last one taken
	granted := window
	for ctx.Err() == nil {
		if err := l.Flush(); err != nil {
			return err
		}
		first := taken
		for more := true; more; more = l.More() {
			kind, err := l.take()
			if err != nil {
				return err
			}
			if kind == leanTransfer && !l.transfer.More {
				begun[int(taken)%len(begun)] = time.Now()
				taken++
				last = l.delivery
			} else {
				answers += r.leanAnswers(l.answered(kind), answers, begun, times, stop)
			}
		}
		if taken > first {
			l.accept(last, taken-first, r.options.forget)
		}
		if r.options.forget {
			answers += r.leanAnswers(taken-first, first, begun, times, stop)
		}
		if granted-answers <= window*3/4 {
			l.credit(window - (taken - answers))
			granted = answers + window
		}
	}
	return nil
}

// leanAnswers notes count messages as accepted, from the one with the number first.
func (r *runner) leanAnswers(count, first uint32, begun []time.Time, times *series, stop context.CancelFunc) uint32 {
	for i := range count {
		times.sinceOf(begun[int(first+i)%len(begun)])
		if r.accepted() {
			stop()
		}
	}
	return count
}
