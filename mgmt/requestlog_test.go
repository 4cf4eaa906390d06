package mgmt

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

func TestOneLineForEachRequestWithoutItsSecrets(t *testing.T) {
	b := newBus(t, emulator.LimitsRelaxed)
	var log bytes.Buffer
	type seen struct {
		method string
		status int
	}
	var observed []seen
	b.handler = New(Options{
		Broker: func() *emulator.Namespace { return b.ns }, Version: "test",
		Logger:    slog.New(slog.NewTextHandler(&log, nil)),
		Observe:   func(method string, status int, _ time.Duration) { observed = append(observed, seen{method, status}) },
		WebSocket: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), // as if it had taken the connection over
	})
	b.do(http.MethodPut, "/orders?api-version=2021-05&token=hidden-query", entry("QueueDescription", ""),
		"Authorization", "SharedAccessSignature sr=x&sig=hidden-signature")
	b.do(http.MethodDelete, "/nothing", "")
	b.do(http.MethodGet, "/health", "")
	b.do(http.MethodGet, webSocketPath, "")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines:\n%s", len(lines), &log)
	}
	for i, parts := range [][]string{
		{"level=INFO", "msg=request", "method=PUT", "path=/orders", "status=201", "bytes=", "duration="},
		{"method=DELETE", "path=/nothing", "status=404"},
		{"method=GET", "path=/$servicebus/websocket", "status=101"},
	} {
		for _, part := range parts {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d has no %s: %s", i, part, lines[i])
			}
		}
	}
	if strings.Contains(log.String(), "hidden") {
		t.Errorf("the log has a secret:\n%s", &log)
	}
	if want := []seen{{"PUT", 201}, {"DELETE", 404}, {"GET", 200}}; len(observed) != 3 || observed[0] != want[0] || observed[1] != want[1] || observed[2] != want[2] {
		t.Errorf("observed %v", observed)
	}
}

// TestTheLineOfAMissingEntitySaysSo: the service answers 200 and a feed of nothing, which looks well in a log.
func TestTheLineOfAMissingEntitySaysSo(t *testing.T) {
	b := newBus(t, emulator.LimitsRelaxed)
	var log bytes.Buffer
	b.handler = New(Options{Broker: func() *emulator.Namespace { return b.ns }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	b.do(http.MethodPut, "/there", entry("TopicDescription", ""))
	b.do(http.MethodPut, "/there/Subscriptions/s", entry("SubscriptionDescription", ""))
	for path, missing := range map[string]bool{
		"/there": false, "/there/Subscriptions/s": false, "/there/Subscriptions/s/Rules/$Default": false, "/$Resources/queues": false, "/": false,
		"/gone": true, "/there/Subscriptions/gone": true, "/gone/Subscriptions/s": true, "/there/Subscriptions/s/Rules/gone": true,
	} {
		log.Reset()
		if w := b.do(http.MethodGet, path+"?api-version=2021-05", ""); w.Code >= 500 {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		said := strings.Contains(log.String(), "found=false") || strings.Contains(log.String(), "status=404")
		if said != missing || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%s, missing %v: %s", path, missing, &log)
		}
	}
}

func TestMetricsAreServedUnlessAnEntityHasTheName(t *testing.T) {
	b := newBus(t, emulator.LimitsRelaxed)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("minibus_up 1")) })
	b.handler = New(Options{Broker: func() *emulator.Namespace { return b.ns }, Version: "test", Metrics: page})
	if w := b.do(http.MethodGet, "/metrics", ""); w.Code != 200 || w.Body.String() != "minibus_up 1" {
		t.Errorf("GET /metrics: %d %s", w.Code, w.Body)
	}
	if w := b.do(http.MethodPut, "/metrics?api-version=2021-05", entry("QueueDescription", "")); w.Code != 201 {
		t.Fatalf("create the queue metrics: %d %s", w.Code, w.Body)
	}
	if w := b.do(http.MethodGet, "/metrics?api-version=2021-05", ""); !strings.Contains(w.Body.String(), "QueueDescription") {
		t.Errorf("DEC-12: a client of the administration got %s", w.Body)
	}
	if w := b.do(http.MethodGet, "/metrics", ""); w.Body.String() != "minibus_up 1" {
		t.Errorf("DEC-12: a scraper got %s", w.Body)
	}
}
