package compat

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

func TestDLQ8_DLQ9_DC6_DeadLetterAndReadBack(t *testing.T) {
	provesAnywhere(t, "settle.deadletter", "settle.deadletterprops", "dlq.receive", "dlq.count", "peek.deadletter")
	b := start(t)
	b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{
		Body: []byte("a"), MessageID: to.Ptr("id-a"), ApplicationProperties: map[string]any{"kept": "yes"},
	}, nil))
	m := b.receiveOne(b.receiver)
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, m, &azservicebus.DeadLetterOptions{
		Reason: to.Ptr("Broken"), ErrorDescription: to.Ptr("cannot be parsed"), PropertiesToModify: map[string]any{"added": "too"},
	}))
	b.wantEmpty(b.receiver)
	if rest := b.peekAll(b.receiver, 0); len(rest) != 0 {
		b.Errorf("%d messages left in the queue (PEEK-2)", len(rest))
	}
	reader := b.deadLetters()
	peeked := b.peekAll(reader, 0) // PEEK-9
	b.check(peeked[0], stamps{body: "a", seq: 1, count: 1})
	since := time.Now()
	dead := b.receiveOne(reader)
	b.check(dead, stamps{body: "a", seq: 1, count: 1})
	b.checkLock(dead, since, defaultLock)
	b.wantText("reason", dead.DeadLetterReason, "Broken")
	b.wantText("description", dead.DeadLetterErrorDescription, "cannot be parsed")
	if dead.DeadLetterSource != nil {
		b.Errorf("dead-letter source is %q, want none (DLQ-10)", *dead.DeadLetterSource)
	}
	if dead.ApplicationProperties["kept"] != "yes" || dead.ApplicationProperties["added"] != "too" || dead.MessageID != "id-a" {
		b.Errorf("received id %q with properties %v", dead.MessageID, dead.ApplicationProperties)
	}
	if !dead.EnqueuedTime.Equal(*m.EnqueuedTime) {
		b.Errorf("enqueued time changed from %v to %v (TIME-6)", m.EnqueuedTime, dead.EnqueuedTime)
	}
	b.must("complete", reader.CompleteMessage(b.ctx, dead, nil))
	b.wantEmpty(reader)
}

func TestDLQ8_DeadLetterWithoutReason(t *testing.T) {
	provesAnywhere(t, "settle.deadletterbare")
	b := start(t)
	b.send("a")
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, b.receiveOne(b.receiver), nil))
	dead := b.receiveOne(b.deadLetters())
	if dead.DeadLetterReason != nil && *dead.DeadLetterReason != "" {
		b.Errorf("reason is %q, want none", *dead.DeadLetterReason)
	}
}

func TestDLQ3_DC8_DLQ4_SettleInTheDeadLetterQueue(t *testing.T) {
	provesAnywhere(t, "dlq.abandon")
	b := start(t)
	b.send("a")
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, b.receiveOne(b.receiver), nil))
	reader := b.deadLetters()
	b.must("abandon", reader.AbandonMessage(b.ctx, b.receiveOne(reader), nil))
	again := b.receiveOne(reader)
	b.check(again, stamps{body: "a", seq: 1, count: 1})
	b.wantErrorText("dead-letter a dead letter", reader.DeadLetterMessage(b.ctx, again, nil), "amqp:not-allowed")
	again = b.receiveOne(reader) // LOCK-24: available at once
	b.check(again, stamps{body: "a", seq: 1, count: 1})
	b.must("renew", reader.RenewMessageLock(b.ctx, again, nil))
	b.must("defer", reader.DeferMessage(b.ctx, again, nil))
	fetched, err := reader.ReceiveDeferredMessages(b.ctx, []int64{1}, nil) // DEF-12
	b.must("receive deferred", err)
	b.must("complete", reader.CompleteMessage(b.ctx, fetched[0], nil))
	if rest := b.peekAll(reader, 0); len(rest) != 0 {
		b.Errorf("%d messages left in the dead-letter queue", len(rest))
	}
}
