package compat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// controlled runs a server that can be restarted, with the queue "orders" and a queue with sessions, and a client that tries again
// as the SDK does by default, only sooner.
func controlled(t *testing.T) (*bench, *harness.Control) {
	t.Helper()
	t.Parallel()
	c := harness.StartControlled(t, harness.Options{Config: configOf(t, harness.Queue{Name: queueName}, harness.Queue{Name: "sessions", RequiresSession: true})})
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	b := &bench{T: t, ctx: ctx, server: c.Server(), connection: c.Server().ConnectionString(), began: time.Now().Truncate(time.Millisecond)}
	b.client = b.persistent(c.Server().ConnectionString())
	b.sender, b.receiver = b.newSender(b.client), b.newReceiver(b.client, nil)
	return b, c
}

// persistent is a client with retries.
func (b *bench) persistent(connection string) *azservicebus.Client {
	b.Helper()
	client, err := azservicebus.NewClientFromConnectionString(connection, &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{MaxRetries: 8, RetryDelay: 200 * time.Millisecond, MaxRetryDelay: time.Second},
	})
	b.must("create client", err)
	b.Cleanup(func() { client.Close(context.Background()) })
	return client
}

func TestRestart_SenderAndReceiverGoOn(t *testing.T) {
	proves(t, "restart.send", "restart.receive", "restart.kill")
	b, c := controlled(t)
	for round, how := range []string{"/restart", "/kill"} {
		b.send("before")
		b.must("complete", b.receiver.CompleteMessage(b.ctx, b.receiveOne(b.receiver), nil))
		b.send("kept")
		c.Do(t, how)
		b.send("after")
		for i, m := range b.receive(b.receiver, 2) {
			if want := []string{"kept", "after"}[i]; string(m.Body) != want {
				b.Errorf("round %d: received %q, want %q", round, m.Body, want)
			}
			b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
		}
	}
}

func TestRestart_LocksEndWithTheProcess(t *testing.T) {
	proves(t, "restart.lock", "restart.deferred")
	b, c := controlled(t)
	b.send("locked", "deferred")
	got := b.receive(b.receiver, 2)
	b.must("defer", b.receiver.DeferMessage(b.ctx, got[1], nil))
	numbers, err := b.sender.ScheduleMessages(b.ctx, messages(1), time.Now().Add(time.Hour), nil)
	b.must("schedule", err)
	c.Do(t, "/restart")
	b.check(b.receiveOne(b.receiver), stamps{body: "locked", seq: 1, count: 1})
	got[0].RawAMQPMessage = nil // the SDK then asks the broker, not the link that is gone
	b.wantCode("complete with the old lock", b.receiver.CompleteMessage(b.ctx, got[0], nil), azservicebus.CodeLockLost)
	fetched, err := b.receiver.ReceiveDeferredMessages(b.ctx, []int64{2}, nil)
	b.must("receive deferred", err)
	b.wantBodies("deferred", fetched, "deferred")
	b.must("cancel", b.sender.CancelScheduledMessages(b.ctx, numbers, nil))
}

func TestRestart_SessionIsAcceptedAgain(t *testing.T) {
	proves(t, "restart.session")
	b, c := controlled(t)
	b.put("sessions", inSession("a", "1"))
	holder := b.accept(b.client, "sessions", "a")
	b.must("set state", holder.SetSessionState(b.ctx, []byte("half way"), nil))
	b.receiveOne(holder)
	c.Do(t, "/restart")
	holder.Close(b.ctx) // with the error of the connection that is gone
	// The SDK does not try again when an accept finds its connection gone.
	holder, err := b.client.AcceptSessionForQueue(b.ctx, "sessions", "a", nil)
	if err != nil {
		holder = b.accept(b.client, "sessions", "a")
	}
	state, err := holder.GetSessionState(b.ctx, nil)
	if b.must("get state", err); string(state) != "half way" {
		b.Errorf("state is %q", state)
	}
	b.check(b.receiveOne(holder), stamps{body: "1", seq: 1, count: 1})
}

// Every SDK takes a server that is away for a while for transient.
func TestRestart_ASendWaitsForTheServer(t *testing.T) {
	proves(t, "err.transient")
	b, c := controlled(t)
	b.send("before")
	c.Do(t, "/stop")
	back := make(chan struct{})
	go func() {
		defer close(back)
		time.Sleep(time.Second)
		c.Do(t, "/start")
	}()
	b.send("while it is away")
	<-back
	b.wantBodies("received", b.receive(b.receiver, 2), "before", "while it is away")
}

func TestRestart_ResetLosesNothing(t *testing.T) {
	proves(t, "restart.reset")
	b, c := controlled(t)
	client := b.persistent(strings.Replace(c.Server().ConnectionString(), c.Server().Addr(), c.Relay.Addr, 1))
	sender, receiver := b.newSender(client), b.newReceiver(client, nil)
	b.must("send", sender.SendMessage(b.ctx, message("1"), nil))
	held := b.receiveOne(receiver)
	c.Relay.Cut()
	b.must("send after the reset", sender.SendMessage(b.ctx, message("2"), nil))
	b.wantBodies("received", b.receive(receiver, 1), "2")
	held.RawAMQPMessage = nil // the SDK then settles by the token
	b.must("complete by the token", receiver.CompleteMessage(b.ctx, held, nil))
}

// What can't work is refused once: the SDK does not try it again.
func TestERR6_WhatIsNotTransientIsNotTriedAgain(t *testing.T) {
	proves(t, "err.retry")
	b, _ := controlled(t)
	begin := time.Now()
	sender, err := b.client.NewSender("missing", nil)
	b.must("create sender", err)
	b.wantCode("send to a missing queue", sender.SendMessage(b.ctx, message("x"), nil), codeNotFound)
	err = b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: make([]byte, 300<<10)}, nil)
	if !errors.Is(err, azservicebus.ErrMessageTooLarge) {
		b.wantErrorText("send 300 KiB", err, "amqp:link:message-size-exceeded")
	}
	_, err = b.client.AcceptSessionForQueue(b.ctx, queueName, "a", nil)
	b.wantErrorText("session receiver of a plain queue", err, "amqp:not-allowed")
	if log := b.server.Log(); strings.Count(log, "missing") > 4 {
		b.Errorf("the missing queue was asked for again and again after %v:\n%s", time.Since(begin), log)
	}
}
