package arm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azarm "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	sb "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/servicebus/armservicebus"
)

// manager has the clients of Resource Manager for Go.
type manager struct {
	*testing.T
	*sb.ClientFactory
	ctx context.Context
}

// manager signs in with a client secret, as a pipeline does.
func (c *cloud) manager(t *testing.T) *manager {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	options := azcore.ClientOptions{Transport: c.client(t), Cloud: azcloud.Configuration{ActiveDirectoryAuthorityHost: c.base + "/",
		Services: map[azcloud.ServiceName]azcloud.ServiceConfiguration{azcloud.ResourceManager: {Endpoint: c.base, Audience: c.base}}}}
	m := &manager{T: t, ctx: ctx}
	credential, err := azidentity.NewClientSecretCredential(tenant, clientID, secret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	m.must("make the credential", err)
	m.ClientFactory, err = sb.NewClientFactory(subscription, credential, &azarm.ClientOptions{ClientOptions: options})
	m.must("make the clients", err)
	return m
}

func (m *manager) must(what string, err error) {
	m.Helper()
	if err != nil {
		m.Fatalf("%s: %v", what, err)
	}
}

// refused wants an error with a status and a code.
func (m *manager) refused(what string, err error, status int, code string) {
	m.Helper()
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) || answer.StatusCode != status || answer.ErrorCode != code {
		m.Errorf("%s: %v, want %d %s", what, err, status, code)
	}
}

// testGo drives armservicebus. It also sends with the connection strings that it gets.
func testGo(t *testing.T, c *cloud) {
	c.raw(t).group("go")
	m := c.manager(t)
	spaces := m.NewNamespacesClient()
	poller, err := spaces.BeginCreateOrUpdate(m.ctx, "go", "go-ns-1", sb.SBNamespace{Location: to.Ptr("westeurope"),
		SKU: &sb.SBSKU{Name: to.Ptr(sb.SKUNameStandard)}, Tags: map[string]*string{"team": to.Ptr("a")}}, nil)
	m.must("create a namespace", err)
	space, err := poller.PollUntilDone(m.ctx, nil)
	m.must("create a namespace", err)
	if *space.Properties.ProvisioningState != "Succeeded" || *space.Properties.Status != "Active" || *space.Tags["team"] != "a" {
		t.Errorf("the namespace is %+v", space.SBNamespace)
	}
	m.lists("go-ns-1")
	m.durations("go-ns-1")
	m.rules("go-ns-1")
	m.policies("go-ns-1")
	changed, err := spaces.Update(m.ctx, "go", "go-ns-1", sb.SBNamespaceUpdateParameters{Tags: map[string]*string{"team": to.Ptr("b")}}, nil)
	m.must("change the tags", err)
	if len(changed.Tags) != 1 || *changed.Tags["team"] != "b" || *changed.SKU.Name != sb.SKUNameStandard {
		t.Errorf("the namespace has %v", changed.Tags)
	}
	gone, err := spaces.BeginDelete(m.ctx, "go", "go-ns-1", nil)
	m.must("delete the namespace", err)
	_, err = gone.PollUntilDone(m.ctx, nil)
	m.must("delete the namespace", err)
	_, err = spaces.Get(m.ctx, "go", "go-ns-1", nil)
	m.refused("a deleted namespace", err, http.StatusNotFound, "ResourceNotFound")
}

// lists creates 250 queues and reads them in three pages.
func (m *manager) lists(space string) {
	queues := m.NewQueuesClient()
	var want, got []string
	for i := range 250 {
		name := fmt.Sprintf("q%03d", i)
		want = append(want, name)
		_, err := queues.CreateOrUpdate(m.ctx, "go", space, name, sb.SBQueue{Properties: &sb.SBQueueProperties{}}, nil)
		m.must("create a queue", err)
	}
	pages := 0
	for pager := queues.NewListByNamespacePager("go", space, nil); pager.More(); pages++ {
		page, err := pager.NextPage(m.ctx)
		m.must("list queues", err)
		for _, q := range page.Value {
			got = append(got, *q.Name)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) || pages != 3 {
		m.Errorf("the list has %d queues in %d pages", len(got), pages)
	}
	_, err := queues.Get(m.ctx, "go", space, "none", nil)
	m.refused("a missing queue", err, http.StatusNotFound, "MessagingGatewayNotFoundStatusCode")
}

// durations go out as they came, and so does never.
func (m *manager) durations(space string) {
	const never = "P10675199DT2H48M5.4775807S"
	set := sb.SBQueueProperties{LockDuration: to.Ptr("PT1M30S"), DefaultMessageTimeToLive: to.Ptr("P14D"), AutoDeleteOnIdle: to.Ptr(never),
		DuplicateDetectionHistoryTimeWindow: to.Ptr("PT20M"), RequiresDuplicateDetection: to.Ptr(true)}
	queues := m.NewQueuesClient()
	_, err := queues.CreateOrUpdate(m.ctx, "go", space, "durations", sb.SBQueue{Properties: &set}, nil)
	m.must("create a queue", err)
	q, err := queues.Get(m.ctx, "go", space, "durations", nil)
	m.must("get the queue", err)
	p := q.Properties
	if *p.LockDuration != "PT1M30S" || *p.DefaultMessageTimeToLive != "P14D" || *p.AutoDeleteOnIdle != never || *p.DuplicateDetectionHistoryTimeWindow != "PT20M" {
		m.Errorf("the durations are %s, %s, %s, %s", *p.LockDuration, *p.DefaultMessageTimeToLive, *p.AutoDeleteOnIdle, *p.DuplicateDetectionHistoryTimeWindow)
	}
}

// rules creates both kinds, and lists them beside $Default.
func (m *manager) rules(space string) {
	_, err := m.NewTopicsClient().CreateOrUpdate(m.ctx, "go", space, "t", sb.SBTopic{Properties: &sb.SBTopicProperties{}}, nil)
	m.must("create a topic", err)
	_, err = m.NewSubscriptionsClient().CreateOrUpdate(m.ctx, "go", space, "t", "s", sb.SBSubscription{Properties: &sb.SBSubscriptionProperties{}}, nil)
	m.must("create a subscription", err)
	rules := m.NewRulesClient()
	_, err = rules.CreateOrUpdate(m.ctx, "go", space, "t", "s", "sql", sb.Rule{Properties: &sb.Ruleproperties{
		SQLFilter: &sb.SQLFilter{SQLExpression: to.Ptr("a = 1")}, Action: &sb.Action{SQLExpression: to.Ptr("SET b = 2")}}}, nil)
	m.must("create a SQL rule", err)
	_, err = rules.CreateOrUpdate(m.ctx, "go", space, "t", "s", "correlation", sb.Rule{Properties: &sb.Ruleproperties{FilterType: to.Ptr(sb.FilterTypeCorrelationFilter),
		CorrelationFilter: &sb.CorrelationFilter{Label: to.Ptr("red"), Properties: map[string]*string{"size": to.Ptr("5")}}}}, nil)
	m.must("create a correlation rule", err)
	found := map[string]*sb.Ruleproperties{}
	for pager := rules.NewListBySubscriptionsPager("go", space, "t", "s", nil); pager.More(); {
		page, err := pager.NextPage(m.ctx)
		m.must("list rules", err)
		for _, r := range page.Value {
			found[*r.Name] = r.Properties
		}
	}
	if len(found) != 3 || *found["$Default"].SQLFilter.SQLExpression != "1=1" {
		m.Fatalf("the rules are %v", found)
	}
	if r := found["sql"]; *r.FilterType != sb.FilterTypeSQLFilter || *r.SQLFilter.SQLExpression != "a = 1" || *r.Action.SQLExpression != "SET b = 2" {
		m.Errorf("the SQL rule is %+v", r)
	}
	if r := found["correlation"]; r.SQLFilter != nil || *r.CorrelationFilter.Label != "red" || *r.CorrelationFilter.Properties["size"] != "5" {
		m.Errorf("the correlation rule is %+v", r)
	}
}

// policies renews keys: messages go with the keys that count, and only with those.
func (m *manager) policies(space string) {
	queues := m.NewQueuesClient()
	_, err := queues.CreateOrUpdateAuthorizationRule(m.ctx, "go", space, "q000", "sender",
		sb.SBAuthorizationRule{Properties: &sb.SBAuthorizationRuleProperties{Rights: []*sb.AccessRights{to.Ptr(sb.AccessRightsSend)}}}, nil)
	m.must("create a policy", err)
	before, err := queues.ListKeys(m.ctx, "go", space, "q000", "sender", nil)
	m.must("list keys", err)
	m.must("send with the primary key", m.send(*before.PrimaryConnectionString, "q000"))
	m.must("send with the secondary key", m.send(*before.SecondaryConnectionString, "q000"))
	after, err := queues.RegenerateKeys(m.ctx, "go", space, "q000", "sender", sb.RegenerateAccessKeyParameters{KeyType: to.Ptr(sb.KeyTypePrimaryKey)}, nil)
	m.must("renew the primary key", err)
	if *after.PrimaryKey == *before.PrimaryKey || *after.SecondaryKey != *before.SecondaryKey {
		m.Error("another key was renewed")
	}
	var refused *azservicebus.Error
	if err := m.send(*before.PrimaryConnectionString, "q000"); !errors.As(err, &refused) || refused.Code != azservicebus.CodeUnauthorizedAccess {
		m.Errorf("the old key: %v", err)
	}
	m.must("send with the new key", m.send(*after.PrimaryConnectionString, "q000"))
	m.must("send with the other key", m.send(*after.SecondaryConnectionString, "q000"))
	root, err := m.NewNamespacesClient().ListKeys(m.ctx, "go", space, "RootManageSharedAccessKey", nil)
	m.must("list the keys of the namespace", err)
	m.must("send with the root key", m.send(*root.PrimaryConnectionString, "q001"))
}

// send sends a message with a connection string that stands as it was returned.
func (m *manager) send(connection, queue string) error {
	client, err := azservicebus.NewClientFromConnectionString(connection, &azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close(context.Background()) }()
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		return err
	}
	return sender.SendMessage(m.ctx, &azservicebus.Message{Body: []byte("x")}, nil)
}
