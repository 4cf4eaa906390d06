package emulator_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestTXN3_TwoMinutesFromTheFirstOperation(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 5 * time.Minute}, func(b *broker) {
		b.sendTexts("a")
		gs := b.receive(1)
		w := b.begin()
		wait(10 * time.Minute) // nothing has begun
		gs = append(gs[:0], b.receive(1)...)
		w.settle(b, emulator.Complete, gs...)
		wait(2*time.Minute - time.Millisecond)
		w.send(b, text("b"))
		wait(time.Millisecond)
		for what, err := range map[string]error{
			"send": w.Send(b.q, b.encodeAll(texts("c"))), "commit": w.tryCommit(), "cancel": w.CancelScheduled(b.q, []int64{1}),
		} {
			wantCode(t, what, err, emulator.CodeTransactionTimedOut)
		}
		b.settle(emulator.Abandon, gs...) // it is locked as before
		equal(t, "left", bodies(b.peek()), "a")
	})
}

func TestTXN5_TXN20_EndedTransactionTakesNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for name, end := range map[string]func(*work){"commit": (*work).commit, "rollback": func(w *work) { w.Rollback() }} {
			w := b.begin()
			w.send(b, text(name))
			end(w)
			w.Rollback()
			wantCode(t, "commit after a "+name, w.tryCommit(), emulator.CodeTransactionEnded)
			wantCode(t, "send after a "+name, w.Send(b.q, b.encodeAll(texts("x"))), emulator.CodeTransactionEnded)
			_, err := w.Schedule(b.q, b.encodeAll(texts("x")))
			wantCode(t, "schedule after a "+name, err, emulator.CodeTransactionEnded)
			if strings.Contains(err.Error(), "timed out") {
				t.Errorf("text %q", err)
			}
		}
		equal(t, "stored", bodies(b.peek()), "commit")
	})
}

func TestTXN6_DC14_RollbackLeavesTheLock(t *testing.T) {
	for _, o := range []emulator.Outcome{emulator.Complete, emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("a")
			g := b.one()
			wait(10 * time.Second)
			w := b.begin()
			w.settle(b, o, g)
			w.Rollback()
			equal(t, "received by others", len(b.receive(1)), 0)
			again := b.begin()
			again.settle(b, emulator.Defer, g) // in another transaction
			again.Rollback()
			wait(50*time.Second - time.Millisecond)
			equal(t, "received while the lock runs", len(b.receive(1)), 0)
			b.settle(emulator.Abandon, g)
			equal(t, "delivery count", b.one().count(), 1)
		})
	}
}

func TestTXN6_LockThatEndedMeanwhileIsLost(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		w := b.begin()
		w.settle(b, emulator.Complete, g)
		wait(time.Minute)
		w.Rollback()
		wantCode(t, "complete", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		equal(t, "delivery count", b.one().count(), 1)
	})
}

func TestTXN7_SettledTwice(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		w := b.begin()
		w.settle(b, emulator.Complete, g)
		err := w.Settle(b.q, tokensOf([]*got{g}), emulator.Settlement{})
		wantCode(t, "in the transaction", err, emulator.CodeMessageLockLost)
		wantCode(t, "outside of it", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		w.commit()
		wantCode(t, "after the commit", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestTXN17_HiddenUntilTheCommit(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		w := b.begin()
		w.settle(b, emulator.Abandon, g)
		synctest.Wait()
		equal(t, "received before the commit", len(b.receive(1)), 0)
		equal(t, "peeked", bodies(b.peek()), "a")
		w.commit()
		equal(t, "delivery count after it", b.one().count(), 1)
	})
}

func TestTXN18_LockThatEndsBeforeTheCommit(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		w := b.begin()
		w.settle(b, emulator.Complete, gs[0])
		w.send(b, text("c"))
		wait(30 * time.Second)
		if _, err := b.q.Renew(tokensOf(gs[1:]), nil); err != nil {
			t.Fatalf("renew: %v", err)
		}
		w.settle(b, emulator.Complete, gs[1])
		wait(30 * time.Second)
		wantCode(t, "commit", w.tryCommit(), emulator.CodeMessageLockLost)
		wantCode(t, "commit again", w.tryCommit(), emulator.CodeTransactionEnded)
		equal(t, "left", bodies(b.peek()), "a b")
		b.settle(emulator.Complete, gs[1]) // it is locked as before
		equal(t, "delivery count", b.one().count(), 1)
	})
}

func TestTXN18_SessionThatIsLostBeforeTheCommit(t *testing.T) {
	for _, closes := range []bool{true, false} {
		bubble(t, sessionful, func(b *broker) {
			b.sendSession("s:1", "s:2")
			h := b.accept("s")
			w := b.begin()
			w.settle(b, emulator.Complete, h.take(1)...)
			w.send(b, inSession("s", "s:3"))
			if closes {
				h.c.Close()
			} else {
				wait(10 * time.Second)
			}
			h = b.accept("s")
			gs := h.take(5)
			wantCode(t, "commit", w.tryCommit(), emulator.CodeMessageLockLost)
			equal(t, "received by the next holder", bodies(gs), "s:1 s:2")
			b.settle(emulator.Complete, gs...)
			b.wantCounts(0, 0, 0, 0)
		})
	}
}

func TestTXN19_EntityThatIsFullOrGoneAtCommit(t *testing.T) {
	bubbleWith(t, strict, emulator.QueueOptions{}, func(b *broker) {
		full := b.create("full", emulator.QueueOptions{})
		full.sendTexts("first")
		g := full.one()
		w := b.begin()
		w.settle(full, emulator.Complete, g)
		w.send(full, text("a"))
		full.fill()
		wantCode(t, "send", w.Send(full.q, b.encodeAll(texts("b"))), emulator.CodeQuotaExceeded)
		wantCode(t, "commit", w.tryCommit(), emulator.CodeQuotaExceeded)
		full.settle(emulator.Complete, g) // rolled back
		w = b.begin()
		w.send(b, text("a"))
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusSendDisabled })
		wantCode(t, "commit on a disabled queue", w.tryCommit(), emulator.CodeEntityDisabled)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
		w = b.begin()
		w.send(b, text("a"))
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		wantCode(t, "commit on a deleted queue", w.tryCommit(), emulator.CodeNotFound)
	})
}

func TestTXN22_SeveralOpenTransactions(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("0", "1", "2", "3", "4")
		var ws []*work
		for _, g := range b.receive(5) {
			w := b.begin()
			w.settle(b, emulator.Complete, g)
			w.send(b, text("new "+g.body()))
			ws = append(ws, w)
		}
		for _, i := range []int{3, 0, 4} {
			ws[i].commit()
		}
		ws[1].Rollback()
		equal(t, "seen", bodies(b.peek()), "1 2 new 3 new 0 new 4")
		ws[2].commit()
		equal(t, "seen at the end", bodies(b.peek()), "1 new 3 new 0 new 4 new 2")
	})
}

func TestSCHED19_SchedulesInTransactions(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("kept", soon(time.Minute)), at("cancelled", soon(time.Minute)))
		w := b.begin()
		if err := w.CancelScheduled(b.q, seqs[:1]); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		w.schedule(b, at("never", soon(time.Minute)))
		wantCode(t, "cancel of one that is being cancelled", b.cancel(seqs[0]), emulator.CodeMessageNotFound)
		w.Rollback()
		b.wantCounts(0, 0, 2, 0)
		w = b.begin()
		if err := w.CancelScheduled(b.q, seqs[1:]); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		number := w.schedule(b, at("scheduled", soon(30*time.Second)))
		wait(59 * time.Second)
		w.commit()
		gs := b.peek()
		equal(t, "seen", bodies(gs), "kept scheduled")
		equalSlices(t, "the number that was promised, and the one of a message that is due by now", append(number, seqsOf(gs[1:])...), 4, 5)
		wait(time.Second)
		equal(t, "received", bodies(b.receive(5)), "scheduled kept")
	})
}

func TestSEQ4_SCHED19_NumbersThatCouldNotBeWrittenAreNotUsed(t *testing.T) {
	for name, f := range map[string]func(b *broker, w *work) error{
		"before the commit": func(b *broker, w *work) error {
			b.failOnce()
			w.schedule(b, at("late", soon(time.Hour)))
			synctest.Wait()
			b.sendTexts("a") // gets the number that was told
			return w.tryCommit()
		},
		"with the commit behind it": func(b *broker, w *work) error {
			return b.held(false, func(o outcome) error {
				w.schedule(b, at("late", soon(time.Hour)))
				b.j.FailAlone(errDisk)
				return w.Commit(o)
			}, func() {})
		},
	} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			if err := f(b, b.begin()); !errors.Is(err, errDisk) {
				t.Errorf("failure %s: the commit's error is %v", name, err)
			}
			b.sendTexts("b")
			seen := map[int64]bool{}
			for _, g := range b.peek() {
				if seen[g.seq()] || g.body() == "late" {
					t.Errorf("failure %s: message %s has number %d", name, g.body(), g.seq())
				}
				seen[g.seq()] = true
			}
			b.wantCounts(int64(len(seen)), 0, 0, 0)
		})
	}
}

func TestSCHED19_CancelThatIsRolledBackAfterItsTime(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("a", soon(time.Minute)))
		w := b.begin()
		if err := w.CancelScheduled(b.q, seqs); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		wait(90 * time.Second)
		b.wantCounts(0, 0, 1, 0)
		w.Rollback()
		wait(0)
		equal(t, "received", bodies(b.receive(5)), "a")
	})
}

func TestTXN2_FailedCommitChangesNothing(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{})
		b.sendSession("s:1", "s:2", "s:3")
		m := inSession("s", "later")
		m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": soon(time.Minute)}
		seqs := b.schedule(m)
		h := b.accept("s")
		gs := h.take(3)
		w := b.beginCross("q")
		w.settle(b, emulator.Complete, gs[0])
		w.settle(b, emulator.Abandon, gs[1])
		w.settle(b, emulator.DeadLetterOutcome, gs[2])
		w.send(b, inSession("new", "x"))
		w.send(other, text("y"))
		if err := w.CancelScheduled(b.q, seqs); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		b.failOnce()
		if err := w.tryCommit(); !errors.Is(err, errDisk) {
			t.Fatalf("commit: %v", err)
		}
		b.wantCounts(3, 0, 1, 0)
		other.wantCounts(0, 0, 0, 0)
		equal(t, "sessions", b.q.InMemory().Sessions(), 1)
		b.settle(emulator.Complete, gs...) // locked as before
		if err := b.cancel(seqs...); err != nil {
			t.Errorf("cancel: %v", err)
		}
		b.sendSession("s:4")
		equal(t, "number of the next message", b.peek()[0].seq(), 5)
		b.restart()
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestDEC21_OpenTransactionsAreRolledBackByARestart(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seqs := b.schedule(at("later", soon(time.Hour)))
		b.sendTexts("a", "b")
		gs := b.receive(2)
		w := b.begin()
		w.settle(b, emulator.Complete, gs[0])
		w.settle(b, emulator.DeadLetterOutcome, gs[1])
		w.send(b, text("c"))
		w.schedule(b, at("d", soon(time.Minute)))
		if err := w.CancelScheduled(b.q, seqs); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		b.restart()
		equal(t, "left", bodies(b.peek()), "later a b")
		gs = b.receive(5)
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
		b.sendTexts("e")
		if n := b.peekFrom(emulator.Main, 4, 1)[0].seq(); n != 5 {
			t.Errorf("number %d: that of the transaction's schedule was given again", n)
		}
	})
}

func TestTXN2_NothingToDo(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.begin().commit()
		b.begin().Rollback()
		w := b.begin()
		w.send(b)
		w.settle(b, emulator.Complete)
		w.commit()
		w = b.begin()
		g := func() *got { b.sendTexts("a"); return b.one() }()
		w.settle(b, emulator.Release, g)
		w.commit()
		equal(t, "delivery count of a released message", b.one().count(), 0)
	})
}

// TestTXN2_SCHED19_SEQ4_DoomedScheduleLeavesNothing: while a commit that is bound to fail is on its way, its schedule's number goes
// to another message.
func TestTXN2_SCHED19_SEQ4_DoomedScheduleLeavesNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("1", "2")
		gs := b.receive(2)
		w := b.begin()
		sent := newOutcome()
		err := b.held(false, func(o outcome) error {
			w.schedule(b, at("late", soon(time.Hour)))
			b.j.FailAlone(errDisk) // the reservation of the number, and with it the commit
			complete := emulator.Settlement{Outcome: emulator.Complete}
			err := b.q.Settle([]lockToken{gs[1].token()}, complete, emulator.CompletionFunc(func(error) {
				if err := b.q.Send(b.encodeAll(texts("new")), sent); err != nil {
					t.Errorf("send: %v", err)
				}
			}))
			if err != nil {
				return err
			}
			return w.Commit(o)
		}, func() {})
		if err == nil {
			t.Error("the commit did not fail")
		}
		if err := <-sent; err != nil {
			t.Errorf("send: %v", err)
		}
		synctest.Wait()
		equal(t, "left", bodies(b.peek()), "1 new")
		equal(t, "number of the new one", b.peek()[1].seq(), 3)
		b.verify(true)
	})
}

// A client that has settled a delivery in the transaction, and forgotten it, gets it again at once.
func TestJMS5_WhatTheClientHasForgottenComesBack(t *testing.T) {
	forgotten := func(b *broker, w *work, c *emulator.Consumer, g *got) {
		b.t.Helper()
		if err := c.SettleIn(w.Transaction, g.d.Lock(), emulator.Settlement{Forgotten: true}); err != nil {
			b.t.Fatalf("settle: %v", err)
		}
	}
	for name, end := range map[string]func(*broker, *work){
		"rollback":    func(_ *broker, w *work) { w.Rollback() },
		"time out":    func(*broker, *work) { wait(2 * time.Minute) },
		"failed disk": func(b *broker, w *work) { b.failOnce(); _ = w.tryCommit(); wait(time.Second) },
		"failed commit": func(b *broker, w *work) {
			w.send(b, text("x"))
			b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusSendDisabled })
			wantCode(b.t, "commit", w.tryCommit(), emulator.CodeEntityDisabled)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, emulator.QueueOptions{LockDuration: 5 * time.Minute, MaxDeliveryCount: 2}, func(b *broker) {
				b.sendTexts("a", "b")
				r := b.receiver(emulator.Main, emulator.PeekLock)
				gs := r.take(2)
				w := b.begin()
				forgotten(b, w, r.c, gs[0])
				end(b, w)
				wait(0)
				again := r.take(2)
				equal(t, "received again", bodies(again), "a")
				equal(t, "delivery count", again[0].count(), 1)
				w = b.begin()
				forgotten(b, w, r.c, again[0])
				w.Rollback()
				wait(0)
				equal(t, "received a third time", len(r.take(2)), 0)
				dead := b.oneFrom(emulator.DeadLetter)
				equal(t, "reason", dead.property(emulator.DeadLetterReason), any("MaxDeliveryCountExceeded"))
				b.settle(emulator.Complete, gs[1]) // which was not in the transaction
				b.verify(true)
			})
		})
	}
}

func TestJMS5_CommitOfWhatTheClientHasForgotten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		r := b.receiver(emulator.Main, emulator.PeekLock)
		g := r.take(1)[0]
		w := b.begin()
		if err := r.c.SettleIn(w.Transaction, g.d.Lock(), emulator.Settlement{Forgotten: true}); err != nil {
			t.Fatalf("settle: %v", err)
		}
		w.commit()
		b.wantCounts(0, 0, 0, 0)
		b.verify(true)
	})
}

func TestJMS5_RollbackInADeletedQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		r := b.receiver(emulator.Main, emulator.PeekLock)
		g := r.take(1)[0]
		w := b.begin()
		if err := r.c.SettleIn(w.Transaction, g.d.Lock(), emulator.Settlement{Forgotten: true}); err != nil {
			t.Fatalf("settle: %v", err)
		}
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		n := b.j.last()
		w.Rollback()
		equal(t, "written", len(b.j.since(n+1)), 0)
	})
}
