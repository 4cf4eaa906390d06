package control_test

import (
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/mgmt/control"
)

// TestControlAPIOfMatching asks the rules of a topic about messages that are not sent.
func TestControlAPIOfMatching(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("plain", emulator.QueueOptions{})
	red := emulator.SubscriptionOptions{Name: "red", Rules: []emulator.RuleOptions{{Name: "color", SQL: "color = 'red'"}, {Name: "amount", SQL: "amount > 5"}}}
	marked := emulator.SubscriptionOptions{Name: "marked", Rules: []emulator.RuleOptions{{Name: "mark", SQL: "1=1", Action: "SET color = 'green'; SET sys.Label = 'seen'; REMOVE old"}}}
	held := emulator.SubscriptionOptions{Name: "held", Queue: emulator.QueueOptions{RequiresSession: true, ForwardDeadLetteredMessagesTo: "plain"}}
	broken := emulator.SubscriptionOptions{Name: "broken", Rules: []emulator.RuleOptions{{Name: "bad", SQL: "1=1", Action: "SET sys.Nope = 1"}, {Name: "worse", SQL: "sys.Nope = 1"}}}
	if _, err := a.bus.ns.Entities().CreateTopic("events", emulator.TopicOptions{Status: emulator.StatusSendDisabled, Subscriptions: []emulator.SubscriptionOptions{red, marked, held, broken}}); err != nil {
		t.Fatal(err)
	}
	const events, match = inDefault + "events", "/match"
	message := `{"message": {"applicationProperties": {"color": "blue", "old": {"int": 1}}, "body": "x"}`
	w := a.as("root", "POST", events+match, message+"}")
	wants(t, w, 200, `"topic":"events","refused":"Messaging entity 'events' is currently disabled`, `"duplicate":false,"reached":["broken","held","marked"]`,
		`"reasons":[{"condition":"color = 'red'","outcome":"false","seen":[{"name":"color","value":"blue"}],"text":"color = 'red' is false: color is 'blue'"}]`,
		`"outcome":"unknown","reasons":[{"condition":"amount > 5","outcome":"unknown","seen":[{"name":"amount","missing":true}],"text":"amount > 5 is unknown: amount is missing"}]`,
		`"copies":[{"rule":"mark","changes":[{"property":"sys.Label","after":"seen"},{"property":"RuleName","after":"mark"},{"property":"color","before":"blue","after":"green"},{"property":"old","before":{"int":1},"removed":true}],"forwards":[]}]`,
		`"subQueue":"$DeadLetterQueue","deadLetterReason":"Session id is null."`, `"forwards":["plain"]`, `"deadLetterReason":"FilterException"`,
		`"outcome":"true","error":"The system property 'Nope' does not exist.","actionFails":true`, `"outcome":"error","error":"The system property 'Nope' does not exist."`)
	wants(t, a.as("root", "POST", events+"%2FSubscriptions%2Fred"+match, `{"message": {"subject": "x", "applicationProperties": {"amount": 6}}}`), 200,
		`"reached":["red"],"subscriptions":[{"name":"red","path":"events/Subscriptions/red","status":"Active","copies":[{"rule":"amount","changes":[]`)
	wants(t, a.as("root", "POST", events+match, `{"message": {"scheduledEnqueueTime": "2099-01-01T00:00:00Z"}}`), 200, `"scheduledFor":"2099-01-01T00:00:00Z"`)
	for _, path := range []string{"events", "events%2FSubscriptions%2Fred"} {
		wants(t, a.as("root", "POST", inDefault+path+match, message+`, "rule": {"Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "color = 'blue'"}, "Action": {"SqlExpression": "SET n = 1"}}}}`), 200,
			`"copies":[{"rule":"rule","changes":[{"property":"RuleName","after":"rule"},{"property":"n","after":1}],"forwards":[]}]`)
	}
	wants(t, a.as("root", "POST", events+match, message+`, "rule": {"Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "a", "Properties": {"old": "1"}}}}}`), 200,
		`"reached":[]`, `"text":"sys.Label = 'a' is false: sys.Label is NULL"`, `"text":"old = '1' is false: old is 1, int = string: the types differ"`)
	a.refusesMatching(events+match, message)
	wants(t, a.as("root", "POST", inDefault+"plain"+match, message+"}"), 409, "has no rules: it is neither a topic nor a subscription")
	wants(t, a.as("root", "POST", inDefault+"nothing"+match, message+"}"), 404)
	wants(t, a.as("root", "POST", events+match, `{"message": {"body": "`+strings.Repeat("x", 1<<20)+`"}}`), 413)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces/nothing/entities/events"+match, message+"}"), 404)
	a.bus.wantCounts("plain", 0, 0)
	a.covers("match")
}

// refusesMatching sends what is not valid.
func (a *openAPI) refusesMatching(path, message string) {
	a.t.Helper()
	for body, want := range map[string]string{
		``: "", `{}`: "required property message", `[]`: "", `{"message": {"colour": 1}}`: "colour", message + `, "x": 1}`: "x",
		`{"message": {"timeToLive": "soon"}}`: "body.message: ", `{"message": {"applicationProperties": {"a": {"unit": 1}}}}`: "body.message: ",
		message + `, "rule": 1}`: "body.rule:1:1: error: $: found the number 1",
		message + `, "rule": {"Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "color = = 1"}}}}`: "\"detail\":\"body.rule:1:69: error: $.Properties.SqlFilter.SqlExpression",
		message + `, "rule": {"Properties": {}}}`: "body.rule:1:16: error: $.Properties",
		message + `, "rule": {}}`:                 "found a rule without Properties",
	} {
		wants(a.t, a.as("root", "POST", path, body), 400, `"detail":"`, want)
	}
	w := a.as("root", "POST", path, message+`, "rule": {"Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "color = = 1"}}}}`)
	wants(a.t, w, 400, "line=1, column=8")
	wants(a.t, a.as("root", "POST", strings.Replace(path, "events", "events%2F$DeadLetterQueue", 1), message+"}"), 400, "not to a sub-queue")
}
