package amqpserver_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	goamqp "github.com/Azure/go-amqp"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"
	"minibus/store/storetest"
)

// bench is a namespace and its server, over a journal in memory.
type bench struct {
	t       testing.TB
	ns      *emulator.Namespace
	broker  *emulator.Broker
	server  *amqpserver.Server
	journal *storetest.Memory
	log     *logBuffer
}

// logBuffer keeps what the server logs.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// newBench makes a bench with a queue "q". Everything ends with the test.
func newBench(t testing.TB, options ...func(*amqpserver.Options)) *bench {
	t.Helper()
	return newBenchFor(t, emulator.Options{}, options...)
}

// newBenchFor is newBench for a namespace with options.
func newBenchFor(t testing.TB, namespace emulator.Options, options ...func(*amqpserver.Options)) *bench {
	t.Helper()
	return newBenchWith(t, namespace, nil, options...)
}

// newBenchWith is newBenchFor with more namespaces, which are empty.
func newBenchWith(t testing.TB, o emulator.Options, more []extra, sets ...func(*amqpserver.Options)) *bench {
	t.Helper()
	b := &bench{t: t, journal: storetest.NewMemory(), log: new(logBuffer)}
	var err error
	b.broker, err = emulator.OpenBroker(b.journal, o)
	if err != nil {
		t.Fatal(err)
	}
	b.ns = b.broker.Default()
	for _, n := range more {
		if _, err := b.broker.Create(n.name, n.options); err != nil {
			t.Fatal(err)
		}
	}
	options := amqpserver.Options{Logger: slog.New(slog.NewTextHandler(b.log, nil))}
	for _, set := range sets {
		set(&options)
	}
	b.server = amqpserver.New(b.broker, options)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = b.server.Shutdown(ctx)
		b.broker.Close()
		if n := b.journal.OpenBatches(); n != 0 {
			t.Errorf("%d turns have not released the store: it would wait for them with every commit", n)
		}
		_ = b.journal.Close()
		if t.Failed() {
			t.Log(b.log.String())
		}
	})
	b.queue("q", emulator.QueueOptions{})
	return b
}

// queue makes a queue.
func (b *bench) queue(path string, o emulator.QueueOptions) *emulator.Entity {
	b.t.Helper()
	q, err := b.ns.Entities().CreateQueue(path, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return q.Entity
}

// dial returns the client's end of a new connection.
func (b *bench) dial() net.Conn {
	client, server := amqptest.Pipe()
	go b.server.ServeConn(server)
	return client
}

// peer returns a scripted peer on a new connection.
func (b *bench) peer(t testing.TB) *amqptest.Peer {
	t.Helper()
	return amqptest.NewPeer(t, b.dial())
}

// opened returns a peer with a session on channel 0.
func (b *bench) opened(t testing.TB) *amqptest.Peer {
	t.Helper()
	p := b.peer(t)
	p.Open()
	p.Begin(0)
	return p
}

// client returns a session of the real go-amqp client.
func (b *bench) client(t testing.TB) *goamqp.Session {
	t.Helper()
	ctx := t.Context()
	conn, err := goamqp.NewConn(ctx, b.dial(),
		&goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous(), HostName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// send sends messages with these bodies and fails the test unless all are accepted.
func (b *bench) send(t testing.TB, s *goamqp.Session, queue string, bodies ...string) {
	t.Helper()
	ctx := t.Context()
	sender, err := s.NewSender(ctx, queue, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		if err := sender.Send(ctx, goamqp.NewMessage([]byte(body)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := sender.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// numbered returns bodies "0" to "n-1".
func numbered(n int) []string {
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = fmt.Sprint(i)
	}
	return bodies
}

// bubble runs a test on fake time with a bench.
func bubble(t *testing.T, f func(t *testing.T, b *bench), options ...func(*amqpserver.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newBench(t, options...)) })
}

// wantReceivable fails the test unless n messages can be received from the queue now. It receives and releases them.
func (b *bench) wantReceivable(t testing.TB, queue string, n int) {
	t.Helper()
	q, err := b.ns.Entity(queue)
	if err != nil {
		t.Fatal(err)
	}
	c, err := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ds := c.Take(nil, 64)
	if len(ds) != n {
		t.Errorf("%d messages can be received, want %d", len(ds), n)
	}
	c.Return(ds)
}

// sendInFrames sends a message on channel 0 in as many frames as it needs.
func sendInFrames(p *amqptest.Peer, handle, id uint32, message []byte) {
	const chunk = 60_000
	for i := 0; i < len(message); i += chunk {
		t := &frames.Transfer{Handle: handle, DeliveryID: id, HasDeliveryID: i == 0, More: i+chunk < len(message)}
		p.Send(0, t, message[i:min(i+chunk, len(message))]...)
	}
}

// receiveRaw receives and deletes one message over a connection of its own and returns it encoded.
func (b *bench) receiveRaw(t testing.TB, queue string) []byte {
	t.Helper()
	p := b.opened(t)
	a := amqptest.ReceiverAttach(0, queue)
	a.SndSettleMode, a.HasSndSettleMode = 1, true
	p.AttachReceiver(0, a)
	p.Send(0, amqptest.Flow(0, 0, 1))
	var raw []byte
	for {
		tr, payload := amqptest.WantPayload[*frames.Transfer](p)
		raw = append(raw, payload...)
		if !tr.More {
			p.Close()
			return raw
		}
	}
}

// fill puts n messages of 1 KiB into "q", past the server.
func fill(t testing.TB, b *bench, n int) {
	t.Helper()
	q, err := b.ns.Entity("q")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range n {
		m, err := message.Scan(amqptest.Message(strings.Repeat("x", 1024)))
		if err != nil {
			t.Fatal(err)
		}
		wg.Add(1)
		if err := q.Send([]message.Message{m}, emulator.CompletionFunc(func(error) { wg.Done() })); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}
