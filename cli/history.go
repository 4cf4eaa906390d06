package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/mgmt/control/api"
)

// eventPage is a part of the history.
type eventPage struct {
	Items        []answered[api.Event]
	Next, Oldest int64
}

// eventPageSize is how many events one request asks for.
const eventPageSize = 1000

// historyFlags choose events.
type historyFlags struct {
	entity, client, since, before string
	kinds                         []string
	count                         int
	all, newest, follow           bool
	ids                           []string
}

func (a *app) historyCommand() *cobra.Command {
	c := &cobra.Command{Use: "history [ID|ENTITY#NUMBER]...",
		Short: "tell the life of a message, or list what happened to messages",
		Long: `With messages it tells the life of each: who sent it, which rules copied it, who got it and until when
it was locked, and how it ended. It follows the message through topics, forwards and dead-letter queues. A message is
named by its message id, or by its entity and sequence number. Without messages it lists the latest events. With -f it
goes on with those that come, until it is interrupted.

The AFTER column is the time since the event before. Minibus remembers the last events in memory (the server's
--history), also of messages that are gone.
` + controlHelp,
		Example: "  minibus history order-7\n  minibus history orders#12 events/audit#3 -o jsonl\n" +
			"  minibus history --entity orders --kind deadLettered,expired --since 10m\n" +
			"  minibus history --newest -n 5\n  minibus history -f --client billing"}
	f := &historyFlags{}
	p := c.Flags()
	p.StringSliceVar(&f.ids, "message-id", nil,
		"the life of the messages with these `ids`; for an id with a # and a number at its end")
	p.StringVar(&f.entity, "entity", "",
		"only events of this `path`, such as orders, events/audit or orders/$DeadLetterQueue")
	p.StringSliceVar(&f.kinds, "kind", nil,
		"only events of these `kinds`, such as sent, delivered, completed, deadLettered")
	p.StringVar(&f.client, "client", "",
		"only what this client did, by the `name` of its connection, its container or its address")
	p.StringVar(&f.since, "since", "",
		"only events since this `time`, such as 2026-03-01T12:00:00Z, or so long ago, such as 10m")
	p.StringVar(&f.before, "before", "", "only events before this `time`, or so long ago")
	p.IntVarP(&f.count, "count", "n", 20, "the most `events`: the latest")
	p.BoolVar(&f.all, "all", false, "all events that Minibus remembers")
	p.BoolVar(&f.newest, "newest", false, "the newest first")
	p.BoolVarP(&f.follow, "follow", "f", false, "go on with events that come")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(cmd, len(args)+len(f.ids) > 0); err != nil {
			return err
		}
		if len(args)+len(f.ids) > 0 {
			return a.lives(cmd.Context(), args, f.ids)
		}
		query, err := a.eventQuery(cmd.Context(), f)
		if err != nil {
			return err
		}
		return a.listEvents(cmd.Context(), f, query)
	}
	return c
}

// check refuses flags that don't go together.
func (f *historyFlags) check(c *cobra.Command, lives bool) error {
	for _, name := range []string{"entity", "kind", "client", "since", "before", "count", "all", "newest", "follow"} {
		if lives && c.Flags().Changed(name) {
			return Usage("history: --%s is for the list of events; leave it out, or the messages", name)
		}
	}
	switch {
	case f.count < 0 || f.count == 0 && !f.follow:
		return Usage("history: --count: found %d; allowed: 1 or more, and 0 with --follow", f.count)
	case f.all && c.Flags().Changed("count"):
		return Usage("history: --all and --count contradict each other: leave one out")
	case f.follow && f.newest:
		return Usage("history: --follow lists in the order of time: leave --newest out")
	}
	return nil
}

// eventQuery returns the arguments of the control API that select events.
func (a *app) eventQuery(ctx context.Context, f *historyFlags) (url.Values, error) {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("client", f.client)
	set("kind", strings.Join(f.kinds, ","))
	if f.entity != "" {
		path, err := a.controlPath(ctx, f.entity, subQueueFlags{})
		if err != nil {
			return nil, err
		}
		set("entity", path)
	}
	for name, text := range map[string]string{"since": f.since, "before": f.before} {
		at, err := a.instant(ctx, name, text)
		if err != nil {
			return nil, err
		}
		set(name, at)
	}
	return query, nil
}

// instant returns a time as the control API takes it. A duration is so long ago, by the clock of the namespace.
func (a *app) instant(ctx context.Context, flag, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return text, nil
	}
	ago, err := parseDuration(text)
	if err != nil {
		return "", Usage("--%s: found %q; allowed: a time such as 2026-03-01T12:00:00Z, or a duration such as 10m",
			flag, oneLine(text))
	}
	var c api.Clock
	if err := a.control(ctx, http.MethodGet, inThis("clock"), nil, &c); err != nil {
		return "", a.about("read the clock", err)
	}
	return c.Now.Add(-ago).Format(time.RFC3339Nano), nil
}

// lives tells the life of each message.
func (a *app) lives(ctx context.Context, args, ids []string) error {
	a.out.list("TIME", "AFTER", "EVENT", "WHAT HAPPENED")
	var last time.Time
	tell := func(named string, query url.Values) (bool, error) {
		var page eventPage
		if err := a.control(ctx, http.MethodGet, inThis("history", "life")+"?"+query.Encode(), nil, &page); err != nil {
			return false, a.about("history of "+oneLine(named), err)
		}
		last = time.Time{}
		for i := range page.Items {
			if err := a.addEvent(&page.Items[i], &last); err != nil {
				return false, err
			}
		}
		return len(page.Items) > 0, nil
	}
	for _, arg := range append(slices.Clone(args), ids...) {
		some := false
		queries, err := lifeQueries(arg, slices.Contains(ids, arg))
		for i := 0; i < len(queries) && err == nil && !some; i++ {
			some, err = tell(arg, queries[i])
		}
		if err != nil {
			return err
		}
		if !some {
			return failed(exitNotFound, "Minibus remembers nothing of the message %s: it never came, or what "+
				"happened is forgotten (the server's --history)", oneLine(arg))
		}
	}
	return nil
}

// lifeQueries returns what to ask for a message, one after the other until there is an answer: a path may be that of
// a subscription or of a queue.
func lifeQueries(arg string, isID bool) ([]url.Values, error) {
	i := strings.LastIndexByte(arg, '#')
	n, err := strconv.ParseInt(arg[i+1:], 10, 64)
	if isID || i <= 0 || err != nil || n < 1 {
		if arg == "" {
			return nil, Usage("history: a message needs its id, or ENTITY#NUMBER")
		}
		return []url.Values{{"messageId": {arg}}}, nil
	}
	at, err := parseAddress(arg[:i], subQueueFlags{})
	if err != nil {
		return nil, err
	}
	var all []url.Values
	for _, path := range at.paths() {
		all = append(all, url.Values{"entity": {path}, "sequenceNumber": {arg[i+1:]}})
	}
	return all, nil
}

// listEvents lists events, and with --follow those that come.
func (a *app) listEvents(ctx context.Context, f *historyFlags, query url.Values) error {
	a.out.list("TIME", "AFTER", "EVENT", "WHAT HAPPENED")
	if f.follow {
		a.out.stream(a.out.columns, []int{24, 9, 18})
		a.quiet = true
	}
	var last time.Time
	add := func(e *answered[api.Event]) error { return a.addEvent(e, &last) }
	next, err := a.eachEvent(ctx, f, query, add)
	if err == nil && f.follow {
		err = a.followEvents(ctx, next, query, add)
	} else if err == nil && last.IsZero() {
		a.note("nothing happened that the flags choose")
	}
	return a.about("history", err)
}

// eachEvent calls add with the events that there are, and returns the number from which to go on.
func (a *app) eachEvent(ctx context.Context, f *historyFlags, query url.Values,
	add func(*answered[api.Event]) error) (int64, error) {
	if f.all && !f.newest {
		return a.oldestEvents(ctx, query, add)
	}
	var found []answered[api.Event]
	next := int64(-1)
	cursor := int64(0)
	left := f.count
	for {
		limit := eventPageSize
		if !f.all {
			limit = min(limit, max(left, 1)) // without any it is asked for where to go on
		}
		page, err := a.eventPage(ctx, query, "newest", cursor, limit)
		if err != nil {
			return 0, err
		}
		switch {
		case next < 0 && len(page.Items) > 0:
			next = page.Items[0].is.Number + 1
		case next < 0:
			next = page.Oldest
		}
		cursor, left = page.Next, left-len(page.Items)
		for i := 0; i < len(page.Items) && f.newest; i++ {
			if err := add(&page.Items[i]); err != nil {
				return 0, err
			}
		}
		if !f.newest && f.count > 0 {
			found = append(found, page.Items...)
		}
		if len(page.Items) < limit || !f.all && left <= 0 {
			break
		}
	}
	for i := range slices.Backward(found) {
		if err := add(&found[i]); err != nil {
			return 0, err
		}
	}
	return next, nil
}

// oldestEvents calls add with all events that there are, and returns the number from which to go on.
func (a *app) oldestEvents(ctx context.Context, query url.Values,
	add func(*answered[api.Event]) error) (next int64, err error) {
	for {
		page, err := a.eventPage(ctx, query, "oldest", next, eventPageSize)
		if err != nil {
			return 0, err
		}
		for i := range page.Items {
			if err := add(&page.Items[i]); err != nil {
				return 0, err
			}
		}
		if next = page.Next; len(page.Items) < eventPageSize {
			return next, nil
		}
	}
}

func (a *app) eventPage(ctx context.Context, query url.Values, order string, cursor int64,
	limit int) (page eventPage, err error) {
	maps.Copy(query, eventPageQuery(order, cursor, limit))
	return page, a.control(ctx, http.MethodGet, inThis("history")+"?"+query.Encode(), nil, &page)
}

func eventPageQuery(order string, cursor int64, limit int) url.Values {
	return url.Values{"order": {order}, "limit": {strconv.Itoa(limit)}, "cursor": {strconv.FormatInt(cursor, 10)}}
}

// addEvent writes an event, with the time since the one before.
func (a *app) addEvent(e *answered[api.Event], last *time.Time) error {
	after := ""
	if !last.IsZero() {
		after = between(e.is.Time.Sub(*last))
	}
	*last = e.is.Time
	if a.out.width > 0 {
		return a.out.event(&e.is, after)
	}
	return a.out.add(e, e.is.Time.Format("2006-01-02T15:04:05.000Z07:00"), after, e.is.Kind, e.is.Text)
}

// event writes an event on two lines: when and what, and below that what happened.
func (o *output) event(e *api.Event, after string) error {
	at := e.Time.Local()
	when := at.Format("15:04:05.000")
	if day := at.Format(time.DateOnly); day != time.Now().Format(time.DateOnly) {
		when = day + " " + when
	}
	when = fmt.Sprintf("%s  %-9s  ", when, after)
	o.coloured("2", when)
	o.coloured(eventColours[e.Kind], visible(e.Kind))
	what := e.Entity
	if e.SubQueue != "" {
		what += "/" + e.SubQueue
	}
	if e.SequenceNumber != 0 {
		what += fmt.Sprintf(" #%d", e.SequenceNumber)
	}
	o.write("  %s\n", shorten(visible(what), max(o.width-len(when)-len(e.Kind)-gap, liveBody), false))
	for _, line := range wrapped(visible(e.Text), o.width-4) {
		o.write("    %s\n", shorten(line, o.width-4, false))
	}
	return o.push()
}

// eventColours are those of the kinds that a reader looks for.
var eventColours = map[string]string{"sent": "36", "completed": "32", "receivedAndDeleted": "32", "deadLettered": "31",
	"expired": "31", "lockExpired": "33", "abandoned": "33", "fault": "35", "sendRefused": "31",
	"settlementRefused": "31"}

// between is a short text for the time between two events.
func between(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	if d >= time.Minute {
		d = d.Round(time.Second)
	}
	return fmt.Sprint(sign, d)
}

// errExpired ends a stream with its token.
var errExpired = errors.New("the token has expired")

// followEvents calls add with the events from a number on, as they come, until the stream or ctx ends. A number less
// than 0 begins with those to come. A stream lasts as long as its token; the next one goes on where it ended.
func (a *app) followEvents(ctx context.Context, from int64, query url.Values,
	add func(*answered[api.Event]) error) error {
	for {
		err := a.streamEvents(ctx, from, query, func(e *answered[api.Event]) error {
			from = e.is.Number + 1
			return add(e)
		})
		if !errors.Is(err, errExpired) {
			return err
		}
		if a.target.Signature != "" {
			return failed(exitUnauthorized, "the stream ended: the signature in the connection string has expired")
		}
	}
}

// streamEvents calls add with the events of one stream.
func (a *app) streamEvents(ctx context.Context, from int64, query url.Values,
	add func(*answered[api.Event]) error) error {
	if from >= 0 {
		query.Set("from", strconv.FormatInt(max(from, 1), 10))
	}
	for _, name := range []string{"order", "limit", "cursor"} {
		query.Del(name)
	}
	answer, err := a.controlAnswer(withLimits(ctx, requestLimits{pieces: true, stream: true}), http.MethodGet,
		inThis("events")+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	err = eachServerEvent(answer.Body, func(name, data string) error {
		switch name {
		case "event":
			var e answered[api.Event]
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				return fmt.Errorf("read an event: %w", err)
			}
			return add(&e)
		case "missed":
			var m struct{ Count int }
			_ = json.Unmarshal([]byte(data), &m) // the count is for people only
			a.note("forgotten before they could be shown: %s", config.Plural(m.Count, "event"))
		case expired:
			return errExpired
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF):
		return failed(exitUnreachable, "the stream ended: %s stopped, or the namespace was deleted", a.host())
	}
	return err
}

// maxServerEvent is more than a line of a stream has, in bytes.
const maxServerEvent = 1 << 20

// expired is the comment with which a stream ends with its token, and the name of an event that stands for it.
const expired = "the token has expired"

// eachServerEvent reads a stream of server-sent events and calls f with the name and the data of each. It returns
// nil at the end of the stream.
func eachServerEvent(r io.Reader, f func(name, data string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxServerEvent)
	var name, data string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "" && data != "":
			if err := f(name, data); err != nil {
				return err
			}
			name, data = "", ""
		case field == "" && value == expired:
			if err := f(expired, ""); err != nil {
				return err
			}
		case field == "event":
			name = value
		case field == "data":
			data += value
		}
	}
	return lines.Err()
}
