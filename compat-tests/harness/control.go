package harness

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// Control is a server with a database that a program of another language can stop, start and cut off, by a request to [Control.URL]:
//
//	/restart  SIGTERM, then a start on the same ports
//	/kill     SIGKILL, then a start
//	/stop     SIGTERM
//	/start    a start
//	/cut      every connection through the relay ends with a reset
//
// A request is answered when it is done. Its goroutines end with the test.
type Control struct {
	URL   string
	Relay *Relay // to the AMQP port

	t       testing.TB
	mu      sync.Mutex
	server  *Server // the running one, or the last
	options Options
}

// StartControlled starts a server that can be controlled.
func StartControlled(t testing.TB, o Options) *Control {
	t.Helper()
	o.Data = filepath.Join(t.TempDir(), "minibus.db")
	c := &Control{t: t, server: Start(t, o)}
	c.options = c.server.Options()
	c.options.Ports = c.server.Ports
	c.Relay = startRelay(t, net.JoinHostPort(cmp.Or(o.Host, "localhost"), strconv.Itoa(c.server.Ports.AMQP)))
	mux := http.NewServeMux()
	for path, steps := range map[string][]func(){
		"/restart": {c.stop, c.start}, "/kill": {c.kill, c.start}, "/stop": {c.stop}, "/start": {c.start}, "/cut": {c.Relay.Cut},
	} {
		mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, step := range steps {
				step()
			}
		})
	}
	listener := httptest.NewServer(mux)
	t.Cleanup(listener.Close)
	c.URL = listener.URL
	return c
}

// StartForRestarts is StartControlled for a client in another language, with the queues r.1 to r.6 and r.sessions.
func StartForRestarts(t testing.TB, o Options) *Control {
	t.Helper()
	queues := []Queue{{Name: "r.sessions", RequiresSession: true}}
	for i := range 6 {
		queues = append(queues, Queue{Name: fmt.Sprintf("r.%d", i+1), MaxDeliveryCount: 10})
	}
	o.Config = WriteConfig(t, queues...)
	return StartControlled(t, o)
}

// Environ returns variables that tell such a client how to control the server: MINIBUS_CONTROL, the URL, and MINIBUS_RELAY, host:port of
// the relay.
func (c *Control) Environ() []string {
	return []string{"MINIBUS_CONTROL=" + c.URL, "MINIBUS_RELAY=" + c.Relay.Addr}
}

// Do makes a request of the test itself.
func (c *Control) Do(t testing.TB, path string) {
	t.Helper()
	answer, err := http.Get(c.URL + path)
	if err != nil {
		t.Fatalf("control minibus: %v", err)
	}
	_ = answer.Body.Close()
}

// Server is the running server, or the last one.
func (c *Control) Server() *Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

func (c *Control) stop() {
	if err := c.server.End(); err != nil {
		c.t.Error(err)
	}
}

func (c *Control) kill() {
	if err := c.server.KillNow(); err != nil {
		c.t.Error(err)
	}
}

func (c *Control) start() {
	server, err := Launch(Binary(c.t), filepath.Join(c.t.TempDir(), "ports.json"), c.options)
	if server != nil {
		c.server = server
		c.t.Cleanup(func() { server.Stop(c.t) })
	}
	if err != nil {
		c.t.Error(err)
	}
}

// Relay passes TCP connections on until they are cut.
type Relay struct {
	Addr string

	target string
	mu     sync.Mutex
	open   map[net.Conn]bool
}

func startRelay(t testing.TB, target string) *Relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start relay: %v", err)
	}
	r := &Relay{Addr: listener.Addr().String(), target: target, open: make(map[net.Conn]bool)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { r.pass(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		r.Cut()
		running.Wait()
	})
	return r
}

func (r *Relay) pass(client net.Conn) {
	server, err := net.Dial("tcp", r.target)
	if err != nil {
		_ = client.Close()
		return
	}
	both := []net.Conn{client, server}
	r.mu.Lock()
	for _, conn := range both {
		r.open[conn] = true
	}
	r.mu.Unlock()
	var ways sync.WaitGroup
	ways.Go(func() { relay(server, client) })
	ways.Go(func() { relay(client, server) })
	ways.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range both {
		delete(r.open, conn)
		_ = conn.Close()
	}
}

// relay copies until either side ends, and ends both.
func relay(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}

// Cut ends every connection with a reset on both sides.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.open {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}
