package config

import (
	"fmt"
	"strings"
	"testing"
)

// The exact lines of errors, file position included. Each text is one line unless it says otherwise.
func TestErrorsAreExact(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"range", `{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "a"}, {"Name": "b"}, {"Name": "c", "Properties": {
  "LockDuration": "PT10M"}}]}]}}`,
			`Config.json:2:19: error: $.UserConfig.Namespaces[0].Queues[2].Properties.LockDuration: found "PT10M"; allowed: PT0.001S to PT5M`},
		{"window", queueProps(`"DuplicateDetectionHistoryTimeWindow": "P8D"`), `found "P8D"; allowed: PT5S to P7D`},
		{"no duration", queueProps(`"LockDuration": "00:01:30"`), `found "00:01:30"; allowed: an ISO 8601 duration such as PT1M; PT0.001S to PT5M; write PT1M30S`},
		{"Go duration", queueProps(`"LockDuration": "30s"`), `write PT30S`},
		{"number for duration", queueProps(`"LockDuration": 60`), `found the number 60; allowed: an ISO 8601 duration`},
		{"negative duration", queueProps(`"LockDuration": "-PT1M"`), `found "-PT1M"; allowed: an ISO 8601 duration`},
		{"zero lifetime", queueProps(`"DefaultMessageTimeToLive": "PT0S"`), `found "PT0S"; allowed: PT0.001S or more`},
		{"lifetime below a millisecond", queueProps(`"DefaultMessageTimeToLive": "PT0.0009999S"`), `found "PT0.0009999S"; allowed: PT0.001S or more`},
		{"lock below a millisecond", queueProps(`"LockDuration": "PT0.0000001S"`), `found "PT0.0000001S"; allowed: PT0.001S to PT5M`},
		{"for ever locked", queueProps(`"LockDuration": "P10675199D"`), `found "P10675199D"; allowed: PT0.001S to PT5M`},
		{"quoted number", queueProps(`"MaxDeliveryCount": "3"`), `found "3"; allowed: a whole number from 1 to 2147483647; write it without quotes`},
		{"fraction", queueProps(`"MaxDeliveryCount": 1.5`), `found the number 1.5; allowed: a whole number`},
		{"zero", queueProps(`"MaxDeliveryCount": 0`), `found the number 0; allowed: a whole number from 1 to`},
		{"too large", queueProps(`"MaxDeliveryCount": 99999999999999999999`), `found the number 99999999999999999999; allowed`},
		{"quoted bool", queueProps(`"RequiresSession": "true"`), `found "true"; allowed: true or false; write it without quotes`},
		{"number for text", queueProps(`"ForwardTo": 1`), `found the number 1; allowed: text in double quotes`},
		{"status", queueProps(`"Status": "Closed"`), `found "Closed"; allowed: Active, Disabled, SendDisabled, ReceiveDisabled`},
		{"target", wrap(`"Queues": [{"Name": "orders", "Properties": {"ForwardTo": "invoice"}}, {"Name": "invoices"}]`),
			`Queues[0].Properties.ForwardTo: found the unknown target "invoice"; allowed: a queue or topic of this file; did you mean invoices?`},
		{"subscription target", wrap(`"Queues": [{"Name": "q", "Properties": {"ForwardTo": "t/Subscriptions/s"}}], "Topics": [{"Name": "t", "Subscriptions": [{"Name": "s"}]}]`),
			`found the unknown target "t/Subscriptions/s"`},
		{"session and forward", wrap(`"Queues": [{"Name": "q", "Properties": {"RequiresSession": true, "ForwardTo": "q"}}]`),
			`found ForwardTo together with RequiresSession; allowed: one of the two`},
		{"duplicate", wrap(`"Queues": [{"Name": "Orders"}], "Topics": [{"Name": "oRDERS"}]`),
			`Topics[0].Name: found the name "oRDERS" a second time (first on line 1)`},
		{"duplicate subscription", wrap(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s"}, {"Name": "S"}]}]`), `found the subscription "S" a second time`},
		{"duplicate rule", wrap(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [{"Name": "r", "Properties": {"FilterType": "True"}}, {"Name": "R", "Properties": {"FilterType": "False"}}]}]}]`),
			`found the rule "R" a second time`},
		{"a subscription's path", wrap(`"Queues": [{"Name": "t/subscriptions/s"}]`), `Queues[0].Name: found the path of a subscription ("t/subscriptions/s")`},
		{"below a subscription", wrap(`"Topics": [{"Name": "t/Subscriptions/s/Rules/r"}]`), `Topics[0].Name: found the path of a subscription`},
		{"no name", wrap(`"Queues": [{}]`), `Queues[0]: found no Name`},
		{"bad name", wrap(`"Queues": [{"Name": "a b"}]`), `found the character ' ' in the name ("a b")`},
		{"filter type", rule(`"FilterType": "Boolean"`), `found "Boolean"; allowed: "Sql" or "Correlation"`},
		{"no filter type", rule(``), `found no FilterType`},
		{"sql without sql", rule(`"FilterType": "Sql"`), `found FilterType Sql without SqlFilter; add "SqlFilter"`},
		{"empty sql", rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": " "}`), `found an empty expression`},
		{"long sql", sqlRule("a = '" + strings.Repeat("x", 17_000) + "'"), `Rules[0].Properties.SqlFilter.SqlExpression: found an expression that can't be used. the SQL expression is longer`},
		{"bad sql", "{\n" + sqlRule("color = = 'red'")[1:], `Config.json:2:243: error: $.UserConfig.Namespaces[0].Topics[0].Subscriptions[0].Rules[0].Properties.SqlFilter.SqlExpression: ` +
			`found an expression that can't be used. There was an error parsing the SQL expression. [Token line=1, column=8, Token in error= =, Additional details= syntax error, unexpected '='`},
		{"bad sql in the short form", rule(`"FilterType": "Sql", "SqlExpression": "color"`), `Properties.SqlExpression: found an expression that can't be used. There was an error parsing`},
		{"bad action", rule(`"FilterType": "True", "Action": {"SqlExpression": "UPDATE a = 1"}`), `Action.SqlExpression: found an expression that can't be used. There was an error parsing the SQL expression. [Token line=1, column=0, Token in error= UPDATE,`},
		{"parameter", sqlRule("a = @p"), `found an expression that can't be used`},
		{"long token", sqlRule("a = '" + strings.Repeat("x\\n", 1000)), `x x , Additional details= the string has no closing quote]`},
		{"correlation without", rule(`"FilterType": "Correlation"`), `without CorrelationFilter`},
		{"nested property", rule(`"FilterType": "Correlation", "CorrelationFilter": {"Properties": {"a b": []}}`), `CorrelationFilter.Properties["a b"]: found an array; allowed: text`},
		{"property of no type", typedProperty(`{"Value": 1}`), `Properties.at: found an object without Type or Value; allowed: an object such as {"Type": "dateTime", "Value"`},
		{"property without a value", typedProperty(`{"Type": "int", "Value": null}`), `Properties.at: found an object without Type or Value`},
		{"unknown type", typedProperty(`{"Type": "datetime", "Value": "2026-11-22"}`), `Properties.at.Type: found "datetime"; allowed: string, boolean, int, long, double, float, decimal, dateTime, ` +
			`duration, guid, byte, short, unsignedByte, unsignedShort, unsignedInt, unsignedLong; did you mean dateTime?`},
		{"number for a type", typedProperty(`{"Type": 1, "Value": 1}`), `Properties.at.Type: found the number 1; allowed: string, `},
		{"bad time", "{\n" + typedProperty(`{"Type": "dateTime", "Value": "22.11.2026"}`)[1:], `Config.json:2:293: error: $.UserConfig.Namespaces[0].Topics[0].Subscriptions[0].Rules[0].Properties.` +
			`CorrelationFilter.Properties.at.Value: found "22.11.2026"; allowed: a value of the type dateTime, such as 2026-11-22T10:00:00.1234567Z`},
		{"bad span", typedProperty(`{"Type": "duration", "Value": "1h"}`), `at.Value: found "1h"; allowed: a value of the type duration, such as PT1.5S`},
		{"too large an int", typedProperty(`{"Type": "int", "Value": 2147483648}`), `at.Value: found the number 2147483648; allowed: a value of the type int, such as -7`},
		{"half an int", typedProperty(`{"Type": "int", "Value": 1.0}`), `at.Value: found the number 1.0; allowed: a value of the type int`},
		{"negative", typedProperty(`{"Type": "unsignedLong", "Value": -1}`), `at.Value: found the number -1; allowed: a value of the type unsignedLong, such as 7`},
		{"bad guid", typedProperty(`{"Type": "guid", "Value": "6ba7b810"}`), `at.Value: found "6ba7b810"; allowed: a value of the type guid`},
		{"an array for a value", typedProperty(`{"Type": "string", "Value": []}`), `at.Value: found an array; allowed: a value of the type string, such as blue`},
		{"no parameters", rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1", "Parameters": []}`), `SqlFilter.Parameters: found an array; allowed: an object`},
		{"another parameter", rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a = @a", "Parameters": {"@b": 1}}`), `SqlExpression: found an expression that can't be used`},
		{"another parameter of an action", rule(`"FilterType": "True", "Action": {"SqlExpression": "SET a = @a", "Parameters": {"@b": 1}}`), `SqlExpression: found an expression that can't be used`},
		{"no UserConfig", `{"Queues": []}`, `$: found no UserConfig; put everything in one object`},
		{"object for array", `{"UserConfig": {"Namespaces": {}}}`, `found an object; allowed: an array, [ ... ]; put [ ] around it`},
		{"array for object", `[]`, `$: found an array; allowed: an object`},
		{"message size", queueProps(`"MaxMessageSizeInKilobytes": 102401`), `allowed: a whole number from 1 to 102400`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			topology, report := Parse("Config.json", []byte(tt.text), ProfileRelaxed)
			err := report.Err()
			if topology != nil || err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// typedProperty is a document with a correlation filter on the property at.
func typedProperty(value string) string {
	return rule(`"FilterType": "Correlation", "CorrelationFilter": {"Properties": {"at": ` + value + `}}`)
}

func TestSyntaxErrorsAreExact(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `Config.json:1:1: error: $: the file is empty`},
		{"  \n ", `Config.json:2:2: error: $: the file is empty`},
		{"{\n  \"a\": 1\n  \"b\": 2\n}", `Config.json:3:3: error: $: found '"', a comma or "}" belongs here`},
		{`{"a" 1}`, `Config.json:1:6: error: $.a: found '1', a colon belongs behind the key "a"`},
		{`{a: 1}`, `Config.json:1:2: error: $: found 'a', a key in double quotes or } belongs here`},
		{`{"a": [1 2]}`, `Config.json:1:10: error: $.a: found '2', a comma or "]" belongs here`},
		{`{"a": yes}`, `found "yes" without quotes`},
		{`{"a": -}`, `found "-", which is not a number`},
		{`{"a": 'x'}`, `found '\'', a value belongs here`},
		{`{"a": "x`, `Config.json:1:7: error: $.a: found a string that never ends`},
		{"{\"a\": \"x\n\"}", `found a string that never ends`},
		{`{"a": "\x"}`, `found an unknown escape, a backslash before 'x'`},
		{`{"a": "C:\orders"}`, `found an unknown escape, a backslash before 'o' (a backslash itself is written \\)`},
		{`{"a": "\u12"}`, `found a broken \u escape`},
		{`{"a": 1} x`, `found 'x' behind the end of the document`},
		{`{"a": 1`, `found the end of the file`},
		{`{ /* `, `Config.json:1:3: error: $: found a comment that never ends`},
		{`{ / }`, `a comment starts with // or /*`},
		{strings.Repeat("[", 100), `found more than 64 levels of nesting`},
		{"\r\r\n{ä", `Config.json:3:2: error`}, // the CR alone and the CRLF are a line each
		{"{\"äöü\": x}", `Config.json:1:9: error: $["äöü"]`},
	}
	for _, tt := range tests {
		_, report := Parse("Config.json", []byte(tt.text), ProfileRelaxed)
		if err := report.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestSeveralErrorsAreReportedTogetherAndBounded(t *testing.T) {
	var queues []string
	for i := range 100 {
		queues = append(queues, fmt.Sprintf(`{"Name": "q%d", "Properties": {"LockDuration": "PT1H"}}`, i))
	}
	_, report := Parse("Config.json", []byte(wrap(`"Queues": [`+strings.Join(queues, ",")+`]`)), ProfileRelaxed)
	lines := strings.Split(report.Err().Error(), "\n")
	if len(lines) != maxFindings+1 || lines[maxFindings] != "and 75 more errors" {
		t.Errorf("%d lines, the last: %s", len(lines), lines[len(lines)-1])
	}
	if report.Count(Error) != 100 || report.Omitted != 75 {
		t.Errorf("count %d, omitted %d", report.Count(Error), report.Omitted)
	}
}

func TestFoundTextIsClipped(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	_, report := Parse("Config.json", []byte(queueProps(`"LockDuration": "`+long+`", "`+long+`": 1`)), ProfileRelaxed)
	for _, f := range report.Findings {
		if len(f.String()) > 700 {
			t.Errorf("%d bytes: %s", len(f.String()), f)
		}
	}
}
