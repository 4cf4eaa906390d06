package mgmt

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/clock"
	"minibus/internal/amqp/message"
	"minibus/internal/listen"
	"minibus/internal/tlsca"
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

func (c *standingClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bus is a broker over a journal in memory, with the administration in front of it.
type bus struct {
	t       testing.TB
	limits  emulator.Profile
	clock   *standingClock // nil: the machine's
	journal *storetest.Memory
	broker  *emulator.Broker
	ns      *emulator.Namespace // the default one
	handler http.Handler
}

func newBus(t testing.TB, l emulator.Profile) *bus {
	t.Helper()
	b := &bus{t: t, limits: l, clock: newClock(), journal: storetest.NewMemory()}
	b.journal.SetCreated(b.clock.Now().UnixMilli())
	b.open()
	t.Cleanup(b.close)
	b.handler = New(Options{Broker: b.Broker, Version: "test"})
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

// entry wraps a description as .NET's client does.
func entry(kind, children string) string {
	return `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><` + kind +
		` xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">` +
		children + `</` + kind + `></content></entry>`
}

func queueEntry(children string) string { return entry("QueueDescription", children) }

const ifMatch = "If-Match"

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

func lacks(t testing.TB, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if strings.Contains(w.Body.String(), s) {
			t.Errorf("%q must not be in %s", s, w.Body)
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

// deadLetter receives a message and dead-letters it.
func (b *bus) deadLetter(queue string) {
	b.t.Helper()
	c, err := b.queue(queue).NewConsumer(emulator.Main, emulator.PeekLock, func() {})
	if err != nil {
		b.t.Fatalf("receive: %v", err)
	}
	defer c.Close()
	for _, d := range c.Take(nil, 1) {
		b.wait("dead-letter", func(done emulator.Completion) error {
			return c.Settle(d.Lock(), emulator.Settlement{Outcome: emulator.DeadLetterOutcome}, done)
		})
	}
}

// port serves a handler as the product does: on one port, which tells plain HTTP from TLS by the first bytes.
type port struct {
	addr  string
	trust *x509.CertPool
}

func serve(t *testing.T, h http.Handler) *port {
	t.Helper()
	ca, err := tlsca.InMemory()
	if err != nil {
		t.Fatalf("make authority: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	m := listen.New(listen.Options{TLS: ca.TLSConfig()})
	s := NewServer(h, slog.New(slog.DiscardHandler))
	var running sync.WaitGroup
	running.Go(func() { _ = m.Serve(l) })
	running.Go(func() { _ = s.Serve(Listener(m.HTTP())) })
	t.Cleanup(func() {
		_ = s.Close()
		_ = m.Close()
		running.Wait()
	})
	p := &port{addr: l.Addr().String(), trust: x509.NewCertPool()}
	p.trust.AppendCertsFromPEM(ca.CertificatePEM())
	return p
}

func (p *port) client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.trust}}}
}

// goClient returns the official Go client, unmodified except for the authority that it trusts.
func (p *port) goClient(t *testing.T) *admin.Client {
	t.Helper()
	c := p.client()
	t.Cleanup(c.CloseIdleConnections)
	return newGoClient(t, p.addr, c)
}

// goClient is the official Go client.
type goClient = admin.Client

func newGoClient(t *testing.T, host string, transport policy.Transporter) *goClient {
	t.Helper()
	s := fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true", host)
	c, err := admin.NewClientFromConnectionString(s, &admin.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: transport, Retry: policy.RetryOptions{MaxRetries: -1}},
	})
	if err != nil {
		t.Fatalf("make client: %v", err)
	}
	return c
}

var background = context.Background()
