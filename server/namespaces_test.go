package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

// severalJSON has three namespaces with a queue of the same name.
const severalJSON = `{"UserConfig": {"Namespaces": [
	{"Name": "sbemulatorns", "Queues": [{"Name": "q", "Properties": {"UserMetadata": "of sbemulatorns"}}]},
	{"Name": "orders", "Aliases": ["orders.test"], "Queues": [{"Name": "q", "Properties": {"UserMetadata": "of orders"}}]},
	{"Name": "stock-1", "Queues": [{"Name": "q", "Properties": {"UserMetadata": "of stock-1"}}]}]}}`

func topologyOf(t *testing.T, text string) *config.Topology {
	t.Helper()
	topology, report := config.Parse("Config.json", []byte(text), config.ProfileRelaxed)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	return topology
}

// several starts a server with the namespaces of severalJSON, each with a free port.
func several(t *testing.T, c Config) *Server {
	t.Helper()
	c.Topology = topologyOf(t, severalJSON)
	c.Settings.TLSPort, c.Settings.HTTPPort, c.Settings.NamespacePorts = config.PortOff, config.PortOff, "0"
	c.Settings.Ephemeral = c.Settings.Data == ""
	a, err := start(t, c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// askAt sends a request to a port with a host, and returns status and body.
func askAt(t *testing.T, method string, port int, host, path string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, local(port, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return fetch(t, r)
}

func fetch(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestNamespacesOfAConfigurationHavePortsOfTheirOwn(t *testing.T) {
	a := several(t, Config{})
	served := a.namespacePorts.served()
	if len(served) != 2 || served["orders"] == 0 || served["stock-1"] == 0 || served["orders"] == served["stock-1"] {
		t.Fatalf("ports %v", served)
	}
	for _, c := range []struct {
		port       int
		host, want string
	}{
		{a.ports.AMQP, "", "sbemulatorns"}, {served["orders"], "", "orders"}, {served["stock-1"], "", "stock-1"},
		{a.ports.AMQP, "orders.test", "orders"}, {served["stock-1"], "orders.servicebus.windows.net", "orders"},
	} {
		if status, body := askAt(t, "GET", c.port, c.host, "/q"); status != 200 || !strings.Contains(body, "of "+c.want) {
			t.Errorf("at %d, %q: %d %s, want the queue of %s", c.port, c.host, status, body, c.want)
		}
	}
	if status, body := askAt(t, "GET", a.ports.AMQP, "order.servicebus.windows.net", "/q"); status != 404 || !strings.Contains(body, "Correct the host name") {
		t.Errorf("an unknown name: %d %s", status, body)
	}
}

func TestConnectionStringsOfNamespaces(t *testing.T) {
	a := several(t, Config{Settings: config.Settings{NamespaceSuffixes: "bus.test"}})
	served := a.namespacePorts.served()
	for _, c := range []struct{ name, host, want string }{
		{"orders", "", "localhost:" + strconv.Itoa(served["orders"])},
		{"orders", "minibus:5300", "minibus:" + strconv.Itoa(served["orders"])},
		{"orders", "[::1]:5300", "[::1]:" + strconv.Itoa(served["orders"])},
		{"stock-1", "orders.test", "stock-1.bus.test:" + strconv.Itoa(served["stock-1"])},
		{"sbemulatorns", "", "localhost:" + strconv.Itoa(a.ports.AMQP)},
		{"sbemulatorns", "orders.test:5300", "sbemulatorns.bus.test:" + strconv.Itoa(a.ports.AMQP)},
	} {
		ns, err := a.Broker().Namespace(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Endpoint(ns, c.host); got != c.want {
			t.Errorf("%s for a client of %q: %s, want %s", c.name, c.host, got, c.want)
		}
	}
	ns, err := a.Broker().Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Endpoint=sb://localhost:%d;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=%s;UseDevelopmentEmulator=true;",
		served["orders"], ns.Options().Policies[0].PrimaryKey)
	if got := a.ConnectionTo(ns); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNamespacesComeAndGoWithTheirPorts(t *testing.T) {
	const host = "127.0.7.11" // where no other program takes ports meanwhile
	a := several(t, Config{Settings: config.Settings{Host: host}})
	ns, err := a.CreateNamespace("", emulator.NamespaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	port := ns.Options().Port
	if port == 0 || a.namespacePorts.served()[ns.Name()] != port {
		t.Fatalf("port %d, served are %v", port, a.namespacePorts.served())
	}
	if c, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(port))); err != nil {
		t.Errorf("the port is not served: %v", err)
	} else {
		_ = c.Close()
	}
	if _, err := a.CreateNamespace("another", emulator.NamespaceOptions{Port: port}); !refused(err, emulator.CodeAlreadyExists) {
		t.Errorf("the same port: %v", err)
	}
	if _, err := a.CreateNamespace("another", emulator.NamespaceOptions{Port: a.ports.AMQP}); !refused(err, emulator.CodeAlreadyExists) {
		t.Errorf("the port for AMQP: %v", err)
	}
	for _, o := range []emulator.NamespaceOptions{{Port: -1}, {Port: 70000}} {
		want := fmt.Sprintf("can't have the port %d: choose one from 1 to 65535", o.Port)
		if _, err := a.CreateNamespace("another", o); !refused(err, emulator.CodeArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("a port that is none: %v", err)
		}
	}
	bound := len(a.namespacePorts.bound)
	if _, err := a.CreateNamespace("ORDERS", emulator.NamespaceOptions{}); !refused(err, emulator.CodeAlreadyExists) || len(a.namespacePorts.bound) != bound {
		t.Errorf("the same name: %v, %d ports", err, len(a.namespacePorts.bound))
	}
	if err := a.DeleteNamespace(strings.ToUpper(ns.Name())); err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
		_ = c.Close()
		t.Error("the port is still served")
	}
	if err := a.DeleteNamespace("sbemulatorns"); !refused(err, emulator.CodeNotAllowed) {
		t.Errorf("the default one: %v", err)
	}
}

// post asks the control API for a namespace.
func post(t *testing.T, a *Server, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, local(a.ports.AMQP, "/$minibus/v1/namespaces"), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return fetch(t, r)
}

// TestNamespacesAreMadeWithTheirEntities, which the next process has too.
func TestNamespacesAreMadeWithTheirEntities(t *testing.T) {
	settings := config.Settings{Data: filepath.Join(t.TempDir(), "bus.db")}
	var log output
	a := several(t, Config{Settings: settings, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	status, body := post(t, a, `{"name": "worker-1", "Queues": [{"Name": "q", "Properties": {"UserMetadata": "of worker-1"}}],
		"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Properties": {"ForwardTo": "q", "SizeInBytes": 1}}]}]}`)
	if status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	var made struct{ ConnectionString string }
	if err := json.Unmarshal([]byte(body), &made); err != nil {
		t.Fatal(err)
	}
	ns, err := a.Broker().Namespace("worker-1")
	if err != nil || strings.Replace(made.ConnectionString, "127.0.0.1", "localhost", 1) != a.ConnectionTo(ns) {
		t.Fatalf("%v, %s, want %s", err, made.ConnectionString, a.ConnectionTo(ns))
	}
	if !strings.Contains(log.String(), "body:2:") || !strings.Contains(log.String(), "SizeInBytes: this property is known and has no effect here") {
		t.Errorf("the log does not warn: %s", log.String())
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a = several(t, Config{Settings: settings})
	for path, want := range map[string]string{"/q": "of worker-1", "/t/Subscriptions/s": "<ForwardTo>"} {
		if status, body := askAt(t, "GET", a.ports.AMQP, "worker-1.localhost", path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// TestNamespacesWithWrongEntitiesAreNotMade, whoever finds out: nothing listens for them, and their name is free.
func TestNamespacesWithWrongEntitiesAreNotMade(t *testing.T) {
	var partitioned []string
	for i := range 101 {
		partitioned = append(partitioned, fmt.Sprintf(`{"Name": "q-%d", "Properties": {"EnablePartitioning": true}}`, i))
	}
	a := several(t, Config{})
	bound := len(a.namespacePorts.served())
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"name": "worker-1", "Queues": [{"Name": "q"}, {"Name": "p", "Properties": {"LockDuration": "PT6M"}}]}`, "body:1:93: error: $.Queues[1].Properties.LockDuration", 400},
		{`{"name": "worker-1", "Queues": [{"Name": "q", "Properties": {"ForwardTo": "sb://orders.test/q"}}]}`, `the host of the namespace \"orders\"`, 400},
		{`{"name": "worker-1", "Queues": [{"Name": "q", "Properties": {"ForwardTo": "sb://stock-1.localhost/q"}}]}`, `the host of the namespace \"stock-1\"`, 400},
		{`{"name": "worker-1", "limits": "standard", "Queues": [{"Name": "q", "Properties": {"MaxMessageSizeInKilobytes": 1024}}]}`, `choose \"limits\": \"relaxed\"`, 400},
		{`{"name": "worker-1", "Queues": [` + strings.Repeat(`{}, `, 29) + `{}]}`, `"and 5 more errors"]`, 400},
		{`{"name": "worker-1", "limits": "standard", "Queues": [` + strings.Join(partitioned, ", ") + `]}`, "create the entities: q-100: The maximum number of resources", 409},
	} {
		if status, body := post(t, a, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%.150s: %d %s, want %d %s", c.body, status, body, c.status, c.want)
		}
		if n := len(a.Broker().Namespaces()); n != 3 || len(a.namespacePorts.bound) != bound {
			t.Errorf("%.150s: %d namespaces, ports %v", c.body, n, a.namespacePorts.bound)
		}
	}
	if status, body := post(t, a, `{"name": "worker-1", "limits": "relaxed", "Queues": [`+strings.Join(partitioned, ", ")+`]}`); status != 201 {
		t.Errorf("with other limits: %d %s", status, body)
	}
}

// TestNamespacesSurviveTheProcess with what they are found by, whether the next one's configuration names them or not. (No other program
// takes ports of this address meanwhile.)
func TestNamespacesSurviveTheProcess(t *testing.T) {
	settings := config.Settings{Host: "127.0.7.9", Data: filepath.Join(t.TempDir(), "bus.db")}
	a := several(t, Config{Settings: settings})
	made, err := a.CreateNamespace("made-here", emulator.NamespaceOptions{Aliases: []string{"made.test"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.DeleteNamespace("stock-1"); err != nil {
		t.Fatal(err)
	}
	before := a.namespacePorts.served()
	connection := a.ConnectionTo(made)
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	settings.TLSPort, settings.HTTPPort = config.PortOff, config.PortOff // without a range the ports stay
	a, err = start(t, Config{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	if after := a.namespacePorts.served(); !maps.Equal(before, after) || len(after) != 2 {
		t.Errorf("ports %v, before %v", after, before)
	}
	for _, c := range []struct {
		host, path string
		status     int
	}{{"orders.test", "/q", 200}, {"made.test", "/$namespaceinfo", 200}, {"stock-1.localhost", "/q", 404}} {
		r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.7.9:%d%s", before["orders"], c.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		if status, body := fetch(t, r); status != c.status {
			t.Errorf("%s%s: %d %s", c.host, c.path, status, body)
		}
	}
	if made, err = a.Broker().Namespace("made-here"); err != nil || a.ConnectionTo(made) != connection {
		t.Errorf("its connection string was %s, is %s (%v)", connection, a.ConnectionTo(made), err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	busy, err := net.Listen("tcp", fmt.Sprintf("127.0.7.9:%d", before["orders"]))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	fixed := &config.Topology{Namespace: config.DefaultNamespace, Others: []*config.Topology{{Namespace: "orders", Port: before["orders"]}}}
	if _, err = start(t, Config{Settings: settings, Topology: fixed}); err == nil || !strings.Contains(err.Error(), "of the namespace orders can't be served") {
		t.Errorf("with the port of the configuration in use: %v", err)
	}
	var log output
	settings.NamespacePorts = "0"
	if a, err = start(t, Config{Settings: settings, Logger: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatalf("with the port in use that it had been given: %v", err)
	}
	after := a.namespacePorts.served()
	if after["orders"] == 0 || after["orders"] == before["orders"] || after["made-here"] != before["made-here"] || !strings.Contains(log.String(), "gets another one") {
		t.Errorf("with a port in use: %v, before %v; log:\n%s", after, before, log.String())
	}
}

func refused(err error, code emulator.Code) bool {
	var e *emulator.Error
	return errors.As(err, &e) && e.Code == code
}

func TestARangeOfPortsEnds(t *testing.T) {
	const host = "127.0.7.10" // where no other program takes ports meanwhile
	probe, err := bind(host, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = probe.listeners[0].Close()
	a, err := start(t, Config{Settings: config.Settings{Host: host, Ephemeral: true, AMQPPort: config.PortOff, TLSPort: config.PortOff, HTTPPort: config.PortOff,
		NamespacePorts: config.PortRange(strconv.Itoa(probe.port))}})
	if err != nil {
		t.Fatal(err)
	}
	ns, err := a.CreateNamespace("first-one", emulator.NamespaceOptions{})
	if err != nil || ns.Options().Port != probe.port {
		t.Fatalf("%v, %v", ns, err)
	}
	if _, err := a.CreateNamespace("second-one", emulator.NamespaceOptions{}); !refused(err, emulator.CodeQuotaExceeded) ||
		!strings.Contains(err.Error(), "all of --namespace-ports") {
		t.Errorf("beyond the range: %v", err)
	}
	if err := a.DeleteNamespace("first-one"); err != nil {
		t.Fatal(err)
	}
	if ns, err := a.CreateNamespace("second-one", emulator.NamespaceOptions{}); err != nil || ns.Options().Port != probe.port {
		t.Errorf("with the port of a deleted one: %v", err)
	}
}

// TestDEC7_ARefusedConfigurationMakesNoNamespace, and changes none.
func TestDEC7_ARefusedConfigurationMakesNoNamespace(t *testing.T) {
	a := several(t, Config{Settings: config.Settings{Host: "127.0.0.1"}})
	wrong := topologyOf(t, severalJSON)
	wrong.Entities[0].Queue.UserMetadata = "changed"
	wrong.Others = append(wrong.Others, &config.Topology{Namespace: "another"})
	wrong.Others[1].Entities[0].Queue.RequiresSession = true // can't be changed
	err := (&topologist{a.Broker(), a.log}).ensure(wrong)
	if err == nil || !strings.Contains(err.Error(), "RequiresSession") {
		t.Fatalf("the configuration is taken: %v", err)
	}
	if _, err := a.Broker().Namespace("another"); err == nil {
		t.Error("the namespace was made")
	}
	if q, err := a.Namespace().Entity("q"); err != nil || q.Options().UserMetadata != "of sbemulatorns" {
		t.Errorf("the queue of the default namespace was changed: %v", err)
	}
}

// TestDEC7_NamespacesAreUpdated when the configuration names other settings, and keep what it does not name.
func TestDEC7_NamespacesAreUpdated(t *testing.T) {
	var log output
	a := several(t, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ns, err := a.Broker().Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	before := ns.Options()
	ensure := func(text string) error { return (&topologist{a.Broker(), a.log}).ensure(topologyOf(t, text)) }
	if err := ensure(strings.Replace(severalJSON, `"Aliases": ["orders.test"],`, "", 1)); err != nil {
		t.Fatal(err)
	}
	if o := ns.Options(); !slices.Equal(o.Aliases, before.Aliases) || o.Port != before.Port {
		t.Errorf("without aliases in the file: %+v", o)
	}
	if err := ensure(strings.Replace(severalJSON, `"orders.test"`, "", 1)); err != nil {
		t.Fatal(err)
	}
	if o := ns.Options(); len(o.Aliases) != 0 || o.Port != before.Port || len(o.Policies) != 1 {
		t.Errorf("with an empty list: %+v", o)
	}
	if !strings.Contains(log.String(), `msg="setting of a namespace changed" namespace=orders setting=Aliases`) {
		t.Errorf("the log: %s", log.String())
	}
	port := fmt.Sprintf(`"Name": "orders", "Port": %d,`, a.namespacePorts.served()["stock-1"])
	if err := ensure(strings.Replace(severalJSON, `"Name": "orders",`, port, 1)); err == nil || !strings.Contains(err.Error(), "the namespace stock-1 has the port") {
		t.Errorf("the port of another one: %v", err)
	}
}

func TestAliasesAreKnownHosts(t *testing.T) {
	a := several(t, Config{Settings: config.Settings{NamespaceSuffixes: "bus.test"}})
	for host, want := range map[string]bool{"orders.test": true, "orders.bus.test": true, "order.bus.test": false, "bus.test": false, "other.test": false} {
		if a.isKnownHost(host) != want {
			t.Errorf("%s: %v", host, !want)
		}
	}
}

// TestKeysOfNamespaces: with --auth sas each namespace has its own, and a change counts at once.
func TestKeysOfNamespaces(t *testing.T) {
	a := several(t, Config{Settings: config.Settings{Auth: config.AuthSAS}})
	access := a.access()
	for _, ns := range a.Broker().Namespaces() {
		for _, other := range a.Broker().Namespaces() {
			root := sas.Administrator(a.Policies(other))
			if _, ok := access(ns).Key(root.Name, root.Primary); ok != (ns == other) {
				t.Errorf("the key of %s opens %s: %v", other.Name(), ns.Name(), ok)
			}
		}
	}
	ns, err := a.Broker().Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	ring, o := access(ns), ns.Options()
	o.Policies = []emulator.AuthorizationRule{{KeyName: "other", PrimaryKey: "k", Rights: []string{"Send"}}}
	if err := a.Broker().Update("orders", o); err != nil {
		t.Fatal(err)
	}
	if _, ok := ring.Key("other", "k"); !ok {
		t.Error("the new policy does not count")
	}
	if !slices.ContainsFunc(a.storedPolicies(), func(p ownedPolicy) bool { return p.Name == "other" }) {
		t.Error("the new policy is not looked at")
	}
}

// TestTheDefaultNamespaceCantTakeTheNameOfAnother, which a changed order of the configuration would mean.
func TestTheDefaultNamespaceCantTakeTheNameOfAnother(t *testing.T) {
	settings := config.Settings{Host: "127.0.0.1", Data: filepath.Join(t.TempDir(), "bus.db")}
	if err := several(t, Config{Settings: settings}).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := start(t, Config{Settings: settings, Topology: &config.Topology{Namespace: "orders"}})
	if err == nil || !strings.Contains(err.Error(), "Name the default namespace first in the configuration") {
		t.Errorf("the first namespace of the configuration is called as another: %v", err)
	}
}
