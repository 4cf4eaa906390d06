package config

import (
	"strings"
	"testing"
)

const severalJSON = `{"UserConfig": {"Namespaces": [
	{"Name": "sbemulatorns", "Queues": [{"Name": "q"}], "Aliases": ["bus.test"]},
	{"Name": "Orders", "Queues": [{"Name": "q", "Properties": {"ForwardTo": "own"}}, {"Name": "own"}], "Aliases": ["orders.test.", "orders-2.test"], "Port": 5701,
	 "AuthorizationRules": [{"KeyName": "root", "PrimaryKey": "k", "Rights": ["Manage", "Send", "Listen"]}]},
	{"Name": "stock-1", "Topics": [{"Name": "q"}]}]}}`

func TestSeveralNamespaces(t *testing.T) {
	topology, report := Parse("Config.json", []byte(severalJSON), ProfileRelaxed)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	all := topology.All()
	if len(all) != 3 || all[0] != topology {
		t.Fatalf("%d namespaces", len(all))
	}
	for i, want := range []struct {
		name, aliases    string
		port, entities   int
		rules, subscribe int
	}{{"sbemulatorns", "bus.test", 0, 1, 0, 0}, {"Orders", "orders.test orders-2.test", 5701, 2, 1, 0}, {"stock-1", "", 0, 1, 0, 0}} {
		n := all[i]
		if n.Namespace != want.name || strings.Join(n.Aliases, " ") != want.aliases || n.Port != want.port || len(n.Entities) != want.entities ||
			len(n.AuthorizationRules) != want.rules {
			t.Errorf("namespace %d: %+v, want %+v", i, n, want)
		}
	}
	notes := ""
	for _, f := range report.Findings {
		if f.Severity != Note {
			t.Error(f)
		}
		notes += f.String() + "\n"
	}
	for _, want := range []string{
		"Config.json:3:2: note: $.UserConfig.Namespaces[1]: found 3 namespaces, the first is the default one; Microsoft's emulator allows one",
		"Namespaces[0].Aliases[0], $.UserConfig.Namespaces[1].Aliases[0], $.UserConfig.Namespaces[1].Aliases[1], ...",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, notes)
		}
	}
}

func TestNamespacesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ list, want string }{
		"no name":          {`{}, {}`, `Namespaces[1]: found no Name; give each namespace a Name`},
		"a bad name":       {`{}, {"Name": "a_b"}`, `Namespaces[1].Name: The specified service namespace 'a_b' is invalid`},
		"the same name":    {`{}, {"Name": "orders"}, {"Name": "ORDERS"}`, `Namespaces[2].Name: found the namespace "ORDERS" a second time`},
		"the default name": {`{}, {"Name": "SBemulatorNS"}`, `Namespaces[1].Name: found the namespace "SBemulatorNS" a second time`},
		"the same alias":   {`{"Aliases": ["a"]}, {"Name": "orders", "Aliases": ["A."]}`, `Namespaces[1].Aliases[0]: found the alias "A" a second time`},
		"an alias with a port": {`{"Aliases": ["a:5672"]}`,
			`Config.json:1:45: error: $.UserConfig.Namespaces[0].Aliases[0]: The alias "a:5672" is not the name of a host`},
		"an address as alias":     {`{"Aliases": ["10.0.0.7"]}`, `Namespaces[0].Aliases[0]: The alias "10.0.0.7" is an address`},
		"localhost as alias":      {`{"Aliases": ["localhost"]}`, `Namespaces[0].Aliases[0]: The alias "localhost"`},
		"another's name as alias": {`{"Aliases": ["orders.localhost"]}`, `Namespaces[0].Aliases[0]: The alias "orders.localhost"`},
		"too many aliases":        {`{"Aliases": [` + strings.Repeat(`"a",`, 100) + `"a"]}`, `Namespaces[0].Aliases: found 101 aliases; allowed: up to 100`},
		"the same port":           {`{"Port": 5701}, {"Name": "orders", "Port": 5701}`, `Namespaces[1].Port: found the port 5701 a second time; give each namespace a port of its own`},
		"no port":                 {`{"Port": 70000}`, `Namespaces[0].Port: found the number 70000; allowed: a whole number from 1 to 65535`},
		"another's target":        {`{"Queues": [{"Name": "q"}]}, {"Name": "orders", "Queues": [{"Name": "a", "Properties": {"ForwardTo": "q"}}]}`, `found the unknown target "q"`},
		"another's host": {`{"Queues": [{"Name": "q"}]}, {"Name": "orders", "Queues": [{"Name": "q"}, {"Name": "a", "Properties": {"ForwardTo": "sb://SBemulatorNS.localhost:5672/q"}}]}`,
			`Queues[1].Properties.ForwardTo: found the host of the namespace "sbemulatorns" in "sb://SBemulatorNS.localhost:5672/q"; ` +
				`allowed: a queue or topic of the namespace "orders"; give the path alone`},
		"another's alias": {`{"Queues": [{"Name": "q"}, {"Name": "a", "Properties": {"ForwardDeadLetteredMessagesTo": "sb://Shop.test./q"}}]}, {"Name": "orders", "Aliases": ["shop.test"]}`,
			`found the host of the namespace "orders" in "sb://Shop.test./q"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := Parse("Config.json", []byte(`{"UserConfig": {"Namespaces": [`+c.list+`]}}`), ProfileRelaxed)
			if err := report.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestRangesOfPorts(t *testing.T) {
	for text, want := range map[string][2]int{"5700-5719": {5700, 5719}, "5700": {5700, 5700}, " 5700 - 5701": {5700, 5701}, "0": {}, "OFF": {}} {
		s, err := read([]string{"--namespace-ports", text}, nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		first, last, anyFree := s.NamespacePorts.Ends()
		if first != want[0] || last != want[1] || anyFree != (text == "0") {
			t.Errorf("%q: %d to %d, any free ones: %v", text, first, last, anyFree)
		}
	}
	for _, text := range []string{"5719-5700", "0-5", "5700-70000", "x", "5700-", "5700,5701"} {
		if _, err := read([]string{"--namespace-ports", text}, nil); err == nil || !strings.Contains(err.Error(), "a range of ports such as 5700-5719") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPartsShareNamespaces by their names, and the default one even without.
func TestPartsShareNamespaces(t *testing.T) {
	second := `{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "r"}]}, {"Name": "orders", "Queues": [{"Name": "r"}]}]}}`
	topology, report := Assemble([]Part{{From: "a", JSON: []byte(severalJSON)}, {From: "b", JSON: []byte(second)}}, ProfileRelaxed, nil)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	if n := len(topology.Others); n != 2 || len(topology.Entities) != 2 || len(topology.Others[0].Entities) != 3 {
		t.Errorf("%d others, %+v", n, topology)
	}
	_, report = Assemble([]Part{{From: "a", JSON: []byte(severalJSON)}, {From: "b", JSON: []byte(strings.ReplaceAll(second, `"r"`, `"own"`))}}, ProfileRelaxed, nil)
	if err := report.Err(); err == nil || strings.Count(err.Error(), "\n") != 0 || !strings.Contains(err.Error(), `found the name "own" a second time`) {
		t.Errorf("the same queue twice: %v", err)
	}
}

// TestTargetsMayBeAddresses, with each host that is not that of another namespace in the file.
func TestTargetsMayBeAddresses(t *testing.T) {
	for _, address := range []string{"sb://orders.localhost/q", "sb://stock-1.shop.test/q", "sb://localhost:5672/q", "sb://stock-1/q", "sb:///q"} {
		list := `{"Name": "sbemulatorns"}, {"Name": "orders", "Aliases": ["stock-1.shop.test"], "Queues": [{"Name": "q", "Properties": {"ForwardTo": "` + address + `"}}]}, {"Name": "stock-1"}`
		topology, report := Parse("Config.json", []byte(`{"UserConfig": {"Namespaces": [`+list+`]}}`), ProfileRelaxed)
		if err := report.Err(); err != nil {
			t.Errorf("%s: %v", address, err)
		} else if got := topology.Others[0].Entities[0].Queue.ForwardTo; got != "q" {
			t.Errorf("%s: forwards to %q", address, got)
		}
	}
}
