package arm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/coder/websocket"

	"minibus/compat-tests/harness"
)

// bus is a namespace, as its connection string leads to it.
type bus struct {
	name, connection string
	address          string // its port on this machine
	alias            string // another name of a host that means it; empty: none
	keyName, key     string
}

// bus reads the root key of a namespace.
func (r *raw) bus(space string) bus {
	r.Helper()
	keys := r.must(http.MethodPost, space+"/authorizationRules/RootManageSharedAccessKey/listKeys", nil)
	b := bus{name: space[strings.LastIndexByte(space, '/')+1:], connection: keys["primaryConnectionString"].(string), keyName: keys["keyName"].(string), key: keys["primaryKey"].(string)}
	u, err := url.Parse(strings.TrimPrefix(strings.Split(b.connection, ";")[0], "Endpoint="))
	if err != nil || u.Port() == "" {
		r.Fatalf("the connection string is %s", b.connection)
	}
	b.address = u.Host
	return b
}

// as returns a connection string with a host, without the emulator's flag.
func (b bus) as(host string) string {
	return fmt.Sprintf("Endpoint=sb://%s/;SharedAccessKeyName=%s;SharedAccessKey=%s", host, b.keyName, b.key)
}

// ways are how clients reach a namespace: by its port without TLS and with, over WebSockets, by the name that it would have in Azure, and by its
// alias.
func (c *cloud) ways(t *testing.T, b bus) map[string]*azservicebus.Client {
	t.Helper()
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.pool(t)}
	dial := func(ctx context.Context, _ azservicebus.NewWebSocketConnArgs) (net.Conn, error) {
		options := &websocket.DialOptions{Subprotocols: []string{"amqp"}, HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: config}}}
		conn, _, err := websocket.Dial(ctx, "wss://"+b.address+"/$servicebus/websocket", options) //nolint:bodyclose // the library says that it need not be
		if err != nil {
			return nil, err
		}
		return websocket.NetConn(context.WithoutCancel(ctx), conn, websocket.MessageBinary), nil
	}
	type options struct {
		connection string
		options    azservicebus.ClientOptions
	}
	common := azservicebus.ClientOptions{TLSConfig: config, CustomEndpoint: fmt.Sprintf("localhost:%d", c.Ports.TLS)}
	ways := map[string]options{
		"port":      {b.as(b.address) + ";UseDevelopmentEmulator=true", azservicebus.ClientOptions{}},
		"TLS":       {b.as(b.address), azservicebus.ClientOptions{TLSConfig: config}},
		"WebSocket": {b.as(b.address), azservicebus.ClientOptions{NewWebSocketConn: dial}},
		"its name":  {b.as(b.name + ".servicebus.windows.net"), common},
	}
	if b.alias != "" {
		ways["alias"] = options{b.as(b.alias), common}
	}
	clients := make(map[string]*azservicebus.Client)
	for way, o := range ways {
		o.options.RetryOptions = azservicebus.RetryOptions{MaxRetries: -1}
		client, err := azservicebus.NewClientFromConnectionString(o.connection, &o.options)
		if err != nil {
			t.Fatalf("%s of %s: %v", way, b.name, err)
		}
		t.Cleanup(func() { _ = client.Close(context.Background()) })
		clients[way] = client
	}
	return clients
}

func sendTo(ctx context.Context, client *azservicebus.Client, queue, body string) error {
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		return err
	}
	defer func() { _ = sender.Close(ctx) }()
	return sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(body)}, nil)
}

// receive returns the bodies of this many messages.
func receive(ctx context.Context, client *azservicebus.Client, queue string, n int) (bodies []string, err error) {
	receiver, err := client.NewReceiverForQueue(queue, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	if err != nil {
		return nil, err
	}
	defer func() { _ = receiver.Close(ctx) }()
	for len(bodies) < n {
		some, err := receiver.ReceiveMessages(ctx, n-len(bodies), nil)
		if err != nil {
			return bodies, err
		}
		for _, m := range some {
			bodies = append(bodies, string(m.Body))
		}
	}
	return bodies, nil
}

// post sends a message over HTTP and returns the status: to an address, for a host.
func (c *cloud) post(t *testing.T, address, host string, keysOf bus, queue, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address+"/"+queue+"/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	request.Header.Set("Authorization", sign("https://"+host+"/"+queue, keysOf.keyName, keysOf.key))
	answer, err := c.client(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// TestTwoNamespaces have a queue of the same name: one that Resource Manager has made, and one of the command line, with an alias. Whatever way a
// message takes, it stays in its namespace, and so does a key; one ends without the other, and both survive a restart.
func TestTwoNamespaces(t *testing.T) {
	t.Parallel()
	const alias, elsewhere = "two.bus.test", "/subscriptions/" + subscription + "/resourceGroups/minibus/providers/Microsoft.ServiceBus/namespaces/"
	c := checked(t, "--tls-names", alias)
	r := c.raw(t)
	harness.Run(t, nil, harness.Binary(t), "namespace", "create", "two-ns-2", "--alias", alias, "-c", r.bus(elsewhere+harness.DefaultSpace).connection)
	spaces := []string{r.namespace(r.group("two"), "two-ns-1"), elsewhere + "two-ns-2"}
	var buses []bus
	for _, space := range spaces {
		r.must(http.MethodPut, space+"/queues/orders", object{"properties": object{}})
		buses = append(buses, r.bus(space))
	}
	buses[1].alias = alias
	var sent [2]int
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i, b := range buses {
		clients := c.ways(t, b)
		for way, client := range clients {
			if err := sendTo(ctx, client, "orders", b.name); err != nil {
				t.Errorf("send by %s to %s: %v", way, b.name, err)
			}
			sent[i]++
		}
		other := buses[1-i]
		hosts := map[string]string{b.address: b.address} // by the address that leads there
		if b.alias != "" {
			hosts[fmt.Sprintf("localhost:%d", c.Ports.TLS)] = b.alias
		}
		for address, host := range hosts {
			if status := c.post(t, address, host, b, "orders", b.name); status != http.StatusCreated {
				t.Errorf("send over HTTP to %s: %d", host, status)
			}
			sent[i]++
			if status := c.post(t, address, host, other, "orders", "x"); status != http.StatusUnauthorized {
				t.Errorf("with the other's key HTTP answers %d at %s", status, host)
			}
		}
		foreign := b
		foreign.key = other.key
		for way, client := range c.ways(t, foreign) {
			var refused *azservicebus.Error
			if err := sendTo(ctx, client, "orders", "x"); !errors.As(err, &refused) || refused.Code != azservicebus.CodeUnauthorizedAccess {
				t.Errorf("with the other's key by %s: %v", way, err)
			}
		}
	}
	unknown := buses[0]
	unknown.name = "two-ns-3"
	if err := sendTo(ctx, c.ways(t, unknown)["its name"], "orders", "x"); err == nil {
		t.Error("a namespace that is not there took a message")
	}
	for i, b := range buses {
		bodies, err := receive(ctx, c.ways(t, b)["its name"], "orders", sent[i])
		if err != nil || strings.Join(bodies, " ") != strings.TrimSpace(strings.Repeat(b.name+" ", sent[i])) {
			t.Errorf("%s has %v, %v", b.name, bodies, err)
		}
	}
	var ended [2]chan error
	for i, b := range buses {
		receiver, err := c.ways(t, b)["port"].NewReceiverForQueue("orders", nil)
		if err == nil {
			err = sendTo(ctx, c.ways(t, b)["TLS"], "orders", "first")
		}
		if err == nil {
			_, err = receiver.ReceiveMessages(ctx, 1, nil) // now its link is there
		}
		if err != nil {
			t.Fatal(err)
		}
		ended[i] = make(chan error, 1)
		go func() {
			_, err := receiver.ReceiveMessages(ctx, 1, nil)
			ended[i] <- err
		}()
	}
	r.must(http.MethodDelete, spaces[0], nil)
	if err := sendTo(ctx, c.ways(t, buses[1])["TLS"], "orders", "still here"); err != nil {
		t.Errorf("send to the one that stays: %v", err)
	}
	if err := <-ended[1]; err != nil {
		t.Errorf("a receiver of the one that stays: %v", err)
	}
	if err := <-ended[0]; err == nil || ctx.Err() != nil {
		t.Errorf("a receiver of the deleted one: %v", err)
	}
	if err := sendTo(ctx, c.ways(t, buses[0])["its name"], "orders", "x"); err == nil {
		t.Error("a deleted namespace took a message")
	}
	c.restart(t)
	r = c.raw(t)
	if status, text := r.do(http.MethodGet, spaces[0], nil); status != http.StatusNotFound {
		t.Errorf("after a restart the deleted one is there: %d %s", status, text)
	}
	again := r.bus(spaces[1])
	if again.key != buses[1].key {
		t.Error("a restart changes keys")
	}
	again.alias = alias
	for _, way := range []string{"its name", "alias"} {
		if err := sendTo(ctx, c.ways(t, again)[way], "orders", "x"); err != nil {
			t.Errorf("after a restart by %s: %v", way, err)
		}
	}
}

// TestBothAdministrations see what the other one makes.
func TestBothAdministrations(t *testing.T) {
	t.Parallel()
	c := checked(t)
	r := c.raw(t)
	space := r.namespace(r.group("both"), "both-ns-1")
	b := r.bus(space)
	client, err := admin.NewClientFromConnectionString(b.connection, &admin.ClientOptions{ClientOptions: plain(c.client(t))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r.must(http.MethodPut, space+"/queues/made~here", object{"properties": object{"lockDuration": "PT45S", "userMetadata": "text"}})
	q, err := client.GetQueue(ctx, "made/here", nil)
	if err != nil || q == nil || *q.LockDuration != "PT45S" || *q.UserMetadata != "text" {
		t.Errorf("the administration sees %+v, %v", q, err)
	}
	if _, err := client.CreateTopic(ctx, "events", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateSubscription(ctx, "events", "audit", &admin.CreateSubscriptionOptions{Properties: &admin.SubscriptionProperties{MaxDeliveryCount: to.Ptr[int32](7)}}); err != nil {
		t.Fatal(err)
	}
	if s := r.must(http.MethodGet, space+"/topics/events/subscriptions/audit", nil); s["properties"].(object)["maxDeliveryCount"] != 7.0 {
		t.Errorf("Resource Manager sees %v", s)
	}
	r.must(http.MethodDelete, space+"/topics/events", nil)
	if topic, err := client.GetTopic(ctx, "events", nil); err != nil || topic != nil {
		t.Errorf("the administration sees a deleted topic: %+v, %v", topic, err)
	}
	for _, name := range []string{"subscriptions", "tenants", "providers", "metadata"} { // as paths of Resource Manager begin
		if _, err := client.CreateQueue(ctx, name, nil); err != nil {
			t.Errorf("create %s: %v", name, err)
		}
		if q, err := client.GetQueue(ctx, name, nil); err != nil || q == nil {
			t.Errorf("get %s: %+v, %v", name, q, err)
		}
		if err := sendTo(ctx, c.ways(t, b)["port"], name, "x"); err != nil {
			t.Errorf("send to %s: %v", name, err)
		}
	}
}

// TestHostileRequests to Resource Manager.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	c := checked(t)
	r := c.raw(t)
	space := r.namespace(r.group("hostile"), "hostile-ns-1")
	shout := strings.NewReplacer("/subscriptions/", "/SUBSCRIPTIONS/", "resourceGroups/hostile", "ResourceGROUPS/HOSTILE", "providers", "PROVIDERS", "hostile-ns-1", "Hostile-NS-1").Replace(space)
	r.must(http.MethodPut, shout+"/Queues/Q", object{"properties": object{"countDetails": object{}, "status": "active", "isNothing": true, "messageCount": 7}, "more": 1})
	if q := r.must(http.MethodGet, space+"/queues/q", nil); !strings.HasPrefix(q["id"].(string), "/subscriptions/"+subscription+"/resourceGroups/") || q["properties"].(object)["messageCount"] != 0.0 {
		t.Errorf("the queue is %v", q)
	}
	r.must(http.MethodPut, space+"/queues/a%2Fb", object{"properties": object{}})
	r.must(http.MethodGet, space+"/queues/a~b", nil)
	for path, want := range map[string]int{
		space + "/queues/..%2f..%2f..": http.StatusNotFound,
		space + "/queues/..":           http.StatusBadRequest,
		space + "/queues/%00":          http.StatusBadRequest,
		space + "/queues/q%3Fx":        http.StatusBadRequest,
		space + "/queues/none":         http.StatusNotFound,
		space + "/nonsense":            http.StatusNotFound,
	} {
		if status, text := r.do(http.MethodGet, path, nil); status != want || !strings.Contains(text, `"error"`) {
			t.Errorf("GET %s: %d %s", path, status, text)
		}
	}
	for what, body := range map[string]string{"2 MB": `{"properties":{"lockDuration":"` + strings.Repeat("1", 2<<20) + `"}}`, "5 MB": `{"more":"` + strings.Repeat("x", 5<<20) + `"}`, "no JSON": "{", "a list": "[]",
		"another type": `{"properties":{"maxDeliveryCount":"many"}}`, "deep": strings.Repeat(`{"properties":`, 20_000) + "1" + strings.Repeat("}", 20_000)} {
		if status, text := r.do(http.MethodPut, space+"/queues/odd", body); status < 400 || status >= 500 || !strings.Contains(text, `"error"`) {
			t.Errorf("%s: %d %.300s", what, status, text)
		}
	}
	for what, token := range map[string]string{"no token": "", "no web token": "x", "none": "eyJhbGciOiJub25lIn0.eyJhdWQiOiJ4In0."} {
		o := *r
		o.token = token
		if status, text := o.do(http.MethodGet, space, nil); status != http.StatusUnauthorized || !strings.Contains(text, "AuthenticationFailed") {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
}
