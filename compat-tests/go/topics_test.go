package compat

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// Filters of a Config.json decide which subscriptions get a copy; each subscription numbers its own, and all show the topic's number.
func TestTOP1_TOP9_SEQ15_PROP2_FilteredReceive(t *testing.T) {
	provesAnywhere(t, "send.topic", "topic.copies", "topic.number", "topic.batch", "topic.sql", "topic.correlation")
	b := serveTopic(t, []harness.Subscription{
		subscription("all"),
		subscription("red", harness.Rule{Name: "sql", SQL: "color = 'red' AND size > 5 AND sys.Label LIKE 'a%'"}),
		subscription("tenant", harness.Rule{Name: "correlation", Correlation: map[string]any{"Label": "abc", "Properties": map[string]any{"tenant": "x"}}}),
		subscription("either", harness.Rule{Name: "1", SQL: "tenant IN ('x', 'z')"}, harness.Rule{Name: "2", SQL: "size >= 1 AND size < 2 OR size = 9"}),
		subscription("never", harness.Rule{Name: "none", SQL: "1=0"}),
	})
	sender := b.to(topicName)
	batch := b.batchOf(sender, labelled("abc", with("1", "color", "red", "size", int32(9))), labelled("abc", with("2", "color", "blue", "size", int64(9))))
	b.must("send batch", sender.SendMessageBatch(b.ctx, batch, nil))
	b.put(topicName,
		labelled("xbc", with("3", "color", "red", "size", 9.0, "tenant", "x")), labelled("abc", with("4", "tenant", "x")),
		labelled("abcd", with("5", "color", "red", "size", 5.5)), labelled("Abc", with("6", "tenant", "x", "color", "RED")))
	b.wantFrom("all", stamps{body: "1", seq: 1, first: 1}, stamps{body: "2", seq: 2, first: 2}, stamps{body: "3", seq: 3, first: 3},
		stamps{body: "4", seq: 4, first: 4}, stamps{body: "5", seq: 5, first: 5}, stamps{body: "6", seq: 6, first: 6})
	b.wantFrom("red", stamps{body: "1", seq: 1, first: 1}, stamps{body: "5", seq: 2, first: 5})
	b.wantFrom("tenant", stamps{body: "4", seq: 1, first: 4})
	b.wantFrom("either", stamps{body: "1", seq: 1, first: 1}, stamps{body: "2", seq: 2, first: 2}, stamps{body: "3", seq: 3, first: 3},
		stamps{body: "4", seq: 4, first: 4}, stamps{body: "6", seq: 5, first: 6})
	b.wantFrom("never")
}

// Rules without an action make one copy together, each rule with an action makes its own, and other copies do not change.
func TestTOP5_TOP6_TOP11_ActionsOnTheReceivedMessage(t *testing.T) {
	provesAnywhere(t, "topic.action")
	b := serveTopic(t, []harness.Subscription{
		subscription("changed",
			harness.Rule{Name: "plain1", SQL: "price > 1"}, harness.Rule{Name: "plain2", SQL: "price > 2"},
			harness.Rule{Name: "double", SQL: "price > 3", Action: "SET price = price * 2; SET sys.Label = 'doubled'; REMOVE currency"},
			harness.Rule{Name: "send-on", Correlation: map[string]any{"Label": "offer"}, Action: "SET sys.To = 'shop'; SET seen = TRUE"},
			harness.Rule{Name: "not-this-one", SQL: "price > 100", Action: "SET price = 0"}),
		subscription("other"),
	})
	b.put(topicName, labelled("offer", with("a", "price", int32(10), "currency", "EUR")))
	got := b.wantFrom("changed", stamps{body: "a", seq: 1, first: 1}, stamps{body: "a", seq: 2, first: 1}, stamps{body: "a", seq: 3, first: 1})
	for i, want := range []struct {
		rule, price, currency, seen any
		label, to                   string
	}{
		{price: int32(10), currency: "EUR", label: "offer"},
		{rule: "double", price: int32(20), label: "doubled"},
		{rule: "send-on", price: int32(10), currency: "EUR", seen: true, label: "offer", to: "shop"},
	} {
		m := got[i]
		b.wantProperty(m, "RuleName", want.rule)
		b.wantProperty(m, "price", want.price)
		b.wantProperty(m, "currency", want.currency)
		b.wantProperty(m, "seen", want.seen)
		b.wantText("label", m.Subject, want.label)
		if want.to != "" {
			b.wantText("to", m.To, want.to)
		} else if m.To != nil {
			b.Errorf("copy %d has to %q", i, *m.To)
		}
		if m.MessageID != "a" {
			b.Errorf("copy %d has message id %q", i, m.MessageID)
		}
	}
	other := b.wantFrom("other", stamps{body: "a", seq: 1, first: 1})[0]
	b.wantProperty(other, "price", int32(10))
	b.wantText("label", other.Subject, "offer")
}

func TestTOP2_NobodyTakesIt(t *testing.T) {
	b := serveTopic(t, []harness.Subscription{subscription("s", harness.Rule{Name: "r", SQL: "wanted = TRUE"})})
	b.put(topicName, message("lost"), with("kept", "wanted", true))
	b.wantFrom("s", stamps{body: "kept", seq: 1, first: 2})

	b = startServer(t, harness.Options{Config: topicConfig(t, nil)})
	b.put(topicName, message("lost"))
	b.wantTexts("in the topic", b.peekQueue(topicName))
}

// Clients send to a topic and receive from a subscription, never the other way round.
func TestTOP1_SCHED17_ERR4_WrongDirection(t *testing.T) {
	provesAnywhere(t, "topic.noreceive", "err.subscription")
	b := serveTopic(t, []harness.Subscription{subscription("s")})
	_, err := b.from(topicName).ReceiveMessages(b.ctx, 1, nil)
	b.wantErrorText("receive from the topic", err, "amqp:not-found")
	_, err = b.receiverOf(topicName, "missing", nil).ReceiveMessages(b.ctx, 1, nil)
	b.wantErrorText("receive from a missing subscription", err, "amqp:not-found")
	err = b.to(topicName+"/Subscriptions/s").SendMessage(b.ctx, message("x"), nil)
	b.wantErrorText("send to a subscription", err, "amqp:not-allowed")
	b.put(topicName, message("a"))
	b.wantFrom("s", stamps{body: "a", seq: 1, first: 1})
}

func TestSCHED16_SCHED17_SCHED3_ScheduledAndCancelledOnATopic(t *testing.T) {
	provesAnywhere(t, "topic.schedule", "topic.cancel")
	b := serveTopic(t, []harness.Subscription{subscription("all"), subscription("odd", harness.Rule{Name: "r", SQL: "n % 2 = 1"})})
	sender := b.to(topicName)
	due := b.later()
	numbers, err := sender.ScheduleMessages(b.ctx, []*azservicebus.Message{with("m1", "n", int32(1)), with("m2", "n", int32(2)), with("m3", "n", int32(3))}, due, nil)
	b.must("schedule", err)
	b.wantTexts("peeked in the topic", b.peekQueue(topicName), "m1", "m2", "m3")
	if early := b.peekAll(b.fromSub("all"), 0); len(early) > 0 {
		b.Errorf("the subscription has %q before it is due", bodies(early))
	}
	b.must("cancel", sender.CancelScheduledMessages(b.ctx, numbers[:1], nil))
	b.wantMissing("cancel again", sender.CancelScheduledMessages(b.ctx, numbers[:1], nil), "Missing sequence numbers: 1")
	b.put(topicName, with("now", "n", int32(5)))
	b.pass(due)
	// The scheduled ones have the numbers 1 to 3, and get new ones when they are due (SCHED-9).
	got := b.wantFrom("all", stamps{body: "now", seq: 1, first: 4}, stamps{body: "m2", seq: 2, first: 5}, stamps{body: "m3", seq: 3, first: 6})
	b.checkActivated(got[1], due)
	b.wantFrom("odd", stamps{body: "now", seq: 1, first: 4}, stamps{body: "m3", seq: 2, first: 6})
	b.wantMissing("cancel what was activated", sender.CancelScheduledMessages(b.ctx, numbers[1:2], nil), "Missing sequence numbers: 2")
	b.wantTexts("left in the topic", b.peekQueue(topicName))
}

func TestFWD1_FWD7_SEQ16_TIME5_ForwardedFromASubscription(t *testing.T) {
	s := subscription("s", harness.Rule{Name: "r", SQL: "go = TRUE"})
	s.ForwardTo = "target"
	b := serveTopic(t, []harness.Subscription{s}, harness.Queue{Name: "target"})
	b.put("target", message("direct"))
	b.put(topicName, message("stays"), with("goes", "go", true))
	got := b.receive(b.from("target"), 2)
	b.check(got[0], stamps{body: "direct", seq: 1, count: 1})
	b.check(got[1], stamps{body: "goes", seq: 2, count: 1, first: 2})
	_, err := b.fromSub("s").ReceiveMessages(b.ctx, 1, nil)
	b.wantErrorText("receive from a source", err, "Cannot create a message receiver on an entity with auto-forwarding enabled")
}

// What each subscription of the default topology gets. Minibus has it without a Config.json, like Microsoft's emulator.
func TestTOP4_TOP9_MicrosoftsDefaultTopology(t *testing.T) {
	t.Parallel()
	b := startServer(t, harness.Options{Alone: true})
	json := message("json")
	json.ContentType = to.Ptr("application/json")
	sql := with("sql", "userProp1", "value1")
	sql.MessageID = to.Ptr("123456")
	half := with("half", "userProp1", "value1")
	b.put("topic.1", json, with("prop", "prop1", "value1"), message("plain"), sql, half)
	for name, want := range map[string][]string{
		"subscription.1": {"json"}, "subscription.2": {"prop"},
		"subscription.3": {"json", "prop", "plain", "sql", "half"}, "subscription.4": {"sql"},
	} {
		receiver := b.receiverOf("topic.1", name, nil)
		got := b.receive(receiver, len(want))
		b.wantBodies(name, got, want...)
		b.wantEmpty(receiver)
		if name == "subscription.4" {
			b.wantText("to", got[0].To, "Entity")
			b.wantProperty(got[0], "RuleName", "sql-filter-1")
		}
		if life := got[0].TimeToLive; life == nil || *life != time.Hour {
			b.Errorf("%s: time to live %v, want 1 h", name, life)
		}
	}
}
