package emulator_test

import (
	"encoding/json"
	"testing"

	"minibus/emulator"
	"minibus/store/storetest"
)

// finding is a broker with namespaces to be found: the default one, "orders" and "stock", which has aliases and a port.
func finding(t *testing.T) *emulator.Broker {
	t.Helper()
	m := storetest.NewMemory()
	putNamespace(t, m, 2, "Orders", emulator.NamespaceOptions{Port: 5701})
	putNamespace(t, m, 3, "stock", emulator.NamespaceOptions{
		Port: 5702, Aliases: []string{"Broker.Example.org.", "typo.servicebus.windows.net", "10.0.0.7", "fd00::7"},
	})
	b, err := emulator.OpenBroker(m, emulator.Options{NamespaceSuffixes: []string{".bus.Example.org", "dev.localhost"}})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { b.Close(); _ = m.Close() })
	return b
}

// putNamespace stores a namespace.
func putNamespace(t *testing.T, s emulator.Store, id int64, name string, o emulator.NamespaceOptions) {
	t.Helper()
	options, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	s.PutNamespace(emulator.NamespaceRecord{ID: id, Name: name, Secret: [16]byte{byte(id)}, Options: options}, nil, emulator.CompletionFunc(func(err error) { done <- err }))
	if err := <-done; err != nil {
		t.Fatalf("put the namespace %q: %v", name, err)
	}
}

func TestFind_TheFirstThatDecides(t *testing.T) {
	b := finding(t)
	for _, c := range []struct {
		host string
		port int
		want string // "": refused
	}{
		// 1. an alias, before the name that the suffix would give and before the port
		{"broker.example.org", 5701, "stock"},
		{"BROKER.example.ORG.", 5701, "stock"},
		{"broker.example.org:5701", 0, "stock"},
		{"typo.servicebus.windows.net", 5701, "stock"},
		{"10.0.0.7", 0, "stock"},
		{"10.0.0.7:5672", 0, "stock"},
		{"fd00::7", 0, "stock"},
		{"[fd00::7]:5672", 0, "stock"},
		// 2. a name under a suffix, before the port
		{"orders.servicebus.windows.net", 5702, "Orders"},
		{"ORDERS.ServiceBus.Windows.net.", 0, "Orders"},
		{"orders.servicebus.windows.net:5671", 0, "Orders"},
		{"orders.servicebus.usgovcloudapi.net", 0, "Orders"},
		{"orders.servicebus.chinacloudapi.cn", 0, "Orders"},
		{"orders.servicebus.cloudapi.de", 0, "Orders"},
		{"orders.localhost", 0, "Orders"},
		{"orders.localhost:5672", 5702, "Orders"},
		{"orders.bus.example.org", 0, "Orders"},
		{"orders.dev.localhost", 0, "Orders"},
		{"sbemulatorns.servicebus.windows.net", 5702, "sbemulatorns"},
		{"order.servicebus.windows.net", 5702, ""},
		{"order.localhost", 0, ""},
		{"orders.privatelink.servicebus.windows.net", 5701, ""},
		// 3. the port
		{"localhost", 5701, "Orders"},
		{"localhost:5672", 5701, "Orders"}, // the port of the socket counts, not that of the name
		{"127.0.0.1", 5702, "stock"},
		{"::1", 5702, "stock"},
		{"servicebus.windows.net", 5701, "Orders"},
		{"dev.localhost", 5701, "Orders"}, // a suffix by itself
		{".localhost", 5701, "Orders"},
		{"notlocalhost", 5701, "Orders"},
		{"xservicebus.windows.net", 5702, "stock"},
		{"", 5702, "stock"},
		// 4. the default one
		{"localhost", 5672, "sbemulatorns"},
		{"orders.example.org", 0, "sbemulatorns"},
		{"orders", 0, "sbemulatorns"},
		{"", 0, "sbemulatorns"},
	} {
		ns, err := b.Find(c.host, c.port)
		if c.want == "" {
			wantCode(t, c.host, err, emulator.CodeNotFound)
			continue
		}
		if err != nil {
			t.Errorf("%q at port %d: %v", c.host, c.port, err)
			continue
		}
		if ns.Name() != c.want {
			t.Errorf("%q at port %d means %q, want %q", c.host, c.port, ns.Name(), c.want)
		}
	}
}

func TestFind_TheOnlyNamespaceHasEveryName(t *testing.T) {
	m := storetest.NewMemory()
	b, err := emulator.OpenBroker(m, emulator.Options{Name: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	defer b.Close()
	for _, host := range []string{"", "other.servicebus.windows.net", "other.localhost:5672", "10.0.0.7"} {
		if ns, err := b.Find(host, 5701); err != nil || ns != b.Default() {
			t.Errorf("%q means %v (%v), want the default namespace", host, ns, err)
		}
	}
	if got := b.Default().Name(); got != "mine" {
		t.Errorf("its name is %q", got)
	}
}

// TestFind_ThePortOfADeletedNamespaceMeansNone, or what its clients send next, over connections that they keep, would be for the default one.
func TestFind_ThePortOfADeletedNamespaceMeansNone(t *testing.T) {
	b := finding(t)
	for _, name := range []string{"stock", "orders"} {
		if err := b.Delete(name); err != nil {
			t.Fatal(err)
		}
	}
	for port, want := range map[int]bool{5701: false, 5702: false, 5672: true} {
		ns, err := b.Find("localhost", port)
		if want != (err == nil && ns == b.Default()) {
			t.Errorf("port %d means %v (%v)", port, ns, err)
		}
		if !want {
			wantCode(t, "a deleted one's port", err, emulator.CodeNotFound)
		}
	}
	made, err := b.Create("another", emulator.NamespaceOptions{Port: 5701})
	if err != nil {
		t.Fatal(err)
	}
	if ns, err := b.Find("localhost", 5701); ns != made {
		t.Errorf("the port of a new namespace means %v (%v)", ns, err)
	}
	if ns, err := b.Find("sbemulatorns.localhost", 5702); ns != b.Default() {
		t.Errorf("a host that names the default one means %v (%v) there", ns, err)
	}
}

// TestFind_TheHostsOfADeletedNamespaceMeanNone, neither its aliases nor its name, though the default namespace is the only one again.
func TestFind_TheHostsOfADeletedNamespaceMeanNone(t *testing.T) {
	m := storetest.NewMemory()
	b, err := emulator.OpenBroker(m, emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	defer b.Close()
	if _, err := b.Create("worker", emulator.NamespaceOptions{Aliases: []string{"bus.test"}}); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete("worker"); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"bus.test", "Bus.Test.:5672", "worker.localhost", "worker.servicebus.windows.net"} {
		_, err := b.Find(host, 5672)
		wantCode(t, host, err, emulator.CodeNotFound)
	}
	if ns, err := b.Find("localhost", 5672); err != nil || ns != b.Default() {
		t.Errorf("localhost means %v (%v), want the default namespace", ns, err)
	}
	made, err := b.Create("another", emulator.NamespaceOptions{Aliases: []string{"bus.test"}})
	if err != nil {
		t.Fatal(err)
	}
	if ns, err := b.Find("bus.test", 5672); ns != made {
		t.Errorf("the alias of a new namespace means %v (%v)", ns, err)
	}
}
