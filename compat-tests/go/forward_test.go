package compat

import (
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

func TestFWD3_FWD7_SEQ16_DC15_AlongAChain(t *testing.T) {
	provesAnywhere(t, "entity.forward")
	b := serve(t, harness.Queue{Name: "a", ForwardTo: "b"}, harness.Queue{Name: "b", ForwardTo: "c"}, harness.Queue{Name: "c", TimeToLive: "PT1H"})
	b.put("b", message("direct"))
	sent := inSession("s", "through")
	sent.PartitionKey = sent.SessionID
	sent.ApplicationProperties = map[string]any{"kept": "yes"}
	b.put("a", message("ahead"), sent)
	target := b.from("c")
	messages := b.receive(target, 3)
	b.check(messages[0], stamps{body: "direct", seq: 1, first: 1, count: 1})
	b.check(messages[1], stamps{body: "ahead", seq: 2, first: 1, count: 1})
	b.check(messages[2], stamps{body: "through", seq: 3, first: 2, count: 1}) // the number given by a
	m := messages[2]
	b.wantText("session id", m.SessionID, "s")
	b.wantText("partition key", m.PartitionKey, "s")
	if m.MessageID != "through" || m.ApplicationProperties["kept"] != "yes" {
		b.Errorf("received id %q with properties %v", m.MessageID, m.ApplicationProperties)
	}
	if m.ExpiresAt == nil || !m.ExpiresAt.Equal(m.EnqueuedTime.Add(time.Hour)) {
		b.Errorf("expires at %v, want an hour after %v (EXP-15)", m.ExpiresAt, m.EnqueuedTime)
	}
	b.must("abandon", target.AbandonMessage(b.ctx, m, nil))
	b.check(b.receiveOne(target), stamps{body: "through", seq: 3, first: 2, count: 2})
}

func TestFWD4_DLQ15_ForwardingEntitiesAreNotRead(t *testing.T) {
	b := serve(t, harness.Queue{Name: "a", ForwardTo: "b"}, harness.Queue{Name: "b", ForwardDeadLettersTo: "c"}, harness.Queue{Name: "c"})
	const receiver = "Cannot create a message receiver on an entity with auto-forwarding enabled."
	const browser = "Cannot create a message browser on an entity with auto-forwarding enabled."
	for what, from := range map[string]*azservicebus.Receiver{"the source": b.from("a"), "a forwarded dead-letter queue": b.deadFrom("b")} {
		_, err := from.ReceiveMessages(b.ctx, 1, nil)
		b.wantErrorText("receive from "+what, err, "amqp:not-allowed")
		b.wantErrorText("receive from "+what, err, receiver)
	}
	session := b.dial()
	source := b.manage(session, "a")
	for operation, body := range map[string]map[string]any{
		"peek-message":               {"from-sequence-number": int64(0), "message-count": int32(1)},
		"cancel-scheduled-message":   {"sequence-numbers": []int64{1}},
		"receive-by-sequence-number": {"sequence-numbers": []int64{1}, "receiver-settle-mode": uint32(1)},
		"batch-delete-messages":      {"message-count": int32(1), "enqueued-time-utc": time.Now()},
	} {
		if a := source.want(operation, body, 400, "amqp:not-allowed"); len(a.description) < len(browser) || a.description[:len(browser)] != browser {
			b.Errorf("%s: %q, want %q", operation, a.description, browser)
		}
	}
	if a := b.manage(session, "b/$DeadLetterQueue").ask("peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(1)}); a.condition != "amqp:not-allowed" {
		b.Errorf("peek of a forwarded dead-letter queue: status %d, %s", a.status, a.condition)
	}
	b.put("a", message("x")) // senders may
	b.check(b.receiveOne(b.from("b")), stamps{body: "x", seq: 1, first: 1, count: 1})
	b.wantBodies("the source's dead-letter queue", b.peekAll(b.deadFrom("a"), 0)) // stays readable
}

func TestFWD8_DLQR5_FourHopsAndNoMore(t *testing.T) {
	var chain []harness.Queue
	for i := range 5 {
		chain = append(chain, harness.Queue{Name: fmt.Sprint("q", i), ForwardTo: fmt.Sprint("q", i+1)})
	}
	b := serve(t, append(chain, harness.Queue{Name: "q5"}, harness.Queue{Name: "self", ForwardTo: "self"})...)
	b.put("q1", message("four hops"))
	b.check(b.receiveOne(b.from("q5")), stamps{body: "four hops", seq: 1, first: 1, count: 1})
	b.put("q0", message("five hops"))
	dead := b.receiveOne(b.deadFrom("q4"))
	b.check(dead, stamps{body: "five hops", seq: 2, first: 1, count: 1})
	b.wantText("reason", dead.DeadLetterReason, "MaxTransferHopCountExceeded")
	b.wantEmpty(b.from("q5"))
	b.put("self", message("round and round")) // FWD-15
	b.wantText("reason", b.receiveOne(b.deadFrom("self")).DeadLetterReason, "MaxTransferHopCountExceeded")
}

func TestFWD5_FWD6_FWD16_IntoASession(t *testing.T) {
	b := serve(t, harness.Queue{Name: "source", ForwardTo: queueName}, sessions)
	b.put("source", inSession("s", "1"), message("without"), inSession("s", "2"), inSession("s", "3"))
	b.wantBodies("session", b.receive(b.accept(b.client, queueName, "s"), 3), "1", "2", "3")
	b.check(b.receiveOne(b.deadFrom("source")), stamps{body: "without", seq: 2, count: 1}) // on the source
	b.wantTexts("the target", b.peekQueue(queueName), "1", "2", "3")
}

func TestFWD11_FWD12_DEC28_DisabledTarget(t *testing.T) {
	b := serve(t, harness.Queue{Name: "source", ForwardTo: "closed"}, harness.Queue{Name: "dying", ForwardDeadLettersTo: "closed"},
		harness.Queue{Name: "closed", Status: "Disabled"})
	b.put("source", message("x"))
	dead := b.receiveOne(b.deadFrom("source"))
	b.check(dead, stamps{body: "x", seq: 1, count: 1})
	b.wantText("reason", dead.DeadLetterReason, "MessagingEntityDisabledException")
	b.put("dying", message("y"))
	from := b.from("dying")
	b.must("dead-letter", from.DeadLetterMessage(b.ctx, b.receiveOne(from), nil)) // waits in its dead-letter queue
	b.wantBodies("left", b.peekAll(from, 0))
}

func TestDLQ10_FWD1_FWD9_DeadLettersAreForwarded(t *testing.T) {
	provesAnywhere(t, "entity.forwarddead")
	b := serve(t, harness.Queue{Name: "a", ForwardDeadLettersTo: "graves", MaxDeliveryCount: 1}, harness.Queue{Name: "graves"})
	b.put("a", message("explicit"), message("poison"))
	from := b.from("a")
	messages := b.receive(from, 2)
	reason := "Broken"
	b.must("dead-letter", from.DeadLetterMessage(b.ctx, messages[0], &azservicebus.DeadLetterOptions{Reason: &reason}))
	b.must("abandon", from.AbandonMessage(b.ctx, messages[1], nil))
	graves := b.from("graves")
	for i, want := range []string{"Broken", "MaxDeliveryCountExceeded"} {
		m := b.receiveOne(graves)
		b.check(m, stamps{body: string(messages[i].Body), seq: int64(i + 1), first: int64(i + 1), count: 1})
		b.wantText("reason", m.DeadLetterReason, want)
		b.wantText("dead-letter source", m.DeadLetterSource, b.name("a"))
		if i == 0 { // resubmission
			again := m.Message()
			b.must("send again", b.to("a").SendMessage(b.ctx, again, nil))
			b.must("complete", graves.CompleteMessage(b.ctx, m, nil))
		}
	}
	b.check(b.receiveOne(from), stamps{body: "explicit", seq: 3, count: 1})
}

// Scheduled messages are forwarded when they become active.
func TestFWD14_SCHED9_ScheduledMessagesAreForwardedWhenDue(t *testing.T) {
	b := serve(t, harness.Queue{Name: "source", ForwardTo: "target"}, harness.Queue{Name: "target"})
	due := b.later()
	m := message("later")
	m.ScheduledEnqueueTime = &due
	b.put("source", m, message("now"))
	target := b.from("target")
	b.check(b.receiveOne(target), stamps{body: "now", seq: 1, first: 2, count: 1})
	b.pass(due)
	m2 := b.receiveOne(target)
	b.check(m2, stamps{body: "later", seq: 2, first: 3, count: 1})
	if at := m2.EnqueuedTime; at.Before(due.Truncate(time.Millisecond)) || at.After(due.Add(dueTolerance)) {
		b.Errorf("enqueued at %v, want %v", at, due)
	}
	_, err := b.to("source").ScheduleMessages(b.ctx, []*azservicebus.Message{message("x")}, time.Now().Add(time.Hour), nil)
	b.wantErrorText("schedule operation on the source (FWD-4)", err, "Cannot create a message browser on an entity with auto-forwarding enabled.")
}

func TestFWD3_DEC21_BacklogIsForwardedAfterKill9(t *testing.T) {
	b, again := serveTwice(t, harness.Queue{Name: "source", ForwardTo: "target"}, harness.Queue{Name: "target"})
	var want []string
	sender := b.to("source")
	for i := range 5 {
		var group []*azservicebus.Message
		for j := range 100 {
			want = append(want, fmt.Sprint(i, ".", j))
			group = append(group, message(want[len(want)-1]))
		}
		b.must("send", sender.SendMessageBatch(b.ctx, b.batchOf(sender, group...), nil))
	}
	b = again()
	messages := b.receive(b.from("target"), len(want))
	b.wantBodies("after the restart", messages, want...)
	for i, m := range messages {
		b.check(m, stamps{body: want[i], seq: int64(i + 1), first: int64(i + 1), count: 1})
	}
	b.wantBodies("left in the source's dead-letter queue", b.peekAll(b.deadFrom("source"), 0))
}
