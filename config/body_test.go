package config

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// someHost means the namespace orders by its name, as the server's function does.
func someHost(host string) string {
	if strings.EqualFold(host, "orders.localhost") {
		return "orders"
	}
	return ""
}

// TestParseEntities reads what Config.json can say, in keys of any case, and leaves the other members to the caller.
func TestParseEntities(t *testing.T) {
	list, report := ParseEntities("body", []byte(`{"name": "worker-1", "limits": "standard", "port": "no number", "aliases": 1,
		"queues": [{"name": "q", "properties": {"lockDuration": "PT5S", "ForwardTo": "T"}}, {"Name": "own", "Properties": {"ForwardTo": "sb://worker-1.localhost/q"}}],
		"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [{"Name": "r", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {}}}]}]}]}`),
		ProfileStandard, someHost)
	if err := report.Err(); err != nil || len(list) != 3 || report.Count(Warning) != 1 {
		t.Fatalf("%d entities, %v, %v", len(list), err, report.Findings)
	}
	q, own, topic := list[0].Queue, list[1].Queue, list[2].Topic
	if list[0].Path != "q" || q.LockDuration.Seconds() != 5 || q.ForwardTo != "t" || q.MaxDeliveryCount != defaultMaxDeliveryCount || own.ForwardTo != "q" {
		t.Errorf("%+v, %+v", list[0], own)
	}
	if list[2].Path != "t" || len(topic.Subscriptions) != 1 || len(topic.Subscriptions[0].Rules) != 1 || topic.Subscriptions[0].Queue.LockDuration != defaultLockDuration {
		t.Errorf("%+v", topic)
	}
}

// TestParseEntitiesSaysWhatIsWrong and where.
func TestParseEntitiesSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"{\n" + `"Queues": [{"Name": "q", "Properties": {"LockDuration": "PT10M"}}]}`: `body:2:57: error: $.Queues[0].Properties.LockDuration: found "PT10M"; allowed: PT0.001S to PT5M`,
		`{"Queues": [{"Name": "q", "Propertys": {}}]}`:                                `$.Queues[0].Propertys: found the unknown key "Propertys"; did you mean Properties?`,
		`{"Queues": {"Name": "q"}}`:                                                   `$.Queues: found an object; allowed: an array, [ ... ]; put [ ] around it`,
		`{"Queues": [{"Name": "q"}], "Topics": [{"Name": "Q"}]}`:                      `$.Topics[0].Name: found the name "Q" a second time`,
		`{"Queues": [{"Name": "q", "Properties": {"ForwardTo": "r"}}]}`:               `$.Queues[0].Properties.ForwardTo: found the unknown target "r"`,
		`{"Name": "stocks", "Queues": [{"Name": "q", "Properties": {"ForwardTo": "sb://Orders.localhost/q"}}]}`: `found the host of the namespace "orders" in "sb://Orders.localhost/q"; ` +
			`allowed: a queue or topic of the namespace "stocks"; give the path alone`,
		`{"Queues": [{"Name": "q", "Properties": {"ForwardTo": "sb://orders.localhost/q"}}]}`: `allowed: a queue or topic of the same namespace`,
		`{"Queues": [{"Name": "` + strings.Repeat("x", 261) + `"}]}`:                          `allowed: up to 260 characters`,
		`{"Queues": [{"Name": "q"}], "Queues": [], "Owner": 1}`:                               `found the unknown key "Owner"`,
		`{"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [{"Name": "r", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a = "}}}]}]}]}`: `Rules[0].Properties.SqlFilter.SqlExpression: found an expression that can't be used`,
		`{"Queues": [`: `body:1:13: error: `,
		`[]`:           `body:1:1: error: $: found an array; allowed: an object`,
	} {
		list, report := ParseEntities("body", []byte(text), ProfileStandard, someHost)
		if err := report.Err(); err == nil || !strings.Contains(err.Error(), want) || list != nil {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, report := ParseEntities("body", []byte(`{"Queues": [{"Name": "q", "Properties": {"MaxMessageSizeInKilobytes": 1024}}]}`), ProfileStandard, someHost)
	if err := report.Err(); err == nil || !strings.HasSuffix(err.Error(), `change it, or choose "limits": "relaxed"`) {
		t.Errorf("beyond the profile: %v", err)
	}
}

// TestEntitiesOfTheControlAPI compares the keys in the document of the control API with those that this package reads.
func TestEntitiesOfTheControlAPI(t *testing.T) {
	data, err := os.ReadFile("../mgmt/control/configjson.json")
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Properties map[string]json.RawMessage
		Items      struct{ Properties map[string]json.RawMessage }
	}
	var all map[string]schema
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"Queue": queueKeys, "Topic": topicKeys, "Subscription": subscriptionKeys} {
		var properties schema
		if err := json.Unmarshal(all[name].Properties["Properties"], &properties); err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(slices.Clone(want), func(key string) bool { return key == "Rules" }) // beside Properties
		if got := slices.Sorted(maps.Keys(properties.Properties)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("the document has %v for a %s, want %v", got, name, want)
		}
	}
	if got := slices.Sorted(maps.Keys(all["EntityRules"].Items.Properties)); !slices.Equal(got, slices.Sorted(slices.Values(authorizationKeys))) {
		t.Errorf("the document has %v for a policy", got)
	}
	creation := slices.Collect(maps.Keys(all["NamespaceCreation"].Properties))
	for _, key := range append(slices.Clone(namespaceKeys), "Limits") {
		if !containsFold(creation, key) {
			t.Errorf("the document has no %s for a namespace", key)
		}
	}
	if len(creation) != len(namespaceKeys)+1 {
		t.Errorf("the document has %v for a namespace", creation)
	}
}
