package mgmt

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/internal/sas"
)

// TestRuntimeAsksWhoCalls before it says anything about the entity, even that it does not exist (management-rest 7.3).
func TestRuntimeAsksWhoCalls(t *testing.T) {
	const token = "/messages/1/7f3c7c41-2f4a-4d3e-9a0f-3d8e0b3f2a10"
	for _, tt := range []struct {
		method, path string
		claim        sas.Claims
		entity       string
	}{
		{"POST", "/q/messages", sas.Send, "q"},
		{"POST", "/A%2Fb/Messages?timeout=x", sas.Send, "A/b"},
		{"POST", "/q/messages/head", sas.Listen, "q"},
		{"DELETE", "/t/Subscriptions/s/messages/head", sas.Listen, "t/Subscriptions/s"},
		{"DELETE", "/q/$DeadLetterQueue/messages/head", sas.Listen, "q"},
		{"DELETE", "/q/$Transfer/%24deadletterqueue/messages/head", sas.Listen, "q"},
		{"POST", "/q" + token, sas.Listen, "q"},
		{"PUT", "/q" + token, sas.Listen, "q"},
		{"DELETE", "/q/$deadletterqueue" + token, sas.Listen, "q"},
	} {
		asked := 0
		a := &runtimeAPI{
			authorize: func(_ *request, claim sas.Claims, entity string) error {
				asked++
				if claim != tt.claim || entity != tt.entity {
					t.Errorf("%s %s: asked for %v on %q", tt.method, tt.path, claim, entity)
				}
				return problemf(http.StatusUnauthorized, "Unauthorized access. ")
			},
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest(tt.method, "http://localhost"+tt.path, strings.NewReader(""))
		x := (&handler{}).request(w, r) // without a namespace: to ask it panics
		if !isRuntime(r, x.target) {
			t.Fatalf("%s %s is of the administration", tt.method, tt.path)
		}
		a.serve(x, nil)
		wants(t, w, 401, "<Code>401</Code>", "Unauthorized access. TrackingId:")
		if asked != 1 {
			t.Errorf("%s %s: asked %d times", tt.method, tt.path, asked)
		}
	}
}

// TestLocationsAreReached over TLS as over plain HTTP: they name the server as the client did.
func TestLocationsAreReached(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("a/q", emulator.QueueOptions{})
	p := serve(t, b.handler)
	c := p.client()
	defer c.CloseIdleConnections()
	ask := func(method, url string, status int) http.Header {
		t.Helper()
		r, err := http.NewRequest(method, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header["camelCase"] = []string{"1"}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if text, _ := io.ReadAll(resp.Body); resp.StatusCode != status {
			t.Fatalf("%s %s: %d %s", method, url, resp.StatusCode, text)
		}
		return resp.Header
	}
	for _, scheme := range []string{"http", "https"} {
		base := scheme + "://" + p.addr + "/a/q/messages"
		ask("POST", base, 201)
		got := ask("POST", base+"/head", 201)
		at := got.Get("Location")
		if !strings.HasPrefix(at, base+"/") || got.Get("camelCase") != "1" {
			t.Errorf("location %s, headers %v", at, got)
		}
		ask("DELETE", at, 200)
	}
	ask("POST", "http://"+p.addr+"/a/q/messages", 201)
	if got := b.userProperties("a/q"); len(got) != 1 || got["camelCase"] != int32(1) {
		t.Errorf("%v", got)
	}
}
