package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/spf13/cobra"

	"minibus/config"
)

// purgeFlags are the flags of purge and of dlq purge.
type purgeFlags struct {
	yes    bool
	dryRun *bool
	count  int
	wait   time.Duration
}

func (f *purgeFlags) add(c *cobra.Command) {
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "don't ask")
	f.dryRun = dryRunFlag(c)
	c.Flags().IntVarP(&f.count, "count", "n", 0, "at most so many `messages`, the oldest first (default all)")
	c.Flags().DurationVar(&f.wait, "wait", 2*time.Second, "the entity is empty if no message came in this time")
}

const purgeHelp = `Receives and deletes messages until none comes, and says how many there were. It does not reach
scheduled and deferred messages, nor those that another receiver has locked. It asks first if a person is at the
terminal.`

func (a *app) purgeCommand() *cobra.Command {
	var subQueue subQueueFlags
	f, which := &purgeFlags{}, &filterFlags{}
	c := &cobra.Command{Use: "purge ENTITY", Short: "remove all active messages, or dead letters, and say how many",
		Args: Arguments("ENTITY"),
		Long: purgeHelp + " Of an entity that delivers by session it empties one free\nsession after another. " +
			filterHelp + "\n\n" + addressHelp,
		Example: "  minibus purge orders\n  minibus purge events/audit --dlq --yes"}
	subQueue.add(c)
	f.add(c)
	which.add(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if filter, err := which.filter(cmd); err != nil || filter != nil {
			if err != nil {
				return err
			}
			return a.purgeSome(cmd, args[0], subQueue, f, filter)
		}
		at, err := parseAddress(args[0], subQueue)
		if err != nil {
			return err
		}
		return a.purge(cmd.Context(), at, f)
	}
	return c
}

func (a *app) dlqPurge() *cobra.Command {
	f := &purgeFlags{}
	which := &filterFlags{}
	transfer := false
	c := &cobra.Command{Use: "purge ENTITY", Short: "remove all dead letters, and say how many",
		Args: Arguments("ENTITY"), Long: purgeHelp + " " + filterHelp, Example: "  minibus dlq purge orders"}
	f.add(c)
	which.add(c)
	c.Flags().BoolVar(&transfer, "transfer", false,
		"those of the transfer dead-letter queue, which could not be forwarded")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if filter, err := which.filter(cmd); err != nil || filter != nil {
			if err != nil {
				return err
			}
			return a.purgeSome(cmd, args[0], subQueueFlags{dead: !transfer, transfer: transfer}, f, filter)
		}
		at, err := parseDead(args[0], transfer)
		if err != nil {
			return err
		}
		return a.purge(cmd.Context(), at, f)
	}
	return c
}

// purge removes messages.
func (a *app) purge(ctx context.Context, at address, f *purgeFlags) error {
	if f.count < 0 || f.wait <= 0 {
		return Usage("purge: --count must not be negative, and --wait must be longer than 0")
	}
	if err := a.resolve(ctx, &at); err != nil {
		return err
	}
	if *f.dryRun {
		n, err := a.countActive(ctx, at, f.count)
		if err != nil {
			return err
		}
		return a.wouldDo("purged", at.String(), n, "message", "")
	}
	if err := a.connect(); err != nil {
		return err
	}
	if err := a.confirm(f.yes, "Purge the messages of %s at %s?", at, a.host()); err != nil {
		return err
	}
	shown, purged := a.progress("purged", f.count), 0
	r, err := a.receiver(ctx, &at, azservicebus.ReceiveModeReceiveAndDelete)
	if err == nil {
		err = a.touch(ctx, r)
	}
	if needsSession(err) {
		err = a.purgeSessions(ctx, &at, f, shown, &purged)
	} else if err == nil {
		err = a.drain(ctx, r, at, f, shown, &purged)
	}
	shown.end()
	a.interrupted = fmt.Sprintf(", after %s purged", config.Plural(purged, "message"))
	if err != nil {
		return a.about(fmt.Sprintf("purge %s, after %s purged", at, config.Plural(purged, "message")), err)
	}
	return a.out.done(map[string]any{"entity": at.String(), "purged": purged}, "purged %s from %s",
		config.Plural(purged, "message"), at)
}

// drain removes what the receiver gets.
func (a *app) drain(ctx context.Context, r inbox, at address, f *purgeFlags, shown *progress, purged *int) error {
	defer func() { a.putBack(ctx, r, at, nil, receiveBatch) }()
	for f.count == 0 || *purged < f.count {
		most := 500
		if f.count > 0 {
			most = min(most, f.count-*purged)
		}
		batch, err := a.wait(ctx, r, at, most, f.wait)
		*purged += len(batch)
		shown.step(*purged)
		if err != nil || len(batch) == 0 {
			return err
		}
	}
	return nil
}

// purgeSessions empties one free session after another.
func (a *app) purgeSessions(ctx context.Context, at *address, f *purgeFlags, shown *progress, purged *int) error {
	for f.count == 0 || *purged < f.count {
		waiting, cancel := context.WithTimeout(ctx, f.wait)
		r, err := a.acceptSession(waiting, at, nil, azservicebus.ReceiveModeReceiveAndDelete)
		cancel()
		var sdk *azservicebus.Error
		switch {
		case ctx.Err() != nil:
			return ctx.Err() // the end of the command
		case errors.Is(err, context.DeadlineExceeded), errors.As(err, &sdk) && sdk.Code == azservicebus.CodeTimeout:
			return nil
		case err != nil:
			return a.about("accept a session", err)
		}
		if err := a.drain(ctx, r, *at, f, shown, purged); err != nil {
			return err
		}
	}
	return nil
}
