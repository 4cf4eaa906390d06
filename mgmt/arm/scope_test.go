package arm

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"minibus/emulator"
)

var noOptions emulator.NamespaceOptions

func TestIDs(t *testing.T) {
	const ns = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ServiceBus/namespaces/n"
	for path, want := range map[string]struct{ id, scope, parent, kind string }{
		"/subscriptions":                    {"/subscriptions", "", "/", "Microsoft.Resources/subscriptions"},
		"//SUBSCRIPTIONS/s/":                {"/subscriptions/s", "", "/", "Microsoft.Resources/subscriptions"},
		"/subscriptions/s/resourcegroups/G": {"/subscriptions/s/resourceGroups/G", "", "/subscriptions/s", "Microsoft.Resources/subscriptions/resourceGroups"},
		"/subscriptions/s/RESOURCEGROUPS/g/Providers/microsoft.servicebus/Namespaces/n": {
			ns, "/subscriptions/s/resourceGroups/g", "/subscriptions/s/resourceGroups/g", "Microsoft.ServiceBus/namespaces"},
		"/subscriptions/s/providers/microsoft.servicebus/namespaces": {
			"/subscriptions/s/providers/Microsoft.ServiceBus/namespaces", "/subscriptions/s", "/subscriptions/s", "Microsoft.ServiceBus/namespaces"},
		ns + "/queues/a%2Fb/listKeys":                        {ns + "/queues/a~b/listKeys", "/subscriptions/s/resourceGroups/g", ns + "/queues/a~b", "Microsoft.ServiceBus/namespaces/queues/listKeys"},
		ns + "/queues/providers":                             {ns + "/queues/providers", "/subscriptions/s/resourceGroups/g", ns, "Microsoft.ServiceBus/namespaces/queues"},
		ns + "/queues/q/providers/Microsoft.X/locks/l":       {ns + "/queues/q/providers/Microsoft.X/locks/l", ns + "/queues/q", ns + "/queues/q", "Microsoft.X/locks"},
		"/providers/Microsoft.Authorization/roleDefinitions": {"/providers/Microsoft.Authorization/roleDefinitions", "", "/", "Microsoft.Authorization/roleDefinitions"},
		"/subscriptions/s/providers":                         {"/subscriptions/s/providers", "", "/subscriptions/s", "Microsoft.Resources/subscriptions/providers"},
	} {
		id, err := parsePath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := struct{ id, scope, parent, kind string }{id.String(), id.Scope, id.Parent().String(), id.Type()}; got != want {
			t.Errorf("%s:\n%+v, want\n%+v", path, got, want)
		}
		if again, err := ParseID(id.String()); err != nil || again.key() != id.key() || again.Subscription != id.Subscription || again.Group != id.Group {
			t.Errorf("%s is read again as %+v, %v", id, again, err)
		}
	}
	for _, path := range []string{"/subscriptions/../x", "/subscriptions/%2e%2e/x", "/subscriptions/./x", "/subscriptions/a%00b", "/subscriptions/a%FFb", "/subscriptions/%zz", "/a" + strings.Repeat("/b", maxSegments), `/subscriptions/a\b`} {
		if id, err := parsePath(path); err == nil {
			t.Errorf("%s: %s", path, id)
		}
	}
	q := mustParse(ns).Child("queues", "q")
	other := mustParse(ns).Child("queues", "p")
	if q.String() != ns+"/queues/q" || other.Parent().String() != ns || q.groupOf().String() != "/subscriptions/s/resourceGroups/g" {
		t.Errorf("%s, %s", q, other)
	}
}

func TestWanted(t *testing.T) {
	for path, want := range map[string]bool{
		"/Subscriptions?api-version=2022-12-01":                             true,
		"//subscriptions?api-version=2022-12-01":                            true,
		"/tenants?Api-Version=2022-12-01":                                   true,
		"/providers/Microsoft.ServiceBus/operations?api-version=2024-01-01": true,
		"/metadata/endpoints?api-version=2022-09-01":                        true,
		sub + "/resourcegroups":                                             true,
		"/metadata/identity/oauth2/token?api-version=2018-02-01":            false,
		"/subscriptions?api-version=2021-05":                                false,
		"/subscriptions":                                                    false,
		sub:                                                                 false,
		sub + "/resourcegroups/messages":                                    false,
		"/orders?api-version=2024-01-01":                                    false,
		"/?api-version=2024-01-01":                                          false,
		"/v1.0/directoryObjects/getByIds":                                   true,
		"/v1.0/serviceprincipals?$filter=x":                                 true,
		"/v1.0/users?api-version=2021-05":                                   false,
		"/v1.0/orders":                                                      false,
	} {
		if got := Wanted(httptest.NewRequest(http.MethodGet, path, nil)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestOtherRequestsPassAtNoCost: each one over HTTP is looked at.
func TestOtherRequestsPassAtNoCost(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/orders/messages?api-version=2021-05", nil)
	if n := testing.AllocsPerRun(100, func() { Wanted(r) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestScopes(t *testing.T) {
	h := newHouse(t)
	h.get("/subscriptions").status(http.StatusOK).has("value.0.subscriptionId", DefaultSubscription, "value.1", nil)
	h.get(sub).status(http.StatusOK).has("state", "Enabled", "tenantId", Tenant, "id", sub)
	h.get("/subscriptions/nonsense").refused(400, "InvalidSubscriptionId", "nonsense")
	h.get("/tenants").status(http.StatusOK).has("value.0.tenantId", Tenant)
	if len(h.get(sub+"/locations").names()) < 20 {
		t.Error("too few locations")
	}

	h.ask(http.MethodHead, rg, nil).status(http.StatusNotFound)
	h.put(rg, object{}).refused(400, "LocationRequired", "location")
	h.put(rg+"%3F", object{"location": "x"}).refused(400, "InvalidRequestUri", "")
	h.put(rg, object{"location": "West Europe", "tags": object{"a": "1"}}).status(http.StatusCreated)
	h.put(rg, object{"location": "westeurope", "tags": object{"a": "2"}}).status(http.StatusOK)
	h.put(rg, object{"location": "eastus"}).refused(409, "InvalidResourceGroupLocation", "westeurope")
	h.ask(http.MethodHead, rg, nil).status(http.StatusNoContent)
	h.restart()
	h.get(sub+"/RESOURCEGROUPS/Shop").status(http.StatusOK).has("id", rg, "name", "shop", "location", "westeurope", "tags.a", "2", "properties.provisioningState", "Succeeded")
	h.patch(rg, object{"tags": object{"b": "3"}}).status(http.StatusOK).has("tags", object{"b": "3"})
	h.put(sub+"/resourceGroups/other", object{"location": "local"}).status(http.StatusCreated)
	h.get(sub+"/resourcegroups").want("other", "shop")
	h.get(sub + "/resourcegroups?$filter=tagName+eq+'b'+and+tagValue+eq+'3'").want("shop")
	h.get(sub+"/resourcegroups?$filter=tagName+is+'b'").refused(400, "InvalidFilterInQueryString", "tagName")
	h.get("/subscriptions").status(http.StatusOK).has("value.1.id", sub)
	h.get("/subscriptions/" + DefaultSubscription + "/resourcegroups").want("minibus")
	h.get(sub+"/resourceGroups/none/providers/Microsoft.ServiceBus/namespaces").refused(404, "ResourceGroupNotFound", "none")
	h.remove(sub+"/resourceGroups/none").refused(404, "ResourceGroupNotFound", "none")

	h.get(rg+"/providers/Microsoft.ServiceBus/nothing").refused(404, "InvalidResourceType", "nothing")
	h.get(rg+"/providers/Microsoft.Nothing/x/y").refused(404, "InvalidResourceNamespace", "Microsoft.Nothing")
	h.post("/tenants", nil).refused(405, "MethodNotAllowed", "POST")
	h.post(rg, nil).refused(405, "MethodNotAllowed", "POST")
	h.get(rg+"?api-version=").refused(400, "MissingApiVersionParameter", "api-version")
}

// TestIDsThatNoKeyCanHold: what is stored can be read after a restart, and what can't be read stops nothing.
func TestIDsThatNoKeyCanHold(t *testing.T) {
	h := withOrders(t)
	const groups = rg + "/providers/Microsoft.Insights/actionGroups"
	for _, name := range []string{strings.Repeat("%C8%BA", maxSegment/2), "a%FFb"} {
		body := object{"location": "x", "properties": object{}}
		h.put(groups+"/"+name, body).refused(400, "InvalidRequestUri", "part")
	}
	deep := mustParse(rg + "/providers/Microsoft.X" + strings.Repeat("/a/b", (maxSegments-6)/2))
	kelvin := strings.Repeat("\u212a", maxSegment/2) // short in lower case
	long := provided(mustParse(rg), insights, "actionGroups", kelvin)
	for _, id := range []ID{deep.Child("a", "b"), long} {
		if err := h.keep(id, object{}); err == nil {
			t.Errorf("%s is stored", id)
		}
	}
	bad := strings.ToLower(groups + "/" + strings.Repeat("\u2c65", maxSegment/2))
	if err := h.store.Documents().Put(bad, []byte(`{"id": "x"}`)); err != nil {
		t.Fatal(err)
	}
	h.restart()
	h.get("/subscriptions").has("value.1.id", sub)
	h.get(rg + "/resources").want("orders")
	h.get(groups).want()
}

// TestNothingIsMadeInAGroupThatGoes: requests wait while a resource group is deleted, and then find it gone.
func TestNothingIsMadeInAGroupThatGoes(t *testing.T) {
	h := withOrders(t)
	var wait sync.WaitGroup
	status := make([]int, 16)
	h.hook = func() {
		for i := range status {
			path := fmt.Sprintf("%s/providers/Microsoft.ServiceBus/namespaces/late-%d", rg, i)
			if i%2 == 0 {
				path = fmt.Sprintf("%s/providers/Microsoft.ManagedIdentity/userAssignedIdentities/late-%d", rg, i)
			}
			began := make(chan bool)
			wait.Go(func() {
				close(began)
				status[i] = h.put(path, object{"location": "westeurope"}).Code
			})
			<-began
		}
		for range 10_000 {
			runtime.Gosched()
		}
	}
	h.remove(rg).status(http.StatusOK)
	wait.Wait()
	for i, code := range status {
		if code != http.StatusNotFound {
			t.Errorf("request %d: %d", i, code)
		}
	}
	if all := h.broker.Namespaces(); len(all) != 1 || len(h.keys(mustParse(rg))) > 0 {
		t.Errorf("%d namespaces are left, and %q", len(all), h.keys(mustParse(rg)))
	}
}

func TestDeploymentInAGroupThatGoes(t *testing.T) {
	h := withOrders(t)
	c := &call{method: http.MethodPut, id: mustParse(deploymentAt(rg, "d"))}
	c.body = []byte(deploymentBody(t, groupTemplate(""), nil))
	u, err := h.newDeployment(c, c.id)
	if err == nil {
		err = u.prepareAll()
	}
	if err != nil {
		t.Fatal(err)
	}
	u.run()
	h.remove(rg).status(http.StatusOK)
	_, err = u.finish()
	left := h.keys(mustParse(rg))
	if err == nil || errorOf(c.id, err).Code != "ResourceGroupNotFound" || len(left) > 0 {
		t.Errorf("%v, and %q is left", err, left)
	}
}

// TestWhatIsInNoGroup: a namespace whose resource group is not there is in the default one after a restart, and all
// else of that group is gone.
func TestWhatIsInNoGroup(t *testing.T) {
	h := withOrders(t)
	const identity = rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/shop-app"
	h.put(identity, object{"location": "westeurope"}).status(http.StatusCreated)
	if err := h.forget(mustParse(rg).key()); err != nil {
		t.Fatal(err)
	}
	h.restart()
	group := groupID(DefaultSubscription, DefaultGroup).String()
	h.get(group+"/providers/Microsoft.ServiceBus/namespaces").want("orders", "sbemulatorns")
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	h.get(rg + "/resources").want()
	h.get(identity).status(http.StatusNotFound)
}

func TestScopeOfAnEntity(t *testing.T) {
	h := withOrders(t)
	ns, err := h.broker.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ns.Entities().CreateTopic("t", emulator.TopicOptions{}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"": orders, "q": orders + "/queues/q", "a/b": orders + "/queues/a~b", "q/$DeadLetterQueue": orders + "/queues/q",
		"t": orders + "/topics/t", "t/Subscriptions/s": orders + "/topics/t/subscriptions/s",
	} {
		if got := h.Scope(ns, path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := h.Scope(h.broker.Default(), ""); got != defaultNS {
		t.Error(got)
	}
}

// FuzzIDs reads what a client may send: what is read again is the same, and a child's parent is the resource itself.
func FuzzIDs(f *testing.F) {
	for _, path := range []string{orders + "/queues/a%2Fb", "/subscriptions//x", rg, "/providers/a/b/c/providers/d", "/subscriptions/s/providers", "/a/b/c/d/e"} {
		f.Add(path)
	}
	f.Add("/a/" + strings.Repeat("%C8%BA", maxSegment/2)) // letters that take more bytes in lower case
	f.Fuzz(func(t *testing.T, path string) {
		id, err := parsePath(path)
		if err != nil {
			return
		}
		again, err := ParseID(id.String())
		if err != nil || again.String() != id.String() || again.key() != id.key() || again.Group != id.Group || again.Subscription != id.Subscription || again.Type() != id.Type() {
			t.Errorf("%q: %+v, and again %+v, %v", path, id, again, err)
		}
		if !id.isList() && len(id.Types) > 0 {
			if got := id.Child("x", "y").Parent(); got.String() != id.String() {
				t.Errorf("%q: the parent of its child is %s", path, got)
			}
		}
		if stored, err := ParseID(id.key()); err != nil || stored.key() != id.key() {
			t.Errorf("%q: the key %q is read again as %+v, %v", path, id.key(), stored, err)
		}
		_ = id.Parent()
		_, _, _ = New(Options{}).route(&call{method: http.MethodGet, id: id})
	})
}
