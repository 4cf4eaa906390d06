package cli

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/spf13/cobra"

	"minibus/config"
)

// sendFlags are the flags of send.
type sendFlags struct {
	file          string
	jsonl, lines  bool
	repeat        int
	rate          float64
	base64        bool
	properties    []string
	ttl, schedule string
	message
}

func (a *app) sendCommand() *cobra.Command {
	f := &sendFlags{}
	c := &cobra.Command{Use: "send ENTITY [BODY]", Short: "send messages: an argument, a file, standard input, JSON lines", Args: Arguments("ENTITY", "[BODY]"),
		Long: `ENTITY is a queue or a topic. The body is the argument, --file, or else standard input, whole. With --lines each line of the input
is a message. With --jsonl each line is a message in JSON, as minibus peek -o jsonl writes it, with all properties; those given as flags
are for lines that don't have them.

In a line of JSON, "body" is text, or any JSON that becomes the text; "bodyBase64" has bytes. A value of "applicationProperties" is a string, a boolean,
a whole number (long), a number with a fraction (double), or an object with the name of its type: {"int":5}, {"uuid":"..."},
{"timestamp":"2026-01-31T12:00:00Z"}. docs/cli.md lists everything.`,
		Example: "  minibus send orders '{\"id\":7}' --content-type application/json -p tenant=a -p size=int:5\n" +
			"  minibus send orders hello --session s1 --schedule 10m --ttl 1h\n" +
			"  minibus peek orders --dlq --all -o jsonl | minibus send orders --jsonl\n" +
			"  minibus send load x --repeat 10000 --rate 500"}
	f.define(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.finish(cmd); err != nil {
			return err
		}
		entity, err := clean(args[0])
		if err != nil {
			return err
		}
		if f.ScheduledEnqueueTime, err = a.scheduled(cmd.Context(), "--schedule", f.schedule); err != nil {
			return err
		}
		return a.send(cmd.Context(), entity, args[1:], f)
	}
	return c
}

func (f *sendFlags) define(c *cobra.Command) {
	p := c.Flags()
	p.StringVarP(&f.file, "file", "f", "", "read from this `file`")
	p.BoolVar(&f.lines, "lines", false, "each line of the input is the body of a message")
	p.BoolVar(&f.jsonl, "jsonl", false, "each line of the input is a message in JSON")
	p.BoolVar(&f.base64, "base64", false, "the body is given in base64")
	p.IntVar(&f.repeat, "repeat", 1, "send each message so many `times`; each copy has an id of its own unless --message-id is given")
	p.Float64Var(&f.rate, "rate", 0, "at most so many `messages` in a second (default no limit)")
	f.describe(c)
}

// describe gives a command the flags of a message without its body.
func (f *sendFlags) describe(c *cobra.Command) {
	p := c.Flags()
	p.StringArrayVarP(&f.properties, "property", "p", nil, "application property `name=value`, or name=type:value")
	p.String("message-id", "", "`id` (default a random one)")
	p.String("correlation-id", "", "`id` that this message answers")
	p.String("session", "", "`id` of the session")
	p.String("partition-key", "", "`key` of the partition")
	p.String("subject", "", "`text` that says what it is about")
	p.String("content-type", "", "media `type` of the body, such as application/json")
	p.String("to", "", "`address` for applications")
	p.String("reply-to", "", "`address` for answers")
	p.String("reply-to-session", "", "`id` of the session for answers")
	p.StringVar(&f.ttl, "ttl", "", "`duration` after which it expires, such as 30s or 2h")
	p.StringVar(&f.schedule, "schedule", "", "`time` when it becomes active: a duration from now such as 10m, or 2026-01-31T12:00:00Z")
}

// finish checks the flags and takes those that a message has.
func (f *sendFlags) finish(c *cobra.Command) error {
	switch {
	case f.jsonl && f.lines:
		return Usage("--jsonl and --lines contradict each other: leave one out")
	case f.jsonl && f.base64:
		return Usage("--base64 is for bodies; a line of JSON has bodyBase64")
	case f.repeat < 1:
		return Usage("--repeat: found %d; allowed: 1 or more", f.repeat)
	case f.rate < 0:
		return Usage("--rate: found %v; allowed: messages in a second, 0 for no limit", f.rate)
	}
	for name, field := range map[string]**string{"session": &f.SessionID, "partition-key": &f.PartitionKey, "subject": &f.Subject, "content-type": &f.ContentType,
		"to": &f.To, "reply-to": &f.ReplyTo, "reply-to-session": &f.ReplyToSessionID} {
		if c.Flags().Changed(name) {
			value, _ := c.Flags().GetString(name)
			*field = &value
		}
	}
	for name, field := range map[string]*any{"message-id": &f.MessageID, "correlation-id": &f.CorrelationID} {
		if c.Flags().Changed(name) {
			*field, _ = c.Flags().GetString(name)
		}
	}
	if f.ttl != "" {
		if _, err := parseDuration(f.ttl); err != nil {
			return Usage("--ttl: found %q; allowed: %s", oneLine(f.ttl), allowedDurations)
		}
		f.TimeToLive = f.ttl
	}
	pairs, err := propertyPairs("--property", f.properties)
	f.ApplicationProperties = mapToJSON(pairs)
	return err
}

// complete puts the flags' properties into a message that lacks them.
func (f *sendFlags) complete(j *message) {
	fill := func(to **string, from *string) {
		if *to == nil {
			*to = from
		}
	}
	fill(&j.SessionID, f.SessionID)
	fill(&j.PartitionKey, f.PartitionKey)
	fill(&j.Subject, f.Subject)
	fill(&j.ContentType, f.ContentType)
	fill(&j.To, f.To)
	fill(&j.ReplyTo, f.ReplyTo)
	fill(&j.ReplyToSessionID, f.ReplyToSessionID)
	if j.MessageID == nil {
		j.MessageID = f.MessageID
	}
	if j.CorrelationID == nil {
		j.CorrelationID = f.CorrelationID
	}
	if j.TimeToLive == "" {
		j.TimeToLive = f.TimeToLive
	}
	if j.ScheduledEnqueueTime == nil {
		j.ScheduledEnqueueTime = f.ScheduledEnqueueTime
	}
	for name, v := range f.ApplicationProperties {
		if j.ApplicationProperties == nil {
			j.ApplicationProperties = make(map[string]any)
		}
		if _, has := j.ApplicationProperties[name]; !has {
			j.ApplicationProperties[name] = v
		}
	}
}

// send reads the messages and sends them.
func (a *app) send(ctx context.Context, entity string, args []string, f *sendFlags) error {
	client, err := a.messages()
	if err != nil {
		return err
	}
	input, closeInput, err := a.input(args, f)
	if err != nil {
		return err
	}
	defer closeInput()
	sender, err := client.NewSender(entity, nil)
	if err != nil {
		return a.about("send to "+entity, err)
	}
	out := &batcher{app: a, entity: entity, sender: sender, pace: newPace(f.rate)}
	err = f.each(ctx, input, func(m *azservicebus.AMQPAnnotatedMessage, more bool) error {
		for i := range f.repeat {
			if err := out.put(ctx, m, !more && i == f.repeat-1); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = a.about("send to "+entity, out.flush(ctx))
	}
	if err != nil {
		a.interrupted = fmt.Sprintf(", after %s sent", config.Plural(out.sent, "message"))
		if out.sent > 0 {
			err = a.about(fmt.Sprintf("after %s sent", config.Plural(out.sent, "message")), err)
		}
		return err
	}
	return a.out.done(map[string]any{"sent": out.sent, "entity": entity}, "sent %s to %s", config.Plural(out.sent, "message"), entity)
}
