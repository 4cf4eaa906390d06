package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestPEEK1_LeavesNoTrace(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		changes, _ := b.j.seen()
		for range 20 { // more than MaxDeliveryCount
			g := b.peekOne(emulator.Main, 0)
			equal(t, "delivery count", g.count(), 0)
			if g.has("x-opt-locked-until") || len(g.DeliveryAnnotations) > 0 {
				t.Fatalf("a peeked message has lock data: %v %v", g.Annotations, g.DeliveryAnnotations)
			}
		}
		after, _ := b.j.seen()
		equal(t, "changes in the journal", after, changes)
		g := b.one()
		equal(t, "received all the same", g.body(), "a")
		equal(t, "delivery count", g.count(), 0)
		locked := b.peekOne(emulator.Main, 0)
		if locked.has("x-opt-locked-until") || len(locked.DeliveryAnnotations) > 0 {
			t.Errorf("peek shows somebody's lock: %v %v", locked.Annotations, locked.DeliveryAnnotations)
		}
	})
}

func TestPEEK2_PEEK3_PROP6_EveryStateButDeadLettered(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deadLetterOne(text("dead"))
		b.deferOne(text("deferred"))
		b.sendTexts("locked")
		b.receive(1)
		b.schedule(at("scheduled", soon(time.Hour)))
		b.sendTexts("active")
		gs := b.peek()
		equal(t, "peeked", bodies(gs), "deferred locked scheduled active")
		equalSlices(t, "states", mapped(gs, (*got).state), 1, 0, 2, 0)
		dead := b.peekFrom(emulator.DeadLetter, 0, 10)
		equal(t, "in the dead-letter queue", bodies(dead), "dead")
		equal(t, "state there", dead[0].state(), 0)
	})
}

func TestPEEK4_PEEK5_AscendingFromANumberInclusive(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b", "c", "d", "e")
		b.settle(emulator.Complete, b.receive(3)[2]) // a hole at 3
		for _, c := range []struct {
			from int64
			max  int
			want string
		}{
			{0, 10, "a b d e"}, {1, 10, "a b d e"}, {2, 1, "b"}, {2, 2, "b d"}, {3, 1, "d"}, {4, 1, "d"}, {5, 10, "e"}, {6, 10, ""},
		} {
			equal(t, fmt.Sprintf("from %d, at most %d", c.from, c.max), bodies(b.peekFrom(emulator.Main, c.from, c.max)), c.want)
		}
		// The broker keeps no cursor: the same request has the same answer.
		equal(t, "again from 0", bodies(b.peekFrom(emulator.Main, 0, 2)), "a b")
		equal(t, "again from 0", bodies(b.peekFrom(emulator.Main, 0, 2)), "a b")
	})
}

func TestPEEK4_PagingSeesEveryMessageOnce(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts(make([]string, 777)...)
		for _, page := range []int{1, 7, 64, 65, 250} {
			from, seen := int64(0), 0
			for {
				gs := b.peekFrom(emulator.Main, from, page)
				if len(gs) == 0 {
					break
				}
				for _, g := range gs {
					seen++
					equal(t, "number", g.seq(), int64(seen))
				}
				from = gs[len(gs)-1].seq() + 1
			}
			equal(t, fmt.Sprintf("messages in pages of %d", page), seen, 777)
		}
	})
}

func TestPEEK6_CappedByCountAndSize(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts(make([]string, 300)...)
		equal(t, "at most 250", len(b.peekFrom(emulator.Main, 0, 1000)), 250)
		b.send(text(strings.Repeat("x", 200_000)))
		b.send(text(strings.Repeat("y", 200_000)))
		equal(t, "two large ones in a reply of 256 KiB", len(b.peekFrom(emulator.Main, 301, 10)), 1)
		gs, err := b.tryPeek(emulator.Main, 301, 10, 1000, false)
		if err != nil || len(gs) != 1 {
			t.Errorf("one larger than the reply may be: %d messages, error %v; want one", len(gs), err)
		}
		gs, err = b.tryPeek(emulator.Main, 301, 10, 1<<20, false)
		if err != nil || len(gs) != 2 {
			t.Errorf("a larger reply: %d messages, error %v; want two", len(gs), err)
		}
	})
}

func TestPEEK9_DLQ3_OnTheDeadLetterQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for _, s := range []string{"a", "b", "c"} {
			b.deadLetterOne(text(s))
		}
		equal(t, "all", bodies(b.peekFrom(emulator.DeadLetter, 0, 10)), "a b c")
		equal(t, "from number 2", bodies(b.peekFrom(emulator.DeadLetter, 2, 10)), "b c")
		equal(t, "in the transfer dead-letter queue", len(b.peekFrom(emulator.TransferDeadLetter, 0, 10)), 0)
	})
}

func TestPEEK12_CountBelowOneIsRefused(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		for _, n := range []int{0, -1} {
			_, err := b.tryPeek(emulator.Main, 0, n, 0, false)
			wantCode(t, fmt.Sprintf("peek of %d", n), err, emulator.CodeArgument)
		}
		equal(t, "from a negative number", bodies(b.peekFrom(emulator.Main, -5, 10)), "a")
	})
}

func TestPEEK13_WhateverTheStatus(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		for _, s := range []emulator.Status{emulator.StatusDisabled, emulator.StatusReceiveDisabled, emulator.StatusSendDisabled} {
			b.update(func(o *emulator.QueueOptions) { o.Status = s })
			equal(t, string(s), bodies(b.peek()), "a")
		}
	})
}

func TestPEEK14_WithoutBodies(t *testing.T) {
	for _, o := range []emulator.Options{{}, {BodyBudget: 1}} {
		bubbleWith(t, o, emulator.QueueOptions{}, func(b *broker) {
			m := text("some body")
			m.Properties = properties("id")
			m.ApplicationProperties = map[string]any{"k": "v"}
			m.Footer = goamqp.Annotations{"f": "v"}
			b.send(m, &goamqp.Message{Properties: properties("no body")})
			gs, err := b.tryPeek(emulator.Main, 0, 10, 0, true)
			if err != nil || len(gs) != 2 {
				t.Fatalf("peek without bodies: %d messages, error %v", len(gs), err)
			}
			g := gs[0]
			if len(g.Data) != 0 || g.Value != nil {
				t.Errorf("the body is there: %q", g.Data)
			}
			if n, ok := g.DeliveryAnnotations["omitted-message-body-size"].(int64); !ok || n <= 0 {
				t.Errorf("size of the omitted body: %v", g.DeliveryAnnotations)
			}
			equal(t, "message id", g.Properties.MessageID.(string), "id")
			equal(t, "property", g.property("k"), any("v"))
			equal(t, "size without a body", gs[1].DeliveryAnnotations["omitted-message-body-size"], any(int64(0)))

			full := b.peekOne(emulator.Main, 0)
			equal(t, "body otherwise", full.body(), "some body")
			equal(t, "delivery annotations otherwise", len(full.DeliveryAnnotations), 0)
		})
	}
}

func TestPEEK10_EXP7_ExpiredMessagesAreNotShownWhileTheirRemovalIsWritten(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		bubbleWith(t, emulator.Options{LazyExpiry: lazy}, emulator.QueueOptions{}, func(b *broker) {
			b.send(withTTL("locked", time.Second), withTTL("dropped", time.Second), text("stays"))
			b.one()
			want := map[bool]string{false: "locked stays", true: "locked dropped stays"}[lazy]
			b.j.Pause()
			wait(time.Second)
			equal(t, "while it is being written", bodies(b.peek()), want)
			b.j.Resume()
			synctest.Wait()
			equal(t, "when it is written", bodies(b.peek()), want)
		})
	}
}

func TestPEEK2_PEEK10_DEC22_ExpiredDeferredMessagesAreShown(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deferOne(withTTL("deferred", time.Second))
		b.send(withTTL("active", time.Second))
		wait(time.Minute)
		gs := b.peek()
		equal(t, "peeked after both expired", bodies(gs), "deferred")
	})
}

func TestPROP3_PEEK2_DeferredMessagesShowTheEndOfTheirLock(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: time.Minute}, func(b *broker) {
		until := now().Add(time.Minute)
		seq := b.deferOne(text("x"))
		wait(time.Hour)
		shows := func(what string, want time.Time) {
			t.Helper()
			have, _ := b.peekOne(emulator.Main, seq).Annotations["x-opt-locked-until"].(time.Time)
			equal(t, what, have.UTC(), want)
		}
		shows("of the lock that it was deferred with", until)
		until = now().Add(time.Minute)
		g := b.fetch(seq)
		shows("while it is locked", until)
		b.settle(emulator.Abandon, g)
		shows("abandoned", until)
		b.restart()
		equal(t, "after a restart, which no lock survives", b.peekOne(emulator.Main, seq).has("x-opt-locked-until"), false)
	})
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		b.settle(emulator.Defer, h.take(1)...)
		wait(time.Second)
		if _, err := h.c.RenewSession(); err != nil {
			t.Fatalf("renew: %v", err)
		}
		gs := b.peekSession("s")
		have, _ := gs[0].Annotations["x-opt-locked-until"].(time.Time)
		equal(t, "of the session", have.UTC(), h.until())
		equal(t, "of an active message", gs[1].has("x-opt-locked-until"), false)
	})
}
