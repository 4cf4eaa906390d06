package compat

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

func TestPEEK2_PEEK3_EveryState(t *testing.T) {
	provesAnywhere(t, "peek.states", "prop.state")
	b := start(t)
	b.send("active", "locked", "deferred", "dead")
	got := b.receive(b.receiver, 4)
	b.must("abandon", b.receiver.AbandonMessage(b.ctx, got[0], nil))
	b.must("defer", b.receiver.DeferMessage(b.ctx, got[2], nil))
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, got[3], nil))
	due := time.Now().Add(time.Hour)
	_, err := b.sender.ScheduleMessages(b.ctx, []*azservicebus.Message{message("scheduled")}, due, nil)
	b.must("schedule", err)

	peeked := b.peekAll(b.receiver, 0)
	want := []stamps{
		{body: "active", seq: 1, count: 2, state: azservicebus.MessageStateActive},
		{body: "locked", seq: 2, count: 1, state: azservicebus.MessageStateActive},
		{body: "deferred", seq: 3, count: 2, state: azservicebus.MessageStateDeferred},
		{body: "scheduled", seq: 5, count: 1, state: azservicebus.MessageStateScheduled},
	}
	if len(peeked) != len(want) {
		b.Fatalf("peeked %d messages, want %d", len(peeked), len(want))
	}
	for i, m := range peeked {
		b.check(m, want[i])
		if m.State != azservicebus.MessageStateDeferred { // PROP-3
			b.checkUnlocked(m)
		}
	}
	if at := peeked[3].ScheduledEnqueueTime; at == nil || !at.Equal(due.Truncate(time.Millisecond)) {
		b.Errorf("scheduled enqueue time is %v, want %v (TIME-3)", at, due)
	}
	b.must("complete the locked one", b.receiver.CompleteMessage(b.ctx, got[1], nil)) // PEEK-1: the lock is untouched
}

func TestPEEK4_PEEK5_PEEK6_Paging(t *testing.T) {
	provesAnywhere(t, "peek.from", "peek.pages", "peek.empty")
	b := start(t)
	const total = 600
	for sent := 0; sent < total; {
		batch, err := b.sender.NewMessageBatch(b.ctx, nil)
		b.must("create batch", err)
		for range 100 {
			b.must("add to batch", batch.AddMessage(message(fmt.Sprintf("m%d", sent)), nil))
			sent++
		}
		b.must("send batch", b.sender.SendMessageBatch(b.ctx, batch, nil))
	}
	hole := b.receive(b.receiver, 2)[1]
	b.must("complete", b.receiver.CompleteMessage(b.ctx, hole, nil))

	from := func(first int64) int64 {
		m, err := b.receiver.PeekMessages(b.ctx, 1, &azservicebus.PeekMessagesOptions{FromSequenceNumber: &first})
		b.must("peek", err)
		return *m[0].SequenceNumber
	}
	if got := from(1); got != 1 {
		b.Errorf("peek from 1 gives %d; want 1, inclusive", got)
	}
	if got := from(2); got != 3 {
		b.Errorf("peek from the hole 2 gives %d, want 3", got)
	}

	pages := b.newReceiver(b.client, nil) // the client keeps the cursor
	next, seen := int64(1), 0
	for {
		page, err := pages.PeekMessages(b.ctx, 400, nil)
		b.must("peek", err)
		if len(page) == 0 {
			break
		}
		if len(page) > 250 {
			b.Errorf("a page has %d messages, more than 250", len(page))
		}
		for _, m := range page {
			if *m.SequenceNumber < next {
				b.Fatalf("number %d after %d", *m.SequenceNumber, next-1)
			}
			next = *m.SequenceNumber + 1
			seen++
		}
	}
	if seen != total-1 {
		b.Errorf("peeked %d messages in all, want %d", seen, total-1)
	}
}

func TestPEEK1_ChangesNothing(t *testing.T) {
	b := start(t)
	b.send("a")
	for range 3 {
		b.check(b.peekAll(b.receiver, 0)[0], stamps{body: "a", seq: 1, count: 1})
	}
	b.check(b.receiveOne(b.receiver), stamps{body: "a", seq: 1, count: 1})
}
