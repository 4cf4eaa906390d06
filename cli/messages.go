package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
)

func (a *app) messageCommand() *cobra.Command {
	return group("message", "messages of a Minibus, as they stand: list, show, delete, reschedule",
		"Uses the control API of a Minibus, which sees what peek can't: who has locked a message until when, and "+
			"messages by filter. It locks and changes nothing but what\n"+
			"rm and reschedule say.\n\n"+addressHelp,
		a.messageList(), a.messageShow(), a.messageBody(), a.messageRemove(), a.messageReschedule())
}

// messageFilter are the flags that choose messages of a list.
type messageFilter struct {
	states                     []string
	sql, text, reason, session string
	after, before              string
	newest, all                bool
	from                       int64
	count                      int
}

// messagesPage is how many messages one request asks for at most.
const messagesPage = 1000

func (f *messageFilter) add(c *cobra.Command) {
	p := c.Flags()
	p.StringSliceVar(&f.states, "state", nil,
		"only those that stand so: active, locked, deferred or `scheduled`; several with commas")
	p.StringVar(&f.sql, "where", "", "only those that this SQL `filter` selects, such as \"color = 'red'\"")
	p.StringVar(&f.text, "text", "", "only those with this `text` in the body or a property")
	p.StringVar(&f.reason, "reason", "", "only dead letters with this `reason`")
	p.StringVar(&f.session, "session", "", "only those of this session, by its `id`")
	p.StringVar(&f.after, "after", "", "only those enqueued at this `time` or later, such as 2026-03-01T12:00:00Z")
	p.StringVar(&f.before, "before", "", "only those enqueued before this `time`")
	p.BoolVar(&f.newest, "newest", false, "the highest numbers first")
	p.Int64Var(&f.from, "from", 0, "first sequence `number` to look at")
	p.IntVarP(&f.count, "count", "n", 20, "most `messages`")
	p.BoolVar(&f.all, "all", false, "all messages")
}

// query returns the flags as arguments of the control API.
func (f *messageFilter) query(c *cobra.Command) (url.Values, error) {
	if f.count < 1 {
		return nil, Usage("--count: found %d; allowed: 1 or more", f.count)
	}
	q := url.Values{"properties": {"true"}, "body": {"4096"}}
	for name, value := range map[string]string{"state": strings.Join(f.states, ","), "sql": f.sql, "text": f.text} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, value := range map[string]*string{"reason": given(c, "reason", &f.reason),
		"sessionId": given(c, "session", &f.session)} {
		if value != nil && *value == "" {
			q.Set(name, "$empty")
		} else if value != nil {
			q.Set(name, *value)
		}
	}
	for flag, value := range map[string]string{"after": f.after, "before": f.before} {
		if value == "" {
			continue
		}
		if _, err := time.Parse(time.RFC3339, value); err != nil {
			return nil, Usage("--%s: found %q; allowed: a time such as 2026-03-01T12:00:00Z", flag, oneLine(value))
		}
		q.Set(map[string]string{"after": "enqueuedAfter", "before": "enqueuedBefore"}[flag], value)
	}
	if f.newest {
		q.Set("order", "newest")
	}
	if f.from != 0 {
		q.Set("from", strconv.FormatInt(f.from, 10))
	}
	return q, nil
}

func (a *app) messageList() *cobra.Command {
	var sub subQueueFlags
	f := &messageFilter{}
	c := &cobra.Command{Use: "ls ENTITY", Aliases: []string{"list"},
		Short: "list messages, with who has locked them", Args: Arguments("ENTITY"),
		Example: "  minibus message ls orders --state locked\n" +
			"  minibus message ls orders --dlq --where \"DeadLetterReason = 'poison'\" -o jsonl\n" +
			"  minibus message ls orders --newest -n 5"}
	sub.add(c)
	f.add(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		query, err := f.query(cmd)
		if err != nil {
			return err
		}
		entity, err := a.controlPath(cmd.Context(), args[0], sub)
		if err != nil {
			return err
		}
		return a.browse(cmd.Context(), entity, query, f)
	}
	return c
}

// browse lists messages page by page.
func (a *app) browse(ctx context.Context, entity string, query url.Values, f *messageFilter) error {
	a.out.list(a.withDue("NUMBER", "STATE", "ENQUEUED", "ID", "SUBJECT", "SESSION", "DELIVERIES", "REASON",
		"LOCKED-BY", "BODY")...)
	shown := 0
	for f.all || shown < f.count {
		limit := messagesPage
		if !f.all {
			limit = min(limit, f.count-shown)
		}
		query.Set("limit", strconv.Itoa(limit))
		var page struct {
			Items []message
			Next  string
		}
		if err := a.control(ctx, http.MethodGet, inThis("entities", entity, "messages")+"?"+query.Encode(), nil,
			&page); err != nil {
			return a.about("list the messages of "+entity, err)
		}
		for i := range page.Items {
			m := &page.Items[i]
			if err := a.out.add(*m, a.dueIn(m, messageRow(m))...); err != nil {
				return err
			}
		}
		shown += len(page.Items)
		if page.Next == "" {
			break
		}
		query.Set("cursor", page.Next)
	}
	if shown == 0 {
		a.note("no messages in %s that the flags choose", entity)
	}
	return nil
}

// messageRow is a message in a table.
func messageRow(m *message) []string {
	at := rowOf(address{}, *m)
	body := at[len(at)-1]
	return append(at[:len(at)-1], m.DeadLetterReason, m.LockedBy, body)
}

// ofMessage makes a command about one message, with the path of the message.
func (a *app) ofMessage(c *cobra.Command,
	do func(ctx context.Context, path string, args []string) error) *cobra.Command {
	var sub subQueueFlags
	sub.add(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkSequenceNumber(args[1]); err != nil {
			return err
		}
		entity, err := a.controlPath(cmd.Context(), args[0], sub)
		if err != nil {
			return err
		}
		if err := do(cmd.Context(), inThis("entities", entity, "messages", args[1]), args); err != nil {
			return a.about(called(cmd), err) // the cause names the message and its entity
		}
		return nil
	}
	return c
}

func checkSequenceNumber(text string) error {
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return Usage("found %q; allowed: a sequence number", oneLine(text))
	}
	return nil
}

func (a *app) messageShow() *cobra.Command {
	return a.ofMessage(&cobra.Command{Use: "show ENTITY NUMBER", Short: "show a message with all of its properties",
		Args: Arguments("ENTITY", "NUMBER"),
		Long: `Shows a message, whole but for the end of a large body, which message body writes. A document of -o
jsonl can be sent again with minibus send --jsonl.`,
		Example: "  minibus message show orders 12\n  minibus message show orders 12 --dlq -o json"},
		func(ctx context.Context, path string, _ []string) error {
			var m message
			if err := a.control(ctx, http.MethodGet, path+"?body=1048576", nil, &m); err != nil {
				return err
			}
			if !a.out.people {
				return a.out.one(m, messagePairs(&m)...)
			}
			pairs := messagePairs(&m)
			body := ""
			if n := len(pairs) - 1; n >= 0 && pairs[n][0] == "body" {
				pairs, body = pairs[:n], pairs[n][1]
			}
			if err := a.out.one(m, pairs...); err != nil || body == "" {
				return err
			}
			var pretty bytes.Buffer
			if json.Indent(&pretty, []byte(body), "", "  ") == nil {
				body = pretty.String()
			}
			a.out.write("\n%s\n", body)
			return a.out.push()
		})
}

// messagePairs are the properties of a message that it has, for people.
func messagePairs(m *message) (pairs [][2]string) {
	add := func(name, value string) {
		if value != "" {
			pairs = append(pairs, [2]string{name, value})
		}
	}
	add("number", number(m.SequenceNumber))
	add("first-number", number(m.EnqueuedSequenceNumber))
	add("state", m.State)
	add("enqueued", stamp(m.EnqueuedTime))
	add("scheduled-for", stamp(m.ScheduledEnqueueTime))
	add("expires", stamp(m.ExpiresAt))
	add("locked-until", stamp(m.LockedUntil))
	add("locked-by", m.LockedBy)
	if m.DeliveryCount != nil {
		add("deliveries", strconv.FormatUint(uint64(*m.DeliveryCount), 10))
	}
	add("reason", m.DeadLetterReason)
	add("message-id", plain(m.MessageID))
	add("correlation-id", plain(m.CorrelationID))
	for _, p := range []struct {
		name  string
		value *string
	}{{"session", m.SessionID}, {"partition-key", m.PartitionKey}, {"subject", m.Subject},
		{"content-type", m.ContentType}, {"to", m.To}, {"reply-to", m.ReplyTo},
		{"reply-to-session", m.ReplyToSessionID}} {
		add(p.name, text(p.value))
	}
	add("ttl", m.TimeToLive)
	add("size", number(m.SizeBytes))
	for _, values := range []map[string]any{m.ApplicationProperties, m.Annotations} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			add("  "+name, plain(values[name]))
		}
	}
	add("body-bytes", number(m.BodyBytes))
	add("body", shownBody(m))
	return pairs
}

func (a *app) messageBody() *cobra.Command {
	file := ""
	c := a.ofMessage(&cobra.Command{Use: "body ENTITY NUMBER", Short: "write the body of a message, as it is",
		Args: Arguments("ENTITY", "NUMBER"),
		Example: "  minibus message body orders 12 > body.json\n" +
			"  minibus message body orders 12 --dlq --file picture.png"},
		func(ctx context.Context, path string, _ []string) error {
			ctx = withLimits(ctx, requestLimits{pieces: true})
			answer, err := a.controlAnswer(ctx, http.MethodGet, path+"/body", nil)
			if err != nil {
				return err
			}
			defer func() { _ = answer.Body.Close() }()
			to := a.out.data
			if file != "" {
				f, err := os.Create(file)
				if err != nil {
					return Usage("--file: %v", err)
				}
				defer func() { _ = f.Close() }()
				to = f
			}
			if _, err := io.Copy(to, answer.Body); err != nil {
				return a.explain(err)
			}
			return a.out.push()
		})
	c.Flags().StringVar(&file, "file", "", "write it to this `file`")
	return c
}

func (a *app) messageRemove() *cobra.Command {
	var sub subQueueFlags
	c := &cobra.Command{Use: "rm ENTITY NUMBER...", Aliases: []string{"delete"},
		Short: "delete messages by their numbers, all or none",
		Long: "Deletes messages, all or none; scheduled ones are cancelled. Locked ones can't be deleted. It " +
			"asks first if a person is at the terminal.",
		Example: "  minibus message rm orders 12 14\n  minibus message rm orders 3 --dlq --yes",
		Args:    Arguments("ENTITY", "NUMBER...")}
	sub.add(c)
	yes := yesFlag(c)
	dryRun := dryRunFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		for _, n := range args[1:] {
			if err := checkSequenceNumber(n); err != nil {
				return err
			}
		}
		entity, err := a.controlPath(cmd.Context(), args[0], sub)
		if err != nil {
			return err
		}
		if *dryRun {
			return a.about("delete from "+entity, a.wouldDeleteMessages(cmd.Context(), entity, args[1:]))
		}
		if err := a.connect(); err != nil {
			return err
		}
		if err := a.confirm(*yes, "Delete %s of %s at %s?", config.Plural(len(args)-1, "message"), entity,
			a.host()); err != nil {
			return err
		}
		if err := a.control(cmd.Context(), http.MethodDelete,
			inThis("entities", entity, "messages")+"?sequenceNumbers="+strings.Join(args[1:], ","), nil,
			nil); err != nil {
			return a.about("delete from "+entity, err)
		}
		return a.out.done(map[string]any{"entity": entity, "deleted": len(args) - 1}, "deleted %s from %s",
			config.Plural(len(args)-1, "message"), entity)
	}
	return c
}

// wouldDeleteMessages says how many messages would be deleted, or why none would.
func (a *app) wouldDeleteMessages(ctx context.Context, entity string, numbers []string) error {
	for _, n := range numbers {
		var m message
		path := inThis("entities", entity, "messages", n) + "?body=0"
		if err := a.control(ctx, http.MethodGet, path, nil, &m); err != nil {
			return err
		}
		if m.State == "locked" {
			return failed(exitFailed, "message %s is locked, and so none would be deleted", n)
		}
	}
	return a.wouldDo("deleted", entity, len(numbers), "message", "")
}

func (a *app) messageReschedule() *cobra.Command {
	return a.ofMessage(&cobra.Command{Use: "reschedule ENTITY NUMBER TIME",
		Short: "give a scheduled message another time", Args: Arguments("ENTITY", "NUMBER", "TIME"),
		Long: `TIME is a duration from now such as 10m, or 2026-01-31T12:00:00Z. The message keeps its number until it
becomes active; a time that has come makes it active at once.`,
		Example: "  minibus message reschedule orders 12 2h\n" +
			"  minibus message reschedule orders 12 2026-01-31T12:00:00Z"},
		func(ctx context.Context, path string, args []string) error {
			at, err := a.scheduled(ctx, "TIME", args[2])
			if err != nil {
				return err
			}
			if at == nil {
				return Usage("TIME is empty; give a duration from now such as 10m, or a time such as " +
					"2026-01-31T12:00:00Z")
			}
			var answer struct {
				SequenceNumber       int64     `json:"sequenceNumber"`
				ScheduledEnqueueTime time.Time `json:"scheduledEnqueueTime"`
			}
			if err := a.control(ctx, http.MethodPatch, path, map[string]time.Time{"scheduledEnqueueTime": *at},
				&answer); err != nil {
				return err
			}
			return a.out.done(answer, "message %s becomes active at %s", args[1],
				answer.ScheduledEnqueueTime.Format(time.RFC3339))
		})
}
