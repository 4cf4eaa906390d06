package emulator_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// dies is a queue whose messages die on the first failed delivery.
var dies = emulator.QueueOptions{MaxDeliveryCount: 1, ForwardDeadLetteredMessagesTo: "target"}

// kill sends messages and lets them die.
func (b *broker) kill(ms ...*goamqp.Message) {
	b.t.Helper()
	b.send(ms...)
	b.settle(emulator.Abandon, b.receive(len(ms))...)
}

func TestFWD6_DEC28_WhatASessionTargetCannotTakeHoldsUpNothing(t *testing.T) {
	bubble(t, dies, func(b *broker) {
		target := b.create("target", sessionful)
		var lame []*goamqp.Message
		for i := range 150 { // more than a forwarder takes at once
			lame = append(lame, text(fmt.Sprint(i)))
		}
		b.kill(lame...)
		b.kill(inSession("s", "s:1"), text("lame"), inSession("s", "s:2"))
		synctest.Wait()
		equal(t, "moved at once", bodies(target.peekSession("s")), "s:1 s:2")
		b.wantCounts(0, 151, 0, 0)
		changes, reads := b.j.seen()
		wait(time.Hour)
		after, readsAfter := b.j.seen()
		equal(t, "changes and reads while nothing can move", after-changes+readsAfter-reads, 0)
		b.kill(inSession("s", "s:3"))
		synctest.Wait()
		equal(t, "moved later", bodies(target.peekSession("s")), "s:1 s:2 s:3")
		b.restart()
		synctest.Wait()
		b.wantCounts(0, 151, 0, 0)
	})
}

func TestFWD6_DEC28_ParkedMessagesGoWhenTheTargetTakesThem(t *testing.T) {
	want := "1 2 3"
	for what, fix := range map[string]func(b *broker) *broker{
		"another queue of that name": func(b *broker) *broker {
			if err := b.ns.Entities().Delete("target"); err != nil {
				t.Fatalf("delete: %v", err)
			}
			wait(time.Hour)
			return b.create("target", emulator.QueueOptions{})
		},
		"another target": func(b *broker) *broker {
			other := b.create("other", emulator.QueueOptions{})
			b.set(func(o *emulator.QueueOptions) { o.ForwardDeadLetteredMessagesTo = "other" })
			return other
		},
	} {
		bubble(t, dies, func(b *broker) {
			b.create("target", sessionful)
			b.kill(texts("1", "2", "3")...)
			wait(time.Minute)
			b.wantCounts(0, 3, 0, 0)
			target := fix(b)
			synctest.Wait()
			equal(t, what+": moved", bodies(target.peek()), want)
			b.wantCounts(0, 0, 0, 0)
		})
	}
	bubble(t, dies, func(b *broker) {
		b.create("target", sessionful)
		b.kill(texts("1", "2", "3")...)
		b.set(func(o *emulator.QueueOptions) { o.ForwardDeadLetteredMessagesTo = "" })
		equal(t, "no target: received", bodies(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 9)), want)
	})
}

func TestFWD6_ParkedWhileTheTargetIsTakenAway(t *testing.T) {
	bubbleWith(t, small, dies, func(b *broker) { // bodies have to be read
		b.create("target", sessionful)
		b.send(texts("1", "2")...)
		gs := b.receive(2)
		updated := make(chan error, 1)
		once := false
		b.j.onRead(func() {
			if !once {
				once = true
				go func() {
					_, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{MaxDeliveryCount: 1})
					updated <- err
				}()
			}
		})
		b.settle(emulator.Abandon, gs...)
		if err := <-updated; err != nil {
			t.Fatalf("update: %v", err)
		}
		b.j.onRead(nil)
		wait(time.Minute)
		equal(t, "received", bodies(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 9)), "1 2")
	})
}

func TestCNT6_WhatWaitsToBeForwarded(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		b.deferOne(text("deferred"))
		b.sendTexts("locked", "a", "b")
		b.one()
		b.schedule(at("scheduled", soon(time.Hour)))
		want := func(what string, active, transfer int64) {
			t.Helper()
			c := b.q.Counts()
			equal(t, what+": active", c.Active, active)
			equal(t, what+": transfer", c.Transfer, transfer)
			equal(t, what+": deferred", c.Deferred, 1)
			equal(t, what+": scheduled", c.Scheduled, 1)
		}
		want("without a target", 4, 0)
		b.set(func(o *emulator.QueueOptions) { o.ForwardTo, o.Status = "target", emulator.StatusDisabled })
		want("paused (FWD-17)", 2, 2)
		b.j.Pause()
		done := make(chan error, 1)
		go func() {
			_, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{ForwardTo: "target"})
			done <- err
		}()
		b.j.Resume()
		if err := <-done; err != nil {
			t.Fatalf("update: %v", err)
		}
		synctest.Wait()
		want("when all has moved", 2, 0)
		target.wantCounts(2, 0, 0, 0)
		b.j.onTransfer(target.q.ID(), b.j.Pause)
		if err := b.q.Send(b.encodeAll(texts("c")), newOutcome()); err != nil {
			t.Fatalf("send: %v", err)
		}
		synctest.Wait()
		want("while the move is being written", 2, 1)
		b.j.onTransfer(0, nil)
		b.j.Resume()
		synctest.Wait()
		want("when it is written", 2, 0)
	})
}
