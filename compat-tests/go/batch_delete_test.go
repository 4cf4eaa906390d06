package compat

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// deleteBatch asks for a batch delete and returns how many messages it deleted.
func (m *manager) deleteBatch(most int32, before time.Time, more map[string]any) int32 {
	m.b.Helper()
	body := map[string]any{"message-count": most, "enqueued-time-utc": before}
	for key, value := range more {
		body[key] = value
	}
	a := m.ask("batch-delete-messages", body)
	deleted, _ := a.body["message-count"].(int32)
	if a.status != 200 && a.status != 204 || (deleted == 0) != (a.status == 204) {
		m.b.Fatalf("batch delete: status %d, %s (%s), %v", a.status, a.condition, a.description, a.body)
	}
	return deleted
}

func TestBDEL1_BDEL3_BDEL5_BDEL6_DeletesTheOldest(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName})
	node := b.manage(b.dial(), queueName)
	wantDeleted := func(got, want int32) {
		t.Helper()
		if got != want {
			b.Errorf("deleted %d messages, want %d", got, want)
		}
	}
	wantDeleted(node.deleteBatch(10, time.Now(), nil), 0)
	b.put(queueName, message("locked"), message("deferred"))
	b.must("defer", b.receiver.DeferMessage(b.ctx, b.receive(b.receiver, 2)[1], nil))
	_, err := b.sender.ScheduleMessages(b.ctx, []*azservicebus.Message{message("scheduled")}, time.Now().Add(time.Hour), nil)
	b.must("schedule", err)
	b.put(queueName, message("1"), message("2"), message("3"))
	last := *b.peekAll(b.receiver, 6)[0].EnqueuedTime
	time.Sleep(2 * time.Millisecond)
	b.put(queueName, message("younger"))
	wantDeleted(node.deleteBatch(2, last, nil), 2)
	wantDeleted(node.deleteBatch(10, last.Add(-time.Minute), nil), 0)
	b.wantBodies("after two", b.peekAll(b.receiver, 0), "locked", "deferred", "scheduled", "3", "younger")
	wantDeleted(node.deleteBatch(10, last, nil), 1) // at or before the millisecond
	wantDeleted(node.deleteBatch(10, time.Now(), nil), 1)
	b.wantBodies("at last", b.peekAll(b.receiver, 0), "locked", "deferred", "scheduled")
	b.wantBodies("dead letters", b.peekAll(b.deadLetters(), 0))
}

func TestBDEL2_HowManyAtOnce(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName})
	node := b.manage(b.dial(), queueName)
	for _, count := range []int32{0, -1, 4001} {
		a := node.ask("batch-delete-messages", map[string]any{"message-count": count, "enqueued-time-utc": time.Now()})
		if a.status != 400 {
			b.Errorf("%d messages: status %d, %s (%s), want 400", count, a.status, a.condition, a.description)
		}
	}
	const total = 4100
	for first := 0; first < total; first += 410 {
		var group []*azservicebus.Message
		for i := range 410 {
			group = append(group, message(fmt.Sprint(first+i)))
		}
		b.must("send", b.sender.SendMessageBatch(b.ctx, b.batchOf(b.sender, group...), nil))
	}
	var deleted []int32
	for _, want := range []int32{4000, 100, 0} { // the loop of a purge
		if got := node.deleteBatch(4000, time.Now(), nil); got != want {
			deleted = append(deleted, got)
			b.Errorf("deleted %d, want %d", deleted, want)
		}
	}
	b.wantBodies("left", b.peekAll(b.receiver, 0))
}

func TestBDEL1_BDEL4_DeadLettersAndSessions(t *testing.T) {
	b := serve(t, sessions, harness.Queue{Name: "plain"})
	b.put("plain", message("1"), message("2"))
	from := b.from("plain")
	for _, m := range b.receive(from, 2) {
		b.must("dead-letter", from.DeadLetterMessage(b.ctx, m, nil))
	}
	session := b.dial()
	if got := b.manage(session, "plain/$DeadLetterQueue").deleteBatch(10, time.Now(), nil); got != 2 {
		b.Errorf("deleted %d dead letters, want 2", got)
	}
	b.put(queueName, inSession("a", "a1"), inSession("b", "b1"), inSession("a", "a2"))
	node := b.manage(session, queueName)
	request := map[string]any{"message-count": int32(10), "enqueued-time-utc": time.Now()}
	if a := node.ask("batch-delete-messages", request); a.status < 400 {
		b.Errorf("batch delete without a session: status %d", a.status)
	}
	holder := b.acceptRaw(session, queueName, "a")
	for range 2 {
		_, err := holder.Receive(b.ctx, nil)
		b.must("receive", err)
	}
	if got := node.deleteBatch(10, time.Now(), map[string]any{"session-id": "a"}); got != 0 {
		b.Errorf("deleted %d delivered messages", got)
	}
	b.wantTexts("left", node.peek(), "a1", "b1", "a2")
}

// A session's holder deletes only that session's messages, and only those that were not delivered to it.
func TestBDEL4_TheSessionOfTheHolder(t *testing.T) {
	b := serve(t, sessions)
	session := b.dial()
	node := b.manage(session, queueName)
	b.acceptIdle(session, queueName, "a")
	b.put(queueName, inSession("a", "a1"), inSession("b", "b1"), inSession("a", "a2"))
	if got := node.deleteBatch(10, time.Now(), map[string]any{"session-id": "a"}); got != 2 {
		b.Errorf("deleted %d, want 2", got)
	}
	b.wantTexts("left", node.peek(), "b1")
}
