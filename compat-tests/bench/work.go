package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/go-amqp"
)

// pendingSend is a transfer without an outcome yet.
type pendingSend struct {
	receipt amqp.SendReceipt
	begin   time.Time
}

func (r *runner) newSender(ctx context.Context, c *connection) (*amqp.Sender, error) {
	sender, err := c.session.NewSender(ctx, r.options.target, nil)
	if err != nil {
		return nil, fmt.Errorf("attach sender to %s: %w", r.options.target, err)
	}
	return sender, nil
}

func (r *runner) newMessage() *amqp.Message {
	m := amqp.NewMessage(r.body)
	m.Header = &amqp.MessageHeader{Durable: !r.options.transient}
	r.dress(m)
	return m
}

// send keeps the connection's share of transfers in flight; a second goroutine collects outcomes in order.
func (r *runner) send(ctx context.Context, c *connection) (series, error) {
	sender, err := r.newSender(ctx, c)
	if err != nil {
		return series{}, err
	}
	pending := make(chan pendingSend, r.share()-1)
	collected := make(chan error, 1)
	var times series
	go func() { collected <- times.collect(ctx, pending) }()
	var sendErr error
	for sendErr == nil && r.maySend(ctx) && r.toSend.take() {
		begin := time.Now()
		var receipt amqp.SendReceipt
		if receipt, sendErr = sender.SendWithReceipt(ctx, r.newMessage(), nil); sendErr == nil {
			pending <- pendingSend{receipt, begin}
		}
	}
	close(pending)
	if err := <-collected; err != nil {
		return times, err
	}
	if sendErr != nil && !ended(ctx, sendErr) {
		return times, fmt.Errorf("send: %w", sendErr)
	}
	return times, nil
}

// collect waits for each outcome. After an error it only empties the channel, so that the sender never blocks.
func (s *series) collect(ctx context.Context, pending <-chan pendingSend) error {
	var failure error
	for p := range pending {
		if failure != nil {
			continue
		}
		state, err := p.receipt.Wait(ctx)
		switch _, accepted := state.(*amqp.StateAccepted); {
		case err != nil:
			failure = fmt.Errorf("wait for the outcome of a send: %w", err)
		case !accepted:
			failure = fmt.Errorf("a send was answered with %T, not accepted", state)
		default:
			s.add(time.Since(p.begin))
		}
	}
	if ended(ctx, failure) {
		return nil
	}
	return failure
}

// share returns one connection's part of the operations in flight.
func (r *runner) share() int { return max(1, r.options.inflight/r.options.connections) }

func (r *runner) newReceiver(ctx context.Context, c *connection, credit int) (*amqp.Receiver, error) {
	mode := amqp.ReceiverSettleModeSecond
	if r.options.forget {
		mode = amqp.ReceiverSettleModeFirst
	}
	source := strings.ReplaceAll(r.options.source, "%d", strconv.Itoa(c.number))
	receiver, err := c.session.NewReceiver(ctx, source, &amqp.ReceiverOptions{
		Credit: -1, SettlementMode: &mode, SourceDurability: amqp.DurabilityUnsettledState,
	})
	if err != nil {
		return nil, fmt.Errorf("attach receiver to %s: %w", source, err)
	}
	if err := receiver.IssueCredit(uint32(credit)); err != nil {
		return nil, fmt.Errorf("grant credit: %w", err)
	}
	return receiver, nil
}

// A creditor grants credit again for accepted messages, a quarter of the window at a time, as SDKs do.
type creditor struct {
	receiver *amqp.Receiver
	step     int64
	owed     atomic.Int64
}

func (c *creditor) accepted() error {
	if c.owed.Add(1)%c.step != 0 {
		return nil
	}
	if err := c.receiver.IssueCredit(uint32(c.step)); err != nil {
		return fmt.Errorf("grant credit: %w", err)
	}
	return nil
}

// receive takes and accepts messages, as many at a time as the connection's share, until a worker calls stop. Any
// worker of any connection may take the last message, so the count of accepted messages ends them, not a permit to
// receive: a message may wait in the buffer of one connection while workers of another one are idle. The series holds
// the time that each accept took.
func (r *runner) receive(ctx context.Context, stop context.CancelFunc, c *connection) (series, error) {
	receiver, err := r.newReceiver(ctx, c, r.share())
	if err != nil {
		return series{}, err
	}
	workers := r.share()
	if r.options.forget {
		workers = 1
	}
	credit := &creditor{receiver: receiver, step: max(1, int64(r.share()/4))}
	all := make([]series, workers)
	failures := make(chan error, workers)
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() { failures <- r.takeAndAccept(ctx, stop, credit, &all[i]) })
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			return series{}, err
		}
	}
	return merge("receive", all), nil
}

func (r *runner) takeAndAccept(ctx context.Context, stop context.CancelFunc, credit *creditor, times *series) error {
	for ctx.Err() == nil {
		m, err := credit.receiver.Receive(ctx, nil)
		if ended(ctx, err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		begin := time.Now()
		if err := credit.receiver.AcceptMessage(ctx, m); ended(ctx, err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		times.add(time.Since(begin))
		if r.accepted() {
			stop()
		}
		if err := credit.accepted(); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// loop measures single messages, one after another, on links that are there already.
func (r *runner) loop(ctx context.Context) (result, error) {
	c, err := r.connect(ctx)
	if err != nil {
		return result{}, err
	}
	defer c.conn.Close()
	var (
		sender   *amqp.Sender
		receiver *amqp.Receiver
	)
	attach := func() (err error) {
		if sender, err = r.newSender(ctx, c); err == nil {
			receiver, err = r.newReceiver(ctx, c, 1)
		}
		return err
	}
	return r.measure(attach, func() ([]series, error) { return r.oneAfterAnother(ctx, sender, receiver) })
}

// oneAfterAnother sends, receives and accepts single messages. The receiver's credit is granted before the send, as an
// application that already waits does.
func (r *runner) oneAfterAnother(ctx context.Context, sender *amqp.Sender, receiver *amqp.Receiver) ([]series, error) {
	send, receive, accept, total := series{name: "send"}, series{name: "receive"}, series{name: "accept"}, series{name: "total"}
	for r.toSend.take() {
		times, err := r.oneMessage(ctx, sender, receiver)
		if ended(ctx, err) {
			break
		}
		if err != nil {
			return nil, err
		}
		send.add(times[1].Sub(times[0]))
		receive.add(times[2].Sub(times[1]))
		accept.add(times[3].Sub(times[2]))
		total.add(times[3].Sub(times[0]))
		time.Sleep(r.options.pause)
	}
	return []series{send, receive, accept, total}, nil
}

func (r *runner) oneMessage(ctx context.Context, sender *amqp.Sender, receiver *amqp.Receiver) (times [4]time.Time, err error) {
	times[0] = time.Now()
	if err := sender.Send(ctx, r.newMessage(), nil); err != nil {
		return times, fmt.Errorf("send: %w", err)
	}
	times[1] = time.Now()
	m, err := receiver.Receive(ctx, nil)
	if err != nil {
		return times, fmt.Errorf("receive: %w", err)
	}
	times[2] = time.Now()
	if err := receiver.AcceptMessage(ctx, m); err != nil {
		return times, fmt.Errorf("accept: %w", err)
	}
	times[3] = time.Now()
	if err := receiver.IssueCredit(1); err != nil {
		return times, fmt.Errorf("grant credit: %w", err)
	}
	return times, nil
}
