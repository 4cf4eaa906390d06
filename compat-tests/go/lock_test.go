package compat

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

func TestLOCK8_DC3_LockExpiresInRealTime(t *testing.T) {
	provesAnywhere(t, "lock.lost", "lock.lostcode", "prop.lockeduntil", "prop.locktoken")
	b := start(t, shortLocks)
	b.send("a", "b")
	since := time.Now()
	first := b.receiveOne(b.receiver)
	b.check(first, stamps{body: "a", seq: 1, count: 1})
	b.checkLock(first, since, shortLock)
	other := b.newReceiver(b.connect(), nil)
	b.check(b.receiveOne(other), stamps{body: "b", seq: 2, count: 1}) // ORD-2
	b.wantEmpty(other)

	again := b.receiveOne(other)
	if held := time.Since(since); held < shortLock || held > shortLock+20*time.Second {
		b.Errorf("redelivered after %v, want about %v", held, shortLock)
	}
	b.check(again, stamps{body: "a", seq: 1, count: 2})
	b.wantCode("complete with the old lock", b.receiver.CompleteMessage(b.ctx, first, nil), azservicebus.CodeLockLost)
	b.wantCode("renew the old lock", b.receiver.RenewMessageLock(b.ctx, first, nil), azservicebus.CodeLockLost)
	b.must("complete with the new lock", other.CompleteMessage(b.ctx, again, nil))
}

func TestLOCK4_RenewedLockHolds(t *testing.T) {
	provesAnywhere(t, "lock.renew", "lock.held")
	b := start(t, shortLocks)
	b.send("a")
	begin := time.Now()
	m := b.receiveOne(b.receiver)
	other := b.newReceiver(b.client, nil)
	for time.Since(begin) < shortLock+time.Second {
		b.wantEmpty(other)
		since := time.Now()
		b.must("renew", b.receiver.RenewMessageLock(b.ctx, m, nil))
		b.checkLock(m, since, shortLock)
	}
	b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
}

func TestLOCK10_DC9_LockOutlivesItsLink(t *testing.T) {
	provesAnywhere(t, "settle.elsewhere")
	b := start(t, func(q *harness.Queue) { q.LockDuration = "PT20S" })
	b.send("a", "b")
	messages := b.receive(b.receiver, 2)
	b.must("close the receiver", b.receiver.Close(b.ctx))
	other := b.newReceiver(b.client, nil)
	b.wantEmpty(other)
	for _, m := range messages {
		m.RawAMQPMessage = nil // settled by token
	}
	b.must("complete by token", other.CompleteMessage(b.ctx, messages[0], nil))
	b.pass(messages[1].LockedUntil.Add(-2 * time.Second))
	b.wantEmpty(other)
	b.pass(*messages[1].LockedUntil)
	b.check(b.receiveOne(other), stamps{body: "b", seq: 2, count: 2})
}

func TestDC3_DLQR1_LastLockExpiryDeadLetters(t *testing.T) {
	b := start(t, shortLocks, func(q *harness.Queue) { q.MaxDeliveryCount = 1 })
	b.send("poison")
	b.receiveOne(b.receiver)
	dead := b.receiveOne(b.deadLetters())
	b.check(dead, stamps{body: "poison", seq: 1, count: 2})
	b.wantText("dead-letter reason", dead.DeadLetterReason, "MaxDeliveryCountExceeded")
}

func TestLOCK1_DefaultLockIsAMinute(t *testing.T) {
	b := start(t)
	b.send("a")
	since := time.Now()
	b.checkLock(b.receiveOne(b.receiver), since, time.Minute)
}

// Two receivers share a queue without seeing a message twice, and neither starves (ORD-2, ORD-4).
func TestORD2_CompetingReceiversShare(t *testing.T) {
	provesAnywhere(t, "recv.competing")
	b := start(t)
	const total = 200
	counts, seen := [2]int{}, make(map[int64]bool)
	readers := [2]*azservicebus.Receiver{b.receiver, b.newReceiver(b.connect(), nil)}
	for range total / 50 {
		batch, err := b.sender.NewMessageBatch(b.ctx, nil)
		b.must("create batch", err)
		for range 50 {
			b.must("add to batch", batch.AddMessage(&azservicebus.Message{Body: []byte("x")}, nil))
		}
		b.must("send batch", b.sender.SendMessageBatch(b.ctx, batch, nil))
	}
	for i := 0; len(seen) < total; i++ {
		messages, err := readers[i%2].ReceiveMessages(b.ctx, 7, nil)
		b.must("receive", err)
		for _, m := range messages {
			if seen[*m.SequenceNumber] {
				b.Errorf("number %d was delivered twice", *m.SequenceNumber)
			}
			seen[*m.SequenceNumber] = true
			counts[i%2]++
		}
		if i > 10*total {
			b.Fatalf("received %d of %d", len(seen), total)
		}
	}
	if counts[0] == 0 || counts[1] == 0 {
		b.Errorf("the receivers got %v", counts)
	}
}
