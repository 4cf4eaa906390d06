package mgmt

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/store/storetest"
)

// severalBus has the default namespace and "orders", which has the alias orders.test and the port 5701. Each has a queue q, whose
// UserMetadata is the name of its namespace.
func severalBus(t *testing.T) *bus {
	t.Helper()
	b := &bus{t: t, clock: newClock(), journal: storetest.NewMemory()}
	options, err := json.Marshal(emulator.NamespaceOptions{Aliases: []string{"orders.test"}, Port: 5701})
	if err != nil {
		t.Fatal(err)
	}
	done := newCompletion()
	b.journal.PutNamespace(emulator.NamespaceRecord{ID: 2, Name: "orders", Secret: [16]byte{2}, Options: options}, nil, done)
	if err := done.wait(nil); err != nil {
		t.Fatal(err)
	}
	b.open()
	t.Cleanup(b.close)
	for _, ns := range b.broker.Namespaces() {
		if _, err := ns.Entities().CreateQueue("q", emulator.QueueOptions{UserMetadata: "of " + ns.Name()}); err != nil {
			t.Fatal(err)
		}
	}
	b.handler = New(Options{Broker: b.Broker, WebSocket: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusSwitchingProtocols)
	}), Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	return b
}

// at sends a request to a host that arrives at a port.
func (b *bus) at(host string, port int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, "http://"+host+target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})))
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

func TestARequestMeansTheNamespaceOfItsHostOrPort(t *testing.T) {
	b := severalBus(t)
	for _, c := range []struct {
		host string
		port int
		want string
	}{
		{"localhost:5300", 5300, "sbemulatorns"},
		{"localhost:5701", 5701, "orders"},
		{"orders.test", 5300, "orders"},
		{"orders.servicebus.windows.net", 443, "orders"},
		{"orders.localhost:5300", 5300, "orders"},
		{"sbemulatorns.localhost:5701", 5701, "sbemulatorns"},
	} {
		wants(t, b.at(c.host, c.port, "GET", "/q", ""), 200, "<UserMetadata>of "+c.want+"</UserMetadata>")
		wants(t, b.at(c.host, c.port, "GET", "/$namespaceinfo", ""), 200, "<Name>"+c.want+"</Name>")
		wants(t, b.at(c.host, c.port, "POST", "/q/messages", "to "+c.want), 201)
	}
	for _, ns := range b.broker.Namespaces() {
		q, err := ns.Entity("q")
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int64{"sbemulatorns": 2, "orders": 4}[ns.Name()]; q.Counts().Active != want {
			t.Errorf("%s has %d messages, want %d", ns.Name(), q.Counts().Active, want)
		}
		wants(t, b.at(ns.Name()+".localhost", 1, "DELETE", "/q/messages/head?timeout=0", ""), 200, "to "+ns.Name())
	}
}

func TestAnUnknownNamespaceIsRefusedByEachAPI(t *testing.T) {
	b := severalBus(t)
	const host, fix = "order.servicebus.windows.net", "The namespace 'order' could not be found. Correct the host name in the connection string, or create the namespace"
	wants(t, b.at(host, 5701, "GET", "/q", ""), 404, "<Code>404</Code>", "<Detail>SubCode=40400. "+fix)
	wants(t, b.at(host, 5701, "PUT", "/new", queueEntry("")), 404, fix)
	w := b.at(host, 5701, "POST", "/q/messages", "lost")
	wants(t, w, 404, "<Code>404</Code>", fix)
	if w.Header().Get("x-ms-retrypolicy") != "NoRetry" {
		t.Errorf("headers %v", w.Header())
	}
	wants(t, b.at(host, 5701, "GET", webSocketPath, "", "Connection", "Upgrade", "Upgrade", "websocket"), 404, fix)
	wants(t, b.at("orders.localhost", 1, "GET", webSocketPath, "", "Connection", "Upgrade", "Upgrade", "websocket"), 101)
	wants(t, b.at(host, 5701, "GET", "/health", ""), 200)
	for _, ns := range b.broker.Namespaces() {
		if _, err := ns.Entity("new"); err == nil {
			t.Errorf("%s has the queue", ns.Name())
		}
	}
}

func TestTheOnlyNamespaceHasEveryHost(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	wants(t, b.at("other.servicebus.windows.net", 1, "GET", "/q", ""), 200, "QueueDescription")
}

// TestKeysOfANamespaceOpenNoOther, nor does a token that names another namespace, whatever key made it.
func TestKeysOfANamespaceOpenNoOther(t *testing.T) {
	b := severalBus(t)
	rights := sas.Manage | sas.Send | sas.Listen
	b.handler = New(Options{Broker: b.Broker, Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Access: func(ns *emulator.Namespace) *sas.Ring {
		return sas.NewRing([]sas.Policy{{Name: "root", Primary: ns.Name() + "-key", Claims: rights}, {Name: "shared", Primary: "shared-key", Claims: rights}}, nil)
	}})
	for _, c := range []struct {
		host, token, key string
		status           int
	}{
		{"orders.test", "sb://orders.test/", "root:orders-key", 200},
		{"orders.test", "sb://ORDERS.test:5671/q", "root:orders-key", 200},
		{"orders.test", "https://orders.localhost/q", "root:orders-key", 200},
		{"orders.test", "sb://orders.test/", "root:sbemulatorns-key", 401},
		{"localhost", "sb://localhost/", "root:orders-key", 401},
		{"localhost", "sb://localhost:5672/", "root:sbemulatorns-key", 200},
		{"localhost", "sb://container:5672/", "root:sbemulatorns-key", 200},
		{"orders.test", "sb://localhost/q", "shared:shared-key", 401},
		{"orders.test", "sb://sbemulatorns.servicebus.windows.net/q", "shared:shared-key", 401},
		{"orders.test", "sb://unknown.servicebus.windows.net/q", "shared:shared-key", 401},
		{"localhost", "sb://orders.test/q", "shared:shared-key", 401},
		{"localhost", "localhost/q", "shared:shared-key", 200},
	} {
		name, key, _ := strings.Cut(c.key, ":")
		token := sas.Sign(c.token, name, key, time.Now().Add(time.Hour))
		if w := b.at(c.host, 5300, "GET", "/q", "", authorization, token); w.Code != c.status {
			t.Errorf("%s with a token for %s by %s: %d, want %d: %s", c.host, c.token, c.key, w.Code, c.status, w.Body)
		}
		want := map[int]int{200: 201, 401: 401}[c.status]
		if w := b.at(c.host, 5300, "POST", "/q/messages", "x", authorization, token); w.Code != want {
			t.Errorf("send to %s with a token for %s by %s: %d, want %d", c.host, c.token, c.key, w.Code, want)
		}
	}
	// The metrics show all namespaces, so they ask for a key of the default one.
	for key, want := range map[string]int{"sbemulatorns-key": 200, "orders-key": 401} {
		token := sas.Sign("http://localhost:5300/metrics", "root", key, time.Now().Add(time.Hour))
		wants(t, b.at("localhost:5300", 5300, "GET", "/metrics", "", authorization, token), want)
	}
	// The target of a forward is in the same namespace, and so is the token for it.
	own := sas.Sign("sb://orders.test/", "root", "orders-key", time.Now().Add(time.Hour))
	for resource, want := range map[string]int{"sb://orders.test/q": 201, "q": 201, "sb://localhost/q": 401} {
		target := sas.Sign(resource, "shared", "shared-key", time.Now().Add(time.Hour))
		wants(t, b.at("orders.test", 5300, "PUT", "/f"+strings.Trim(resource, "sb:/q"), queueEntry("<ForwardTo>q</ForwardTo>"), authorization, own, headerForwardTo, target), want)
	}
}

// TestForwardsStayInTheNamespace: a target may be an address, but only of the request's own namespace.
func TestForwardsStayInTheNamespace(t *testing.T) {
	b := severalBus(t)
	const sub = "/t/Subscriptions/s"
	forward := func(element, address string) string { return "<" + element + ">" + address + "</" + element + ">" }
	wants(t, b.at("orders.test", 5300, "PUT", "/t", topicEntry("")), 201)
	wants(t, b.at("orders.test", 5300, "PUT", sub, subscriptionEntry("")), 201)
	wants(t, b.at("orders.test", 5300, "PUT", "/f", queueEntry("")), 201)
	for _, c := range []struct {
		host, address string
		ok            bool
	}{
		{"orders.localhost", "q", true},
		{"orders.localhost", "sb:///q", true},
		{"orders.localhost", "SB://orders.localhost:9/q?x", true},
		{"orders.localhost", "sb://orders.localhost/q", true},
		{"orders.localhost", "https://ORDERS.test:5671/q", true},
		{"orders.localhost", "sb://orders.servicebus.windows.net/q", true},
		{"orders.localhost", "sb://sbemulatorns.localhost/q", false},
		{"orders.localhost", "sb://unknown.localhost/q", false},
		{"orders.localhost", "amqp://foo.example/q", false},
		{"orders.localhost", "sb://localhost/none", false},
	} {
		for _, element := range []string{"ForwardTo", "ForwardDeadLetteredMessagesTo"} {
			body := forward(element, c.address)
			for _, request := range [][]string{{"/new", queueEntry(body)}, {"/f", queueEntry(body), ifMatch, "*"}, {sub, subscriptionEntry(body), ifMatch, "*"}} {
				w := b.at(c.host, 5300, "PUT", request[0], request[1], request[2:]...)
				if c.ok && w.Code >= 300 {
					t.Errorf("%s: %s of %s by %s: %d %s", request[0], element, c.address, c.host, w.Code, w.Body)
				} else if !c.ok {
					wants(t, w, 400, "SubCode=40400. The auto forwarding destination entity does not exist. The address names the host '",
						"not the namespace 'orders'", "Forward to an entity of the same namespace, by its path alone or with the host 'orders.localhost'")
				}
			}
			b.at(c.host, 5300, "DELETE", "/new", "")
		}
	}
	wants(t, b.at("localhost:5300", 5300, "PUT", "/g", queueEntry(forward("ForwardTo", "sb://foo.example/q"))), 201)
	wants(t, b.at("localhost:5300", 5300, "PUT", "/h", queueEntry(forward("ForwardTo", "sb://orders.test/q"))), 400, "SubCode=40400.")

	// The port says which namespace the host means. An update may send the text back that another port or host brought in.
	own := forward("ForwardTo", "sb://localhost:5701/q")
	wants(t, b.at("localhost:5701", 5701, "PUT", "/p", queueEntry(own)), 201)
	wants(t, b.at("localhost:5701", 5701, "PUT", sub, subscriptionEntry(own), ifMatch, "*"), 200)
	wants(t, b.at("orders.test", 5300, "PUT", "/p", queueEntry(own), ifMatch, "*"), 200, own)
	wants(t, b.at("orders.test", 5300, "PUT", sub, subscriptionEntry(own), ifMatch, "*"), 200, own)
	wants(t, b.at("orders.test", 5300, "PUT", "/new", queueEntry(own)), 400, "SubCode=40400.")
}

func TestTheOnlyNamespaceForwardsToEveryHost(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	wants(t, b.at("localhost", 5300, "PUT", "/f", queueEntry("<ForwardTo>sb://anything.servicebus.windows.net/q</ForwardTo>")), 201)
}
