package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/server/metrics"
	"minibus/store"
	"minibus/store/storetest"
)

func scrape(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func wantLines(t *testing.T, have string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(have, "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
}

// broker has the namespaces sbemulatorns, which has the queues, and "a", which has a queue "orders".
func broker(t *testing.T, queues ...string) *emulator.Broker {
	t.Helper()
	b := brokerOf(t, emulator.NamespaceRecord{ID: 2, Name: "a"})
	create(t, b, "a", "orders")
	create(t, b, b.Default().Name(), queues...)
	return b
}

// brokerOf has these namespaces and the default one, all empty.
func brokerOf(t *testing.T, records ...emulator.NamespaceRecord) *emulator.Broker {
	t.Helper()
	j := storetest.NewMemory()
	for _, r := range records {
		done := make(chan error, 1)
		j.PutNamespace(r, nil, emulator.CompletionFunc(func(err error) { done <- err }))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	b, err := emulator.OpenBroker(j, emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Close()
		j.Close()
	})
	return b
}

// create makes queues.
func create(t *testing.T, b *emulator.Broker, namespace string, queues ...string) {
	t.Helper()
	ns, err := b.Namespace(namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range queues {
		if _, err := ns.Entities().CreateQueue(path, emulator.QueueOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// send stores messages with an empty body.
func send(t *testing.T, ns *emulator.Namespace, queue string, n int) {
	t.Helper()
	q, err := ns.Entity(queue)
	if err != nil {
		t.Fatal(err)
	}
	m, err := message.Scan([]byte{0x00, 0x53, 0x75, 0xa0, 0x01, 'x'}) // one data section [AMQP 3.2.6]
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		done := make(chan error, 1)
		if err := q.Send([]message.Message{m}, emulator.CompletionFunc(func(err error) { done <- err })); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

func TestEntitiesShowWhatTheyHoldAndWhatWentThroughThem(t *testing.T) {
	b := broker(t, "orders", "Bills/2026")
	send(t, b.Default(), "orders", 3)
	send(t, b.Default(), "bills/2026", 1)
	m := metrics.New(metrics.Options{Version: "test", Broker: func() *emulator.Broker { return b }})
	wantLines(t, scrape(t, m.Handler()),
		`minibus_build_info{version="test"} 1`,
		`minibus_namespaces 2`,
		`minibus_entities{kind="queue"} 3`,
		`minibus_entity_messages{entity="orders",kind="queue",namespace="a",state="active"} 0`,
		`minibus_entity_messages{entity="orders",kind="queue",namespace="sbemulatorns",state="active"} 3`,
		`minibus_entity_messages{entity="bills/2026",kind="queue",namespace="sbemulatorns",state="active"} 1`,
		`minibus_entity_messages_total{entity="orders",event="stored",kind="queue",namespace="sbemulatorns"} 3`,
		`minibus_messages{state="active"} 4`,
		`minibus_messages_total{event="stored"} 4`,
		`minibus_entities_without_series 0`)
}

func TestSeriesOfEntitiesAreBoundedAndTotalsAreNot(t *testing.T) {
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("q%02d", i))
	}
	b := broker(t, names...)
	send(t, b.Default(), "q19", 2)
	m := metrics.New(metrics.Options{MaxEntities: 5, Broker: func() *emulator.Broker { return b }})
	have := scrape(t, m.Handler())
	wantLines(t, have, `minibus_entities_without_series 16`, `minibus_messages{state="active"} 2`, `minibus_entities{kind="queue"} 21`)
	if n := strings.Count(have, "\nminibus_entity_size_bytes{"); n != 5 {
		t.Errorf("%d entities have series, want 5", n)
	}
}

// TestSeriesGoToTheDefaultNamespaceThenToTheOldest, so that those that tests make by the hundred take the series of no other one.
func TestSeriesGoToTheDefaultNamespaceThenToTheOldest(t *testing.T) {
	b := brokerOf(t, emulator.NamespaceRecord{ID: 2, Name: "zebra1", Created: 1000}, emulator.NamespaceRecord{ID: 3, Name: "badger", Created: 2000},
		emulator.NamespaceRecord{ID: 4, Name: "anteater", Created: 2000})
	for _, name := range []string{"zebra1", "badger", "anteater"} {
		create(t, b, name, "q")
	}
	create(t, b, b.Default().Name(), "q1", "q2")
	if _, err := b.Default().Entities().CreateTopic("t", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "s"}}}); err != nil {
		t.Fatal(err)
	}
	m := metrics.New(metrics.Options{MaxEntities: 6, Broker: func() *emulator.Broker { return b }})
	series := func() (shown []string) {
		page := scrape(t, m.Handler())
		for line := range strings.Lines(page) {
			if rest, ok := strings.CutPrefix(line, "minibus_entity_size_bytes{"); ok {
				parts := strings.Split(rest, `"`)
				shown = append(shown, parts[5]+" "+parts[1])
			}
		}
		slices.Sort(shown)
		return shown
	}
	want := []string{"anteater q", "sbemulatorns q1", "sbemulatorns q2", "sbemulatorns t", "sbemulatorns t/Subscriptions/s", "zebra1 q"}
	if got := series(); !slices.Equal(got, want) {
		t.Errorf("shown are %q, want %q", got, want)
	}
	if _, err := b.Create("aardvark", emulator.NamespaceOptions{}); err != nil {
		t.Fatal(err)
	}
	create(t, b, "aardvark", "q")
	if got := series(); !slices.Equal(got, want) {
		t.Errorf("with a new namespace %q, want %q", got, want)
	}
}

func TestServersAndRequests(t *testing.T) {
	m := metrics.New(metrics.Options{
		AMQP: func() (amqpserver.Stats, bool) {
			return amqpserver.Stats{Connections: 2, ConnectionsTotal: 5, Links: 3, LinksTotal: 9}, true
		},
		Store: func() (store.Stats, bool) {
			return store.Stats{Commits: 3, Changes: 7, CommitTimes: store.Histogram{
				Bounds: []time.Duration{time.Millisecond, time.Second}, Buckets: []int64{1, 1, 1}, Sum: 3 * time.Second,
			}}, true
		},
	})
	m.ObserveHTTP(http.MethodGet, 200, time.Millisecond)
	m.ObserveHTTP("INVENTED", 405, time.Millisecond)
	wantLines(t, scrape(t, m.Handler()),
		`minibus_amqp_connections 2`, `minibus_amqp_connections_total 5`, `minibus_amqp_links 3`, `minibus_amqp_links_total 9`,
		`minibus_store_commits_total 3`, `minibus_store_changes_total 7`,
		`minibus_store_commit_duration_seconds_bucket{le="0.001"} 1`, `minibus_store_commit_duration_seconds_bucket{le="1"} 2`,
		`minibus_store_commit_duration_seconds_bucket{le="+Inf"} 3`, `minibus_store_commit_duration_seconds_sum 3`,
		`minibus_http_requests_total{code="200",method="GET"} 1`, `minibus_http_requests_total{code="405",method="other"} 1`,
		`minibus_http_request_duration_seconds_count 2`)
}

func TestBeforeAnythingIsUpThereIsNothingToShow(t *testing.T) {
	m := metrics.New(metrics.Options{
		Broker: func() *emulator.Broker { return nil },
		AMQP:   func() (amqpserver.Stats, bool) { return amqpserver.Stats{}, false },
		Store:  func() (store.Stats, bool) { return store.Stats{}, false },
	})
	if have := scrape(t, m.Handler()); strings.Contains(have, "minibus_entities") || strings.Contains(have, "minibus_amqp") {
		t.Errorf("shows a broker that is not there:\n%s", have)
	}
}

// TestNamesFollowTheConventions runs Prometheus's own linter.
func TestNamesFollowTheConventions(t *testing.T) {
	b := broker(t, "q")
	m := metrics.New(metrics.Options{
		Broker: func() *emulator.Broker { return b },
		AMQP:   func() (amqpserver.Stats, bool) { return amqpserver.Stats{}, true },
		Store: func() (store.Stats, bool) {
			return store.Stats{CommitTimes: store.Histogram{Buckets: make([]int64, 1)}}, true
		},
	})
	m.ObserveHTTP(http.MethodGet, 200, time.Millisecond)
	page := scrape(t, m.Handler())
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "minibus_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	if n := strings.Count(page, "# TYPE minibus_"); n < 15 {
		t.Errorf("%d metrics of Minibus", n)
	}
}
