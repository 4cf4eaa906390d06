package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/go-amqp"
)

// A runner drives one run. Workers share its budget of messages and its deadline.
type runner struct {
	options options
	body    []byte
	toSend  budget
	taken   atomic.Int64
	toOpen  budget // sessions
	began   time.Time
	made    atomic.Int64  // messages
	permits chan struct{} // with -level: permits to send, one for each accepted message; nil: no such limit
}

// budget counts the messages that may still be sent. A negative total means no limit.
type budget struct{ left atomic.Int64 }

func (b *budget) set(count int64) {
	if count <= 0 {
		count = -1
	}
	b.left.Store(count)
}

func (b *budget) take() bool {
	for {
		left := b.left.Load()
		if left < 0 {
			return true
		}
		if left == 0 {
			return false
		}
		if b.left.CompareAndSwap(left, left-1) {
			return true
		}
	}
}

// run does what the options say and returns the figures.
func run(ctx context.Context, o options) (result, error) {
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	r := &runner{options: o, body: make([]byte, o.size), began: time.Now()}
	for i := range r.body {
		r.body[i] = byte(i)
	}
	r.toSend.set(o.count)
	if o.level && o.mode == "both" {
		r.permits = make(chan struct{}, o.inflight)
		for range o.inflight {
			r.permits <- struct{}{}
		}
	}
	nothing := func() error { return nil }
	switch {
	case o.mode == "idle":
		return r.measure(nothing, func() ([]series, error) { return r.idle(ctx) })
	case o.mode == "echo":
		return r.measure(nothing, func() ([]series, error) { return r.echo(ctx) })
	case o.lean:
		return r.leanRun(ctx)
	case o.mode == "latency":
		return r.loop(ctx)
	}
	var senders, receivers []*connection
	connect := func() (err error) {
		if o.mode == "send" || o.mode == "both" {
			senders, err = r.connectAll(ctx)
		}
		if err == nil && (o.mode == "receive" || o.mode == "both" || o.mode == "sessions") {
			receivers, err = r.connectAll(ctx)
		}
		return err
	}
	defer func() { closeAll(senders); closeAll(receivers) }()
	if o.mode == "sessions" {
		return r.measure(connect, func() ([]series, error) { return r.drain(ctx, receivers) })
	}
	return r.measure(connect, func() ([]series, error) { return r.load(ctx, senders, receivers) })
}

// measure runs the work and reads the figures of the broker's process before and after it.
func (r *runner) measure(connect func() error, work func() ([]series, error)) (result, error) {
	if err := connect(); err != nil {
		return result{}, err
	}
	before, err := r.figures()
	if err != nil {
		return result{}, err
	}
	watching := startReaders(context.Background(), r.options.readers, r.options.target)
	begin := time.Now()
	all, err := work()
	elapsed := time.Since(begin)
	if failed := watching.end(); err == nil {
		err = failed
	}
	if err != nil {
		return result{}, err
	}
	after, err := r.figures()
	if err != nil {
		return result{}, err
	}
	return newResult(r.options, elapsed, all, before, after), nil
}

// load runs senders and receivers side by side.
func (r *runner) load(ctx context.Context, senders, receivers []*connection) ([]series, error) {
	sends := make([]series, len(senders))
	takes := make([]series, len(receivers))
	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		failures []error
	)
	start := func(work func() error) {
		group.Go(func() {
			if err := work(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			}
		})
	}
	for i, c := range senders {
		start(func() (err error) { sends[i], err = r.send(ctx, c); return err })
	}
	taking, stop := context.WithCancel(ctx)
	defer stop()
	for i, c := range receivers {
		start(func() (err error) { takes[i], err = r.receive(taking, stop, c); return err })
	}
	group.Wait()
	var all []series
	if len(sends) > 0 {
		all = append(all, merge("send", sends))
	}
	if len(takes) > 0 {
		all = append(all, merge("receive", takes))
	}
	return all, errors.Join(failures...)
}

// maySend waits for a permit if sends follow accepts.
func (r *runner) maySend(ctx context.Context) bool {
	if r.permits == nil {
		return true
	}
	select {
	case <-r.permits:
		return true
	case <-ctx.Done():
		return false
	}
}

// accepted counts a message and gives a permit, or drops it if enough are there. It reports whether the message was
// the last one wanted.
func (r *runner) accepted() (last bool) {
	select {
	case r.permits <- struct{}{}:
	default:
	}
	return r.taken.Add(1) == r.options.count
}

// ended reports whether an error only means that the time is up. The client library watches the deadline by itself and
// may notice it a moment before the context does.
func ended(ctx context.Context, err error) bool {
	var refused *amqp.Error
	switch {
	case errors.As(err, &refused) && refused.Condition == amqp.ErrCondTransferLimitExceeded:
		return ctx.Err() != nil // the library's error if the time is up while it waits for credit
	case errors.Is(err, context.Canceled):
		return ctx.Err() != nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded): // the library's, or its socket's
		deadline, ok := ctx.Deadline()
		return ok && time.Until(deadline) < 100*time.Millisecond
	default:
		return false
	}
}

// connection is an AMQP connection with its only session.
type connection struct {
	conn    *amqp.Conn
	session *amqp.Session
	number  int // among those of its direction, from 0
}

func (r *runner) connect(ctx context.Context) (*connection, error) {
	sasl := amqp.SASLTypeAnonymous()
	if r.options.user != "" {
		sasl = amqp.SASLTypePlain(r.options.user, r.options.password)
	}
	conn, err := amqp.Dial(ctx, r.options.url, &amqp.ConnOptions{SASLType: sasl})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", r.options.url, err)
	}
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("begin session: %w", err)
	}
	return &connection{conn: conn, session: session}, nil
}

func (r *runner) connectAll(ctx context.Context) ([]*connection, error) {
	var all []*connection
	for i := range r.options.connections {
		c, err := r.connect(ctx)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		c.number = i
		all = append(all, c)
	}
	return all, nil
}

// idle opens connections and holds them until the time is up. The series holds the time that each took to open.
func (r *runner) idle(ctx context.Context) ([]series, error) {
	opened := series{name: "open"}
	var all []*connection
	for range r.options.connections {
		begin := time.Now()
		c, err := r.connect(ctx)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		opened.add(time.Since(begin))
		all = append(all, c)
	}
	<-ctx.Done()
	// The end of the process closes them, after the measurement: memory is read while they are open.
	return []series{opened}, nil
}

func closeAll(all []*connection) {
	for _, c := range all {
		c.conn.Close()
	}
}
