package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"minibus/config"
	"minibus/internal/printable"
	"minibus/internal/sas"
)

// Environment connects a command with the program: streams, variables, and what only the program can look up.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // "KEY=value" entries

	// Authority returns the file with the certificate of the local Minibus's authority, which need not exist.
	Authority func() (string, error)
	// Identity returns what programs need to sign in to the local Minibus, and makes the files for it.
	Identity func(IdentityOptions) (Identity, error)
	// Document returns the OpenAPI document of the control API, as this program serves it.
	Document func() []byte
	Version  string // of this program

	// Examine looks at the Minibus that would run with these settings, or does. It changes nothing.
	Examine func(context.Context, config.Settings) []Finding
	// SupportParts returns what the program knows for a support bundle: its version and platform, the settings
	// without secrets, and the entities of a namespace as a Config.json.
	SupportParts func(ctx context.Context, s config.Settings, from Source) []SupportPart
	// Copy starts a Minibus within this process, with the entities of a namespace and without its policies. It
	// returns what connects to it, what a copy does not have, and what ends it.
	Copy func(ctx context.Context, from Source) (dial Dialer, notes []string, end func(), err error)
}

// Source is a namespace whose entities are read.
type Source struct {
	Connection sas.Connection
	CAFile     string // of --ca
	// Token returns the token of a sign-in; nil: the connection has a key.
	Token func(context.Context) (string, error)
}

// Dialer connects to a server within this process.
type Dialer func(context.Context) (net.Conn, error)

// app is one run of a command.
type app struct {
	env   Environment
	flags struct {
		connection, auth, ca, output, timeout string
		noColor                               bool
	}
	out output

	source    string         // where the connection string comes from; empty until connect
	command   *cobra.Command // nil unless a client's command runs
	isLocal   bool           // nothing names a namespace, so it is the Minibus of this machine
	target    sas.Connection
	signIn    *signIn // nil: the target has a key
	adminPort string  // of the local Minibus, for entities and the control API; empty: that of the target
	portsFile string  // of the local Minibus; empty: as its variables say
	client    *azservicebus.Client
	admin     *admin.Client
	http      *http.Client

	interrupted string // what to add when the command was interrupted
	quiet       bool   // to be interrupted is the usual end of the command
}

// init sets what only variables of cobra's can say.
func init() {
	cobra.EnableCommandSorting = false // the first commands are those that people look for
	cobra.EnableCaseInsensitive = true // minibus Export
	cobra.MousetrapHelpText = ""       // on Windows a click on the program starts the server
}

// Run adds the commands of a client to root, which runs the server and has its other commands. Then it runs the
// command that the arguments name until it is done or ctx ends. The error is ready to be shown. That of a client's
// command, and of a wrong command line, has a method ExitCode.
func Run(ctx context.Context, root *cobra.Command, args []string, e Environment) (err error) {
	a := &app{env: e}
	a.addTo(root)
	root.SetArgs(append([]string{}, args...)) // for nil cobra would take those of the process
	root.SetIn(e.Stdin)
	root.SetOut(printable.Screen(e.Stdout))
	root.SetErr(printable.Screen(e.Stderr))
	defer func() {
		if a.command != nil {
			// The SDK asserts the types of properties that any client can send with another type.
			if r := recover(); r != nil {
				err = &failure{code: exitFailed,
					text: fmt.Sprintf("the client library could not read an answer: %v", r)}
			}
			if closing := a.close(); err == nil {
				err = closing
			}
		}
		err = a.finish(ctx, err)
	}()
	return root.ExecuteContext(ctx)
}

// finish makes an error of a command fit to be shown. Those of the server are already.
func (a *app) finish(ctx context.Context, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		if err == nil || a.command == nil {
			return err
		}
		f = a.explain(err)
	}
	if a.command != nil && ctx.Err() != nil && f.code != exitUsage {
		if a.quiet {
			return &failure{code: exitInterrupted}
		}
		return &failure{code: exitInterrupted, text: "interrupted" + a.interrupted}
	}
	if a.signIn != nil {
		f.text = strings.Replace(f.text, fixRights, fixRoles, 1)
	}
	f.text = trackingTail.ReplaceAllString(f.text, "$1")
	if a.command != nil && a.source != "" {
		a.improve(ctx, f)
	}
	var shown strings.Builder
	_, _ = printable.Screen(&shown).Write([]byte(a.redact(f.text)))
	f.text = shown.String()
	return f
}

// addTo adds the commands here, and what all commands have in common: help, errors and completion.
func (a *app) addTo(root *cobra.Command) {
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(root, args[0])
		}
		return nil
	}
	root.SetFlagErrorFunc(flagError)
	width := helpWidth(a.env.Stdout)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		_, _ = io.WriteString(c.OutOrStdout(), helpText(c, width))
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(c.OutOrStderr(), usageText(c, width))
		return err
	})
	root.SetHelpCommand(helpCommand(root))

	group := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
			a.addFlags(c)
			root.AddCommand(c)
		}
	}
	group("Entities of a Minibus, or of a namespace in Azure:",
		a.queueCommand(), a.topicCommand(), a.subCommand(), a.ruleCommand())
	group("Messages in either:",
		a.sendCommand(), a.peekCommand(), a.receiveCommand(), a.tailCommand(), a.dlqCommand(), a.purgeCommand(),
		a.benchCommand())
	group("Control of a running Minibus:",
		a.openCommand(), a.statusCommand(), a.lsCommand(), a.namespaceCommand(), a.messageCommand(),
		a.sessionsCommand(), a.connCommand(), a.whyCommand(), a.historyCommand(), a.waitCommand(),
		a.clockCommand(), a.faultCommand(), a.resetCommand(), a.configCommand(), a.snapshotCommand(), a.seedCommand())
	const more = "Around them:"
	group(more, a.envCommand(), a.tokenCommand(), a.doctorCommand(), a.supportCommand(), a.mcpCommand())
	root.SetCompletionCommandGroupID(more)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Short = "print the script that completes commands, flags and names of entities"
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Usage("completion: there is no script for %q; there are: %s", oneLine(args[0]), usageOf(cmd))
			}
			return cmd.Help()
		}
	}
	a.completions(root)
}

// addFlags gives a client's command, and those below it, the flags that all of them have.
func (a *app) addFlags(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVarP(&a.flags.connection, "connection", "c", "", "connection `string` of the namespace, or host:port of a "+
		"Minibus (default $"+connectionVariable+", else a Minibus on this machine)")
	f.StringVar(&a.flags.auth, "auth", "", AuthHelp)
	f.StringVar(&a.flags.ca, "ca", "", "trust the CA certificate in this PEM `file` (default that of the local "+
		"Minibus)")
	f.StringVarP(&a.flags.output, "output", "o", "table",
		"`format`: table, wide (a table of everything), json (one document) or jsonl (a document a line)")
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours, as with the variable NO_COLOR")
	f.StringVar(&a.flags.timeout, "timeout", "", "how long an answer of the server may take, a `duration` such as 10s "+
		"(default 1m, for snapshots 1h)")
	f.VisitAll(func(f *pflag.Flag) { setHeading(f, globalFlags) })
	_ = c.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("auth",
		cobra.FixedCompletions([]string{authAz}, cobra.ShellCompDirectiveNoFileComp))
	c.PersistentPreRunE = a.begin
}

// begin checks the flags that all commands have.
func (a *app) begin(c *cobra.Command, _ []string) error {
	a.command = c
	if !slices.Contains(formats, a.flags.output) {
		return Usage("--output: found %q; allowed: %s", oneLine(a.flags.output), strings.Join(formats, ", "))
	}
	if err := checkAuth(a.flags.auth); err != nil {
		return err
	}
	if d, err := parseDuration(a.flags.timeout); a.flags.timeout != "" && (err != nil || d <= 0) {
		return Usage("--timeout: found %q; allowed: a duration of more than zero, such as 10s",
			oneLine(a.flags.timeout))
	}
	a.out = newOutput(a.flags.output, a.flags.noColor, a.env)
	a.out.askNow = a.shownNow
	return nil
}

// group is a command that needs a second word.
func group(use, short, long string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true}
	c.AddCommand(subs...)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usage("%s needs a second word: %s", called(cmd), usageOf(cmd))
		}
		guess := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			isRest := func(name string) bool { return strings.HasPrefix(name, args[0]) } // likelier than another word
			guess = fmt.Sprintf(", did you mean %s?", near[max(0, slices.IndexFunc(near, isRest))])
		}
		return Usage("there is no command %q of %s%s; there are: %s", oneLine(args[0]), called(cmd), guess,
			usageOf(cmd))
	}
	c.SuggestionsMinimumDistance = 2
	return c
}

// called returns the words of a command without the program's name, which begins every error.
func called(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "minibus ") }

// Arguments wants arguments with these names. The last one may be in brackets: it may be left out; or end with dots:
// there may be more.
func Arguments(wanted ...string) cobra.PositionalArgs {
	least := 0
	for _, w := range wanted {
		if !strings.HasPrefix(w, "[") {
			least++
		}
	}
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			missing := strings.TrimSuffix(wanted[len(args)], "...")
			return Usage("%s needs %s; see %s --help", called(c), missing, c.CommandPath())
		case len(args) > len(wanted) && !strings.HasSuffix(strings.Join(wanted, ""), "..."):
			return unexpected(c, args[len(wanted)])
		}
		return nil
	}
}
