package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"golang.org/x/sync/errgroup"

	"minibus/compat-tests/ledger"
)

// drain takes out everything that was found, and checks that nothing else comes.
func (a *audit) drain() error {
	group, ctx := errgroup.WithContext(a.ctx)
	group.SetLimit(6)
	for _, e := range entities {
		group.Go(func() error {
			if e.sessions {
				return a.drainSessions(ctx, e)
			}
			if e.passing {
				return a.drainBox(ctx, e, deadLetters())
			}
			if e.burying {
				return a.drainBox(ctx, e, nil)
			}
			return errors.Join(a.drainBox(ctx, e, nil), a.drainBox(ctx, e, deadLetters()))
		})
	}
	return group.Wait()
}

// numbersOf returns the numbers of the messages found in one of these places of an entity.
func (a *audit) numbersOf(e entity, where ledger.Place) (numbers []int64) {
	for _, seen := range a.found {
		for _, s := range seen {
			if s.entity == e.name && s.where&where != 0 {
				numbers = append(numbers, s.number)
			}
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// drainBox empties an entity or its dead-letter queue.
func (a *audit) drainBox(ctx context.Context, e entity, o *azservicebus.ReceiverOptions) error {
	available := a.numbersOf(e, e.place)
	if o != nil {
		available = a.numbersOf(e, ledger.InDeadLetters)
	} else {
		o = &azservicebus.ReceiverOptions{}
		if err := a.cancel(ctx, e, a.numbersOf(e, ledger.AsScheduled)); err != nil {
			return err
		}
	}
	o.ReceiveMode = azservicebus.ReceiveModeReceiveAndDelete
	receiver, err := e.receiver(a.client, o)
	if err != nil {
		return err
	}
	defer func() { _ = receiver.Close(ctx) }()
	if o.SubQueue == 0 {
		for chunk := range slices.Chunk(a.numbersOf(e, ledger.AsDeferred), 100) {
			if _, err := receiver.ReceiveDeferredMessages(ctx, chunk, nil); err != nil {
				return fmt.Errorf("%s: receive deferred: %w", e.name, err)
			}
		}
	}
	return a.takeAll(ctx, e, receiver, available)
}

func (a *audit) cancel(ctx context.Context, e entity, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	sender, err := a.client.NewSender(e.name, nil)
	if err != nil {
		return err
	}
	defer func() { _ = sender.Close(ctx) }()
	for chunk := range slices.Chunk(numbers, 100) {
		if err := sender.CancelScheduledMessages(ctx, chunk, nil); err != nil {
			return fmt.Errorf("%s: cancel: %w", e.name, err)
		}
	}
	return nil
}

// patience is how long a receive waits for a message that was peeked. Receivers that have ended may still hold its
// lock. It is also long enough for a busy machine to open a link: if the wait ended during that, the SDK would begin
// the connection anew, and what was on its way to a receive-and-delete link would be lost.
const patience = 20 * time.Second

// takeAll receives the messages with these numbers, and no others.
func (a *audit) takeAll(ctx context.Context, e entity, from source, want []int64) error {
	missing := make(map[int64]bool, len(want))
	for _, number := range want {
		missing[number] = true
	}
	options := &azservicebus.ReceiveMessagesOptions{TimeAfterFirstMessage: 30 * time.Millisecond}
	for len(missing) > 0 {
		waiting, done := context.WithTimeout(ctx, patience)
		messages, err := from.ReceiveMessages(waiting, min(len(missing), 500), options)
		done()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			a.find("%s: %d messages were peeked and can't be received", e.name, len(missing))
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: take everything: %w", e.name, err)
		}
		for _, m := range messages {
			if !missing[*m.SequenceNumber] {
				a.find("%s: number %d was received, which was not peeked as available", e.name, *m.SequenceNumber)
			}
			delete(missing, *m.SequenceNumber)
		}
	}
	return nil
}

func (a *audit) drainSessions(ctx context.Context, e entity) error {
	want := make(map[string][]int64)
	for key, seen := range a.found {
		for _, s := range seen {
			if s.entity == e.name && s.where == ledger.InQueue {
				session := sessionOf(key)
				want[session] = append(want[session], s.number)
			}
		}
	}
	for i := range sessionCount {
		holder, err := a.acceptSession(ctx, e.name, sessionName(i), azservicebus.ReceiveModeReceiveAndDelete)
		if err != nil {
			return err
		}
		err = a.takeAll(ctx, e, holder, want[sessionName(i)])
		if err == nil {
			err = holder.SetSessionState(ctx, nil, nil)
			a.book.StateSet(sessionName(i), "")
		}
		_ = holder.Close(ctx)
		if err != nil {
			return fmt.Errorf("drain session %s: %w", sessionName(i), err)
		}
	}
	return a.drainBox(ctx, e, deadLetters())
}
