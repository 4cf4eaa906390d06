package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"minibus/config"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	messages, size, inFlight, sessions int
	duration                           time.Duration
}

// The most that bench takes. A latency of each message is kept in memory.
const (
	benchMessages = 10_000_000
	benchSize     = 100 << 20
	benchInFlight = 2000
	benchSessions = 100_000
)

func (a *app) benchCommand() *cobra.Command {
	f := &benchFlags{}
	c := &cobra.Command{Use: "bench [QUEUE]", Short: "measure how fast the namespace takes and gives messages",
		Args: Arguments("[QUEUE]"),
		Long: `Sends messages with Microsoft's SDK, one by one and --in-flight of them at a time, then receives and
completes them, and prints rates and latencies: of a send and a completion how long its answer took, of a receive how
long a call waited that returned messages. The client is part of what it measures.

It makes a queue and removes it at the end, also when it is interrupted. QUEUE names one that is there instead. It has
to be empty, since all of its messages are completed. Making a queue, and a look whether one is empty, need a key with
the Manage right. In Azure each message is charged for.`,
		Example: "  minibus bench\n  minibus bench --messages 1 --size 1048576\n" +
			"  minibus bench --in-flight 1 --duration 10s\n  minibus bench --sessions 100 -o json"}
	p := c.Flags()
	p.IntVarP(&f.messages, "messages", "n", 10000, "`number` of messages; with --duration no limit unless it is given")
	p.IntVar(&f.size, "size", 1024, "`bytes` of a body")
	p.IntVar(&f.inFlight, "in-flight", 100, "`messages` that are sent, and completed, at a time")
	p.IntVar(&f.sessions, "sessions", 0, "spread the messages over so many `sessions`")
	p.DurationVar(&f.duration, "duration", 0, "send for so long")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if f.duration > 0 && !cmd.Flags().Changed("messages") {
			f.messages = benchMessages
		}
		for _, n := range []struct {
			flag               string
			found, least, most int
		}{{"messages", f.messages, 1, benchMessages}, {"size", f.size, 0, benchSize},
			{"in-flight", f.inFlight, 1, benchInFlight}, {"sessions", f.sessions, 0, benchSessions}} {
			if n.found < n.least || n.found > n.most {
				return Usage("--%s: found %d; allowed: %d to %d", n.flag, n.found, n.least, n.most)
			}
		}
		if f.duration < 0 {
			return Usage("--duration: found %v; allowed: a duration such as 10s", f.duration)
		}
		return a.bench(cmd.Context(), args, f)
	}
	return c
}

// bench measures, and leaves nothing behind.
func (a *app) bench(ctx context.Context, args []string, f *benchFlags) (err error) {
	b := &benching{app: a, flags: f, body: make([]byte, f.size), run: uuid.NewString()[:8]}
	leave, err := b.prepare(ctx, args)
	if err != nil {
		return err
	}
	defer func() {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), 6*closing)
		defer cancel()
		if failed := leave(cleaning); failed != nil {
			a.interrupted = fmt.Sprintf("; %s may have messages of this run", b.queue)
			if err == nil {
				err = failed
			} else {
				a.note("%v", failed)
			}
		}
	}()
	for i := range b.body {
		b.body[i] = "0123456789abcdef"[i%16]
	}
	a.interrupted = ", and cleaned up"
	measured, err := b.measure(ctx)
	if err != nil {
		return a.about("bench "+b.queue, err)
	}
	return a.benchResult(measured)
}

// prepare makes a queue, or looks whether the one that is given is fit. It returns what cleans up.
func (b *benching) prepare(ctx context.Context, args []string) (leave func(context.Context) error, err error) {
	client, err := b.app.entities()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		b.queue = "minibus-bench-" + b.run
		_, err := client.CreateQueue(context.WithoutCancel(ctx), b.queue,
			&admin.CreateQueueOptions{Properties: &admin.QueueProperties{
				RequiresSession:  new(b.flags.sessions > 0),
				AutoDeleteOnIdle: new("PT1H") /* should the command be killed */, MaxDeliveryCount: new(int32(1000)),
			}})
		return func(ctx context.Context) error {
			_, err := client.DeleteQueue(ctx, b.queue, nil)
			return b.app.about("remove the queue "+b.queue, err)
		}, b.app.about("make a queue", err)
	}
	if b.queue, err = clean(args[0]); err != nil {
		return nil, err
	}
	q, err := client.GetQueue(ctx, b.queue, nil)
	if err != nil {
		return nil, b.app.about("look at "+b.queue, err)
	}
	state, err := client.GetQueueRuntimeProperties(ctx, b.queue, nil)
	switch {
	case err != nil:
		return nil, b.app.about("look at "+b.queue, err)
	case q == nil || state == nil:
		return nil, failed(exitNotFound, "there is no queue %s; %s", b.queue, fixMissing)
	case state.ActiveMessageCount > 0:
		return nil, failed(exitFailed, "%s has %s, which bench would complete: give an empty queue, or none",
			b.queue, config.Plural(int(state.ActiveMessageCount), "message"))
	}
	bySession := q.RequiresSession != nil && *q.RequiresSession
	switch {
	case bySession && b.flags.sessions == 0:
		return nil, Usage("bench: %s delivers by session: give --sessions", b.queue)
	case !bySession && b.flags.sessions > 0:
		return nil, Usage("bench: %s does not deliver by session: leave --sessions out", b.queue)
	}
	return b.drain, nil
}

// benchPatience is how long a receive of bench may wait for a message that was sent.
const benchPatience = 30 * time.Second

// benching is a run of bench. Messages are sent and completed to the end when the command is interrupted, so that it
// knows what is left.
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
	return []measurement{sends.measured("send", b.flags.size), receives.measured("receive", b.flags.size),
		completions.measured("complete", b.flags.size)}, nil
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
func (b *benching) receiveFrom(ctx context.Context, r inbox, count int64, inFlight int,
	receives, completions *latencies) error {
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
func (b *benching) receive(ctx context.Context, r inbox, count int64, inFlight int, receives *latencies,
	take func(*azservicebus.ReceivedMessage)) error {
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
			return failed(exitFailed, "%s did not come within %v; does another client receive from %s?",
				config.Plural(int(left), "message"), benchPatience, b.queue)
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

// latencies collects how long an operation took.
type latencies struct {
	begin time.Time

	mu       sync.Mutex
	end      time.Time
	all      []time.Duration
	messages int // if an operation has several
}

func newLatencies() *latencies { return &latencies{begin: time.Now()} }

// add notes an operation that began then and ends now.
func (l *latencies) add(begin time.Time) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, now.Sub(begin))
	l.end = now
}

// count adds messages of an operation that has several.
func (l *latencies) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages += n
}

// measurement has the figures of one operation.
type measurement struct {
	Operation         string  `json:"operation"`
	Messages          int     `json:"messages"`
	Seconds           float64 `json:"seconds"`
	PerSecond         float64 `json:"perSecond"`
	MebibytePerSecond float64 `json:"mebibytePerSecond"`
	P50Millis         float64 `json:"p50Millis"`
	P99Millis         float64 `json:"p99Millis"`
	MaxMillis         float64 `json:"maxMillis"`
}

// measured returns what was found, for bodies of a size.
func (l *latencies) measured(operation string, size int) measurement {
	m := measurement{Operation: operation, Messages: len(l.all)}
	if len(l.all) == 0 {
		return m
	}
	if l.messages > 0 {
		m.Messages = l.messages
	}
	slices.Sort(l.all)
	m.Seconds = l.end.Sub(l.begin).Seconds()
	m.PerSecond = float64(m.Messages) / m.Seconds
	m.MebibytePerSecond = m.PerSecond * float64(size) / (1 << 20)
	m.P50Millis = l.millis(50)
	m.P99Millis = l.millis(99)
	m.MaxMillis = l.millis(100)
	return m
}

// millis returns a percentile of the latencies, which are sorted.
func (l *latencies) millis(percent int) float64 {
	i := (len(l.all)*percent + 99) / 100
	return float64(l.all[max(i, 1)-1].Microseconds()) / 1000
}

// benchResult prints what was found.
func (a *app) benchResult(all []measurement) error {
	a.out.list("OPERATION", "MESSAGES", "SECONDS", "PER SECOND", "MIB/S", "P50 MS", "P99 MS", "MAX MS")
	for _, m := range all {
		if err := a.out.add(m, m.Operation, fmt.Sprint(m.Messages), fmt.Sprintf("%.2f", m.Seconds),
			fmt.Sprintf("%.0f", m.PerSecond), fmt.Sprintf("%.2f", m.MebibytePerSecond),
			fmt.Sprintf("%.2f", m.P50Millis), fmt.Sprintf("%.2f", m.P99Millis),
			fmt.Sprintf("%.2f", m.MaxMillis)); err != nil {
			return err
		}
	}
	return nil
}
