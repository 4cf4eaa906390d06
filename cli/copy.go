package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"minibus/internal/amqp/messagejson"
)

// pass sends the meant ones of a batch, then completes them. The rest is held, else it would come again at once.
func (s *resubmitter) pass(ctx context.Context, batch []*azservicebus.ReceivedMessage) error {
	var meant []*azservicebus.ReceivedMessage
	for _, m := range batch {
		if m.SequenceNumber != nil && s.wanted[*m.SequenceNumber] {
			meant = append(meant, m)
		} else {
			s.others = append(s.others, m)
		}
	}
	for len(meant) > 0 {
		n, err := s.some(ctx, meant)
		if n > 0 && err == nil {
			err = s.complete(ctx, meant[:n])
		}
		if meant = meant[n:]; err != nil {
			s.others = append(s.others, meant...)
			return err
		}
	}
	return nil
}

// some sends as many of the first messages as go together, and returns how many. The service takes all or none of them.
func (s *resubmitter) some(ctx context.Context, meant []*azservicebus.ReceivedMessage) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err // the end of the command
	}
	what := "send to " + s.to
	batch, err := within(ctx, s.app, func(ctx context.Context) (*azservicebus.MessageBatch, error) {
		return s.sender.NewMessageBatch(ctx, nil)
	})
	if err != nil {
		return 0, s.app.about(what, err)
	}
	n, key := 0, groupOf(s.again(meant[0]))
	for ; n < len(meant); n++ {
		c := s.again(meant[n])
		if groupOf(c) != key {
			break
		}
		err := batch.AddAMQPAnnotatedMessage(c, nil)
		if errors.Is(err, azservicebus.ErrMessageTooLarge) && n > 0 {
			break
		}
		if errors.Is(err, azservicebus.ErrMessageTooLarge) {
			if err = s.app.ask(ctx, func(ctx context.Context) error { return s.sender.SendAMQPAnnotatedMessage(ctx, c, nil) }); err != nil {
				return 0, s.app.about(what, err)
			}
			return 1, nil
		}
		if err != nil {
			return 0, s.app.about(what, err)
		}
	}
	if err := s.app.ask(ctx, func(ctx context.Context) error { return s.sender.SendMessageBatch(ctx, batch, nil) }); err != nil {
		return 0, s.app.about(what, err)
	}
	return n, nil
}

// complete removes dead letters whose copies the service has, also after an interrupt.
func (s *resubmitter) complete(ctx context.Context, sent []*azservicebus.ReceivedMessage) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completing)
	defer cancel()
	var g errgroup.Group
	for _, m := range sent {
		g.Go(func() error { return s.r.CompleteMessage(ctx, m, nil) })
	}
	if err := g.Wait(); err != nil {
		return s.app.about("complete dead letters whose copies are sent; some may be there twice", err)
	}
	for _, m := range sent {
		delete(s.wanted, *m.SequenceNumber)
	}
	s.done += len(sent)
	s.shown.step(s.done)
	return nil
}

// completing bounds the completion of a batch.
const completing = 30 * time.Second

// again makes the copy: the message with all that its sender gave it, with nothing that the service did.
func (s *resubmitter) again(m *azservicebus.ReceivedMessage) *azservicebus.AMQPAnnotatedMessage {
	raw := m.RawAMQPMessage
	c := &azservicebus.AMQPAnnotatedMessage{
		Header:                &azservicebus.AMQPAnnotatedMessageHeader{Priority: defaultPriority},
		Properties:            &azservicebus.AMQPAnnotatedMessageProperties{},
		ApplicationProperties: maps.Clone(raw.ApplicationProperties),
		MessageAnnotations:    make(map[any]any), Footer: raw.Footer, Body: raw.Body,
	}
	delete(c.ApplicationProperties, "DeadLetterReason")
	delete(c.ApplicationProperties, "DeadLetterErrorDescription")
	ttl := time.Duration(0)
	if h := raw.Header; h != nil {
		c.Header.Durable, c.Header.Priority, ttl = h.Durable, h.Priority, h.TTL
	}
	if p := raw.Properties; p != nil {
		*c.Properties = *p
		if ttl >= longestTTL && p.CreationTime != nil && p.AbsoluteExpiryTime != nil {
			ttl = p.AbsoluteExpiryTime.Sub(*p.CreationTime)
		}
		c.Properties.CreationTime, c.Properties.AbsoluteExpiryTime = nil, nil // they would end its life at the old time
	}
	for key, v := range raw.MessageAnnotations {
		if name := fmt.Sprint(key); name == partitionKey || !messagejson.OfTheService(name) {
			c.MessageAnnotations[key] = v
		}
	}
	if s.flags.ttl != "" {
		ttl, _ = parseDuration(s.flags.ttl) // checked with the flags
	}
	if ttl > 0 {
		setTTL(c, ttl, time.Now())
	}
	if s.flags.newIDs {
		c.Properties.MessageID = uuid.NewString()
	}
	return c
}
