package compat

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// living returns a message with a time to live.
func living(body string, d time.Duration) *azservicebus.Message {
	m := message(body)
	m.TimeToLive = &d
	return m
}

func TestEXP1_EXP3_TIME4_TheSmallerTimeToLiveCounts(t *testing.T) {
	provesAnywhere(t, "entity.ttl", "prop.expires")
	b := serve(t, harness.Queue{Name: queueName, TimeToLive: "PT10M"}, harness.Queue{Name: "endless"})
	b.put(queueName, message("none"), living("shorter", time.Minute), living("longer", time.Hour))
	for i, want := range []time.Duration{10 * time.Minute, time.Minute, 10 * time.Minute} {
		m := b.receiveOne(b.receiver)
		if m.TimeToLive == nil || *m.TimeToLive != want {
			b.Errorf("%s has time to live %v, want %v", m.Body, m.TimeToLive, want)
		}
		if m.ExpiresAt == nil || !m.ExpiresAt.Equal(m.EnqueuedTime.Add(want)) {
			b.Errorf("%s expires at %v, want %v after %v", m.Body, m.ExpiresAt, want, m.EnqueuedTime)
		}
		b.check(m, stamps{body: []string{"none", "shorter", "longer"}[i], seq: int64(i + 1), count: 1})
	}
	b.put("endless", message("for ever"))
	m := b.receiveOne(b.from("endless")).RawAMQPMessage
	if m.Header.TTL != 0 || m.Properties.AbsoluteExpiryTime != nil || m.Properties.CreationTime != nil {
		b.Errorf("an endless message has ttl %v, creation time %v, expiry %v (PROP-5)", m.Header.TTL, m.Properties.CreationTime, m.Properties.AbsoluteExpiryTime)
	}
}

func TestEXP5_EXP6_EXP12_DLQR2_ExpiredIsDeadLettered(t *testing.T) {
	provesAnywhere(t, "entity.expire", "entity.expiredead")
	b := serve(t, harness.Queue{Name: queueName, DeadLetterExpired: true}, harness.Queue{Name: "drops"})
	life := b.pace(700 * time.Millisecond)
	b.put("drops", living("dropped", life), message("stays"))
	b.put(queueName, living("first", life), message("second"), living("third", life))
	dead := b.receive(b.deadLetters(), 2)
	now := time.Now()
	for i, want := range []stamps{{body: "first", seq: 1, count: 1}, {body: "third", seq: 3, count: 1}} {
		b.check(dead[i], want)
		b.wantText("reason", dead[i].DeadLetterReason, "TTLExpiredException")
		b.wantText("description", dead[i].DeadLetterErrorDescription, "The message expired and was dead lettered.")
		if now.Add(b.slack()).Before(dead[i].EnqueuedTime.Add(life)) {
			b.Errorf("%s expired at %v, it was enqueued at %v", dead[i].Body, now, dead[i].EnqueuedTime)
		}
	}
	b.wantBodies("left in the queue", b.peekAll(b.receiver, 0), "second")
	b.wantBodies("left in the other queue", b.peekAll(b.from("drops"), 0), "stays")
	b.wantBodies("not dead-lettered there", b.peekAll(b.deadFrom("drops"), 0))
	b.wantBodies("received", b.receive(b.receiver, 1), "second")
}

func TestEXP8_EXP9_ALockProtects(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName, DeadLetterExpired: true, MaxDeliveryCount: 1})
	const life = 40 * time.Second // shorter than the lock
	b.put(queueName, living("completed", life), living("abandoned", life))
	messages := b.receive(b.receiver, 2)
	b.pass(messages[1].EnqueuedTime.Add(life))
	b.must("complete after the expiry", b.receiver.CompleteMessage(b.ctx, messages[0], nil))
	b.must("renew after the expiry (EXP-13)", b.receiver.RenewMessageLock(b.ctx, messages[1], nil))
	b.must("abandon after the expiry", b.receiver.AbandonMessage(b.ctx, messages[1], nil))
	dead := b.receiveOne(b.deadLetters())
	if string(dead.Body) != "abandoned" || *dead.SequenceNumber != 2 {
		b.Errorf("dead-lettered %q, number %d", dead.Body, *dead.SequenceNumber)
	}
	b.wantText("reason", dead.DeadLetterReason, "TTLExpiredException")
	b.wantBodies("left", b.peekAll(b.receiver, 0))
}

func TestEXP10_EXP11_DeferredMessagesStay(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName, DeadLetterExpired: true})
	const life = 40 * time.Second
	b.put(queueName, living("a", life))
	m := b.receiveOne(b.receiver)
	b.must("defer", b.receiver.DeferMessage(b.ctx, m, nil))
	b.pass(m.EnqueuedTime.Add(life))
	b.check(b.peekAll(b.receiver, 0)[0], stamps{body: "a", seq: 1, count: 2, state: azservicebus.MessageStateDeferred})
	b.wantBodies("dead letters", b.peekAll(b.deadLetters(), 0))
	_, err := b.receiver.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.wantMissing("receive an expired number", err, "Failed to lock one or more specified messages")
	dead := b.receiveOne(b.deadLetters())
	b.check(dead, stamps{body: "a", seq: 1, count: 2})
	b.wantText("reason", dead.DeadLetterReason, "TTLExpiredException")
}

// Messages that expired while the server was down are handled before it is ready.
func TestDEC21_EXP6_ExpiryAcrossARestart(t *testing.T) {
	b, again := serveTwice(t, harness.Queue{Name: queueName, DeadLetterExpired: true})
	b.put(queueName, living("a", 300*time.Millisecond), message("b"), living("c", time.Hour))
	b = again()
	b.check(b.receiveOne(b.deadLetters()), stamps{body: "a", seq: 1, count: 1})
	rest := b.receive(b.receiver, 2)
	b.wantBodies("received", rest, "b", "c")
	if life := rest[1].TimeToLive; life == nil || *life != time.Hour || !rest[1].ExpiresAt.Equal(rest[1].EnqueuedTime.Add(time.Hour)) {
		b.Errorf("c has time to live %v and expires at %v", life, rest[1].ExpiresAt)
	}
}
