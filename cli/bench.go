package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

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
	c := &cobra.Command{Use: "bench [QUEUE]", Short: "measure how fast the namespace takes and gives messages", Args: Arguments("[QUEUE]"),
		Long: `Sends messages with Microsoft's SDK, one by one and --in-flight of them at a time, then receives and completes them, and prints rates and latencies: of a send and a completion
how long its answer took, of a receive how long a call waited that returned messages. The client is part of what it measures.

It makes a queue and removes it at the end, also when it is interrupted. QUEUE names one that is there instead. It has to be empty, since all of its messages are completed.
Making a queue, and a look whether one is empty, need a key with the Manage right. In Azure each message is charged for.`,
		Example: "  minibus bench\n  minibus bench --messages 1 --size 1048576\n  minibus bench --in-flight 1 --duration 10s\n  minibus bench --sessions 100 -o json"}
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
		}{{"messages", f.messages, 1, benchMessages}, {"size", f.size, 0, benchSize}, {"in-flight", f.inFlight, 1, benchInFlight}, {"sessions", f.sessions, 0, benchSessions}} {
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
		_, err := client.CreateQueue(context.WithoutCancel(ctx), b.queue, &admin.CreateQueueOptions{Properties: &admin.QueueProperties{
			RequiresSession: new(b.flags.sessions > 0), AutoDeleteOnIdle: new("PT1H") /* should the command be killed */, MaxDeliveryCount: new(int32(1000)),
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
		return nil, failed(exitNotFound, "there is no queue %s; %s", b.queue, cureMissing)
	case state.ActiveMessageCount > 0:
		return nil, failed(exitFailed, "%s has %s, which bench would complete: give an empty queue, or none", b.queue, config.Plural(int(state.ActiveMessageCount), "message"))
	case (b.flags.sessions > 0) != (q.RequiresSession != nil && *q.RequiresSession):
		return nil, Usage("bench: %s delivers by session if, and only if, --sessions is given", b.queue)
	}
	return b.drain, nil
}
