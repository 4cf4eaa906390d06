package sbtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// clientOf returns a client of a connection string; dial is nil for the network.
func clientOf(t *testing.T, connection string, dial func(context.Context) (net.Conn, error)) *azservicebus.Client {
	t.Helper()
	o := &azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{RetryDelay: 10 * time.Millisecond}} // 4 s by default
	if dial != nil {
		o.NewWebSocketConn = func(ctx context.Context, _ azservicebus.NewWebSocketConnArgs) (net.Conn, error) { return dial(ctx) }
	}
	client, err := azservicebus.NewClientFromConnectionString(connection, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// wantOne fails unless a queue has one message, with that body.
func wantOne(t *testing.T, client *azservicebus.Client, queue, text string) {
	t.Helper()
	messages, err := receiver(t, client, queue).PeekMessages(context.Background(), 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(messages) != 1 || string(messages[0].Body) != text || *messages[0].SequenceNumber != 1 {
		t.Errorf("%d messages, want %q", len(messages), text)
	}
}

func body(text string) *azservicebus.Message { return &azservicebus.Message{Body: []byte(text)} }

// wantNamespaces asks the control API how many namespaces there are.
func wantNamespaces(t *testing.T, bus *sbtest.Server, want int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return bus.Dial(ctx)
	}}}
	resp, err := client.Get("http://localhost/$minibus/v1/namespaces")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct{ Namespaces []struct{ Name string } }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list.Namespaces) != want {
		t.Errorf("%d namespaces, want %d (%v)", len(list.Namespaces), want, err)
	}
}

// TestNamespacesShareNothing, by port over the network and by host in memory, with and without tokens that are checked.
func TestNamespacesShareNothing(t *testing.T) {
	for name, opts := range map[string][]sbtest.Option{"network": nil, "tokens": {sbtest.WithTokens()}, "memory": {sbtest.WithoutNetwork()},
		"memory, tokens": {sbtest.WithoutNetwork(), sbtest.WithTokens()}} {
		t.Run(name, func(t *testing.T) {
			bus := sbtest.Start(t, append(opts, sbtest.Queue{Name: "orders"})...)
			dial := bus.Dial
			if !strings.Contains(name, "memory") {
				dial = nil
			}
			clients := map[string]*azservicebus.Client{"default": clientOf(t, bus.ConnectionString(), dial)}
			for _, one := range []string{"a", "b"} {
				clients[one] = clientOf(t, bus.NewNamespace(t, sbtest.Queue{Name: "orders"}).ConnectionString(), dial)
			}
			for one, client := range clients {
				send(t, client, "orders", body("of "+one))
			}
			for one, client := range clients {
				wantOne(t, client, "orders", "of "+one)
			}
		})
	}
}

func TestANamespaceEndsWithItsTest(t *testing.T) {
	bus := sbtest.Start(t)
	t.Run("test", func(t *testing.T) {
		ns := bus.NewNamespace(t, sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{{Name: "all"}}},
			sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "q"}]}]}}`))
		if !ns.Exists("events") || !ns.Exists("q") || ns.Exists("queue.1") || bus.Exists("events") {
			t.Error("the namespace has other entities")
		}
		send(t, clientOf(t, ns.ConnectionString(), nil), "q", body("x"))
	})
	wantNamespaces(t, bus, 1)
	send(t, clientOf(t, bus.ConnectionString(), nil), "queue.1", body("x"))
}

// TestAThousandNamespacesLeaveNothing behind when tests make them in parallel.
func TestAThousandNamespacesLeaveNothing(t *testing.T) {
	bus := sbtest.Start(t, sbtest.WithoutNetwork())
	t.Run("tests", func(t *testing.T) {
		for i := range 1000 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				ns := bus.NewNamespace(t, sbtest.Queue{Name: "q"})
				if !ns.Exists("q") {
					t.Error("no queue")
				}
			})
		}
	})
	wantNamespaces(t, bus, 1)
}

func TestANamespaceRefusesWhatAServerRefuses(t *testing.T) {
	bus := sbtest.Start(t, sbtest.WithoutNetwork())
	for want, e := range map[string]sbtest.Entities{
		`sbtest.Queue{Name: ""}`: sbtest.Queue{},
		"leave another out":      sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{}, {"Name": "another"}]}}`),
	} {
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			bus.NewNamespace(r, e)
		}()
		<-done
		if !strings.Contains(r.fatal, want) {
			t.Errorf("failed with %q, want %q", r.fatal, want)
		}
	}
	wantNamespaces(t, bus, 1)
}
