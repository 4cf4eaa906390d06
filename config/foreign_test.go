package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// TestDEC5_KeysThatMicrosoftsEmulatorIgnoresStopNothing: a file that it takes starts here, with a warning that says
// what is taken instead.
func TestDEC5_KeysThatMicrosoftsEmulatorIgnoresStopNothing(t *testing.T) {
	queue := func(o emulator.QueueOptions) emulator.QueueOptions {
		o.LockDuration, o.MaxDeliveryCount, o.DefaultMessageTimeToLive = time.Minute, 3, time.Hour
		o.DuplicateDetectionWindow = 20 * time.Second
		return o
	}
	yes, no := true, false
	for _, tt := range []struct {
		property, warning string
		want              emulator.QueueOptions
	}{
		{`"Status": "Enabled"`, `Properties.Status: found "Enabled"; allowed: Active, Disabled, SendDisabled, ReceiveDisabled; Active is taken instead`, emulator.QueueOptions{Status: emulator.StatusActive}},
		{`"Status": "Unknown"`, `Active is taken instead`, emulator.QueueOptions{Status: emulator.StatusActive}},
		{`"Status": true`, `Properties.Status: found true; allowed: Active, Disabled, SendDisabled, ReceiveDisabled; the default is taken instead`, emulator.QueueOptions{}},
		{`"AutoDeleteOnIdle": "PT1M"`, `Properties.AutoDeleteOnIdle: found "PT1M"; allowed: PT5M or more; PT5M is taken instead`,
			emulator.QueueOptions{AutoDeleteOnIdle: 5 * time.Minute}},
		{`"AutoDeleteOnIdle": ""`, `found ""; allowed: an ISO 8601 duration such as PT1M; PT5M or more; the default is taken instead`, emulator.QueueOptions{}},
		{`"AutoDeleteOnIdle": "01:00:00"`, `found "01:00:00"; allowed: an ISO 8601 duration such as PT1M; PT5M or more; PT1H is taken instead`,
			emulator.QueueOptions{AutoDeleteOnIdle: time.Hour}},
		{`"AutoDeleteOnIdle": "00:01:00"`, `PT5M is taken instead`, emulator.QueueOptions{AutoDeleteOnIdle: 5 * time.Minute}},
		{`"AutoDeleteOnIdle": 300`, `found the number 300; allowed: an ISO 8601 duration such as PT1M; PT5M or more; the default`, emulator.QueueOptions{}},
		{`"UserMetadata": {}`, `Properties.UserMetadata: found an object; allowed: text in double quotes; the default is taken instead`, emulator.QueueOptions{}},
		{`"EnablePartitioning": "True"`, `Properties.EnablePartitioning: found "True"; allowed: true or false; true is taken instead`, emulator.QueueOptions{EnablePartitioning: true}},
		{`"EnablePartitioning": "no"`, `found "no"; allowed: true or false; the default is taken instead`, emulator.QueueOptions{}},
		{`"EnableBatchedOperations": "false"`, `false is taken instead`, emulator.QueueOptions{EnableBatchedOperations: &no}},
		{`"EnableBatchedOperations": 1`, `found the number 1; allowed: true or false; the default is taken instead`, emulator.QueueOptions{}},
		{`"MaxSizeInMegabytes": "1024"`, `found "1024"; allowed: a whole number from 1 to`, emulator.QueueOptions{MaxSizeInMegabytes: 1024}},
		{`"MaxSizeInMegabytes": " 2048 "`, `2048 is taken instead`, emulator.QueueOptions{MaxSizeInMegabytes: 2048}},
		{`"MaxSizeInMegabytes": "1 GB"`, `the default is taken instead`, emulator.QueueOptions{}},
		{`"MaxMessageSizeInKilobytes": "102401"`, `found "102401"; allowed: a whole number from 1 to 102400; the default is taken instead`, emulator.QueueOptions{}},
		{`"MaxMessageSizeInKilobytes": []`, `found an array; allowed`, emulator.QueueOptions{}},
		{`"AuthorizationRules": [{"Name": "app", "Rights": ["Listen"]}, {"name": "x", "properties": {"rights": []}}]`,
			`Properties.AuthorizationRules[0]: found an authorization rule without KeyName and keys; it is left out`, emulator.QueueOptions{}},
		{`"AuthorizationRules": {"app": []}`, `Properties.AuthorizationRules: found an object; allowed: an array, [ ... ]; the default is taken instead`, emulator.QueueOptions{}},
		{`"AuthorizationRules": [{"Name": "app"}, ` + goodRule + `]`, `AuthorizationRules[0]: found an authorization rule without`, emulator.QueueOptions{
			Admin: emulator.Admin{AuthorizationRules: []emulator.AuthorizationRule{{KeyName: "k", PrimaryKey: "secret", Rights: []string{"Listen"}}}}}},
	} {
		text := queueProps(tt.property)
		topology, report := parse(t, text, ProfileRelaxed)
		if got := *topology.Entities[0].Queue; !reflect.DeepEqual(got, queue(tt.want)) {
			t.Errorf("%s: %+v", tt.property, got)
		}
		wantWarning(t, tt.property, report, tt.warning)
		if !strings.Contains(tt.property, "PT1M") && !strings.Contains(tt.property, "[{") {
			continue
		}
		if accepted(text, ProfileStandard) {
			t.Errorf("%s: accepted by another profile", tt.property)
		}
		if _, report := Assemble([]Part{{From: "p", JSON: []byte(text)}}, ProfileRelaxed, nil); report.Count(Error) == 0 {
			t.Errorf("%s: a program may write it", tt.property)
		}
	}
	topology, report := parse(t, wrap(`"AuthorizationRules": [{"Name": "app", "Rights": ["Send"]}], "Aliases": "bus", "Port": "5701",
		"Topics": [{"Name": "t", "Properties": {"SupportOrdering": "false", "Status": "Enabled"}, "Subscriptions": [{"Name": "s",
			"Properties": {"DeadLetteringOnFilterEvaluationExceptions": "true", "UserMetadata": []}}]}]`), ProfileRelaxed)
	if topology.AuthorizationRules != nil || topology.Aliases != nil || topology.Port != 5701 {
		t.Errorf("%+v", topology)
	}
	if o := topology.Entities[0].Topic; o.SupportOrdering || !reflect.DeepEqual(o.Subscriptions[0].DeadLetteringOnFilterErrors, &yes) {
		t.Errorf("%+v", o)
	}
	for _, want := range []string{
		"$.UserConfig.Namespaces[0].AuthorizationRules[0]: found an authorization rule without KeyName and keys; it is left out",
		`$.UserConfig.Namespaces[0].Aliases: found "bus"; allowed: an array`, `$.UserConfig.Namespaces[0].Port: found "5701"`,
		`Topics[0].Properties.SupportOrdering: found "false"`, `Topics[0].Properties.Status: found "Enabled"`,
		`Subscriptions[0].Properties.DeadLetteringOnFilterEvaluationExceptions: found "true"`, `Subscriptions[0].Properties.UserMetadata: found an array`,
	} {
		wantWarning(t, "a namespace", report, want)
	}
	for text, want := range map[string]string{`"Port": {}`: "Port: found an object", `"Port": "amqp"`: `Port: found "amqp"`,
		`"Aliases": [{"Name": "bus"}]`: "Aliases[0]: found no text; allowed: text in double quotes; it is left out"} {
		topology, report := parse(t, wrap(text), ProfileRelaxed)
		if topology.Port != 0 || topology.Aliases != nil {
			t.Errorf("%s: %+v", text, topology)
		}
		wantWarning(t, text, report, want)
	}
}

// wantWarning fails the test unless the report has a warning with that text, and says where it is.
func wantWarning(t *testing.T, what string, report *Report, want string) {
	t.Helper()
	for _, f := range report.Findings {
		if f.Severity == Warning && f.Line > 0 && strings.Contains(f.String(), want) {
			return
		}
	}
	t.Errorf("%s: %q is missing in %v", what, want, report.Findings)
}
