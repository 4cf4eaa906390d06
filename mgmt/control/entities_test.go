package control_test

import (
	"encoding/json"
	"slices"
	"testing"

	"minibus/mgmt/control"
)

// TestControlAPIListsEntities in pages, by path, of a kind, and with a text in the path.
func TestControlAPIListsEntities(t *testing.T) {
	a := controlAPI(t)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces", withEntities), 201)
	const list = control.Prefix + "namespaces/with-entities/entities"
	paths := func(query string) (all []string) {
		for cursor := ""; ; {
			w := a.as("root", "GET", list+query+cursor, "")
			wants(t, w, 200)
			var page struct {
				Items []struct{ Path, Kind, Status string }
				Next  string
			}
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Items {
				all = append(all, e.Kind+" "+e.Path)
			}
			if page.Next == "" {
				return all
			}
			cursor = "&cursor=" + page.Next
		}
	}
	everything := []string{"topic events", "subscription events/Subscriptions/large", "queue old", "queue orders", "queue parcels"}
	same(t, paths("?limit=2"), everything)
	same(t, paths("?limit=1000"), everything)
	same(t, paths("?kind=queue"), everything[2:])
	same(t, paths("?text=OLD"), everything[2:3])
	same(t, paths("?text=nothing"), nil)
	wants(t, a.as("root", "GET", list+"?limit=0", ""), 400, `"detail":"The request is not as /$minibus/v1/openapi.json says: query.limit: expected number >= 1."`)
	wants(t, a.as("root", "GET", list+"?most=1", ""), 400, "query.most: unknown query parameter")
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/entities", ""), 404)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/$default/entities", ""), 200, `{"items":[`, `"traffic":{"stored":0,"delivered":0,"completed":0}`)
	wants(t, a.as("root", "GET", list+"/events%2Fsubscriptions%2FLARGE", ""), 200, `"path":"events/Subscriptions/large","kind":"subscription","status":"Active"`)
	wants(t, a.as("root", "GET", list+"/nothing", ""), 404, `The messaging entity 'nothing' could not be found`)
	wants(t, a.bus.at("orders.localhost", 5300, "GET", control.Prefix+"namespaces/$this", "", authorization, a.root()), 200, `"name":"orders"`)
	wants(t, a.bus.at("localhost", 5300, "GET", control.Prefix+"namespaces/$this", "", authorization, a.root()), 200, `"name":"sbemulatorns"`)
	wants(t, a.bus.at("nothing.localhost", 5300, "GET", control.Prefix+"namespaces/$this", "", authorization, a.root()), 404)
}

// same fails unless two lists are equal.
func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
