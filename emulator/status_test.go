package emulator_test

import (
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// statuses says for each status what is allowed.
var statuses = []struct {
	status        emulator.Status
	send, receive bool
}{
	{emulator.StatusActive, true, true},
	{emulator.StatusSendDisabled, false, true},
	{emulator.StatusReceiveDisabled, true, false},
	{emulator.StatusDisabled, false, false},
}

func TestSTAT1_STAT2_WhatEachStatusAllows(t *testing.T) {
	for _, c := range statuses {
		t.Run(string(c.status), func(t *testing.T) {
			bubble(t, emulator.QueueOptions{}, func(b *broker) {
				seqs := b.schedule(at("x", soon(time.Hour)), at("y", soon(time.Hour)))
				deferred := b.deferOne(text("deferred"))
				b.sendTexts("a", "b", "c")
				gs := b.receive(2)
				w := b.begin()
				b.update(func(o *emulator.QueueOptions) { o.Status = c.status })
				check := func(what string, err error, allowed bool) {
					t.Helper()
					if allowed && err != nil {
						t.Errorf("%s: %v", what, err)
					} else if !allowed {
						wantCode(t, what, err, emulator.CodeEntityDisabled)
					}
				}
				check("attach a sender", b.q.CanSend(), c.send)
				check("send", b.trySend(text("d")), c.send)
				_, err := b.q.Schedule(b.encodeAll(texts("e")), newOutcome())
				check("schedule", err, c.send)
				check("cancel", b.cancel(seqs[0]), c.send)
				check("send in a transaction", w.Send(b.q, b.encodeAll(texts("f"))), c.send)
				check("cancel in a transaction", w.CancelScheduled(b.q, seqs[1:]), c.send)
				for _, sub := range []emulator.SubQueue{emulator.Main, emulator.DeadLetter, emulator.TransferDeadLetter} { // STAT-6
					check("attach a receiver", b.q.CanReceive(sub), c.receive)
				}
				check("settle", b.trySettle(emulator.Complete, nil, gs[0].token()), c.receive)
				check("settle in a transaction", w.Settle(b.q, tokensOf(gs[1:]), emulator.Settlement{}), c.receive)
				_, err = b.q.Renew(tokensOf(gs[1:]), nil)
				if c.receive {
					wantCode(t, "renew in a transaction", err, emulator.CodeMessageLockLost)
				} else {
					check("renew", err, false)
				}
				_, err = b.byNumber(emulator.Main, emulator.PeekLock, deferred)
				check("receive by number", err, c.receive)
				check("batch delete", b.q.DeleteBatch(emulator.Main, 1, 0, nil, nil, func(int, error) {}), c.receive)
				if len(b.peek()) == 0 { // PEEK-13
					t.Error("nothing to peek")
				}
				if _, err := b.ns.Entities().UpdateQueue("q", b.q.Options()); err != nil {
					t.Errorf("update: %v", err)
				}
				if err := b.ns.Entities().Delete("q"); err != nil {
					t.Errorf("delete: %v", err)
				}
			})
		})
	}
}

func TestSTAT2_SessionsOfADisabledQueue(t *testing.T) {
	for _, c := range statuses {
		bubble(t, sessionful, func(b *broker) {
			b.sendSession("s:1")
			b.update(func(o *emulator.QueueOptions) { o.Status = c.status })
			_, err := b.tryAccept("s")
			_, nextErr := b.q.Sessions().AcceptNext(emulator.Accept{Notify: func() {}}, func(*emulator.Consumer) {})
			_, listErr := b.q.Sessions().IDs(true, 0, 0, 10)
			for what, err := range map[string]error{"accept": err, "accept the next": nextErr, "list": listErr} {
				if c.receive && err != nil {
					t.Errorf("%s: %v", what, err)
				} else if !c.receive {
					wantCode(t, what, err, emulator.CodeEntityDisabled)
				}
			}
		})
	}
}

func TestSTAT1_STAT5_OnlyTheStatusesOfUsersCanBeSet(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for _, s := range []emulator.Status{"Creating", "Deleting", "Renaming", "Restoring", "Unknown", "active"} {
			_, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{Status: s})
			wantCode(t, "update to "+string(s), err, emulator.CodeArgument)
			_, err = b.ns.Entities().CreateQueue("new", emulator.QueueOptions{Status: s})
			wantCode(t, "create as "+string(s), err, emulator.CodeArgument)
		}
		b.sendTexts("it works on")
	})
}

func TestSTAT3_MessagesAreKept(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("before")
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusReceiveDisabled })
		b.sendTexts("meanwhile")
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
		b.restart()
		b.wantCounts(2, 0, 0, 0)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusSendDisabled })
		equal(t, "received", bodies(b.receive(5)), "before meanwhile")
	})
}

func TestSTAT4_SessionLocksRunOutWhileDisabled(t *testing.T) {
	o := sessionful
	o.Status = emulator.StatusActive
	bubble(t, o, func(b *broker) {
		m := inSession("s", "due")
		m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": soon(time.Minute)}
		expires := inSession("s", "expires")
		expires.Header = &goamqp.MessageHeader{TTL: time.Minute}
		b.send(m, expires)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
		wait(time.Minute)
		b.wantCounts(1, 0, 0, 0)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
		equal(t, "received", bodies(b.accept("s").take(5)), "due")
	})
}

func TestSTAT6_DeadLetterQueueFollowsItsParent(t *testing.T) {
	for _, c := range statuses {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			b.deadLetterOne(text("a"))
			b.update(func(o *emulator.QueueOptions) { o.Status = c.status })
			consumer, err := b.q.NewConsumer(emulator.DeadLetter, emulator.PeekLock, func() {})
			if !c.receive {
				wantCode(t, "attach", err, emulator.CodeEntityDisabled)
				return
			}
			if err != nil {
				t.Fatalf("attach: %v", err)
			}
			equal(t, "received", len(consumer.Take(nil, 1)), 1)
		})
	}
}
