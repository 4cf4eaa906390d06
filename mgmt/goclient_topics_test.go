package mgmt

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/emulator"
)

// TestGoClientTopics runs every operation on topics with the official Go client.
func TestGoClientTopics(t *testing.T) {
	b := newBus(t, emulator.ProfileStandard)
	c := serve(t, b.handler).goClient(t)
	p := admin.TopicProperties{
		RequiresDuplicateDetection: to.Ptr(true), DefaultMessageTimeToLive: to.Ptr("PT3M"), EnableBatchedOperations: to.Ptr(true),
		DuplicateDetectionHistoryTimeWindow: to.Ptr("PT4M"), Status: to.Ptr(admin.EntityStatusActive), AutoDeleteOnIdle: to.Ptr("PT7M"),
		SupportOrdering: to.Ptr(true), UserMetadata: to.Ptr("user metadata"), EnablePartitioning: to.Ptr(true), MaxSizeInMegabytes: to.Ptr(int32(2048)),
	}
	made, err := c.CreateTopic(background, "Events", &admin.CreateTopicOptions{Properties: &p})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	p.MaxSizeInMegabytes, p.MaxMessageSizeInKilobytes = to.Ptr(int32(32768)), to.Ptr(int64(256))
	if made.TopicName != "Events" || !reflect.DeepEqual(made.TopicProperties, p) {
		t.Errorf("created %+v", made)
	}
	if got, err := c.GetTopic(background, "Events", nil); err != nil || !reflect.DeepEqual(got.TopicProperties, p) {
		t.Errorf("got %+v, %v", got, err)
	}
	p.AutoDeleteOnIdle, p.AuthorizationRules = to.Ptr("PT11M"), []admin.AuthorizationRule{{
		AccessRights: []admin.AccessRight{admin.AccessRightSend}, KeyName: to.Ptr("k"), PrimaryKey: to.Ptr("YQ=="), SecondaryKey: to.Ptr("Yg==")}}
	updated, err := c.UpdateTopic(background, "events", p, nil)
	if err != nil || !reflect.DeepEqual(updated.TopicProperties, p) {
		t.Errorf("updated to %+v, %v", updated, err)
	}
	p.EnablePartitioning = to.Ptr(false)
	_, err = c.UpdateTopic(background, "events", p, nil)
	refused(t, err, 400, "Partitioning cannot be changed for Topic. ")
	_, err = c.UpdateTopic(background, "none", admin.TopicProperties{}, nil)
	refused(t, err, 404, "SubCode=40400.")
	_, err = c.CreateQueue(background, "EVENTS", nil)
	refused(t, err, 409, "SubCode=40900.")
	r, err := c.GetTopicRuntimeProperties(background, "Events", nil)
	if err != nil || !r.AccessedAt.IsZero() || r.SubscriptionCount != 0 || r.ScheduledMessageCount != 0 || r.SizeInBytes != 0 {
		t.Errorf("runtime properties are %+v, %v", r, err)
	}
	if _, err := c.CreateTopic(background, "more", nil); err != nil {
		t.Fatalf("create: %v", err)
	}
	var names []string
	for pages := c.NewListTopicsPager(nil); pages.More(); {
		page, err := pages.NextPage(background)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		for _, x := range page.Topics {
			names = append(names, x.TopicName)
		}
	}
	if strings.Join(names, " ") != "events more" {
		t.Errorf("listed %v", names)
	}
	if _, err := c.DeleteTopic(background, "Events", nil); err != nil {
		t.Errorf("delete: %v", err)
	}
	_, err = c.DeleteTopic(background, "Events", nil)
	refused(t, err, 404, "No service is hosted at the specified address")
}

func refused(t *testing.T, err error, status int, text string) {
	t.Helper()
	var r *azcore.ResponseError
	if !errors.As(err, &r) || r.StatusCode != status || !strings.Contains(err.Error(), text) {
		t.Errorf("want %d %q, got %v", status, text, err)
	}
}

func TestGoClientSubscriptions(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	c := serve(t, b.handler).goClient(t)
	_, err := c.CreateSubscription(background, "events", "sub", nil)
	refused(t, err, 404, "The incoming request is not recognized as a namespace policy put request.")
	for _, name := range []string{"events", "target"} {
		if _, err := c.CreateTopic(background, name, nil); err != nil {
			t.Fatalf("create topic: %v", err)
		}
	}
	p := admin.SubscriptionProperties{
		LockDuration: to.Ptr("PT3M"), RequiresSession: to.Ptr(false), DefaultMessageTimeToLive: to.Ptr("PT7M"),
		DeadLetteringOnMessageExpiration: to.Ptr(true), EnableDeadLetteringOnFilterEvaluationExceptions: to.Ptr(false),
		MaxDeliveryCount: to.Ptr(int32(11)), Status: to.Ptr(admin.EntityStatusActive), EnableBatchedOperations: to.Ptr(false),
		AutoDeleteOnIdle: to.Ptr("PT11M"), UserMetadata: to.Ptr("user metadata"),
	}
	made, err := c.CreateSubscription(background, "events", "Sub", &admin.CreateSubscriptionOptions{Properties: &p})
	if err != nil || made.SubscriptionName != "Sub" || !reflect.DeepEqual(made.SubscriptionProperties, p) {
		t.Fatalf("created %+v, %v", made, err)
	}
	if got, err := c.GetSubscription(background, "events", "sub", nil); err != nil || !reflect.DeepEqual(got.SubscriptionProperties, p) {
		t.Errorf("got %+v, %v", got, err)
	}
	p.ForwardTo, p.ForwardDeadLetteredMessagesTo = to.Ptr("sb://localhost/target"), to.Ptr("sb://localhost/target")
	p.AutoDeleteOnIdle = to.Ptr(neverGo)
	if got, err := c.UpdateSubscription(background, "events", "sub", p, nil); err != nil || !reflect.DeepEqual(got.SubscriptionProperties, p) {
		t.Errorf("updated to %+v, %v", got, err)
	}
	p.RequiresSession, p.ForwardTo = to.Ptr(true), nil
	_, err = c.UpdateSubscription(background, "events", "sub", p, nil)
	refused(t, err, 400, "The value for the RequiresSession property of an existing Subscription cannot be changed")
	_, err = c.UpdateSubscription(background, "events", "none", admin.SubscriptionProperties{}, nil)
	refused(t, err, 404, "Entity 'sbemulatorns:Topic:events|none' was not found.")
	_, err = c.CreateSubscription(background, "events", "sub", nil)
	refused(t, err, 409, "The messaging entity 'sbemulatorns:Topic:events|sub' already exists.")
	for _, topic := range []string{"events", "none"} {
		if s, err := c.GetSubscription(background, topic, "none", nil); s != nil || err != nil {
			t.Errorf("a missing one is %v, %v", s, err)
		}
	}
	r, err := c.GetSubscriptionRuntimeProperties(background, "events", "Sub", nil)
	if err != nil || r.AccessedAt.IsZero() || r.TotalMessageCount != 0 {
		t.Errorf("runtime properties are %+v, %v", r, err)
	}
	n := 0
	for pages := c.NewListSubscriptionsRuntimePropertiesPager("events", nil); pages.More(); {
		page, err := pages.NextPage(background)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		n += len(page.SubscriptionRuntimeProperties)
	}
	if n != 1 {
		t.Errorf("%d were listed", n)
	}
	_, err = c.DeleteSubscription(background, "events", "none", nil)
	refused(t, err, 404, "was not found")
	if _, err := c.DeleteSubscription(background, "events", "sub", nil); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// TestChecklist9_GoClientRules creates, updates and reads rules of all shapes; they come back as they were sent.
func TestChecklist9_GoClientRules(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	c := serve(t, b.handler).goClient(t)
	if _, err := c.CreateTopic(background, "t", nil); err != nil {
		t.Fatalf("create topic: %v", err)
	}
	if _, err := c.CreateSubscription(background, "t", "sub", nil); err != nil {
		t.Fatalf("create subscription: %v", err)
	}
	all := map[string]any{"@s": "hello < world", "@i": int64(100), "@f": 100.1, "@d": time.Date(2001, 1, 1, 1, 2, 3, 0, time.UTC), "@b": true}
	const filter = "MessageID=@s OR MessageID=@i OR MessageID=@f OR MessageID=@d OR MessageID=@b"
	action := &admin.SQLAction{Expression: "SET a=@s SET b=@i SET c=@f SET d=@d SET e=@b", Parameters: all}
	for _, r := range []admin.RuleProperties{
		{Name: "nothing"},
		{Name: "true", Filter: &admin.TrueFilter{}},
		{Name: "false", Filter: &admin.FalseFilter{}},
		{Name: "sql", Filter: &admin.SQLFilter{Expression: "MessageID='hello'"}},
		{Name: "parameters", Filter: &admin.SQLFilter{Expression: filter, Parameters: all}},
		{Name: "action", Action: action},
		{Name: "both", Filter: &admin.SQLFilter{Expression: filter, Parameters: all}, Action: action},
		{Name: "correlation", Filter: &admin.CorrelationFilter{
			ContentType: to.Ptr("application/xml"), CorrelationID: to.Ptr("c"), MessageID: to.Ptr("m"), ReplyTo: to.Ptr("r"),
			ReplyToSessionID: to.Ptr("rs"), SessionID: to.Ptr("s"), Subject: to.Ptr("subject"), To: to.Ptr("to"),
			ApplicationProperties: map[string]any{"a": "x", "b": int64(3), "c": 1.5, "d": true, "e": time.Date(2001, 1, 1, 1, 2, 3, 0, time.UTC)},
		}},
	} {
		made, err := c.CreateRule(background, "t", "sub", &admin.CreateRuleOptions{Name: &r.Name, Filter: r.Filter, Action: r.Action})
		if err != nil {
			t.Errorf("create %s: %v", r.Name, err)
			continue
		}
		if r.Filter == nil {
			r.Filter = &admin.TrueFilter{}
		}
		if !reflect.DeepEqual(made.RuleProperties, r) {
			t.Errorf("created %s as %#v", r.Name, made.Filter)
		}
		if got, err := c.UpdateRule(background, "t", "sub", made.RuleProperties); err != nil || !reflect.DeepEqual(got.RuleProperties, r) {
			t.Errorf("updated %s to %+v, %v", r.Name, got, err)
		}
		if got, err := c.GetRule(background, "t", "sub", r.Name, nil); err != nil || !reflect.DeepEqual(got.RuleProperties, r) {
			t.Errorf("got %s as %+v, %v", r.Name, got, err)
		}
		_, err = c.CreateRule(background, "t", "sub", &admin.CreateRuleOptions{Name: &r.Name})
		refused(t, err, 409, "'sbemulatorns:Topic:t|sub|"+r.Name+"' already exists.")
		if _, err := c.DeleteRule(background, "t", "sub", r.Name, nil); err != nil {
			t.Errorf("delete %s: %v", r.Name, err)
		}
	}
	if r, err := c.GetRule(background, "t", "sub", "none", nil); r != nil || err != nil {
		t.Errorf("a missing rule is %v, %v", r, err)
	}
	_, err := c.CreateRule(background, "t", "sub", &admin.CreateRuleOptions{Name: to.Ptr("bad"), Filter: &admin.SQLFilter{Expression: "a ="}})
	refused(t, err, 400, "There was an error parsing the SQL expression")
	_, err = c.UpdateRule(background, "t", "sub", admin.RuleProperties{Name: "none", Filter: &admin.TrueFilter{}})
	refused(t, err, 404, "Entity 'sbemulatorns:Topic:t|sub|none' was not found.")
	d, err := c.GetRule(background, "t", "sub", "$Default", nil)
	if err != nil || !reflect.DeepEqual(d.RuleProperties, admin.RuleProperties{Name: "$Default", Filter: &admin.TrueFilter{}}) {
		t.Errorf("the default rule is %+v, %v", d, err)
	}
	_, err = c.CreateRule(background, "t", "sub", &admin.CreateRuleOptions{}) // without a name: Go puts it to the list, with $Default in the body
	refused(t, err, 409, "$Default")
}

// TestChecklist8_DefaultRules: the first rule of a subscription.
func TestChecklist8_DefaultRules(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	c := serve(t, b.handler).goClient(t)
	if _, err := c.CreateTopic(background, "t", nil); err != nil {
		t.Fatalf("create topic: %v", err)
	}
	action := &admin.SQLAction{Expression: "SET a=@s", Parameters: map[string]any{"@s": "x"}}
	for i, tt := range []struct{ give, want admin.RuleProperties }{
		{admin.RuleProperties{Filter: &admin.FalseFilter{}}, admin.RuleProperties{Name: "$Default", Filter: &admin.FalseFilter{}}},
		{admin.RuleProperties{Name: "mine", Filter: &admin.SQLFilter{Expression: "p LIKE 'O%'"}}, admin.RuleProperties{Name: "mine", Filter: &admin.SQLFilter{Expression: "p LIKE 'O%'"}}},
		{admin.RuleProperties{Action: action}, admin.RuleProperties{Name: "$Default", Filter: &admin.TrueFilter{}, Action: action}},
	} {
		sub := "s" + string(rune('0'+i))
		if _, err := c.CreateSubscription(background, "t", sub, &admin.CreateSubscriptionOptions{Properties: &admin.SubscriptionProperties{DefaultRule: &tt.give}}); err != nil {
			t.Fatalf("create: %v", err)
		}
		lacks(t, b.do("GET", "/t/Subscriptions/"+sub, ""), "DefaultRuleDescription")
		got, err := c.GetRule(background, "t", sub, tt.want.Name, nil)
		if err != nil || !reflect.DeepEqual(got.RuleProperties, tt.want) {
			t.Errorf("got %+v, %v", got, err)
		}
		rules, err := c.NewListRulesPager("t", sub, nil).NextPage(background)
		if err != nil || len(rules.Rules) != 1 {
			t.Errorf("there are %+v, %v", rules, err)
		}
	}
}
