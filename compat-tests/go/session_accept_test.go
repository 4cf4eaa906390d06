package compat

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

// sessions is a queue that requires sessions.
var sessions = harness.Queue{Name: queueName, RequiresSession: true}

func TestSESS6_SESS12_SESS13_AcceptByID(t *testing.T) {
	provesAnywhere(t, "sess.accept")
	b := serve(t, sessions)
	since := time.Now()
	holder := b.accept(b.client, queueName, "a") // never had a message
	until := holder.LockedUntil()
	if earliest := since.Truncate(time.Millisecond).Add(defaultLock); until.Before(earliest.Add(-b.slack())) || until.After(time.Now().Add(defaultLock+b.slack())) {
		b.Errorf("session locked until %v, want a minute from %v", until, since)
	}
	b.put(queueName, inSession("b", "b1"), inSession("a", "a1"), inSession("a", "a2"))
	messages := b.receive(holder, 2)
	b.check(messages[0], stamps{body: "a1", seq: 2, count: 1})
	b.check(messages[1], stamps{body: "a2", seq: 3, count: 1})
	for _, m := range messages {
		b.wantText("session id", m.SessionID, "a")
		if m.LockedUntil == nil || !m.LockedUntil.Equal(until.Truncate(time.Millisecond)) {
			b.Errorf("%s is locked until %v, the session until %v (SESS-12)", m.Body, m.LockedUntil, until)
		}
		b.must("complete", holder.CompleteMessage(b.ctx, m, nil))
	}
	b.wantEmpty(holder)
}

func TestSESS7_HeldSessionIsRefusedAtOnce(t *testing.T) {
	provesAnywhere(t, "sess.held")
	b := serve(t, sessions)
	b.accept(b.client, queueName, "a")
	for _, client := range []*azservicebus.Client{b.client, b.connect()} {
		begin := time.Now()
		_, err := client.AcceptSessionForQueue(b.ctx, b.name(queueName), "a", nil)
		b.wantErrorText("accept a held session", err, "com.microsoft:session-cannot-be-locked")
		b.wantErrorText("accept a held session", err, "The requested session 'a' cannot be accepted. It may be locked by another receiver.")
		if waited := time.Since(begin); waited > 30*time.Second {
			b.Errorf("refused after %v, want at once", waited)
		}
	}
	b.accept(b.client, queueName, "b") // the connection lives on
}

func TestSESS8_SESS10_AcceptNext(t *testing.T) {
	provesAnywhere(t, "sess.next", "sess.waits")
	b := serve(t, sessions)
	b.put(queueName, inSession("z", "1"), inSession("a", "2"), inSession("z", "3"))
	for i, want := range []string{"z", "a"} { // by the lowest available number
		next, err := b.client.AcceptNextSessionForQueue(b.ctx, b.name(queueName), nil)
		b.must("accept next", err)
		if next.SessionID() != want {
			b.Errorf("session %d is %q, want %q", i, next.SessionID(), want)
		}
		b.check(b.receiveOne(next), stamps{body: fmt.Sprint(i + 1), seq: int64(i + 1), count: 1})
	}
	accepted := make(chan *azservicebus.SessionReceiver)
	go func() {
		defer close(accepted)
		if next, err := b.client.AcceptNextSessionForQueue(b.ctx, b.name(queueName), nil); err == nil {
			accepted <- next
		}
	}()
	select {
	case next := <-accepted:
		b.Fatalf("accepted %v while nothing is available", next)
	case <-time.After(b.pace(emptyWait)):
	}
	b.put(queueName, inSession("late", "4")) // granted as soon as it exists
	next := <-accepted
	if next == nil || next.SessionID() != "late" {
		b.Fatalf("accepted %v, want session late", next)
	}
	b.check(b.receiveOne(next), stamps{body: "4", seq: 4, count: 1})
}

// The server answers within the time that the client names, and a wait that has ended takes no session later (SESS-9).
func TestSESS8_SESS9_AcceptNextTimesOut(t *testing.T) {
	b := serve(t, sessions)
	session := b.dial()
	begin := time.Now()
	_, err := session.NewReceiver(b.ctx, queueName, &amqp.ReceiverOptions{
		Filters:    []amqp.LinkFilter{amqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, nil)},
		Properties: map[string]any{"com.microsoft:timeout": uint32(400)},
	})
	b.wantErrorText("accept next", err, "com.microsoft:timeout")
	if waited := time.Since(begin); waited < 400*time.Millisecond || waited > 30*time.Second {
		b.Errorf("timed out after %v, want 400 ms", waited)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 400*time.Millisecond)
	defer cancel()
	if next, err := b.client.AcceptNextSessionForQueue(ctx, b.name(queueName), nil); err == nil {
		b.Fatalf("accepted session %q of an empty queue", next.SessionID())
	}
	b.put(queueName, inSession("a", "a1"))
	b.check(b.receiveOne(b.accept(b.connect(), queueName, "a")), stamps{body: "a1", seq: 1, count: 1})
}

// Accept-next never offers sessions without an available message.
func TestSESS11_DEF10_SCHED20_WhatAcceptNextPassesOver(t *testing.T) {
	b := serve(t, sessions)
	b.put(queueName, inSession("deferred", "d"), inSession("empty", "e"))
	holder := b.accept(b.client, queueName, "deferred")
	b.must("defer", holder.DeferMessage(b.ctx, b.receiveOne(holder), nil))
	b.must("close", holder.Close(b.ctx))
	holder = b.accept(b.client, queueName, "empty")
	b.must("complete", holder.CompleteMessage(b.ctx, b.receiveOne(holder), nil))
	b.must("set state", holder.SetSessionState(b.ctx, []byte("state"), nil))
	b.must("close", holder.Close(b.ctx))
	_, err := b.to(queueName).ScheduleMessages(b.ctx, []*azservicebus.Message{inSession("scheduled", "s")}, time.Now().Add(time.Hour), nil)
	b.must("schedule", err)

	ctx, cancel := context.WithTimeout(b.ctx, 500*time.Millisecond)
	defer cancel()
	if next, err := b.client.AcceptNextSessionForQueue(ctx, b.name(queueName), nil); err == nil {
		b.Errorf("accept next gave %q", next.SessionID())
	}
	holder = b.accept(b.client, queueName, "deferred") // by id it works (DEF-10)
	fetched, err := holder.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.must("receive deferred", err)
	b.wantBodies("deferred", fetched, "d")
}

func TestSESS34_BlankSessionID(t *testing.T) {
	provesAnywhere(t, "sess.empty")
	b := serve(t, sessions)
	b.put(queueName, inSession("a", "a1"), inSession("", "blank"))
	holder := b.accept(b.client, queueName, "")
	m := b.receiveOne(holder)
	b.check(m, stamps{body: "blank", seq: 2, count: 1})
	b.wantText("session id", m.SessionID, "")
	b.must("set state", holder.SetSessionState(b.ctx, []byte("s"), nil))
	state, err := holder.GetSessionState(b.ctx, nil)
	if b.must("get state", err); string(state) != "s" {
		b.Errorf("state is %q", state)
	}
	b.must("renew", holder.RenewSessionLock(b.ctx, nil))
	b.must("defer", holder.DeferMessage(b.ctx, m, nil))
	fetched, err := holder.ReceiveDeferredMessages(b.ctx, []int64{2}, nil)
	b.must("receive deferred", err)
	b.must("complete", holder.CompleteMessage(b.ctx, fetched[0], nil))
}

func TestSESS2_SESS4_SESS5_WrongKindsAreRefused(t *testing.T) {
	provesAnywhere(t, "sess.noid", "sess.plain", "sess.nosessions")
	b := serve(t, sessions, harness.Queue{Name: "plain"})
	const noID = "The SessionId was not set on a message, and it cannot be sent to the entity."
	err := b.to(queueName).SendMessage(b.ctx, message("x"), nil)
	b.wantErrorText("send without session id", err, "amqp:not-allowed")
	b.wantErrorText("send without session id", err, noID)
	_, err = b.to(queueName).ScheduleMessages(b.ctx, []*azservicebus.Message{message("x")}, time.Now().Add(time.Hour), nil)
	b.wantErrorText("schedule without session id", err, noID)
	_, err = b.from(queueName).ReceiveMessages(b.ctx, 1, nil)
	b.wantErrorText("plain receiver", err, "amqp:not-allowed")
	b.wantErrorText("plain receiver", err, "It is not possible for an entity that requires sessions to create a non-sessionful message receiver.")
	_, err = b.client.AcceptSessionForQueue(b.ctx, b.name("plain"), "a", nil)
	b.wantErrorText("session receiver of a plain queue", err, "amqp:not-allowed")
	b.wantErrorText("session receiver of a plain queue", err, "RequiresSession")
	b.put("plain", inSession("kept", "y")) // SESS-4
	m := b.receiveOne(b.from("plain"))
	b.check(m, stamps{body: "y", seq: 1, count: 1})
	b.wantText("session id", m.SessionID, "kept")
}
