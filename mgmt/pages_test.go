package mgmt

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorilla/mux"

	"minibus/emulator"
	"minibus/internal/loglimit"
	"minibus/mgmt/control"
)

// methods are those of HTTP, and an unknown one.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"}

// strangers are headers of pages of another origin, or of requests that may come from one. Minibus refuses them on every path.
var strangers = []headers{
	{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "elsewhere"}, {"Sec-Fetch-Site", ""},
	{"Origin", "https://evil.test"}, {"Origin", "null"}, {"Origin", "http://localhost"}, {"Origin", "http://localhost:3000"},
	{"Origin", "http://localhost:5300.evil.test"}, {"Origin", "file://"}, {"Origin", "chrome-extension://localhost:5300"}, {"Origin", "localhost:5300"},
	{"Origin", "http://evil.test@localhost:5300.test"}, {"Origin", "http://localhost:5300", "Origin", "https://evil.test"},
	{"Origin", "https://evil.test", "Sec-Fetch-Site", "same-origin"}, {"Origin", "http://localhost:5300", "Sec-Fetch-Site", "cross-site"},
	{"Sec-Fetch-Site", "none", "Sec-Fetch-Site", "cross-site"},
	{"Host", "evil.test:5300", "Origin", "http://evil.test:5300"}, {"Host", "evil.test:5300", "User-Agent", chrome}, {"Host", "evil.test", "Accept-Language", "*"},
	{"Host", "evil.test:5300", "Sec-Fetch-Site", "same-origin"}, {"Host", "localhost.evil.test", "User-Agent", chrome}, {"Host", "", "User-Agent", chrome},
	{"Host", "127.0.0.1.evil.test", "User-Agent", chrome}, {"Host", "servicebus.windows.net.evil.test", "User-Agent", chrome},
	{"Host", "evil.test:5300", "Connection", "Upgrade", "Upgrade", "websocket"}, {"Host", "evil.test.", "Upgrade", "h2c, WebSocket"},
}

// friends are headers of programs and of Minibus's own pages.
var friends = []headers{
	{"User-Agent", "curl/8.5.0"}, {"User-Agent", "azsdk-python-servicebus/7.15.0", "Accept", "application/xml"},
	{"Host", "bus.example.org", "User-Agent", "azsdk-net-Messaging.ServiceBus/7.20.1"}, {"Host", "minibus.default.svc.cluster.local:5300"},
	{"Accept-Language", "*", "Sec-Fetch-Mode", "cors", "User-Agent", "node"},
	{"Origin", "http://localhost:5300"}, {"Origin", "https://LOCALHOST:5300"}, {"Host", "bus:443", "Origin", "http://bus:443", "Upgrade", "websocket"},
	{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:5300", "User-Agent", chrome}, {"Sec-Fetch-Site", "none", "User-Agent", chrome},
	{"Host", "servicebus-emulator:5300", "User-Agent", chrome}, {"Host", "orders.localhost", "User-Agent", chrome}, {"Host", "LocalHost.", "User-Agent", chrome},
	{"Host", "127.0.0.1", "User-Agent", chrome}, {"Host", "[::1]:5300", "User-Agent", chrome}, {"Host", "192.168.1.20:5300", "User-Agent", chrome},
	{"Host", "[fe80::1]", "User-Agent", chrome}, {"Host", "Orders.ServiceBus.Windows.Net", "Upgrade", "websocket"},
	{"Host", "known.example.org:5300", "User-Agent", chrome}, {"Host", "KNOWN.example.org.", "Upgrade", "websocket"},
}

const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

// headers are names and values in turn.
type headers []string

func (p headers) request(method, path string) *http.Request {
	r := httptest.NewRequest(method, "http://localhost:5300/", http.NoBody)
	path, query, _ := strings.Cut(path, "?")
	r.URL.Path, r.URL.RawQuery, r.RequestURI, r.Host = path, cmp.Or(query, "timeout=0"), path, "localhost:5300"
	for i := 0; i < len(p); i += 2 {
		if p[i] == "Host" {
			r.Host = p[i+1]
		} else {
			r.Header.Add(p[i], p[i+1])
		}
	}
	return r
}

// pathsOf returns one path for each route of the router and each kind in the tables of operations. It finds new routes by itself, or
// the test fails.
func pathsOf(t *testing.T, h *handler) []string {
	t.Helper()
	var paths []string
	matched := []string{control.DocumentPath, webSocketPath, armTargets[0]} // of the routes without a path template, in their order
	err := h.routes().Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		path, err := route.GetPathTemplate()
		if err != nil {
			path, matched = matched[0], matched[1:]
		}
		paths = append(paths, path)
		return nil
	})
	if err != nil || len(paths) != 10 {
		t.Fatalf("%d routes, %v: %q; look whether each has the right path here", len(paths), err, paths)
	}
	kinds := map[targetKind]string{
		targetRoot: "/", targetEntity: "/q", targetSubscription: "/t/Subscriptions/s", targetRule: "/t/Subscriptions/s/Rules/r", targetNamespace: "/$namespaceinfo",
		targetQueues: "/$Resources/queues", targetTopics: "/$Resources/topics", targetOthers: "/$Resources/EventHubs", targetSubscriptions: "/t/Subscriptions", targetRules: "/t/Subscriptions/s/Rules",
	}
	for kind := range operations {
		if kinds[kind] == "" {
			t.Errorf("no path for kind %d", kind)
		}
		paths = append(paths, kinds[kind])
	}
	for n := range runtimeOperations {
		path := "/q"
		for _, s := range []string{"/messages", "/head", "/0e9d0a1e-2e3b-4f0e-8a0a-5f2d6b1a7c11"}[:n] {
			path += s
		}
		paths = append(paths, path)
	}
	paths = append(append(paths, armTargets...), "/metadata/endpoints?api-version=2022-09-01")
	return append(paths, "/nothing", "/q/$deadletterqueue", "/q/$deadletterqueue/messages/head", "*", "", "//", "/q/", "/%71")
}

// pageBus has a queue with a message and a topic with a subscription, and every route.
func pageBus(t *testing.T) (*bus, *handler) {
	t.Helper()
	b := newTopicBus(t)
	b.makeQueue("q", emulator.QueueOptions{})
	b.post("q", "hello")
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	o := Options{Broker: b.Broker, ARM: b.manager(), Metrics: served, Manual: served, WebSocket: served, Authority: []byte("x"),
		KnownHost: func(host string) bool { return host == "known.example.org" }, Origins: []string{"http://localhost:3000"}}
	h := &handler{options: o}
	b.handler = New(o)
	h.options.Ready, h.options.Logger = func() bool { return true }, slog.New(slog.DiscardHandler)
	return b, h
}

func (b *bus) state() string {
	s := fmt.Sprintf("%+v", b.queue("q").Counts())
	for _, q := range b.ns.Entities().Queues() {
		s += " " + q.Path()
	}
	return s
}

// TestPagesOfStrangersMayDoNothing tries every route with every method and every header of a page.
func TestPagesOfStrangersMayDoNothing(t *testing.T) {
	b, h := pageBus(t)
	before := b.state()
	for _, path := range pathsOf(t, h) {
		for _, method := range methods {
			for _, p := range strangers {
				w := httptest.NewRecorder()
				b.handler.ServeHTTP(w, p.request(method, path))
				if w.Code != 403 || !strings.HasPrefix(w.Body.String(), "<Error><Code>403</Code><Detail>") || w.Header().Get("Connection") != "close" {
					t.Fatalf("%s %s %q: %d %s %v", method, path, p, w.Code, w.Body, w.Header())
				}
			}
		}
	}
	if after := b.state(); after != before {
		t.Errorf("something happened: %s, before %s", after, before)
	}
}

// TestProgramsAndOwnPagesAreLetIn: pages refuses no other client.
func TestProgramsAndOwnPagesAreLetIn(t *testing.T) {
	b, h := pageBus(t)
	for _, path := range pathsOf(t, h) {
		for _, method := range methods {
			for _, p := range friends {
				w := httptest.NewRecorder()
				b.handler.ServeHTTP(w, p.request(method, path))
				if w.Code == 403 {
					t.Fatalf("%s %s %q: %s", method, path, p, w.Body)
				}
			}
		}
	}
}

// TestInvitedPagesMayConnect: only over WebSockets, and only from exactly the allowed origins.
func TestInvitedPagesMayConnect(t *testing.T) {
	b, _ := pageBus(t)
	for _, tt := range []struct {
		status int
		path   string
		p      headers
	}{
		{418, webSocketPath, headers{"Origin", "http://localhost:3000", "Upgrade", "websocket", "User-Agent", chrome}},
		{418, webSocketPath, headers{"Origin", "http://localhost:3000", "Upgrade", "websocket", "Sec-Fetch-Site", "same-site"}},
		{403, webSocketPath, headers{"Origin", "http://localhost:3000", "Upgrade", "websocket", "Host", "evil.test"}},
		{403, webSocketPath, headers{"Origin", "http://localhost:3001", "Upgrade", "websocket"}},
		{403, webSocketPath, headers{"Origin", "https://localhost:3000", "Upgrade", "websocket"}},
		{403, webSocketPath, headers{"Origin", "http://localhost:3000", "Origin", "http://evil.test", "Upgrade", "websocket"}},
		{403, webSocketPath, headers{"Origin", "http://localhost:3000"}},
		{403, "/q", headers{"Origin", "http://localhost:3000"}},
	} {
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, tt.p.request("GET", tt.path))
		if w.Code != tt.status {
			t.Errorf("%s %q: %d, want %d", tt.path, tt.p, w.Code, tt.status)
		}
	}
}

// TestRefusedPagesAreToldWhatToDo: the answer says it, and so does the log, but not for each of a flood.
func TestRefusedPagesAreToldWhatToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		refusals := loglimit.New(logger)
		h := New(Options{Logger: logger, Refusals: refusals})
		long := strings.Repeat("x", 5000)
		for range 50 {
			for _, tt := range []struct {
				p    headers
				want []string
			}{
				{headers{"Origin", "http://localhost:3000"}, []string{"(Origin: http://localhost:3000)", "--allowed-origins", "address bar"}},
				{headers{"Sec-Fetch-Site", "cross-site"}, []string{"(Sec-Fetch-Site: cross-site)"}},
				{headers{"Host", "bus.example.org:5300", "User-Agent", chrome}, []string{"'bus.example.org'", "--tls-names"}},
				{headers{"Host", long + ".test", "Origin", "http://" + long}, []string{"<Code>403</Code>"}},
			} {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, tt.p.request("POST", "/q/messages"))
				wants(t, w, 403, tt.want...)
			}
		}
		refusals.Close()
		if n := strings.Count(log.String(), "web page refused"); n != loglimit.PerSecond || !strings.Contains(log.String(), "kind=page leftOut=190") {
			t.Errorf("%d lines:\n%s", n, log.String())
		}
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "web page refused") && len(line) > 1500 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	})
}

// TestRefusedSendLeavesNoNames: the next send over the same connection does not get its header names.
func TestRefusedSendLeavesNoNames(t *testing.T) {
	b, _ := pageBus(t)
	b.makeQueue("n", emulator.QueueOptions{})
	p := serve(t, b.handler)
	c := p.client()
	defer c.CloseIdleConnections()
	for i, name := range []string{"PRIORITY", "priority"} {
		r, err := http.NewRequest(http.MethodPost, "http://"+p.addr+"/n/messages", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header[name] = []string{"1"}
		if i == 0 {
			r.Header.Set("Origin", "http://evil.test")
		}
		w, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, w.Body)
		_ = w.Body.Close()
		if want := []int{403, 201}[i]; w.StatusCode != want {
			t.Errorf("send %d: %d", i, w.StatusCode)
		}
	}
	if got := b.userProperties("n"); got["priority"] == nil {
		t.Errorf("properties %v", got)
	}
}

// TestAnswersAreInert: a browser that opens an answer runs nothing that is in it, and its type is the sender's or a harmless one.
func TestAnswersAreInert(t *testing.T) {
	b, h := pageBus(t)
	for _, path := range pathsOf(t, h) {
		for _, method := range methods {
			w := httptest.NewRecorder()
			b.handler.ServeHTTP(w, headers{}.request(method, path))
			wantInert(t, method+" "+path, w)
		}
	}
	b.makeQueue("m", emulator.QueueOptions{})
	const script = `<script xmlns="http://www.w3.org/1999/xhtml">fetch("/m/messages")</script>`
	for _, tt := range []struct{ method, sent, received string }{
		{"POST", "", "text/plain; charset=utf-8"}, {"DELETE", "", "text/plain; charset=utf-8"}, {"POST", "text/html", "text/html"},
	} {
		r := headers{"Content-Type", tt.sent, "Clear-Site-Data", "cookies", "X-Frame-Options", "ALLOWALL", "Content-Security-Policy", "x"}
		if tt.sent == "" {
			r = r[2:]
		}
		for _, browser := range []headers{{"Origin", "http://localhost:5300"}, {"Sec-Fetch-Site", "same-origin"},
			{"Accept-Language", "de", "User-Agent", "Mozilla/5.0"}} {
			b.post("m", script, append(r, "Service-Worker-Allowed", "/", "NEL", "{}", "Own", "1")...)
			w := b.do("DELETE", "/m/messages/head?timeout=0", "", browser...)
			wantInert(t, "a message", w)
			for name := range w.Header() {
				if !slices.Contains([]string{"Server", "Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options", "Content-Type", "BrokerProperties"}, name) {
					t.Errorf("a browser gets the header %s, which a sender may have chosen", name)
				}
			}
		}
		b.post("m", script, r...)
		w := b.do(tt.method, "/m/messages/head?timeout=0", "")
		if got := w.Header().Get("Content-Type"); got != tt.received || w.Body.String() != script || w.Header().Get("Clear-Site-Data") != "" {
			t.Errorf("%+v: type %s, body %s, %v", tt, got, w.Body, w.Header())
		}
		if tt.method == "POST" {
			wants(t, b.do("DELETE", location(t, w), ""), 200)
		}
	}
}

func wantInert(t *testing.T, what string, w *httptest.ResponseRecorder) {
	t.Helper()
	for name, want := range map[string]string{"Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff"} {
		if got := w.Header().Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %s %q, want %s", what, name, got, want)
		}
	}
}
