package compat

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// TestMemory_LargeMessagesAtOnce sends ten messages of 100 MiB at once, each over a connection of its own, and receives them at once. The server has 2.3 GiB if
// it counts them for each connection only. How much of what is free the runtime still has depends on the other work of the machine.
func TestMemory_LargeMessagesAtOnce(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	const n, size, most = 10, 100*mebibyte - 1024, 1000 * mebibyte
	b := startStored(t, harness.WriteConfig(t, harness.Queue{Name: queueName, MaxMessageSizeInKilobytes: 100 << 10}))
	message := blob(size)
	atOnce := func(what string, f func(c *azservicebus.Client) error) {
		t.Helper()
		results := make(chan error, n)
		for range n {
			c := b.connect()
			go func() { results <- f(c) }()
		}
		for range n {
			b.must(what, <-results)
		}
		peak := b.server.PeakResident(b)
		t.Logf("%s: %d MiB at the peak", what, peak/mebibyte)
		if peak > most {
			t.Errorf("%s: the server had %d MiB of memory, want at most %d", what, peak/mebibyte, most/mebibyte)
		}
	}
	atOnce("send", func(c *azservicebus.Client) error {
		s, err := c.NewSender(queueName, nil)
		if err != nil {
			return err
		}
		return s.SendMessage(b.ctx, message, nil)
	})
	atOnce("receive", func(c *azservicebus.Client) error {
		r, err := c.NewReceiverForQueue(queueName, nil)
		if err != nil {
			return err
		}
		got, err := r.ReceiveMessages(b.ctx, 1, nil)
		if err != nil {
			return err
		}
		return r.CompleteMessage(b.ctx, got[0], nil)
	})
}

// TestMemory_PeeksOfLargeMessages lets eight clients look at twelve messages of 20 MiB at once, of which a reply has
// five. The server has 2.5 GiB if replies are not bounded together.
func TestMemory_PeeksOfLargeMessages(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	const clients, messages, size, most = 8, 12, 20 * mebibyte, 1000 * mebibyte
	b := startStored(t, harness.WriteConfig(t, harness.Queue{Name: queueName, MaxMessageSizeInKilobytes: 100 << 10}))
	for range messages {
		b.must("send", b.sender.SendMessage(b.ctx, blob(size), nil))
	}
	results := make(chan error, clients)
	for range clients {
		c := b.connect()
		go func() {
			r, err := c.NewReceiverForQueue(queueName, nil)
			if err != nil {
				results <- err
				return
			}
			for seen := 0; seen < messages && err == nil; {
				var got []*azservicebus.ReceivedMessage
				got, err = r.PeekMessages(b.ctx, messages, nil)
				seen += len(got)
			}
			results <- err
		}()
	}
	for range clients {
		b.must("peek", <-results)
	}
	peak := b.server.PeakResident(b)
	t.Logf("%d MiB at the peak", peak/mebibyte)
	if peak > most {
		t.Errorf("the server had %d MiB of memory, want at most %d", peak/mebibyte, most/mebibyte)
	}
}
