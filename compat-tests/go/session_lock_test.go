package compat

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

func TestSESS18_DC9_PRE4_CloseFreesTheSession(t *testing.T) {
	provesAnywhere(t, "sess.release")
	b := serve(t, sessions)
	b.put(queueName, inSession("a", "1"), inSession("a", "2"), inSession("a", "3"))
	holder := b.accept(b.client, queueName, "a")
	b.wantBodies("first holder", b.receive(holder, 2), "1", "2")
	b.must("close", holder.Close(b.ctx))
	other := b.connect()
	holder = b.accept(other, queueName, "a")
	for i, m := range b.receive(holder, 3) {
		b.check(m, stamps{body: []string{"1", "2", "3"}[i], seq: int64(i + 1), count: 1})
	}
	b.must("close the connection", other.Close(b.ctx))
	holder = b.accept(b.connect(), queueName, "a")
	b.check(b.receiveOne(holder), stamps{body: "1", seq: 1, count: 1})
}

func TestSESS13_RenewedSessionLockHolds(t *testing.T) {
	provesAnywhere(t, "sess.renew")
	b := serve(t, harness.Queue{Name: queueName, RequiresSession: true, LockDuration: "PT5S"})
	begin := time.Now()
	holder := b.accept(b.client, queueName, "a")
	b.put(queueName, inSession("a", "1"))
	m := b.receiveOne(holder)
	for time.Since(begin) < shortLock+time.Second {
		_, err := b.client.AcceptSessionForQueue(b.ctx, b.name(queueName), "a", nil)
		b.wantErrorText("accept a held session", err, "com.microsoft:session-cannot-be-locked")
		since := time.Now().Truncate(time.Millisecond)
		b.must("renew", holder.RenewSessionLock(b.ctx, nil))
		if until := holder.LockedUntil(); until.Before(since.Add(shortLock-b.slack())) || until.After(time.Now().Add(shortLock+b.slack())) {
			b.Errorf("renewed until %v, want %v from %v", until, shortLock, since)
		}
		time.Sleep(500 * time.Millisecond)
	}
	b.must("complete", holder.CompleteMessage(b.ctx, m, nil))
}

func TestSESS14_SESS15_SESS16_DC10_LockIsLost(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName, RequiresSession: true, LockDuration: "PT5S"})
	b.put(queueName, inSession("a", "1"), inSession("a", "2"))
	session := b.dial()
	node := b.manage(session, queueName)
	held := map[string]any{"session-id": "a"}
	for _, id := range []string{"a", "never"} { // no client holds it yet
		a := node.want("renew-session-lock", map[string]any{"session-id": id}, 410, "com.microsoft:session-lock-lost")
		if want := "The session lock has expired on the MessageSession. Accept a new MessageSession."; !strings.HasPrefix(a.description, want) {
			b.Errorf("renew: %q, want %q", a.description, want)
		}
	}
	since := time.Now()
	holder := b.acceptRaw(session, queueName, "a")
	node.want("renew-session-lock", held, 200, "")
	first, err := holder.Receive(b.ctx, nil)
	b.must("receive", err)
	_, err = holder.Receive(b.ctx, nil)
	b.must("receive", err)
	_, err = holder.Receive(b.ctx, nil) // waits; credit does not extend the lock (SESS-30)
	b.wantErrorText("the waiting receive", err, "com.microsoft:session-lock-lost")
	if lost := time.Since(since); lost < shortLock-time.Millisecond || lost > shortLock+20*time.Second {
		b.Errorf("the lock was lost after %v, want %v", lost, shortLock)
	}
	next := b.accept(b.client, queueName, "a")
	messages := b.receive(next, 2)
	b.check(messages[0], stamps{body: "1", seq: 1, count: 2})
	b.check(messages[1], stamps{body: "2", seq: 2, count: 2})
	if err := holder.AcceptMessage(b.ctx, first); err == nil {
		b.Error("a delivery of the lost lock was completed")
	}
	node.want("renew-session-lock", held, 410, "com.microsoft:session-lock-lost")
	node.want("set-session-state", map[string]any{"session-id": "a", "session-state": []byte("x")}, 410, "com.microsoft:session-lock-lost")
	token := amqp.UUID(messages[0].LockToken)
	b.must("complete", next.CompleteMessage(b.ctx, messages[0], nil))
	node.want("update-disposition", map[string]any{"disposition-status": "completed", "lock-tokens": []amqp.UUID{token}}, 410, "com.microsoft:message-lock-lost")
}

func TestSESS20_DC2_OrderWithinASession(t *testing.T) {
	provesAnywhere(t, "sess.order")
	b := serve(t, sessions)
	b.put(queueName, inSession("a", "1"), inSession("b", "x"), inSession("a", "2"), inSession("a", "3"))
	holder := b.accept(b.client, queueName, "a")
	first := b.receiveOne(holder)
	b.must("abandon", holder.AbandonMessage(b.ctx, first, nil))
	again := b.receiveOne(holder)
	b.check(again, stamps{body: "1", seq: 1, count: 2})
	rest := b.receive(holder, 2)
	b.wantBodies("the rest", rest, "2", "3")
	b.wantEmpty(holder) // messages that are not settled do not come again
	for _, m := range append(rest, again) {
		b.must("complete", holder.CompleteMessage(b.ctx, m, nil))
	}
	b.check(b.receiveOne(b.accept(b.client, queueName, "b")), stamps{body: "x", seq: 2, count: 1})
}

func TestDLQ6_DLQ13_DC7_DeadLettersOfASession(t *testing.T) {
	provesAnywhere(t, "sess.deadletter")
	b := serve(t, harness.Queue{Name: queueName, RequiresSession: true, MaxDeliveryCount: 2})
	b.put(queueName, inSession("a", "bad"), inSession("a", "poison"), inSession("a", "good"))
	holder := b.accept(b.client, queueName, "a")
	reason := "Broken"
	b.must("dead-letter", holder.DeadLetterMessage(b.ctx, b.receiveOne(holder), &azservicebus.DeadLetterOptions{Reason: &reason}))
	for range 2 {
		b.must("abandon", holder.AbandonMessage(b.ctx, b.receiveOne(holder), nil))
	}
	good := b.receiveOne(holder) // the session goes on
	b.check(good, stamps{body: "good", seq: 3, count: 1})
	b.must("complete", holder.CompleteMessage(b.ctx, good, nil))
	dead := b.receive(b.deadFrom(queueName), 2) // by a plain receiver
	b.check(dead[0], stamps{body: "bad", seq: 1, count: 1})
	b.check(dead[1], stamps{body: "poison", seq: 2, count: 3})
	b.wantText("reason", dead[0].DeadLetterReason, "Broken")
	b.wantText("reason", dead[1].DeadLetterReason, "MaxDeliveryCountExceeded")
	for _, m := range dead {
		b.wantText("session id", m.SessionID, "a")
	}
}

func TestDEF9_DEF13_DEF14_PEEK7_DeferralAndPeekStayInTheSession(t *testing.T) {
	provesAnywhere(t, "sess.defer", "sess.peek")
	b := serve(t, sessions)
	b.put(queueName, inSession("a", "a1"), inSession("b", "b1"), inSession("a", "a2"))
	holder := b.accept(b.client, queueName, "a")
	b.must("defer", holder.DeferMessage(b.ctx, b.receiveOne(holder), nil))
	b.wantBodies("peek of the session", b.peekAll(holder, 0), "a1", "a2")
	b.wantTexts("peek of the queue", b.peekQueue(queueName), "a1", "b1", "a2")
	b.wantBodies("deferring does not block", b.receive(holder, 1), "a2")
	_, err := holder.ReceiveDeferredMessages(b.ctx, []int64{2}, nil)
	b.wantMissing("number of another session (DEF-13)", err, "Failed to lock one or more specified messages")
	numbers := map[string]any{"sequence-numbers": []int64{1}, "receiver-settle-mode": uint32(1)}
	stranger := b.manage(b.dial(), b.name(queueName))
	stranger.want("receive-by-sequence-number", numbers, 400, "amqp:not-allowed") // no session named (DEF-14)
	numbers["session-id"] = "a"
	stranger.want("receive-by-sequence-number", numbers, 410, "com.microsoft:session-lock-lost") // held elsewhere
	fetched, err := holder.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.must("receive deferred", err)
	b.check(fetched[0], stamps{body: "a1", seq: 1, count: 2, state: azservicebus.MessageStateDeferred})
	b.must("complete", holder.CompleteMessage(b.ctx, fetched[0], nil))
}

func TestRAD3_SESS6_ReceiveAndDeleteInASession(t *testing.T) {
	provesAnywhere(t, "sess.delete")
	b := serve(t, sessions)
	b.put(queueName, inSession("a", "1"), inSession("a", "2"), inSession("b", "3"))
	holder, err := b.client.AcceptSessionForQueue(b.ctx, b.name(queueName), "a", &azservicebus.SessionReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	b.must("accept", err)
	messages := b.receive(holder, 2)
	b.wantBodies("received", messages, "1", "2")
	_, err = b.client.AcceptSessionForQueue(b.ctx, b.name(queueName), "a", nil) // the session is locked nevertheless
	b.wantErrorText("accept a held session", err, "com.microsoft:session-cannot-be-locked")
	b.must("close", holder.Close(b.ctx))
	b.wantTexts("what is left", b.peekQueue(queueName), "3")
}
