package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTheLastSpansAreSent when the server ends.
func TestTheLastSpansAreSent(t *testing.T) {
	asked := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer collector.Close()
	p := run(t, "--ephemeral", "--otlp", collector.URL)
	answer, err := http.Post(local(p.ports.HTTP, "/queue.1/messages"), "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if err := p.end(t); err != nil {
		t.Error(err)
	}
	select {
	case path := <-asked:
		if path != "/v1/traces" {
			t.Errorf("the collector was asked for %s", path)
		}
	default:
		t.Error("the collector got nothing")
	}
}
