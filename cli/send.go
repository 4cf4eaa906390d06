package cli

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/amqp/messagejson"
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
	c := &cobra.Command{Use: "send ENTITY [BODY]",
		Short: "send messages: an argument, a file, standard input, JSON lines", Args: Arguments("ENTITY", "[BODY]"),
		Long: `ENTITY is a queue or a topic. The body is the argument, --file, or else standard input, whole. With
--lines each line of the input is a message. With --jsonl each line is a message in JSON, as minibus peek -o jsonl
writes it, with all properties; those given as flags are for lines that don't have them.

In a line of JSON, "body" is text, or any JSON that becomes the text; "bodyBase64" has bytes. A value of
"applicationProperties" is a string, a boolean, a whole number (long), a number with a fraction (double), or an object
with the name of its type: {"int":5}, {"uuid":"..."}, {"timestamp":"2026-01-31T12:00:00Z"}.
docs/message-json.md lists everything.`,
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
	p.IntVar(&f.repeat, "repeat", 1,
		"send each message so many `times`; each copy has an id of its own unless --message-id is given")
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
	p.StringVar(&f.schedule, "schedule", "",
		"`time` when it becomes active: a duration from now such as 10m, or 2026-01-31T12:00:00Z")
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
	for name, field := range map[string]**string{"session": &f.SessionID, "partition-key": &f.PartitionKey,
		"subject": &f.Subject, "content-type": &f.ContentType,
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
	err = f.each(ctx, input, input == a.env.Stdin, func(m *azservicebus.AMQPAnnotatedMessage, more bool) error {
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
	return a.out.done(map[string]any{"sent": out.sent, "entity": entity}, "sent %s to %s",
		config.Plural(out.sent, "message"), entity)
}

// input returns what has the bodies.
func (a *app) input(args []string, f *sendFlags) (io.Reader, func(), error) {
	nothing := func() {}
	switch {
	case len(args) > 0 && f.file != "":
		return nil, nothing, Usage("send: the body is the argument or --file: leave one out")
	case len(args) > 0 && args[0] != "-":
		return strings.NewReader(args[0]), nothing, nil
	case f.file != "" && f.file != "-":
		file, err := os.Open(f.file)
		if err != nil {
			return nil, nothing, Usage("--file: %v", err)
		}
		return file, func() { _ = file.Close() }, nil
	case terminal(a.env.Stdin) && len(args) == 0 && f.file == "":
		return nil, nothing, Usage("send needs a body: an argument, --file, or standard input, which is a terminal " +
			"now (- takes it)")
	}
	return a.env.Stdin, nothing, nil
}

// maxBody bounds what is read for one message; the largest one of the service has 100 MB.
const maxBody = 128 << 20

// each calls put with each message of the input, which is the standard input or not. more says that another one is
// there already, so that they can be sent together.
func (f *sendFlags) each(ctx context.Context, input io.Reader, fromInput bool,
	put func(m *azservicebus.AMQPAnnotatedMessage, more bool) error) error {
	if !f.jsonl && !f.lines {
		body, err := io.ReadAll(io.LimitReader(input, maxBody+1))
		if err != nil {
			return fmt.Errorf("read the body: %w", err)
		}
		if len(body) > maxBody {
			return Usage("send: the body has more than %d MiB", maxBody>>20)
		}
		if len(body) == 0 && fromInput {
			return Usage("send: standard input is empty; for a message without a body give '' as the body")
		}
		m, err := f.fromText(body)
		if err != nil {
			return err
		}
		return put(m, false)
	}
	lines := bufio.NewReaderSize(input, 64<<10)
	for number := 1; ctx.Err() == nil; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read line %d: %w", number, err)
		}
		end := err != nil
		line = trimLine(line)
		if (f.lines && !end) || len(line) > 0 {
			m, err := f.fromLine(line)
			if err != nil {
				return Usage("line %d: %v", number, err)
			}
			if err := put(m, lines.Buffered() > 0); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
	}
	return ctx.Err()
}

func trimLine(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

func (f *sendFlags) fromLine(line []byte) (*azservicebus.AMQPAnnotatedMessage, error) {
	if !f.jsonl {
		return f.fromText(line)
	}
	j, err := messagejson.Read(line)
	if err != nil {
		return nil, err
	}
	f.complete(j)
	return encodeMessage(j, time.Now())
}

func (f *sendFlags) fromText(body []byte) (*azservicebus.AMQPAnnotatedMessage, error) {
	j := message{}
	f.complete(&j)
	if f.base64 {
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(body)), ""))
		if err != nil {
			return nil, Usage("send: --base64: the body is not base64")
		}
		j.BodyBase64 = data
	}
	m, err := encodeMessage(&j, time.Now())
	if err != nil {
		return nil, Usage("send: %v", err)
	}
	if !f.base64 {
		m.Body.Data = [][]byte{body}
	}
	return m, nil
}

// maxBatch is how many messages are sent together at most. Each batch is one commit of the service.
const maxBatch = 100

// batcher sends messages in batches. The messages of a batch have the same session and partition, as a partitioned
// entity demands.
type batcher struct {
	app    *app
	entity string
	sender *azservicebus.Sender
	pace   *pace
	batch  *azservicebus.MessageBatch
	key    string
	sent   int
}

// put adds a message, and sends the batch if it is full or the message is the last one for now.
func (b *batcher) put(ctx context.Context, m *azservicebus.AMQPAnnotatedMessage, last bool) error {
	if err := b.pace.wait(ctx); err != nil {
		return err
	}
	key := groupOf(m)
	if b.batch != nil && (key != b.key || b.batch.NumMessages() >= maxBatch) {
		if err := b.flush(ctx); err != nil {
			return b.app.about("send to "+b.entity, err)
		}
	}
	b.key = key
	err := b.add(ctx, m)
	if errors.Is(err, azservicebus.ErrMessageTooLarge) && b.batch.NumMessages() > 0 {
		if err = b.flush(ctx); err == nil {
			err = b.add(ctx, m)
		}
	}
	if errors.Is(err, azservicebus.ErrMessageTooLarge) {
		b.batch = nil
		err = b.alone(ctx, m)
	}
	if errors.Is(err, azservicebus.ErrMessageTooLarge) {
		err = b.app.tooLarge(ctx, b.entity)
	}
	if err == nil && (last || b.pace.slow()) {
		err = b.flush(ctx)
	}
	return b.app.about("send to "+b.entity, err)
}

func (b *batcher) add(ctx context.Context, m *azservicebus.AMQPAnnotatedMessage) error {
	if b.batch == nil {
		batch, err := within(ctx, b.app, func(ctx context.Context) (*azservicebus.MessageBatch, error) {
			return b.sender.NewMessageBatch(ctx, nil)
		})
		if err != nil {
			return err // the caller says what failed
		}
		b.batch = batch
	}
	return b.batch.AddAMQPAnnotatedMessage(m, nil) // put asks what it is
}

// alone sends a message that fits into no batch. The service may take it, or says why not.
func (b *batcher) alone(ctx context.Context, m *azservicebus.AMQPAnnotatedMessage) error {
	if err := b.app.ask(ctx,
		func(ctx context.Context) error { return b.sender.SendAMQPAnnotatedMessage(ctx, m, nil) }); err != nil {
		return err // put says what failed
	}
	b.sent++
	return nil
}

// flush sends what is there.
func (b *batcher) flush(ctx context.Context) error {
	if b.batch == nil || b.batch.NumMessages() == 0 {
		return nil
	}
	if err := b.app.ask(ctx,
		func(ctx context.Context) error { return b.sender.SendMessageBatch(ctx, b.batch, nil) }); err != nil {
		return err // the callers say what failed
	}
	b.sent += int(b.batch.NumMessages())
	b.batch = nil
	return nil
}

func groupOf(m *azservicebus.AMQPAnnotatedMessage) string {
	return fmt.Sprintf("%q %v", text(m.Properties.GroupID), m.MessageAnnotations[partitionKey])
}

// pace keeps to a number of messages in a second.
type pace struct {
	gap  time.Duration
	next time.Time
}

func newPace(rate float64) *pace {
	if rate <= 0 {
		return &pace{}
	}
	return &pace{gap: time.Duration(float64(time.Second) / rate), next: time.Now()}
}

// slow reports whether messages come so slowly that each is sent by itself.
func (p *pace) slow() bool { return p.gap > 10*time.Millisecond }

func (p *pace) wait(ctx context.Context) error {
	if p.gap == 0 {
		return nil
	}
	ahead := time.Until(p.next)
	p.next = p.next.Add(p.gap)
	return pause(ctx, ahead)
}

// pause waits, unless the command ends.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err() // the end of the command
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() // the end of the command
	}
}

// tooLarge says what an entity takes at most, and how to raise that. It asks for the settings of the entity, which
// takes a key with the right to Manage; without one it says less.
func (a *app) tooLarge(ctx context.Context, entity string) error {
	kind, limit := "queue", int64(0)
	if client, err := a.entities(); err == nil {
		if q, err := client.GetQueue(ctx, entity, nil); err == nil && q != nil && q.MaxMessageSizeInKilobytes != nil {
			limit = *q.MaxMessageSizeInKilobytes
		} else if t, err := client.GetTopic(ctx, entity, nil); err == nil && t != nil &&
			t.MaxMessageSizeInKilobytes != nil {
			kind, limit = "topic", *t.MaxMessageSizeInKilobytes
		}
	}
	takes := "than " + entity + " takes"
	if limit > 0 {
		takes = fmt.Sprintf("than the %d KiB that the %s %s takes, with its properties", limit, kind, entity)
	}
	return failed(exitFailed, "the message is larger %s; to raise the limit: minibus %s update %s "+
		"--max-message-size-in-kilobytes KILOBYTES, of Azure in the Premium tier only", takes, kind, entity)
}
