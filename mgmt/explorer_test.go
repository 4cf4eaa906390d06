package mgmt

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/mgmt/control"
	"minibus/mgmt/ui"
)

const browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

// controlled is a server that nothing asks.
var controlled struct{ control.Server }

// TestExplorer: a browser gets the page at /, and clients of the service get the service's document (DEC-12).
func TestExplorer(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.handler = New(Options{Broker: b.Broker, Control: controlled})
	w := b.do("GET", "/", "", "Accept", browserAccepts)
	wants(t, w, 200, "<!doctype html>", "$minibus/ui/start.js")
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %s", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if again := b.do("GET", "/", "", "Accept", browserAccepts, "If-None-Match", w.Header().Get("Etag")); again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("a page that the browser has: %d, %d bytes", again.Code, again.Body.Len())
	}
	wants(t, b.do("HEAD", "/", "", "Accept", browserAccepts), 200)
	wants(t, b.do("GET", ui.Prefix+"start.js", ""), 200, "./app.js")
	wants(t, b.do("GET", ui.Prefix+"app.js", ""), 200)
	wants(t, b.do("GET", ui.Prefix+"other.js", ""), 404)
	wants(t, b.do("GET", ui.Prefix, ""), 404)
	for _, accept := range []string{"", "*/*", "application/xml", "application/atom+xml", "text/html;q=0.1, application/xml"} {
		wants(t, b.do("GET", "/", "", "Accept", accept), 200, "<feed")
	}
	wants(t, b.do("GET", "/?api-version=2021-05", "", "Accept", browserAccepts), 200, "<feed")
	wants(t, b.do("GET", "/", "", "Accept", browserAccepts, "Authorization", "SharedAccessSignature x"), 200, "<feed")
}

// TestDocs: a browser that asks for /docs is led to the pages. Clients of the service mean an entity of that name.
func TestDocs(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.handler = New(Options{Broker: b.Broker, Manual: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "the page %q", r.URL.Path)
	})})
	w := b.do("GET", "/docs", "", "Accept", browserAccepts)
	wants(t, w, 302)
	wants(t, b.do("GET", w.Header().Get("Location")+"clock", ""), 200, `the page "clock"`)
	wants(t, b.do("GET", "/docs?api-version=2021-05", "", "Accept", browserAccepts), 200, "<feed")
	wants(t, b.do("POST", "/docs/messages", "hello", "Accept", browserAccepts), 404)
	b.handler = New(Options{Broker: b.Broker, Control: controlled})
	wants(t, b.do("GET", "/docs", "", "Accept", browserAccepts), 200, "<feed")
}

// TestExplorerRefusesStrangers: pages of other origins get neither the page nor its files.
func TestExplorerRefusesStrangers(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.handler = New(Options{Broker: b.Broker, Control: controlled})
	for _, path := range []string{"/", ui.Prefix + "app.js", ui.Prefix + "app.css"} {
		for _, stranger := range strangers {
			r := stranger.request("GET", path)
			r.Header.Set("Accept", browserAccepts)
			r.URL.RawQuery = ""
			w := httptest.NewRecorder()
			b.handler.ServeHTTP(w, r)
			if w.Code != 403 {
				t.Errorf("%s %v: %d %.60s", path, stranger, w.Code, w.Body)
			}
		}
	}
}
