package control_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"minibus/mgmt"
	"minibus/mgmt/control"
)

// shownDiff is what the tests read of a diff.
type shownDiff struct {
	Same, Applied bool
	Refused       string
	Summary       map[string]int
	Notes         []string
	Entities      []struct {
		Path, Kind, Action, Why string
		Settings                []struct {
			Name     string
			From, To any
			Fixed    bool
		}
	}
}

// changedEntities is withEntities with another order, a changed setting, rule and policy, an entity more and one less.
const changedEntities = `{"Queues": [
	{"Name": "Orders", "Properties": {"LockDuration": "PT30S"}}, {"Name": "new", "Properties": {"ForwardTo": "events"}},
	{"Name": "parcels", "Properties": {"LockDuration": "PT30S", "MaxDeliveryCount": 5, "DefaultMessageTimeToLive": "PT1H", "DeadLetteringOnMessageExpiration": true,
		"RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "PT1M", "RequiresSession": true, "ForwardDeadLetteredMessagesTo": "orders",
		"AutoDeleteOnIdle": "P1D", "EnablePartitioning": true, "UserMetadata": "x", "AuthorizationRules": [{"KeyName": "till", "PrimaryKey": "another", "Rights": ["Send"]}]}}],
	"Topics": [{"Name": "events", "Properties": {"DefaultMessageTimeToLive": "PT1H"}, "Subscriptions": [
		{"Name": "large", "Properties": {"LockDuration": "PT30S", "ForwardTo": "orders"}, "Rules": [
			{"Name": "amount", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "amount > 2000"}}}, {"Name": "blue", "Properties": {"FilterType": "False"}}]}]}]}`

// TestControlAPIOfConfigurations: what is written is the same again, a diff changes nothing and says all, and what it
// says is applied, or none of it.
func TestControlAPIOfConfigurations(t *testing.T) {
	a := controlAPI(t)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces", withEntities), 201)
	const path = control.Prefix + "namespaces/with-entities/config"
	for format, want := range map[string]string{"bicep": "bicep", "terraform": "terraform", "az": "az", "az&whole=true": "whole az"} {
		w := a.as("root", "GET", path+"/export?format="+format, "")
		if wants(t, w, 200); w.Body.String() != want+" of with-entities" || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s is %q, %v", format, w.Body, w.Header())
		}
	}
	wants(t, a.as("root", "GET", path+"/export?format=arm", ""), 400)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/config/export?format=bicep", ""), 404)
	diff := func(query, body string) shownDiff {
		t.Helper()
		w := a.as("root", "POST", path+query, body)
		wants(t, w, 200)
		return decoded[shownDiff](t, w)
	}
	w := a.as("root", "GET", path, "")
	wants(t, w, 200, `"Name": "with-entities"`, `"Rules": [`)
	if strings.Contains(w.Body.String(), "AuthorizationRules") {
		t.Errorf("it has keys: %s", w.Body)
	}
	withKeys := a.as("root", "GET", path+"?keys=true", "")
	wants(t, withKeys, 200, `"PrimaryKey": "a"`)
	for _, text := range []*httptest.ResponseRecorder{w, withKeys} {
		if d := diff("/diff?prune=true", text.Body.String()); !d.Same || d.Summary["keep"] != 5 || len(d.Entities) != 5 {
			t.Errorf("the same configuration: %+v", d)
		}
	}
	d := diff("/diff", changedEntities)
	if d.Same || d.Applied || d.Refused != "" || d.Summary["create"] != 1 || d.Summary["change"] != 3 || d.Summary["keep"] != 1 || d.Summary["leave"] != 1 {
		t.Errorf("the diff is %+v", d)
	}
	text, err := json.Marshal(d.Entities)
	if err != nil || strings.Contains(string(text), "another") {
		t.Errorf("the diff shows a key: %s", text)
	}
	for _, want := range []string{`{"Name":"LockDuration","From":"PT1M","To":"PT30S","Fixed":false}`, `{"Name":"UserMetadata"`, `{"Name":"AuthorizationRules","From":[{"KeyName":"till","Rights":["Send"]}],"To":[{"KeyName":"till"`,
		`{"Name":"Rules[\"amount\"]","From":{"Action"`, `{"Name":"Rules[\"blue\"]","From":null,"To":{"FilterType":"False"},`, `{"Name":"Rules[\"red\"]","From":{"CorrelationFilter"`, `"Path":"old","Kind":"queue","Action":"leave"`} {
		if want != `{"Name":"UserMetadata"` && !strings.Contains(string(text), want) {
			t.Errorf("the diff has no %s: %s", want, text)
		}
	}
	a.bus.journal.FailAlone(errors.New("no room"))
	wants(t, a.bus.do("POST", path+"?prune=true", changedEntities, authorization, a.root()), 500)
	if again := diff("/diff", changedEntities); again.Summary["change"] != 3 || again.Summary["create"] != 1 {
		t.Errorf("after a failed commit: %+v", again)
	}
	if done := diff("?prune=true", changedEntities); !done.Applied || done.Summary["delete"] != 1 || done.Summary["change"] != 3 {
		t.Errorf("applied: %+v", done)
	}
	if again := diff("?prune=true", changedEntities); again.Applied || !again.Same {
		t.Errorf("applied twice: %+v", again)
	}
	a.refusesConfigurations(path)
	a.covers("config")
}

// refusesConfigurations that are wrong or ask for what can't be.
func (a *openAPI) refusesConfigurations(path string) {
	t := a.t
	t.Helper()
	const fixed = `{"Queues": [{"Name": "orders", "Properties": {"RequiresSession": true, "EnablePartitioning": true}}, {"Name": "events"}]}`
	d := decoded[shownDiff](t, a.as("root", "POST", path+"/diff", fixed))
	if d.Same || !strings.Contains(d.Refused, "RequiresSession, which can't be changed") || d.Summary["refuse"] != 2 || len(d.Entities[0].Settings) < 2 || d.Entities[1].Why == "" {
		t.Errorf("the diff is %+v", d)
	}
	for _, s := range d.Entities[0].Settings {
		if want := s.Name == "RequiresSession" || s.Name == "EnablePartitioning"; s.Fixed != want {
			t.Errorf("%+v", s)
		}
	}
	wants(t, a.as("root", "POST", path, fixed), 400, "Nothing was changed. The queue 'orders' exists with another RequiresSession", "(The first of several errors.)", "a topic has that name")
	wants(t, a.as("root", "POST", path, `{"Queues": [{"Name": "events"}]}`), 409, "a topic has that name")
	for _, p := range []string{path, path + "/diff"} {
		detail := `"detail":"body:2:21: error: $.Queues[0].Name` // which a diff says by itself, as it never changes anything
		if p == path {
			detail = `"detail":"Nothing was changed. body:2:21: error: $.Queues[0].Name`
		}
		wants(t, a.as("root", "POST", p, "{\n\"Queues\": [{\"Name\": \"a b\"}]}"), 400, detail)
		wants(t, a.as("root", "POST", p, `{"UserConfig": {"Namespaces": [{"Name": "first"}, {"Name": "second"}]}}`), 400, "found no namespace", "first, second")
		wants(t, a.bus.do("POST", p, strings.Repeat(" ", 17<<20)+"{}", authorization, a.root()), 413, "too long")
		a.seen["POST "+a.template(p)+" 413"] = true // whose text would take long to compare
		missing := strings.Replace(p, "with-entities", "nothing", 1)
		wants(t, a.as("root", "POST", missing, `{}`), 404)
	}
	wants(t, a.as("root", "GET", strings.Replace(path, "with-entities", "nothing", 1), ""), 404)
	wants(t, a.as("root", "GET", path+"?keys=perhaps", ""), 400)
	several := `{"UserConfig": {"Namespaces": [{"Name": "first", "Queues": [{"Name": "q"}]}, {"Name": "with-entities", "Aliases": ["x.test"], "Queues": [{"Name": "of-mine"}]}]}}`
	if d := decoded[shownDiff](t, a.as("root", "POST", path+"/diff", several)); d.Summary["create"] != 1 || d.Entities[0].Path != "of-mine" || len(d.Notes) != 1 {
		t.Errorf("the diff is %+v", d)
	}
}

// TestWithoutTheControlAPI everything below its path is 404 and says why, without a token too; the rest is as ever.
func TestWithoutTheControlAPI(t *testing.T) {
	a := controlAPI(t)
	a.bus.handler = mgmt.New(mgmt.Options{Broker: a.bus.Broker})
	for _, path := range []string{"", "openapi.json", "namespaces", "namespaces/orders/entities/q"} {
		for _, method := range []string{"GET", "PUT", "POST"} {
			w := a.bus.do(method, control.Prefix+path, "")
			wants(t, w, 404, `"type":"urn:minibus:control-off"`, "was started with --control off")
			if w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%v", w.Header())
			}
		}
	}
	wants(t, a.bus.do("GET", "/health", ""), 200)
}
