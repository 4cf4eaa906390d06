package arm

import (
	"net/http"
	"testing"
)

func TestNamespaceIsMadeShownChangedAndDeleted(t *testing.T) {
	h := newHouse(t)
	h.put(orders, object{"location": "westeurope"}).refused(404, "ResourceGroupNotFound", "'shop'")
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	h.get(orders).refused(404, "ResourceNotFound", "Microsoft.ServiceBus/namespaces/orders")
	h.remove(orders).status(http.StatusNoContent)
	h.put(orders, object{}).refused(400, "LocationRequired", "location")

	body := object{
		"location": "West Europe", "tags": object{"a": "1"}, "sku": object{"name": "premium", "capacity": 2},
		"identity":   object{"type": "SystemAssigned"},
		"properties": object{"minimumTlsVersion": "1.3", "zoneRedundant": true, "isAutoInflateEnabled": false, "provisioningState": "Creating"},
	}
	r := h.put("/SUBSCRIPTIONS/"+sub[15:]+"/resourcegroups/shop/PROVIDERS/microsoft.servicebus/Namespaces/orders", body)
	if r.status(http.StatusOK).Header().Get("Location")+r.Header().Get("Azure-AsyncOperation") != "" {
		t.Errorf("headers: %v", r.Header())
	}
	check := func(when string) {
		t.Helper()
		h.get(orders).status(http.StatusOK).has(
			"id", rgOf("0b1f6471-1bf0-4dda-aec3-cb9272f09590", "shop")+"/providers/Microsoft.ServiceBus/namespaces/orders", "name", "orders", "type", "Microsoft.ServiceBus/Namespaces",
			"location", "West Europe", "tags.a", "1", "sku.name", "Premium", "sku.tier", "Premium", "sku.capacity", 2,
			"properties.status", "Active", "properties.provisioningState", "Succeeded", "properties.minimumTlsVersion", "1.3",
			"properties.zoneRedundant", true, "properties.publicNetworkAccess", "Enabled", "properties.disableLocalAuth", false,
			"properties.premiumMessagingPartitions", 1, "properties.isAutoInflateEnabled", nil, "identity.type", "SystemAssigned",
			"identity.tenantId", Tenant, "properties.serviceBusEndpoint", "https://orders.localhost:5672/")
	}
	check("at once")
	h.restart()
	check("after a restart")

	h.put(orders, object{"location": "eastus"}).refused(409, "InvalidResourceLocation", "West Europe")
	h.put(orders, object{"location": "westeurope", "sku": object{"name": "Standard"}}).refused(400, "MessagingGatewayBadRequest", "SubCode=40000.")
	h.patch(orders, object{"tags": object{"b": "2"}}).status(http.StatusOK).has("tags.a", nil, "tags.b", "2", "properties.minimumTlsVersion", "1.3")
	h.put(orders, object{"location": "westeurope", "sku": object{"name": "Premium"}}).status(http.StatusOK).has(
		"tags", object{}, "sku.capacity", 1, "properties.minimumTlsVersion", "1.2", "identity", nil)

	h.remove(orders).status(http.StatusOK)
	h.remove(orders).status(http.StatusNoContent)
	if _, err := h.broker.Namespace("orders"); err == nil {
		t.Error("the broker still has it")
	}
}

func rgOf(subscription, group string) string { return groupID(subscription, group).String() }

func TestNamespacesOfOtherMakersAreInTheDefaultGroup(t *testing.T) {
	h := withOrders(t)
	if _, err := h.CreateNamespace("stocks", noOptions); err != nil {
		t.Fatal(err)
	}
	group := rgOf(DefaultSubscription, DefaultGroup)
	h.get(group+"/providers/Microsoft.ServiceBus/namespaces").want("sbemulatorns", "stocks")
	h.get("/subscriptions/"+DefaultSubscription+"/providers/Microsoft.ServiceBus/namespaces").want("sbemulatorns", "stocks")
	h.get(sub + "/providers/Microsoft.ServiceBus/namespaces").want("orders")
	h.get(defaultNS).status(http.StatusOK).has("sku.name", "Standard", "location", "local")
	h.patch(defaultNS, object{"tags": object{"team": "x"}}).status(http.StatusOK)
	h.remove(defaultNS).refused(409, "Conflict", "default")
	h.remove(group).refused(409, "ResourceGroupDeletionBlocked", "default")
	h.put(rg+"/providers/Microsoft.ServiceBus/namespaces/stocks", object{"location": "x"}).refused(409, "Conflict", "another resource group")
	h.restart()
	h.get(defaultNS).status(http.StatusOK).has("tags.team", "x")

	// One of the same name that is made elsewhere is another one.
	if err := h.broker.Delete("orders"); err != nil {
		t.Fatal(err)
	}
	h.get(orders).refused(404, "ResourceNotFound", "orders")
	if _, err := h.CreateNamespace("orders", noOptions); err != nil {
		t.Fatal(err)
	}
	h.get(orders).refused(404, "ResourceNotFound", "orders")
	h.restart()
	h.get(group+"/providers/Microsoft.ServiceBus/namespaces").want("orders", "sbemulatorns", "stocks")
}

// TestNamespaceThatWasBeingMade is in its place when the process ends between the namespace and its document.
func TestNamespaceThatWasBeingMade(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	for _, name := range []string{"orders", "missing"} {
		id := mustParse(rg + "/providers/Microsoft.ServiceBus/namespaces/" + name)
		if err := h.keep(id, namespaceDocument{ID: id.String(), Location: "westeurope", SKU: sku{Name: standard, Tier: standard}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.CreateNamespace("orders", noOptions); err != nil {
		t.Fatal(err)
	}
	h.restart()
	h.get(rg + "/providers/Microsoft.ServiceBus/namespaces").want("orders")
	if n := len(h.keys(mustParse(rg))); n != 2 {
		t.Errorf("%d documents", n)
	}
	h.remove(rg).status(http.StatusOK)
	h.get(rg).refused(404, "ResourceGroupNotFound", "shop")
	if _, err := h.broker.Namespace("orders"); err == nil || len(h.keys(ID{})) != 0 {
		t.Errorf("left are %v", h.keys(ID{}))
	}
}
