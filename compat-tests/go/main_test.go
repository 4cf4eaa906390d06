// Package compat drives the built binary with the unmodified Go SDK, as a black box over TCP.
package compat

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.MainAtOnce(m, 8) }

const (
	queueName    = "orders"
	shortLock    = 5 * time.Second // the shortest that the service allows (LOCK-1)
	defaultLock  = time.Minute
	patience     = time.Minute
	emptyWait    = 300 * time.Millisecond // how long a receive waits before a queue counts as empty
	openWait     = time.Second            // the same for a receiver whose link is not open: an attach that is given up ends the connection
	dueTolerance = time.Second            // SCHED-12
)

// bench has one server with one queue, and a client of it.
type bench struct {
	*testing.T
	ctx      context.Context
	server   *harness.Server
	client   *azservicebus.Client
	sender   *azservicebus.Sender
	receiver *azservicebus.Receiver
	began    time.Time     // before anything was sent, in whole milliseconds like the broker's clock
	ahead    time.Duration // how far the clock of the namespace was advanced

	opened sync.Map // receivers with an open link

	connection string // of the server, or of the namespace elsewhere
	prefix     string // of the names of the entities elsewhere; empty: the server is the bench's own
}

// start runs a server with the queue "orders" and connects to it. The queue has PT1M locks and 10 deliveries unless adjusted.
func start(t *testing.T, adjust ...func(*harness.Queue)) *bench {
	t.Helper()
	queue := harness.Queue{Name: queueName, MaxDeliveryCount: 10}
	for _, f := range adjust {
		f(&queue)
	}
	return serveEntities(t, []harness.Queue{queue}, nil)
}

// startServer runs a server and connects to it. Sender and receiver are for the queue "orders" and open nothing
// before they are used.
func startServer(t *testing.T, o harness.Options) *bench {
	t.Helper()
	return connectBench(t, harness.Start(t, o))
}

// connectBench connects to a running server.
func connectBench(t *testing.T, server *harness.Server) *bench {
	t.Helper()
	b := newBench(t, server.ConnectionString(), "")
	b.server = server
	return b
}

func newBench(t *testing.T, connection, prefix string) *bench {
	t.Helper()
	b := &bench{T: t, connection: connection, prefix: prefix, began: time.Now().Truncate(time.Millisecond)}
	ctx, cancel := context.WithTimeout(context.Background(), b.pace(2*patience))
	t.Cleanup(cancel)
	b.ctx = ctx
	b.client = b.connect()
	b.sender = b.newSender(b.client)
	b.receiver = b.newReceiver(b.client, nil)
	return b
}

func shortLocks(q *harness.Queue) { q.LockDuration = "PT5S" }

// connect opens another client, with its own connection.
func (b *bench) connect() *azservicebus.Client {
	b.Helper()
	client, err := azservicebus.NewClientFromConnectionString(b.connection, &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{MaxRetries: -1},
	})
	b.must("create client", err)
	b.Cleanup(func() { client.Close(context.Background()) })
	return client
}

func (b *bench) newSender(client *azservicebus.Client) *azservicebus.Sender {
	b.Helper()
	sender, err := client.NewSender(b.name(queueName), nil)
	b.must("create sender", err)
	return sender
}

func (b *bench) newReceiver(client *azservicebus.Client, o *azservicebus.ReceiverOptions) *azservicebus.Receiver {
	b.Helper()
	receiver, err := client.NewReceiverForQueue(b.name(queueName), o)
	b.must("create receiver", err)
	return receiver
}

func (b *bench) deadLetters() *azservicebus.Receiver {
	b.Helper()
	return b.newReceiver(b.client, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
}

func (b *bench) must(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// send sends one message per body, one after another.
func (b *bench) send(bodies ...string) {
	b.Helper()
	for _, body := range bodies {
		b.must("send", b.sender.SendMessage(b.ctx, message(body), nil))
	}
}

func message(body string) *azservicebus.Message {
	return &azservicebus.Message{Body: []byte(body), MessageID: &body}
}

// source is a receiver, with or without a session.
type source interface {
	ReceiveMessages(ctx context.Context, most int, o *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	PeekMessages(ctx context.Context, most int, o *azservicebus.PeekMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
}

// together makes a receive wait until it has all that it wants. By default it returns when nothing has come for 20 ms; what arrives
// before the next one the SDK releases, and what was on its way behind that overtakes it.
var together = &azservicebus.ReceiveMessagesOptions{TimeAfterFirstMessage: patience}

// receive collects exactly n messages. A receive may return fewer than it wants, or none without an error: after a restart of the
// server the SDK returns what came before its link ended.
func (b *bench) receive(from source, n int) []*azservicebus.ReceivedMessage {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	var got []*azservicebus.ReceivedMessage
	for len(got) < n {
		more, err := from.ReceiveMessages(ctx, n-len(got), together)
		if got = append(got, more...); err != nil {
			b.Fatalf("received %d messages of %d: %v", len(got), n, err)
		}
	}
	b.opened.Store(from, true)
	return got
}

func (b *bench) receiveOne(from source) *azservicebus.ReceivedMessage {
	b.Helper()
	return b.receive(from, 1)[0]
}

// wantEmpty fails if a message can be received.
func (b *bench) wantEmpty(from source) {
	b.Helper()
	wait := emptyWait
	if _, opened := b.opened.LoadOrStore(from, true); !opened {
		wait = openWait
	}
	ctx, cancel := context.WithTimeout(b.ctx, b.pace(wait))
	defer cancel()
	if messages, err := from.ReceiveMessages(ctx, 1, nil); err == nil && len(messages) > 0 {
		b.Fatalf("received %q from a queue that should be empty", messages[0].Body)
	}
}

// peekAll peeks from a number on.
func (b *bench) peekAll(from source, first int64) []*azservicebus.ReceivedMessage {
	b.Helper()
	messages, err := from.PeekMessages(b.ctx, 250, &azservicebus.PeekMessagesOptions{FromSequenceNumber: &first})
	b.must("peek", err)
	return messages
}

// stamps holds what the broker says about a message. The Go SDK shows the wire's delivery count plus one.
type stamps struct {
	body  string
	seq   int64
	count uint32
	state azservicebus.MessageState
	first int64 // the enqueued sequence number of a forwarded message; 0: it must be absent (SEQ-17)
}

// check compares a message with want, and its enqueued time with the test's clock (TIME-1).
func (b *bench) check(m *azservicebus.ReceivedMessage, want stamps) {
	b.Helper()
	got := stamps{body: string(m.Body), count: m.DeliveryCount, state: m.State}
	if m.SequenceNumber == nil {
		b.Fatalf("message %q has no sequence number", m.Body)
	}
	got.seq = *m.SequenceNumber
	if m.EnqueuedSequenceNumber != nil {
		got.first = *m.EnqueuedSequenceNumber
	}
	if b.saw("message %+v", got); got != want {
		b.Errorf("message is %+v, want %+v", got, want)
	}
	if m.EnqueuedTime == nil {
		b.Fatalf("message %q has no enqueued time", m.Body)
	}
	if m.EnqueuedTime.Before(b.began.Add(-b.slack())) || m.EnqueuedTime.After(time.Now().Add(b.ahead+b.slack())) {
		b.Errorf("enqueued time %v of %q is not between %v and now", m.EnqueuedTime, m.Body, b.began)
	}
	if m.EnqueuedTime.Nanosecond()%int(time.Millisecond) != 0 {
		b.Errorf("enqueued time %v is not in whole milliseconds (TIME-7)", m.EnqueuedTime)
	}
}

// later is when something is due that a test then lets come with pass, before locks of a minute end.
func (b *bench) later() time.Time {
	if b.elsewhere() {
		return time.Now().Add(b.pace(5 * time.Second))
	}
	return time.Now().Add(30 * time.Second)
}

// pass advances the clock of the namespace to an instant. Elsewhere it waits.
func (b *bench) pass(to time.Time) {
	b.Helper()
	if b.elsewhere() {
		time.Sleep(time.Until(to))
		return
	}
	by := time.Until(to) + time.Millisecond - b.ahead
	if by <= 0 {
		return
	}
	path := "/$minibus/v1/namespaces/" + b.server.Name() + "/clock/advance"
	b.wantHTTP(200, "POST", path, fmt.Sprintf(`{"by": "PT%.3fS"}`, by.Seconds()), map[string]string{"Content-Type": "application/json"})
	b.ahead += by
}

// checkLock fails unless the lock was taken or renewed between since and now.
func (b *bench) checkLock(m *azservicebus.ReceivedMessage, since time.Time, duration time.Duration) {
	b.Helper()
	if m.LockedUntil == nil {
		b.Fatalf("message %q has no locked-until", m.Body)
	}
	b.saw("%q is locked for %v", m.Body, m.LockedUntil.Sub(since).Round(time.Millisecond))
	if m.LockToken == [16]byte{} {
		b.Errorf("message %q has no lock token", m.Body)
	}
	earliest, latest := since.Truncate(time.Millisecond).Add(duration-b.slack()), time.Now().Add(duration+b.slack())
	if m.LockedUntil.Before(earliest) || m.LockedUntil.After(latest) {
		b.Errorf("locked until %v, want between %v and %v", m.LockedUntil, earliest, latest)
	}
}

// checkUnlocked fails if the message has a lock (PROP-3).
func (b *bench) checkUnlocked(m *azservicebus.ReceivedMessage) {
	b.Helper()
	if m.LockedUntil != nil {
		b.Errorf("message %q is locked until %v, want no lock", m.Body, m.LockedUntil)
	}
}

// wantText compares an optional text.
func (b *bench) wantText(what string, got *string, want string) {
	b.Helper()
	if b.saw("%s is %s", what, show(got)); got == nil || *got != want {
		b.Errorf("%s is %s, want %q", what, show(got), want)
	}
}

func show(s *string) string {
	if s == nil {
		return "absent"
	}
	return fmt.Sprintf("%q", *s)
}

// wantCode fails unless the error is one of the SDK's with this code.
func (b *bench) wantCode(what string, err error, want azservicebus.Code) {
	b.Helper()
	if b.saw("%s: %v", what, err); codeOf(err) != want {
		b.Errorf("%s: got %v, want code %s", what, err, want)
	}
}
