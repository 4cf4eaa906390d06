package compat

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/compat-tests/harness"
)

// serveWithData runs a server on its own database. The authority's certificate is stored beside the database.
func serveWithData(t *testing.T) *bench {
	t.Helper()
	t.Parallel()
	if there, ok := harness.Namespace(); ok {
		return benchElsewhere(t, there)
	}
	return startServer(t, harness.Options{Config: configOf(t), Data: filepath.Join(t.TempDir(), "minibus.db")})
}

// administer makes the administration client for the HTTP port. The client insists on TLS and trusts the server's own authority.
func (b *bench) administer() *admin.Client {
	b.Helper()
	if b.elsewhere() {
		client, err := admin.NewClientFromConnectionString(b.connection, nil)
		b.must("create administration client", err)
		return client
	}
	return b.administerAs("RootManageSharedAccessKey", "SAS_KEY_VALUE")
}

// administerAs is administer with the key of a policy.
func (b *bench) administerAs(policyName, key string) *admin.Client {
	b.Helper()
	pem, err := os.ReadFile(b.server.CA())
	b.must("read the authority's certificate", err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		b.Fatal("the authority's file holds no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	b.Cleanup(transport.CloseIdleConnections)
	s := fmt.Sprintf("Endpoint=sb://localhost:%s;SharedAccessKeyName=%s;SharedAccessKey=%s",
		strconv.Itoa(b.server.Ports.HTTP), policyName, key)
	client, err := admin.NewClientFromConnectionString(s, &admin.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1},
	}})
	b.must("create administration client", err)
	return client
}

// listed collects the names in a list of the administration client.
func listed[P any](b *bench, pager *runtime.Pager[P], names func(P) []string) []string {
	b.Helper()
	var all []string
	for pager.More() {
		page, err := pager.NextPage(b.ctx)
		b.must("list", err)
		all = append(all, names(page)...)
	}
	return all
}

// wantNames compares a list.
func (b *bench) wantNames(what string, got []string, want ...string) {
	b.Helper()
	if b.saw("%s: %q", what, got); !slices.Equal(got, want) {
		b.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestAdminClient_Queue(t *testing.T) {
	provesAnywhere(t, "admin.queue", "admin.queueexists")
	proves(t, "admin.queuelist")
	b := serveWithData(t)
	c := b.administer()
	made, err := c.CreateQueue(b.ctx, b.name(queueName), &admin.CreateQueueOptions{Properties: &admin.QueueProperties{LockDuration: to.Ptr("PT30S")}})
	b.must("create queue", err)
	_, err = c.CreateQueue(b.ctx, b.name("other"), nil)
	b.must("create queue", err)
	_, err = c.CreateQueue(b.ctx, strings.ToUpper(b.name("other")), nil)
	if err == nil {
		t.Error("a queue was created twice (ERR-5)")
	}
	b.wantAll("queues", func() []string {
		return listed(b, c.NewListQueuesPager(&admin.ListQueuesOptions{MaxPageSize: 1}), func(p admin.ListQueuesResponse) (names []string) {
			for _, q := range p.Queues {
				names = append(names, q.QueueName)
			}
			return names
		})
	}, queueName, "other")
	made.MaxDeliveryCount, made.UserMetadata = to.Ptr(int32(3)), to.Ptr("größer < & >")
	_, err = c.UpdateQueue(b.ctx, b.name(queueName), made.QueueProperties, nil)
	b.must("update queue", err)
	got, err := c.GetQueue(b.ctx, b.name(queueName), nil)
	b.must("get queue", err)
	if *got.LockDuration != "PT30S" || *got.MaxDeliveryCount != 3 || *got.UserMetadata != "größer < & >" {
		t.Errorf("the queue has %s, %d, %q", *got.LockDuration, *got.MaxDeliveryCount, *got.UserMetadata)
	}
	b.send("first") // it is there for AMQP too
	_, err = c.DeleteQueue(b.ctx, b.name(queueName), nil)
	b.must("delete queue", err)
	if got, err := c.GetQueue(b.ctx, b.name(queueName), nil); got != nil || err != nil {
		t.Errorf("the deleted queue is %v, %v", got, err)
	}
}

func TestTOP8_AdminClient_TopicSubscriptionRule(t *testing.T) {
	provesAnywhere(t, "admin.topic", "admin.sub", "admin.rule")
	b := serveWithData(t)
	c := b.administer()
	topic, err := c.CreateTopic(b.ctx, b.name("events"), nil)
	b.must("create topic", err)
	topic.UserMetadata = to.Ptr("about topics")
	_, err = c.UpdateTopic(b.ctx, b.name("events"), topic.TopicProperties, nil)
	b.must("update topic", err)
	if got, err := c.GetTopic(b.ctx, b.name("events"), nil); err != nil || *got.UserMetadata != "about topics" {
		t.Errorf("the topic is %+v, %v", got, err)
	}
	sub, err := c.CreateSubscription(b.ctx, b.name("events"), "large", nil)
	b.must("create subscription", err)
	sub.MaxDeliveryCount = to.Ptr(int32(3))
	_, err = c.UpdateSubscription(b.ctx, b.name("events"), "large", sub.SubscriptionProperties, nil)
	b.must("update subscription", err)
	if got, err := c.GetSubscription(b.ctx, b.name("events"), "large", nil); err != nil || *got.MaxDeliveryCount != 3 {
		t.Errorf("the subscription is %+v, %v", got, err)
	}
	b.rules(c)
	sender := b.to("events")
	for _, size := range []int64{5, 50} {
		m := message(strconv.FormatInt(size, 10))
		m.ApplicationProperties = map[string]any{"size": size}
		b.must("send", sender.SendMessage(b.ctx, m, nil))
	}
	if got, err := c.GetSubscriptionRuntimeProperties(b.ctx, b.name("events"), "large", nil); err != nil || got.ActiveMessageCount != 1 {
		t.Errorf("the subscription has %+v, %v: want the message that its rule lets through", got, err)
	}
	_, err = c.DeleteSubscription(b.ctx, b.name("events"), "large", nil)
	b.must("delete subscription", err)
	_, err = c.DeleteTopic(b.ctx, b.name("events"), nil)
	b.must("delete topic", err)
	if got, err := c.GetTopic(b.ctx, b.name("events"), nil); got != nil || err != nil {
		t.Errorf("the deleted topic is %v, %v", got, err)
	}
}

// rules leaves the subscription with one rule, which selects sizes above 10.
func (b *bench) rules(c *admin.Client) {
	b.Helper()
	rule, err := c.CreateRule(b.ctx, b.name("events"), "large", &admin.CreateRuleOptions{
		Name: to.Ptr("size"), Filter: &admin.SQLFilter{Expression: "size > 100"}})
	b.must("create rule", err)
	rule.Filter = &admin.SQLFilter{Expression: "size > @least", Parameters: map[string]any{"@least": int64(10)}}
	_, err = c.UpdateRule(b.ctx, b.name("events"), "large", rule.RuleProperties)
	b.must("update rule", err)
	_, err = c.DeleteRule(b.ctx, b.name("events"), "large", "$Default", nil)
	b.must("delete rule", err)
	got, err := c.GetRule(b.ctx, b.name("events"), "large", "size", nil)
	b.must("get rule", err)
	if f, ok := got.Filter.(*admin.SQLFilter); !ok || f.Expression != "size > @least" {
		b.Errorf("the rule is %+v", got)
	}
	b.wantNames("rules", listed(b, c.NewListRulesPager(b.name("events"), "large", nil), func(p admin.ListRulesResponse) (names []string) {
		for _, r := range p.Rules {
			names = append(names, r.Name)
		}
		return names
	}), "size")
}

func TestCNT1_AdminClient_CountsOfAQueue(t *testing.T) {
	provesAnywhere(t, "admin.queuecounts")
	b := serveWithData(t)
	_, err := b.administer().CreateQueue(b.ctx, b.name(queueName), nil)
	b.must("create queue", err)
	b.fillForCounts()
	b.wantCounts()
}

// fillForCounts puts into the queue what wantCounts counts.
func (b *bench) fillForCounts() {
	b.Helper()
	b.send("one", "two", "three")
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, b.receiveOne(b.receiver), nil))
	_, err := b.sender.ScheduleMessages(b.ctx, []*azservicebus.Message{message("later")}, time.Now().Add(time.Hour), nil)
	b.must("schedule", err)
}

// TestCNT1_DEC21_AdminClient_QueueMadeAtRunTimeSurvivesKill9 counts before and after the kill.
func TestCNT1_DEC21_AdminClient_QueueMadeAtRunTimeSurvivesKill9(t *testing.T) {
	b := serveWithData(t)
	_, err := b.administer().CreateQueue(b.ctx, b.name(queueName), &admin.CreateQueueOptions{Properties: &admin.QueueProperties{LockDuration: to.Ptr("PT30S")}})
	b.must("create queue", err)
	b.fillForCounts()
	before := b.wantCounts()
	b.server.Kill(t)
	b = startServer(t, b.server.Options())
	if after := b.wantCounts(); !after.CreatedAt.Equal(before.CreatedAt) {
		t.Errorf("created at %v, before the kill at %v", after.CreatedAt, before.CreatedAt)
	}
	got, err := b.administer().GetQueue(b.ctx, b.name(queueName), nil)
	if err != nil || *got.LockDuration != "PT30S" {
		t.Errorf("after the kill the queue is %+v, %v", got, err)
	}
	b.receive(b.receiver, 2)
}

// wantCounts fails unless there are two active messages, one dead-lettered and one scheduled.
func (b *bench) wantCounts() *admin.GetQueueRuntimePropertiesResponse {
	b.Helper()
	got, err := b.administer().GetQueueRuntimeProperties(b.ctx, b.name(queueName), nil)
	b.must("get runtime properties", err)
	if b.saw("counts: %+v", got.QueueRuntimeProperties); got.ActiveMessageCount != 2 || got.DeadLetterMessageCount != 1 || got.ScheduledMessageCount != 1 || got.TotalMessageCount != 4 {
		b.Errorf("the counts are %+v", got.QueueRuntimeProperties)
	}
	return got
}
