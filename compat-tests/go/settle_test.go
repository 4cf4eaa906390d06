package compat

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

func TestDC2_LOCK14_AbandonWithProperties(t *testing.T) {
	provesAnywhere(t, "settle.abandon", "settle.abandonprops")
	b := start(t)
	b.send("a", "b")
	first := b.receiveOne(b.receiver)
	b.check(first, stamps{body: "a", seq: 1, count: 1})
	b.must("abandon", b.receiver.AbandonMessage(b.ctx, first, &azservicebus.AbandonMessageOptions{
		PropertiesToModify: map[string]any{"attempt": "second"},
	}))
	since := time.Now()
	again := b.receiveOne(b.receiver) // ORD-3: back at its own place, before b
	b.check(again, stamps{body: "a", seq: 1, count: 2})
	b.checkLock(again, since, defaultLock)
	if again.ApplicationProperties["attempt"] != "second" {
		b.Errorf("application properties are %v, want attempt=second", again.ApplicationProperties)
	}
	if again.LockToken == first.LockToken {
		b.Error("the redelivery has the token of the first delivery (LOCK-3)")
	}
	if !again.EnqueuedTime.Equal(*first.EnqueuedTime) {
		b.Errorf("enqueued time changed from %v to %v (TIME-2)", first.EnqueuedTime, again.EnqueuedTime)
	}
	b.must("complete", b.receiver.CompleteMessage(b.ctx, again, nil))
	b.check(b.receiveOne(b.receiver), stamps{body: "b", seq: 2, count: 1})
}

func TestLOCK7_SecondSettlementIsLockLost(t *testing.T) {
	provesAnywhere(t, "settle.twice")
	b := start(t)
	b.send("a")
	m := b.receiveOne(b.receiver)
	b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
	m.RawAMQPMessage = nil // the SDK then asks the broker instead of remembering
	b.wantCode("complete again", b.receiver.CompleteMessage(b.ctx, m, nil), azservicebus.CodeLockLost)
	b.wantCode("abandon after complete", b.receiver.AbandonMessage(b.ctx, m, nil), azservicebus.CodeLockLost)
	b.wantCode("renew after complete", b.receiver.RenewMessageLock(b.ctx, m, nil), azservicebus.CodeLockLost)
}

func TestDEF1_DEF3_DC4_DeferAndFetch(t *testing.T) {
	provesAnywhere(t, "settle.defer", "settle.deferprops")
	b := start(t)
	b.send("a", "b")
	b.must("defer", b.receiver.DeferMessage(b.ctx, b.receiveOne(b.receiver), &azservicebus.DeferMessageOptions{
		PropertiesToModify: map[string]any{"why": "later"},
	}))
	b.check(b.receiveOne(b.receiver), stamps{body: "b", seq: 2, count: 1})
	b.wantEmpty(b.receiver)
	peeked := b.peekAll(b.receiver, 1)
	b.check(peeked[0], stamps{body: "a", seq: 1, count: 2, state: azservicebus.MessageStateDeferred})

	since := time.Now()
	other := b.newReceiver(b.connect(), nil) // DEF-2: any client that knows the number
	fetched, err := other.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.must("receive deferred", err)
	b.check(fetched[0], stamps{body: "a", seq: 1, count: 2, state: azservicebus.MessageStateDeferred})
	b.checkLock(fetched[0], since, defaultLock)
	if fetched[0].ApplicationProperties["why"] != "later" {
		b.Errorf("application properties are %v, want why=later (DEF-8)", fetched[0].ApplicationProperties)
	}
	b.must("complete deferred", other.CompleteMessage(b.ctx, fetched[0], nil))
	_, err = other.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.wantMissing("receive a completed number", err, "Failed to lock one or more specified messages")
}

func TestDEF4_DEF5_DC5_DeferredInRequestOrder(t *testing.T) {
	provesAnywhere(t, "defer.receive", "defer.missing", "defer.abandon")
	b := start(t)
	b.send("a", "b", "c")
	for _, m := range b.receive(b.receiver, 3) {
		b.must("defer", b.receiver.DeferMessage(b.ctx, m, nil))
	}
	_, err := b.receiver.ReceiveDeferredMessages(b.ctx, []int64{1, 99}, nil)
	b.wantMissing("receive with an unknown number", err, "Failed to lock one or more specified messages")
	fetched, err := b.receiver.ReceiveDeferredMessages(b.ctx, []int64{3, 1, 2}, nil) // 1 was not locked by the failed call
	b.must("receive deferred", err)
	for i, want := range []int64{3, 1, 2} {
		if *fetched[i].SequenceNumber != want {
			b.Errorf("position %d has number %d, want %d", i, *fetched[i].SequenceNumber, want)
		}
	}
	b.must("abandon deferred", b.receiver.AbandonMessage(b.ctx, fetched[0], nil))
	b.wantEmpty(b.receiver)
	fetched, err = b.receiver.ReceiveDeferredMessages(b.ctx, []int64{3}, nil)
	b.must("receive deferred again", err)
	b.check(fetched[0], stamps{body: "c", seq: 3, count: 3, state: azservicebus.MessageStateDeferred})
}

func TestLOCK9_LOCK11_SettleFromAnotherConnection(t *testing.T) {
	provesAnywhere(t, "lock.connection")
	b := start(t)
	b.send("complete", "abandon", "defer", "dead-letter", "renew")
	owner := b.connect()
	messages := b.receive(b.newReceiver(owner, nil), 5)
	for _, m := range messages {
		m.RawAMQPMessage = nil // the SDK then settles by lock token alone
	}
	b.must("close the owner's connection", owner.Close(b.ctx))
	b.must("complete", b.receiver.CompleteMessage(b.ctx, messages[0], nil))
	b.must("abandon", b.receiver.AbandonMessage(b.ctx, messages[1], nil))
	b.must("defer", b.receiver.DeferMessage(b.ctx, messages[2], nil))
	reason, description := "bad", "very bad"
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, messages[3], &azservicebus.DeadLetterOptions{Reason: &reason, ErrorDescription: &description}))
	since := time.Now()
	b.must("renew", b.receiver.RenewMessageLock(b.ctx, messages[4], nil))
	b.checkLock(messages[4], since, defaultLock)

	b.check(b.receiveOne(b.receiver), stamps{body: "abandon", seq: 2, count: 2})
	b.wantEmpty(b.receiver)
	rest := b.peekAll(b.receiver, 0)
	if len(rest) != 3 {
		b.Fatalf("%d messages left, want 3", len(rest))
	}
	b.check(rest[1], stamps{body: "defer", seq: 3, count: 2, state: azservicebus.MessageStateDeferred})
	b.check(rest[2], stamps{body: "renew", seq: 5, count: 1})
	b.check(b.receiveOne(b.deadLetters()), stamps{body: "dead-letter", seq: 4, count: 1})
	b.wantCode("complete by a dead token", b.receiver.CompleteMessage(b.ctx, messages[0], nil), azservicebus.CodeLockLost)
}

func TestRAD1_RAD4_ReceiveAndDelete(t *testing.T) {
	provesAnywhere(t, "recv.delete")
	b := start(t)
	b.send("a", "b")
	b.must("abandon", b.receiver.AbandonMessage(b.ctx, b.receiveOne(b.receiver), nil))
	reader := b.newReceiver(b.client, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	messages := b.receive(reader, 2)
	b.check(messages[0], stamps{body: "a", seq: 1, count: 2})
	b.check(messages[1], stamps{body: "b", seq: 2, count: 1})
	b.checkUnlocked(messages[0])
	if rest := b.peekAll(b.receiver, 0); len(rest) != 0 {
		b.Errorf("%d messages left after receive-and-delete", len(rest))
	}
}

func TestRAD3_ReceiveAndDeleteDeferred(t *testing.T) {
	provesAnywhere(t, "defer.delete")
	b := start(t)
	b.send("a")
	b.must("defer", b.receiver.DeferMessage(b.ctx, b.receiveOne(b.receiver), nil))
	reader := b.newReceiver(b.client, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	fetched, err := reader.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.must("receive deferred", err)
	b.check(fetched[0], stamps{body: "a", seq: 1, count: 2, state: azservicebus.MessageStateDeferred})
	_, err = reader.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.wantMissing("receive a removed number", err, "Failed to lock one or more specified messages")
}

func TestRAD5_ClosingLosesNothing(t *testing.T) {
	provesAnywhere(t, "recv.deletestays")
	b := start(t)
	const total = 200
	for range total / 50 {
		batch, err := b.sender.NewMessageBatch(b.ctx, nil)
		b.must("create batch", err)
		for range 50 {
			b.must("add to batch", batch.AddMessage(&azservicebus.Message{Body: []byte("x")}, nil))
		}
		b.must("send batch", b.sender.SendMessageBatch(b.ctx, batch, nil))
	}
	seen := make(map[int64]bool)
	for len(seen) < total {
		reader := b.newReceiver(b.client, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
		messages := b.receive(reader, 1)
		b.must("close receiver", reader.Close(b.ctx))
		for { // the SDK keeps what arrived with the close
			late, err := reader.ReceiveMessages(b.ctx, 50, nil)
			if err != nil || len(late) == 0 {
				break
			}
			messages = append(messages, late...)
		}
		for _, m := range messages {
			if seen[*m.SequenceNumber] {
				b.Errorf("number %d came twice", *m.SequenceNumber)
			}
			seen[*m.SequenceNumber] = true
		}
		if len(messages) < 1 {
			b.Fatal("nothing received")
		}
	}
}

func TestDC7_DLQR1_MaxDeliveryCount(t *testing.T) {
	provesAnywhere(t, "settle.maxdelivery")
	b := start(t, func(q *harness.Queue) { q.MaxDeliveryCount = 3 })
	b.send("poison")
	for count := uint32(1); count <= 3; count++ {
		m := b.receiveOne(b.receiver)
		b.check(m, stamps{body: "poison", seq: 1, count: count})
		b.must("abandon", b.receiver.AbandonMessage(b.ctx, m, nil))
	}
	if rest := b.peekAll(b.receiver, 0); len(rest) != 0 {
		b.Errorf("%d messages left after the last delivery", len(rest))
	}
	dead := b.receiveOne(b.deadLetters())
	b.check(dead, stamps{body: "poison", seq: 1, count: 4})
	b.wantText("dead-letter reason", dead.DeadLetterReason, "MaxDeliveryCountExceeded")
	if dead.DeadLetterErrorDescription == nil {
		b.Error("no dead-letter description")
	}
}
