package mgmt

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/store/storetest"
)

// brokerProperties decodes the header of an answer.
func brokerProperties(t testing.TB, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	values := exactly(w.Header(), "BrokerProperties")
	if len(values) != 1 {
		t.Fatalf("BrokerProperties: %v in %d %s", values, w.Code, w.Body)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(values[0]), &m); err != nil {
		t.Fatalf("BrokerProperties %s: %v", values[0], err)
	}
	return m
}

// location returns the path in an answer at which a client can settle the message.
func location(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	u, err := url.Parse(w.Header().Get("Location"))
	if err != nil || u.Host == "" {
		t.Fatalf("Location %q: %v", w.Header().Get("Location"), err)
	}
	return u.EscapedPath()
}

// makeQueue creates a queue in the domain.
func (b *bus) makeQueue(path string, o emulator.QueueOptions) *emulator.Entity {
	b.t.Helper()
	q, err := b.ns.Entities().CreateQueue(path, o)
	if err != nil {
		b.t.Fatalf("create %s: %v", path, err)
	}
	return q.Entity
}

// post sends a message over HTTP.
func (b *bus) post(queue, body string, headers ...string) {
	b.t.Helper()
	wants(b.t, b.do("POST", "/"+queue+"/messages", body, headers...), 201)
}

func (b *bus) wantCounts(path string, active, dead int64) {
	b.t.Helper()
	if c := b.queue(path).Counts(); c.Active != active || c.DeadLetter != dead {
		b.t.Errorf("%s: %+v, want %d active and %d dead-lettered", path, c, active, dead)
	}
}

// newTimedBus is a bus whose broker has the clock of the bubble that the test runs in.
func newTimedBus(t testing.TB, l emulator.Profile) *bus {
	t.Helper()
	b := &bus{t: t, limits: l, journal: storetest.NewMemory()}
	b.open()
	b.handler = New(Options{Broker: b.Broker})
	return b
}

// begin sends a request in the background; its answer comes through the channel. cancel makes the client go away.
func (b *bus) begin(method, target string) (answer <-chan *httptest.ResponseRecorder, cancel context.CancelFunc) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan *httptest.ResponseRecorder, 1)
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+target, http.NoBody)
	go func() {
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		done <- w
	}()
	return done, cancel
}

func parseToken(text any) (emulator.LockToken, error) {
	s, _ := text.(string)
	id, err := uuid.Parse(s)
	return emulator.LockToken(id), err
}

// exactly returns a header by its exact spelling in the answer.
func exactly(h http.Header, name string) []string { return h[name] }

// userProperties takes a message of a queue and returns its application properties.
func (b *bus) userProperties(path string) map[string]any {
	b.t.Helper()
	c, err := b.queue(path).NewConsumer(emulator.Main, emulator.PeekLock, func() {})
	if err != nil {
		b.t.Fatalf("receive: %v", err)
	}
	defer c.Close()
	ds := c.Take(nil, 1)
	if len(ds) == 0 {
		b.t.Fatal("no message")
	}
	m, err := message.Scan(ds[0].Append(nil))
	if err != nil {
		b.t.Fatalf("scan: %v", err)
	}
	all := map[string]any{}
	for e := m.UserProperties(); e.Next(); {
		all[string(e.Key())], _ = message.DecodeValue(e.Encoded())
	}
	return all
}
