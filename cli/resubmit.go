package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"minibus/config"
	"minibus/internal/amqp/messagejson"
	"minibus/mgmt/control/api"
)

// resubmitFlags are the flags of dlq resubmit.
type resubmitFlags struct {
	to, reason, ttl string
	sql, text       string
	edit            editFlags
	count           int
	numbers         []int64
	newIDs          bool
	transfer        bool
	dryRun          *bool
	wait            time.Duration
}

func (a *app) dlqResubmit() *cobra.Command {
	f := &resubmitFlags{}
	c := &cobra.Command{Use: "resubmit ENTITY", Short: "send dead letters again, to their entity or to another one",
		Args: Arguments("ENTITY"),
		Long: `Takes the dead letters that are there when it begins, those of --reason or --number if given. It sends
each one as it was, without the two properties that say why it was dead-lettered, and completes the dead letter once
the service has the copy. If it is interrupted, no message is lost; the last ones may be there twice, with the same
id. The dead letters of a subscription go to its topic, so that all its subscriptions get them; --to names another
queue or topic.

A copy keeps its id, unless --new-ids is given: an entity that detects duplicates drops a copy whose id it still
remembers. The time to live starts again.

With --where, --text, --set, --unset, --subject, --body, --body-file or --strip=false a Minibus moves the messages
itself, in the background, each in one step; Ctrl-C ends that. A namespace in Azure can't.`,
		Example: "  minibus dlq resubmit orders\n  minibus dlq resubmit orders --reason MaxDeliveryCountExceeded\n" +
			"  minibus dlq resubmit events/audit --to audit-repair\n" +
			"  minibus dlq resubmit orders --number 12 --set size=int:5 --unset draft --body-file mended.json"}
	p := c.Flags()
	p.StringVar(&f.to, "to", "",
		"the queue or topic that gets them (default the entity, or the topic of a subscription)")
	p.StringVar(&f.reason, "reason", "", "only those with this `reason`")
	p.StringVar(&f.sql, "where", "",
		"only those that this SQL `filter` selects; only with a Minibus, which moves them itself")
	p.StringVar(&f.text, "text", "",
		"only those with this `text` in the body or a property; only with a Minibus, which moves them itself")
	f.edit.add(c)
	p.Int64SliceVar(&f.numbers, "number", nil, "only those with these sequence `numbers`")
	p.IntVarP(&f.count, "count", "n", 0, "at most so many `messages`, the oldest first (default all)")
	p.BoolVar(&f.newIDs, "new-ids", false, "give each copy a new message id")
	p.StringVar(&f.ttl, "ttl", "", "give each copy this time to live, a `duration`")
	p.BoolVar(&f.transfer, "transfer", false, "those of the transfer dead-letter queue, which could not be forwarded")
	f.dryRun = dryRunFlag(c)
	p.DurationVar(&f.wait, "wait", 5*time.Second, "how long to wait for dead letters that others have locked")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := parseDead(args[0], f.transfer)
		if err != nil {
			return err
		}
		if f.count < 0 || f.wait <= 0 {
			return Usage("dlq resubmit: --count must not be negative, and --wait must be longer than 0")
		}
		if f.ttl != "" {
			if _, err := parseDuration(f.ttl); err != nil {
				return Usage("--ttl: found %q; allowed: %s", oneLine(f.ttl), allowedDurations)
			}
		}
		if f.to, err = clean(f.to); err != nil {
			return err
		}
		edit, err := f.edit.edit(cmd)
		if err != nil {
			return err
		}
		if f.sql != "" || f.text != "" || edit != nil {
			filter := &api.JobFilter{SQL: f.sql, Text: f.text, Reason: given(cmd, "reason", &f.reason),
				SequenceNumbers: f.numbers}
			return a.resubmitSome(cmd.Context(), at, filter, edit, f)
		}
		return a.resubmit(cmd.Context(), at, given(cmd, "reason", &f.reason), f)
	}
	return c
}

// wanted returns the numbers of the dead letters that are meant. What is dead-lettered later is left alone: a copy
// that fails again must not go round.
func (a *app) wanted(ctx context.Context, at address, reason *string,
	f *resubmitFlags) (address, map[int64]bool, error) {
	p, err := a.peeker(ctx, at, nil)
	if err != nil {
		return at, nil, err
	}
	defer func() {
		ctx, cancel := a.parting(ctx)
		defer cancel()
		_ = p.r.(*azservicebus.Receiver).Close(ctx)
	}()
	p.does = "resubmit from " + at.String()
	found := make(map[int64]bool)
	err = p.each(ctx, math.MaxInt, func(m *message) error {
		if m.SequenceNumber == nil || (reason != nil && reasonOf(m) != *reason) ||
			(len(f.numbers) > 0 && !slices.Contains(f.numbers, *m.SequenceNumber)) ||
			(f.count > 0 && len(found) == f.count) {
			return nil
		}
		found[*m.SequenceNumber] = true
		return nil
	})
	return p.at, found, err
}

// resubmitter is one run of dlq resubmit.
type resubmitter struct {
	app    *app
	flags  *resubmitFlags
	at     address
	to     string
	wanted map[int64]bool
	total  int
	done   int
	r      *azservicebus.Receiver
	sender *azservicebus.Sender
	others []*azservicebus.ReceivedMessage // received, but not meant: they go back at the end
	shown  *progress
}

func (a *app) resubmit(ctx context.Context, at address, reason *string, f *resubmitFlags) error {
	at, wanted, err := a.wanted(ctx, at, reason, f)
	if err != nil {
		return err
	}
	s := &resubmitter{app: a, flags: f, at: at, to: f.to, wanted: wanted, total: len(wanted)}
	if s.to == "" {
		s.to = at.queue
	}
	if s.to == "" {
		s.to = at.topic
		a.noteTopic(s.to)
	}
	if *f.dryRun {
		return a.wouldDo("resubmitted", at.String(), s.total, "dead letter", s.to)
	}
	if s.total > 0 {
		s.shown = a.progress("resubmitted", s.total)
		err = s.run(ctx)
		s.shown.end()
	}
	a.interrupted = fmt.Sprintf(", after %s of %s were sent to %s", config.Thousands(s.done),
		config.Plural(s.total, "dead letter"), s.to)
	if err != nil && ctx.Err() == nil {
		return a.about(fmt.Sprintf("after %s of %s", config.Thousands(s.done),
			config.Plural(s.total, "dead letter")), err)
	}
	if err != nil {
		return err
	}
	result := map[string]any{"entity": at.String(), "to": s.to, "resubmitted": s.done, "left": s.total - s.done}
	if err := a.out.done(result, "resubmitted %s from %s to %s", config.Plural(s.done, "dead letter"), at,
		s.to); err != nil {
		return err
	}
	if left := s.total - s.done; left > 0 {
		return failed(exitFailed, "%s could not be received within %v: another receiver has them; try again later",
			config.Plural(left, "dead letter"), f.wait)
	}
	if len(f.numbers) > s.total {
		return failed(exitNotFound, "%d of the numbers are not in %s; minibus peek %s lists what is",
			len(f.numbers)-s.total, at, at)
	}
	return nil
}

// noteTopic says that dead letters of a subscription go to more subscriptions than that.
func (a *app) noteTopic(topic string) {
	a.note("the copies go to the topic %s, so all its subscriptions that match get one; --to names another target",
		topic)
}

// run receives until all that are meant are done, or nothing more comes.
func (s *resubmitter) run(ctx context.Context) (err error) {
	client, err := s.app.messages()
	if err != nil {
		return err
	}
	if s.sender, err = client.NewSender(s.to, nil); err != nil {
		return s.app.about("send to "+s.to, err)
	}
	if s.r, err = s.app.receiver(ctx, &s.at, azservicebus.ReceiveModePeekLock); err != nil {
		return err
	}
	defer func() { s.app.putBack(ctx, s.r, s.at, s.others, receiveBatch) }()
	for s.done < s.total {
		batch, err := s.app.wait(ctx, s.r, s.at, min(receiveBatch, s.total-s.done), s.flags.wait)
		if err != nil {
			s.others = append(s.others, batch...)
			return err
		}
		if len(batch) == 0 {
			return nil
		}
		if err := s.pass(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// pass sends the meant ones of a batch, then completes them. The rest is held, else it would come again at once.
func (s *resubmitter) pass(ctx context.Context, batch []*azservicebus.ReceivedMessage) error {
	var meant []*azservicebus.ReceivedMessage
	for _, m := range batch {
		if m.SequenceNumber != nil && s.wanted[*m.SequenceNumber] {
			meant = append(meant, m)
		} else {
			s.others = append(s.others, m)
		}
	}
	for len(meant) > 0 {
		n, err := s.some(ctx, meant)
		if n > 0 && err == nil {
			err = s.complete(ctx, meant[:n])
		}
		if meant = meant[n:]; err != nil {
			s.others = append(s.others, meant...)
			return err
		}
	}
	return nil
}

// some sends as many of the first messages as go together, and returns how many. The service takes all or none of them.
func (s *resubmitter) some(ctx context.Context, meant []*azservicebus.ReceivedMessage) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err // the end of the command
	}
	what := "send to " + s.to
	batch, err := within(ctx, s.app, func(ctx context.Context) (*azservicebus.MessageBatch, error) {
		return s.sender.NewMessageBatch(ctx, nil)
	})
	if err != nil {
		return 0, s.app.about(what, err)
	}
	n, key := 0, groupOf(s.again(meant[0]))
	for ; n < len(meant); n++ {
		c := s.again(meant[n])
		if groupOf(c) != key {
			break
		}
		err := batch.AddAMQPAnnotatedMessage(c, nil)
		if errors.Is(err, azservicebus.ErrMessageTooLarge) && n > 0 {
			break
		}
		if errors.Is(err, azservicebus.ErrMessageTooLarge) {
			if err = s.app.ask(ctx,
				func(ctx context.Context) error { return s.sender.SendAMQPAnnotatedMessage(ctx, c, nil) }); err != nil {
				return 0, s.app.about(what, err)
			}
			return 1, nil
		}
		if err != nil {
			return 0, s.app.about(what, err)
		}
	}
	if err := s.app.ask(ctx,
		func(ctx context.Context) error { return s.sender.SendMessageBatch(ctx, batch, nil) }); err != nil {
		return 0, s.app.about(what, err)
	}
	return n, nil
}

// complete removes dead letters whose copies the service has, also after an interrupt.
func (s *resubmitter) complete(ctx context.Context, sent []*azservicebus.ReceivedMessage) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completing)
	defer cancel()
	var g errgroup.Group
	for _, m := range sent {
		g.Go(func() error { return s.r.CompleteMessage(ctx, m, nil) })
	}
	if err := g.Wait(); err != nil {
		return s.app.about("complete dead letters whose copies are sent; some may be there twice", err)
	}
	for _, m := range sent {
		delete(s.wanted, *m.SequenceNumber)
	}
	s.done += len(sent)
	s.shown.step(s.done)
	return nil
}

// completing bounds the completion of a batch.
const completing = 30 * time.Second

// again makes the copy: the message with all that its sender gave it, with nothing that the service did.
func (s *resubmitter) again(m *azservicebus.ReceivedMessage) *azservicebus.AMQPAnnotatedMessage {
	raw := m.RawAMQPMessage
	c := &azservicebus.AMQPAnnotatedMessage{
		Header:                &azservicebus.AMQPAnnotatedMessageHeader{Priority: defaultPriority},
		Properties:            &azservicebus.AMQPAnnotatedMessageProperties{},
		ApplicationProperties: maps.Clone(raw.ApplicationProperties),
		MessageAnnotations:    make(map[any]any), Footer: raw.Footer, Body: raw.Body,
	}
	delete(c.ApplicationProperties, "DeadLetterReason")
	delete(c.ApplicationProperties, "DeadLetterErrorDescription")
	ttl := time.Duration(0)
	if h := raw.Header; h != nil {
		c.Header.Durable = h.Durable
		c.Header.Priority = h.Priority
		ttl = h.TTL
	}
	if p := raw.Properties; p != nil {
		*c.Properties = *p
		if ttl >= longestTTL && p.CreationTime != nil && p.AbsoluteExpiryTime != nil {
			ttl = p.AbsoluteExpiryTime.Sub(*p.CreationTime)
		}
		c.Properties.CreationTime, c.Properties.AbsoluteExpiryTime = nil, nil // they would end its life at the old time
	}
	for key, v := range raw.MessageAnnotations {
		if name := fmt.Sprint(key); name == partitionKey || !messagejson.OfTheService(name) {
			c.MessageAnnotations[key] = v
		}
	}
	if s.flags.ttl != "" {
		ttl, _ = parseDuration(s.flags.ttl) // checked with the flags
	}
	if ttl > 0 {
		setTTL(c, ttl, time.Now())
	}
	if s.flags.newIDs {
		c.Properties.MessageID = uuid.NewString()
	}
	return c
}
