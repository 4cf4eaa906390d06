package mgmt

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

func TestGoldenGoTopics(t *testing.T) { record(t, "go-topics.txt", goTopics) }

// goTopics is the recorded scenario of the Go client on topics. The client keeps values of rules in maps, so each has one, for
// a fixed order.
func goTopics(t *testing.T, c *goClient) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.CreateTopic(background, "events", &admin.CreateTopicOptions{Properties: &admin.TopicProperties{UserMetadata: to.Ptr("m"), SupportOrdering: to.Ptr(false)}})
	must(err)
	got, err := c.GetTopic(background, "events", nil)
	must(err)
	_, err = c.UpdateTopic(background, "events", got.TopicProperties, nil)
	must(err)
	_, err = c.CreateSubscription(background, "events", "sub", &admin.CreateSubscriptionOptions{Properties: &admin.SubscriptionProperties{
		DefaultRule: &admin.RuleProperties{Name: "first", Filter: &admin.SQLFilter{Expression: "a > @min", Parameters: map[string]any{"@min": int64(3)}}},
	}})
	must(err)
	sub, err := c.GetSubscription(background, "events", "sub", nil)
	must(err)
	_, err = c.UpdateSubscription(background, "events", "sub", sub.SubscriptionProperties, nil)
	must(err)
	_, err = c.CreateRule(background, "events", "sub", &admin.CreateRuleOptions{Name: to.Ptr("second"),
		Filter: &admin.CorrelationFilter{Subject: to.Ptr("s"), ApplicationProperties: map[string]any{"p": 1.5}},
		Action: &admin.SQLAction{Expression: "SET a = 'b'"}})
	must(err)
	rule, err := c.GetRule(background, "events", "sub", "second", nil)
	must(err)
	_, err = c.UpdateRule(background, "events", "sub", rule.RuleProperties)
	must(err)
	_, err = c.NewListRulesPager("events", "sub", &admin.ListRulesOptions{MaxPageSize: 1}).NextPage(background)
	must(err)
	_, err = c.NewListSubscriptionsPager("events", nil).NextPage(background)
	must(err)
	_, err = c.NewListTopicsPager(nil).NextPage(background)
	must(err)
	_, err = c.GetTopicRuntimeProperties(background, "events", nil)
	must(err)
	_, err = c.DeleteRule(background, "events", "sub", "second", nil)
	must(err)
	_, err = c.DeleteSubscription(background, "events", "sub", nil)
	must(err)
	_, err = c.DeleteTopic(background, "events", nil)
	must(err)
}
