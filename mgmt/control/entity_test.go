package control_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/mgmt/control"
)

// shownEntity is what the tests read of an entity.
type shownEntity struct {
	Path, Kind, Status        string
	Sessions                  *int
	Oldest                    *struct{ SequenceNumber int }
	AutoDelete                *struct{ InUse bool }
	ForwardsTo, ForwardedFrom []struct {
		Entity               string
		DeadLetters, Missing bool
	}
	Properties map[string]any
	Rules      []shownRule1
}

type shownRule1 struct {
	Name       string
	Properties map[string]any
}

const inOrders = control.Prefix + "namespaces/orders/"

// TestControlAPIPutsEntities of every kind, changes and deletes them, and shows each whole.
func TestControlAPIPutsEntities(t *testing.T) {
	a := controlAPI(t)
	const all = inOrders + "entities/"
	w := a.as("root", "PUT", all+"bulk", `{}`)
	wants(t, w, 201, `"path":"bulk","kind":"queue"`, `"MaxDeliveryCount":3`, `"LockDuration":"PT1M"`)
	if at := w.Header().Get("Location"); at != inOrders+"entities/bulk" {
		t.Errorf("Location %q", at)
	}
	wants(t, a.as("root", "PUT", all+"parcels", `{"Name": "Parcels", "Properties": {"RequiresSession": true, "ForwardDeadLetteredMessagesTo": "BULK", "AutoDeleteOnIdle": "PT1H"}}`), 201)
	wants(t, a.as("root", "PUT", all+"parcels?onlyNew=true", `{}`), 409, "already exists")
	e := decoded[shownEntity](t, a.as("root", "GET", all+"parcels", ""))
	if e.Sessions == nil || e.AutoDelete == nil || len(e.ForwardsTo) != 1 || e.ForwardsTo[0].Entity != "bulk" || !e.ForwardsTo[0].DeadLetters || e.Properties["AutoDeleteOnIdle"] != "PT1H" {
		t.Errorf("the queue is %+v", e)
	}
	e = decoded[shownEntity](t, a.as("root", "GET", all+"bulk", ""))
	if len(e.ForwardedFrom) != 1 || e.ForwardedFrom[0].Entity != "parcels" || !e.ForwardedFrom[0].DeadLetters || e.Sessions != nil {
		t.Errorf("the target is %+v", e)
	}
	wants(t, a.as("root", "PATCH", all+"parcels", `{"Properties": {"LockDuration": "PT30S", "UserMetadata": "x"}}`), 200, `"LockDuration":"PT30S"`, `"UserMetadata":"x"`, `"RequiresSession":true`, `"AutoDeleteOnIdle":"PT1H"`)
	wants(t, a.as("root", "PATCH", all+"parcels", `{"Properties": {"LockDuration": null, "ForwardDeadLetteredMessagesTo": ""}}`), 200, `"LockDuration":"PT1M"`, `"UserMetadata":"x"`, `"forwardsTo":[]`)
	wants(t, a.as("root", "PUT", all+"parcels", `{"Properties": {"RequiresSession": true}}`), 200, `"UserMetadata":""`, `"AutoDeleteOnIdle":"P10675199DT2H48M5.4775807S"`)
	wants(t, a.as("root", "PUT", all+"events?kind=topic", `{"Properties": {"SupportOrdering": true}, "Subscriptions": [{"Name": "all"}, {"Name": "large", "Rules": [
		{"Name": "big", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "amount > 1000"}}}]}]}`), 201, `"subscriptions":2`)
	wants(t, a.as("root", "PUT", all+"events%2FSubscriptions%2Flarge", `{"Properties": {"ForwardTo": "bulk", "AutoDeleteOnIdle": "PT5M"}}`), 200, `"rules":[{"name":"big"`, `"entity":"bulk","deadLetters":false}`)
	wants(t, a.as("root", "PUT", all+"events%2Fsubscriptions%2Fsmall?kind=subscription", `{"Rules": [{"Name": "r", "Properties": {"FilterType": "False"}}]}`), 201, `"path":"events/Subscriptions/small"`)
	wants(t, a.as("root", "GET", inOrders+"tree", ""), 200, `"rules":["$Default"]`, `"rules":["big"]`, `"name":"large","path":"events/Subscriptions/large"`, `"forwardTo":"bulk"`, `"path":"parcels"`)
	wants(t, a.as("root", "GET", all+"events/subscriptions", ""), 200, `"name":"large","path":"events/Subscriptions/large"`, `"forwardTo":"bulk"`, `"SqlExpression":"amount \u003e 1000"`, `"receivers":0`)
	wants(t, a.as("root", "GET", all+"bulk/subscriptions", ""), 409, "is not a topic")
	wants(t, a.as("root", "GET", all+"nothing/subscriptions", ""), 404)
	wants(t, a.as("root", "DELETE", all+"events%2FSubscriptions%2Fsmall", ""), 204)
	wants(t, a.as("root", "DELETE", all+"events", ""), 204)
	wants(t, a.as("root", "DELETE", all+"events", ""), 404)
	wants(t, a.as("root", "DELETE", all+"bulk%2F$DeadLetterQueue", ""), 400, "kind purge")
	a.putsRules()
	a.refusesEntities()
	a.refusesPaths()
	a.lastHour()
	a.covers("entities")
}

// lastHour shows what came and went, of an entity and of the namespace.
func (a *openAPI) lastHour() {
	a.t.Helper()
	const of = control.Prefix + "namespaces/$default/"
	a.message("q", "one")
	a.message("q", "two")
	a.receiveDelete("q")
	for _, path := range []string{of + "activity", of + "entities/q/activity"} {
		wants(a.t, a.as("root", "GET", path, ""), 200, `"stepSeconds":20`, `"stored":[2]`, `"completed":[1]`, `"active":[1]`, `"deadLetter":[0]`, `"scheduled":[0]`)
	}
	wants(a.t, a.as("root", "GET", of+"entities/q", ""), 200, `"lastMinute":{"stored":2,"completed":1}`, `"oldestEnqueued":"`)
	wants(a.t, a.as("root", "GET", of+"entities/nothing/activity", ""), 404)
	wants(a.t, a.as("root", "GET", control.Prefix+"namespaces/nothing/activity", ""), 404)
}

// putsRules changes rules of a subscription.
func (a *openAPI) putsRules() {
	t := a.t
	t.Helper()
	wants(t, a.as("root", "PUT", inOrders+"entities/news?kind=topic", `{"Subscriptions": [{"Name": "s"}]}`), 201)
	const rules = inOrders + "entities/news%2FSubscriptions%2Fs/rules"
	wants(t, a.as("root", "GET", rules, ""), 200, `{"items":[{"name":"$Default","created":"`, `"properties":{"FilterType":"True"}}]}`)
	wants(t, a.as("root", "GET", rules+"/$default", ""), 200, `"name":"$Default"`)
	wants(t, a.as("root", "PUT", rules+"/$Default", `{"Properties": {"FilterType": "False"}}`), 200, `"FilterType":"False"`)
	body := `{"Name": "Red", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "red", "Properties": {"n": 1, "d": 1.0, "t": {"Type": "dateTime", "Value": "2026-01-01T00:00:00Z"}}},
		"Action": {"SqlExpression": "SET a = @b", "Parameters": {"@b": "x"}}}}`
	w := a.as("root", "PUT", rules+"/red", body)
	wants(t, w, 201, `"Properties":{"d":1.0,"n":1,"t":{"Type":"dateTime","Value":"2026-01-01T00:00:00Z"}}`, `"Parameters":{"@b":"x"}`)
	wants(t, a.as("root", "GET", w.Header().Get("Location"), ""), 200, `"name":"red"`)
	wants(t, a.as("root", "PUT", rules+"/red?onlyNew=true", body), 409)
	wants(t, a.as("root", "PUT", rules+"/red", `{"Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "color ="}}}`), 400, "body:1:", "found an expression that can't be used")
	wants(t, a.as("root", "PUT", rules+"/red", `{"Name": "blue", "Properties": {"FilterType": "True"}}`), 400, "as in the path of the request")
	wants(t, a.as("root", "PUT", rules+"/a%20b", `{"Properties": {"FilterType": "True"}}`), 400, "in the name")
	wants(t, a.as("root", "PUT", rules+"/red", `{"Name": "`+strings.Repeat("x", 1<<20)+`"}`), 413)
	wants(t, a.as("root", "DELETE", rules+"/RED", ""), 204)
	wants(t, a.as("root", "DELETE", rules+"/red", ""), 404, "has no rule 'red'")
	wants(t, a.as("root", "GET", rules+"/red", ""), 404)
	for _, path := range []string{"entities/nothing/rules", "entities/news/rules"} {
		status := map[bool]int{true: 404, false: 409}[strings.Contains(path, "nothing")]
		wants(t, a.as("root", "GET", inOrders+path, ""), status)
		wants(t, a.as("root", "GET", inOrders+path+"/r", ""), status)
		wants(t, a.as("root", "PUT", inOrders+path+"/r", body), status)
		wants(t, a.as("root", "DELETE", inOrders+path+"/r", ""), status)
	}
}

// refusesEntities with the place in the text, and changes nothing.
func (a *openAPI) refusesEntities() {
	t := a.t
	t.Helper()
	const all = inOrders + "entities/"
	before := a.as("root", "GET", inOrders+"tree", "").Body.String()
	for path, tries := range map[string]map[string]string{
		"parcels": {
			`{"Properties": {"LockDuration": "1 minute"}}`:                          `body:1:33: error: $.Properties.LockDuration: found \"1 minute\"`,
			`{"Properties": {"Lockduraton": "PT1M"}}`:                               `found the unknown key \"Lockduraton\"; did you mean LockDuration?`,
			"{\n \"Properties\": {\"ForwardTo\": \"nothing\"}}":                     `body:2:30: error: $.Properties.ForwardTo: found the unknown target \"nothing\"; allowed: a queue or topic of the namespace`,
			`{"Name": "other"}`:                                                     `body:1:10: error: $.Name: found the name \"other\"; allowed: \"parcels\", as in the path of the request`,
			`{"Properties": {"RequiresDuplicateDetection": true}}`:                  "RequiresSession, which can't be changed",
			`{"Properties": {"RequiresSession": true, "AutoDeleteOnIdle": "PT1S"}}`: "PT5M or more",
			`[]`: "an object", `{`: "body:1:", ``: "request body is required", `{"Subscriptions": []}`: "unknown key",
		},
		"x%20y":                        {`{}`: "in the name"},
		"news%2FSubscriptions%2Fs%2Ft": {`{"Properties": {"Status": "Off"}}`: "found"},
	} {
		for body, want := range tries {
			wants(t, a.as("root", "PUT", all+path, body), 400, want)
		}
	}
	wants(t, a.as("root", "PUT", all+"parcels?kind=topic", `{}`), 409, "a queue has that name")
	wants(t, a.as("root", "PUT", all+"parcels?kind=subscription", `{}`), 400, "TOPIC/Subscriptions/NAME")
	wants(t, a.as("root", "PUT", all+"parcels%2F$DeadLetterQueue", `{}`), 400, "is a part of parcels")
	wants(t, a.as("root", "PUT", all+"nothing%2FSubscriptions%2Fs", `{}`), 404)
	for body, want := range map[string]string{
		`{}`:                 "found no Properties",
		`{"Properties": []}`: "an object",
		`{"Properties": {"RequiresSession": false}}`: "RequiresSession, which can't be changed",
		`{"Properties": {"MaxDeliveryCount": 0}}`:    "body:1:37",
		`{"Properties": {}, "Subscriptions": []}`:    "unknown key",
	} {
		wants(t, a.as("root", "PATCH", all+"parcels", body), 400, want)
	}
	large := `{"Name": "` + strings.Repeat("x", 1<<20) + `"}`
	wants(t, a.as("root", "PUT", all+"parcels", large), 413)
	wants(t, a.as("root", "PATCH", all+"parcels", large), 413)
	if after := a.as("root", "GET", inOrders+"tree", "").Body.String(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// refusesPaths of namespaces and entities that are not there.
func (a *openAPI) refusesPaths() {
	t := a.t
	t.Helper()
	wants(t, a.as("root", "PATCH", inOrders+"entities/nothing", `{"Properties": {}}`), 404)
	wants(t, a.as("root", "GET", inOrders+"entities/parcels?keys=perhaps", ""), 400)
	wants(t, a.as("root", "GET", inOrders+"entities/nothing", ""), 404)
	wants(t, a.as("root", "GET", inOrders+"tree?limit=0", ""), 400)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/tree", ""), 404)
	wants(t, a.as("root", "GET", inOrders+"entities?limit=0", ""), 400)
	wants(t, a.as("root", "GET", inOrders+"entities", ""), 200)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/entities", ""), 404)
}

// TestControlAPIShowsPoliciesOnlyIfAsked, and keeps them if a body has none.
func TestControlAPIShowsPoliciesOnlyIfAsked(t *testing.T) {
	a := controlAPI(t)
	const one = inOrders + "entities/guarded"
	wants(t, a.as("root", "PUT", one, `{"Properties": {"AuthorizationRules": [{"KeyName": "till", "PrimaryKey": "secret", "Rights": ["Send"]}]}}`), 201)
	for _, body := range []string{`{"Properties": {"MaxDeliveryCount": 4}}`, `{"Properties": {"Status": "Disabled"}}`} {
		method := map[bool]string{true: "PATCH", false: "PUT"}[strings.Contains(body, "Status")]
		if w := a.as("root", method, one, body); strings.Contains(w.Body.String(), "secret") {
			t.Errorf("it shows %s", w.Body)
		}
	}
	wants(t, a.as("root", "GET", one+"?keys=true", ""), 200, `"AuthorizationRules":[{"KeyName":"till","Rights":["Send"],"PrimaryKey":"secret"}]`, `"MaxDeliveryCount":4`)
}

// TestControlAPIPagesTheTree by queues and topics.
func TestControlAPIPagesTheTree(t *testing.T) {
	a := controlAPI(t)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces", withEntities), 201)
	var paths []string
	for cursor, rounds := "", 0; ; rounds++ {
		w := a.as("root", "GET", control.Prefix+"namespaces/with-entities/tree?limit=1&cursor="+cursor, "")
		var p struct {
			Items []struct{ Path string }
			Next  string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || rounds > 9 {
			t.Fatal(err, rounds)
		}
		for _, x := range p.Items {
			paths = append(paths, x.Path)
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	same(t, paths, []string{"events", "old", "orders", "parcels"})
}

// TestControlAPITellsAFailedCommit of a change and keeps what was.
func TestControlAPITellsAFailedCommit(t *testing.T) {
	a := controlAPI(t)
	a.bus.journal.FailAlone(errors.New("no room"))
	const one = control.Prefix + "namespaces/$default/entities/q"
	token := a.root()
	wants(t, a.bus.do("PATCH", one, `{"Properties": {"MaxDeliveryCount": 9}}`, authorization, token), 500)
	wants(t, a.as("root", "GET", one, ""), 200, `"MaxDeliveryCount":10`)
	wants(t, a.as("root", "PATCH", one, `{"Properties": {"MaxDeliveryCount": 9}}`), 200, `"MaxDeliveryCount":9`)
}

// TestJMS9_ControlAPIShowsWhatJMSClientsMake, and takes durable subscriptions of theirs with selectors.
func TestJMS9_ControlAPIShowsWhatJMSClientsMake(t *testing.T) {
	a := controlAPI(t)
	const all = inOrders + "entities/"
	ns, err := a.bus.broker.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	wants(t, a.as("root", "PUT", all+"audits?kind=topic", `{}`), 201)
	const rule = `{"Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "size BETWEEN 1 AND 5"}}}`
	const sub = all + "audits%2FSubscriptions%2Fmail%24app%3A7%24D"
	const client = `"clientAffine":{"clientId":"app:7","durable":true,"shared":true,"consumers":0}`
	wants(t, a.as("root", "PUT", sub, `{"Properties": {"ClientAffineProperties": {"ClientId": "app:7", "IsShared": true}}}`), 201, client)
	wants(t, a.as("root", "PUT", sub+"/rules/$Default", rule), 200, "BETWEEN")
	wants(t, a.as("root", "PUT", sub+"/rules/other", rule), 400, "error parsing the SQL expression")
	wants(t, a.as("root", "PATCH", sub, `{"Properties": {"UserMetadata": "m"}}`), 200, client, "BETWEEN", `"UserMetadata":"m"`,
		`"ClientAffineProperties":{"ClientId":"app:7","IsDurable":true,"IsShared":true}`)
	wants(t, a.as("root", "PATCH", sub, `{"Properties": {"ClientAffineProperties": {"ClientId": "app:7"}}}`), 400, "ClientAffineProperties")
	s, err := ns.Subscribe("audits", emulator.SubscribeOptions{ClientID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	path, err := ns.CreateTemporary(false)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, a.as("root", "GET", all+strings.ReplaceAll(s.Path(), "/", "%2F"), ""), 200, `"clientAffine":{"clientId":"x","durable":false,"shared":false,"consumers":1}`)
	wants(t, a.as("root", "GET", inOrders+"entities?text=jms-temp", ""), 200, `"path":"`+path+`"`, `"temporary":true`)
	w := a.as("root", "GET", inOrders+"config", "")
	if wants(t, w, 200, "mail$app:7$D"); strings.Contains(w.Body.String(), path) || strings.Contains(w.Body.String(), "$ND") {
		t.Errorf("the configuration has what ends with its client: %s", w.Body)
	}
	wants(t, a.as("root", "DELETE", all+path, ""), 204)
}
