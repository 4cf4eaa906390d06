package cli

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/spf13/cobra"

	"minibus/internal/sas"
)

// app is one run of a command.
type app struct {
	env   Environment
	flags struct{ connection, ca, output, timeout string }
	out   output

	source    string // where the connection string comes from; empty until connect
	command   *cobra.Command
	isLocal   bool // nothing names a namespace, so it is the Minibus of this machine
	target    sas.Connection
	adminPort string // of the entities of an emulator, if it is known
	portsFile string // of the local Minibus; empty: as its variables say
	client    *azservicebus.Client
	admin     *admin.Client
	http      *http.Client

	interrupted string // what to add when the command was interrupted
	quiet       bool   // to be interrupted is the usual end of the command
}

// The groups of the help.
const (
	groupEntities = "entities"
	groupMessages = "messages"
	groupControl  = "control"
	groupMore     = "more"
)

// init keeps the order of the commands: the first ones are those that people look for. Only a variable of cobra's can say so.
func init() { cobra.EnableCommandSorting = false }

// root makes the commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "minibus", Short: "a local Azure Service Bus, and a client for it and for Azure", SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.begin(cmd) },
	}
	f := root.PersistentFlags()
	f.StringVarP(&a.flags.connection, "connection", "c", "", "connection `string` of the namespace (default $MINIBUS_CONNECTION, $SERVICEBUS_CONNECTION_STRING, a Minibus on this machine)")
	f.StringVar(&a.flags.ca, "ca", "", "trust the authority in this PEM `file` (default that of the local Minibus)")
	f.StringVarP(&a.flags.output, "output", "o", "table", "`format`: table, json (one document) or jsonl (a document a line)")
	f.StringVar(&a.flags.timeout, "timeout", "", "how long an answer of the server may take, a `duration` such as 10s (default 1m, for snapshots 1h)")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "jsonl"}, cobra.ShellCompDirectiveNoFileComp))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%v; see %s --help", err, c.CommandPath())
	})
	root.AddGroup(&cobra.Group{ID: groupEntities, Title: "Entities of a Minibus, or of a namespace in Azure:"}, &cobra.Group{ID: groupMessages, Title: "Messages in either:"},
		&cobra.Group{ID: groupControl, Title: "Control of a running Minibus:"}, &cobra.Group{ID: groupMore, Title: "Around them:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupEntities, a.queueCommand(), a.topicCommand(), a.subCommand(), a.ruleCommand())
	add(groupMessages, a.sendCommand(), a.peekCommand(), a.receiveCommand(), a.tailCommand(), a.dlqCommand(), a.purgeCommand(), a.benchCommand())
	add(groupControl, a.namespaceCommand(), a.messageCommand(), a.sessionsCommand(), a.connCommand(), a.whyCommand(), a.historyCommand(), a.waitCommand(), a.clockCommand(), a.faultCommand(), a.resetCommand(), a.configCommand(), a.snapshotCommand())
	add(groupMore, a.envCommand(), a.doctorCommand(), a.supportCommand(), a.mcpCommand())
	root.SetCompletionCommandGroupID(groupMore)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Short = "print the script that completes commands, flags and names of entities"
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("completion: there is no script for %q; there are: %s", oneLine(args[0]), usageOf(cmd))
			}
			return cmd.Help()
		}
	}
	a.completions(root)
	return root
}

// begin checks the flags of all commands.
func (a *app) begin(c *cobra.Command) error {
	a.command = c
	switch a.flags.output {
	case "table", "json", "jsonl":
	default:
		return usage("--output: found %q; allowed: table, json, jsonl", a.flags.output)
	}
	if d, err := parseDuration(a.flags.timeout); a.flags.timeout != "" && (err != nil || d <= 0) {
		return usage("--timeout: found %q; allowed: a duration of more than zero, such as 10s", oneLine(a.flags.timeout))
	}
	a.out = newOutput(a.flags.output, a.env)
	return nil
}

// Overview returns the lines about the commands here, for the help of all commands.
func Overview() string {
	var b strings.Builder
	root := (&app{}).root()
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "\n%s\n", g.Title)
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				fmt.Fprintf(&b, "  minibus %-36s %s\n", usageOf(c), c.Short)
			}
		}
	}
	return b.String()
}

// usageOf returns the name of a command with its second words.
func usageOf(c *cobra.Command) string {
	if !c.HasSubCommands() {
		return c.Use
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return c.Name() + " " + strings.Join(names, "|")
}

// group is a command that needs a second word.
func group(use, short, long string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true}
	c.AddCommand(subs...)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s needs a second word: %s", called(cmd), usageOf(cmd))
		}
		guess := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			best := max(0, slices.IndexFunc(near, func(name string) bool { return strings.HasPrefix(name, args[0]) })) // the rest of a word is likelier than another one
			guess = fmt.Sprintf(", did you mean %s?", near[best])
		}
		return usage("there is no command %q of %s%s; there are: %s", oneLine(args[0]), called(cmd), guess, usageOf(cmd))
	}
	c.SuggestionsMinimumDistance = 2
	return c
}

// called is what a command is called after the name of the program, which is in front of each error.
func called(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "minibus ") }

// names wants arguments with these names; one in brackets may be left out, which is the last.
func names(wanted ...string) cobra.PositionalArgs {
	least := 0
	for _, w := range wanted {
		if !strings.HasPrefix(w, "[") {
			least++
		}
	}
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage("%s needs %s; see %s --help", called(c), wanted[len(args)], c.CommandPath())
		case len(args) > len(wanted):
			return usage("%s takes no argument %q; see %s --help", called(c), oneLine(args[len(wanted)]), c.CommandPath())
		}
		return nil
	}
}
