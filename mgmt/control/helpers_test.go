package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/clock"
	"minibus/internal/amqp/message"
	"minibus/mgmt"
	"minibus/store/storetest"
)

// standingClock stands still unless a test moves it. Its timers never fire.
type standingClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *standingClock {
	return &standingClock{now: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
}

func (c *standingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *standingClock) At(time.Time, func()) clock.Timer { return time.NewTimer(time.Hour) }

// bus is a broker over a journal in memory, with the administration in front of it.
type bus struct {
	t       testing.TB
	limits  emulator.Profile
	clock   *standingClock // nil: the machine's
	journal *storetest.Memory
	broker  *emulator.Broker
	ns      *emulator.Namespace // the default one
	handler http.Handler
	clients clients // of the control API
}

func newBus(t testing.TB, l emulator.Profile) *bus {
	t.Helper()
	b := &bus{t: t, limits: l, clock: newClock(), journal: storetest.NewMemory()}
	b.journal.SetCreated(b.clock.Now().UnixMilli())
	b.open()
	t.Cleanup(b.close)
	b.handler = mgmt.New(mgmt.Options{Broker: b.Broker, Version: "test"})
	return b
}

// Broker returns the namespaces, as package server does.
func (b *bus) Broker() *emulator.Broker { return b.broker }

func (b *bus) open() {
	b.t.Helper()
	o := emulator.Options{Record: emulator.NewRecord(1 << 20), Limits: b.limits}
	if b.clock != nil {
		o.Clock = b.clock
	}
	broker, err := emulator.OpenBroker(b.journal, o)
	if err != nil {
		b.t.Fatalf("open the broker: %v", err)
	}
	b.broker, b.ns = broker, broker.Default()
}

func (b *bus) close() {
	b.broker.Close()
	b.journal.Close()
}

// restart simulates a restart of the process: a new broker over the same journal.
func (b *bus) restart() {
	b.t.Helper()
	b.close()
	b.journal = b.journal.Reopen()
	b.open()
}

// do sends one request to the handler; headers are names and values in turn.
func (b *bus) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	return do(b.t, b.handler, method, target, body, headers...)
}

func do(t testing.TB, h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := httptest.NewRequest(method, "http://localhost:5300"+target, r)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// wants fails unless the answer has the status and contains the texts.
func wants(t testing.TB, w *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	for _, s := range texts {
		if !strings.Contains(w.Body.String(), s) {
			t.Errorf("%q is missing in %s", s, w.Body)
		}
	}
}

// wait runs an operation of the domain and waits until it is durable.
func (b *bus) wait(what string, f func(emulator.Completion) error) {
	b.t.Helper()
	done := make(chan error, 1)
	err := f(emulator.CompletionFunc(func(err error) { done <- err }))
	if err == nil {
		err = <-done
	}
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

func (b *bus) queue(path string) *emulator.Entity {
	b.t.Helper()
	q, err := b.ns.Entity(path)
	if err != nil {
		b.t.Fatalf("find %s: %v", path, err)
	}
	return q
}

// send puts a message into a queue; with a time it is scheduled.
func (b *bus) send(queue string, at time.Time) {
	b.t.Helper()
	m := goamqp.NewMessage([]byte("hello"))
	if !at.IsZero() {
		m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": at}
	}
	raw, err := m.MarshalBinary()
	if err != nil {
		b.t.Fatalf("encode: %v", err)
	}
	b.sendRaw(queue, raw)
}

// sendRaw puts a message into a queue as an AMQP client encoded it.
func (b *bus) sendRaw(queue string, raw []byte) {
	b.t.Helper()
	scanned, err := message.Scan(raw)
	if err != nil {
		b.t.Fatalf("scan: %v", err)
	}
	b.wait("send", func(c emulator.Completion) error { return b.queue(queue).Send([]message.Message{scanned}, c) })
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
	b.handler = mgmt.New(mgmt.Options{Broker: b.Broker})
	return b
}

// timed runs a test in a bubble, with the queue q.
func timed(t *testing.T, o emulator.QueueOptions, f func(*testing.T, *bus)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newTimedBus(t, emulator.ProfileRelaxed)
		defer b.close()
		b.makeQueue("q", o)
		f(t, b)
	})
}

// brokenWriter is the answer to a client whose connection breaks while it is written.
type brokenWriter struct{ *httptest.ResponseRecorder }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("the client has gone") }

// severalBus has the default namespace and "orders", which has the alias orders.test and the port 5701. Each has a
// queue q.
func severalBus(t *testing.T) *bus {
	t.Helper()
	b := &bus{t: t, clock: newClock(), journal: storetest.NewMemory()}
	options, err := json.Marshal(emulator.NamespaceOptions{Aliases: []string{"orders.test"}, Port: 5701})
	if err != nil {
		t.Fatal(err)
	}
	b.wait("put orders", func(done emulator.Completion) error {
		b.journal.PutNamespace(emulator.NamespaceRecord{ID: 2, Name: "orders", Secret: [16]byte{2}, Options: options}, nil, done)
		return nil
	})
	b.open()
	t.Cleanup(b.close)
	for _, ns := range b.broker.Namespaces() {
		if _, err := ns.Entities().CreateQueue("q", emulator.QueueOptions{UserMetadata: "of " + ns.Name()}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// at sends a request to a host that arrives at a port.
func (b *bus) at(host string, port int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, "http://"+host+target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})))
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

const authorization = "Authorization"

var background = context.Background()
