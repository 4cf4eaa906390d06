package arm

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

const (
	diagnostics = "/providers/Microsoft.Insights/diagnosticSettings/"
	locks       = "/providers/Microsoft.Authorization/locks/"
	vault       = rg + "/providers/Microsoft.KeyVault/vaults/safe"
	me          = rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me-1"
)

func TestIdentityKeepsItsIDs(t *testing.T) {
	h := withOrders(t)
	body := object{"location": "West Europe", "tags": object{"a": "b"}, "properties": object{"isolationScope": "none"}}
	r := h.put(me, body).status(http.StatusCreated).has("id", me, "name", "me-1", "location", "westeurope", "tags.a", "b",
		"type", "Microsoft.ManagedIdentity/userAssignedIdentities", "properties.tenantId", Tenant,
		"properties.isolationScope", "None")
	principal, client := r.at("properties.principalId").(string), r.at("properties.clientId").(string)
	if !isGUID(principal) || !isGUID(client) || principal == client {
		t.Fatalf("principal %q, client %q", principal, client)
	}
	lower := strings.ToLower(me)
	h.put(lower, object{"location": "westeurope"}).status(http.StatusOK).has("id", me, "properties.principalId", principal)
	h.patch(me, object{"tags": object{"c": "d"}}).status(http.StatusOK).has("tags.c", "d", "location", "westeurope")
	h.restart()
	h.get(me).status(http.StatusOK).has("properties.principalId", principal, "properties.clientId", client)
	for _, name := range []string{client, strings.ToUpper(principal), me, lower} {
		if c, p, ok := h.Identity(name); c != client || p != principal || !ok {
			t.Errorf("%s: %q, %q, %v", name, c, p, ok)
		}
	}
	h.get(rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities").want("me-1")
	h.get(sub + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities").want("me-1")
	h.put(me+"/federatedIdentityCredentials/ci", object{"properties": object{"subject": "x"}}).status(http.StatusOK)
	h.remove(me).status(http.StatusOK)
	h.remove(me).status(http.StatusNoContent)
	h.get(me).refused(http.StatusNotFound, "ResourceNotFound", "me-1")
	h.get(me+"/federatedIdentityCredentials/ci").refused(http.StatusNotFound, "ResourceNotFound", "ci")
	for _, name := range []string{client, principal, me, "", "/", "/subscriptions/../x", strings.Repeat("/a/b", 100_000)} {
		if _, _, ok := h.Identity(name); ok {
			t.Errorf("%.60s is an identity", name)
		}
	}
}

func TestIdentityThatIsRefused(t *testing.T) {
	h := withOrders(t)
	h.put(me, object{}).refused(http.StatusBadRequest, "LocationRequired", "")
	h.put(rg+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/-x", object{"location": "westeurope"}).
		refused(http.StatusBadRequest, "BadRequest", "-x")
	h.put(me, object{"location": "westeurope", "properties": object{"isolationScope": "Moon"}}).
		refused(http.StatusBadRequest, "BadRequest", "Moon")
	h.put(me, object{"location": "westeurope", "properties": "x"}).refused(http.StatusBadRequest, "InvalidRequestContent", "")
	h.patch(me, object{}).refused(http.StatusNotFound, "ResourceNotFound", "me-1")
	h.put(me, object{"location": "westeurope"}).status(http.StatusCreated)
	h.put(me, object{"location": "eastus"}).refused(http.StatusConflict, "InvalidResourceLocation", "eastus")
	h.put(strings.Replace(me, "shop", "none", 1), object{"location": "westeurope"}).
		refused(http.StatusNotFound, "ResourceGroupNotFound", "none")
}

func TestIdentityOfANamespaceIsKnown(t *testing.T) {
	h := withOrders(t)
	body := object{"location": "westeurope", "identity": object{"type": "SystemAssigned"}}
	principal := h.put(orders, body).status(http.StatusOK).at("identity.principalId").(string)
	if _, p, ok := h.Identity(principal); !ok || p != principal {
		t.Errorf("%q, %v", p, ok)
	}
	h.put(orders, object{"location": "westeurope"}).status(http.StatusOK)
	if _, _, ok := h.Identity(principal); ok {
		t.Error("an identity that was taken away is known")
	}
}

// Terraform plans no change only if it reads what it wrote.
func TestDiagnosticSettingComesBackAsItWasSent(t *testing.T) {
	h := withOrders(t)
	log := h.logged()
	properties := object{
		"workspaceId": rg + "/providers/Microsoft.OperationalInsights/workspaces/none",
		"logs":        []any{object{"categoryGroup": "allLogs", "enabled": true}},
		"metrics":     []any{object{"category": "AllMetrics", "enabled": false, "unknown": object{"x": nil}}},
	}
	sent := object{"properties": properties}
	h.put(orders+diagnostics+"logs", sent).status(http.StatusOK).has("id", orders+diagnostics+"logs", "name", "logs",
		"type", "Microsoft.Insights/diagnosticSettings", "properties", properties)
	h.put(orders+diagnostics+"logs", sent).status(http.StatusOK)
	if n := strings.Count(log.String(), "stored without effect"); n != 1 {
		t.Errorf("%d lines: %s", n, log)
	}
	h.restart()
	h.get(strings.ToLower(orders)+diagnostics+"LOGS").status(http.StatusOK).
		has("id", orders+diagnostics+"logs", "name", "logs", "properties", properties)
	h.get(orders + "/providers/Microsoft.Insights/diagnosticSettings").want("logs")
	h.get(orders+"/providers/microsoft.insights/diagnosticSettingsCategories").want("OperationalLogs",
		"VNetAndIPFilteringLogs", "RuntimeAuditLogs", "ApplicationMetricsLogs", "DiagnosticErrorLogs", "AllMetrics")
	h.get(orders+"/providers/microsoft.insights/diagnosticSettingsCategories/allmetrics").status(http.StatusOK).
		has("name", "AllMetrics", "properties.categoryType", "Metrics")
	h.get(orders+"/providers/microsoft.insights/diagnosticSettingsCategories/x").
		refused(http.StatusNotFound, "ResourceNotFound", "")
	h.remove(orders + diagnostics + "logs").status(http.StatusOK)
	h.remove(orders + diagnostics + "logs").status(http.StatusNoContent)
	h.put(orders+diagnostics+"logs", object{"properties": object{}}).refused(http.StatusBadRequest, "BadRequest", "data sink")
	h.put(orders+"x"+diagnostics+"logs", sent).refused(http.StatusNotFound, "ResourceNotFound", "ordersx")
}

func TestLockHasNoEffect(t *testing.T) {
	h := withOrders(t)
	body := object{"properties": object{"level": "cannotdelete", "notes": ""}}
	for _, scope := range []string{sub, rg, orders} {
		h.put(scope+locks+"keep", body).status(http.StatusOK).
			has("properties.level", "CanNotDelete", "properties.notes", "", "type", "Microsoft.Authorization/locks")
	}
	if n := len(h.get(rg + "/providers/Microsoft.Authorization/locks").names()); n != 2 {
		t.Errorf("%d locks in the group", n)
	}
	h.put(rg+locks+"keep", object{"properties": object{"level": "Never"}}).
		refused(http.StatusBadRequest, "InvalidLockLevel", "Never")
	h.put(rg+locks+"keep", object{}).refused(http.StatusBadRequest, "InvalidLockLevel", "")
	h.remove(orders).status(http.StatusOK)
	h.get(orders+locks+"keep").refused(http.StatusNotFound, "ResourceNotFound", "keep")
}

func TestMetricAlertIsStored(t *testing.T) {
	h := withOrders(t)
	alert := rg + "/providers/Microsoft.Insights/metricAlerts/dead"
	h.put(alert, object{"location": "global", "tags": object{"a": "1"}, "properties": object{"severity": 2}}).
		status(http.StatusOK).has("location", "global", "properties.severity", 2, "properties.provisioningState", nil)
	h.patch(alert, object{"tags": object{"b": "2"}, "properties": object{"enabled": true, "severity": nil}}).
		status(http.StatusOK).has("tags", object{"b": "2"}, "properties.enabled", true, "properties.severity", nil)
}

func TestOtherTypesAreRefusedByName(t *testing.T) {
	h := withOrders(t)
	for _, method := range []string{http.MethodPut, http.MethodPatch} {
		h.ask(method, vault, object{"location": "westeurope"}).
			refused(http.StatusBadRequest, "InvalidResourceNamespace", "'Microsoft.KeyVault/vaults'")
		h.ask(method, vault, object{}).refused(http.StatusBadRequest, "InvalidResourceNamespace", "--arm-other-types store")
	}
	h.get(vault).refused(http.StatusNotFound, "InvalidResourceNamespace", "--arm-other-types store")
	h.put(rg+"/providers/Microsoft.Insights/components/x", object{}).
		refused(http.StatusBadRequest, "InvalidResourceType", "Microsoft.Insights/components")
	h.put(orders+"/queuez/x", object{}).refused(http.StatusBadRequest, "InvalidResourceType", "namespaces/queuez")
}

func TestOtherTypesAreStored(t *testing.T) {
	h := &house{others: true}
	h.begin(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	body := object{
		"id": "/elsewhere", "name": "x", "type": "y", "location": "westeurope", "sku": object{"name": "standard"},
		"identity":   object{"type": "SystemAssigned, UserAssigned", "userAssignedIdentities": object{me: object{}}},
		"properties": object{"provisioningState": "Creating", "deep": object{"list": []any{1.0, nil, "a"}}},
	}
	r := h.put(vault, body).status(http.StatusCreated).has("id", vault, "name", "safe", "type", "Microsoft.KeyVault/vaults",
		"sku.name", "standard", "properties.provisioningState", "Succeeded", "properties.deep.list", []any{1.0, nil, "a"},
		"identity.type", "SystemAssigned, UserAssigned", "identity.tenantId", Tenant)
	principal := r.at("identity.principalId").(string)
	if _, p, ok := h.Identity(principal); !ok || p != principal {
		t.Errorf("the vault's own identity: %q, %v", p, ok)
	}
	if p := r.at("identity.userAssignedIdentities").(object)[me].(object)["principalId"]; p != principalOf(me) {
		t.Errorf("the assigned identity is %v", p)
	}
	h.put(vault+"/secrets/key", object{"properties": object{"value": "v"}}).status(http.StatusCreated).
		has("type", "Microsoft.KeyVault/vaults/secrets")
	h.put(vault+"x/secrets/key", object{}).refused(http.StatusNotFound, "ParentResourceNotFound", "safex")
	h.put(vault+"/blobServices/default/containers/c", object{}).status(http.StatusCreated)
	h.put(vault+assignments+nameA, assigns(dataOwner, alice)).status(http.StatusCreated)
	h.put(vault+diagnostics+"logs", object{"properties": object{"workspaceId": "/x"}}).status(http.StatusOK)
	h.put(me, object{"location": "westeurope", "tags": object{"a": "b"}}).status(http.StatusCreated)
	for _, scope := range []string{sub, rg} {
		h.get(scope+"/resources").want("safe", "me-1")
		h.get(scope + "/resources?$filter=tagName%20eq%20'a'").want("me-1")
		h.get(scope + "/resources?$filter=resourceType%20eq%20'Microsoft.KeyVault/vaults'").want("safe")
	}
	h.remove(me).status(http.StatusOK)
	h.put(vault+locks+"keep", object{"properties": object{"level": "ReadOnly"}}).status(http.StatusOK)
	h.restart()
	h.get(rg + "/providers/Microsoft.KeyVault/vaults").want("safe")
	h.get(vault + "/secrets").want("key")
	h.ask(http.MethodHead, vault, nil).status(http.StatusOK)
	h.post(vault+"/listKeys", nil).refused(http.StatusMethodNotAllowed, "MethodNotAllowed", "listKeys")
	h.put(rg+"/providers/Microsoft.ServiceBus/other/x", object{}).refused(http.StatusBadRequest, "InvalidResourceType", "other")
	h.remove(vault).status(http.StatusOK)
	h.remove(vault).status(http.StatusNoContent)
	if len(h.known) != 1 {
		t.Errorf("what is left of a deleted resource and the group: %v", sortedKeys(h.known))
	}
}

func TestHostileBodiesOfStoredResources(t *testing.T) {
	h := &house{others: true}
	h.begin(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	h.put(orders, object{"location": "westeurope"}).status(http.StatusOK)
	large := object{"properties": object{"x": strings.Repeat("x", 2<<20)}}
	for _, path := range []string{
		vault, orders + locks + "a", orders + diagnostics + "a", me, orders + assignments + nameA, roleID(custom),
	} {
		h.put(path, large).refused(http.StatusRequestEntityTooLarge, "RequestContentTooLarge", "")
	}
	for _, body := range []string{"null", "[]", "1", `"x"`, "{", `{"properties":[]}`, `{"properties":1}`, `{"tags":[]}`,
		`{"tags":{"a":1}}`, `{"tags":{"<":"a"}}`, `{"identity":1}`, `{"identity":{"type":"Robot"}}`,
		strings.Repeat(`{"properties":`, 20_000) + "1" + strings.Repeat("}", 20_000)} {
		if r := h.put(vault, body); r.Code != http.StatusBadRequest {
			t.Errorf("%.40s: %d %.200s", body, r.Code, r.Body)
		}
	}
	for _, path := range []string{
		rg + "/providers/Microsoft.KeyVault/vaults/..", rg + "/providers/Microsoft.KeyVault/vaults/%2e%2e",
		rg + "/providers/Microsoft.KeyVault/../vaults/x", rg + "/providers/Microsoft.KeyVault/vaults/a%00b",
		rg + "/providers/Microsoft.KeyVault/vaults/" + strings.Repeat("x", 2000),
	} {
		if r := h.put(path, object{}); r.Code != http.StatusBadRequest {
			t.Errorf("%.80s: %d %.200s", path, r.Code, r.Body)
		}
	}
	h.get(rg + "/providers/Microsoft.KeyVault/vaults").want()
}

func TestStoredResourcesHaveABound(t *testing.T) {
	h := &house{others: true}
	h.begin(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	before := h.size
	h.size = maxDocuments - 100
	h.put(vault, object{"properties": object{"x": strings.Repeat("x", 200)}}).
		refused(http.StatusConflict, "QuotaExceeded", "no room")
	h.size = before
	h.put(vault, object{}).status(http.StatusCreated)
	h.remove(vault).status(http.StatusOK)
	if h.size != before {
		t.Errorf("%d bytes, want %d after a resource came and went", h.size, before)
	}
}

// logged returns what is logged from now on.
func (h *house) logged() *bytes.Buffer {
	var b bytes.Buffer
	h.log = slog.New(slog.NewTextHandler(&b, nil))
	return &b
}

// TestNothingHangsOnAProvider: the provider of namespaces alone, without one, is no resource.
func TestNothingHangsOnAProvider(t *testing.T) {
	h := withOrders(t)
	guid := "/providers/Microsoft.Authorization/roleAssignments/33333333-3333-3333-3333-333333333333"
	for _, above := range []string{"", sub, rg} {
		scope := above + "/providers/Microsoft.ServiceBus"
		role := object{"properties": object{
			"roleDefinitionId": sub + "/providers/Microsoft.Authorization/roleDefinitions/" + dataOwner,
			"principalId":      "11111111-1111-1111-1111-111111111111",
		}}
		h.put(scope+guid, role).refused(404, "ResourceNotFound", "")
		lock := object{"properties": object{"level": "ReadOnly"}}
		h.put(scope+"/providers/Microsoft.Authorization/locks/l1", lock).status(404)
		setting := object{"properties": object{"workspaceId": "x"}}
		h.put(scope+"/providers/Microsoft.Insights/diagnosticSettings/l1", setting).status(404)
		h.get(scope + "/providers/Microsoft.Insights/diagnosticSettingsCategories").status(404)
	}
	r := h.deploy(rg, "d", deploymentBody(t, groupTemplate(`{"type": "Microsoft.Authorization/roleAssignments",
		"apiVersion": "2022-04-01", "name": "33333333-3333-3333-3333-333333333333",
		"scope": "/providers/Microsoft.ServiceBus", "properties": {
		"roleDefinitionId": "/providers/Microsoft.Authorization/roleDefinitions/`+dataOwner+`",
		"principalId": "11111111-1111-1111-1111-111111111111"}}`), nil))
	r.has("status", "Failed")
}
