package control_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/mgmt/control"
	"minibus/mgmt/control/api"
)

// clients is what a test's server knows of its clients.
type clients struct {
	list   []api.Connection
	closed []string

	refused []emulator.Refusal
}

func (c controlled) OpenConnections(*emulator.Namespace) (ids []string) {
	for _, one := range c.clients.list {
		ids = append(ids, one.ID)
	}
	return ids
}

func (c controlled) Connections(_ *emulator.Namespace, chosen func(string) bool) (list []api.Connection) {
	for _, one := range c.clients.list {
		if chosen(one.ID) {
			list = append(list, one)
		}
	}
	return list
}

func (c controlled) CloseConnection(_ *emulator.Namespace, id string) error { return c.clients.end(id) }

func (c controlled) DetachLink(_ *emulator.Namespace, id string, link int64) error {
	return c.clients.end(fmt.Sprintf("%s/%d", id, link))
}

func (c *clients) end(what string) error {
	switch {
	case strings.HasPrefix(what, "http:"):
		return &emulator.Error{Code: emulator.CodeNotAllowed, Text: "It ends by itself."}
	case strings.HasPrefix(what, "c9"):
		return &emulator.Error{Code: emulator.CodeNotFound, Text: "There is none."}
	}
	c.closed = append(c.closed, what)
	return nil
}

func (c controlled) Refusals(*emulator.Namespace) []emulator.Refusal { return c.clients.refused }

func (c controlled) Why(_ *emulator.Namespace, e *emulator.Entity, sub emulator.SubQueue, client string) emulator.Diagnosis {
	return e.Why(emulator.Question{Sub: sub, Client: client})
}

// someClients are twelve connections, of which the second is busy, and every third receives from q's dead-letter queue.
func someClients() clients {
	var all clients
	since := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 12 {
		c := api.Connection{ID: fmt.Sprintf("c%d", i+1), Remote: "127.0.0.1:1", Transport: "tcp", Since: since, Policies: []string{}, Links: []api.Link{}}
		switch {
		case i == 1:
			c.Busy = true
		case i%3 == 0:
			c.Links = append(c.Links, api.Link{ID: 1, Role: "receiver", Address: "q/$DeadLetterQueue", Entity: "q", SubQueue: "$DeadLetterQueue", Mode: "peekLock",
				Since: since, LastActive: since, WaitsFor: "credit"})
		}
		all.list = append(all.list, c)
	}
	slices.Reverse(all.list)
	return all
}

// TestControlAPIListsConnections in pages, the oldest first, all or those that have to do with an entity, and closes
// them.
func TestControlAPIListsConnections(t *testing.T) {
	a := controlAPI(t)
	a.bus.clients = someClients()
	const list = control.Prefix + "namespaces/$default/connections"
	ids := func(query string) (all []string) {
		for cursor := ""; ; {
			w := a.as("root", "GET", list+query+cursor, "")
			wants(t, w, 200)
			var page struct {
				Items []api.Connection
				Next  string
			}
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
				t.Fatal(err)
			}
			for _, c := range page.Items {
				all = append(all, c.ID)
			}
			if page.Next == "" {
				return all
			}
			cursor = "&cursor=" + page.Next
		}
	}
	everybody := []string{"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12"}
	same(t, ids("?limit=5"), everybody)
	same(t, ids("?limit=1000"), everybody)
	receivers := []string{"c1", "c2", "c4", "c7", "c10"} // c2 may be one: it is busy
	same(t, ids("?limit=2&entity=Q"), receivers)
	same(t, ids("?entity=q%2F$DeadLetterQueue"), receivers)
	same(t, ids("?entity=q%2F$Transfer%2F$DeadLetterQueue"), []string{"c2"})
	same(t, ids("?entity=other"), []string{"c2"})
	wants(t, a.as("root", "GET", list+"?limit=0", ""), 400)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/connections", ""), 404)
	wants(t, a.as("root", "GET", list+"/c4", ""), 200, `"waitsFor":"credit"`)
	wants(t, a.as("root", "GET", list+"/c44", ""), 404, "There is no open connection 'c44'")
	wants(t, a.as("root", "DELETE", list+"/c4", ""), 204)
	wants(t, a.as("root", "DELETE", list+"/c9", ""), 404, "There is none.")
	wants(t, a.as("root", "DELETE", list+"/http:127.0.0.1:1", ""), 409, "It ends by itself.")
	wants(t, a.as("root", "DELETE", list+"/c4/links/1", ""), 204)
	wants(t, a.as("root", "DELETE", list+"/c4/links/0", ""), 400)
	wants(t, a.as("root", "DELETE", list+"/c9/links/1", ""), 404)
	wants(t, a.as("root", "DELETE", list+"/http:127.0.0.1:1/links/1", ""), 409)
	same(t, a.bus.clients.closed, []string{"c4", "c4/1"})
	const refused = control.Prefix + "namespaces/$default/refusals"
	wants(t, a.as("root", "GET", refused, ""), 200, `"items":[]`)
	a.bus.clients.refused = []emulator.Refusal{{At: time.Now(), Client: &emulator.Client{Connection: "c3", Remote: "127.0.0.1:1"}, Operation: "attach", Entity: "q", Sub: emulator.DeadLetter,
		Condition: "amqp:not-found", Text: "There is none."}, {At: time.Now(), Operation: "put-token", Condition: "amqp:unauthorized-access", Text: "It ended."}}
	wants(t, a.as("root", "GET", refused, ""), 200, `"operation":"attach","entity":"q","subQueue":"$DeadLetterQueue","condition":"amqp:not-found","text":"There is none.","client":{"connection":"c3"`,
		`"operation":"put-token","condition"`)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/refusals", ""), 404)
	a.covers("connections")
}

// TestControlAPIExplainsWhy nothing is received. Package emulator tests the findings.
func TestControlAPIExplainsWhy(t *testing.T) {
	a := controlAPI(t)
	const q = control.Prefix + "namespaces/$default/entities/q"
	wants(t, a.as("root", "GET", q+"/why", ""), 200, `"entity":"q","available":0,"receivers":0,"blocked":true`, `"code":"empty","blocks":true`, `"code":"no-receiver"`)
	wants(t, a.as("root", "GET", q+"%2F$DeadLetterQueue/why?client=worker", ""), 200, `"entity":"q/$DeadLetterQueue"`, "No receiver of 'worker' is attached to q/$DeadLetterQueue")
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/$default/entities/nothing/why", ""), 404, `The messaging entity 'nothing' could not be found`)
	a.covers("why")
}
