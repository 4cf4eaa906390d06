package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"testing"

	goamqp "github.com/Azure/go-amqp"
)

// TestMessagesStayInTheNamespaceThatAClientMeans sends by every transport, through real ports.
func TestMessagesStayInTheNamespaceThatAClientMeans(t *testing.T) {
	a := several(t, Config{})
	ports := a.namespacePorts.served()
	for _, c := range []struct {
		name, host string
		port       int
		want       string
	}{
		{"port", "localhost", ports["orders"], "orders"},
		{"alias", "orders.test", a.ports.AMQP, "orders"},
		{"suffix", "stock-1.servicebus.windows.net", ports["orders"], "stock-1"},
		{"default", "localhost", a.ports.AMQP, "sbemulatorns"},
	} {
		plain := func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", c.port))
		}
		secure := func(ctx context.Context) (net.Conn, error) {
			nc, err := plain(ctx)
			if err != nil {
				return nil, err
			}
			return tls.Client(nc, &tls.Config{InsecureSkipVerify: true, ServerName: c.host}), nil
		}
		for over, dial := range map[string]func(context.Context) (net.Conn, error){
			"AMQP": plain, "TLS": secure, "WebSocket": overWebSocket(plain, c.host), "WebSocket in TLS": overWebSocket(secure, c.host),
		} {
			t.Run(c.name+" over "+over, func(t *testing.T) {
				before := activeOfAll(t, a)
				sendOver(t, dial, c.host)
				for name, n := range activeOfAll(t, a) {
					if got := n - before[name]; (got == 1) != (name == c.want) {
						t.Errorf("%s has %d messages more; the client means %s", name, got, c.want)
					}
				}
			})
		}
	}
}

// sendOver sends one message to "q" as a client that means a host.
func sendOver(t *testing.T, dial func(context.Context) (net.Conn, error), host string) {
	t.Helper()
	ctx := t.Context()
	nc, err := dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := goamqp.NewConn(ctx, nc, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous(), HostName: host})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := session.NewSender(ctx, "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(ctx, goamqp.NewMessage([]byte("x")), nil); err != nil {
		t.Fatal(err)
	}
}

// activeOfAll returns how many messages the queue "q" of each namespace has.
func activeOfAll(t *testing.T, a *Server) map[string]int64 {
	t.Helper()
	counts := make(map[string]int64)
	for _, ns := range a.Broker().Namespaces() {
		q, err := ns.Entity("q")
		if err != nil {
			t.Fatal(err)
		}
		counts[ns.Name()] = q.Counts().Active
	}
	return counts
}
