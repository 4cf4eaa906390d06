package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"golang.org/x/sync/errgroup"

	"minibus/compat-tests/ledger"
)

// auditLimit bounds the time of an audit.
const auditLimit = 2 * time.Minute

// audit looks at everything that the broker holds, while the load rests, and compares it with the ledger.
type audit struct {
	*soak
	ctx    context.Context
	client *azservicebus.Client

	mu    sync.Mutex
	found map[string][]sighting
}

// sighting is a message in a place.
type sighting struct {
	entity string
	number int64
	where  ledger.Place
}

func (s *soak) newAudit() (*audit, func(), error) {
	ctx, cancel := context.WithTimeout(context.Background(), auditLimit)
	client, err := s.newClient()
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return &audit{soak: s, ctx: ctx, client: client, found: make(map[string][]sighting)}, func() { closeClient(client); cancel() }, nil
}

// compare looks at everything and judges it. Afterwards the ledger holds what was found.
func (a *audit) compare(when string) error {
	if err := a.look(); err != nil {
		return err
	}
	places := a.places()
	a.book.Audit(places)
	a.auditPairs(places)
	a.judge(when)
	a.book.Resolve(places, drift)
	return nil
}

// look peeks at everything. It first waits until everything is forwarded that has to be, so that nothing moves
// meanwhile.
func (a *audit) look() error {
	for _, e := range entities {
		if e.passing || e.burying {
			if err := a.waitUntilEmpty(e); err != nil {
				return err
			}
		}
	}
	group, ctx := errgroup.WithContext(a.ctx)
	group.SetLimit(6)
	for _, e := range entities {
		group.Go(func() error {
			if e.sessions {
				return a.lookAtSessions(ctx, e)
			}
			// The available ones first: a message that dies meanwhile is seen twice and never missed.
			if !e.passing {
				if err := a.peek(ctx, e, nil); err != nil {
					return err
				}
			}
			if e.burying {
				return nil
			}
			return a.peek(ctx, e, deadLetters())
		})
	}
	return group.Wait()
}

func deadLetters() *azservicebus.ReceiverOptions {
	return &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}
}

// waitUntilEmpty waits until forwarding or expiry has emptied an entity.
func (a *audit) waitUntilEmpty(e entity) error {
	client, done, err := a.administration()
	if err != nil {
		return err
	}
	defer done()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got, err := e.counts(a.ctx, client)
		if err != nil {
			return fmt.Errorf("counts of %s: %w", e.name, err)
		}
		left := got.active
		if e.burying {
			left = got.dead
		}
		if left == 0 {
			return nil
		}
		if time.Since(began) > operationLimit {
			a.find("%s: %d messages do not leave it", e.name, left)
			return nil
		}
	}
}

func (a *audit) peek(ctx context.Context, e entity, o *azservicebus.ReceiverOptions) error {
	receiver, err := e.receiver(a.client, o)
	if err != nil {
		return err
	}
	defer func() { _ = receiver.Close(ctx) }()
	if err := a.pages(ctx, e, o != nil, receiver); err != nil {
		return fmt.Errorf("peek at %s: %w", e.name, err)
	}
	return nil
}

// peeker is a receiver, with or without a session.
type peeker interface {
	PeekMessages(ctx context.Context, most int, o *azservicebus.PeekMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
}

// pages notes every message that a receiver can see.
func (a *audit) pages(ctx context.Context, e entity, dead bool, from peeker) error {
	for next := int64(0); ; {
		page, err := from.PeekMessages(ctx, 250, &azservicebus.PeekMessagesOptions{FromSequenceNumber: &next})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, m := range page {
			a.note(e, m, dead)
			if next > 0 && *m.SequenceNumber < next {
				a.find("%s: number %d was peeked from %d on", e.name, *m.SequenceNumber, next)
			}
			next = *m.SequenceNumber + 1
		}
		a.tally.peeked.Add(int64(len(page)))
	}
}

func (a *audit) note(e entity, m *azservicebus.ReceivedMessage, dead bool) {
	id, err := idOf(m.Body)
	if err != nil {
		a.find("%s: %v", e.name, err)
	}
	a.book.Seen(e.name+"/"+id, *m.SequenceNumber)
	seen := sighting{e.name, *m.SequenceNumber, e.place}
	switch {
	case dead:
		seen.where = ledger.InDeadLetters
	case m.State == azservicebus.MessageStateScheduled:
		seen.where = ledger.AsScheduled
	case m.State == azservicebus.MessageStateDeferred:
		seen.where = ledger.AsDeferred
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := e.book + "/" + id
	a.found[key] = append(a.found[key], seen)
}

// places returns the messages found, in the ledger's form. A message that moved on meanwhile counts where it was seen
// last.
func (a *audit) places() map[string][]ledger.Place {
	places := make(map[string][]ledger.Place, len(a.found))
	for key, seen := range a.found {
		for i, s := range seen {
			moved := slices.ContainsFunc(seen[i+1:], func(later sighting) bool {
				return later.entity == s.entity && (later.number == s.number || s.where == ledger.AsScheduled && later.where == ledger.InQueue)
			})
			if !moved {
				places[key] = append(places[key], s.where)
			}
		}
	}
	return places
}

// drift returns where time takes a message.
func drift(key string, where ledger.Place) ledger.Place {
	switch entity, _, _ := strings.Cut(key, "/"); {
	case entity == "expiring" && where == ledger.InQueue:
		return ledger.InDeadLetters
	case entity == "scheduled" && where == ledger.AsScheduled:
		return ledger.InQueue
	}
	return 0
}

// auditPairs checks that no message is there together with its successor: that would be half a transaction.
func (a *audit) auditPairs(places map[string][]ledger.Place) {
	for key := range places {
		if moved, isSuccessor := strings.CutSuffix(key, ">"); isSuccessor && len(places[moved]) > 0 {
			a.find("half a transaction: %s and its successor are there", moved)
		}
	}
}

// lookAtSessions peeks at the messages of every session and reads its state.
func (a *audit) lookAtSessions(ctx context.Context, e entity) error {
	for i := range sessionCount {
		holder, err := a.acceptSession(ctx, e.name, sessionName(i), azservicebus.ReceiveModePeekLock)
		if err != nil {
			return err
		}
		state, err := holder.GetSessionState(ctx, nil)
		if err == nil {
			a.book.AuditState(sessionName(i), string(state))
			a.book.StateSet(sessionName(i), string(state))
			err = a.pages(ctx, e, false, holder)
		}
		_ = holder.Close(ctx)
		if err != nil {
			return fmt.Errorf("look at session %s: %w", sessionName(i), err)
		}
	}
	return a.peek(ctx, e, deadLetters())
}

// acceptSession takes a session that another holder may just be releasing.
func (a *audit) acceptSession(ctx context.Context, queue, session string, mode azservicebus.ReceiveMode) (*azservicebus.SessionReceiver, error) {
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		holder, err := a.client.AcceptSessionForQueue(ctx, queue, session, &azservicebus.SessionReceiverOptions{ReceiveMode: mode})
		if err == nil {
			return holder, nil
		}
		if time.Since(began) > 15*time.Second || errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("accept session %s: %w", session, err)
		}
	}
}
