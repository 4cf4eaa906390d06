package main

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// peekAround peeks at one queue after another and checks the messages.
func (w *worker) peekAround() error {
	for n := 0; !w.over(); n++ {
		e := entities[n%len(entities)]
		if e.sessions || e.passing {
			continue
		}
		receiver, err := e.receiver(w.client, nil)
		if err != nil {
			return err
		}
		var page []*azservicebus.ReceivedMessage
		err = w.try(func(ctx context.Context) (err error) {
			page, err = receiver.PeekMessages(ctx, 50, nil)
			return err
		})
		if err != nil {
			return err
		}
		for i, m := range page {
			w.key(m, e.name, e.book)
			if i > 0 && *m.SequenceNumber <= *page[i-1].SequenceNumber {
				w.find("%s: number %d was peeked after %d", e.name, *m.SequenceNumber, *page[i-1].SequenceNumber)
			}
		}
		w.tally.peeked.Add(int64(len(page)))
		closing, done := context.WithTimeout(w.l.ctx, closeWait)
		_ = receiver.Close(closing)
		done()
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// receiver opens a receiver of an entity.
func (e entity) receiver(c *azservicebus.Client, o *azservicebus.ReceiverOptions) (*azservicebus.Receiver, error) {
	if e.topic != "" {
		return c.NewReceiverForSubscription(e.topic, e.name, o)
	}
	return c.NewReceiverForQueue(e.name, o)
}
