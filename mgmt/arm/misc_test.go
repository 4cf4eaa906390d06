package arm

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"minibus/emulator"
)

func TestNetworkRules(t *testing.T) {
	h := withOrders(t)
	const rules = orders + "/networkRuleSets"
	plain := []any{"name", "default", "properties.defaultAction", "Allow", "properties.publicNetworkAccess", "Enabled", "properties.trustedServiceAccessEnabled", false,
		"properties.ipRules", []any{}, "properties.virtualNetworkRules", []any{}}
	h.get(rules + "/default").status(http.StatusOK).has(plain...)
	h.get(rules).want("default")
	h.get(rules+"/other").refused(404, "MessagingGatewayNotFoundStatusCode", "")
	h.put(rules+"/default", object{"properties": object{"defaultAction": "deny", "publicNetworkAccess": "Disabled", "ipRules": []any{object{"ipMask": "1.1.1.1"}},
		"virtualNetworkRules": []any{object{"subnet": object{"id": "x"}, "ignoreMissingVnetServiceEndpoint": true}}}}).status(http.StatusOK)
	h.restart()
	h.get(rules+"/default").status(http.StatusOK).has("properties.defaultAction", "Deny", "properties.ipRules.0.action", "Allow", "properties.ipRules.0.ipMask", "1.1.1.1",
		"properties.virtualNetworkRules.0.subnet.id", "x", "properties.publicNetworkAccess", "Disabled")
	h.get(orders).status(http.StatusOK).has("properties.publicNetworkAccess", "Disabled")
	h.put(rules+"/default", object{"properties": object{"defaultAction": "Never"}}).refused(400, "MessagingGatewayBadRequest", "Never")
	h.put(rules+"/default", object{"properties": object{"defaultAction": "Allow"}}).status(http.StatusOK).has(plain...)
	h.remove(orders).status(http.StatusOK)
	h.put(orders, object{"location": "x"}).status(http.StatusOK)
	h.get(rules + "/default").status(http.StatusOK).has(plain...)
}

func TestWhatIsNotThere(t *testing.T) {
	h := withOrders(t)
	missing := strings.Replace(orders, "orders", "none", 1)
	for _, name := range []string{"privateEndpointConnections", "privateLinkResources", "networkSecurityPerimeterConfigurations", "migrationConfigurations", "disasterRecoveryConfigs"} {
		h.get(orders + "/" + name).want()
		h.get(orders+"/"+name+"/x").refused(404, "MessagingGatewayNotFoundStatusCode", "")
		h.put(orders+"/"+name+"/x", object{}).refused(400, "MessagingGatewayBadRequest", name)
		h.remove(orders + "/" + name + "/x").status(http.StatusNoContent)
		h.get(missing+"/"+name).refused(404, "ParentResourceNotFound", "none")
		h.put(missing+"/"+name+"/x", object{}).refused(404, "ParentResourceNotFound", "none")
	}
	h.post(orders+"/disasterRecoveryConfigs/checkNameAvailability", object{"name": "free-name"}).status(http.StatusOK).has("nameAvailable", true)
	h.post(orders+"/disasterRecoveryConfigs/x/failover", nil).refused(400, "MessagingGatewayBadRequest", "")
	h.post(orders+"/failover", nil).refused(400, "MessagingGatewayBadRequest", "region")
	h.put(orders, object{"location": "westeurope", "properties": object{"encryption": object{"keySource": "x"}}}).refused(400, "MessagingGatewayBadRequest", "encryption")
	h.put(orders, object{"location": "westeurope", "properties": object{"encryption": nil, "privateEndpointConnections": []any{}}}).status(http.StatusOK)
	h.get("/providers/Microsoft.ServiceBus/operations").want()
	h.get(sub + "/tagNames").want()
}

func TestProviders(t *testing.T) {
	h := withOrders(t)
	h.get(sub+"/providers/microsoft.servicebus").status(http.StatusOK).has("namespace", "Microsoft.ServiceBus", "registrationState", "Registered",
		"resourceTypes.0.resourceType", "namespaces", "resourceTypes.0.apiVersions.0", "2026-01-01", "id", sub+"/providers/Microsoft.ServiceBus")
	h.post(sub+"/providers/Microsoft.Storage/register", nil).status(http.StatusOK).has("registrationState", "Registered", "resourceTypes", []any{})
	if all := h.get(sub + "/providers").status(http.StatusOK).Body.String(); !strings.Contains(all, `"Microsoft.Resources"`) || !strings.Contains(all, `"Microsoft.ServiceBus"`) {
		t.Errorf("providers: %s", all)
	}
	for name, reason := range map[string]string{"free-name": "None", "x": "InvalidName", "1nvalid": "InvalidName", "ORDERS": "NameInUse", "sbemulatorns": "NameInUse"} {
		h.post(sub+"/providers/Microsoft.ServiceBus/CheckNameAvailability", object{"name": name}).status(http.StatusOK).has("reason", reason, "nameAvailable", reason == "None")
	}
	h.put(strings.Replace(orders, "orders", "a-b-", 1), object{"location": "x"}).refused(400, "BadRequest", "The specified service namespace")
	h.put(strings.Replace(orders, "orders", "x", 1), object{"location": "x"}).refused(400, "BadRequest", "CorrelationId")
}

func TestResources(t *testing.T) {
	h := withOrders(t)
	h.patch(orders, object{"tags": object{"env": "dev"}}).status(http.StatusOK)
	h.put(sub+"/resourceGroups/other", object{"location": "x"}).status(http.StatusCreated)
	h.put(sub+"/resourceGroups/other/providers/Microsoft.ServiceBus/namespaces/stocks", object{"location": "eastus"}).status(http.StatusOK)
	h.get(sub+"/resources").want("orders", "stocks")
	h.get(rg+"/resources").status(http.StatusOK).has("value.0.id", orders, "value.0.type", "Microsoft.ServiceBus/namespaces", "value.0.location", "westeurope", "value.0.properties", nil, "value.1", nil)
	for filter, want := range map[string][]string{
		"resourceGroup eq 'SHOP'":                                    {"orders"},
		"resourceType eq 'microsoft.servicebus/NAMESPACES'":          {"orders", "stocks"},
		"resourceType eq 'Microsoft.Web/sites'":                      nil,
		"resourceType ne 'Microsoft.Web/sites' and name eq 'stocks'": {"stocks"},
		"name eq 'orders' or name eq 'stocks'":                       {"orders", "stocks"},
		"substringof('tock', name)":                                  {"stocks"},
		"tagName eq 'env' and tagValue eq 'dev'":                     {"orders"},
		"location eq 'eastus'":                                       {"stocks"},
		"name eq 'it''s'":                                            nil,
	} {
		h.get(sub + "/resources?$filter=" + strings.NewReplacer(" ", "%20", "'", "%27").Replace(filter)).want(want...)
	}
	for _, wrong := range []string{"name", "name eq orders", "name eq 'a' and", "name eq 'a' name eq 'b'", "name eq 'a' and name eq 'b' or name eq 'c'", "name! eq 'a'", "and"} {
		h.get(sub+"/resources?$filter="+strings.ReplaceAll(wrong, " ", "%20")).refused(400, "InvalidFilterInQueryString", "")
	}
}

// TestAQueryThatCannotBeRead is refused: what is lost could be a filter.
func TestAQueryThatCannotBeRead(t *testing.T) {
	h := withOrders(t)
	h.get(sub+"/resources?$filter=a;b").refused(400, "InvalidRequestUri", "semicolon")
}

func TestTags(t *testing.T) {
	h := withOrders(t)
	for _, scope := range []string{orders, rg} {
		tags := scope + "/providers/Microsoft.Resources/tags/default"
		h.get(tags).status(http.StatusOK).has("properties.tags", object{}, "id", tags)
		h.put(tags, object{"properties": object{"tags": object{"a": "1", "b": "2"}}}).status(http.StatusOK)
		h.patch(tags, object{"operation": "Merge", "properties": object{"tags": object{"a": "3", "c": "4"}}}).status(http.StatusOK).has("properties.tags", object{"a": "3", "b": "2", "c": "4"})
		h.patch(tags, object{"operation": "Delete", "properties": object{"tags": object{"a": "other", "b": "2"}}}).status(http.StatusOK)
		h.restart()
		h.get(scope).status(http.StatusOK).has("tags", object{"a": "3", "c": "4"})
		h.patch(tags, object{"operation": "Replace", "properties": object{"tags": object{"d": "5"}}}).status(http.StatusOK)
		h.patch(tags, object{"operation": "Add"}).refused(400, "InvalidTagPatchOperation", "Add")
		h.get(tags).status(http.StatusOK).has("properties.tags", object{"d": "5"})
		h.remove(tags).status(http.StatusOK)
		h.get(scope).status(http.StatusOK).has("tags", object{})
		many := object{}
		for i := range 51 {
			many[strings.Repeat("x", i+1)] = ""
		}
		for _, wrong := range []object{many, {"a<b": "1"}, {"": "1"}, {"a": strings.Repeat("x", 257)}} {
			if r := h.put(tags, object{"properties": object{"tags": wrong}}); r.Code != http.StatusBadRequest {
				t.Errorf("%v: %d", wrong, r.Code)
			}
		}
	}
	h.get(rg+"/providers/Microsoft.Resources/tags/other").refused(400, "InvalidTagName", "other")
	h.get(strings.Replace(orders, "orders", "none", 1)+"/providers/Microsoft.Resources/tags/default").refused(404, "ResourceNotFound", "none")
}

// TestDeletingAGroupTakesAllInItAlong, and leaves what is in others.
func TestDeletingAGroupTakesAllInItAlong(t *testing.T) {
	h := withOrders(t)
	other := sub + "/resourceGroups/shop2"
	h.put(other, object{"location": "x"}).status(http.StatusCreated)
	h.put(other+"/providers/Microsoft.ServiceBus/namespaces/stocks", object{"location": "x"}).status(http.StatusOK)
	h.put(orders+"/networkRuleSets/default", object{"properties": object{"defaultAction": "Deny"}}).status(http.StatusOK)
	h.remove(rg).status(http.StatusOK)
	h.restart()
	h.get(sub + "/resources").want("stocks")
	h.get(orders).refused(404, "ResourceGroupNotFound", "shop")
	if got := h.keys(mustParse(rg)); len(got) > 0 {
		t.Errorf("left are %q", got)
	}
}

func TestHeaders(t *testing.T) {
	h := withOrders(t)
	send := func(method, path string, headers ...string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, path+"?api-version=2024-01-01", strings.NewReader("{}"))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		h.Serve(w, r, "https://localhost:5300", "")
		return w
	}
	w := send("GET", orders, "x-ms-client-request-id", "mine")
	for name, want := range map[string]string{"x-ms-client-request-id": "mine", "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-cache",
		"x-go-azure-sdk-skip-polling-delay": "true", "ETag": "", "Location": ""} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if a, b := w.Header().Get("x-ms-request-id"), w.Header().Get("x-ms-correlation-request-id"); len(a) != 36 || len(b) != 36 || a == b {
		t.Errorf("ids %s, %s", a, b)
	}
	if w := send("PUT", orders+"/queues/q", "If-Match", "*"); w.Code != http.StatusPreconditionFailed {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, tag := range []string{`"x"`, "*"} {
		h.put(orders+"/queues/q", object{}).status(http.StatusOK)
		if w := send("PUT", orders+"/queues/q", "If-Match", tag); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// TestHostileRequests change nothing and are refused with 4xx.
func TestHostileRequests(t *testing.T) {
	h := withOrders(t)
	before := h.keys(ID{})
	big := `{"location":"x","tags":{"a":"` + strings.Repeat("x", 2<<20) + `"}}`
	for _, c := range []struct{ method, path, body string }{
		{"PUT", orders, big}, {"PUT", rg, strings.Repeat(" ", maxBody<<20+1)}, {"PUT", orders + "/queues/q", `{"properties":{"userMetadata":"` + strings.Repeat("x", 1<<20) + `"}}`}, {"PUT", orders + "/queues/q", strings.Repeat("[", 1<<20)},
		{"PUT", rg + "/..%2fx", `{"location":"x"}`}, {"PUT", rg + "/providers/Microsoft.ServiceBus/namespaces/..", `{"location":"x"}`},
		{"PUT", rg + "/providers/Microsoft.ServiceBus/namespaces/%2e%2e/queues/q", "{}"}, {"PUT", orders + "/queues/$x", "{}"}, {"PUT", orders + "/queues/%00", "{}"},
		{"PUT", orders + "/queues/" + strings.Repeat("x", 300), "{}"}, {"PUT", orders + "/queues/" + strings.Repeat("x", 3000), "{}"},
		{"PUT", sub + "/providers/Microsoft.ServiceBus/namespaces/nogroup", `{"location":"x"}`}, {"PUT", "/providers/Microsoft.ServiceBus/namespaces/nogroup", `{"location":"x"}`},
		{"PUT", orders + "/providers/Microsoft.ServiceBus/namespaces/within", `{"location":"x"}`}, {"GET", orders + "/providers/Microsoft.ServiceBus/namespaces/orders", ""},
		{"GET", "/providers/Microsoft.ServiceBus/namespaces", ""}, {"GET", orders + "/providers/Microsoft.ServiceBus/namespaces", ""},
		{"BREW", orders, ""}, {"DELETE", rg + "/providers/Microsoft.ServiceBus/namespaces", ""}, {"DELETE", sub, ""}, {"PUT", sub, "{}"},
		{"PUT", orders, `{"location":"westeurope","sku":{"name":"Golden"}}`}, {"PUT", orders, `{"location":"westeurope","sku":{"name":"Standard","tier":"Premium"}}`},
		{"PUT", orders, `{"location":{"a":1}}`}, {"PUT", orders, `{"tags":{"a":1}}`}, {"PUT", orders, `null x`}, {"PUT", orders, `{"identity":"x"}`},
		{"PUT", orders, `{"identity":{"type":"Other"}}`}, {"PUT", orders, `{"properties":{"disableLocalAuth":"perhaps"}}`},
		{"PUT", orders, `{"properties":{"minimumTlsVersion":"0.9"}}`}, {"PUT", orders, `{"properties":{"premiumMessagingPartitions":1}}`}, {"PATCH", orders + "/queues/q", "{}"},
		{"PUT", "/subscriptions/not-a-guid/resourceGroups/x", `{"location":"x"}`}, {"PUT", sub + "/resourceGroups/" + strings.Repeat("x", 91), `{"location":"x"}`},
		{"PUT", sub + "/resourceGroups/ends.", `{"location":"x"}`}, {"PUT", sub + "/resourceGroups/a%20b", `{"location":"x"}`},
	} {
		if r := h.ask(c.method, c.path, c.body); r.Code < 400 || r.Code > 499 || !strings.Contains(r.Body.String(), `"error":{"code":`) {
			t.Errorf("%s %.200s with %.60s: %d %.300s", c.method, c.path, c.body, r.Code, r.Body)
		}
	}
	if after := h.keys(ID{}); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("afterwards there are %q", after)
	}
	h.get(orders + "/queues").want()
	h.put(orders, "null").status(http.StatusOK)
}

// TestAFailedWriteChangesNothing: what was refused is not shown either.
func TestAFailedWriteChangesNothing(t *testing.T) {
	h := withOrders(t)
	working := h.documents
	h.documents = full{working}
	for _, r := range []reply{h.put(rg+"2", object{"location": "x"}), h.patch(orders, object{"tags": object{"a": "1"}}),
		h.put(strings.Replace(orders, "orders", "stocks", 1), object{"location": "x"})} {
		r.refused(500, "InternalServerError", "full")
	}
	h.get(rg+"2").refused(404, "ResourceGroupNotFound", "")
	h.get(orders).status(http.StatusOK).has("tags", object{})
	h.documents = working
	h.get(sub + "/resources").want("orders")
}

// full are documents on a full disk.
type full struct{ Documents }

func (full) Put(string, []byte) error {
	return &emulator.Error{Code: emulator.CodeInternal, Text: "The disk is full"}
}

func TestManyAtOnce(t *testing.T) {
	h := withOrders(t)
	done := make(chan int)
	const clients = 8
	for range clients {
		go func() {
			n := 0
			for _, path := range []string{"/queues/q", "/topics/t", "/authorizationRules/r"} {
				w := httptest.NewRecorder()
				body := `{"properties":{"rights":["Send"]}}`
				h.Serve(w, httptest.NewRequest(http.MethodPut, orders+path+"?api-version=2024-01-01", strings.NewReader(body)), "https://localhost:5300", "")
				if w.Code == http.StatusOK {
					n++
				}
			}
			done <- n
		}()
	}
	n := 0
	for range clients {
		n += <-done
	}
	if n != 3*clients {
		t.Errorf("%d of %d passed", n, 3*clients)
	}
	h.get(orders+"/authorizationRules").want("RootManageSharedAccessKey", "r")
}
