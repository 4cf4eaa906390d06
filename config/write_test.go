package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"minibus/emulator"
)

// TestWriteIsReadBack with the same entities, for the examples and for what is exported.
func TestWriteIsReadBack(t *testing.T) {
	files, err := filepath.Glob("examples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../export/testdata/azure.json", "../export/testdata/rich.json", "default.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, report := Parse(file, text, ProfileRelaxed)
		if first == nil {
			t.Fatal(report.Err())
		}
		written, err := Write(first.All(), emulator.ProfileRelaxed, true)
		if err != nil {
			t.Fatal(err)
		}
		second, report := Parse(file, written, ProfileRelaxed)
		if second == nil {
			t.Fatalf("%s: %v\n%s", file, report.Err(), written)
		}
		if report.Count(Warning) > 0 {
			t.Errorf("%s: %v", file, report.Findings)
		}
		again, err := Write(second.All(), emulator.ProfileRelaxed, true)
		if err != nil || string(again) != string(written) {
			t.Errorf("%s: written as\n%s\nthen as\n%s", file, written, again)
		}
		for i, one := range first.All() {
			other := second.All()[i]
			for j := range one.Entities {
				same(t, file, one.Entities[j], other.Entities[j])
			}
		}
	}
}

// same compares two entities by all of their settings.
func same(t *testing.T, what string, a, b emulator.EntityConfig) {
	t.Helper()
	if a.Queue != nil && b.Queue != nil {
		if !reflect.DeepEqual(a.Queue.Effective(0), b.Queue.Effective(0)) {
			t.Errorf("%s: %+v, then %+v", what, *a.Queue, *b.Queue)
		}
		return
	}
	if len(a.Topic.Subscriptions) != len(b.Topic.Subscriptions) || !reflect.DeepEqual(TopicProperties(*a.Topic, 0, true), TopicProperties(*b.Topic, 0, true)) {
		t.Errorf("%s: %+v, then %+v", what, *a.Topic, *b.Topic)
	}
	for i, s := range a.Topic.Subscriptions {
		o := b.Topic.Subscriptions[i]
		if o.Name != s.Name || !reflect.DeepEqual(SubscriptionProperties(s, 0), SubscriptionProperties(o, 0)) || !takesEverything(s.Rules) && !reflect.DeepEqual(s.Rules, o.Rules) {
			t.Errorf("%s: %+v, then %+v", what, s, o)
		}
	}
}

// TestJMS9_SubscriptionsOfClients keep their client and the selector, under a name that others can't have.
func TestJMS9_SubscriptionsOfClients(t *testing.T) {
	const file = `{"UserConfig":{"Namespaces":[{"Name":"ns","Topics":[{"Name":"t","Subscriptions":[
		{"Name":"audit$app:7$D","Properties":{"IsClientAffine":true,"ClientAffineProperties":{"ClientId":"app:7","IsShared":true}},
			"Rules":[{"Name":"$Default","Properties":{"FilterType":"Sql","SqlFilter":{"SqlExpression":"size BETWEEN 1 AND 5 AND urgent"}}}]},
		{"Name":"a.Class$Inner.method$$D"}]}]}]}}`
	first, report := Parse("f", []byte(file), ProfileRelaxed)
	if first == nil {
		t.Fatal(report.Err())
	}
	list := first.Entities[0].Topic.Subscriptions
	for i, want := range []emulator.ClientAffine{{ClientID: "app:7", Durable: true, Shared: true}, {Durable: true}} {
		if list[i].Client == nil || *list[i].Client != want {
			t.Errorf("%s: %+v, want %+v", list[i].Name, list[i].Client, want)
		}
	}
	written, err := Write(first.All(), emulator.ProfileRelaxed, true)
	if err != nil {
		t.Fatal(err)
	}
	second, report := Parse("f", written, ProfileRelaxed)
	if second == nil {
		t.Fatalf("%v\n%s", report.Err(), written)
	}
	same(t, "written and read", first.Entities[0], second.Entities[0])
	if got := second.Entities[0].Topic.Subscriptions; !reflect.DeepEqual(got[0].Client, list[0].Client) || !reflect.DeepEqual(got[1].Client, list[1].Client) {
		t.Errorf("written as\n%s", written)
	}
	for _, wrong := range []string{
		`"Name":"s$app$ND"`, `"Name":"s$a b$D"`, `"Name":"s$D"`, `"Name":"$app$D"`,
		`"Name":"s","Properties":{"ClientAffineProperties":{"ClientId":"app"}}`,
		`"Name":"s$app$D","Properties":{"ClientAffineProperties":{"ClientId":"other"}}`,
		`"Name":"s$app$D","Properties":{"ClientAffineProperties":{"IsDurable":false}}`,
		`"Name":"s$app$D","Rules":[{"Name":"r","Properties":{"FilterType":"Sql","SqlFilter":{"SqlExpression":"a BETWEEN 1 AND 2"}}}]`,
		`"Name":"s","Rules":[{"Name":"$Default","Properties":{"FilterType":"Sql","SqlFilter":{"SqlExpression":"a BETWEEN 1 AND 2"}}}]`,
	} {
		text := `{"UserConfig":{"Namespaces":[{"Name":"ns","Topics":[{"Name":"t","Subscriptions":[{` + wrong + `}]}]}]}}`
		if _, report := Parse("f", []byte(text), ProfileRelaxed); report.Count(Error) != 1 {
			t.Errorf("%s: %v", wrong, report.Findings)
		}
	}
}
