package mgmt

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
	h := New(Options{Ready: func() bool { return ready }, Version: "1"})
	for _, path := range []string{"/health", "/readyz"} {
		ready = false
		if w, s := ask(t, h, "GET", path); w.Code != 503 || s != (status{"unhealthy", "Service not available. Please try after some time."}) {
			t.Errorf("%s: %d %+v", path, w.Code, s)
		}
		if w, _ := ask(t, h, "GET", "/livez"); w.Code != 200 {
			t.Errorf("/livez: %d", w.Code)
		}
		ready = true
		w, s := ask(t, h, "GET", path)
		if w.Code != 200 || s != (status{"healthy", "Service is healthy."}) {
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

func TestEverythingElseIsRefusedLoudly(t *testing.T) {
	h := New(Options{})
	for _, tt := range [][2]string{{"GET", "/"}, {"GET", "/orders?api-version=2021-05"}, {"PUT", "/orders"}, {"DELETE", "/a/b"}, {"POST", "/health"},
		{"GET", "/$Resources/queues"}, {"GET", "/a//b/../c"}, {"GET", "/a%2Fb"}, {"POST", "/orders/messages"}, {"GET", "/health/"}} {
		w, s := ask(t, h, tt[0], tt[1])
		if w.Code != 501 || !strings.Contains(s.Message, "not served") {
			t.Errorf("%s %s: %d %+v", tt[0], tt[1], w.Code, s)
		}
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
	s.Config = NewServer(New(Options{}), slog.New(slog.DiscardHandler))
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
