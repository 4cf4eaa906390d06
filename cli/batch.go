package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// maxBatch is how many messages are sent together at most. Each batch is one commit of the service.
const maxBatch = 100

// batcher sends messages in batches. The messages of a batch have the same session and partition, as a partitioned entity demands.
type batcher struct {
	app    *app
	entity string
	sender *azservicebus.Sender
	pace   *pace
	batch  *azservicebus.MessageBatch
	key    string
	sent   int
}

// put adds a message, and sends the batch if it is full or the message is the last one for now.
func (b *batcher) put(ctx context.Context, m *azservicebus.AMQPAnnotatedMessage, last bool) error {
	if err := b.pace.wait(ctx); err != nil {
		return err
	}
	key := groupOf(m)
	if b.batch != nil && (key != b.key || b.batch.NumMessages() >= maxBatch) {
		if err := b.flush(ctx); err != nil {
			return b.app.about("send to "+b.entity, err)
		}
	}
	b.key = key
	err := b.add(ctx, m)
	if errors.Is(err, azservicebus.ErrMessageTooLarge) && b.batch.NumMessages() > 0 {
		if err = b.flush(ctx); err == nil {
			err = b.add(ctx, m)
		}
	}
	if errors.Is(err, azservicebus.ErrMessageTooLarge) {
		b.batch = nil
		err = b.alone(ctx, m)
	}
	if errors.Is(err, azservicebus.ErrMessageTooLarge) {
		err = b.app.tooLarge(ctx, b.entity)
	}
	if err == nil && (last || b.pace.slow()) {
		err = b.flush(ctx)
	}
	return b.app.about("send to "+b.entity, err)
}

func (b *batcher) add(ctx context.Context, m *azservicebus.AMQPAnnotatedMessage) error {
	if b.batch == nil {
		batch, err := within(ctx, b.app, func(ctx context.Context) (*azservicebus.MessageBatch, error) {
			return b.sender.NewMessageBatch(ctx, nil)
		})
		if err != nil {
			return err // the caller says what failed
		}
		b.batch = batch
	}
	return b.batch.AddAMQPAnnotatedMessage(m, nil) // put asks what it is
}

// alone sends a message that fits into no batch. The service may take it, or says why not.
func (b *batcher) alone(ctx context.Context, m *azservicebus.AMQPAnnotatedMessage) error {
	if err := b.app.ask(ctx, func(ctx context.Context) error { return b.sender.SendAMQPAnnotatedMessage(ctx, m, nil) }); err != nil {
		return err // put says what failed
	}
	b.sent++
	return nil
}

// flush sends what is there.
func (b *batcher) flush(ctx context.Context) error {
	if b.batch == nil || b.batch.NumMessages() == 0 {
		return nil
	}
	if err := b.app.ask(ctx, func(ctx context.Context) error { return b.sender.SendMessageBatch(ctx, b.batch, nil) }); err != nil {
		return err // the callers say what failed
	}
	b.sent += int(b.batch.NumMessages())
	b.batch = nil
	return nil
}

func groupOf(m *azservicebus.AMQPAnnotatedMessage) string {
	return fmt.Sprintf("%q %v", text(m.Properties.GroupID), m.MessageAnnotations[partitionKey])
}

// pace keeps to a number of messages in a second.
type pace struct {
	gap  time.Duration
	next time.Time
}

func newPace(rate float64) *pace {
	if rate <= 0 {
		return &pace{}
	}
	return &pace{gap: time.Duration(float64(time.Second) / rate), next: time.Now()}
}

// slow reports whether messages come so slowly that each is sent by itself.
func (p *pace) slow() bool { return p.gap > 10*time.Millisecond }

func (p *pace) wait(ctx context.Context) error {
	if p.gap == 0 {
		return nil
	}
	ahead := time.Until(p.next)
	p.next = p.next.Add(p.gap)
	return rest(ctx, ahead)
}

// rest waits, unless the command ends.
func rest(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err() // the end of the command
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() // the end of the command
	}
}
