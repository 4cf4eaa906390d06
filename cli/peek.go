package cli

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/spf13/cobra"
)

// peekPage is how many messages one request asks for. The service answers with fewer if they are large.
const peekPage = 250

// browser is a receiver that peeks, with a session or without.
type browser interface {
	PeekMessages(context.Context, int, *azservicebus.PeekMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
}

// peeker reads messages in the order of their numbers, and locks none.
type peeker struct {
	app     *app
	at      address
	r       browser
	session *string
	from    int64
	does    string // what the command does, for errors
	unread  error  // of the SDK, which met a value of a type that it lacks: from then on the control API is asked
}

// peeker opens a receiver for an entity, or for a session of it, which is locked until the end of the command.
func (a *app) peeker(ctx context.Context, at address, session *string) (*peeker, error) {
	p := &peeker{app: a, at: at, session: session, does: "peek at " + at.String()}
	if session == nil {
		r, err := a.receiver(ctx, &p.at, azservicebus.ReceiveModePeekLock)
		p.r = r
		return p, err
	}
	r, err := a.acceptSession(ctx, &p.at, session, azservicebus.ReceiveModePeekLock)
	p.r = r
	return p, err
}

// next returns at most count messages from the number on; none at the end.
func (p *peeker) next(ctx context.Context, count int) ([]message, error) {
	if p.unread != nil {
		return p.nextByControl(ctx, count)
	}
	found, err := within(ctx, p.app, func(ctx context.Context) ([]*azservicebus.ReceivedMessage, error) {
		return p.r.PeekMessages(ctx, min(count, peekPage), &azservicebus.PeekMessagesOptions{FromSequenceNumber: &p.from})
	})
	if lacksType(err) {
		p.unread = err
		return p.nextByControl(ctx, count)
	}
	if needsSession(err) {
		return nil, failed(exitFailed, "peek at %s: it delivers by session, and the SDK that this tool is made with peeks at such an entity only with a session: "+
			"give --session ID, which locks the session while it reads, or receive with --session", p.at)
	}
	if err != nil {
		return nil, p.app.about(p.does, err)
	}
	messages := make([]message, len(found))
	for i, m := range found {
		messages[i] = messageOf(m)
	}
	return p.passed(messages), nil
}

// passed notes that the messages were read.
func (p *peeker) passed(messages []message) []message {
	if n := len(messages); n > 0 && messages[n-1].SequenceNumber != nil {
		p.from = *messages[n-1].SequenceNumber + 1
	}
	return messages
}

// each calls f with every message until count, the end or an error.
func (p *peeker) each(ctx context.Context, count int, f func(*message) error) error {
	for left := count; left > 0; {
		found, err := p.next(ctx, left)
		if err != nil || len(found) == 0 {
			return err
		}
		for i := range found {
			if err := f(&found[i]); err != nil {
				return err
			}
		}
		left -= len(found)
	}
	return nil
}

func (a *app) peekCommand() *cobra.Command {
	var (
		subQueue subQueueFlags
		count    int
		all      bool
		from     int64
		session  string
	)
	c := &cobra.Command{Use: "peek ENTITY", Short: "look at messages without locking any", Args: Arguments("ENTITY"),
		Long: "Shows messages in the order of their sequence numbers: active, scheduled and deferred ones, locked ones too. It locks and changes nothing.\n\n" +
			addressHelp + "\n\nA line of -o jsonl has everything of a message, with the types of its properties; minibus send --jsonl sends it again.",
		Example: "  minibus peek orders\n  minibus peek events/audit --dlq --all -o jsonl > dead.jsonl\n  minibus peek orders --from 1200 -n 5 -o json"}
	subQueue.add(c)
	c.Flags().IntVarP(&count, "count", "n", 20, "most `messages`")
	c.Flags().BoolVar(&all, "all", false, "all messages")
	c.Flags().Int64Var(&from, "from", 0, "first sequence `number`")
	c.Flags().StringVar(&session, "session", "", "only this session, by its `id`; it is locked while the command reads")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := parseAddress(args[0], subQueue)
		if err != nil {
			return err
		}
		if count < 1 {
			return Usage("--count: found %d; allowed: 1 or more", count)
		}
		if all {
			count = math.MaxInt
		}
		return a.peek(cmd.Context(), at, given(cmd, "session", &session), from, count)
	}
	return c
}

// peek lists at most count messages from a number on.
func (a *app) peek(ctx context.Context, at address, session *string, from int64, count int) error {
	p, err := a.peeker(ctx, at, session)
	if err != nil {
		return err
	}
	p.from = from
	some := false
	a.listMessages(at, false)
	err = p.each(ctx, count, func(m *message) error {
		some = true
		return a.addMessage(at, *m)
	})
	if err == nil && !some {
		a.note("no messages in %s", p.at)
	}
	return err
}

// given returns the value of a flag, nil if it was not given: an empty session is a session too.
func given[T any](c *cobra.Command, name string, value *T) *T {
	if !c.Flags().Changed(name) {
		return nil
	}
	return value
}

// column is one of a list of messages, with its width in a list that is written while it grows.
type column struct {
	name  string
	width int
}

var messageColumns = []column{{"NUMBER", 8}, {"STATE", 9}, {"ENQUEUED", 20}, {"ID", 36}, {"SUBJECT", 16}, {"SESSION", 10}, {"DELIVERIES", 10}, {"REASON", 24}, {"BODY", 0}}

const (
	reasonColumn = 7 // only for dead letters
	bodyShown    = 80
)

// listMessages begins a list of messages. A growing one is written message by message.
func (a *app) listMessages(at address, growing bool) {
	var titles []string
	var widths []int
	for i, c := range messageColumns {
		if i != reasonColumn || at.sub != 0 {
			titles, widths = append(titles, c.name), append(widths, c.width)
		}
	}
	if growing {
		a.out.stream(titles, widths[:len(widths)-1])
	} else {
		a.out.list(titles...)
	}
}

// fit makes the columns of a growing list as narrow as these messages let them. It has no effect once the list has a row.
func (a *app) fit(at address, messages []*azservicebus.ReceivedMessage) {
	if len(a.out.rows) > 0 || len(messages) == 0 {
		return
	}
	for i := range a.out.widths {
		a.out.widths[i] = len(a.out.columns[i])
	}
	for _, m := range messages {
		for i, cell := range rowOf(at, messageOf(m))[:len(a.out.widths)] {
			a.out.widths[i] = max(a.out.widths[i], len([]rune(cell)))
		}
	}
}

// addMessage adds a message to the list. The body of one in a table is cut.
func (a *app) addMessage(at address, j message) error { return a.out.add(j, rowOf(at, j)...) }

func rowOf(at address, j message) []string {
	row := []string{number(j.SequenceNumber), j.State, "", plain(j.MessageID), text(j.Subject), text(j.SessionID), ""}
	if j.EnqueuedTime != nil {
		row[2] = j.EnqueuedTime.Format(time.RFC3339)
	}
	if j.DeliveryCount != nil {
		row[6] = strconv.FormatUint(uint64(*j.DeliveryCount), 10)
	}
	if at.sub != 0 {
		row = append(row, reasonOf(&j))
	}
	body := []rune(shownBody(&j))
	if len(body) > bodyShown {
		body = append(body[:bodyShown-1], '…')
	}
	return append(row, string(body))
}

// plain shows an id of any type.
func plain(id any) string {
	switch id := id.(type) {
	case nil:
		return ""
	case string:
		return id
	}
	return brief(id)
}

// reasonOf returns why a message was dead-lettered.
func reasonOf(j *message) string {
	reason, _ := j.ApplicationProperties["DeadLetterReason"].(string)
	return reason
}
