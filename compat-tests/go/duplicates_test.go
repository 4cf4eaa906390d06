package compat

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// once is a queue with duplicate detection.
var once = harness.Queue{Name: queueName, DetectDuplicates: true, DuplicateWindow: "PT10M"}

// withID returns a message whose id and body differ.
func withID(id, body string) *azservicebus.Message {
	return &azservicebus.Message{MessageID: &id, Body: []byte(body)}
}

func TestDUP2_DUP3_DUP5_SEQ18_DuplicatesAreDropped(t *testing.T) {
	provesAnywhere(t, "entity.duplicates")
	b := serve(t, once)
	for i := range 5 {
		b.put(queueName, withID("same", fmt.Sprint(i)))
	}
	b.put(queueName, withID("other", "x"))
	messages := b.receive(b.receiver, 2)
	b.check(messages[0], stamps{body: "0", seq: 1, count: 1})
	b.check(messages[1], stamps{body: "x", seq: 2, count: 1}) // a dropped one takes no number
	for _, m := range messages {
		b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
	}
	b.put(queueName, withID("same", "after its completion"))
	b.wantEmpty(b.receiver)
}

func TestDUP9_DUP10_BatchesAndMissingIDs(t *testing.T) {
	b := serve(t, once)
	batch := b.batchOf(b.sender, withID("a", "1"), withID("b", "2"), withID("a", "3"))
	b.must("send batch", b.sender.SendMessageBatch(b.ctx, batch, nil))
	b.put(queueName, &azservicebus.Message{Body: []byte("no id")}, &azservicebus.Message{Body: []byte("no id again")}, withID("b", "late"))
	b.put(queueName, withID("", "empty id"), withID("", "empty id again"))
	b.wantBodies("received", b.receive(b.receiver, 6), "1", "2", "no id", "no id again", "empty id", "empty id again")
	b.wantEmpty(b.receiver)
}

func TestDUP6_DUP7_DUP8_Schedules(t *testing.T) {
	b := serve(t, once)
	schedule := func(id string, after time.Duration) int64 {
		t.Helper()
		numbers, err := b.sender.ScheduleMessages(b.ctx, []*azservicebus.Message{withID(id, id)}, time.Now().Add(after), nil)
		b.must("schedule", err)
		return numbers[0]
	}
	first := schedule("a", time.Hour)
	second := schedule("a", time.Hour) // answered as if it were stored
	if second == first {
		b.Errorf("both schedules have the number %d", first)
	}
	b.wantBodies("scheduled", b.peekAll(b.receiver, 0), "a")
	b.wantMissing("cancel the dropped one", b.sender.CancelScheduledMessages(b.ctx, []int64{second}, nil), "Messages not found")
	b.must("cancel", b.sender.CancelScheduledMessages(b.ctx, []int64{first}, nil))
	b.put(queueName, withID("a", "sent after the cancel"))
	b.wantEmpty(b.receiver)
	schedule("c", 300*time.Millisecond)
	b.put(queueName, withID("c", "sent before it is due"))
	b.wantBodies("activated", b.receive(b.receiver, 1), "c")
	b.wantEmpty(b.receiver)
}

func TestDUP1_DUP5_TheWindowEnds(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName, DetectDuplicates: true, DuplicateWindow: "PT1M"})
	b.put(queueName, withID("a", "1"))
	first := b.receiveOne(b.receiver)
	b.must("complete", b.receiver.CompleteMessage(b.ctx, first, nil)) // or its lock ends with the window
	end := first.EnqueuedTime.Add(time.Minute)
	for before := range 3 { // duplicates do not lengthen the window
		b.pass(end.Add(time.Duration(before-3) * 10 * time.Second))
		b.put(queueName, withID("a", "dropped"))
	}
	b.wantEmpty(b.receiver)
	b.pass(end)
	b.put(queueName, withID("a", "2"))
	b.check(b.receiveOne(b.receiver), stamps{body: "2", seq: 2, count: 1})
}

func TestDUP16_DEC21_HistorySurvivesKill9(t *testing.T) {
	b, again := serveTwice(t, once)
	b.put(queueName, withID("a", "1"), withID("b", "2"))
	b.must("complete", b.receiver.CompleteMessage(b.ctx, b.receiveOne(b.receiver), nil))
	b = again()
	b.put(queueName, withID("a", "again"), withID("b", "again"), withID("c", "3"))
	messages := b.receive(b.receiver, 2)
	b.check(messages[0], stamps{body: "2", seq: 2, count: 1})
	b.check(messages[1], stamps{body: "3", seq: 3, count: 1})
	b.wantEmpty(b.receiver)
}

// A forward's target looks into its own history.
func TestDUP13_TargetOfAForwardDetects(t *testing.T) {
	b := serve(t, harness.Queue{Name: "source", ForwardTo: queueName}, once)
	b.put("source", withID("a", "1"), withID("a", "2"), withID("b", "3"))
	b.wantBodies("received", b.receive(b.receiver, 2), "1", "3")
	b.wantEmpty(b.receiver)
}

func TestDUP14_SessionsShareTheHistory(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName, DetectDuplicates: true, DuplicateWindow: "PT10M", RequiresSession: true})
	for _, session := range []string{"s1", "s2"} {
		m := withID("same", session)
		m.SessionID = &session
		b.put(queueName, m)
	}
	b.wantTexts("stored", b.peekQueue(queueName), "s1")
}
