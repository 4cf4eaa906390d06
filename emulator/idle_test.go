package emulator_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// idleSpan is how long a queue of these tests may be idle.
const idleSpan = 10 * time.Minute

func idling(o emulator.QueueOptions) emulator.QueueOptions {
	o.AutoDeleteOnIdle = idleSpan
	return o
}

// exists reports whether the queue "q" is still there.
func (b *broker) exists() bool { return b.ns.Exists("q") }

// wantIdleAfter checks that the queue is deleted a span from now and not before.
func (b *broker) wantIdleAfter(what string) {
	b.t.Helper()
	wait(idleSpan - time.Millisecond)
	if !b.exists() {
		b.t.Errorf("%s: deleted before a span was over", what)
	}
	wait(2 * time.Millisecond)
	if b.exists() {
		b.t.Errorf("%s: not deleted after a span", what)
	}
}

func TestIDLE1_QueueGoesWithItsMessages(t *testing.T) {
	bubble(t, idling(emulator.QueueOptions{}), func(b *broker) {
		b.deadLetterOne(text("dead"))
		b.sendTexts("a")
		var told []error
		b.q.Watch(emulator.Main, func(err error) { told = append(told, err) })
		b.wantIdleAfter("the last send")
		if len(told) != 1 {
			t.Fatalf("links were told %d times", len(told))
		}
		wantCode(t, "what links are told", told[0], emulator.CodeNotFound)
		again := b.create("q", emulator.QueueOptions{})
		again.sendTexts("b")
		equal(t, "number in a queue of the same name", again.one().seq(), 1)
	})
}

func TestIDLE1_NeverUnlessAsked(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		wait(10 * 365 * 24 * time.Hour)
		equal(t, "exists", b.exists(), true)
	})
}

func TestIDLE2_PEEK11_WhatCountsAsUse(t *testing.T) {
	for name, use := range map[string]func(b *broker){
		"create":  func(*broker) {},
		"send":    func(b *broker) { b.sendTexts("x") },
		"receive": func(b *broker) { b.one() },
		"browse":  func(b *broker) { b.peek() },
		"update":  func(b *broker) { b.update(func(*emulator.QueueOptions) {}) },
		"attach":  func(b *broker) { b.receiver(emulator.Main, emulator.PeekLock) },
		"settle": func(b *broker) {
			g := b.one()
			wait(50 * time.Second)
			b.settle(emulator.Complete, g)
		},
		"batch delete": func(b *broker) { b.deleteBatch(emulator.Main, 1, now()) },
		"restart":      func(b *broker) { b.restart() },
		"failed send": func(b *broker) {
			b.failOnce()
			_ = b.trySend(text("x"))
		},
		"transaction": func(b *broker) {
			w := b.begin()
			w.send(b, text("x"))
			wait(time.Minute)
			w.commit()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, idling(emulator.QueueOptions{}), func(b *broker) {
				b.sendTexts("a", "b")
				if name != "create" {
					wait(idleSpan / 2)
				}
				use(b)
				b.wantIdleAfter(name)
			})
		})
	}
}

func TestIDLE2_SESS8_SessionsInUse(t *testing.T) {
	bubble(t, idling(emulator.QueueOptions{RequiresSession: true, LockDuration: 5 * time.Minute}), func(b *broker) {
		wait(idleSpan / 2)
		w := b.next()
		wait(idleSpan)
		wait(idleSpan / 2)
		equal(t, "exists while an accept waits", b.exists(), true)
		w.cancel()
		wait(idleSpan / 2)
		h := b.accept("s")
		wait(2 * time.Minute)
		if _, err := h.c.RenewSession(); err != nil {
			t.Fatalf("renew: %v", err)
		}
		b.wantIdleAfter("the last renewal")
	})
}

func TestIDLE2_SCHED26_ScheduledMessagesKeepTheQueue(t *testing.T) {
	bubble(t, idling(emulator.QueueOptions{}), func(b *broker) {
		b.send(at("a", soon(3*idleSpan-time.Minute)))
		wait(3*idleSpan - time.Minute)
		equal(t, "exists until it is due", b.exists(), true)
		b.wantIdleAfter("the activation")
	})
}

func TestIDLE2_SubscriptionsThatComeAndGoKeepTheTopic(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{AutoDeleteOnIdle: 5 * time.Minute}, nil, func(b *broker) {
		wait(4 * time.Minute)
		b.subscribe(named("s")[0])
		wait(4 * time.Minute)
		if err := b.ns.Entities().Delete("t/Subscriptions/s"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		wait(4 * time.Minute)
		equal(t, "topics", len(b.ns.Entities().Topics()), 1)
		wait(time.Minute)
		equal(t, "topics without use", len(b.ns.Entities().Topics()), 0)
	})
}

func TestIDLE4_FWD13_QueueThatForwardsIsNeverIdle(t *testing.T) {
	o := idling(emulator.QueueOptions{ForwardTo: "target"})
	bubble(t, o, func(b *broker) {
		target := b.create("target", idling(emulator.QueueOptions{}))
		wait(idleSpan / 2)
		b.sendTexts("a")
		synctest.Wait()
		wait(idleSpan - time.Millisecond)
		equal(t, "the target exists for a span after the forward", b.ns.Exists(target.q.Path()), true)
		wait(2 * time.Millisecond)
		equal(t, "the target exists later", b.ns.Exists(target.q.Path()), false)
		wait(10 * idleSpan)
		equal(t, "the source exists", b.exists(), true)
		b.update(func(o *emulator.QueueOptions) { o.ForwardTo = "" })
		b.wantIdleAfter("the end of the forward")
	})
}

func TestIDLE5_CreditCountsAsReceiving(t *testing.T) {
	for name, stop := range map[string]func(c *emulator.Consumer){
		"close":  (*emulator.Consumer).Close,
		"credit": func(c *emulator.Consumer) { c.Take(nil, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, idling(emulator.QueueOptions{}), func(b *broker) {
				c := b.receiver(emulator.Main, emulator.PeekLock).c
				c.Take(nil, 1)
				wait(3*idleSpan - time.Minute)
				equal(t, "exists while a receiver waits", b.exists(), true)
				stop(c)
				b.wantIdleAfter("withdrawn credit")
			})
		})
	}
}

func TestIDLE5_AttachedLinkWithoutCreditDoesNot(t *testing.T) {
	bubble(t, idling(emulator.QueueOptions{}), func(b *broker) {
		b.receiver(emulator.Main, emulator.PeekLock)
		b.wantIdleAfter("an attach")
	})
}

func TestIDLE1_FailedDeletionIsTriedAgainAfterAnotherSpan(t *testing.T) {
	bubble(t, idling(emulator.QueueOptions{}), func(b *broker) {
		b.send(withTTL("expires", idleSpan+time.Minute))
		wait(idleSpan - time.Millisecond)
		b.failOnce()
		changes, _ := b.j.seen()
		wait(time.Second)
		after, _ := b.j.seen()
		equal(t, "tries", after-changes, 1)
		equal(t, "exists", b.exists(), true)
		wait(2 * time.Minute)
		b.wantCounts(0, 0, 0, 0) // its timer runs on
		wait(idleSpan)
		equal(t, "exists at the end", b.exists(), false)
	})
}

func TestIDLE1_UseAtTheLastMoment(t *testing.T) {
	bubble(t, idling(emulator.QueueOptions{}), func(b *broker) {
		for range 50 {
			time.Sleep(idleSpan)
			// The timer and the send meet in either order. What was accepted is there, and the queue's timer runs on.
			err := b.q.Send(b.encodeAll([]*goamqp.Message{withTTL("x", time.Minute)}), newOutcome())
			synctest.Wait()
			if err != nil {
				wantCode(t, "send", err, emulator.CodeNotFound)
				equal(t, "exists", b.exists(), false)
				b.q = b.create("q", idling(emulator.QueueOptions{})).q
				continue
			}
			equal(t, "exists", b.exists(), true)
			b.wantCounts(1, 0, 0, 0)
			wait(time.Minute)
			b.wantCounts(0, 0, 0, 0)
		}
	})
}

// logHook is a log handler that calls itself for every record.
type logHook func(text string)

func (f logHook) Enabled(context.Context, slog.Level) bool      { return true }
func (f logHook) Handle(_ context.Context, r slog.Record) error { f(r.Message); return nil }
func (f logHook) WithAttrs([]slog.Attr) slog.Handler            { return f }
func (f logHook) WithGroup(string) slog.Handler                 { return f }

func TestIDLE1_UseBetweenTheDecisionAndTheDeletion(t *testing.T) {
	var b *broker
	used := false
	hook := logHook(func(text string) {
		if strings.Contains(text, "idle") && !used {
			used = true
			if err := b.q.Send(b.encodeAll(texts("x")), newOutcome()); err != nil {
				t.Errorf("send: %v", err)
			}
		}
	})
	bubbleWith(t, emulator.Options{Logger: slog.New(hook)}, idling(emulator.QueueOptions{}), func(it *broker) {
		b = it
		b.send(withTTL("expires", idleSpan+time.Minute))
		wait(idleSpan)
		equal(t, "used", used, true)
		equal(t, "exists", b.exists(), true)
		b.wantCounts(2, 0, 0, 0)
		wait(time.Minute) // its timer runs on
		b.wantCounts(1, 0, 0, 0)
		wait(idleSpan)
		equal(t, "exists in the end", b.exists(), false)
	})
}

func TestDEL1_SessionsAndWaitingAcceptsOfADeletedQueue(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1")
		h, w := b.accept("s"), b.next()
		if err := h.setState([]byte("x")); err != nil {
			t.Fatalf("set state: %v", err)
		}
		gs := h.take(1)
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		_, err := h.c.RenewSession()
		wantCode(t, "renew", err, emulator.CodeNotFound)
		wantCode(t, "set state", h.setState(nil), emulator.CodeNotFound)
		wantCode(t, "complete", b.trySettle(emulator.Complete, nil, gs[0].token()), emulator.CodeNotFound)
		_, err = b.tryAccept("t")
		wantCode(t, "accept", err, emulator.CodeNotFound)
		_, err = b.q.Sessions().IDs(true, 0, 0, 1)
		wantCode(t, "list", err, emulator.CodeNotFound)
		h.c.Close()
		w.cancel()
		again := b.create("q", sessionful)
		equal(t, "state in a queue of the same name", again.stateOf("s"), "none")
		again.sendSession("s:2")
		b.restart()
		equal(t, "state after a restart", b.stateOf("s"), "none")
		equal(t, "received after a restart", bodies(b.accept("s").take(5)), "s:2")
		equal(t, "granted to an accept of the deleted queue", w.granted(), 0)
	})
}

func TestDEL1_FailedDeletionGoesOnForwarding(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		b.j.Pause()
		done := newOutcome()
		if err := b.q.Send(b.encodeAll(texts("a")), done); err != nil {
			t.Fatalf("send: %v", err)
		}
		b.j.on(emulator.OpDeleteEntity, func() { // the message arrives while the queue is being deleted
			b.j.Resume()
			synctest.Wait()
			b.failOnce()
		})
		if err := b.ns.Entities().Delete("q"); !errors.Is(err, errDisk) {
			t.Fatalf("delete: %v", err)
		}
		wait(2 * time.Second) // the forward may be queued behind the deletion, fail with it and be tried again
		equal(t, "in the target", bodies(target.receive(5)), "a")
	})
}

func TestDEL1_DeletedPartitionedQueueLeavesNoCounters(t *testing.T) {
	bubble(t, partitioned, func(b *broker) {
		b.send(withKey("k", "a"))
		first := b.one().seq()
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		again := b.create("q", partitioned)
		again.send(&goamqp.Message{Annotations: goamqp.Annotations{"x-opt-partition-key": "k"}, Data: [][]byte{[]byte("b")}})
		equal(t, "number in a queue of the same name", again.one().seq(), first)
	})
}
