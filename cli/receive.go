package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/spf13/cobra"

	"minibus/config"
)

// inbox is a receiver, with a session or without.
type inbox interface {
	ReceiveMessages(context.Context, int, *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	CompleteMessage(context.Context, *azservicebus.ReceivedMessage, *azservicebus.CompleteMessageOptions) error
	AbandonMessage(context.Context, *azservicebus.ReceivedMessage, *azservicebus.AbandonMessageOptions) error
	DeferMessage(context.Context, *azservicebus.ReceivedMessage, *azservicebus.DeferMessageOptions) error
	DeadLetterMessage(context.Context, *azservicebus.ReceivedMessage, *azservicebus.DeadLetterOptions) error
	Close(context.Context) error
}

// receiveFlags are the flags of receive.
type receiveFlags struct {
	subQueue                           subQueueFlags
	count                              int
	all                                bool
	wait                               time.Duration
	abandon, deferred, dead, andDelete bool
	reason, description                string
	session                            string
	nextSession                        bool
}

func (a *app) receiveCommand() *cobra.Command {
	f := &receiveFlags{}
	c := &cobra.Command{Use: "receive ENTITY",
		Short: "receive messages, and complete, abandon, defer or dead-letter them", Args: Arguments("ENTITY"),
		Long: `Receives messages, writes them, and only then completes them, so that none is lost if the output fails.
What is received and not yet written when the command is interrupted goes back to the queue.

` + addressHelp + `

The exit code is 5 if there was no message in the time of --wait.`,
		Example: "  minibus receive orders\n  minibus receive orders -n 100 --wait 30s -o jsonl\n" +
			"  minibus receive orders --dead-letter --reason invalid\n" +
			"  minibus receive jobs --next-session --all"}
	f.subQueue.add(c)
	p := c.Flags()
	p.IntVarP(&f.count, "count", "n", 1, "most `messages`")
	p.BoolVar(&f.all, "all", false, "all messages, until none came in the time of --wait")
	p.DurationVar(&f.wait, "wait", 5*time.Second, "how long to wait for a message")
	p.BoolVar(&f.abandon, "abandon", false, "put them back; their delivery count rises")
	p.BoolVar(&f.deferred, "defer", false, "defer them; only who knows their numbers can receive them")
	p.BoolVar(&f.dead, "dead-letter", false, "move them to the dead-letter queue")
	p.StringVar(&f.reason, "reason", "", "with --dead-letter, the `reason`")
	p.StringVar(&f.description, "description", "", "with --dead-letter, what is wrong in `words`")
	p.BoolVar(&f.andDelete, "receive-and-delete", false,
		"let the service delete them as it sends them, without locks; faster, and one may be lost")
	p.StringVar(&f.session, "session", "", "receive from the session with this `id`")
	p.BoolVar(&f.nextSession, "next-session", false, "receive from any free session")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := parseAddress(args[0], f.subQueue)
		if err == nil {
			err = f.check(at)
		}
		if err != nil {
			return err
		}
		return a.receive(cmd.Context(), at, f, given(cmd, "session", &f.session))
	}
	return c
}

func (f *receiveFlags) check(at address) error {
	outcomes := 0
	for _, yes := range []bool{f.abandon, f.deferred, f.dead, f.andDelete} {
		if yes {
			outcomes++
		}
	}
	switch {
	case outcomes > 1:
		return Usage("receive: --abandon, --defer, --dead-letter and --receive-and-delete contradict each other: " +
			"give one")
	case (f.reason != "" || f.description != "") && !f.dead:
		return Usage("receive: --reason and --description belong to --dead-letter")
	case f.session != "" && f.nextSession:
		return Usage("receive: --session and --next-session contradict each other: leave one out")
	case f.count < 1:
		return Usage("--count: found %d; allowed: 1 or more", f.count)
	case f.wait <= 0:
		return Usage("--wait: found %v; allowed: a duration such as 5s", f.wait)
	case f.dead && at.sub != 0:
		return Usage("receive: %s is a dead-letter queue already", at)
	}
	if f.all {
		f.count = math.MaxInt
	}
	return nil
}

func (f *receiveFlags) mode() azservicebus.ReceiveMode {
	if f.andDelete {
		return azservicebus.ReceiveModeReceiveAndDelete
	}
	return azservicebus.ReceiveModePeekLock
}

// open opens the receiver that the flags ask for.
func (a *app) open(ctx context.Context, at *address, f *receiveFlags, session *string) (inbox, error) {
	if session == nil && !f.nextSession {
		return a.connected(ctx, at, f.mode())
	}
	waiting, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	r, err := a.acceptSession(waiting, at, session, f.mode())
	var sdk *azservicebus.Error
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.As(err, &sdk) &&
		sdk.Code == azservicebus.CodeTimeout):
		return nil, failed(exitNothing, "receive from %s: no free session with messages in %v", at, f.wait)
	}
	return nil, a.about("receive from "+at.String(), err)
}

// connected opens a receiver and asks for what does not exist: receiving says nothing of a connection that fails, it
// only waits.
func (a *app) connected(ctx context.Context, at *address,
	mode azservicebus.ReceiveMode) (*azservicebus.Receiver, error) {
	r, err := a.receiver(ctx, at, mode)
	if err != nil {
		return nil, err
	}
	err = a.touch(ctx, r)
	if needsSession(err) {
		return nil, failed(exitFailed,
			"receive from %s: it delivers by session: give --session ID or --next-session", at)
	}
	return r, a.about("receive from "+at.String(), err)
}

// touch connects a receiver: it peeks behind the last message.
func (a *app) touch(ctx context.Context, r *azservicebus.Receiver) error {
	return a.ask(ctx, func(ctx context.Context) error {
		_, err := r.PeekMessages(ctx, 1,
			&azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64(math.MaxInt64))})
		return err
	})
}

// receiveBatch is how many messages are locked at once.
const receiveBatch = 50

// receive receives, writes and settles.
func (a *app) receive(ctx context.Context, at address, f *receiveFlags, session *string) error {
	r, err := a.open(ctx, &at, f, session)
	if err != nil {
		return err
	}
	a.listMessages(at, true)
	done := 0
	defer func() { a.interrupted = fmt.Sprintf(", after %s", config.Plural(done, "message")) }()
	var held []*azservicebus.ReceivedMessage // goes back at the end: before, it would come again
	defer func() { a.putBack(ctx, r, at, held, receiveBatch) }()
	for done < f.count {
		batch, err := a.wait(ctx, r, at, min(f.count-done, receiveBatch), f.wait)
		a.fit(at, batch)
		for i, m := range batch {
			if err := a.take(ctx, r, at, f, m); err != nil {
				held = append(held, batch[i:]...)
				return err
			}
			if f.abandon {
				held = append(held, m)
			}
			done++
		}
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
	}
	if done == 0 {
		return failed(exitNothing, "no message in %s within %v", at, f.wait)
	}
	return nil
}

// wait receives messages; none if the time is over. When the command is interrupted, it returns an error too.
func (a *app) wait(ctx context.Context, r inbox, at address, count int,
	longest time.Duration) ([]*azservicebus.ReceivedMessage, error) {
	waiting, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	var batch []*azservicebus.ReceivedMessage
	var err error
	for len(batch) == 0 && err == nil && waiting.Err() == nil { // nothing without an error is a connection that broke
		batch, err = r.ReceiveMessages(waiting, count, nil)
	}
	switch {
	case ctx.Err() != nil:
		return batch, ctx.Err() // the end of the command
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		return batch, nil
	}
	return nil, a.about("receive from "+at.String(), err)
}

// putBack closes the receiver and unlocks messages, also after an interrupt. The receiver has credit left for more
// messages, so many at most, so it goes first and another one, without credit, unlocks them by their tokens. Else
// they would come again at once, and be locked.
func (a *app) putBack(ctx context.Context, r inbox, at address, messages []*azservicebus.ReceivedMessage, credit int) {
	interrupted := ctx.Err() != nil
	ctx, cancel := a.parting(ctx)
	defer cancel()
	if interrupted {
		messages = append(messages, late(ctx, r, credit)...)
	}
	if _, session := r.(*azservicebus.SessionReceiver); session {
		for _, m := range messages {
			_ = r.AbandonMessage(ctx, m, nil)
		}
		_ = r.Close(ctx) // unlocks what came again
		return
	}
	_ = r.Close(ctx)
	if len(messages) == 0 {
		return
	}
	other, err := a.receiver(ctx, &at, azservicebus.ReceiveModePeekLock)
	for _, m := range messages {
		var sdk *azservicebus.Error
		if err == nil {
			err = other.AbandonMessage(ctx, &azservicebus.ReceivedMessage{LockToken: m.LockToken}, nil)
		}
		if errors.As(err, &sdk) && sdk.Code == azservicebus.CodeLockLost {
			err = nil // it is not locked by this command any more
		}
	}
	if err != nil {
		a.note("some messages stay locked until their locks end: %s", a.redact(a.explain(err).text))
	}
}

// lateness is how long after the one before a message may come that the service had sent before an interrupt.
const lateness = 250 * time.Millisecond

// late receives what the service sends for the credit of a receive that was interrupted. A receiver that is closed
// without it leaves these messages locked.
func late(ctx context.Context, r inbox, credit int) (messages []*azservicebus.ReceivedMessage) {
	for range credit {
		waiting, cancel := context.WithTimeout(ctx, lateness)
		batch, err := r.ReceiveMessages(waiting, 1, nil) // gives credit only if there is none
		cancel()
		if err != nil || len(batch) == 0 {
			return messages
		}
		messages = append(messages, batch...)
	}
	return messages
}

// take writes a message, then settles it.
func (a *app) take(ctx context.Context, r inbox, at address, f *receiveFlags, m *azservicebus.ReceivedMessage) error {
	if err := ctx.Err(); err != nil && !f.andDelete {
		return err // the end of the command
	}
	if err := a.addMessage(at, messageOf(m)); err != nil {
		return err
	}
	settling, cancel := a.parting(ctx)
	defer cancel()
	var err error
	switch {
	case f.andDelete, f.abandon:
		return nil
	case f.deferred:
		err = r.DeferMessage(settling, m, nil)
	case f.dead:
		err = r.DeadLetterMessage(settling, m,
			&azservicebus.DeadLetterOptions{Reason: notEmpty(f.reason), ErrorDescription: notEmpty(f.description)})
	default:
		err = r.CompleteMessage(settling, m, nil)
	}
	return a.about(fmt.Sprintf("settle message %s of %s", number(m.SequenceNumber), at), err)
}

func notEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
