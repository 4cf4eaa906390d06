package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/listen"
)

// amqpHeader asks for AMQP without SASL; the answer is the same header.
const amqpHeader = "AMQP\x00\x01\x00\x00"

func TestStartWithoutNetworkInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := start(t, Config{Settings: config.Settings{Ephemeral: true}, NoNetwork: true, Topology: config.DefaultTopology()})
		if err != nil {
			t.Fatal(err)
		}
		if !a.Namespace().Exists("QUEUE.1") {
			t.Error("queue.1 is missing")
		}
		c, err := a.Dial(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(amqpHeader)); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, len(amqpHeader))
		if _, err := io.ReadFull(c, answer); err != nil || string(answer) != amqpHeader {
			t.Errorf("answer %q, %v", answer, err)
		}
		_ = c.Close()
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := a.Close(context.Background()); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}

// Invariant 8: while the process starts, /health answers 503 at once.
func TestHealthIsUnavailableWhileStarting(t *testing.T) {
	a := &Server{config: Config{Settings: config.Settings{Host: "localhost", Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff},
		Topology: config.DefaultTopology()}, log: slog.New(slog.NewTextHandler(io.Discard, nil)), pipe: listen.NewPipe()}
	defer func() { _ = a.Close(context.Background()) }()
	for _, step := range []func() error{a.bind, a.prepareData, a.listen} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if code, body := get(t, local(a.ports.AMQP, "/health")); code != http.StatusServiceUnavailable || !strings.Contains(body, "unhealthy") {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := get(t, local(a.ports.AMQP, "/livez")); code != http.StatusOK {
		t.Errorf("livez: %d", code)
	}
}

func TestStartLeavesNothingBehindWhenItFails(t *testing.T) {
	before := runtime.NumGoroutine()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	topology := &config.Topology{Entities: []emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{}}, {Path: "q", Topic: &emulator.TopicOptions{}}}}
	_, err = start(t, Config{Settings: config.Settings{Ephemeral: true, AMQPPort: port(free), TLSPort: config.PortOff, HTTPPort: config.PortOff}, Topology: topology})
	if err == nil {
		t.Fatal("a queue and a topic of one name were taken")
	}
	l, err = net.Listen("tcp", l.Addr().String())
	if err != nil {
		t.Errorf("the port is still bound: %v", err)
	} else {
		_ = l.Close()
	}
	await(t, nil, func() bool { return runtime.NumGoroutine() <= before })
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Start(ctx, Config{Settings: config.Settings{Ephemeral: true}, NoNetwork: true}); err == nil {
		t.Error("started")
	}
}

func TestDEC7_EntitiesSurviveTheProcessAndTheFile(t *testing.T) {
	settings := config.Settings{Data: filepath.Join(t.TempDir(), "bus.db")}
	queue := func(path string) *config.Topology {
		return &config.Topology{Entities: []emulator.EntityConfig{{Path: path, Queue: &emulator.QueueOptions{}}}}
	}
	for _, path := range []string{"first", "second"} {
		a, err := start(t, Config{Settings: settings, NoNetwork: true, Topology: queue(path)})
		if err != nil {
			t.Fatal(err)
		}
		if !a.Namespace().Exists("first") {
			t.Errorf("first is missing with the file that names %s", path)
		}
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

func TestTwoNamesMayShareAPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := port(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, AMQPPort: free, TLSPort: free, HTTPPort: free}})
	if err != nil {
		t.Fatal(err)
	}
	if a.ports.AMQP != int(free) || a.ports.HTTP != int(free) || a.ports.TLS != int(free) || len(a.ports.bound) != 1 {
		t.Errorf("ports %+v", a.ports)
	}
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]string{"localhost": "sb://localhost:", "all": "sb://localhost:", "127.0.0.1": "sb://127.0.0.1:", "0.0.0.0": "sb://localhost:"} {
		a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, Host: host, TLSPort: config.PortOff, HTTPPort: config.PortOff}})
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		if !strings.Contains(a.ConnectionString(), want) {
			t.Errorf("%s: %s", host, a.ConnectionString())
		}
		if code, _ := get(t, local(a.ports.AMQP, "/health")); code != 200 {
			t.Errorf("%s: %d", host, code)
		}
	}
}

func TestConnectionStringHasThePort(t *testing.T) {
	a := &Server{config: Config{Settings: config.Settings{Host: "localhost"}}, ports: ports{Ports: config.Ports{AMQP: 5672}}}
	const want = "Endpoint=sb://localhost:5672;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
	if got := a.ConnectionString(); got != want {
		t.Errorf("got %s", got)
	}
	a = &Server{config: Config{Settings: config.Settings{Host: "::1"}}, ports: ports{Ports: config.Ports{AMQP: 1}}}
	if got := a.ConnectionString(); !strings.HasPrefix(got, "Endpoint=sb://[::1]:1;") {
		t.Errorf("got %s", got)
	}
}

func TestCloseCutsConnectionsWhenItsContextEnds(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true}, NoNetwork: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = c.Write([]byte(amqpHeader)) // and then silence
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	closed := make(chan struct{})
	go func() { _ = a.Close(ctx); close(closed) }()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Error("Close waits for a silent client")
	}
}

// TestMethodsThatAPathDoesNotHaveAreRefused in the service's words, on every path.
func TestMethodsThatAPathDoesNotHaveAreRefused(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true}, NoNetwork: true})
	if err != nil {
		t.Fatal(err)
	}
	methods := []string{"TRACE", "OPTIONS", "PATCH", "PROPFIND", "MKCALENDAR", "VERSION-CONTROL", "BREW", "get", "M", "GETS", "ACL", "AMQ", "X!#$%*+-.^_`|~9"}
	paths := []string{"/", "/q", "/q/messages", "/q/messages/head", "/q/messages/1/7f3c7c41-2f4a-4d3e-9a0f-3d8e0b3f2a10", "/q/$DeadLetterQueue", "/$Resources/queues",
		"/$Resources/topics", "/$namespaceinfo", "/t/Subscriptions", "/t/Subscriptions/s", "/t/Subscriptions/s/Rules", "/t/Subscriptions/s/Rules/r",
		"/health", "/livez", "/readyz", "/metrics", "/minibus/ca.pem", "/$servicebus/websocket", "http://localhost/q"}
	for _, method := range methods {
		for _, path := range append(paths, "*") {
			wantBadVerb(t, a, method, path)
		}
	}
	for _, target := range []string{"example.org:443", "localhost:5672", "/q"} {
		wantBadVerb(t, a, "CONNECT", target)
	}
	for _, path := range []string{"/health", "/livez", "/metrics", "/minibus/ca.pem", "/$servicebus/websocket", "/$Resources/queues"} {
		wantBadVerb(t, a, "POST", path)
	}
}

func wantBadVerb(t *testing.T, a *Server, method, target string) {
	t.Helper()
	status, text := raw(t, a, method+" "+target, "Secret: mine\r\n", "")
	if status != http.StatusBadRequest || !strings.Contains(text, "The specified HTTP verb ("+method+") is not valid. ") || strings.Contains(text, "mine") {
		t.Errorf("%s %s: %d %s", method, target, status, text)
	}
}
