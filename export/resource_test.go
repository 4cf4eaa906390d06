package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// whole is a namespace with what Resource Manager knows of it.
func whole(t *testing.T) *Namespace {
	t.Helper()
	n, err := Of("shop-bus", emulator.ProfileStandard, []emulator.EntityConfig{
		{Path: "orders", Queue: &emulator.QueueOptions{LockDuration: 30 * time.Second, MaxDeliveryCount: 3, RequiresSession: true}},
		{Path: "a/b", Queue: &emulator.QueueOptions{ForwardTo: "orders"}},
		{Path: "events", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{
			{Name: "large", Rules: []emulator.RuleOptions{{Name: "amount", SQL: "amount > 1000 AND owner = 'it''s $me'", Action: "SET a = 1"}}},
			{Name: "eu", Rules: []emulator.RuleOptions{{Name: "region", Correlation: &emulator.CorrelationFilter{Label: new("order")}}}},
			{Name: "all", Rules: []emulator.RuleOptions{{Name: "$Default", SQL: "1=1", Constant: true}}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const id = "/subscriptions/s/resourceGroups/shop/providers/Microsoft.ServiceBus/namespaces/shop-bus"
	role := func(name, scope, entity string) Role {
		return Role{Name: name, Scope: id + scope, Entity: entity, Role: "Azure Service Bus Data Sender",
			RoleID: "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39", Principal: "aaaaaaaa-0000-4000-8000-000000000001", PrincipalType: "ServicePrincipal"}
	}
	n.Resource = &Resource{
		ID: id, Group: "shop", Location: "westeurope", SKU: "Premium", Capacity: 2, KeysAreOff: true, System: true,
		Tags: map[string]string{"env": "dev", "cost center": "a'b"}, Identities: []string{"/subscriptions/s/me"},
		Access: []Access{{"RootManageSharedAccessKey", []string{"Listen", "Manage", "Send"}}, {"app", []string{"Send"}}},
		Roles: []Role{
			role("a0000000-0000-4000-8000-00000000000a", "", ""), role("b0000000-0000-4000-8000-00000000000b", "/queues/a~b", "a/b"),
			role("c0000000-0000-4000-8000-00000000000c", "/topics/events/subscriptions/eu", "events/Subscriptions/eu"),
		},
	}
	other := &n.Resource.Roles[2] // a role that is not known by name
	other.Role, other.RoleID = "e0000000-0000-4000-8000-00000000000e", "e0000000-0000-4000-8000-00000000000e"
	return n
}

func TestGoldenFormatsOfAWholeNamespace(t *testing.T) {
	for name, f := range map[string]Format{"whole.bicep": FormatBicep, "whole.tf": FormatTerraform, "whole.sh": FormatAz} {
		data, warnings, err := Write(whole(t), f)
		if about := strings.Join(warnings, "\n"); err != nil || strings.Contains(about, "events/large") != (f != FormatAz) {
			t.Fatalf("%s: %q, %v", name, warnings, err)
		}
		golden(t, name, data)
	}
}

// A shell takes the lines as they are meant: az, played by a script, gets each text as one word.
func TestLinesForAShell(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "az"), []byte("#!/bin/sh\nfor a; do printf '[%s]' \"$a\"; done; echo\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	data, _, _ := Write(whole(t), FormatAz)
	c := exec.Command("/bin/sh", "-e")
	c.Stdin = strings.NewReader(string(data))
	c.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		"[--tags][cost center=a'b][env=dev]\n", "[-n][a~b][--forward-to][orders]\n", "[--filter-sql-expression][amount > 1000 AND owner = 'it''s $me']",
		"[--label][order]\n", "[rule][delete]", "[-n][$Default]\n", "[--rights][Send]\n", "[--max-delivery-count][3]",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "RootManageSharedAccessKey") {
		t.Error("the lines make a policy that each namespace has")
	}
	if got := azText("@file"); got != "' @file'" {
		t.Errorf("a text that az would take for a file: %s", got)
	}
}
