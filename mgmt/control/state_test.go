package control_test

import (
	"testing"

	"minibus/mgmt/control"
)

// TestControlAPIResetsANamespace to the entities with which it was created, empty, while another one stays as it is.
func TestControlAPIResetsANamespace(t *testing.T) {
	a := controlAPI(t)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces", `{"name": "stock-1", "Queues": [{"Name": "q"}, {"Name": "deleted"}]}`), 201)
	const one = control.Prefix + "namespaces/stock-1"
	ns, err := a.bus.broker.Namespace("stock-1")
	if err != nil {
		t.Fatal(err)
	}
	for host, token := range map[string]string{"stock-1.localhost": a.tokenTo("stock-1"), "localhost": a.root()} {
		wants(t, a.bus.at(host, 5300, "POST", "/q/messages", "x", authorization, token), 201)
	}
	if err := ns.Entities().Delete("deleted"); err != nil {
		t.Fatal(err)
	}
	wants(t, a.as("root", "POST", one+"/reset", ""), 204)
	wants(t, a.as("root", "GET", one+"/entities/q", ""), 200, `"active":0`)
	wants(t, a.as("root", "GET", one+"/entities/deleted", ""), 200)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/$default/entities/q", ""), 200, `"active":1`)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces/nothing/reset", ""), 404)
	a.covers("state")
}
