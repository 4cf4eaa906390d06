package main

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/ledger"
)

// schedule schedules messages for soon and for much later in turn; it cancels every third one for later.
func (w *worker) schedule() error {
	sender, err := w.client.NewSender("scheduled", nil)
	if err != nil {
		return err
	}
	for n := 0; !w.over(); n++ {
		later := n%2 == 0
		due, where := time.Now().Add(time.Duration(500+n%7*300)*time.Millisecond), ledger.AsScheduled|ledger.InQueue
		if later {
			due, where = time.Now().Add(24*time.Hour), ledger.AsScheduled
		}
		id := w.id()
		key := "scheduled/" + id
		w.book.Sending(key, where)
		m := &azservicebus.Message{Body: body(id, 100), MessageID: &id}
		var numbers []int64
		err := w.try(func(ctx context.Context) (err error) {
			numbers, err = sender.ScheduleMessages(ctx, []*azservicebus.Message{m}, due, nil)
			return err
		})
		if err != nil {
			return err
		}
		w.book.Sent(key)
		w.book.Seen("scheduled/"+id, numbers[0])
		w.tally.sent.Add(1)
		if later && n%3 != 0 {
			cancel := func(ctx context.Context) error { return sender.CancelScheduledMessages(ctx, numbers, nil) }
			if err := w.settle(key, ledger.Nowhere, time.Now(), cancel); err != nil {
				return err
			}
		}
		time.Sleep(pause + 10*time.Millisecond)
	}
	return nil
}
