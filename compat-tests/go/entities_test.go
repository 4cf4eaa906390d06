package compat

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

// serve runs a server with these queues, with ten deliveries and no expiry unless a queue says otherwise.
func serve(t *testing.T, queues ...harness.Queue) *bench {
	t.Helper()
	return serveEntities(t, allLasting(queues), nil)
}

func configOf(t *testing.T, queues ...harness.Queue) string {
	t.Helper()
	return harness.WriteConfig(t, allLasting(queues)...)
}

func allLasting(queues []harness.Queue) []harness.Queue {
	queues = slices.Clone(queues)
	for i := range queues {
		queues[i] = lasting(queues[i])
	}
	return queues
}

// noLimit is an unlimited time to live as .NET writes it. Without it an entity of a Config.json gets an hour (DEC-4).
const noLimit = "P10675199DT2H48M5.4775807S"

// lasting gives a queue or subscription ten deliveries and no expiry, unless it says otherwise.
func lasting(q harness.Queue) harness.Queue {
	if q.MaxDeliveryCount == 0 {
		q.MaxDeliveryCount = 10
	}
	if q.TimeToLive == "" {
		q.TimeToLive = noLimit
	}
	return q
}

// serveTwice is serve with a database on disk. again kills the server and starts it again.
func serveTwice(t *testing.T, queues ...harness.Queue) (b *bench, again func() *bench) {
	t.Helper()
	t.Parallel()
	o := harness.Options{Config: configOf(t, queues...), Data: filepath.Join(t.TempDir(), "minibus.db")}
	b = startServer(t, o)
	return b, func() *bench {
		t.Helper()
		began := b.began
		b.server.Kill(t)
		b := startServer(t, o)
		b.began = began // older messages are there
		return b
	}
}

// from opens a receiver of a queue.
func (b *bench) from(queue string) *azservicebus.Receiver {
	b.Helper()
	receiver, err := b.client.NewReceiverForQueue(b.name(queue), nil)
	b.must("create receiver", err)
	return receiver
}

// deadFrom opens a receiver of a queue's dead-letter queue.
func (b *bench) deadFrom(queue string) *azservicebus.Receiver {
	b.Helper()
	receiver, err := b.client.NewReceiverForQueue(b.name(queue), &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
	b.must("create receiver", err)
	return receiver
}

// to opens a sender to a queue.
func (b *bench) to(queue string) *azservicebus.Sender {
	b.Helper()
	sender, err := b.client.NewSender(b.name(queue), nil)
	b.must("create sender", err)
	return sender
}

// put sends messages to a queue, one after another.
func (b *bench) put(queue string, messages ...*azservicebus.Message) {
	b.Helper()
	sender := b.to(queue)
	for _, m := range messages {
		b.must("send to "+queue, sender.SendMessage(b.ctx, m, nil))
	}
	b.must("close sender", sender.Close(b.ctx))
}

// batchOf makes one batch of several messages.
func (b *bench) batchOf(sender *azservicebus.Sender, messages ...*azservicebus.Message) *azservicebus.MessageBatch {
	b.Helper()
	batch, err := sender.NewMessageBatch(b.ctx, nil)
	b.must("create batch", err)
	for _, m := range messages {
		b.must("add to batch", batch.AddMessage(m, nil))
	}
	return batch
}

// inSession returns a message of a session.
func inSession(session, body string) *azservicebus.Message {
	m := message(body)
	m.SessionID = &session
	return m
}

// accept takes a session by its id.
func (b *bench) accept(client *azservicebus.Client, queue, session string) *azservicebus.SessionReceiver {
	b.Helper()
	receiver, err := client.AcceptSessionForQueue(b.ctx, b.name(queue), session, nil)
	b.must("accept session "+session, err)
	if receiver.SessionID() != session {
		b.Fatalf("accepted session %q, want %q", receiver.SessionID(), session)
	}
	b.Cleanup(func() { receiver.Close(context.Background()) })
	return receiver
}

// bodies returns the bodies of messages.
func bodies(messages []*azservicebus.ReceivedMessage) []string {
	var list []string
	for _, m := range messages {
		list = append(list, string(m.Body))
	}
	return list
}

// wantBodies compares bodies and their order.
func (b *bench) wantBodies(what string, messages []*azservicebus.ReceivedMessage, want ...string) {
	b.Helper()
	got := bodies(messages)
	if b.saw("%s: %q", what, got); !slices.Equal(got, want) {
		b.Fatalf("%s: %q, want %q", what, got, want)
	}
}

// dial opens an AMQP session without the SDK, for operations that the SDK lacks.
func (b *bench) dial() *amqp.Session {
	b.Helper()
	var conn *amqp.Conn
	var err error
	if b.elsewhere() {
		conn = b.dialElsewhere()
	} else {
		conn, err = amqp.Dial(b.ctx, "amqp://"+b.server.Addr(), &amqp.ConnOptions{SASLType: amqp.SASLTypeAnonymous()})
		b.must("dial", err)
	}
	b.Cleanup(func() { conn.Close() })
	session, err := conn.NewSession(b.ctx, nil)
	b.must("begin session", err)
	return session
}
