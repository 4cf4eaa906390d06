package main

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/ledger"
)

// eating says what a receiver does with its messages.
type eating struct {
	entity string
	book   string
	from   ledger.Place // where its messages come from; 0: the available ones
	bury   bool         // dead-letter everything, which forwards it
	plain  bool         // complete everything
}

// slowSettlement is the age from which a settlement may find its lock over.
const slowSettlement = 3 * time.Second

// settlementLimit leaves time for one repetition by the SDK, which comes after about four seconds whatever its options.
const settlementLimit = 6 * time.Second

type opener func(*azservicebus.Client) (*azservicebus.Receiver, error)

func queueReceiver(queue string) opener {
	return func(c *azservicebus.Client) (*azservicebus.Receiver, error) { return c.NewReceiverForQueue(queue, nil) }
}

// openLink opens a receiver and its links, which would take too long during a receive: the SDK opens them at the first
// use.
func (w *worker) openLink(open opener) (*azservicebus.Receiver, error) {
	receiver, err := open(w.client)
	if err != nil {
		return nil, err
	}
	return receiver, w.try(func(ctx context.Context) error {
		_, err := receiver.PeekMessages(ctx, 1, nil)
		return err
	})
}

// settleAll receives and settles until the load stops.
func (w *worker) settleAll(open opener, e *eating) error {
	receiver, err := w.openLink(open)
	if err != nil {
		return err
	}
	for !w.over() {
		messages, err := w.take(receiver, 12)
		if err != nil {
			return err
		}
		got := time.Now()
		keys := w.delivered(messages, e)
		for i, m := range messages {
			if err := w.settleOne(receiver, m, keys[i], got, e); err != nil {
				return err
			}
		}
		time.Sleep(pause)
	}
	return nil
}

// key checks a message and returns its name in the ledger.
func (w *worker) key(m *azservicebus.ReceivedMessage, entity, book string) string {
	id, err := idOf(m.Body)
	if err != nil {
		w.find("%s: %v", entity, err)
	}
	w.book.Seen(entity+"/"+id, *m.SequenceNumber)
	return book + "/" + id
}

// delivered notes in the ledger all messages that came together, before any of them is settled: a settlement may last
// longer than the locks of the others, which another receiver then gets and settles.
func (w *worker) delivered(messages []*azservicebus.ReceivedMessage, e *eating) (keys []string) {
	from := e.from
	if from == 0 {
		from = ledger.InQueue | ledger.AsScheduled
	}
	for _, m := range messages {
		key := w.key(m, e.entity, e.book)
		w.book.DeliveredFrom(key, from)
		keys = append(keys, key)
	}
	return keys
}

func (w *worker) settleOne(receiver *azservicebus.Receiver, m *azservicebus.ReceivedMessage, key string, got time.Time, e *eating) error {
	what := *m.SequenceNumber % 10
	switch {
	case e.bury:
		return w.settle(key, ledger.InTarget|ledger.InDeadLetters, got, func(ctx context.Context) error { return receiver.DeadLetterMessage(ctx, m, nil) })
	case e.plain:
	case what == 2 && m.DeliveryCount < 3:
		return w.settle(key, 0, got, func(ctx context.Context) error { return receiver.AbandonMessage(ctx, m, nil) })
	case what == 4:
		return w.settle(key, ledger.InDeadLetters, got, func(ctx context.Context) error { return receiver.DeadLetterMessage(ctx, m, nil) })
	case what == 6:
		return w.deferAndTake(receiver, m, key)
	}
	return w.settle(key, ledger.Nowhere, got, func(ctx context.Context) error { return receiver.CompleteMessage(ctx, m, nil) })
}

// settle settles a message, which moves it to a place; 0: it stays.
func (w *worker) settle(key string, where ledger.Place, got time.Time, operation func(context.Context) error) error {
	if where != 0 {
		w.book.Settling(key, where)
	}
	err := w.try(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, settlementLimit)
		defer cancel()
		return operation(ctx)
	})
	if isLockLost(err) && time.Since(got) >= slowSettlement {
		return nil // the machine stood still and the lock ran out
	}
	if err != nil {
		return err
	}
	if time.Since(w.began) >= slowSettlement {
		return nil // maybe the SDK's second try: after a lost session lock it reports success without asking the broker
	}
	switch {
	case where&ledger.InTarget != 0:
		w.book.Left(key, ledger.InQueue)
	case where != 0:
		w.book.SettledAt(key, where)
	}
	w.tally.settled.Add(1)
	return nil
}

// deferAndTake defers a message, and receives every other one by its number.
func (w *worker) deferAndTake(receiver *azservicebus.Receiver, m *azservicebus.ReceivedMessage, key string) error {
	err := w.settle(key, ledger.AsDeferred, time.Now(), func(ctx context.Context) error { return receiver.DeferMessage(ctx, m, nil) })
	if err != nil || *m.SequenceNumber%20 == 6 {
		return err
	}
	var again []*azservicebus.ReceivedMessage
	err = w.try(func(ctx context.Context) error {
		again, err = receiver.ReceiveDeferredMessages(ctx, []int64{*m.SequenceNumber}, nil)
		return err
	})
	if err != nil || len(again) != 1 {
		return err
	}
	return w.settle(key, ledger.Nowhere, time.Now(), func(ctx context.Context) error { return receiver.CompleteMessage(ctx, again[0], nil) })
}

// hoard takes messages and never settles them, so that their locks end again and again on one link. The link outlives
// the load: at the checkpoint all its messages are gone, and the broker must no longer remember them for it.
func (w *worker) hoard() error {
	receiver, err := w.openLink(queueReceiver("held"))
	if err != nil {
		return err
	}
	for !w.over() {
		messages, err := w.take(receiver, 40)
		if err != nil {
			return err
		}
		for _, m := range messages {
			w.book.Delivered(w.key(m, "held", "held"))
		}
		time.Sleep(pause)
	}
	w.keepConnection()
	return nil
}

func isLockLost(err error) bool {
	var refused *azservicebus.Error
	return errors.As(err, &refused) && refused.Code == azservicebus.CodeLockLost
}
