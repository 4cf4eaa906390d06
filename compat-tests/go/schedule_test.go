package compat

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// checkActivated fails unless the message was activated at the due time or up to a second later (TIME-3, SCHED-12), with the scheduled
// time still readable (SCHED-23).
func (b *bench) checkActivated(m *azservicebus.ReceivedMessage, due time.Time) {
	b.Helper()
	due = due.Truncate(time.Millisecond)
	if m.ScheduledEnqueueTime == nil || !m.ScheduledEnqueueTime.Equal(due) {
		b.Errorf("scheduled enqueue time is %v, want %v", m.ScheduledEnqueueTime, due)
	}
	if m.EnqueuedTime.Before(due) || m.EnqueuedTime.After(due.Add(b.pace(dueTolerance))) {
		b.Errorf("activated at %v, want %v to %v", m.EnqueuedTime, due, due.Add(b.pace(dueTolerance)))
	}
}

func messages(n int) []*azservicebus.Message {
	list := make([]*azservicebus.Message, n)
	for i := range list {
		list[i] = message(fmt.Sprintf("m%d", i))
	}
	return list
}

func TestSEQ11_SCHED6_SCHED9_TenScheduledFirstCarry11To20(t *testing.T) {
	provesAnywhere(t, "sched.one", "sched.several", "sched.number")
	b := start(t)
	due := b.later()
	numbers, err := b.sender.ScheduleMessages(b.ctx, messages(10), due, nil)
	b.must("schedule", err)
	for i, n := range numbers {
		if n != int64(i+1) {
			b.Errorf("scheduled message %d has number %d, want %d", i, n, i+1)
		}
	}
	b.wantEmpty(b.receiver) // SCHED-2
	peeked := b.peekAll(b.receiver, 0)
	if len(peeked) != 10 {
		b.Fatalf("peeked %d scheduled messages, want 10 (SCHED-7)", len(peeked))
	}
	for i, m := range peeked {
		b.check(m, stamps{body: fmt.Sprintf("m%d", i), seq: int64(i + 1), count: 1, state: azservicebus.MessageStateScheduled})
		b.checkUnlocked(m)
	}
	b.pass(due)
	for i, m := range b.receive(b.receiver, 10) {
		b.check(m, stamps{body: fmt.Sprintf("m%d", i), seq: int64(i + 11), count: 1})
		b.checkActivated(m, due)
		b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
	}
	err = b.sender.CancelScheduledMessages(b.ctx, numbers[:1], nil)
	b.wantMissing("cancel an activated number", err, "Missing sequence numbers: 1") // SCHED-8
	b.send("next")
	b.check(b.receiveOne(b.receiver), stamps{body: "next", seq: 21, count: 1})
}

func TestSCHED5_ScheduledByAnnotation(t *testing.T) {
	provesAnywhere(t, "sched.property")
	b := start(t)
	due := b.later()
	later := message("later")
	later.ScheduledEnqueueTime = &due
	b.must("send with a scheduled time", b.sender.SendMessage(b.ctx, later, nil))
	b.send("now")
	b.check(b.receiveOne(b.receiver), stamps{body: "now", seq: 2, count: 1})
	b.pass(due)
	m := b.receiveOne(b.receiver)
	b.check(m, stamps{body: "later", seq: 3, count: 1})
	b.checkActivated(m, due)
}

func TestSCHED21_BatchMixesScheduledAndImmediate(t *testing.T) {
	b := start(t)
	due := time.Now().Add(b.pace(5 * time.Second))
	batch, err := b.sender.NewMessageBatch(b.ctx, nil)
	b.must("create batch", err)
	for i, m := range messages(4) {
		if i%2 == 0 {
			m.ScheduledEnqueueTime = &due
		}
		b.must("add to batch", batch.AddMessage(m, nil))
	}
	b.must("send batch", b.sender.SendMessageBatch(b.ctx, batch, nil))
	got := b.receive(b.receiver, 2)
	b.check(got[0], stamps{body: "m1", seq: 2, count: 1})
	b.check(got[1], stamps{body: "m3", seq: 4, count: 1})
	got = b.receive(b.receiver, 2)
	b.check(got[0], stamps{body: "m0", seq: 5, count: 1})
	b.check(got[1], stamps{body: "m2", seq: 6, count: 1})
}

func TestSCHED11_PastMeansAtOnce(t *testing.T) {
	provesAnywhere(t, "sched.past")
	b := start(t)
	_, err := b.sender.ScheduleMessages(b.ctx, messages(1), time.Now().Add(-time.Hour), nil)
	b.must("schedule in the past", err)
	if m := b.receiveOne(b.receiver); string(m.Body) != "m0" || m.State != azservicebus.MessageStateActive {
		b.Errorf("received %q in state %d", m.Body, m.State)
	}
}

func TestSCHED3_SCHED4_SCHED13_SCHED14_Cancel(t *testing.T) {
	provesAnywhere(t, "sched.cancel", "sched.cancelmany", "sched.cancelunknown")
	b := start(t)
	due := b.later()
	numbers, err := b.sender.ScheduleMessages(b.ctx, messages(3), due, nil)
	b.must("schedule", err)
	err = b.sender.CancelScheduledMessages(b.ctx, []int64{numbers[2], 999}, nil)
	b.wantMissing("cancel with an unknown number", err, "Missing sequence numbers: 999")
	b.must("cancel", b.sender.CancelScheduledMessages(b.ctx, numbers[:2], nil))
	err = b.sender.CancelScheduledMessages(b.ctx, numbers[:1], nil)
	b.wantMissing("cancel again", err, "Missing sequence numbers: 1")
	peeked := b.peekAll(b.receiver, 0)
	if len(peeked) != 1 {
		b.Fatalf("peeked %d messages after cancel, want 1", len(peeked))
	}
	b.check(peeked[0], stamps{body: "m2", seq: 3, count: 1, state: azservicebus.MessageStateScheduled})
	b.pass(due)
	b.check(b.receiveOne(b.receiver), stamps{body: "m2", seq: 4, count: 1})
	b.wantEmpty(b.receiver)
}
