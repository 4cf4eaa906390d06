package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/mgmt/control/api"
)

func (a *app) faultCommand() *cobra.Command {
	return group("fault", "errors that a Minibus injects, so that a program meets what Azure does on a bad day",
		"A fault lasts until it is removed, its count or its time is over, or Minibus stops.\n"+controlHelp,
		a.faultList(), a.faultAdd(), a.faultRemove())
}

func (a *app) faultList() *cobra.Command {
	return &cobra.Command{Use: "ls", Aliases: []string{"list"},
		Short: "list the faults, with how many operations each has hit", Args: Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.out.list("ID", "KIND", "OPERATIONS", "ENTITY", "CLIENT", "STATE", "HITS", "UNTIL")
			_, err := listPages(cmd.Context(), a, inThis("faults"), url.Values{}, func(f *api.Fault) []string {
				return []string{number(&f.ID), faultText(f), strings.Join(f.Operations, " "), f.Entity, f.Client,
					f.State,
					strconv.Itoa(f.Hits), stamp(f.Until)}
			})
			return a.about("list faults", err)
		}}
}

// faultText is the kind of the fault with what belongs to it.
func faultText(f *api.Fault) string {
	text := f.Kind
	switch {
	case f.Condition != "" && f.Kind != "throttle":
		text += " " + f.Condition
	case f.DelayMillis > 0:
		text += " " + (time.Duration(f.DelayMillis) * time.Millisecond).String()
	}
	if f.After {
		text += " after"
	}
	return text
}

func (a *app) faultAdd() *cobra.Command {
	c := &cobra.Command{Use: "add KIND", Short: "inject a fault, and print its number", Args: Arguments("[KIND]"),
		Long: `KIND is throttle, refuse, detach, drop, close, loseLock, loseSession, delay, starve, failJournal or
expireToken. An operation is attachSender, attachReceiver, send, receive, settle, renew, manage, authenticate, or now
for what is connected. docs/faults.md says which belong together.`,
		Example: "  minibus fault add throttle --entity orders --count 2\n" +
			"  minibus fault add refuse --operation attachReceiver --condition unauthorized-access --for 1m\n" +
			"  minibus fault add drop --operation send --after --count 1\n  minibus fault add --json fault.json",
		ValidArgs: []string{"throttle", "refuse", "detach", "drop", "close", "loseLock", "loseSession", "delay",
			"starve", "failJournal", "expireToken"}}
	var o api.FaultOrder
	var during, delay, file string
	p := c.Flags()
	p.StringSliceVar(&o.Operations, "operation", nil,
		"the `operations` that it hits (default those that are usual for the kind)")
	p.StringVar(&o.Entity, "entity", "", "only at this `path`, such as orders, orders/$DeadLetterQueue or events/audit")
	p.StringVar(&o.Client, "client", "",
		"only this `client`: the id of a connection, its container, client library or address")
	p.StringVar(&o.Condition, "condition", "",
		"the `condition` of the error, such as not-found (default that of the service)")
	p.StringVar(&delay, "delay", "", "how long an outcome is kept back, a `duration` such as 500ms")
	p.BoolVar(&o.After, "after", false, "carry the operation out, and lose its answer")
	p.IntVar(&o.Skip, "skip", 0, "let this `number` of operations go well first")
	p.IntVar(&o.Count, "count", 0, "hit this `number` of operations (default all)")
	p.Float64Var(&o.Probability, "probability", 0, "hit an operation with this `probability`, such as 0.1")
	p.Int64Var(&o.Seed, "seed", 0, "a `number` by which the same operations are hit again")
	p.StringVar(&during, "for", "", "a `duration`, by the clock of the namespace, after which the fault is over")
	p.StringVar(&file, "json", "",
		"read the fault from a `file` instead, as the control API takes it; - is standard input")
	_ = c.RegisterFlagCompletionFunc("operation",
		cobra.FixedCompletions([]string{"attachSender", "attachReceiver", "send", "receive", "settle", "renew",
			"manage", "authenticate", "now"},
			cobra.ShellCompDirectiveNoFileComp))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var body any = &o
		var err error
		switch {
		case file != "" && (len(args) > 0 ||
			cmd.Flags().NFlag() > countGiven(cmd, "json", "output", "connection", "ca")):
			return Usage("fault add --json takes neither KIND nor other flags: the document says all")
		case file != "":
			body, err = a.readFault(file)
		case len(args) == 0:
			return Usage("fault add needs KIND; see minibus fault add --help")
		default:
			o.Kind = args[0]
			if err = faultDurations(&o, during, delay); err == nil && o.Entity != "" {
				o.Entity, err = a.controlPath(cmd.Context(), o.Entity, subQueueFlags{})
			}
		}
		if err != nil {
			return err
		}
		var f answered[api.Fault]
		if err := a.control(cmd.Context(), http.MethodPost, inThis("faults"), body, &f); err != nil {
			return a.about("inject the fault", err)
		}
		return a.out.done(f, "injected fault %d: %s hits %s", f.is.ID, faultText(&f.is),
			strings.Join(f.is.Operations, ", "))
	}
	return c
}

// countGiven returns how many of the flags were given.
func countGiven(c *cobra.Command, names ...string) (n int) {
	for _, name := range names {
		if c.Flags().Changed(name) {
			n++
		}
	}
	return n
}

// faultDurations reads those of the flags.
func faultDurations(o *api.FaultOrder, during, delay string) error {
	if during != "" {
		d, err := parseDuration(during)
		if err != nil || d <= 0 {
			return Usage("--for: found %q; give a duration of more than zero, such as 30s, 1h or PT1H", oneLine(during))
		}
		o.For = config.FormatDuration(d)
	}
	if delay != "" {
		d, err := time.ParseDuration(delay)
		if err != nil || d < time.Millisecond {
			return Usage("--delay: found %q; give a duration of a millisecond or more, such as 500ms or 5s",
				oneLine(delay))
		}
		o.DelayMillis = int(d.Milliseconds())
	}
	return nil
}

// maxFaultDocument is more than a fault needs, in bytes.
const maxFaultDocument = 64 << 10

// readFault reads a fault from a file, or from standard input.
func (a *app) readFault(file string) (json.RawMessage, error) {
	in := a.env.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, Usage("--json: %v", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFaultDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the fault: %w", err)
	case len(text) > maxFaultDocument || !json.Valid(text):
		return nil, Usage("--json: %s is not a JSON document of at most %d bytes", oneLine(file), maxFaultDocument)
	}
	return text, nil
}

func (a *app) faultRemove() *cobra.Command {
	c := &cobra.Command{Use: "rm FAULT...", Short: "remove faults; what they keep back goes on",
		Example: "  minibus fault rm 3\n  minibus fault rm --all"}
	all := c.Flags().Bool("all", false, "remove all faults of the namespace")
	c.Args = func(cmd *cobra.Command, args []string) error {
		if *all == (len(args) > 0) {
			return Usage("fault rm needs the numbers of faults, or --all; see %s --help", cmd.CommandPath())
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if *all {
			if err := a.control(cmd.Context(), http.MethodDelete, inThis("faults"), nil, nil); err != nil {
				return a.about("remove all faults", err)
			}
			return a.out.done(map[string]any{"removed": "all"}, "removed all faults")
		}
		for _, arg := range args {
			if _, err := strconv.ParseInt(arg, 10, 64); err != nil {
				return Usage("fault rm: found %q; give the number of a fault, as fault ls shows it", oneLine(arg))
			}
			if err := a.control(cmd.Context(), http.MethodDelete, inThis("faults", arg), nil, nil); err != nil {
				return a.about("remove fault "+arg, err)
			}
			if err := a.out.done(map[string]any{"removed": arg}, "removed fault %s", arg); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}
