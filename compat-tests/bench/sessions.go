package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/go-amqp"
)

// sessionFilter asks for the next session that has messages, in the form of the Go SDK.
const (
	sessionFilter     = "com.microsoft:session-filter"
	sessionFilterCode = 0x137000000C
)

// dress gives a message what the options ask for: a session, an id, a due time. Messages go to the sessions in turn,
// and each has its place in its session.
func (r *runner) dress(m *amqp.Message) {
	o := r.options
	m.ApplicationProperties = o.properties
	if o.sessions == 0 && !o.ids && o.delay == 0 {
		return
	}
	n := r.made.Add(1) - 1
	m.Properties = new(amqp.MessageProperties)
	if o.sessions > 0 {
		session, place := fmt.Sprintf("session-%d", n%o.sessions), uint32(n/o.sessions)
		m.Properties.GroupID, m.Properties.GroupSequence = &session, &place
	}
	if o.ids {
		m.Properties.MessageID = fmt.Sprintf("%d-%d", r.began.UnixNano(), n)
	}
	if o.delay > 0 {
		m.Annotations = amqp.Annotations{"x-opt-scheduled-enqueue-time": time.Now().Add(o.delay)}
	}
}

// drain takes one session after another until all are taken, with several receivers at once, and checks the order of
// each session's messages. The series hold how long it took to accept a message, and a session.
func (r *runner) drain(ctx context.Context, connections []*connection) ([]series, error) {
	r.toOpen.set(r.options.sessions)
	var (
		group    sync.WaitGroup
		sessions = make([]series, r.options.receivers)
		messages = make([]series, r.options.receivers)
		failures = make([]error, r.options.receivers)
	)
	for i := range r.options.receivers {
		c := connections[i%len(connections)]
		group.Go(func() { failures[i] = r.drainSome(ctx, c, &sessions[i], &messages[i]) })
	}
	group.Wait()
	return []series{merge("receive", messages), merge("session", sessions)}, errors.Join(failures...)
}

func (r *runner) drainSome(ctx context.Context, c *connection, sessions, messages *series) error {
	session, err := c.conn.NewSession(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin session: %w", err)
	}
	for r.toOpen.take() {
		err := r.drainOne(ctx, session, sessions, messages)
		if ended(ctx, err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) drainOne(ctx context.Context, session *amqp.Session, sessions, messages *series) error {
	mode := amqp.ReceiverSettleModeSecond
	begin := time.Now()
	receiver, err := session.NewReceiver(ctx, r.options.source, &amqp.ReceiverOptions{
		Credit: -1, SettlementMode: &mode, Filters: []amqp.LinkFilter{amqp.NewLinkFilter(sessionFilter, sessionFilterCode, nil)},
	})
	if err != nil {
		return fmt.Errorf("accept the next session: %w", err)
	}
	sessions.add(time.Since(begin))
	each := r.options.count / r.options.sessions
	if err := receiver.IssueCredit(uint32(each)); err != nil {
		return fmt.Errorf("grant credit: %w", err)
	}
	for place := range each {
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if m.Properties == nil || m.Properties.GroupSequence == nil || int64(*m.Properties.GroupSequence) != place {
			return fmt.Errorf("message %d of session %v is out of order: %+v", place, receiver.LinkSourceFilterValue(sessionFilter), m.Properties)
		}
		begin := time.Now()
		if err := receiver.AcceptMessage(ctx, m); err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		messages.add(time.Since(begin))
	}
	if err := receiver.Close(ctx); err != nil {
		return fmt.Errorf("close session: %w", err)
	}
	return nil
}
