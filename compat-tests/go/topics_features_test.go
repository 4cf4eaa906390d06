package compat

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

func TestSESS3_SESS32_DLQR4_SEQ21_SessionsOnASubscription(t *testing.T) {
	provesAnywhere(t, "topic.sessions")
	s := subscription("sessions")
	s.RequiresSession = true
	b := serveTopic(t, []harness.Subscription{s, subscription("plain")})
	b.put(topicName, inSession("a", "a1"), inSession("b", "b1"), message("none"), inSession("a", "a2"))
	holder := b.acceptSub("sessions", "a")
	got := b.receive(holder, 2)
	b.check(got[0], stamps{body: "a1", seq: 1, count: 1, first: 1})
	b.check(got[1], stamps{body: "a2", seq: 4, count: 1, first: 4})
	b.must("set state", holder.SetSessionState(b.ctx, []byte("state of a"), nil))
	_, err := b.client.AcceptSessionForSubscription(b.ctx, b.name(topicName), "sessions", "a", nil)
	b.wantErrorText("accept a held session", err, "com.microsoft:session-cannot-be-locked")
	next, err := b.client.AcceptNextSessionForSubscription(b.ctx, b.name(topicName), "sessions", nil)
	b.must("accept next", err)
	if next.SessionID() != "b" {
		b.Errorf("next session is %q, want b", next.SessionID())
	}
	b.must("complete", holder.CompleteMessage(b.ctx, got[0], nil))
	b.must("close", holder.Close(b.ctx))
	holder = b.acceptSub("sessions", "a")
	state, err := holder.GetSessionState(b.ctx, nil)
	if b.must("get state", err); string(state) != "state of a" {
		b.Errorf("state is %q", state)
	}
	b.check(b.receiveOne(holder), stamps{body: "a2", seq: 4, count: 1, first: 4})
	dead := b.receiveOne(b.deadFromSub("sessions"))
	b.check(dead, stamps{body: "none", seq: 3, count: 1, first: 3})
	b.wantText("reason", dead.DeadLetterReason, "Session id is null.")
	b.wantText("description", dead.DeadLetterErrorDescription, "Session enabled entity doesn't allow a message whose session identifier is null.")
	b.wantFrom("plain", stamps{body: "a1", seq: 1, first: 1}, stamps{body: "b1", seq: 2, first: 2},
		stamps{body: "none", seq: 3, first: 3}, stamps{body: "a2", seq: 4, first: 4})
}

func TestTOP1_DLQ8_DLQR1_DEF2_SettleInASubscription(t *testing.T) {
	provesAnywhere(t, "topic.deadletter", "topic.defer")
	s := subscription("s")
	s.MaxDeliveryCount = 2
	b := serveTopic(t, []harness.Subscription{s, subscription("other")})
	b.put(topicName, message("dead"), message("failing"), message("later"), message("done"))
	receiver := b.fromSub("s")
	got := b.receive(receiver, 4)
	b.must("dead-letter", receiver.DeadLetterMessage(b.ctx, got[0], &azservicebus.DeadLetterOptions{Reason: to.Ptr("Broken"), ErrorDescription: to.Ptr("why")}))
	b.must("defer", receiver.DeferMessage(b.ctx, got[2], nil))
	b.must("complete", receiver.CompleteMessage(b.ctx, got[3], nil))
	b.must("abandon", receiver.AbandonMessage(b.ctx, got[1], nil))
	again := b.receiveOne(receiver)
	b.check(again, stamps{body: "failing", seq: 2, count: 2, first: 2})
	b.must("renew", receiver.RenewMessageLock(b.ctx, again, nil))
	b.must("abandon", receiver.AbandonMessage(b.ctx, again, nil))
	b.wantEmpty(receiver)

	fetched, err := receiver.ReceiveDeferredMessages(b.ctx, []int64{3}, nil)
	b.must("receive deferred", err)
	b.wantBodies("deferred", fetched, "later")
	b.must("complete", receiver.CompleteMessage(b.ctx, fetched[0], nil))
	dead := b.receive(b.deadFromSub("s"), 2)
	b.check(dead[0], stamps{body: "dead", seq: 1, count: 1, first: 1})
	b.wantText("reason", dead[0].DeadLetterReason, "Broken")
	b.wantText("description", dead[0].DeadLetterErrorDescription, "why")
	b.check(dead[1], stamps{body: "failing", seq: 2, count: 3, first: 2})
	b.wantText("reason", dead[1].DeadLetterReason, "MaxDeliveryCountExceeded")
	b.wantFrom("other", stamps{body: "dead", seq: 1, first: 1}, stamps{body: "failing", seq: 2, first: 2},
		stamps{body: "later", seq: 3, first: 3}, stamps{body: "done", seq: 4, first: 4})
}

// A message on which a filter or an action fails goes to the subscription's dead-letter queue, unless a setting turns that off.
func TestTOP10_DLQR6_FilterErrors(t *testing.T) {
	filter, action := harness.Rule{Name: "r", SQL: "n / 0 = 1"}, harness.Rule{Name: "r", SQL: "1=1", Action: "SET n = n / 0"}
	off := subscription("off", filter)
	off.NoFilterErrors = true
	b := serveTopic(t, []harness.Subscription{subscription("filter", filter), subscription("action", action), off, subscription("other")})
	b.put(topicName, with("a", "n", int32(1)))
	for name, reason := range map[string]string{"filter": "FilterException", "action": "RuleActionException"} {
		dead := b.receiveOne(b.deadFromSub(name))
		b.check(dead, stamps{body: "a", seq: 1, count: 1, first: 1})
		b.wantText("reason", dead.DeadLetterReason, reason)
		if dead.DeadLetterErrorDescription == nil || *dead.DeadLetterErrorDescription == "" {
			b.Errorf("%s: no description", name)
		}
		b.wantFrom(name)
	}
	b.wantEmpty(b.deadFromSub("off"))
	b.wantFrom("off")
	b.wantFrom("other", stamps{body: "a", seq: 1, first: 1})
}

// The topic's time to live counts first; the shorter of it and the subscription's applies.
func TestEXP2_EXP6_ShortestTimeToLive(t *testing.T) {
	short := subscription("short")
	short.TimeToLive, short.DeadLetterExpired = "PT0.5S", true
	b := serveTopic(t, []harness.Subscription{short, subscription("long")})
	b.put(topicName, message("a"))
	dead := b.receiveOne(b.deadFromSub("short"))
	b.check(dead, stamps{body: "a", seq: 1, count: 1, first: 1})
	b.wantText("reason", dead.DeadLetterReason, "TTLExpiredException")
	b.wantFrom("long", stamps{body: "a", seq: 1, first: 1})
}
