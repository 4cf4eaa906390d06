package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/mgmt/control/api"
)

// dueTexts say to people what the kinds mean.
var dueTexts = map[string]string{
	"lockEnds": "the lock of a message ends", "scheduled": "a scheduled message becomes active",
	"expires":         "a message expires",
	"sessionLockEnds": "the lock of a session ends", "forwardRetried": "forwarding is tried again",
	"idle": "the entity is deleted unless it is used",
}

func (a *app) clockCommand() *cobra.Command {
	show := &cobra.Command{Use: "show", Short: "show what the clock of the namespace says, and what is due next",
		Args: Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.steer(cmd, "show the clock", http.MethodGet, "", nil)
		}}
	freeze := &cobra.Command{Use: "freeze", Short: "let the time stand still", Args: Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.steer(cmd, "freeze the clock", http.MethodPost, "freeze", nil)
		}}
	advance := &cobra.Command{Use: "advance DURATION", Short: "let time pass", Args: Arguments("DURATION"),
		Example: "  minibus clock advance 1h\n  minibus clock advance P7D",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := parseDuration(args[0])
			if err != nil || d <= 0 {
				return Usage("advance: found %q; give a duration of more than zero, such as 90s, 1h, 7d or PT1H. A "+
					"clock never goes back", oneLine(args[0]))
			}
			return a.steer(cmd, "advance the clock", http.MethodPost, "advance",
				map[string]string{"by": config.FormatDuration(d)})
		}}
	set := &cobra.Command{Use: "set INSTANT", Short: "let time pass until an instant", Args: Arguments("INSTANT"),
		Example: "  minibus clock set 2030-01-01T00:00:00Z",
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := time.Parse(time.RFC3339, args[0])
			if err != nil {
				return Usage("set: found %q; give an instant such as 2030-01-01T00:00:00Z", oneLine(args[0]))
			}
			return a.steer(cmd, "set the clock", http.MethodPut, "", map[string]time.Time{"now": to})
		}}
	resume := &cobra.Command{Use: "resume", Short: "let a frozen clock go on from where it stands", Args: Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.steer(cmd, "resume the clock", http.MethodPost, "resume", nil)
		}}
	return group("clock", "the time of a namespace of a Minibus, which locks, schedules and expiry follow",
		"Everything that falls due on the way has happened, in order, when a command ends. A clock never goes "+
			"back.\n"+controlHelp,
		show, freeze, advance, set, resume)
}

// steer sends a request to the clock and prints what it shows then.
func (a *app) steer(cmd *cobra.Command, what, method, operation string, body any) error {
	path := inThis("clock")
	if operation != "" {
		path = inThis("clock", operation)
	}
	var c api.Clock
	if err := a.control(cmd.Context(), method, path, body, &c); err != nil {
		return a.about(what, err)
	}
	pairs := [][2]string{{"now", c.Now.Format(time.RFC3339Nano)}, {"offset", c.Offset},
		{"frozen", strconv.FormatBool(c.Frozen)}}
	for _, d := range c.Due {
		text := dueTexts[d.Kind]
		if text == "" {
			text = d.Kind
		}
		at, entity := d.At.Format(time.RFC3339Nano), d.Entity
		if a.out.width > 0 {
			at = fmt.Sprintf("%-9s", relative(at, c.Now))
			entity = shorten(entity, max(a.out.width-len("offset  in 59 min  : ")-len(text), liveBody), false)
		}
		pairs = append(pairs, [2]string{"due", at + "  " + entity + ": " + text})
	}
	return a.out.one(c, pairs...)
}

// clockPatience bounds how long a command waits for the clock of the namespace before it takes the machine's time.
const clockPatience = 5 * time.Second

// scheduled reads a time, or a duration from now, by the clock of the namespace. It returns nil for an empty text.
// name is that of the argument.
func (a *app) scheduled(ctx context.Context, name, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if d, err := parseDuration(text); err == nil {
		now, err := a.now(ctx)
		return new(now.Add(d)), err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return nil, Usage("%s: found %q; allowed: a duration from now such as 10m, or a time such as "+
			"2026-01-31T12:00:00Z", name, oneLine(text))
	}
	return &at, nil
}

// nowPatience bounds how long a table waits for the clock of the namespace.
const nowPatience = 2 * time.Second

// shownNow returns the time by which a table says how long ago something was: that of the namespace if it has a clock
// of its own.
func (a *app) shownNow() time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), nowPatience)
	defer cancel()
	var c api.Clock
	if a.target.Emulator && a.control(ctx, http.MethodGet, inThis("clock")+"?due=0", nil, &c) == nil {
		return c.Now
	}
	return time.Now()
}

// now returns what the clock of the namespace says. Without a control API that is the machine's time: only a Minibus
// has clocks that can be moved.
func (a *app) now(ctx context.Context) (time.Time, error) {
	if err := a.connect(); err != nil {
		return time.Time{}, err
	}
	asking, cancel := context.WithTimeout(ctx, clockPatience)
	defer cancel()
	var c api.Clock
	err := a.control(asking, http.MethodGet, inThis("clock")+"?due=0", nil, &c)
	switch {
	case err == nil && !c.Now.IsZero():
		return c.Now, nil
	case ctx.Err() != nil:
		return time.Time{}, context.Cause(ctx)
	}
	var f *failure
	if errors.As(err, &f) && f.code == exitUnauthorized {
		a.note("the duration counts from the machine's clock: the key may not read that of the namespace")
	}
	return time.Now(), nil // the command itself says what is wrong with the connection
}
