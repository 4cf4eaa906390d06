package compat

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/coder/websocket"

	"minibus/compat-tests/harness"
)

// trust fetches the certificate of the server's own authority, like a container would, and trusts nothing else.
func trust(t *testing.T, server *harness.Server) *tls.Config {
	t.Helper()
	resp, err := http.Get("http://" + server.Addr() + "/minibus/ca.pem")
	if err != nil {
		t.Fatalf("fetch the authority: %v", err)
	}
	defer resp.Body.Close()
	pem, err := io.ReadAll(resp.Body)
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatalf("read the authority: %v in %q", err, pem)
	}
	return &tls.Config{RootCAs: roots}
}

// dialWebSocket is the SDK's hook, as in its example. The SDK always asks for wss.
func dialWebSocket(scheme string, config *tls.Config) func(context.Context, azservicebus.NewWebSocketConnArgs) (net.Conn, error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	return func(ctx context.Context, args azservicebus.NewWebSocketConnArgs) (net.Conn, error) {
		address := scheme + strings.TrimPrefix(args.Host, "wss")
		options := &websocket.DialOptions{Subprotocols: []string{"amqp"}, HTTPClient: client}
		ws, _, err := websocket.Dial(ctx, address, options) //nolint:bodyclose // the library says that it need not be
		if err != nil {
			return nil, fmt.Errorf("dial %s: %w", address, err)
		}
		return websocket.NetConn(context.WithoutCancel(ctx), ws, websocket.MessageBinary), nil
	}
}

// transportQueues returns the queues for the tests of each transport.
func transportQueues() []harness.Queue {
	return []harness.Queue{{Name: queueName, MaxDeliveryCount: 10}, {Name: "sessions", RequiresSession: true}}
}

// TestDataPlaneOverEveryTransport uses one port for plain AMQP, AMQP over TLS, and AMQP over WebSockets with and without TLS.
func TestDataPlaneOverEveryTransport(t *testing.T) {
	t.Parallel()
	server := harness.Start(t, harness.Options{Config: harness.WriteConfig(t, transportQueues()...)})
	config := trust(t, server)
	secure := strings.Replace(server.ConnectionString(), "UseDevelopmentEmulator=true;", "", 1)
	for _, transport := range []struct {
		name, connect string
		options       azservicebus.ClientOptions
		claim         func(*testing.T)
	}{
		{"amqp", server.ConnectionString(), azservicebus.ClientOptions{},
			func(t *testing.T) { proves(t, "conn.amqp", "send.large") }},
		{"amqps", secure, azservicebus.ClientOptions{TLSConfig: config},
			func(t *testing.T) { proves(t, "conn.amqps") }},
		{"ws", secure, azservicebus.ClientOptions{NewWebSocketConn: dialWebSocket("ws", nil)},
			func(t *testing.T) { proves(t, "conn.ws") }},
		{"wss", secure, azservicebus.ClientOptions{NewWebSocketConn: dialWebSocket("wss", config)},
			func(t *testing.T) { proves(t, "conn.wss") }},
	} {
		t.Run(transport.name, func(t *testing.T) {
			transport.claim(t)
			transport.options.RetryOptions.MaxRetries = -1
			client, err := azservicebus.NewClientFromConnectionString(transport.connect, &transport.options)
			if err != nil {
				t.Fatalf("create client: %v", err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
			defer cancel()
			b := &bench{T: t, ctx: ctx, server: server, client: client, began: time.Now()}
			b.sender, b.receiver = b.newSender(client), b.newReceiver(client, nil)
			b.everyday()
			b.big()
			b.session(client)
			b.must("close the client", client.Close(ctx))
		})
	}
}

// everyday sends, receives, completes, dead-letters and schedules.
func (b *bench) everyday() {
	b.Helper()
	b.send("one", "two")
	for i, m := range b.receive(b.receiver, 2) {
		if want := []string{"one", "two"}[i]; string(m.Body) != want {
			b.Errorf("received %q, want %q", m.Body, want)
		}
		b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
	}
	numbers, err := b.sender.ScheduleMessages(b.ctx, messages(2), time.Now().Add(time.Hour), nil)
	b.must("schedule", err)
	b.must("cancel", b.sender.CancelScheduledMessages(b.ctx, numbers[:1], nil))
	if left := b.peekAll(b.receiver, 0); len(left) != 1 || left[0].State != azservicebus.MessageStateScheduled {
		b.Errorf("%d messages are left, want the scheduled one", len(left))
	}
	b.must("cancel", b.sender.CancelScheduledMessages(b.ctx, numbers[1:], nil))
}

// big sends and receives messages that take many frames, in both directions at once, and checks every byte.
func (b *bench) big() {
	b.Helper()
	const size, count = 200 << 10, 5
	body := func(i int) string { return strings.Repeat(fmt.Sprintf("%08d", i), size/8) }
	for i := range count {
		b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: []byte(body(i))}, nil))
	}
	for i, m := range b.receive(b.receiver, count) {
		if string(m.Body) != body(i) {
			b.Errorf("message %d came back changed, with %d bytes", i, len(m.Body))
		}
		b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
	}
	b.wantEmpty(b.receiver)
}

// session keeps a state and receives in order.
func (b *bench) session(client *azservicebus.Client) {
	b.Helper()
	sender, err := client.NewSender("sessions", nil)
	b.must("create sender", err)
	b.must("send", sender.SendMessage(b.ctx, inSession("s", "first"), nil))
	holder := b.accept(client, "sessions", "s")
	b.must("set state", holder.SetSessionState(b.ctx, []byte("state"), nil))
	m := b.receiveOne(holder)
	b.must("complete", holder.CompleteMessage(b.ctx, m, nil))
	state, err := holder.GetSessionState(b.ctx, nil)
	if err != nil || string(state) != "state" || string(m.Body) != "first" {
		b.Errorf("received %q in a session with state %q, %v", m.Body, state, err)
	}
	b.must("close the session", holder.Close(b.ctx))
}
