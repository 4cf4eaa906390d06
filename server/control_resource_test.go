package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"minibus/config"
	"minibus/internal/entra"
	"minibus/mgmt/control/api"
)

// askManager sends a request with any token, as clients of Resource Manager do.
func askManager(t *testing.T, method, address, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer any")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var b strings.Builder
	if err := res.Write(&b); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, b.String()
}

// TestResourceOfANamespace: what clients of Resource Manager made is shown, and goes into modules that make it, and no
// key is in either.
func TestResourceOfANamespace(t *testing.T) {
	topology := topologyOf(t, `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "orders", "Properties": {
		"AuthorizationRules": [{"KeyName": "till", "PrimaryKey": "key-of-the-till", "Rights": ["Send"]}]}}], "Topics": []}], "Logging": {"Type": "File"}}}`)
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff}, Topology: topology})
	if err != nil {
		t.Fatal(err)
	}
	const group = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/minibus"
	const namespace = group + "/providers/Microsoft.ServiceBus/namespaces/sbemulatorns"
	const role = "/providers/Microsoft.Authorization/roleAssignments/a0000000-0000-4000-8000-00000000000"
	const sender = `{"properties": {"roleDefinitionId": "/providers/Microsoft.Authorization/roleDefinitions/69a216fc-b8fb-44d8-bc22-1f3c2cd27a39", "principalId": "`
	put := func(path, body string) string {
		t.Helper()
		status, text := askManager(t, "PUT", local(a.ports.AMQP, path+"?api-version=2024-01-01"), body)
		if status != 200 && status != 201 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
		return text
	}
	put(namespace, `{"location": "local", "tags": {"env": "dev"}, "identity": {"type": "SystemAssigned"}}`)
	_, me, _ := strings.Cut(put(group+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me-1", `{"location": "local"}`), `"principalId":"`)
	me, _, _ = strings.Cut(me, `"`)
	put(namespace+"/queues/orders"+role+"1", sender+me+`"}}`)
	put(group+role+"2", sender+`aaaaaaaa-0000-4000-8000-000000000001"}}`)
	put(group+role+"3", sender+entra.Developer+`"}}`)
	put(namespace+"/providers/Microsoft.Authorization/locks/keep", `{"properties": {"level": "CanNotDelete"}}`)

	status, text := get(t, local(a.ports.AMQP, "/$minibus/v1/namespaces/$default/resource"))
	var r api.Resource
	if err := json.Unmarshal([]byte(text), &r); err != nil || status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	if r.ID != namespace || r.ResourceGroup != "minibus" || r.SKU != "Standard" || r.Tags["env"] != "dev" {
		t.Errorf("the resource is %+v", r)
	}
	if len(r.RoleAssignments) != 3 || !r.RoleAssignments[0].Above || r.RoleAssignments[1].Identity != "developer" || r.RoleAssignments[2].Entity != "orders" ||
		r.RoleAssignments[2].Role != "Azure Service Bus Data Sender" || !strings.HasSuffix(r.RoleAssignments[2].Identity, "/me-1") {
		t.Errorf("the role assignments are %+v", r.RoleAssignments)
	}
	if len(r.Identities) != 2 || r.Identities[0].ID != "" || r.Identities[1].PrincipalID != me {
		t.Errorf("the identities are %+v", r.Identities)
	}
	if len(r.Policies) != 2 || r.Policies[1].Entity != "orders" || len(r.WithoutEffect) != 1 {
		t.Errorf("policies %+v, without effect %+v", r.Policies, r.WithoutEffect)
	}
	for format, want := range map[string][]string{
		"bicep": {"tags: {", "type: 'SystemAssigned'", "scope: queue_orders", "location: resourceGroup().location"}, "terraform": {`"azurerm_servicebus_namespace"`, "azurerm_servicebus_queue.orders.id"},
		"az": {"az servicebus namespace create -g minibus -n sbemulatorns", "--tags env=dev", "az role assignment create", "--mi-system-assigned true"},
	} {
		status, module := get(t, local(a.ports.AMQP, "/$minibus/v1/namespaces/$default/config/export?whole=true&format="+format))
		text += module
		for _, part := range want {
			if status != 200 || !strings.Contains(module, part) {
				t.Errorf("%s: %d, %q is missing in\n%s", format, status, part, module)
			}
		}
		if strings.Contains(module, "aaaaaaaa-0000") {
			t.Errorf("%s makes what is assigned above the namespace:\n%s", format, module)
		}
	}
	for _, key := range []string{"key-of-the-till", "SAS_KEY_VALUE"} {
		if strings.Contains(text, key) {
			t.Errorf("the answers show the key %s", key)
		}
	}
}

func TestWithoutResourceManagerNothingIsKnown(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff, ARM: "off"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"resource", "config/export?format=az&whole=true"} {
		if status, text := get(t, local(a.ports.AMQP, "/$minibus/v1/namespaces/$default/"+path)); status != 404 || !strings.Contains(text, "--arm off") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}
