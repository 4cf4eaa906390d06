package mgmt

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"minibus/emulator"
)

func ask(t *testing.T, h http.Handler, method, path string) (*httptest.ResponseRecorder, status) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	var s status
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
		t.Errorf("%s %s: %v in %q", method, path, err, w.Body.String())
	}
	return w, s
}

func TestHealthSaysWhetherMinibusIsReady(t *testing.T) {
	ready := false
	h := New(Options{Ready: func() bool { return ready }, Version: "1", Ports: map[string]int{"amqp": 5672}})
	for _, path := range []string{"/health", "/readyz"} {
		ready = false
		if w, s := ask(t, h, "GET", path); w.Code != 503 || s.Status != "unhealthy" || s.Message != "Service not available. Please try after some time." || s.Minibus.Version != "1" {
			t.Errorf("%s: %d %+v", path, w.Code, s)
		}
		if w, _ := ask(t, h, "GET", "/livez"); w.Code != 200 {
			t.Errorf("/livez: %d", w.Code)
		}
		ready = true
		w, s := ask(t, h, "GET", path)
		if w.Code != 200 || s.Status != "healthy" || s.Message != "Service is healthy." || s.Minibus.Version != "1" || fmt.Sprint(s.Minibus.Ports) != "map[amqp:5672]" {
			t.Errorf("%s: %d %+v", path, w.Code, s)
		}
		if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
			t.Errorf("content type %q", got)
		}
	}
	if w, _ := ask(t, New(Options{}), "HEAD", "/health"); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
}

// Health says what is wrong with a broker that is ready but can't work; livez still answers well.
func TestHealthSaysWhatTheTroubleIs(t *testing.T) {
	var trouble error
	h := New(Options{Trouble: func() error { return trouble }})
	for path, want := range map[string]int{"/health": 503, "/readyz": 503, "/livez": 200} {
		trouble = nil
		if w, _ := ask(t, h, "GET", path); w.Code != 200 {
			t.Errorf("%s: %d without trouble", path, w.Code)
		}
		trouble = errors.New("the database is gone")
		if w, s := ask(t, h, "GET", path); w.Code != want || want == 503 && (s.Status != "unhealthy" || s.Message != "the database is gone") {
			t.Errorf("%s: %d %+v", path, w.Code, s)
		}
	}
}

// Administration waits for the process to be ready; clients try again after a 503.
func TestAdministrationWaitsUntilReady(t *testing.T) {
	ready := false
	b := newBus(t, emulator.ProfileRelaxed)
	h := New(Options{Ready: func() bool { return ready }, Broker: func() *emulator.Broker {
		if !ready {
			t.Error("the broker was asked for before it was ready")
		}
		return b.broker
	}})
	wants(t, do(t, h, "GET", "/orders?api-version=2021-05", ""), 503, "<Code>503</Code>", "Service not available.")
	wants(t, do(t, h, "GET", "/health?api-version=2021-05", ""), 503, "Service not available.")
	ready = true
	wants(t, do(t, h, "GET", "/orders?api-version=2021-05", ""), 200, "Publicly Listed Services")
	wants(t, do(t, New(Options{}), "GET", "/orders", ""), 503)
}

func TestDEC12_OperationalPathsAndEntitiesOfTheirNames(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	for _, path := range []string{"/health", "/readyz", "/livez", "/metrics"} { // as QueueExists asks
		wants(t, b.do("GET", path+"?api-version=2021-05", ""), 200, "Publicly Listed Services")
	}
	wants(t, b.do("GET", "/health", "", "Authorization", "SharedAccessSignature sr=x"), 200, "Publicly Listed Services")
	wants(t, b.do("PUT", "/Health?api-version=2021-05", queueEntry("")), 201, "QueueDescription")
	wants(t, b.do("GET", "/health", ""), 200, `"healthy"`, `"minibus":{"version":`)
	wants(t, b.do("GET", "/health?api-version=2021-05", ""), 200, "QueueDescription")
	wants(t, b.do("GET", "/health", "", "Authorization", "SharedAccessSignature sr=x"), 200, "QueueDescription")
	wants(t, b.do("GET", "/livez?api-version=2021-05", "", "Authorization", "x"), 200, "Publicly Listed Services")
	wants(t, b.do("PUT", "/livez", queueEntry("")), 201)
	wants(t, b.do("DELETE", "/livez", ""), 200)
	wants(t, b.do("GET", "/", ""), 200, "Publicly Listed Services")
	wants(t, b.do("GET", "/", "", "Accept", "text/html"), 200)
	wants(t, b.do("PUT", "/", queueEntry("")), 400, "SubCode=40000.")
}

// The end of the path and the method together decide between the two APIs (management-rest 2).
func TestRuntimePathsAndEntitiesOfTheirNames(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/q/messages", queueEntry("")), 201, "<title type=\"text\">q/messages</title>")
	wants(t, b.do("GET", "/q/messages/head", ""), 200, "Publicly Listed Services")
	wants(t, b.do("DELETE", "/q/messages", ""), 200)
	for _, tt := range [][2]string{{"POST", "/q/messages"}, {"POST", "/q/Messages/HEAD"}, {"DELETE", "/q/messages/head"},
		{"PUT", "/q/messages/1/5f2b"}, {"DELETE", "/q/messages/1/5f2b"}, {"POST", "/q/messages/1/5f2b"},
		{"POST", "/t/subscriptions/s/messages/head"}, {"POST", "/q/$DeadLetterQueue/messages/head"}} {
		wants(t, b.do(tt[0], tt[1], ""), 404, "<Code>404</Code>", "could not be found")
	}
	for _, tt := range [][2]string{{"PUT", "/q/messages/head"}, {"PATCH", "/q/messages"}} {
		wants(t, b.do(tt[0], tt[1], ""), 400)
	}
}

func TestServerHasTimeOutsAndLimits(t *testing.T) {
	s := NewServer(New(Options{}), slog.New(slog.DiscardHandler))
	if s.ReadHeaderTimeout == 0 || s.ReadTimeout == 0 || s.WriteTimeout == 0 || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 {
		t.Errorf("%+v", s)
	}
}

func TestServerRefusesHugeHeaders(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewServer(New(Options{}), slog.New(slog.DiscardHandler)).Server
	s.Start()
	defer s.Close()
	req, err := http.NewRequest(http.MethodGet, s.URL+"/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Large", strings.Repeat("x", 2*maxHeaderBytes))
	resp, err := http.DefaultClient.Do(req)
	if err == nil { // the connection may also be cut while the header is still being sent
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
}

func TestWebSocketPathOfEverySDK(t *testing.T) {
	h := New(Options{WebSocket: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })})
	for path, code := range map[string]int{
		"/$servicebus/websocket": 418, "/$servicebus/websocket/": 418, "/%24servicebus/websocket": 418, "/$ServiceBus/WebSocket": 418,
		"/$servicebus/websocket?x=y": 418, "/$servicebus": 503, "/$servicebus/websocket/x": 503,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != code {
			t.Errorf("%s: %d, want %d", path, w.Code, code)
		}
	}
}

func TestAuthorityCanBeFetched(t *testing.T) {
	h := New(Options{Authority: []byte("a certificate")})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, authorityPath, nil))
	if w.Code != 200 || w.Body.String() != "a certificate" || w.Header().Get("Content-Type") != "application/x-pem-file" {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
	w = httptest.NewRecorder()
	New(Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, authorityPath, nil))
	if w.Code == 200 {
		t.Errorf("without an authority: %d %q", w.Code, w.Body)
	}
}
