package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"golang.org/x/sync/errgroup"

	"minibus/config"
)

// benchPatience is how long a receive of bench may wait for a message that was sent.
const benchPatience = 30 * time.Second

// benching is a run of bench. Messages are sent and completed to the end when the command is interrupted, so that it knows what is left.
type benching struct {
	app   *app
	flags *benchFlags
	queue string
	run   string // names the run
	body  []byte

	sent, completed atomic.Int64
	ofSession       []atomic.Int64 // sent, by session
}

// measure sends, receives and completes.
func (b *benching) measure(ctx context.Context) ([]measurement, error) {
	client, err := b.app.messages()
	if err != nil {
		return nil, err
	}
	b.ofSession = make([]atomic.Int64, b.flags.sessions)
	sends, err := b.sendAll(ctx, client)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err // bench says of what
	}
	receives, completions, err := b.receiveAll(ctx)
	if err != nil {
		return nil, err
	}
	return []measurement{sends.measured("send", b.flags.size), receives.measured("receive", b.flags.size), completions.measured("complete", b.flags.size)}, nil
}

// sendAll sends until there are enough messages, the time is over, or the command is interrupted.
func (b *benching) sendAll(ctx context.Context, client *azservicebus.Client) (*latencies, error) {
	sender, err := client.NewSender(b.queue, nil)
	if err != nil {
		return nil, err // bench says of what
	}
	defer func() {
		ctx, cancel := b.app.parting(ctx)
		defer cancel()
		_ = sender.Close(ctx)
	}()
	attach := func(ctx context.Context) (*azservicebus.MessageBatch, error) { return sender.NewMessageBatch(ctx, nil) }
	if _, err := within(ctx, b.app, attach); err != nil { // attaches the link, which is not part of what is measured
		return nil, err
	}
	stop := b.watch("sent", &b.sent, b.flags.messages)
	defer stop()
	times, end := newLatencies(), time.Now().Add(b.flags.duration)
	var next atomic.Int64
	group, going := errgroup.WithContext(ctx)
	for range b.flags.inFlight {
		group.Go(func() error {
			for {
				n := next.Add(1)
				if n > int64(b.flags.messages) || b.flags.duration > 0 && time.Now().After(end) || going.Err() != nil {
					return nil
				}
				if err := b.sendOne(ctx, sender, n, times); err != nil {
					return err
				}
			}
		})
	}
	return times, group.Wait()
}

func (b *benching) sendOne(ctx context.Context, sender *azservicebus.Sender, n int64, times *latencies) error {
	m := &azservicebus.Message{Body: b.body}
	session := 0
	if b.flags.sessions > 0 {
		session = int(n % int64(b.flags.sessions))
		m.SessionID = new(b.session(session))
	}
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), benchPatience)
	defer cancel()
	begin := time.Now()
	if err := sender.SendMessage(sending, m, nil); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	times.add(begin)
	b.sent.Add(1)
	if b.flags.sessions > 0 {
		b.ofSession[session].Add(1)
	}
	return nil
}

func (b *benching) session(i int) string { return fmt.Sprintf("%s-%d", b.run, i) }

// receiveAll receives and completes what was sent.
func (b *benching) receiveAll(ctx context.Context) (receives, completions *latencies, err error) {
	stop := b.watch("completed", &b.completed, int(b.sent.Load()))
	defer stop()
	if b.flags.sessions == 0 {
		at := address{queue: b.queue}
		r, err := b.app.connected(ctx, &at, azservicebus.ReceiveModePeekLock)
		if err != nil {
			return nil, nil, err
		}
		receives, completions = newLatencies(), newLatencies()
		return receives, completions, b.receiveFrom(ctx, r, b.sent.Load(), b.flags.inFlight, receives, completions)
	}
	receives, completions = newLatencies(), newLatencies()
	atOnce := min(b.flags.sessions, b.flags.inFlight)
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range b.ofSession {
		group.Go(func() error {
			count := b.ofSession[i].Load()
			if count == 0 || going.Err() != nil {
				return going.Err() // the end of the command, or of another session
			}
			at := address{queue: b.queue}
			r, err := b.app.acceptSession(going, &at, new(b.session(i)), azservicebus.ReceiveModePeekLock)
			if err != nil {
				return fmt.Errorf("accept a session: %w", err)
			}
			return b.receiveFrom(going, r, count, max(1, b.flags.inFlight/atOnce), receives, completions)
		})
	}
	return receives, completions, group.Wait()
}

// receiveFrom receives a number of messages from a receiver, completes some of them at a time, and closes the receiver.
func (b *benching) receiveFrom(ctx context.Context, r inbox, count int64, inFlight int, receives, completions *latencies) error {
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	err := b.receive(going, r, count, inFlight, receives, func(m *azservicebus.ReceivedMessage) {
		group.Go(func() error {
			settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), benchPatience)
			defer cancel()
			begin := time.Now()
			if err := r.CompleteMessage(settling, m, nil); err != nil {
				return fmt.Errorf("complete: %w", err)
			}
			completions.add(begin)
			b.completed.Add(1)
			return nil
		})
	})
	if failed := group.Wait(); failed != nil {
		err = failed
	}
	if err != nil {
		b.app.putBack(ctx, r, address{queue: b.queue}, nil, inFlight)
		return err
	}
	ctx, cancel := b.app.parting(ctx)
	defer cancel()
	return r.Close(ctx)
}

// receive calls take for a number of messages.
func (b *benching) receive(ctx context.Context, r inbox, count int64, inFlight int, receives *latencies, take func(*azservicebus.ReceivedMessage)) error {
	for left := count; left > 0; {
		waiting, cancel := context.WithTimeout(ctx, benchPatience)
		begin := time.Now()
		batch, err := r.ReceiveMessages(waiting, int(min(left, int64(inFlight))), nil)
		cancel()
		switch {
		case ctx.Err() != nil:
			for _, m := range batch {
				take(m)
			}
			return ctx.Err() // the end of the command
		case errors.Is(err, context.DeadlineExceeded):
			return failed(exitFailed, "%s did not come within %v; does another client receive from %s?", config.Plural(int(left), "message"), benchPatience, b.queue)
		case err != nil:
			return fmt.Errorf("receive: %w", err)
		}
		receives.add(begin)
		receives.count(len(batch))
		for _, m := range batch {
			take(m)
		}
		left -= int64(len(batch))
	}
	return nil
}

// drain removes what a run left in a queue that it was given.
func (b *benching) drain(ctx context.Context) error {
	left := b.sent.Load() - b.completed.Load()
	for i := 0; left > 0 && i <= max(0, b.flags.sessions-1); i++ {
		at := address{queue: b.queue}
		var r inbox
		var err error
		if b.flags.sessions > 0 {
			r, err = b.app.acceptSession(ctx, &at, new(b.session(i)), azservicebus.ReceiveModeReceiveAndDelete)
		} else {
			r, err = b.app.receiver(ctx, &at, azservicebus.ReceiveModeReceiveAndDelete)
		}
		for err == nil && left > 0 {
			var batch []*azservicebus.ReceivedMessage
			if batch, err = b.app.wait(ctx, r, at, int(min(left, 1000)), 2*time.Second); err == nil && len(batch) == 0 {
				break
			}
			left -= int64(len(batch))
		}
		if err != nil {
			return b.app.about("remove the messages of this run", err)
		}
		_ = r.Close(ctx)
	}
	return nil
}

// watch shows progress until the function that it returns is called.
func (b *benching) watch(what string, n *atomic.Int64, total int) (stop func()) {
	if b.flags.duration > 0 && total == benchMessages {
		total = 0 // not known
	}
	shown := b.app.progress(what, total)
	done, ended := make(chan struct{}), sync.WaitGroup{}
	ended.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				shown.step(int(n.Load()))
			case <-done:
				shown.end()
				return
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}
