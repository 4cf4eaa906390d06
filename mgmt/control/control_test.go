package control_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/control"
)

// TestControlAPIOfNamespaces compares every answer with the document.
func TestControlAPIOfNamespaces(t *testing.T) {
	a := controlAPI(t)
	const all, one = control.Prefix + "namespaces", control.Prefix + "namespaces/"
	wants(t, a.as("root", "GET", all, ""), 200, `"name":"orders"`, `"name":"sbemulatorns","default":true`)
	w := a.as("root", "POST", all, `{"name": "stock-1", "limits": "standard", "port": 5702, "aliases": ["stock.test"],
		"authorizationRules": [{"keyName": "all", "rights": ["Manage", "Send", "Listen"], "primaryKey": "k"}, {"keyName": "send", "rights": ["Send"]}]}`)
	wants(t, w, 201, `"port":5702,"aliases":["stock.test"]`, `"limits":"standard"`,
		`"connectionString":"Endpoint=sb://localhost:5300/5702;SharedAccessKeyName=all;SharedAccessKey=k;UseDevelopmentEmulator=true;"`)
	wants(t, a.as("root", "GET", w.Header().Get("Location"), ""), 200, `"name":"stock-1","default":false`)
	wants(t, a.as("root", "POST", all, withEntities), 201, `"name":"with-entities"`)
	wants(t, a.bus.at("with-entities.localhost", 5300, "GET", "/events/Subscriptions/large", "", authorization, a.tokenTo("with-entities")), 200, "PT30S")
	wants(t, a.as("root", "POST", all+"?name=of-a-file&limits=standard", wholeFile), 201, `"name":"of-a-file","default":false`, `"limits":"standard"`,
		`SharedAccessKeyName=till;SharedAccessKey=key-of-the-till`)
	wants(t, a.bus.at("of-a-file.localhost", 5300, "GET", "/parcels", "", authorization, sas.Sign("http://of-a-file.localhost:5300/", "till", "key-of-the-till", time.Now().Add(time.Hour))), 200, "PT30S")
	withComments := strings.NewReplacer("{\n", "{ // as people write it\n", "]}]}]", "]}]},]").Replace(wholeFile)
	wants(t, a.bus.do("POST", all+"?name=with-comments", withComments, authorization, a.root()), 201, `"name":"with-comments"`)
	for query, body := range map[string]string{
		"?name=other-one": strings.Replace(wholeFile, "PT30S", "PT10M", 1), "?name=other-two": `{"name": "other-two", "UserConfig": {"Namespaces": []}}`,
		"?name=other-three": `{"UserConfig": {"Namespaces": [{"Name": "first-one"}, {"Name": "second-one"}]}}`, "?name=other-four": `{"name": "other-four"}`, "?limits=huge": "",
	} {
		wants(t, a.as("root", "POST", all+query, body), 400, `"detail":"`)
	}
	wants(t, a.as("root", "POST", all, ""), 201, `"name":"made-up"`, "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=")
	wants(t, a.as("root", "GET", one+"STOCK-1", ""), 200, `"name":"stock-1"`)
	wants(t, a.as("root", "GET", one+"$default/resource", ""), 200, `"id":"/subscriptions/`, `"tags":{"env":"dev"}`, `"roleAssignments":[{`)
	wants(t, a.as("root", "GET", one+"orders/resource", ""), 404, "no Resource Manager")
	wants(t, a.as("root", "GET", one+"nothing/resource", ""), 404)
	wants(t, a.as("root", "GET", one+"nothing", ""), 404, `"title":"Not Found","status":404,"detail":"The namespace 'nothing' could not be found.`)
	for body, status := range map[string]int{
		`{"name": "x"}`: 400, `{"nam": "abcdefg"}`: 400, `[]`: 400, `{} {}`: 400, `{"limits": "huge"}`: 400, `{"port": -1}`: 400, `{"port": "1"}`: 400,
		`{"authorizationRules": [{"keyName": "a", "rights": ["Own"]}]}`: 400, `{"authorizationRules": [{"keyName": "a", "rights": ["Manage"]}]}`: 400,
		`{"authorizationRules": [{"keyName": "", "rights": ["Send"]}]}`: 400, strings.Repeat(" ", 16<<20) + "{}": 413, "{}" + strings.Repeat(" ", 16<<20): 413,
		`{"aliases": ["x\"y\nz"]}`: 400, `{"aliases": ["` + strings.Repeat("a", 300_000) + `"]}`: 400, `{"aliases": ["localhost"]}`: 400, `{"aliases": ["orders.localhost"]}`: 400,
		`{"aliases": [` + strings.Repeat(`"a",`, 100) + `"a"]}`: 400, `{"authorizationRules": [{"keyName": "a;b=c", "rights": ["Send"]}]}`: 400,
		`{"authorizationRules": [{"keyName": "a", "rights": ["Send"], "primaryKey": "a b"}]}`:  400,
		`{"authorizationRules": [{"keyName": "a", "rights": ["Manage", "Manage", "Manage"]}]}`: 400,
		`{"Queues": {"Name": "q"}}`: 400, `{"Queues": [{"Name": "q"}], "Topics": [{"Name": "q"}]}`: 400, `{"Queues": "q"}`: 400, `{"Topics": [{}, {}]}`: 400,
		`{"name": "ORDERS"}`: 409, `{"name": "ORDERS", "Queues": [{"Name": "q"}]}`: 409, `{"name": "another", "port": 5702}`: 409, `{"name": "another", "aliases": ["Stock.test."]}`: 409,
	} {
		wants(t, a.as("root", "POST", all, body), status, `"detail":"`)
	}
	wants(t, a.as("root", "DELETE", one+"stock-1", ""), 204)
	wants(t, a.as("root", "DELETE", one+"stock-1", ""), 404)
	wants(t, a.as("root", "DELETE", one+"sbemulatorns", ""), 409)
	wants(t, a.as("root", "GET", control.DocumentPath, ""), 200)
	if _, err := a.bus.broker.Namespace("stock-1"); err == nil {
		t.Error("the namespace is still there")
	}
	a.covers("namespaces")
}

// wholeFile is a Config.json of which a namespace is made.
const wholeFile = `{
	"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "parcels", "Properties": {"LockDuration": "PT30S"}}], "Topics": [],
		"AuthorizationRules": [{"KeyName": "till", "PrimaryKey": "key-of-the-till", "Rights": ["Manage", "Send", "Listen"]}]}], "Logging": {"Type": "File"}}}`

// withEntities asks for entities with every kind of setting.
const withEntities = `{"name": "with-entities", "Queues": [
	{"Name": "orders"},
	{"Name": "parcels", "Properties": {"LockDuration": "PT30S", "MaxDeliveryCount": 5, "DefaultMessageTimeToLive": "PT1H", "DeadLetteringOnMessageExpiration": true,
		"RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "PT1M", "RequiresSession": true, "ForwardDeadLetteredMessagesTo": "orders",
		"AutoDeleteOnIdle": "P1D", "EnablePartitioning": true, "MaxSizeInMegabytes": 1024, "MaxMessageSizeInKilobytes": 256, "EnableBatchedOperations": true,
		"Status": "Active", "UserMetadata": "x", "AuthorizationRules": [{"KeyName": "till", "PrimaryKey": "a", "SecondaryKey": "b", "Rights": ["Send"]}]}},
	{"Name": "old", "Properties": {"ForwardTo": "events"}}], "Topics": [
	{"Name": "events", "Properties": {"DefaultMessageTimeToLive": "PT1H", "SupportOrdering": true}, "Subscriptions": [
		{"Name": "large", "Properties": {"LockDuration": "PT30S", "DeadLetteringOnFilterEvaluationExceptions": true, "ForwardTo": "orders"}, "Rules": [
			{"Name": "amount", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "amount > @least", "Parameters": {"@least": 1000}},
				"Action": {"SqlExpression": "SET large = TRUE"}}},
			{"Name": "red", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "red", "Properties": {"shape": "round"}}}}]}]}]}`

// tokenTo returns a token of a namespace's administrator.
func (a *openAPI) tokenTo(namespace string) string {
	a.t.Helper()
	ns, err := a.bus.broker.Namespace(namespace)
	if err != nil {
		a.t.Fatal(err)
	}
	root := sas.Administrator(controlled{a.bus}.Policies(ns))
	return sas.Sign("http://"+namespace+".localhost/", root.Name, root.Primary, time.Now().Add(time.Hour))
}

// TestControlAPISaysWhatIsWrongInABody with line and column, and creates nothing.
func TestControlAPISaysWhatIsWrongInABody(t *testing.T) {
	a := controlAPI(t)
	const all = control.Prefix + "namespaces"
	for body, want := range map[string]string{
		"{\n" + `"Queues": [{"Name": "q", "Properties": {"MaxDeliveryCount": "3"}}]}`: `"detail":"No namespace was created. body:2:61: error: ` +
			`$.Queues[0].Properties.MaxDeliveryCount: found \"3\"; allowed: a whole number from 1 to 2147483647; write it without quotes","errors":["body:2:61: error: `,
		`{"Queues": [{}, {}]}`:       ` (The first of several errors.)","errors":["body:1:13: error: $.Queues[0]: found no Name; `,
		"{\n" + `"name": "abcdef",}`: "near line 2, column 18: invalid character '}'",
		`{"é": 1, "port": "x"}`:      `"The body of the request is not what /$minibus/v1/openapi.json says, near line 1, column `,
		`{"authorizationRules": [{"keyName": "a", "rights": ["send"]}, {"keyName": "b", "rights": ["Own"]}]}`: `There is no right \"Own\". There are Manage, Send, Listen.`,
	} {
		w := a.as("root", "POST", all, body)
		wants(t, w, 400, want)
	}
	if n := len(a.bus.broker.Namespaces()); n != 2 {
		t.Errorf("%d namespaces", n)
	}
	wants(t, a.as("root", "POST", all, `{"name": "worker-1", "authorizationRules": [{"keyName": "a", "rights": ["Send"]}]}`), 201,
		`"connectionString":"Endpoint=sb://localhost:5300/0;SharedAccessKeyName=a;SharedAccessKey=`)
	wants(t, a.bus.do("GET", all+"/sbemulatorns", "", authorization, sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))), 200,
		`"connectionString":"Endpoint=sb://localhost:5300/0;SharedAccessKeyName=root;`)
}

// TestControlAPIRefusesEveryOperation without the right to manage, and while the process starts; web pages of other
// origins get none either.
func TestControlAPIRefusesEveryOperation(t *testing.T) {
	a := controlAPI(t)
	root := sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))
	parameter := regexp.MustCompile(`\{[a-z]+\}`)
	for path, methods := range a.paths {
		path = strings.ReplaceAll(path, "{namespace}", "orders")
		path = parameter.ReplaceAllString(path, "x")
		for method := range methods {
			wants(t, a.bus.do(method, path, "", "Origin", "http://evil.test", authorization, root), 403)
			wants(t, a.bus.do(method, path, "", "Sec-Fetch-Site", "cross-site", authorization, root), 403)
			if path == control.DocumentPath {
				continue
			}
			wants(t, a.as("send", method, path, ""), 401)
			wants(t, a.bus.do(method, path, ""), 401, `"detail":"MissingToken: `)
			a.ready = false
			wants(t, a.as("root", method, path, ""), 503)
			a.ready = true
		}
	}
	if n := len(a.bus.broker.Namespaces()); n != 2 {
		t.Errorf("%d namespaces", n)
	}
}

// TestControlAPIKeepsOthersOut refuses keys of other namespaces.
func TestControlAPIKeepsOthersOut(t *testing.T) {
	a := controlAPI(t)
	const all = control.Prefix + "namespaces"
	orders, err := a.bus.broker.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.bus.broker.Update("orders", emulator.NamespaceOptions{Port: 5701, Policies: []emulator.AuthorizationRule{
		{KeyName: "root", PrimaryKey: "orders-key", Rights: []string{"Manage", "Send", "Listen"}}}}); err != nil {
		t.Fatal(err)
	}
	foreign := sas.Sign("http://localhost:5701/", "root", orders.Options().Policies[0].PrimaryKey, time.Now().Add(time.Hour))
	for _, host := range []string{"localhost:5701", "orders.localhost:5300"} {
		wants(t, a.bus.at(host, 5701, "GET", all, "", authorization, foreign), 401)
		wants(t, a.bus.at(host, 5701, "POST", all, "", authorization, foreign), 401)
	}
	wants(t, a.bus.do("GET", control.DocumentPath, ""), 200)
	if n := len(a.bus.broker.Namespaces()); n != 2 {
		t.Errorf("%d namespaces", n)
	}
}

func TestControlAPIHasNoOtherPaths(t *testing.T) {
	a := controlAPI(t)
	root := sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))
	for _, path := range []string{"", "namespaces/", "queues", "namespaces/orders/queues"} {
		wants(t, a.bus.do("GET", control.Prefix+path, "", authorization, root), 404, `"status":404`)
	}
	wants(t, a.bus.do("GET", inDefault+"events/Subscriptions/large", "", authorization, root), 404, "In the path of an entity each slash is %2F: events%2FSubscriptions%2Flarge.")
	for _, path := range []string{"namespaces/orders/snapshots/..", "namespaces/./orders", "namespaces//orders", "namespaces/orders/entities/../"} {
		wants(t, a.bus.do("DELETE", control.Prefix+path, "", authorization, root), 404, `"status":404`)
	}
	w := a.bus.do("PUT", control.Prefix+"namespaces", "", authorization, root)
	wants(t, w, 405, `"detail":"The path takes GET, HEAD, POST."`)
	if w.Header().Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("headers %v", w.Header())
	}
	wants(t, a.bus.do("GET", "/%24minibus/v1/namespaces/ord%65rs", "", authorization, root), 200, `"name":"orders"`)
	wants(t, a.bus.do(http.MethodHead, control.Prefix+"namespaces/orders", "", authorization, root), 200)
}
