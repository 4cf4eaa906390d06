package arm

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/internal/entra"
	"minibus/internal/sas"
)

const (
	alice  = "aaaaaaaa-0000-4000-8000-000000000001"
	bob    = "bbbbbbbb-0000-4000-8000-000000000002"
	nameA  = "a0000000-0000-4000-8000-00000000000a"
	nameB  = "b0000000-0000-4000-8000-00000000000b"
	nameC  = "c0000000-0000-4000-8000-00000000000c"
	custom = "d0000000-0000-4000-8000-00000000000d"
)

const assignments = "/providers/Microsoft.Authorization/roleAssignments/"

func roleID(guid string) string {
	return sub + "/providers/Microsoft.Authorization/roleDefinitions/" + guid
}

func assigns(role, principal string) object {
	return object{"properties": object{"roleDefinitionId": roleID(role), "principalId": principal}}
}

// claims returns what a principal may do with an entity of the namespace orders.
func (h *house) claims(path, principal string) sas.Claims {
	h.t.Helper()
	ns, err := h.broker.Namespace("orders")
	if err != nil {
		h.t.Fatal(err)
	}
	return h.Claims(ns, path, []string{principal})
}

// withEntities is withOrders with a queue, and a topic with two subscriptions.
func withEntities(t *testing.T) *house {
	t.Helper()
	h := withOrders(t)
	ns, err := h.broker.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.Configuration().Ensure(someEntities()); err != nil {
		t.Fatal(err)
	}
	return h
}

func someEntities() []emulator.EntityConfig {
	subscriptions := []emulator.SubscriptionOptions{{Name: "large"}, {Name: "small"}}
	return []emulator.EntityConfig{
		{Path: "orders", Queue: &emulator.QueueOptions{}},
		{Path: "events", Topic: &emulator.TopicOptions{Subscriptions: subscriptions}},
	}
}

func TestRoleDefinitionsByName(t *testing.T) {
	h := withOrders(t)
	for _, query := range []string{
		"roleName%20eq%20'Azure%20Service%20Bus%20Data%20Sender'", "roleName+eq+'azure+service+bus+data+sender'",
		"atScopeAndBelow()+and+roleName+eq+'Azure+Service+Bus+Data+Sender'+and+type+eq+'BuiltInRole'",
	} {
		r := h.get(orders + "/providers/Microsoft.Authorization/roleDefinitions?$filter=" + query)
		r.want(dataSender)
		r.has("value.0.id", roleID(dataSender), "value.0.properties.roleName", "Azure Service Bus Data Sender",
			"value.0.properties.type", "BuiltInRole", "value.0.properties.assignableScopes.0", "/",
			"value.0.properties.permissions.0.dataActions.0", "Microsoft.ServiceBus/*/send/action",
			"value.0.properties.permissions.0.notDataActions", []any{})
	}
	h.get(sub + "/providers/Microsoft.Authorization/roleDefinitions?$filter=roleName+eq+'Nobody''s'").want()
	if n := len(h.get(sub + "/providers/Microsoft.Authorization/roleDefinitions").names()); n != len(builtInRoles) {
		t.Errorf("%d roles", n)
	}
	h.get(sub+"/providers/Microsoft.Authorization/roleDefinitions?$filter=roleName+ne+'x'").
		refused(http.StatusBadRequest, "UnsupportedQuery", "roleName")
	h.get("/providers/Microsoft.Authorization/roleDefinitions/"+strings.ToUpper(dataOwner)).status(http.StatusOK).
		has("id", "/providers/Microsoft.Authorization/roleDefinitions/"+dataOwner, "name", dataOwner)
	h.get(roleID(nameA)).refused(http.StatusNotFound, "RoleDefinitionDoesNotExist", "a00000000000")
}

func TestRoleAssignmentCountsAtOnce(t *testing.T) {
	h := withOrders(t)
	r := h.put(orders+assignments+nameA, assigns(dataSender, alice)).status(http.StatusCreated)
	r.has("id", orders+assignments+nameA, "name", nameA, "type", "Microsoft.Authorization/roleAssignments",
		"properties.roleDefinitionId", roleID(dataSender), "properties.principalId", alice,
		"properties.principalType", "ServicePrincipal", "properties.scope", orders, "properties.description", nil,
		"properties.condition", nil)
	if got := h.claims("x", alice); got != sas.Send {
		t.Errorf("alice has %v", got)
	}
	if got := h.claims("x", bob); got != 0 {
		t.Errorf("bob has %v", got)
	}
	h.put(orders+assignments+nameA, assigns(dataSender, alice)).status(http.StatusOK)
	h.get(orders+assignments+strings.ToUpper(nameA)).status(http.StatusOK).has("id", orders+assignments+nameA)
	h.restart()
	if got := h.claims("x", alice); got != sas.Send {
		t.Errorf("after a restart alice has %v", got)
	}
	h.remove(orders+assignments+nameA).status(http.StatusOK).has("name", nameA)
	h.remove(orders + assignments + nameA).status(http.StatusNoContent)
	h.get(orders+assignments+nameA).refused(http.StatusNotFound, "RoleAssignmentNotFound", nameA)
	if got := h.claims("x", alice); got != 0 {
		t.Errorf("without a role alice has %v", got)
	}
}

func TestRoleAssignmentScopes(t *testing.T) {
	h := withEntities(t)
	other := rg + "/providers/Microsoft.ServiceBus/namespaces/returns"
	h.put(other, object{"location": "westeurope"}).status(http.StatusOK)
	for _, x := range []struct {
		scope  string
		counts []string // the entities of orders where it counts, "" is the namespace
	}{
		{sub, []string{"", "orders", "events", "events/Subscriptions/large", "events/Subscriptions/small"}},
		{rg, []string{"", "orders", "events", "events/Subscriptions/large", "events/Subscriptions/small"}},
		{orders, []string{"", "orders", "events", "events/Subscriptions/large", "events/Subscriptions/small"}},
		{other, nil},
		{orders + "/queues/orders", []string{"orders"}},
		{orders + "/topics/events", []string{"events", "events/Subscriptions/large", "events/Subscriptions/small"}},
		{orders + "/topics/events/subscriptions/large", []string{"events/Subscriptions/large"}},
	} {
		h.put(x.scope+assignments+nameA, assigns(dataReceiver, alice)).status(http.StatusCreated).
			has("properties.scope", x.scope)
		var counts []string
		for _, path := range []string{"", "orders", "events", "events/Subscriptions/large", "events/Subscriptions/small"} {
			if h.claims(path, alice) == sas.Listen {
				counts = append(counts, path)
			}
		}
		if strings.Join(counts, ",") != strings.Join(x.counts, ",") {
			t.Errorf("%s counts at %q, want %q", x.scope, counts, x.counts)
		}
		h.remove(x.scope + assignments + nameA).status(http.StatusOK)
	}
	h.put(orders+assignments+nameA, assigns("8e3af657-a8ff-443c-a75c-2fe8c4bcb635", alice)).status(http.StatusCreated)
	if got := h.claims("orders", alice); got != 0 {
		t.Errorf("an Owner of resources has %v on messages", got)
	}
}

func TestRoleAssignmentThatIsRefused(t *testing.T) {
	h := withEntities(t)
	h.put(orders+assignments+"reader", assigns(dataReceiver, alice)).
		refused(http.StatusBadRequest, "InvalidRoleAssignmentId", "must be a GUID")
	h.put(orders+assignments+nameA, assigns(dataReceiver, "alice")).
		refused(http.StatusBadRequest, "InvalidPrincipalId", "the application with the client id 'alice' is "+entra.ObjectOf("alice")+".")
	h.put(orders+assignments+nameA, assigns("Owner", alice)).refused(http.StatusBadRequest, "InvalidRoleDefinitionId", "Owner")
	h.put(orders+assignments+nameA, object{}).refused(http.StatusBadRequest, "InvalidPrincipalId", "''")
	h.put(orders+assignments+nameA, "no JSON").refused(http.StatusBadRequest, "InvalidRequestContent", "")
	h.put(orders+assignments+nameA, "[]").refused(http.StatusBadRequest, "InvalidRequestContent", "")
	h.put(orders+assignments+nameA, object{"properties": object{"roleDefinitionId": roleID(dataOwner) + "/../" + dataSender,
		"principalId": alice}}).refused(http.StatusBadRequest, "InvalidRoleDefinitionId", "..")
	conditional := assigns(dataReceiver, alice)
	conditional["properties"].(object)["condition"] = "@Resource[x] StringEquals 'y'"
	h.put(orders+assignments+nameA, conditional).refused(http.StatusBadRequest, "ConditionsNotSupported", "condition")
	robot := assigns(dataReceiver, alice)
	robot["properties"].(object)["principalType"] = "robot"
	h.put(orders+assignments+nameA, robot).refused(http.StatusBadRequest, "InvalidPrincipalType", "robot")
	h.put(orders+assignments+"..%2f"+nameA, assigns(dataReceiver, alice)).
		refused(http.StatusBadRequest, "InvalidRoleAssignmentId", "")
	h.put(orders+"/../returns"+assignments+nameA, assigns(dataReceiver, alice)).
		refused(http.StatusBadRequest, "InvalidRequestUri", "..")

	foreign := strings.Replace(orders, sub, "/subscriptions/"+nameB, 1)
	h.put(foreign+assignments+nameA, assigns(dataReceiver, alice)).
		refused(http.StatusNotFound, "ResourceGroupNotFound", "shop")
	h.put(sub+"/resourceGroups/none"+assignments+nameA, assigns(dataReceiver, alice)).
		refused(http.StatusNotFound, "ResourceGroupNotFound", "none")
	for _, missing := range []string{
		rg + "/providers/Microsoft.ServiceBus/namespaces/none", orders + "/queues/none", orders + "/topics/orders",
		orders + "/topics/events/subscriptions/none", rg + "/providers/Microsoft.KeyVault/vaults/safe",
	} {
		h.put(missing+assignments+nameA, assigns(dataReceiver, alice)).refused(http.StatusNotFound, "ResourceNotFound", "")
	}
	if len(h.grants.byName) != 0 {
		t.Errorf("a refused assignment counts: %v", h.grants.byName)
	}
}

func TestRoleAssignmentsOfOneName(t *testing.T) {
	h := withEntities(t)
	h.put(orders+assignments+nameA, assigns(dataSender, alice)).status(http.StatusCreated)
	for _, x := range []struct {
		scope string
		body  object
	}{
		{orders, assigns(dataReceiver, alice)}, {orders, assigns(dataSender, bob)},
		{orders + "/queues/orders", assigns(dataSender, alice)}, {rg, assigns(dataSender, alice)},
	} {
		h.put(x.scope+assignments+nameA, x.body).
			refused(http.StatusBadRequest, "RoleAssignmentUpdateNotPermitted", "are not allowed to be updated")
	}
	h.put(orders+assignments+nameB, assigns(dataSender, alice)).
		refused(http.StatusConflict, "RoleAssignmentExists", strings.ReplaceAll(nameA, "-", ""))
	described := assigns(dataSender, alice)
	described["properties"].(object)["description"] = "sends"
	h.put(orders+assignments+nameA, described).status(http.StatusOK).has("properties.description", "sends")
	if h.claims("orders", alice) != sas.Send || h.claims("orders", bob) != 0 {
		t.Error("a refused change counts")
	}
}

func TestRoleAssignmentLists(t *testing.T) {
	h := withEntities(t)
	h.put(sub+assignments+nameA, assigns(dataSender, alice)).status(http.StatusCreated)
	h.put(orders+assignments+nameB, assigns(dataSender, bob)).status(http.StatusCreated)
	h.put(orders+"/queues/orders"+assignments+nameC, assigns(dataReceiver, alice)).status(http.StatusCreated)
	const list = "/providers/Microsoft.Authorization/roleAssignments"
	h.get(orders+list).want(nameA, nameB, nameC)
	h.get(orders+list+"?$filter=atScope()").want(nameA, nameB)
	h.get(orders+list+"?$filter=principalId+eq+'"+alice+"'").want(nameA, nameC)
	h.get(orders+list+"?$filter=principalId+eq+"+strings.ToUpper(alice)).want(nameA, nameC)
	h.get(orders + list + "?$filter=atScope()+and+assignedTo('" + alice + "')").want(nameA)
	h.get(orders+"/queues/orders"+list).want(nameA, nameB, nameC)
	h.get(orders+"/topics/events"+list).want(nameA, nameB)
	h.get(sub + list + "?$filter=atScope()").want(nameA)
	h.get("/providers/Microsoft.Authorization/roleAssignments").want(nameA, nameB, nameC)
	h.get(orders+list+"?$filter=assignedTo('x'").refused(http.StatusBadRequest, "UnsupportedQuery", "assignedTo")
	long := h.get(orders + list + "?$filter=" + strings.Repeat("atScope()+and+", 10_000) + "atScope()")
	if names := long.names(); len(names) != 2 {
		t.Errorf("a long filter: %q", names)
	}
}

func TestCustomRole(t *testing.T) {
	h := withOrders(t)
	body := func(name string, not ...string) object {
		return object{"properties": object{"roleName": name, "type": "CustomRole", "assignableScopes": []string{sub},
			"permissions": []object{{"dataActions": []string{"Microsoft.ServiceBus/*"}, "notDataActions": not}}}}
	}
	h.put(roleID(custom), body("Listener", "Microsoft.ServiceBus/*/send/action")).status(http.StatusCreated).
		has("id", roleID(custom), "properties.type", "CustomRole", "properties.permissions.0.actions", []any{})
	h.get(sub + "/providers/Microsoft.Authorization/roleDefinitions?$filter=type+eq+'CustomRole'").want(custom)
	h.put(orders+assignments+nameA, assigns(custom, alice)).status(http.StatusCreated)
	if got := h.claims("orders", alice); got != sas.Listen {
		t.Errorf("alice has %v", got)
	}
	h.restart()
	if got := h.claims("orders", alice); got != sas.Listen {
		t.Errorf("after a restart alice has %v", got)
	}
	h.put(roleID(custom), body("Listener", "Microsoft.ServiceBus/*/receive/action")).status(http.StatusCreated)
	if got := h.claims("orders", alice); got != sas.Send {
		t.Errorf("after the role's change alice has %v", got)
	}
	h.put(roleID(nameB), body("listener")).refused(http.StatusConflict, "RoleDefinitionWithSameNameExists", "Listener")
	h.put(roleID(dataOwner), body("Mine")).refused(http.StatusBadRequest, "RoleDefinitionUpdateNotPermitted", dataOwner)
	h.put(roleID("mine"), body("Mine")).refused(http.StatusBadRequest, "InvalidRoleDefinitionId", "GUID")
	h.remove(roleID(custom)).refused(http.StatusBadRequest, "RoleDefinitionHasAssignments", custom)
	h.remove(orders + assignments + nameA).status(http.StatusOK)
	h.remove(roleID(custom)).status(http.StatusOK)
	h.remove(roleID(custom)).status(http.StatusNoContent)
	h.remove(roleID(dataOwner)).refused(http.StatusBadRequest, "RoleDefinitionDeleteNotPermitted", dataOwner)
}

func TestUnknownRoleOfAnotherService(t *testing.T) {
	h := withOrders(t)
	var seen strings.Builder
	h.Manager.log = slog.New(slog.NewTextHandler(&seen, nil))
	h.put(rg+assignments+nameB, assigns(builtInRoles[3].id, alice)).status(http.StatusCreated)
	if strings.Contains(seen.String(), "level=WARN") {
		t.Errorf("a role that gives no right on messages is logged as %s", seen.String())
	}
	h.put(rg+assignments+nameA, assigns(custom, alice)).status(http.StatusCreated)
	if said := seen.String(); !strings.Contains(said, "level=WARN") || !strings.Contains(said, "role="+custom) {
		t.Errorf("a role that may be mistyped is logged as %s", said)
	}
	h.get(roleID(custom)).status(http.StatusOK).has("properties.roleName", custom)
	if got := h.claims("orders", alice); got != 0 {
		t.Errorf("alice has %v", got)
	}
}

// What is deleted takes its role assignments along, whoever deletes it: a later entity of the name begins without any.
func TestRoleAssignmentsEndWithTheirScope(t *testing.T) {
	h := withEntities(t)
	ns, err := h.broker.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	roles := func() (n int) { return len(h.grants.byName) }
	at := func(scope string) {
		h.put(scope+assignments+nameA, assigns(dataSender, alice)).status(http.StatusCreated)
	}

	at(orders + "/queues/orders")
	if err := ns.Entities().Delete("orders"); err != nil {
		t.Fatal(err)
	}
	if roles() != 0 {
		t.Error("a queue that another client deleted keeps its role assignments")
	}

	at(orders + "/topics/events/subscriptions/large")
	h.put(orders+assignments+nameB, assigns(dataSender, bob)).status(http.StatusCreated)
	if err := ns.Entities().Delete("events"); err != nil {
		t.Fatal(err)
	}
	if roles() != 1 {
		t.Errorf("%d assignments are left with the namespace, want 1", roles())
	}
	if err := h.broker.Delete("orders"); err != nil {
		t.Fatal(err)
	}
	if roles() != 0 {
		t.Error("a namespace that another client deleted keeps its role assignments")
	}
	h.put(orders, object{"location": "westeurope"}).status(http.StatusOK)

	at(orders)
	h.remove(rg).status(http.StatusOK)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	h.get(rg + "/providers/Microsoft.Authorization/roleAssignments").want()
	if roles() != 0 {
		t.Error("a deleted group keeps its role assignments")
	}
}

// A reset makes the entities anew: what hangs on them stays, and goes with those that do not come again.
func TestRoleAssignmentsSurviveAReset(t *testing.T) {
	h := withEntities(t)
	ns, err := h.broker.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	h.put(orders+"/queues/orders"+assignments+nameA, assigns(dataSender, alice)).status(http.StatusCreated)
	h.put(orders+"/topics/events"+assignments+nameB, assigns(dataSender, alice)).status(http.StatusCreated)
	if err := ns.Reset([]emulator.EntityConfig{{Path: "orders", Queue: &emulator.QueueOptions{}}}); err != nil {
		t.Fatal(err)
	}
	if h.claims("orders", alice) != sas.Send || h.claims("events", alice) != 0 {
		t.Errorf("alice has %v on the queue, %v on the topic", h.claims("orders", alice), h.claims("events", alice))
	}
}

// A client shows a token at each link: its rights must cost next to nothing, however much is stored.
func BenchmarkClaims(b *testing.B) {
	h := &house{}
	h.begin(b)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	h.put(orders, object{"location": "westeurope"}).status(http.StatusOK)
	for i := range 1000 {
		name := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)
		h.put(orders+assignments+name, assigns(dataSender, name)).status(http.StatusCreated)
	}
	ns, err := h.broker.Namespace("orders")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if h.Claims(ns, "orders", []string{"00000999-0000-4000-8000-000000000000"}) != sas.Send {
			b.Fatal("the role does not count")
		}
	}
}
