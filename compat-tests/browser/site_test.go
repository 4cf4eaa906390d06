package browser

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a browser may take for a page on a busy machine.
const patience = 3 * time.Minute

//go:embed testdata/page.js
var script string

// plan lists the requests that a page makes.
type plan struct {
	Target   string  `json:"target"` // scheme and host
	Routes   []route `json:"routes"` // paths that scripts request, each with these methods
	Forms    []form  `json:"forms"`  // what is opened, in windows and in frames
	Elements bool    `json:"elements"`
	Linger   int     `json:"linger"` // how long a window stays open, in ms
	Report   string  `json:"report"`

	WebSocket string `json:"webSocket"` // the path to connect to
}

type route struct {
	Path    string   `json:"path"`
	Methods []string `json:"methods"`
}

type form struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

// try is the result of one request of a page.
type try struct{ What, Method, Path, Outcome string }

func (r try) String() string { return strings.Join([]string{r.What, r.Method, r.Path, r.Outcome}, " ") }

// site is a web site that serves a page under any name. A script in a message requests /ran to show that it ran.
type site struct {
	server  *httptest.Server
	port    string
	reports chan []try

	mu   sync.Mutex
	plan plan
	ran  []string
}

// newSite serves the page. If there is a Minibus, it passes every other request on to it with its Host: then a browser sees the page and
// Minibus as one origin, as after DNS rebinding.
func newSite(t *testing.T, minibus string) *site {
	t.Helper()
	s := &site{reports: make(chan []try, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", s.page)
	mux.HandleFunc("GET /page.js", s.script)
	mux.HandleFunc("POST /report", s.report)
	mux.HandleFunc("GET /ran", s.scriptRan)
	if minibus != "" {
		behind := &url.URL{Scheme: "http", Host: minibus}
		mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(behind)
			r.Out.Host = r.In.Host
		}})
	}
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	_, s.port, _ = net.SplitHostPort(s.server.Listener.Addr().String())
	return s
}

func (s *site) page(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := json.Marshal(s.plan)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, "<!doctype html><title>page</title><body><script>const plan = %s</script><script src=/page.js></script>", text)
}

func (s *site) script(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = io.WriteString(w, script)
}

func (s *site) report(w http.ResponseWriter, r *http.Request) {
	var report []try
	if err := json.NewDecoder(r.Body).Decode(&report); err != nil {
		report = []try{{What: "report", Outcome: err.Error()}}
	}
	s.reports <- report
	w.WriteHeader(http.StatusNoContent)
}

func (s *site) scriptRan(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, r.URL.RawQuery)
	w.WriteHeader(http.StatusNoContent)
}

// scriptsThatRan returns the scripts in messages that ran.
func (s *site) scriptsThatRan() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ran)
}

// visit opens the page under a host name in a browser, and returns what the page reports. Names that end in .test, and the name
// "minibus", lead to this machine.
func (s *site) visit(t *testing.T, host string, p plan) []try {
	t.Helper()
	p.Linger, p.WebSocket, p.Report = 300, "/$servicebus/websocket", "http://"+net.JoinHostPort("127.0.0.1", s.port)+"/report"
	s.mu.Lock()
	s.plan = p
	s.mu.Unlock()
	var output lines
	cmd := exec.Command("chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-popup-blocking", "--no-proxy-server",
		"--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP *.test 127.0.0.1, MAP minibus 127.0.0.1", "http://"+net.JoinHostPort(host, s.port)+"/page")
	cmd.Stdout, cmd.Stderr = &output, &output
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	defer func() {
		endGroup(cmd)
		_ = cmd.Wait()
	}()
	select {
	case report := <-s.reports:
		return report
	case <-time.After(patience):
		t.Fatalf("the page has reported nothing:\n%s", output.text())
		return nil
	}
}

// lines collects what a child prints.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// curl sends a request from a program and returns status and body.
func curl(t *testing.T, method, address, contentType, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.StatusCode, string(text)
}
