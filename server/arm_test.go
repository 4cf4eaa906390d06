package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/config"
	"minibus/internal/sas"
)

// The ids of what Resource Manager has in the tests.
const (
	armGroup   = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/minibus"
	armDefault = armGroup + "/providers/Microsoft.ServiceBus/namespaces/sbemulatorns"
)

// manage does a request to Resource Manager, past the token, and returns the answer.
func (a *Server) manage(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, "http://localhost:5300"+path+"?api-version=2024-01-01", strings.NewReader(body))
	a.arm.Serve(w, r, "http://localhost:5300", "")
	if w.Code >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	var answer map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &answer) // some have none
	return answer
}

// opens reports whether a key of a policy opens a namespace or, with a path, an entity.
func (a *Server) opens(t *testing.T, namespace, entity, policy string, key any) bool {
	t.Helper()
	ns, err := a.broker.Namespace(namespace)
	if err != nil {
		t.Fatal(err)
	}
	token := by("localhost", policy, key.(string), time.Hour)(entity)
	_, err = a.access()(ns).Verify(token, sas.Resource{Path: entity, Entity: entity}, time.Now())
	return err == nil
}

// TestKeysOfResourceManagerCount at once, on each level, in their namespace only, and after a restart.
func TestKeysOfResourceManagerCount(t *testing.T) {
	c := Config{NoNetwork: true, Settings: config.Settings{Auth: config.AuthSAS, RootKey: "root", Data: filepath.Join(t.TempDir(), "a.db")}}
	a, err := start(t, c)
	if err != nil {
		t.Fatal(err)
	}
	const orders = armGroup + "/providers/Microsoft.ServiceBus/namespaces/orders"
	a.manage(t, "PUT", orders, `{"location":"local"}`)
	type made struct {
		namespace, entity string
		primary, second   any
	}
	var all []made
	for _, at := range []struct{ id, namespace, entity string }{
		{armDefault, "sbemulatorns", ""}, {orders, "orders", ""}, {orders + "/queues/q", "orders", "q"}, {orders + "/topics/t", "orders", "t"},
	} {
		if at.entity != "" {
			a.manage(t, "PUT", at.id, `{}`)
		}
		rule := at.id + "/authorizationRules/r"
		a.manage(t, "PUT", rule, `{"properties":{"rights":["Send"]}}`)
		old := a.manage(t, "POST", rule+"/listKeys", "")
		if !a.opens(t, at.namespace, at.entity, "r", old["primaryKey"]) {
			t.Errorf("%s: a new key does not count", rule)
		}
		keys := a.manage(t, "POST", rule+"/regenerateKeys", `{"keyType":"PrimaryKey"}`)
		if a.opens(t, at.namespace, at.entity, "r", old["primaryKey"]) || !a.opens(t, at.namespace, at.entity, "r", keys["primaryKey"]) {
			t.Errorf("%s: the old key counts, or the new one does not", rule)
		}
		all = append(all, made{at.namespace, at.entity, keys["primaryKey"], keys["secondaryKey"]})
	}
	check := func(when string) {
		t.Helper()
		for _, m := range all {
			for _, other := range []string{"sbemulatorns", "orders"} {
				for _, key := range []any{m.primary, m.second} {
					if got := a.opens(t, other, m.entity, "r", key); got != (other == m.namespace) {
						t.Errorf("%s the key of %s/%s opens %s: %v", when, m.namespace, m.entity, other, got)
					}
				}
			}
		}
	}
	check("at once")
	root := a.manage(t, "POST", armDefault+"/authorizationRules/RootManageSharedAccessKey/regenerateKeys", `{"keyType":"PrimaryKey"}`)["primaryKey"]
	if !a.opens(t, "sbemulatorns", "", sas.DefaultKeyName, root) || a.opens(t, "sbemulatorns", "", sas.DefaultKeyName, "root") {
		t.Error("the new root key does not count")
	}
	if got := a.ConnectionString(); !strings.Contains(got, root.(string)) {
		t.Errorf("the connection string: %s", got)
	}
	if text, err := a.WriteConfiguration(a.broker.Default(), true); err != nil || !strings.Contains(string(text), root.(string)) {
		t.Errorf("the key is not in the configuration: %v\n%s", err, text)
	}
	again := func(c Config) {
		t.Helper()
		if err := a.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if a, err = start(t, c); err != nil {
			t.Fatal(err)
		}
	}
	again(c)
	check("after a restart")
	if a.opens(t, "sbemulatorns", "", sas.DefaultKeyName, root) || !a.opens(t, "sbemulatorns", "", sas.DefaultKeyName, "root") {
		t.Error("--root-key does not count after a restart")
	}
	c.Topology = topologyOf(t, `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "AuthorizationRules": [{"KeyName": "only", "PrimaryKey": "k", "Rights": ["Send"]}]}]}}`)
	again(c)
	if a.opens(t, "sbemulatorns", "", "r", all[0].primary) || !a.opens(t, "sbemulatorns", "", "only", "k") || !a.opens(t, "orders", "", "r", all[1].primary) {
		t.Error("the list of a Config.json does not replace that of its namespace, or it replaces another one's")
	}
}

// TestRootKeyChangedByResourceManagerStays, if no setting names one.
func TestRootKeyChangedByResourceManagerStays(t *testing.T) {
	c := Config{NoNetwork: true, Settings: config.Settings{Data: filepath.Join(t.TempDir(), "a.db")}}
	a, err := start(t, c)
	if err != nil {
		t.Fatal(err)
	}
	keys := a.manage(t, "POST", armDefault+"/authorizationRules/RootManageSharedAccessKey/regenerateKeys", `{"keyType":"PrimaryKey"}`)
	if err := a.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.Settings.Auth = config.AuthSAS
	if a, err = start(t, c); err != nil {
		t.Fatal(err)
	}
	if !a.opens(t, "sbemulatorns", "", sas.DefaultKeyName, keys["primaryKey"]) || a.opens(t, "sbemulatorns", "", sas.DefaultKeyName, sas.DefaultKey) {
		t.Error("the key that everybody knows is back")
	}
}

func TestConnectionStringsOfResourceManager(t *testing.T) {
	for kind, want := range map[string]string{
		"local":         "Endpoint=sb://localhost:1;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true",
		"cloud":         "Endpoint=sb://sbemulatorns.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE",
		"bus.test:5671": "Endpoint=sb://sbemulatorns.bus.test:5671/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE",
	} {
		a, err := start(t, Config{NoNetwork: true, Settings: config.Settings{Ephemeral: true, ARMStrings: kind}})
		if err != nil {
			t.Fatal(err)
		}
		keys := a.manage(t, "POST", armDefault+"/authorizationRules/RootManageSharedAccessKey/listKeys", "")
		if got := keys["primaryConnectionString"]; got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
		c, err := sas.ParseConnection(want)
		if err != nil {
			t.Fatal(err)
		}
		if ns, err := a.broker.Find(c.Host(), 0); err != nil || ns != a.broker.Default() {
			t.Errorf("%s: the host of its connection string is none: %v", kind, err)
		}
	}
}

// TestKeysOfANamespaceWithoutLocalAuth open nothing, until its property is changed back.
func TestKeysOfANamespaceWithoutLocalAuth(t *testing.T) {
	a, err := start(t, Config{NoNetwork: true, Settings: config.Settings{Auth: config.AuthSAS, Ephemeral: true, RootKey: "root"}})
	if err != nil {
		t.Fatal(err)
	}
	const orders = armGroup + "/providers/Microsoft.ServiceBus/namespaces/orders"
	for _, off := range []bool{false, true, false} {
		a.manage(t, "PUT", orders, fmt.Sprintf(`{"location":"local","properties":{"disableLocalAuth":%v}}`, off))
		a.manage(t, "PUT", orders+"/queues/q", `{}`)
		a.manage(t, "PUT", orders+"/queues/q/authorizationRules/r", `{"properties":{"rights":["Send"]}}`)
		for _, rule := range [][2]string{{"", sas.DefaultKeyName}, {"q", "r"}} {
			id := orders + "/authorizationRules/" + rule[1]
			if rule[0] != "" {
				id = orders + "/queues/q/authorizationRules/" + rule[1]
			}
			if got := a.opens(t, "orders", rule[0], rule[1], a.manage(t, "POST", id+"/listKeys", "")["primaryKey"]); got == off {
				t.Errorf("disableLocalAuth is %v and %s opens %q: %v", off, rule[1], rule[0], got)
			}
		}
		if !a.opens(t, "sbemulatorns", "", sas.DefaultKeyName, "root") {
			t.Error("the keys of another namespace count no more")
		}
	}
}

// TestResourceManagerCanBeSwitchedOff, by its own flag or with the control API.
func TestResourceManagerCanBeSwitchedOff(t *testing.T) {
	for _, s := range []config.Settings{{ARM: "off"}, {Control: "off"}} {
		a := pageServer(t, s)
		status, body := askRaw(t, a, "GET /subscriptions?api-version=2022-12-01", "Host: localhost\r\nAuthorization: Bearer x\r\n", "")
		if status != 400 || !strings.Contains(body, "--arm off") {
			t.Errorf("%+v: %d %s", s, status, body)
		}
	}
}

// TestTheTierOfANamespace is the same in both administrations, whatever the limits.
func TestTheTierOfANamespace(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff, NamespacePorts: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	const orders = armGroup + "/providers/Microsoft.ServiceBus/namespaces/orders"
	for tier, units := range map[string]string{`"Premium", "capacity": 2`: "<MessagingUnits>2<", `"Basic"`: ""} {
		a.manage(t, "PUT", orders, `{"location":"local", "sku": {"name": `+tier+`}}`)
		name, _, _ := strings.Cut(tier[1:], `"`)
		status, text := get(t, local(a.Ports().Namespaces["orders"], "/$namespaceinfo?api-version=2021-05"))
		if status != 200 || !strings.Contains(text, "<MessagingSKU>"+name+"<") || strings.Contains(text, "MessagingUnits") != (units != "") || !strings.Contains(text, units) {
			t.Errorf("%s: %d %s", tier, status, text)
		}
		a.manage(t, "DELETE", orders, "")
	}
}

// TestNamespacesOfResourceManagerHavePorts of their own, at which their connection strings reach them.
func TestNamespacesOfResourceManagerHavePorts(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff, NamespacePorts: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	const orders = armGroup + "/providers/Microsoft.ServiceBus/namespaces/orders"
	made := a.manage(t, "PUT", orders, `{"location":"local"}`)
	served := a.Ports().Namespaces["orders"]
	if want := fmt.Sprintf("https://localhost:%d/", served); served == 0 || made["properties"].(map[string]any)["serviceBusEndpoint"] != want {
		t.Errorf("%v, want %s", made, want)
	}
	keys := a.manage(t, "POST", orders+"/authorizationRules/RootManageSharedAccessKey/listKeys", "")
	if got, want := keys["primaryConnectionString"].(string), fmt.Sprintf("Endpoint=sb://localhost:%d;", served); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if status, _ := get(t, local(served, "/health")); status != 200 {
		t.Errorf("%d", status)
	}
	a.manage(t, "PATCH", orders, `{"tags":{"a":"b"}}`)
	if err := a.DeleteNamespace("orders"); err != nil { // by another API, which leaves nothing of it either
		t.Fatal(err)
	}
	if all, err := a.store.Documents().All(); err != nil || len(all) > 0 {
		t.Errorf("left are %q, %v", all, err)
	}
	if len(a.Ports().Namespaces) > 0 {
		t.Errorf("left are %v", a.Ports().Namespaces)
	}
}
