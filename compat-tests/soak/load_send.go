package main

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/ledger"
)

// feed says what a sender sends.
type feed struct {
	to       string
	book     string // the ledger's name for the entity; empty: as to
	where    ledger.Place
	together int // messages in a batch
	atMost   int // stop after this many; 0: go on
	twice    bool
	size     func(n int) int
	adorn    func(m *azservicebus.Message, n int)
	keys     func(id string, n int) []string // in the ledger; nil: book/id
	slow     time.Duration
	flood    bool // no pause while receivers that delete are held back
}

func (f *feed) keysOf(id string, n int) []string {
	if f.keys != nil {
		return f.keys(id, n)
	}
	if f.book != "" {
		return []string{f.book + "/" + id}
	}
	return []string{f.to + "/" + id}
}

// send sends until the load stops.
func (w *worker) send(f *feed) error {
	sender, err := w.client.NewSender(f.to, nil)
	if err != nil {
		return err
	}
	for n, turn := 0, 0; !w.over() && (f.atMost == 0 || n < f.atMost); turn++ {
		together := max(f.together, 1)
		if turn%4 == 3 {
			together = 1
		}
		if err := w.sendSome(sender, f, n, together); err != nil {
			return err
		}
		n += together
		if !f.flood || w.credit.Load() != 0 {
			time.Sleep(pause + f.slow)
		}
	}
	for !w.over() {
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// sendSome sends one message or one batch. A batch without an answer is stored whole or not at all, and so are the
// copies of a message in the subscriptions.
func (w *worker) sendSome(sender *azservicebus.Sender, f *feed, n, together int) error {
	where := f.where
	if where == 0 {
		where = ledger.InQueue
	}
	var messages []*azservicebus.Message
	var keys []string
	for i := n; i < n+together; i++ {
		id := w.id()
		m := f.message(id, i)
		messages, keys = append(messages, m), append(keys, f.keysOf(id, i)...)
	}
	for _, key := range keys {
		w.book.Sending(key, where)
	}
	err := w.try(func(ctx context.Context) error { return sendTogether(ctx, sender, messages) })
	if err == nil && f.twice {
		err = w.try(func(ctx context.Context) error { return sendTogether(ctx, sender, messages) })
	}
	if err != nil {
		w.book.DoubtfulBatch(keys[0], keys)
		return err
	}
	for _, key := range keys {
		w.book.Sent(key)
	}
	w.tally.sent.Add(int64(together))
	return nil
}

func (f *feed) message(id string, n int) *azservicebus.Message {
	size := 20 + n%400
	if f.size != nil {
		size = f.size(n)
	}
	m := &azservicebus.Message{Body: body(id, size), MessageID: &id}
	if f.adorn != nil {
		f.adorn(m, n)
	}
	return m
}

func sendTogether(ctx context.Context, sender *azservicebus.Sender, messages []*azservicebus.Message) error {
	if len(messages) == 1 {
		return sender.SendMessage(ctx, messages[0], nil)
	}
	batch, err := sender.NewMessageBatch(ctx, nil)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := batch.AddMessage(m, nil); err != nil {
			return err
		}
	}
	return sender.SendMessageBatch(ctx, batch, nil)
}
