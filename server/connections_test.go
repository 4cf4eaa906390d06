package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/config"
	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// withQueue is a topology with a queue q.
func withQueue() *config.Topology {
	return &config.Topology{Namespace: config.DefaultNamespace, Entities: []emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{}}}}
}

// TestConnectionsNameTheirTransport and the addresses of their clients, HTTP requests that wait included.
func TestConnectionsNameTheirTransport(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Host: "127.0.0.1", Ephemeral: true}, Topology: withQueue()})
	if err != nil {
		t.Fatal(err)
	}
	at := net.JoinHostPort("127.0.0.1", strconv.Itoa(a.ports.AMQP))
	insecure := &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"}
	plain := func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", at) }
	secure := func(context.Context) (net.Conn, error) { return tls.Dial("tcp", at, insecure) }
	dials := map[string]func(context.Context) (net.Conn, error){
		"tcp": plain, "tls": secure, "memory": a.Dial, "websocket": overWebSocket(plain, "localhost"), "websocket-tls": overWebSocket(secure, "localhost"),
	}
	for transport, dial := range dials {
		nc, err := dial(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", transport, err)
		}
		c, err := goamqp.NewConn(t.Context(), nc, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous(), HostName: "localhost", ContainerID: transport})
		if err != nil {
			t.Fatalf("%s: %v", transport, err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+at+"/q/messages/head?timeout=60", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", "curl sig=secret")
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
		}
	}()
	ns := a.Namespace()
	var list []api.Connection
	await(t, nil, func() bool { list = a.Connections(ns, nil); return len(list) == 6 })
	for _, c := range list {
		if c.Transport != "http" {
			if c.Transport != c.Container || !strings.HasPrefix(c.ID, "c") || c.Busy {
				t.Errorf("a connection over %s is %+v", c.Container, c)
			}
			continue
		}
		if l := c.Links; c.ID != "http:"+c.Remote || c.Product != "curl sig=***" || len(l) != 1 || l[0].Address != "q" || l[0].Mode != "receiveAndDelete" || l[0].Credit != 1 || l[0].WaitsFor != "message" {
			t.Errorf("an HTTP request that waits is %+v", c)
		}
		for _, err := range []error{a.CloseConnection(ns, c.ID), a.DetachLink(ns, c.ID, 1)} {
			if err == nil || !strings.Contains(err.Error(), "ends with a message, or by itself") {
				t.Errorf("close an HTTP request: %v", err)
			}
		}
	}
	ids := a.OpenConnections(ns)
	slices.Sort(ids)
	if len(ids) != 6 || ids[0] != "c1" || !strings.HasPrefix(ids[5], "http:127.0.0.1:") {
		t.Errorf("the ids are %q", ids)
	}
	q, err := ns.Entity("q")
	if err != nil {
		t.Fatal(err)
	}
	if d := a.Why(ns, q, emulator.Main, ids[5][len("http:"):]); d.Receivers != 1 || !d.Has(emulator.FindEmpty) || d.Has(emulator.FindNoReceiver) {
		t.Errorf("why an HTTP request gets nothing: %s", &d)
	}
	cancel()
	<-answered
	await(t, nil, func() bool { return len(a.Connections(ns, nil)) == 5 })
}

// TestWhyAReceiverTakesNothing is what its connection says of it.
func TestWhyAReceiverTakesNothing(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true}, Topology: withQueue(), NoNetwork: true})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := a.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := goamqp.NewConn(t.Context(), nc, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous(), HostName: "localhost", ContainerID: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	session, err := c.NewSession(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := session.NewSender(t.Context(), "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := sender.Send(t.Context(), goamqp.NewMessage(fmt.Append(nil, i)), nil); err != nil {
			t.Fatal(err)
		}
	}
	receiver, err := session.NewReceiver(t.Context(), "q", &goamqp.ReceiverOptions{Credit: -1, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()})
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.IssueCredit(1); err != nil {
		t.Fatal(err)
	}
	if _, err := receiver.Receive(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	q, err := a.Namespace().Entity("q")
	if err != nil {
		t.Fatal(err)
	}
	d := a.Why(a.Namespace(), q, emulator.Main, "worker")
	want := []string{"2 messages are available, and no receiver takes any: link 2 of connection c1 (worker, pipe): its client asks for no messages (credit 0) and has not settled 1.",
		"1 message is locked: 1 by link 2 of connection c1"}
	for _, text := range want {
		if !strings.Contains(d.String(), text) {
			t.Errorf("%q is missing in %s", text, &d)
		}
	}
	if err := receiver.IssueCredit(5); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := receiver.Receive(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if d := a.Why(a.Namespace(), q, emulator.Main, "c1"); d.Has(emulator.FindNoCredit) || !d.Has(emulator.FindLocked) || !d.Blocked() {
		t.Errorf("why with credit and all messages locked: %s", &d)
	}
	if _, err := session.NewReceiver(t.Context(), "nothing", nil); err == nil {
		t.Error("a receiver of nothing is attached")
	}
	if _, err := session.NewReceiver(t.Context(), "q", &goamqp.ReceiverOptions{Filters: []goamqp.LinkFilter{goamqp.NewLinkFilter("com.microsoft:session-filter", 0, "a&sig=secret")}}); err == nil {
		t.Error("a receiver with a session is attached to a queue without sessions")
	}
	d = a.Why(a.Namespace(), q, emulator.Main, "")
	if !d.Has(emulator.FindRefused) || !strings.Contains(d.String(), "Minibus refused 1 attempt lately: at ") || !strings.Contains(d.String(), "(amqp:not-allowed)") {
		t.Errorf("why does not name the refused attach: %s", &d)
	}
}
