package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/mgmt/control/api"
)

// stands says how it stands at the end of a wait.
func stands(o *api.WaitFor, w *api.Waited) string {
	var parts []string
	if o.Events != nil {
		events := config.Plural(w.Events, "event")
		if w.Events <= o.Events.Times {
			events = strconv.Itoa(w.Events) + " of " + config.Plural(o.Events.Times, "event")
		}
		parts = append(parts, events)
	}
	switch {
	case o.Message != nil && w.SequenceNumber != 0:
		parts = append(parts, fmt.Sprintf("the message number %d", w.SequenceNumber))
	case o.Message != nil:
		parts = append(parts, "no such message")
	}
	if o.Entity != "" {
		parts = append(parts, w.Text)
	}
	return strings.Join(parts, "; ")
}

// waitCounts are the flags that compare a count, and the count that each compares.
var waitCounts = [][2]string{{"active", "active"}, {"dead-letter", "deadLetter"}, {"scheduled", "scheduled"},
	{"deferred", "deferred"}, {"transfer", "transfer"}, {"transfer-dead-letter", "transferDeadLetter"}}

// waitStates are the states of a message to wait for.
var waitStates = []string{"active", "deferred", "scheduled"}

// longestWait is how long the control API waits at most.
const longestWait = time.Hour

func (a *app) waitCommand() *cobra.Command {
	c := &cobra.Command{Use: "wait [ENTITY]",
		Short: "wait until an entity has so many messages or a certain one, is idle, or something happened",
		Args:  Arguments("[ENTITY]"),
		Long: `Waits until all that the flags name holds at one moment. A COUNT is 3 for exactly so many, 3+ for so
many or more, 0-5 for a range; deferred messages count as active ones. An entity is idle when no message of it is
available or locked, or waits to be forwarded. Without ENTITY --events counts those of the whole namespace. With
--message a message has to be there that --where, --text, --reason, --session and --before choose: an active or locked
one, or as --message=deferred,scheduled says. Events count from the moment on at which the command begins, or with
--from from the number of an event, as minibus history -o json has them.

It ends with 0 when all holds, and with 5 when the time of --timeout is over. Then it also prints what minibus why
says of the entity.
` + controlHelp,
		Example: "  minibus wait orders --idle\n  minibus wait orders --active 0 --dead-letter 1+ --timeout 2m\n" +
			"  minibus wait events/audit --events completed=3\n" +
			"  minibus wait --events deadLettered,expired --from 1\n" +
			"  minibus wait orders/\\$DeadLetterQueue --message --reason poison"}
	f := &waitFlags{}
	f.add(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := f.order(cmd)
		if err != nil {
			return err
		}
		return a.waitFor(cmd.Context(), args, o)
	}
	return c
}

// waitFlags say what to wait for.
type waitFlags struct {
	counts                      map[string]*string
	idle                        bool
	message                     []string // states
	filter                      filterFlags
	events, id, client, timeout string
	from                        int64
}

func (f *waitFlags) add(c *cobra.Command) {
	p := c.Flags()
	f.counts = make(map[string]*string)
	for _, w := range waitCounts {
		f.counts[w[0]] = p.String(w[0], "", "so many "+strings.ReplaceAll(w[0], "-", " ")+" messages, as a `COUNT`")
	}
	p.BoolVar(&f.idle, "idle", false, "no message is available or locked, or waits to be forwarded")
	p.StringSliceVar(&f.message, "message", nil, "a message is there that --where and the like choose, in one of "+
		"these `states`: "+strings.Join(waitStates, ", "))
	p.Lookup("message").NoOptDefVal = "active"
	f.filter.addContent(c)
	p.StringVar(&f.events, "events", "",
		"so many events of these kinds: `KIND,KIND=TIMES`, such as completed=3; any for all kinds")
	p.StringVar(&f.id, "message-id", "",
		"with --events, only those with which a message with this `id` comes: sent, scheduled, duplicate, sendRefused")
	p.StringVar(&f.client, "client", "",
		"with --events, only those of this client, by the `name` of its connection, its container or its address")
	p.Int64Var(&f.from, "from", 0, "with --events, the `number` of the first event that counts")
	p.StringVar(&f.timeout, "timeout", "30s", "how long to wait, a `duration` of at most 1h")
}

// order returns what the flags say.
func (f *waitFlags) order(c *cobra.Command) (*api.WaitFor, error) {
	d, err := parseDuration(f.timeout)
	if err != nil || d <= 0 || d > longestWait {
		return nil, Usage("--timeout: found %q; allowed: a duration of more than zero and at most 1h, such as 30s",
			oneLine(f.timeout))
	}
	o := &api.WaitFor{Idle: f.idle, TimeoutSeconds: d.Seconds()}
	for _, w := range waitCounts {
		if given(c, w[0], f.counts[w[0]]) == nil {
			continue
		}
		condition, err := parseCount(w, *f.counts[w[0]])
		if err != nil {
			return nil, err
		}
		o.Counts = append(o.Counts, condition)
	}
	if o.Message, err = f.awaited(c); err != nil {
		return nil, err
	}
	if o.Events, err = parseEvents(f.events); err != nil {
		return nil, err
	}
	if o.Events == nil && (f.id != "" || f.client != "" || f.from != 0) {
		return nil, Usage("wait: --message-id, --client and --from choose among --events, which is missing")
	}
	if o.Events != nil {
		o.Events.MessageID = f.id
		o.Events.Client = f.client
		o.Events.From = f.from
	}
	return o, nil
}

// awaited returns the message to wait for, nil if there is none.
func (f *waitFlags) awaited(c *cobra.Command) (*api.MessageAwaited, error) {
	filter, err := f.filter.filter(c)
	if err != nil {
		return nil, err
	}
	if len(f.message) == 0 {
		if filter != nil {
			return nil, Usage("wait: --%s choose the message of --message, which is missing",
				strings.Join(f.filter.names, ", --"))
		}
		return nil, nil
	}
	for _, state := range f.message {
		if !slices.Contains(waitStates, state) {
			return nil, Usage("--message: found %q; allowed: %s", oneLine(state), strings.Join(waitStates, ", "))
		}
	}
	if filter == nil {
		filter = &api.JobFilter{}
	}
	filter.States = f.message
	return &api.MessageAwaited{Filter: filter}, nil
}

// waitFor waits and says how it ended.
func (a *app) waitFor(ctx context.Context, args []string, o *api.WaitFor) error {
	if len(args) == 0 && (o.Idle || len(o.Counts) > 0 || o.Message != nil) {
		return Usage("wait: --idle, --message and counts need ENTITY; see minibus wait --help")
	}
	if !o.Idle && len(o.Counts) == 0 && o.Events == nil && o.Message == nil {
		return Usage("wait: what for? Give --idle, --events, --message or a count such as --active 0; see minibus " +
			"wait --help")
	}
	if len(args) > 0 {
		path, err := a.controlPath(ctx, args[0], subQueueFlags{})
		if err != nil {
			return err
		}
		if o.Idle || len(o.Counts) > 0 {
			o.Entity = path
		}
		if o.Events != nil {
			o.Events.Entity = path
		}
		if o.Message != nil {
			o.Message.Entity = path
		}
	}
	var s answered[api.Waited]
	if err := a.control(withLimits(ctx,
		requestLimits{least: usualTimeout + time.Duration(o.TimeoutSeconds*float64(time.Second))}), http.MethodPost,
		inThis("wait"), o, &s); err != nil {
		return a.about("wait", err)
	}
	if s.is.Met {
		return a.out.done(s, "met: %s", stands(o, &s.is))
	}
	if a.out.format != formatTable {
		if err := a.out.document(s); err != nil {
			return err
		}
	} else if s.is.Why != nil {
		a.whyText(s.is.Why)
		if err := a.out.push(); err != nil {
			return err
		}
	}
	text := oneLine(stands(o, &s.is))
	if s.is.Wanted != "" { // an older server does not say
		text += "; wanted: " + oneLine(s.is.Wanted)
	}
	return failed(exitNothing, "wait: not met after %s: %s", time.Duration(o.TimeoutSeconds*float64(time.Second)), text)
}

// parseCount reads a COUNT.
func parseCount(flag [2]string, text string) (api.Condition, error) {
	wrong := Usage("--%s: found %q; allowed: 3 for exactly so many, 3+ for so many or more, 0-5 for a range",
		flag[0], oneLine(text))
	low, high, isRange := strings.Cut(text, "-")
	low, isLeast := strings.CutSuffix(low, "+")
	least, err := strconv.ParseUint(low, 10, 62)
	c := api.Condition{Of: flag[1], Least: int64(least)}
	switch {
	case err != nil || isLeast && isRange:
		return c, wrong
	case isLeast:
		return c, nil
	case !isRange:
		high = low
	}
	most, err := strconv.ParseUint(high, 10, 62)
	if err != nil || most < least {
		return c, wrong
	}
	c.Most = new(int64(most))
	return c, nil
}

// parseEvents reads KIND,KIND=TIMES; nil without any.
func parseEvents(text string) (*api.EventsAwaited, error) {
	if text == "" {
		return nil, nil
	}
	kinds, times, counted := strings.Cut(text, "=")
	e := &api.EventsAwaited{Times: 1}
	if kinds != "any" {
		e.Kinds = strings.Split(kinds, ",")
	}
	if counted {
		n, err := strconv.Atoi(times)
		if err != nil || n < 1 {
			return nil, Usage("--events: found %q; allowed: kinds of events and how many, such as completed=3 or "+
				"deadLettered,expired", oneLine(text))
		}
		e.Times = n
	}
	return e, nil
}
