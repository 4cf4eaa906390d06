package compat

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
	"minibus/compat-tests/ledger"
)

// requestSize is how many numbers go into one request.
const requestSize = 200

// An auditor looks at everything that a restarted server holds, compares it with the ledger, and empties the queue.
type auditor struct {
	t      *testing.T
	book   *ledger.Ledger
	ctx    context.Context
	client *azservicebus.Client
	found  map[string][]ledger.Place
	later  []int64 // numbers of scheduled messages
	defers []int64
	active map[string]bool
}

func newAuditor(t *testing.T, server *harness.Server, book *ledger.Ledger) *auditor {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	client, err := connectTo(server)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return &auditor{t: t, book: book, ctx: ctx, client: client}
}

func (a *auditor) must(what string, err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatalf("audit: %s: %v", what, err)
	}
}

func (a *auditor) run(round int) {
	defer a.client.Close(context.Background())
	for a.look(); a.soonDue(); a.look() {
		time.Sleep(50 * time.Millisecond)
	}
	a.book.Audit(a.found)
	a.checkCounter(fmt.Sprintf("r%d-next", round))
	a.drain()
}

// look peeks at the queue and at its dead-letter queue.
func (a *auditor) look() {
	a.found, a.active = make(map[string][]ledger.Place), make(map[string]bool)
	a.later, a.defers = nil, nil
	a.peek(nil, func(m *azservicebus.ReceivedMessage) ledger.Place {
		switch m.State {
		case azservicebus.MessageStateScheduled:
			a.later = append(a.later, *m.SequenceNumber)
			return ledger.AsScheduled
		case azservicebus.MessageStateDeferred:
			a.defers = append(a.defers, *m.SequenceNumber)
			return ledger.AsDeferred
		default:
			a.active[string(m.Body)] = true
			return ledger.InQueue
		}
	})
	dead := &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}
	a.peek(dead, func(*azservicebus.ReceivedMessage) ledger.Place { return ledger.InDeadLetters })
}

func (a *auditor) peek(o *azservicebus.ReceiverOptions, where func(*azservicebus.ReceivedMessage) ledger.Place) {
	receiver, err := a.client.NewReceiverForQueue(queueName, o)
	a.must("create receiver", err)
	defer receiver.Close(a.ctx)
	for {
		page, err := receiver.PeekMessages(a.ctx, 250, nil)
		a.must("peek", err)
		if len(page) == 0 {
			return
		}
		for _, m := range page {
			id := string(m.Body)
			a.book.Seen(id, *m.SequenceNumber)
			a.found[id] = append(a.found[id], where(m))
		}
	}
}

// soonDue reports whether a message for now still waits: its activation would draw a number during the audit.
func (a *auditor) soonDue() bool {
	for id, places := range a.found {
		if places[0] == ledger.AsScheduled && a.book.Allowed(id)&ledger.InQueue != 0 {
			return true
		}
	}
	return false
}

// checkCounter sends a message, which must get the number after the highest ever seen. A higher one would be a gap
// that no client caused, a lower one a number used again.
func (a *auditor) checkCounter(id string) {
	sender, err := a.client.NewSender(queueName, nil)
	a.must("create sender", err)
	want := a.book.Highest() + 1
	a.must("send", sender.SendMessage(a.ctx, message(id), nil))
	receiver, err := a.client.NewReceiverForQueue(queueName, nil)
	a.must("create receiver", err)
	defer receiver.Close(a.ctx)
	from := want - 1
	page, err := receiver.PeekMessages(a.ctx, 10, &azservicebus.PeekMessagesOptions{FromSequenceNumber: &from})
	a.must("peek", err)
	for _, m := range page {
		if string(m.Body) == id {
			a.book.Seen(id, *m.SequenceNumber)
			if *m.SequenceNumber != want {
				a.t.Errorf("the next message has number %d, want %d", *m.SequenceNumber, want)
			}
			a.active[id] = true
			return
		}
	}
	a.t.Errorf("the next message is not at %d or above", want)
}

// drain receives everything, and checks it against the messages that were peeked.
func (a *auditor) drain() {
	a.receiveAll(nil, len(a.active), a.active)
	dead := make(map[string]bool)
	for id, places := range a.found {
		if places[0] == ledger.InDeadLetters {
			dead[id] = true
		}
	}
	a.receiveAll(&azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}, len(dead), dead)
	sender, err := a.client.NewSender(queueName, nil)
	a.must("create sender", err)
	for chunk := range slices.Chunk(a.later, requestSize) {
		a.must("cancel", sender.CancelScheduledMessages(a.ctx, chunk, nil))
	}
	receiver, err := a.client.NewReceiverForQueue(queueName, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	a.must("create receiver", err)
	for chunk := range slices.Chunk(a.defers, requestSize) {
		_, err := receiver.ReceiveDeferredMessages(a.ctx, chunk, nil)
		a.must("receive deferred", err)
	}
	rest := *a
	if rest.look(); len(rest.found) > 0 {
		a.t.Errorf("%d messages are left after everything was taken", len(rest.found))
	}
}

func (a *auditor) receiveAll(o *azservicebus.ReceiverOptions, count int, want map[string]bool) {
	if o == nil {
		o = &azservicebus.ReceiverOptions{}
	}
	o.ReceiveMode = azservicebus.ReceiveModeReceiveAndDelete
	receiver, err := a.client.NewReceiverForQueue(queueName, o)
	a.must("create receiver", err)
	defer receiver.Close(a.ctx)
	options := &azservicebus.ReceiveMessagesOptions{TimeAfterFirstMessage: 20 * time.Millisecond}
	for got := 0; got < count; {
		messages, err := receiver.ReceiveMessages(a.ctx, min(count-got, 500), options)
		a.must("receive", err)
		for _, m := range messages {
			if id := string(m.Body); !want[id] {
				a.t.Errorf("received %s, which was not peeked as such", id)
			}
		}
		got += len(messages)
	}
}
