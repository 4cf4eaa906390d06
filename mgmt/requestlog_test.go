package mgmt

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/loglimit"
)

func TestOneLineForEachRequestWithoutItsSecrets(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	var log bytes.Buffer
	type seen struct {
		method string
		status int
	}
	var observed []seen
	b.handler = New(Options{
		Broker: b.Broker, Version: "test",
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

// TestTheLineOfAMissingEntitySaysSo: the service answers 200 and the feed of nothing, which looks like success in a log.
func TestTheLineOfAMissingEntitySaysSo(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	var log bytes.Buffer
	b.handler = New(Options{Broker: b.Broker, Logger: slog.New(slog.NewTextHandler(&log, nil))})
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

// flood sends many requests of each kind at once, and returns the log at a level.
func flood(t *testing.T, level slog.Level, requests ...[2]string) string {
	t.Helper()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		b := newTimedBus(t, emulator.ProfileRelaxed)
		defer b.close()
		b.makeQueue("q", emulator.QueueOptions{})
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))
		refusals := loglimit.New(logger)
		b.handler = New(Options{Broker: b.Broker, Logger: logger, Refusals: refusals})
		for range 150 {
			for _, r := range requests {
				b.do(r[0], r[1], "")
			}
		}
		b.do(http.MethodPut, "/q", "", "User-Agent", "another client") // one mistake among the flood
		refusals.Close()
	})
	return log.String()
}

// TestAFloodOfRequestsIsCounted: the log rate-limits lines of each status and reports how many were dropped. A request with another status
// still shows.
func TestAFloodOfRequestsIsCounted(t *testing.T) {
	log := flood(t, slog.LevelInfo, [2]string{"GET", "/q"}, [2]string{"DELETE", "/none"}, [2]string{"POST", "/none/messages"})
	for text, want := range map[string]int{
		"status=200": loglimit.AccessPerSecond, "status=404": loglimit.AccessPerSecond, "status=400": 1, `agent="another client"`: 1,
		`kind="request 200" leftOut=50`: 1, `kind="request 404" leftOut=200`: 1, "leftOut": 2, "level=INFO": 2*loglimit.AccessPerSecond + 3,
	} {
		if n := strings.Count(log, text); n != want {
			t.Errorf("%d times %s, want %d", n, text, want)
		}
	}
}

// TestDebuggingShowsEveryRequest; a log that shows no requests reports no dropped ones.
func TestDebuggingShowsEveryRequest(t *testing.T) {
	if log := flood(t, slog.LevelDebug, [2]string{"GET", "/q"}, [2]string{"GET", "/health"}); strings.Count(log, "status=200") != 300 || strings.Contains(log, "leftOut") {
		t.Errorf("%d lines", strings.Count(log, "\n"))
	}
	if log := flood(t, slog.LevelWarn, [2]string{"GET", "/q"}); log != "" {
		t.Errorf("the log has %s", log)
	}
}

// TestLinesOfRequestsAreShort, even for long paths, methods and agents.
func TestLinesOfRequestsAreShort(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	var log bytes.Buffer
	b.handler = New(Options{Broker: b.Broker, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	long := strings.Repeat("x", 5000)
	if w := b.do(long, "/"+long, "", "User-Agent", long); w.Code != 400 || strings.Contains(w.Body.String(), long[:1000]+") is not valid") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if log.Len() > 1500 || log.Len() == 0 {
		t.Errorf("a line of %d bytes", log.Len())
	}
}

func TestMetricsAreServedUnlessAnEntityHasTheName(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("minibus_up 1")) })
	b.handler = New(Options{Broker: b.Broker, Version: "test", Metrics: page})
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

// TestAHandlerThatPanicsCostsItsRequestOnly, which gets a 500, or an end of the connection if its answer has begun.
func TestAHandlerThatPanicsCostsItsRequestOnly(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	var log bytes.Buffer
	begun := false
	b.handler = New(Options{
		Broker: b.Broker, Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil)),
		WebSocket: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if begun {
				w.WriteHeader(http.StatusOK)
			}
			panic("out of reach")
		}),
	})
	if r := b.do(http.MethodGet, webSocketPath, ""); r.Code != http.StatusInternalServerError || !strings.Contains(r.Body.String(), "Its log says why.") {
		t.Errorf("the answer is %d %s", r.Code, r.Body)
	}
	if !strings.Contains(log.String(), `msg="request failed" method=GET path=/$servicebus/websocket panic="out of reach"`) {
		t.Errorf("the log is %s", &log)
	}
	begun = true
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("the panic is %v", err)
		}
	}()
	b.do(http.MethodGet, webSocketPath, "")
	t.Error("half an answer counts as one")
}
