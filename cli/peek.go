package cli

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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
	unread  error  // of the SDK, which lacks a type or wants a session: from then on the control API is asked
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
		return p.r.PeekMessages(ctx, min(count, peekPage),
			&azservicebus.PeekMessagesOptions{FromSequenceNumber: &p.from})
	})
	if lacksType(err) || needsSession(err) {
		p.unread = err
		return p.nextByControl(ctx, count)
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
		Long: "Shows messages in the order of their sequence numbers: active, scheduled and deferred ones, locked " +
			"ones too. It locks and changes nothing.\n\n" +
			addressHelp + "\n\nA line of -o jsonl has everything of a message, with the types of its properties; " +
			"minibus send --jsonl sends it again.",
		Example: "  minibus peek orders\n  minibus peek events/audit --dlq --all -o jsonl > dead.jsonl\n" +
			"  minibus peek orders --from 1200 -n 5 -o json"}
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

var messageColumns = []column{{"NUMBER", 8}, {"STATE", 9}, {"ENQUEUED", 20}, {"ID", 36}, {"SUBJECT", 16},
	{"SESSION", 10}, {"DELIVERIES", 10}, {"REASON", 24}, {"BODY", 0}}

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
		a.out.list(a.withDue(titles...)...)
	}
}

// due is the column for when scheduled messages become active. Only a table that fits a terminal has it, if a message
// is scheduled: -o wide and pipes have the same columns as ever.
const due = "DUE"

// withDue adds that column to the titles of a list of messages.
func (a *app) withDue(titles ...string) []string {
	if a.out.width == 0 {
		return titles
	}
	return slices.Insert(titles, slices.Index(titles, "ENQUEUED")+1, due)
}

// dueIn adds the cell of that column to the row of a message.
func (a *app) dueIn(m *message, row []string) []string {
	at := slices.Index(a.out.columns, due)
	if at < 0 {
		return row
	}
	if m.State != "scheduled" {
		return slices.Insert(row, at, "")
	}
	return slices.Insert(row, at, stamp(m.ScheduledEnqueueTime))
}

// fit makes the columns of a growing list as narrow as these messages let them. It has no effect once the list has a
// row.
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
func (a *app) addMessage(at address, j message) error {
	return a.out.add(j, a.dueIn(&j, rowOf(at, j))...)
}

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

// lackingTypes are those of AMQP that the SDK has no type for: it fails at a message with one of them.
var lackingTypes = []string{"char", "decimal32", "decimal64", "decimal128"}

// lacksType reports whether the SDK failed at a value of such a type.
func lacksType(err error) bool {
	if err == nil {
		return false
	}
	for _, name := range lackingTypes {
		if strings.Contains(err.Error(), name+" not implemented") {
			return true
		}
	}
	return false
}

// nextByControl is next by the control API, which has the types of all values.
func (p *peeker) nextByControl(ctx context.Context, count int) ([]message, error) {
	path := p.at.path()
	query := url.Values{"limit": {strconv.Itoa(min(count, peekPage))}, "properties": {"true"}, "body": {"4096"}}
	if p.from != 0 {
		query.Set("from", strconv.FormatInt(p.from, 10))
	}
	if p.session != nil {
		query.Set("sessionId", *p.session)
		if *p.session == "" {
			query.Set("sessionId", "$empty")
		}
	}
	for {
		var page struct {
			Items []message
			Next  string
		}
		if err := p.app.control(ctx, http.MethodGet, inThis("entities", path, "messages")+"?"+query.Encode(), nil,
			&page); err != nil {
			return nil, p.unshown(err)
		}
		if len(page.Items) == 0 && page.Next != "" { // of other sessions
			query.Set("cursor", page.Next)
			continue
		}
		for i := range page.Items {
			m := &page.Items[i]
			if !m.BodyCut || m.SequenceNumber == nil {
				continue
			}
			var whole message
			one := inThis("entities", path, "messages", strconv.FormatInt(*m.SequenceNumber, 10)) + "?body=1048576"
			if p.app.control(ctx, http.MethodGet, one, nil, &whole) == nil { // else it has gone meanwhile
				*m = whole
			}
		}
		return p.passed(page.Items), nil
	}
}

// unshown says why a message can't be shown.
func (p *peeker) unshown(err error) error {
	if needsSession(p.unread) {
		return failed(exitFailed, "%s: it delivers by session, and Microsoft's SDK for Go peeks at such an entity "+
			"only with a session: give --session ID, which locks the session while it reads; the control API of a "+
			"Minibus shows all sessions, but: %s", p.does, oneLine(err.Error()))
	}
	return failed(exitFailed, "%s: from number %d on there is a message with a value that Microsoft's SDK for Go "+
		"can't read (%s); the control API of a Minibus shows it, but: %s", p.does, p.from,
		oneLine(p.unread.Error()), oneLine(err.Error()))
}

func (a *app) tailCommand() *cobra.Command {
	var (
		subQueue subQueueFlags
		count    int
		follow   bool
		interval time.Duration
		session  string
	)
	c := &cobra.Command{Use: "tail ENTITY", Short: "show the newest messages, and with -f those that come",
		Args: Arguments("ENTITY"),
		Long: `Shows the newest messages, and with -f each new one until it is interrupted. It peeks: it locks none,
and a message that is received at once may be missed.

` + addressHelp,
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
			err = pause(ctx, interval)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// last returns the last messages, and goes on behind them. Peeking goes forward only, so it searches for the end by
// jumps that double, then by halves.
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
