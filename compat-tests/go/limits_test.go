package compat

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

// serveWith is serve with a profile of limits.
func serveWith(t *testing.T, profile string, queues ...harness.Queue) *bench {
	t.Helper()
	t.Parallel()
	return startServer(t, harness.Options{Config: configOf(t, queues...), Args: []string{"--limits", profile}})
}

// encodedBatch returns one batch of n small messages, as SDKs build it.
func encodedBatch(b *bench, n int) *amqp.Message {
	b.Helper()
	one, err := (&amqp.Message{Data: [][]byte{[]byte("x")}}).MarshalBinary()
	b.must("encode message", err)
	batch := &amqp.Message{Format: 0x80013700}
	for range n {
		batch.Data = append(batch.Data, one)
	}
	return batch
}

func TestQUO7_QUO9_DUP15_SESS33_PART8_ProfilesOfLimits(t *testing.T) {
	long := strings.Repeat("i", 129)
	ids := map[string]*azservicebus.Message{
		"message id":    {MessageID: &long},
		"session id":    {SessionID: &long},
		"partition key": {PartitionKey: &long},
	}
	for _, profile := range []string{"relaxed", "standard", "premium", "emulator"} {
		t.Run(profile, func(t *testing.T) {
			b := serveWith(t, profile, harness.Queue{Name: queueName})
			sender, err := b.dial().NewSender(b.ctx, queueName, nil)
			b.must("attach sender", err)
			b.must("send 4,500 messages at once", sender.Send(b.ctx, encodedBatch(b, 4500), nil))
			err = sender.Send(b.ctx, encodedBatch(b, 4501), nil)
			stored := 4500
			if profile == "relaxed" { // DEC-17
				b.must("send 4,501 messages at once", err)
				stored += 4501
			} else {
				b.wantErrorText("send 4,501 messages at once", err, "amqp:not-allowed")
			}
			for what, m := range ids {
				err := b.sender.SendMessage(b.ctx, m, nil)
				if profile == "relaxed" {
					b.must("send a long "+what, err)
					stored++
				} else {
					b.wantErrorText("send a long "+what, err, "com.microsoft:argument-error")
				}
			}
			b.put(queueName, message("last"))
			last := b.peekAll(b.receiver, int64(stored)+1)
			b.check(last[0], stamps{body: "last", seq: int64(stored) + 1, count: 1}) // refused messages take no number
		})
	}
}

func TestQUO8_TooManyProperties(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName})
	m := message("x")
	m.ApplicationProperties = map[string]any{}
	for i := range 40 {
		m.ApplicationProperties[fmt.Sprint(i)] = strings.Repeat("p", 2000)
	}
	b.wantErrorText("send 80 KB of properties", b.sender.SendMessage(b.ctx, m, nil), azservicebus.ErrMessageTooLarge.Error())
	b.put(queueName, message("alive"))
	b.check(b.receiveOne(b.receiver), stamps{body: "alive", seq: 1, count: 1})
}

// A full queue refuses in the words of the service; receiving messages makes room (QUO-2, QUO-3).
func TestQUO2_QUO3_DEC3_FullQueue(t *testing.T) {
	b := serveWith(t, "emulator", harness.Queue{Name: queueName}) // 100 MB, the smallest
	body := make([]byte, 255<<10)
	sent := 0
	var err error
	for ; sent < 1000 && err == nil; sent++ {
		err = b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: body}, nil)
	}
	b.wantErrorText("send to a full queue", err, "amqp:resource-limit-exceeded")
	b.wantErrorText("send to a full queue", err, "The maximum entity size has been reached or exceeded for Queue: 'orders'. Size of entity in bytes:")
	b.wantErrorText("send to a full queue", err, "Max entity size in bytes:104857600.")
	if sent < 380 || sent > 420 {
		b.Errorf("refused after %d messages of 255 KiB", sent)
	}
	m := b.receiveOne(b.receiver)
	b.wantErrorText("send while one is locked", b.sender.SendMessage(b.ctx, message("x"), nil), "amqp:resource-limit-exceeded")
	b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
	b.must("send after a complete", b.sender.SendMessage(b.ctx, message("x"), nil))
}

func TestQUO5_DEC2_MaximumMessageSizeOfAQueue(t *testing.T) {
	proves(t, "send.larger")
	b := serve(t, harness.Queue{Name: queueName, MaxMessageSizeInKilobytes: 2048}, harness.Queue{Name: "small"})
	large := &azservicebus.Message{Body: make([]byte, 1900<<10)}
	b.must("send 1900 KiB", b.sender.SendMessage(b.ctx, large, nil))
	if got := b.receiveOne(b.receiver); len(got.Body) != len(large.Body) {
		b.Errorf("received %d bytes", len(got.Body))
	}
	if err := b.to("small").SendMessage(b.ctx, large, nil); !errors.Is(err, azservicebus.ErrMessageTooLarge) {
		b.wantErrorText("send 1900 KiB to another queue", err, "amqp:link:message-size-exceeded")
	}
}
