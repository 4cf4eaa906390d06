package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"
	"github.com/spf13/cobra"
)

// address says where messages are: a queue or a subscription, and which of its queues.
type address struct {
	queue               string
	topic, subscription string
	sub                 azservicebus.SubQueue
	unsure              bool // whether it is a subscription, TOPIC/NAME, or a queue with a slash in its name
}

// subQueueFlags give a command the choice of the queue within an entity.
type subQueueFlags struct{ dead, transfer bool }

func (f *subQueueFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.dead, "dlq", false, "the dead-letter queue of the entity")
	c.Flags().BoolVar(&f.transfer, "transfer-dlq", false,
		"its transfer dead-letter queue: messages that could not be forwarded")
}

const addressHelp = `ENTITY is a queue, or a subscription as TOPIC/SUBSCRIPTION. A dead-letter queue is ENTITY with
--dlq, or the path of the service, such as orders/$DeadLetterQueue or events/Subscriptions/audit/$DeadLetterQueue.`

// parseAddress reads the path of an entity.
func parseAddress(arg string, f subQueueFlags) (address, error) {
	path, err := clean(arg)
	if err != nil {
		return address{}, err
	}
	a := address{}
	lower := strings.ToLower(path)
	switch {
	case strings.HasSuffix(lower, "/$transfer/$deadletterqueue"):
		f.transfer, path = true, path[:len(path)-len("/$transfer/$deadletterqueue")]
	case strings.HasSuffix(lower, "/$deadletterqueue"):
		f.dead, path = true, path[:len(path)-len("/$deadletterqueue")]
	}
	switch {
	case path == "":
		return a, Usage("an entity needs a name, found %q", oneLine(arg))
	case f.dead && f.transfer:
		return a, Usage("--dlq and --transfer-dlq name two queues: leave one out")
	case f.dead:
		a.sub = azservicebus.SubQueueDeadLetter
	case f.transfer:
		a.sub = azservicebus.SubQueueTransfer
	}
	a.queue = path
	if topic, name, ok := splitSubscription(path); ok {
		a.topic, a.subscription = topic, name
		a.unsure = !strings.Contains(strings.ToLower(path), "/subscriptions/")
		if !a.unsure {
			a.queue = ""
		}
	}
	return a, nil
}

// String returns the address for people, as they give it.
func (a address) String() string {
	s := a.queue
	if a.queue == "" {
		s = a.topic + "/" + a.subscription
	}
	switch a.sub {
	case azservicebus.SubQueueDeadLetter:
		s += "/$DeadLetterQueue"
	case azservicebus.SubQueueTransfer:
		s += "/$Transfer/$DeadLetterQueue"
	}
	return s
}

// paths returns the paths that the address may mean, in the order in which to try them: a subscription's, a queue's.
func (a address) paths() (all []string) {
	if a.subscription != "" {
		is := a
		is.queue = ""
		all = append(all, is.path())
	}
	if a.queue != "" {
		a.topic, a.subscription = "", ""
		all = append(all, a.path())
	}
	return all
}

// resolve finds out whether an unsure address is a subscription or a queue: it opens a receiver, which asks for no
// message.
func (a *app) resolve(ctx context.Context, at *address) error {
	if !at.unsure {
		return nil
	}
	client, err := a.messages()
	if err != nil {
		return err
	}
	r, err := client.NewReceiverForSubscription(at.topic, at.subscription,
		&azservicebus.ReceiverOptions{SubQueue: at.sub})
	if err != nil {
		return a.about(at.String(), err)
	}
	defer func() {
		ctx, cancel := a.parting(ctx)
		defer cancel()
		_ = r.Close(ctx)
	}()
	err = a.ask(ctx, func(ctx context.Context) error {
		_, err := r.PeekMessages(ctx, 1, nil)
		return err
	})
	at.unsure = false
	if err == nil || needsSession(err) || lacksType(err) {
		at.queue = ""
		return nil
	}
	if f := a.explain(err); f.code == exitNotFound || isNotAllowed(err) {
		at.topic, at.subscription = "", ""
		return nil
	}
	return a.about(at.String(), err)
}

// needsSession reports whether a receiver was refused because the entity delivers by session.
func needsSession(err error) bool {
	return isNotAllowed(err) && strings.Contains(strings.ToLower(err.Error()), "requires session")
}

func isNotAllowed(err error) bool {
	var refused *amqp.Error
	return errors.As(err, &refused) && refused.Condition == amqp.ErrCondNotAllowed
}

// receiver opens a receiver without a session. It connects when it is used.
func (a *app) receiver(ctx context.Context, at *address,
	mode azservicebus.ReceiveMode) (*azservicebus.Receiver, error) {
	if err := a.resolve(ctx, at); err != nil {
		return nil, err
	}
	client, err := a.messages()
	if err != nil {
		return nil, err
	}
	options := &azservicebus.ReceiverOptions{SubQueue: at.sub, ReceiveMode: mode}
	var r *azservicebus.Receiver
	if at.queue != "" {
		r, err = client.NewReceiverForQueue(at.queue, options)
	} else {
		r, err = client.NewReceiverForSubscription(at.topic, at.subscription, options)
	}
	if err != nil {
		return nil, a.about(at.String(), err)
	}
	return r, nil
}

// acceptSession opens a receiver with a session: with any free one if session is nil.
func (a *app) acceptSession(ctx context.Context, at *address, session *string,
	mode azservicebus.ReceiveMode) (*azservicebus.SessionReceiver, error) {
	if at.sub != 0 {
		return nil, Usage("%s: a dead-letter queue has no sessions; leave --session out", at)
	}
	if err := a.resolve(ctx, at); err != nil {
		return nil, err
	}
	client, err := a.messages()
	if err != nil {
		return nil, err
	}
	options := &azservicebus.SessionReceiverOptions{ReceiveMode: mode}
	accept := func(ctx context.Context) (*azservicebus.SessionReceiver, error) {
		switch {
		case at.queue != "" && session != nil:
			return client.AcceptSessionForQueue(ctx, at.queue, *session, options)
		case at.queue != "":
			return client.AcceptNextSessionForQueue(ctx, at.queue, options)
		case session != nil:
			return client.AcceptSessionForSubscription(ctx, at.topic, at.subscription, *session, options)
		}
		return client.AcceptNextSessionForSubscription(ctx, at.topic, at.subscription, options)
	}
	if _, waits := ctx.Deadline(); waits {
		return accept(ctx) // callers ask what the error is
	}
	return within(ctx, a, accept)
}
