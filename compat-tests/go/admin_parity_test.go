package compat

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/compat-tests/harness"
)

// same compares what the administration shows.
func (b *bench) same(what string, got, want any) {
	b.Helper()
	if b.saw("%s: %s", what, shownAs(got)); !reflect.DeepEqual(got, want) {
		b.Errorf("%s: %s, want %s", what, shownAs(got), shownAs(want))
	}
}

// shownAs shows what pointers point to.
func shownAs(value any) string {
	if text, err := json.Marshal(value); err == nil {
		return string(text)
	}
	return fmt.Sprintf("%+v", value)
}

// address is the namespace's, with which an entity begins that is named by its address.
func (b *bench) address() string {
	b.Helper()
	if !b.elsewhere() {
		return fmt.Sprintf("sb://localhost:%d/", b.server.Ports.HTTP)
	}
	parsed, err := harness.ParseConnection(b.connection)
	b.must("read", err)
	return "sb://" + parsed.Host + "/"
}

// wantAll is wantNames for a list of all that is in the namespace. Elsewhere there is more, and it changes meanwhile.
func (b *bench) wantAll(what string, list func() []string, want ...string) {
	b.Helper()
	if !b.elsewhere() {
		b.wantNames(what, list(), want...)
	}
}

func TestAdminClient_QueueProperties(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "admin.queuedefaults", "admin.queueproperties", "admin.queuenames")
	b := serveWithData(t)
	c := b.administer()
	made, err := c.CreateQueue(b.ctx, b.name("plain"), nil)
	b.must("create", err)
	largest := to.Ptr(int64(256))
	if b.elsewhere() {
		largest = made.MaxMessageSizeInKilobytes // each tier has its own, and only the premium tier lets it be chosen
	}
	b.same("defaults", made.QueueProperties, admin.QueueProperties{
		LockDuration: to.Ptr("PT1M"), MaxSizeInMegabytes: to.Ptr(int32(1024)), RequiresDuplicateDetection: to.Ptr(false),
		RequiresSession: to.Ptr(false), DefaultMessageTimeToLive: to.Ptr(noLimit), DeadLetteringOnMessageExpiration: to.Ptr(false),
		DuplicateDetectionHistoryTimeWindow: to.Ptr("PT10M"), MaxDeliveryCount: to.Ptr(int32(10)), EnableBatchedOperations: to.Ptr(true),
		Status: to.Ptr(admin.EntityStatusActive), AutoDeleteOnIdle: to.Ptr(noLimit), EnablePartitioning: to.Ptr(false),
		MaxMessageSizeInKilobytes: largest,
	})
	p := admin.QueueProperties{
		LockDuration: to.Ptr("PT45S"), EnablePartitioning: to.Ptr(false), MaxSizeInMegabytes: to.Ptr(int32(4096)),
		RequiresDuplicateDetection: to.Ptr(true), RequiresSession: to.Ptr(true), DefaultMessageTimeToLive: to.Ptr("P2D"),
		DeadLetteringOnMessageExpiration: to.Ptr(true), DuplicateDetectionHistoryTimeWindow: to.Ptr("PT4H"),
		MaxDeliveryCount: to.Ptr(int32(100)), EnableBatchedOperations: to.Ptr(false), MaxMessageSizeInKilobytes: to.Ptr(int64(2048)),
		Status: to.Ptr(admin.EntityStatusReceiveDisabled), AutoDeleteOnIdle: to.Ptr("PT10M"), UserMetadata: to.Ptr("<a> & ü"),
	}
	if b.elsewhere() {
		p.MaxMessageSizeInKilobytes = largest
	}
	_, err = c.CreateQueue(b.ctx, b.name("A/b.c-d_e1"), &admin.CreateQueueOptions{Properties: &p})
	b.must("create", err)
	got, err := c.GetQueue(b.ctx, strings.ToUpper(b.name("a/b.c-d_e1")), nil)
	b.must("get", err)
	b.same("properties", got.QueueProperties, p)
	b.wantAll("queues", func() []string {
		return listed(b, c.NewListQueuesPager(nil), func(p admin.ListQueuesResponse) (names []string) {
			for _, q := range p.Queues {
				names = append(names, q.QueueName)
			}
			return names
		})
	}, "a/b.c-d_e1", "plain")
	p.MaxDeliveryCount, p.LockDuration, p.Status = to.Ptr(int32(7)), to.Ptr("PT30S"), to.Ptr(admin.EntityStatusActive)
	updated, err := c.UpdateQueue(b.ctx, b.name("a/b.c-d_e1"), p, nil)
	b.must("update", err)
	b.same("updated", updated.QueueProperties, p)
}

func TestAdminClient_QueueRefusals(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "admin.queuemissing", "admin.queuebad", "admin.queuefixed", "admin.queueforward")
	b := serveWithData(t)
	c := b.administer()
	queue, err := c.CreateQueue(b.ctx, b.name("q"), nil)
	b.must("create", err)
	if got, err := c.GetQueue(b.ctx, b.name("missing"), nil); got != nil || err != nil { // how this SDK says it
		b.Errorf("a missing queue is %v, %v", got, err)
	}
	_, err = c.UpdateQueue(b.ctx, b.name("missing"), queue.QueueProperties, nil)
	b.wantStatus("update a missing queue", err, 404, "SubCode=40400")
	_, err = c.DeleteQueue(b.ctx, b.name("missing"), nil)
	b.wantStatus("delete a missing queue", err, 404, "No service is hosted at the specified address")
	_, err = c.CreateQueue(b.ctx, b.name("bad"), &admin.CreateQueueOptions{Properties: &admin.QueueProperties{LockDuration: to.Ptr("PT6M")}})
	b.wantStatus("a long lock", err, 400, "SubCode=40000")
	fixed := queue.QueueProperties
	fixed.RequiresSession = to.Ptr(true)
	_, err = c.UpdateQueue(b.ctx, b.name("q"), fixed, nil)
	b.wantStatus("sessions afterwards", err, 400, "cannot be changed")
	for _, target := range []string{b.name("q"), b.address() + b.name("q")} {
		source, err := c.CreateQueue(b.ctx, b.name("source"), &admin.CreateQueueOptions{Properties: &admin.QueueProperties{ForwardTo: &target}})
		b.must("create with "+target, err)
		b.wantText("forward to", source.ForwardTo, target)
		b.put("source", message("forwarded"))
		from := b.from("q")
		m := b.receiveOne(from)
		b.must("complete", from.CompleteMessage(b.ctx, m, nil))
		_, err = c.DeleteQueue(b.ctx, b.name("source"), nil)
		b.must("delete", err)
	}
}

func TestAdminClient_TopicsAndTheNamespace(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "admin.topicproperties", "admin.topiccounts", "admin.topicerrors", "admin.namespace")
	proves(t, "admin.topiclist")
	b := serveWithData(t)
	c := b.administer()
	p := admin.TopicProperties{
		MaxSizeInMegabytes: to.Ptr(int32(3072)), RequiresDuplicateDetection: to.Ptr(true), DefaultMessageTimeToLive: to.Ptr("P2D"),
		DuplicateDetectionHistoryTimeWindow: to.Ptr("PT4H"), EnableBatchedOperations: to.Ptr(false), Status: to.Ptr(admin.EntityStatusActive),
		AutoDeleteOnIdle: to.Ptr("PT1H"), EnablePartitioning: to.Ptr(false), SupportOrdering: to.Ptr(true), UserMetadata: to.Ptr("m"),
		MaxMessageSizeInKilobytes: to.Ptr(int64(512)),
	}
	if b.elsewhere() {
		p.MaxMessageSizeInKilobytes = nil // only the premium tier lets it be chosen
	}
	made, err := c.CreateTopic(b.ctx, b.name("t1"), &admin.CreateTopicOptions{Properties: &p})
	b.must("create", err)
	if b.elsewhere() {
		p.MaxMessageSizeInKilobytes = made.MaxMessageSizeInKilobytes
	}
	b.same("created", made.TopicProperties, p)
	p.DefaultMessageTimeToLive, p.UserMetadata = to.Ptr("P1D"), to.Ptr("other")
	updated, err := c.UpdateTopic(b.ctx, strings.ToUpper(b.name("t1")), p, nil)
	b.must("update", err)
	b.same("updated", updated.TopicProperties, p)
	for _, name := range []string{"t2", "t3"} {
		_, err = c.CreateTopic(b.ctx, b.name(name), nil)
		b.must("create", err)
	}
	b.wantAll("topics", func() []string {
		return listed(b, c.NewListTopicsPager(&admin.ListTopicsOptions{MaxPageSize: 2}), func(p admin.ListTopicsResponse) (names []string) {
			for _, topic := range p.Topics {
				names = append(names, topic.TopicName)
			}
			return names
		})
	}, "t1", "t2", "t3")
	_, err = c.CreateSubscription(b.ctx, b.name("t1"), "s", nil)
	b.must("create subscription", err)
	_, err = b.to("t1").ScheduleMessages(b.ctx, messages(2), time.Now().Add(time.Hour), nil)
	b.must("schedule", err)
	counts, err := c.GetTopicRuntimeProperties(b.ctx, b.name("t1"), nil)
	b.must("get runtime properties", err)
	if counts.SubscriptionCount != 1 || counts.ScheduledMessageCount != 2 || counts.SizeInBytes <= 0 || counts.CreatedAt.IsZero() {
		b.Errorf("counts are %+v", counts.TopicRuntimeProperties)
	}
	_, err = c.CreateTopic(b.ctx, strings.ToUpper(b.name("t1")), nil)
	b.wantStatus("create again", err, 409, "SubCode=40900")
	_, err = c.DeleteTopic(b.ctx, b.name("missing"), nil)
	b.wantStatus("delete a missing topic", err, 404, "No service is hosted at the specified address")
	n, err := c.GetNamespaceProperties(b.ctx, nil)
	if b.must("get namespace", err); n.CreatedTime.IsZero() || !b.elsewhere() && (n.Name != b.server.Name() || n.SKU != "Standard") {
		b.Errorf("the namespace is %+v", n)
	}
}

func TestAdminClient_Subscriptions(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "admin.subproperties", "admin.sublist", "admin.subcounts", "admin.suberrors", "admin.subforward", "admin.subrule")
	b := serveWithData(t)
	c := b.administer()
	_, err := c.CreateTopic(b.ctx, b.name("t"), nil)
	b.must("create topic", err)
	_, err = c.CreateQueue(b.ctx, b.name("target"), nil)
	b.must("create queue", err)
	p := admin.SubscriptionProperties{
		LockDuration: to.Ptr("PT3M"), RequiresSession: to.Ptr(false), DefaultMessageTimeToLive: to.Ptr("PT7M"),
		DeadLetteringOnMessageExpiration: to.Ptr(true), EnableDeadLetteringOnFilterEvaluationExceptions: to.Ptr(false),
		MaxDeliveryCount: to.Ptr(int32(11)), Status: to.Ptr(admin.EntityStatusActive), EnableBatchedOperations: to.Ptr(false),
		AutoDeleteOnIdle: to.Ptr("PT11M"), UserMetadata: to.Ptr("m"),
	}
	made, err := c.CreateSubscription(b.ctx, b.name("t"), "a", &admin.CreateSubscriptionOptions{Properties: &p})
	b.must("create", err)
	b.same("created", made.SubscriptionProperties, p)
	p.MaxDeliveryCount, p.AutoDeleteOnIdle = to.Ptr(int32(3)), to.Ptr(noLimit)
	p.ForwardTo = to.Ptr(b.name("target"))
	updated, err := c.UpdateSubscription(b.ctx, b.name("t"), "a", p, nil)
	b.must("update", err)
	b.same("updated", updated.SubscriptionProperties, p)
	rule := admin.RuleProperties{Name: "mine", Filter: &admin.SQLFilter{Expression: "n = 1"}}
	_, err = c.CreateSubscription(b.ctx, b.name("t"), "b", &admin.CreateSubscriptionOptions{Properties: &admin.SubscriptionProperties{DefaultRule: &rule}})
	b.must("create with a rule", err)
	got, err := c.GetRule(b.ctx, b.name("t"), "b", "mine", nil)
	b.must("get rule", err)
	b.same("the first rule", got.RuleProperties, rule)
	b.wantNames("subscriptions", listed(b, c.NewListSubscriptionsPager(b.name("t"), &admin.ListSubscriptionsOptions{MaxPageSize: 1}),
		func(p admin.ListSubscriptionsResponse) (names []string) {
			for _, s := range p.Subscriptions {
				names = append(names, s.SubscriptionName)
			}
			return names
		}), "a", "b")
	b.put("t", with("1", "n", int32(1)), with("2", "n", int32(2)))
	b.wantBodies("forwarded", b.receive(b.from("target"), 2), "1", "2")
	counts, err := c.GetSubscriptionRuntimeProperties(b.ctx, b.name("t"), "b", nil)
	b.must("get runtime properties", err)
	if counts.ActiveMessageCount != 1 || counts.TotalMessageCount != 1 || counts.CreatedAt.IsZero() {
		b.Errorf("counts are %+v", counts.SubscriptionRuntimeProperties)
	}
	_, err = c.CreateSubscription(b.ctx, b.name("t"), "A", nil)
	b.wantStatus("create again", err, 409, "already exists")
	_, err = c.DeleteSubscription(b.ctx, b.name("t"), "missing", nil)
	b.wantStatus("delete a missing one", err, 404, "was not found")
}

func TestAdminClient_Rules(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "admin.ruledefault", "admin.rulesql", "admin.rulecorrelation", "admin.ruleaction", "admin.rulelist", "admin.ruleerrors")
	b := serveWithData(t)
	c := b.administer()
	_, err := c.CreateTopic(b.ctx, b.name("t"), nil)
	b.must("create topic", err)
	_, err = c.CreateSubscription(b.ctx, b.name("t"), "s", nil)
	b.must("create subscription", err)
	first, err := c.GetRule(b.ctx, b.name("t"), "s", "$Default", nil)
	b.must("get rule", err)
	b.same("the default rule", first.RuleProperties, admin.RuleProperties{Name: "$Default", Filter: &admin.TrueFilter{}})
	parameters := map[string]any{"@s": "a < b", "@i": int64(100), "@f": 100.5, "@d": time.Date(2001, 1, 1, 1, 2, 3, 0, time.UTC), "@b": true}
	sql := &admin.SQLFilter{Expression: "a = @s OR b = @i OR c = @f OR d = @d OR e = @b", Parameters: parameters}
	for _, r := range []admin.RuleProperties{
		{Name: "a", Filter: sql, Action: &admin.SQLAction{Expression: "SET a = @s; REMOVE b", Parameters: parameters}},
		{Name: "b", Filter: &admin.CorrelationFilter{
			ContentType: to.Ptr("ct"), CorrelationID: to.Ptr("c"), MessageID: to.Ptr("m"), ReplyTo: to.Ptr("r"), ReplyToSessionID: to.Ptr("rs"),
			SessionID: to.Ptr("s"), Subject: to.Ptr("subject"), To: to.Ptr("to"), ApplicationProperties: map[string]any{"a": "x", "b": int64(3), "d": true},
		}},
		{Name: "c", Filter: &admin.FalseFilter{}},
	} {
		_, err := c.CreateRule(b.ctx, b.name("t"), "s", &admin.CreateRuleOptions{Name: &r.Name, Filter: r.Filter, Action: r.Action})
		b.must("create rule "+r.Name, err)
		got, err := c.GetRule(b.ctx, b.name("t"), "s", r.Name, nil)
		b.must("get rule "+r.Name, err)
		b.same("rule "+r.Name, got.RuleProperties, r)
	}
	b.wantNames("rules", listed(b, c.NewListRulesPager(b.name("t"), "s", &admin.ListRulesOptions{MaxPageSize: 1}), func(p admin.ListRulesResponse) (names []string) {
		for _, r := range p.Rules {
			names = append(names, r.Name)
		}
		return names
	}), "$Default", "a", "b", "c")
	_, err = c.CreateRule(b.ctx, b.name("t"), "s", &admin.CreateRuleOptions{Name: to.Ptr("A")})
	b.wantStatus("create again", err, 409, "already exists")
	_, err = c.CreateRule(b.ctx, b.name("t"), "s", &admin.CreateRuleOptions{Name: to.Ptr("bad"), Filter: &admin.SQLFilter{Expression: "a ="}})
	b.wantStatus("bad SQL", err, 400, "There was an error parsing the SQL expression")
	_, err = c.DeleteRule(b.ctx, b.name("t"), "s", "missing", nil)
	b.wantStatus("delete a missing rule", err, 404, "was not found")
}

func TestAdminClient_KeysAndCertificates(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "admin.wrongkey", "admin.trust")
	b := startChecked(t)
	_, err := b.administerAs("RootManageSharedAccessKey", "wrong").GetQueue(b.ctx, queueName, nil)
	b.wantStatus("get with a wrong key", err, 401, "InvalidSignature")
	transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	s := strings.Replace(b.secure(), b.server.Addr(), fmt.Sprintf("localhost:%d", b.server.Ports.HTTP), 1)
	c, err := admin.NewClientFromConnectionString(s, &admin.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1},
	}})
	b.must("create client", err)
	_, err = c.GetQueue(b.ctx, queueName, nil)
	b.wantErrorText("get", err, "certificate signed by unknown authority")
}
