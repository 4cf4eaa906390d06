package config

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"minibus/emulator"
)

// parse returns the topology of a text, which must have no errors.
func parse(t *testing.T, text string, profile Profile) (*Topology, *Report) {
	t.Helper()
	topology, report := Parse("Config.json", []byte(text), profile)
	if err := report.Err(); err != nil {
		t.Fatalf("%v\nin %s", err, text)
	}
	return topology, report
}

// wrap puts the inside of a namespace into a document.
func wrap(inside string) string {
	return `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", ` + inside + `}], "Logging": {"Type": "File"}}}`
}

// queueProps returns a document with one queue with these properties.
func queueProps(props string) string {
	return wrap(`"Queues": [{"Name": "orders", "Properties": {` + props + `}}]`)
}

func TestDEC4_EntitiesOfAFileHaveMicrosoftsDefaults(t *testing.T) {
	topology, _ := parse(t, wrap(`"Queues": [{"Name": "q"}], "Topics": [{"Name": "t", "Subscriptions": [{"Name": "s"}]}]`), ProfileRelaxed)
	want := []emulator.EntityConfig{
		{Path: "q", Queue: &emulator.QueueOptions{LockDuration: time.Minute, MaxDeliveryCount: 3,
			DefaultMessageTimeToLive: time.Hour, DuplicateDetectionWindow: 20 * time.Second}},
		{Path: "t", Topic: &emulator.TopicOptions{DefaultMessageTimeToLive: time.Hour, DuplicateDetectionWindow: 20 * time.Second, SupportOrdering: true,
			Subscriptions: []emulator.SubscriptionOptions{{Name: "s", Queue: emulator.QueueOptions{LockDuration: time.Minute,
				MaxDeliveryCount: 3, DefaultMessageTimeToLive: time.Hour}}}}},
	}
	if !reflect.DeepEqual(topology.Entities, want) {
		t.Errorf("got %+v", topology.Entities)
	}
}

func TestEveryQueueProperty(t *testing.T) {
	topology, report := parse(t, wrap(`"Queues": [{"Name": "a", "Properties": {
		"DeadLetteringOnMessageExpiration": true, "DefaultMessageTimeToLive": "P14D", "DuplicateDetectionHistoryTimeWindow": "PT5M",
		"ForwardDeadLetteredMessagesTo": "b", "ForwardTo": "B", "LockDuration": "PT5S", "MaxDeliveryCount": 2147483647,
		"RequiresDuplicateDetection": true, "RequiresSession": false, "AutoDeleteOnIdle": "PT10M", "EnablePartitioning": true,
		"MaxSizeInMegabytes": 81920, "MaxMessageSizeInKilobytes": 2048, "EnableBatchedOperations": false, "Status": "senddisabled",
		"UserMetadata": "m"}}, {"Name": "b", "Properties": {"RequiresSession": true}}]`), ProfileRelaxed)
	no := false
	want := &emulator.QueueOptions{LockDuration: 5 * time.Second, MaxDeliveryCount: 1<<31 - 1, DefaultMessageTimeToLive: 14 * 24 * time.Hour,
		DeadLetteringOnExpiration: true, RequiresDuplicateDetection: true, DuplicateDetectionWindow: 5 * time.Minute, ForwardTo: "b",
		ForwardDeadLetteredMessagesTo: "b", AutoDeleteOnIdle: 10 * time.Minute, EnablePartitioning: true, MaxSizeInMegabytes: 81920,
		MaxMessageSizeInKilobytes: 2048, EnableBatchedOperations: &no, Status: emulator.StatusSendDisabled, UserMetadata: "m"}
	if got := topology.Entities[0].Queue; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if !topology.Entities[1].Queue.RequiresSession {
		t.Error("RequiresSession was not read")
	}
	if report.Count(Warning) != 0 {
		t.Errorf("warnings: %v", report.Findings)
	}
}

func TestEveryTopicAndRuleProperty(t *testing.T) {
	topology, report := parse(t, wrap(`"Topics": [{"Name": "t", "Properties": {"DefaultMessageTimeToLive": "PT5M",
		"DuplicateDetectionHistoryTimeWindow": "PT30S", "RequiresDuplicateDetection": true, "SupportOrdering": true},
		"Subscriptions": [{"Name": "s", "Properties": {"RequiresSession": true, "MaxDeliveryCount": 10,
			"ForwardDeadLetteredMessagesTo": "t", "DeadLetteringOnMessageExpiration": true},
		"Rules": [
		{"Name": "c", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"ContentType": "1", "CorrelationId": "2",
			"Label": "3", "MessageId": "4", "ReplyTo": "5", "ReplyToSessionId": "6", "SessionId": "7", "To": "8",
			"Properties": {"s": "x", "i": 7, "f": 1.5, "b": true, "Label": "own"}}}},
		{"Name": "q", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a = 1"}, "Action": {"SqlExpression": "SET b = 2"}}}
		]}]}]`), ProfileRelaxed)
	sub := topology.Entities[0].Topic.Subscriptions[0]
	want := []emulator.RuleOptions{
		{Name: "c", Correlation: &emulator.CorrelationFilter{ContentType: new("1"), CorrelationID: new("2"), Label: new("3"), MessageID: new("4"), ReplyTo: new("5"),
			ReplyToSessionID: new("6"), SessionID: new("7"), To: new("8"),
			Properties: map[string]any{"s": "x", "i": int64(7), "f": 1.5, "b": true, "Label": "own"}}},
		{Name: "q", SQL: "a = 1", Action: "SET b = 2"},
	}
	if !reflect.DeepEqual(sub.Rules, want) {
		t.Errorf("rules %+v", sub.Rules)
	}
	if q := sub.Queue; !q.RequiresSession || q.MaxDeliveryCount != 10 || q.ForwardDeadLetteredMessagesTo != "t" || !q.DeadLetteringOnExpiration {
		t.Errorf("subscription %+v", q)
	}
	o := topology.Entities[0].Topic
	if o.DefaultMessageTimeToLive != 5*time.Minute || o.DuplicateDetectionWindow != 30*time.Second || !o.RequiresDuplicateDetection || !o.SupportOrdering {
		t.Errorf("topic %+v", o)
	}
	if report.Count(Warning) != 0 {
		t.Errorf("warnings: %v", report.Findings)
	}
}

func TestTOP9_EmptyTextsOfACorrelationFilterAreTested(t *testing.T) {
	topology, report := parse(t, wrap(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [
		{"Name": "empty", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "", "To": null}}},
		{"Name": "nothing", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Properties": {}}}}]}]}]`), ProfileRelaxed)
	want := []emulator.RuleOptions{
		{Name: "empty", Correlation: &emulator.CorrelationFilter{Label: new("")}},
		{Name: "nothing", Correlation: &emulator.CorrelationFilter{Properties: map[string]any{}}},
	}
	if rules := topology.Entities[0].Topic.Subscriptions[0].Rules; !reflect.DeepEqual(rules, want) {
		t.Errorf("rules %+v", rules)
	}
	if len(report.Findings) != 2 || !strings.Contains(report.Findings[0].Found, "empty text") || !strings.Contains(report.Findings[1].Found, "without a condition") {
		t.Errorf("findings %v", report.Findings)
	}
}

func TestTOP10_FilterErrorsOfASubscription(t *testing.T) {
	const key = `"DeadLetteringOnFilterEvaluationExceptions": `
	topology, report := parse(t, wrap(`"Topics": [{"Name": "t", "Subscriptions": [
		{"Name": "a"}, {"Name": "b", "Properties": {`+key+`true}}, {"Name": "c", "Properties": {`+key+`false}}]}]`), ProfileRelaxed)
	var got []string
	for _, s := range topology.Entities[0].Topic.Subscriptions {
		flag := "default"
		if s.DeadLetteringOnFilterErrors != nil {
			flag = fmt.Sprint(*s.DeadLetteringOnFilterErrors)
		}
		got = append(got, flag)
	}
	if text := strings.Join(got, " "); text != "default true false" || len(report.Findings) > 0 {
		t.Errorf("flags %s, findings %v", text, report.Findings)
	}
}

func TestDefaultTopologyIsMicrosofts(t *testing.T) {
	topology := DefaultTopology()
	if topology.Namespace != DefaultNamespace || len(topology.Entities) != 2 {
		t.Fatalf("got %+v", topology)
	}
	if q := topology.Entities[0]; q.Path != "queue.1" || q.Queue.MaxDeliveryCount != 3 || q.Queue.LockDuration != time.Minute {
		t.Errorf("queue %+v", q)
	}
	var names []string
	for _, s := range topology.Entities[1].Topic.Subscriptions {
		names = append(names, fmt.Sprintf("%s:%d", s.Name, len(s.Rules)))
	}
	if got := strings.Join(names, " "); got != "subscription.1:1 subscription.2:1 subscription.3:0 subscription.4:1" {
		t.Errorf("subscriptions %s", got)
	}
	if _, report := Parse("default.json", defaultJSON, ProfileEmulator); len(report.Findings) > 0 {
		t.Errorf("findings %v", report.Findings)
	}
}

// quirks are texts that Microsoft's reader accepts, or that generators and people write; each has at least a queue
// "orders".
var quirks = map[string]string{
	"comments":             "// first\n/* second */ " + queueProps("// third\n\"MaxDeliveryCount\": 5 /* * / */"),
	"trailing commas":      `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "orders",},],},],},}`,
	"byte order mark":      "\uFEFF" + queueProps(""),
	"CRLF":                 strings.ReplaceAll("{\n\"UserConfig\": {\n\"Namespaces\": [\n{\"Queues\": [{\"Name\": \"orders\"}]}\n]\n} // end\n}\n", "\n", "\r\n"),
	"any case of keys":     `{"userconfig": {"NAMESPACES": [{"name": "x", "queues": [{"NAME": "orders", "properties": {"lockDURATION": "PT1M"}}]}]}}`,
	"no topics":            wrap(`"Queues": [{"Name": "orders"}]`),
	"no queues":            wrap(`"Topics": [{"Name": "orders", "Subscriptions": []}]`),
	"no logging":           `{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "orders"}]}]}}`,
	"other namespace":      `{"UserConfig": {"Namespaces": [{"Name": "servicebusns", "Queues": [{"Name": "orders"}], "Topics": []}], "Logging": {"Type": "File"}}}`,
	"null sections":        `{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "orders", "Properties": null}], "Topics": null}], "Logging": null}}`,
	"Aspire's largest":     queueProps(`"DefaultMessageTimeToLive": "P10675199DT2H48M5.4775807S", "AutoDeleteOnIdle": "P10675199DT2H48M5.4775807S"`),
	"fractional":           queueProps(`"LockDuration": "PT30.5S"`),
	"unknown keys":         queueProps(`"Colour": "red", "EnableExpress": true`),
	"$schema":              `{"$schema": "x", "UserConfig": {"Namespaces": [{"Queues": [{"Name": "orders"}]}]}}`,
	"FilterType number":    rule(`"FilterType": 0, "SqlFilter": {"SqlExpression": "1=1"}`),
	"FilterType SqlFilter": rule(`"FilterType": "sqlfilter", "SqlFilter": {"SqlExpression": "1=1"}`),
	"FilterType Corr...":   rule(`"FilterType": "CorrelationFilter", "CorrelationFilter": {"Subject": "x"}`),
	"no FilterType":        rule(`"CorrelationFilter": {"Label": "x"}`),
	"direct SqlExpression": rule(`"FilterType": "SQL", "SqlExpression": "a = 'b'"`),
	"Aspire's empty":       rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1", "RequiresPreprocessing": false}, "CorrelationFilter": {}, "Action": {}`),
	"names":                wrap(`"Queues": [{"Name": "orders"}, {"Name": "a/b.c-d_e1"}, {"Name": "_x_"}, {"Name": "a~b"}, {"Name": "x"}, {"Name": "~"}]`),
	"float":                queueProps(`"MaxDeliveryCount": 10.0`),
	"True":                 queueProps(`"RequiresSession": True`),
	"later target":         wrap(`"Queues": [{"Name": "orders", "Properties": {"ForwardTo": "T", "ForwardDeadLetteredMessagesTo": "sb://h:1/z"}}, {"Name": "z"}], "Topics": [{"Name": "t"}]`),
	"self and cycle":       wrap(`"Queues": [{"Name": "orders", "Properties": {"ForwardTo": "orders"}}, {"Name": "a", "Properties": {"ForwardTo": "b"}}, {"Name": "b", "Properties": {"ForwardTo": "a"}}]`),
	"typed values": rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a = @a", "Parameters": {"@a": {"Type": "dateTime", "Value": "2026-11-22T10:00:00.1234567Z"}}},
		"Action": {"SqlExpression": "SET b = @b", "Parameters": {"@b": {"type": "int", "value": 7}}}`),
}

// rule returns a document with one rule with these properties.
func rule(props string) string {
	return wrap(`"Queues": [{"Name": "orders"}], "Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [{"Name": "$Default", "Properties": {` + props + `}}]}]}]`)
}

func TestQuirksAreTaken(t *testing.T) {
	for name, text := range quirks {
		t.Run(name, func(t *testing.T) {
			topology, _ := parse(t, text, ProfileRelaxed)
			if len(topology.Entities) == 0 || topology.Entities[0].Path != "orders" {
				t.Errorf("entities %+v", topology.Entities)
			}
		})
	}
}

func TestUTF16IsTaken(t *testing.T) {
	units := utf16.Encode([]rune("\uFEFF" + queueProps(`"UserMetadata": "ä😀"`)))
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var data []byte
		for _, u := range units {
			data = order.AppendUint16(data, u)
		}
		topology, _ := parse(t, string(data), ProfileRelaxed)
		if got := topology.Entities[0].Queue.UserMetadata; got != "ä😀" {
			t.Errorf("metadata %q", got)
		}
	}
}

func TestStringsAreUnescaped(t *testing.T) {
	topology, _ := parse(t, queueProps(`"UserMetadata": "\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00\ud83dx"`), ProfileRelaxed)
	if got, want := topology.Entities[0].Queue.UserMetadata, "\"\\/\b\f\n\r\tä😀\uFFFDx"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDEC11_TheNamespaceHasTheNameOfTheFile(t *testing.T) {
	topology, report := parse(t, quirks["other namespace"], ProfileRelaxed)
	if topology.Namespace != "servicebusns" || report.Count(Note) != 1 {
		t.Errorf("namespace %q, findings %v", topology.Namespace, report.Findings)
	}
}

func TestLargestDurationMeansNone(t *testing.T) {
	topology, _ := parse(t, quirks["Aspire's largest"], ProfileEmulator)
	if q := topology.Entities[0].Queue; q.DefaultMessageTimeToLive != 0 || q.AutoDeleteOnIdle != 0 {
		t.Errorf("got %+v", q)
	}
}

func TestFWD15_TargetsAreResolvedWhenAllEntitiesAreKnown(t *testing.T) {
	topology, _ := parse(t, quirks["later target"], ProfileRelaxed)
	if q := topology.Entities[0].Queue; q.ForwardTo != "t" || q.ForwardDeadLetteredMessagesTo != "z" {
		t.Errorf("got %+v", q)
	}
}

func TestUnknownKeysAreWarnings(t *testing.T) {
	_, report := parse(t, queueProps(`"LokDuration": "PT1S", "Colour": 1, "EnableExpress": true, "MaxDeliveryCount": 1, "maxdeliverycount": 2`), ProfileRelaxed)
	var all []string
	for _, f := range report.Findings {
		all = append(all, f.String())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"did you mean LockDuration?", `unknown key "Colour"`, "EnableExpress: this property is known and has no effect",
		`the key "maxdeliverycount" a second time`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if report.Count(Warning) != 4 {
		t.Errorf("%d warnings:\n%s", report.Count(Warning), text)
	}
}

func TestEntitiesArrayOfAnotherEmulatorIsWarnedOf(t *testing.T) {
	_, report := parse(t, `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Entities": [{"Name": "q"}]}]}}`, ProfileRelaxed)
	if report.Count(Warning) != 1 || !strings.Contains(report.Findings[0].String(), "known here: Name, Queues, Topics") {
		t.Errorf("findings %v", report.Findings)
	}
}

func TestPropertiesOfATopicThatHaveADefaultOfTheirOwn(t *testing.T) {
	topology, _ := parse(t, wrap(`"Topics": [{"Name": "a"}, {"Name": "b", "Properties": {"EnablePartitioning": true}},
		{"Name": "c", "Properties": {"SupportOrdering": false, "EnableBatchedOperations": false}}]`), ProfileRelaxed)
	for i, want := range []bool{true, false, false} {
		o := topology.Entities[i].Topic
		if o.SupportOrdering != want || (o.Admin.SupportOrdering != nil) != (i == 2) {
			t.Errorf("%s: %v, given %v", topology.Entities[i].Path, o.SupportOrdering, o.Admin.SupportOrdering)
		}
		if (o.EnableBatchedOperations != nil) != (i == 2) {
			t.Errorf("%s: EnableBatchedOperations %v", topology.Entities[i].Path, o.EnableBatchedOperations)
		}
	}
}

func TestConstantFiltersKeepTheirKind(t *testing.T) {
	topology, _ := parse(t, wrap(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [
		{"Name": "a", "Properties": {"FilterType": "True"}}, {"Name": "b", "Properties": {"FilterType": "FalseFilter"}},
		{"Name": "c", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1"}}}]}]}]`), ProfileRelaxed)
	rules := topology.Entities[0].Topic.Subscriptions[0].Rules
	if !rules[0].IsTrue() || !rules[1].IsFalse() || rules[2].IsTrue() {
		t.Errorf("got %+v", rules)
	}
}
