package arm

import (
	"testing"

	"minibus/internal/sas"
)

func TestDataActionsDecide(t *testing.T) {
	all := sas.Send | sas.Listen | sas.Manage
	for _, x := range []struct {
		name string
		permission
		want sas.Claims
	}{
		{"nothing", permission{}, 0},
		{"actions", permission{Actions: []string{"*"}}, 0},
		{"everything", permission{DataActions: []string{"*"}}, all},
		{"the service", permission{DataActions: []string{"Microsoft.ServiceBus/*"}}, all},
		{"letters of another case", permission{DataActions: []string{"microsoft.servicebus/*/SEND/action"}}, sas.Send},
		{"send", permission{DataActions: []string{sendAction}}, sas.Send},
		{"receive", permission{DataActions: []string{"Microsoft.ServiceBus/*/receive/action"}}, sas.Listen},
		{"messages", permission{DataActions: []string{"Microsoft.ServiceBus/namespaces/messages/*"}}, sas.Send | sas.Listen},
		{"messages with a star in the middle", permission{DataActions: []string{"*/messages/*/action"}},
			sas.Send | sas.Listen},
		{"all but send", permission{DataActions: []string{"Microsoft.ServiceBus/*"},
			NotDataActions: []string{"*/send/action"}}, sas.Listen},
		{"all but managing", permission{DataActions: []string{"Microsoft.ServiceBus/*"},
			NotDataActions: []string{manageAction}}, sas.Send | sas.Listen},
		{"another service", permission{DataActions: []string{"Microsoft.EventHub/*"}}, 0},
		{"a pattern that is longer", permission{DataActions: []string{sendAction + "/more"}}, 0},
		{"a pattern that repeats itself", permission{DataActions: []string{"Microsoft.ServiceBus/*send*/send/action"}}, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := x.claims(); got != x.want {
				t.Errorf("%v, want %v", got, x.want)
			}
		})
	}
	separate := []permission{{DataActions: []string{sendAction}}, {DataActions: []string{receiveAction}}}
	if got := claimsOf(separate); got != sas.Send|sas.Listen {
		t.Errorf("two permissions: %v", got)
	}
}

func TestBuiltInRolesOfServiceBus(t *testing.T) {
	want := map[string]sas.Claims{
		dataOwner: sas.Send | sas.Listen | sas.Manage, dataSender: sas.Send, dataReceiver: sas.Listen,
	}
	if len(builtInClaims) != len(want) {
		t.Errorf("roles with rights: %v", builtInClaims)
	}
	for id, claims := range want {
		if builtInClaims[id] != claims {
			t.Errorf("%s gives %v, want %v", id, builtInClaims[id], claims)
		}
	}
}

func TestScopesOfGrants(t *testing.T) {
	const ns = "/subscriptions/s/resourcegroups/g/providers/microsoft.servicebus/namespaces/n"
	g := newGrants()
	const me, other = "11111111-1111-1111-1111-11111111111a", "22222222-2222-2222-2222-222222222222"
	give := func(name, scope, role string) {
		g.put(grant{key: scope + "/x/" + name, scope: scope, role: role, principal: me})
	}
	got := func(scope string) sas.Claims {
		return g.claims(scope, []string{other, "11111111-1111-1111-1111-11111111111A"})
	}
	for _, x := range []struct {
		assigned, asked string
		counts          bool
	}{
		{ns + "/queues/orders", ns + "/queues/orders", true},
		{ns + "/queues/orders", "/subscriptions/S/resourceGroups/G/providers/Microsoft.ServiceBus/namespaces/N/queues/ORDERS", true},
		{ns + "/queues/orders", ns + "/queues/orders2", false},
		{ns + "/queues/orders", ns + "/queues/order", false},
		{ns + "/queues/orders", ns, false},
		{ns + "/topics/t", ns + "/topics/t/subscriptions/s", true},
		{ns + "/topics/t/subscriptions/s", ns + "/topics/t", false},
		{ns + "/topics/t/subscriptions/s", ns + "/topics/t/subscriptions/s2", false},
		{ns, ns + "/queues/orders", true},
		{ns, ns + "2/queues/orders", false},
		{"/subscriptions/s/resourcegroups/g", ns, true},
		{"/subscriptions/s/resourcegroups/g", "/subscriptions/s/resourcegroups/g2/providers/microsoft.servicebus/namespaces/n", false},
		{"/subscriptions/s", ns, true},
		{"/subscriptions/s2", ns, false},
		{"", ns, true},
	} {
		give("a", x.assigned, dataSender)
		if claims := got(x.asked); (claims == sas.Send) != x.counts {
			t.Errorf("a sender at %s has %v at %s", x.assigned, claims, x.asked)
		}
	}
	give("a", ns, dataSender)
	give("b", ns+"/queues/orders", dataReceiver)
	if claims := got(ns + "/queues/orders"); claims != sas.Send|sas.Listen {
		t.Errorf("two roles give %v", claims)
	}
	if claims := g.claims(ns, []string{other}); claims != 0 {
		t.Errorf("another principal has %v", claims)
	}
	g.remove("a")
	g.remove("b")
	if len(g.byName)+len(g.byPrincipal) != 0 || got(ns) != 0 {
		t.Errorf("what is left: %v %v", g.byName, g.byPrincipal)
	}
}
