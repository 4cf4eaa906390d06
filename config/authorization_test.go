package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"minibus/emulator"
)

const goodRule = `{"KeyName": "k", "PrimaryKey": "secret", "Rights": ["listen"]}`

func TestAuthorizationRulesOfNamespaceAndEntities(t *testing.T) {
	topology, report := parse(t, wrap(`"AuthorizationRules": [`+goodRule+`],
		"Queues": [{"Name": "q", "Properties": {"AuthorizationRules": [{"keyname": "a", "primarykey": "one", "secondarykey": "two",
			"rights": ["Manage", "Send", "Listen"], "ClaimType": "SharedAccessKey", "SecondaryKey": null}]}}],
		"Topics": [{"Name": "t", "Properties": {"AuthorizationRules": [`+goodRule+`]}}]`), ProfileRelaxed)
	k := []emulator.AuthorizationRule{{KeyName: "k", PrimaryKey: "secret", Rights: []string{"Listen"}}}
	if !reflect.DeepEqual(topology.AuthorizationRules, k) || !reflect.DeepEqual(topology.Entities[1].Topic.Admin.AuthorizationRules, k) {
		t.Errorf("namespace %+v, topic %+v", topology.AuthorizationRules, topology.Entities[1].Topic.Admin)
	}
	q := topology.Entities[0].Queue.Admin.AuthorizationRules
	if len(q) != 1 || q[0].PrimaryKey != "one" || strings.Join(q[0].Rights, ",") != "Manage,Send,Listen" {
		t.Errorf("queue %+v", q)
	}
	for _, f := range report.Findings {
		if strings.Contains(f.String(), "secret") || strings.Contains(f.String(), "unknown key") {
			t.Error(f)
		}
	}
}

// An absent list keeps a broker's rules, an empty one clears them (DEC-7), so the decoder must tell them apart.
func TestAbsentAndEmptyListsAreNotTheSame(t *testing.T) {
	for list, want := range map[string]int{"": -1, "null": -1, "[]": 0} {
		key := func(name string) string {
			if list == "" {
				return ""
			}
			return `, "` + name + `": ` + list
		}
		topology, report := parse(t, wrap(`"Queues": [{"Name": "q", "Properties": {"LockDuration": "PT1M"`+key("AuthorizationRules")+`}}],
			"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s"`+key("Rules")+`}]}]`+key("AuthorizationRules")), ProfileRelaxed)
		policies, rules := topology.Entities[0].Queue.Admin.AuthorizationRules, topology.Entities[1].Topic.Subscriptions[0].Rules
		if (policies == nil) != (want < 0) || (rules == nil) != (want < 0) || len(policies)+len(rules) != 0 {
			t.Errorf("%q: policies %#v, rules %#v", list, policies, rules)
		}
		if warned := strings.Contains(fmt.Sprint(report.Findings), "the default one, RootManageSharedAccessKey"); warned != (want == 0) {
			t.Errorf("%q: %v", list, report.Findings)
		}
	}
}

func TestAuthorizationRulesThatAreWrong(t *testing.T) {
	const at = "$.UserConfig.Namespaces[0].AuthorizationRules"
	for _, tt := range []struct{ rules, want string }{
		{`{"PrimaryKey": "secret", "Rights": ["Send"]}`, at + "[0]: found no KeyName"},
		{`{"KeyName": "", "PrimaryKey": "secret", "Rights": ["Send"]}`, at + "[0].KeyName: found a name of 0 characters"},
		{`{"KeyName": "a;b=c", "PrimaryKey": "secret", "Rights": ["Send"]}`, at + `[0].KeyName: The name of the authorization rule "a;b=c" has`},
		{`{"KeyName": "k", "PrimaryKey": "secret;", "Rights": ["Send"]}`, at + `[0].PrimaryKey: A key of the authorization rule "k" has`},
		{`{"KeyName": "k", "PrimaryKey": "secret", "SecondaryKey": "secret 2", "Rights": ["Send"]}`, at + `[0].SecondaryKey: A key of the authorization rule "k" has`},
		{`{"KeyName": 7, "PrimaryKey": "secret", "Rights": ["Send"]}`, at + "[0].KeyName: found the number 7"},
		{`{"KeyName": "k", "Rights": ["Send"]}`, at + "[0]: found no PrimaryKey"},
		{`{"KeyName": "k", "PrimaryKey": " ", "Rights": ["Send"]}`, at + "[0].PrimaryKey: found an empty key"},
		{`{"KeyName": "k", "PrimaryKey": 7770, "Rights": ["Send"]}`, at + "[0].PrimaryKey: found something else than text"},
		{`{"KeyName": "k", "PrimaryKey": "secret"}`, at + "[0]: found no Rights"},
		{`{"KeyName": "k", "PrimaryKey": "secret", "Rights": []}`, at + "[0].Rights: found no right"},
		{`{"KeyName": "k", "PrimaryKey": "secret", "Rights": "Send"}`, at + `[0].Rights: found "Send"; allowed: an array`},
		{`{"KeyName": "k", "PrimaryKey": "secret", "Rights": ["Read"]}`, at + `[0].Rights[0]: found "Read"; allowed: Manage, Send, Listen`},
		{`{"KeyName": "k", "PrimaryKey": "secret", "Rights": ["Manage"]}`, at + "[0].Rights: found Manage without Send and Listen"},
		{goodRule + "," + strings.Replace(goodRule, `"k"`, `"K"`, 1), at + `[1].KeyName: found the authorization rule "K" a second time`},
		{`7`, at + "[0]: found the number 7; allowed: an object"},
		{`{"KeyName": "k", "PrimaryKey": secret77, "Rights": ["Send"]}`, at + "[0].PrimaryKey: found no text in double quotes"},
	} {
		_, report := Parse("c.json", []byte(wrap(`"AuthorizationRules": [`+tt.rules+`]`)), ProfileRelaxed)
		err := fmt.Sprint(report.Err())
		if !strings.Contains(err, tt.want) || strings.Contains(err, "secret") || strings.Contains(err, "777") {
			t.Errorf("%s: %s", tt.rules, err)
		}
	}
	many := strings.Repeat(goodRule+",", 13)
	if _, report := Parse("c.json", []byte(wrap(`"AuthorizationRules": [`+many+`]`)), ProfileRelaxed); !strings.Contains(fmt.Sprint(report.Err()), "found 13 authorization rules") {
		t.Error(report.Err())
	}
}
