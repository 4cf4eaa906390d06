package cli

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) tailCommand() *cobra.Command {
	var (
		subQueue subQueueFlags
		count    int
		follow   bool
		interval time.Duration
		session  string
	)
	c := &cobra.Command{Use: "tail ENTITY", Short: "show the newest messages, and with -f those that come", Args: Arguments("ENTITY"),
		Long:    "Shows the newest messages, and with -f each new one until it is interrupted. It peeks: it locks none, and a message that is received at once may be missed.\n\n" + addressHelp,
		Example: "  minibus tail orders -f\n  minibus tail orders --dlq -f -n 0 -o jsonl"}
	subQueue.add(c)
	c.Flags().IntVarP(&count, "count", "n", 10, "`messages` that are there already")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new messages")
	c.Flags().DurationVar(&interval, "interval", time.Second, "with -f, how long to wait between looks")
	c.Flags().StringVar(&session, "session", "", "only this session, by its `id`; it is locked while the command reads")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := parseAddress(args[0], subQueue)
		if err != nil {
			return err
		}
		if count < 0 || interval < 10*time.Millisecond {
			return Usage("tail: --count must not be negative, and --interval must be 10ms or more")
		}
		p, err := a.peeker(cmd.Context(), at, given(cmd, "session", &session))
		if err != nil {
			return err
		}
		a.listMessages(at, follow)
		a.quiet = follow
		return a.tail(cmd.Context(), p, count, follow, interval)
	}
	return c
}

// tail shows the last messages, and the next ones.
func (a *app) tail(ctx context.Context, p *peeker, count int, follow bool, interval time.Duration) error {
	last, err := p.last(ctx, count)
	if err != nil {
		return err
	}
	for _, m := range last {
		if err := a.addMessage(p.at, m); err != nil {
			return err
		}
	}
	if len(last) == 0 && count > 0 {
		a.note("no messages in %s", p.at)
	}
	for follow {
		err := p.each(ctx, math.MaxInt, func(m *message) error { return a.addMessage(p.at, *m) })
		if err == nil {
			err = rest(ctx, interval)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// last returns the last messages, and goes on behind them. Peeking goes forward only, so it searches for the end by jumps that double, then by
// halves.
func (p *peeker) last(ctx context.Context, count int) ([]message, error) {
	first, end, err := p.ends(ctx)
	if err != nil || end < first {
		return nil, err
	}
	var found []message
	for back := int64(count); count > 0; back *= 2 { // there may be gaps
		found = nil
		p.from = max(first, end-back+1)
		begin := p.from
		err := p.each(ctx, math.MaxInt, func(m *message) error {
			found = append(found, *m)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(found) >= count || begin == first {
			break
		}
	}
	if count == 0 {
		p.from = end + 1
	}
	return found[max(0, len(found)-count):], nil
}

// ends returns the numbers of the first and the last message; the last is smaller if there is none.
func (p *peeker) ends(ctx context.Context) (first, last int64, err error) {
	at := func(number int64) (int64, bool, error) {
		p.from = number
		found, err := p.next(ctx, 1)
		if err != nil || len(found) == 0 || found[0].SequenceNumber == nil {
			return 0, false, err
		}
		return *found[0].SequenceNumber, true, nil
	}
	first, some, err := at(0)
	if err != nil || !some {
		p.from = 0
		return 0, -1, err
	}
	last = first
	step := int64(1)
	for ; step < math.MaxInt64/4; step *= 2 {
		found, some, err := at(last + step)
		if err != nil {
			return 0, 0, err
		}
		if !some {
			break
		}
		last = found
	}
	for ; step >= 1; step /= 2 {
		found, some, err := at(last + step)
		if err != nil {
			return 0, 0, err
		}
		if some {
			last = found
		}
	}
	return first, last, nil
}
