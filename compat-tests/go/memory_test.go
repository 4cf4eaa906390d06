package compat

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
	"minibus/compat-tests/rawclient"
)

const (
	mebibyte = 1 << 20

	// memoryLimit bounds the server's memory: the bodies that its budget allows, 64 MiB, what the Go runtime takes
	// beyond that between two collections, and all the rest. In each of the tests several times as much passes through the server.
	memoryLimit = 200 * mebibyte

	// memoryPatience is how long the server may take to give memory back.
	memoryPatience = time.Minute
)

// startStored runs a server with a database: an ephemeral one keeps all messages in memory.
func startStored(t *testing.T, config string) *bench {
	t.Helper()
	b := startServer(t, harness.Options{Config: config, Data: filepath.Join(t.TempDir(), "minibus.db")})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	b.ctx = ctx
	return b
}

// sendAtOnce calls send n times, from several goroutines: the disk is slow.
func (b *bench) sendAtOnce(n int, send func() error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	failures := make(chan error, 8)
	for range cap(failures) {
		go func() {
			var err error
			for err == nil && left.Add(-1) >= 0 {
				err = send()
			}
			failures <- err
		}()
	}
	for range cap(failures) {
		b.must("send", <-failures)
	}
}

// wantSlim fails unless the server's memory falls to the limit. It sends messages meanwhile, so that the server collects garbage.
func (b *bench) wantSlim(queue string) {
	b.Helper()
	sender, err := b.client.NewSender(queue, nil)
	b.must("create sender", err)
	receiver, err := b.client.NewReceiverForQueue(queue, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	b.must("create receiver", err)
	first := b.server.Resident(b)
	for deadline := time.Now().Add(memoryPatience); ; {
		for range 100 {
			b.must("send", sender.SendMessage(b.ctx, blob(200<<10), nil))
			b.receiveOne(receiver)
		}
		now := b.server.Resident(b)
		if now <= memoryLimit {
			b.Logf("%d MiB at first, %d MiB then", first/mebibyte, now/mebibyte)
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("the server has %d MiB of memory, %d MiB at first", now/mebibyte, first/mebibyte)
		}
	}
}

// blob returns a message of about n bytes.
func blob(n int) *azservicebus.Message {
	return &azservicebus.Message{Body: bytes.Repeat([]byte{'x'}, n)}
}

// Messages that a client has, or had until their locks ended, take no memory for bodies in the server. Bodies that are not
// in memory anyway are read again for each delivery.
func TestLOCK20_PrefetchedMessagesHoldNoBodies(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	const messages, deliveries = 800, 4
	b := startStored(t, harness.WriteConfig(t,
		harness.Queue{Name: queueName, LockDuration: "PT5S", MaxDeliveryCount: 100}, harness.Queue{Name: "other"}))
	b.sendAtOnce(messages, func() error { return b.sender.SendMessage(b.ctx, blob(200<<10), nil) })
	conn, err := rawclient.Dial(b.server.Addr())
	b.must("connect", err)
	defer conn.Close()
	session, err := conn.Begin()
	b.must("begin", err)
	receiver, err := session.Receiver(queueName)
	b.must("attach", err)
	b.must("grant credit", receiver.Credit(deliveries*messages))
	for i := range deliveries * messages { // after the first round, each comes when the lock before has ended
		if _, err := receiver.Receive(patience); err != nil {
			t.Fatalf("delivery %d: %v", i, err)
		}
	}
	b.wantSlim("other")
}

func TestLOCK8_EndedLocksMakeRoomInTheWindow(t *testing.T) {
	const window, deliveries = 4, 12
	b := start(t, shortLocks, func(q *harness.Queue) { q.MaxDeliveryCount = 100 })
	for i := range deliveries {
		b.send(fmt.Sprint(i))
	}
	conn, err := rawclient.Dial(b.server.Addr())
	b.must("connect", err)
	defer conn.Close()
	session, err := conn.BeginWindow(window)
	b.must("begin", err)
	receiver, err := session.Receiver(queueName)
	b.must("attach", err)
	b.must("grant credit", receiver.Credit(100))
	var got []*rawclient.Delivery
	for deadline := time.Now().Add(2 * patience); len(got) < deliveries; {
		if time.Now().After(deadline) {
			t.Fatalf("%d deliveries, want %d", len(got), deliveries)
		}
		d, err := receiver.Receive(time.Second)
		if err != nil {
			b.must("open the window", receiver.Credit(0))
			continue
		}
		got = append(got, d)
	}
	b.wantRefused("settle", receiver.Settle(got[0], complete, nil), "com.microsoft:message-lock-lost")
}

func TestMemory_LeftoversOfBatchesHoldOnlyThemselves(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	const rounds, batches, size = 5, 50, 5 << 10
	ttl := time.Second
	b := startStored(t, harness.WriteConfig(t,
		harness.Queue{Name: queueName, MaxMessageSizeInKilobytes: 1024}, harness.Queue{Name: "other"}))
	for range rounds {
		b.sendAtOnce(batches, func() error {
			batch, err := b.sender.NewMessageBatch(b.ctx, nil)
			if err == nil {
				err = batch.AddMessage(blob(size), nil)
			}
			if err != nil {
				return err
			}
			passing := blob(size)
			passing.TimeToLive = &ttl
			for batch.AddMessage(passing, nil) == nil {
			}
			return b.sender.SendMessageBatch(b.ctx, batch, nil)
		})
		time.Sleep(2 * time.Second) // all but one of each batch expire
	}
	b.wantSlim("other")
}

func TestQUO4_CopiesOfATopicShareTheBudget(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	const rounds, messages, subscriptions = 5, 280, 20
	topic := harness.Topic{Name: "t"}
	for i := range subscriptions {
		s := harness.Subscription{Queue: harness.Queue{Name: fmt.Sprint(i), TimeToLive: "PT1S"}}
		if i == 0 {
			s.TimeToLive = "" // the messages of this one stay
		}
		topic.Subscriptions = append(topic.Subscriptions, s)
	}
	b := startStored(t, harness.WriteTopology(t, []harness.Queue{{Name: "other"}}, []harness.Topic{topic}))
	sender, err := b.client.NewSender("t", nil)
	b.must("create sender", err)
	for range rounds {
		b.sendAtOnce(messages, func() error { return sender.SendMessage(b.ctx, blob(200<<10), nil) })
		time.Sleep(2 * time.Second) // all copies but one of each message expire
	}
	b.wantSlim("other")
}
