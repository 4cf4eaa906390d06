package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"minibus/config"
	"minibus/internal/printable"
)

// Headings of flags in the help. Those of the server's settings have their groups.
const (
	ownFlags    = "Flags"
	globalFlags = "Global Flags" // of all commands of a client
)

// The annotations of flags.
const (
	headingKey  = "heading"
	variableKey = "variable" // there is one in the environment
)

func setHeading(f *pflag.Flag, heading string) {
	if f.Annotations == nil {
		f.Annotations = make(map[string][]string)
	}
	f.Annotations[headingKey] = []string{heading}
}

// ServerFlags gives a command the flags of the server. Its help lists those that are named, or all if none is. The
// function that it returns reads them, and the environment, when the command runs.
func ServerFlags(c *cobra.Command, environ []string, listed ...string) func() (config.Settings, error) {
	c.Flags().SortFlags = false
	flags := config.Flags()
	for _, f := range flags {
		added := c.Flags().VarPF(f, f.Name, "", f.Help)
		added.DefValue = f.Default
		added.Hidden = f.Group == "" || listed != nil && !slices.Contains(listed, f.Name)
		if f.Arg == "" {
			added.NoOptDefVal = "true"
		}
		setHeading(added, f.Group)
		added.Annotations[variableKey] = nil
	}
	return func() (config.Settings, error) {
		s, err := config.Read(flags, environ)
		if err != nil {
			return s, Usage("%v", err)
		}
		return s, nil
	}
}

// WithoutVariables says of flags of the server that a command does not read their variables.
func WithoutVariables(c *cobra.Command, names []string) {
	for _, name := range names {
		delete(c.Flags().Lookup(name).Annotations, variableKey)
	}
}

// WithVariables gives each flag that a command has so far a variable in the environment, which counts if the flag is
// not given.
func WithVariables(c *cobra.Command, environ []string) {
	var own []*pflag.Flag
	c.Flags().VisitAll(func(f *pflag.Flag) {
		setHeading(f, ownFlags)
		f.Annotations[variableKey] = nil
		own = append(own, f)
	})
	c.PreRunE = func(*cobra.Command, []string) error {
		for _, f := range own {
			name := config.Variable(f.Name)
			value := (&app{env: Environment{Environ: environ}}).variable(name)
			if value == "" || f.Changed {
				continue
			}
			if err := f.Value.Set(value); err != nil {
				return Usage("%s: found %q; %v", name, oneLine(value), err)
			}
		}
		return nil
	}
}

// serverSettings reads flags of the server that stand after the -- of another command, and the environment.
func (a *app) serverSettings(flags []string) (config.Settings, error) {
	c := &cobra.Command{Use: "minibus"}
	read := ServerFlags(c, a.env.Environ)
	if err := c.ParseFlags(flags); err != nil {
		return config.Settings{}, flagError(c, err)
	}
	if word := c.Flags().Arg(0); word != "" {
		return config.Settings{}, Usage("found the word %q after --; only flags of the server belong there",
			oneLine(word))
	}
	return read()
}

// widestHelp is how wide a help is at most.
const widestHelp = 100

// helpWidth is how wide a help is that goes to a stream.
func helpWidth(stream any) int {
	if width := terminalWidth(stream); width > 0 {
		return min(max(width, 40), widestHelp)
	}
	return widestHelp
}

// helpText is the help of a command.
func helpText(c *cobra.Command, width int) string {
	if c.HasParent() {
		return reflowed(cmp.Or(c.Long, c.Short), width) + "\n" + usageText(c, width)
	}
	return overview(c, width)
}

// reflowed breaks the paragraphs of a text anew between words. Lines that begin with a space or have columns stay as
// they are.
func reflowed(text string, width int) string {
	var b strings.Builder
	var words []string
	flush := func() {
		for _, line := range wrapped(strings.Join(words, " "), width) {
			b.WriteString(line + "\n")
		}
		words = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' && !strings.Contains(line, "  ") {
			words = append(words, line)
			continue
		}
		flush()
		b.WriteString(line + "\n")
	}
	flush()
	return b.String()
}

// wrapped breaks a text into lines between its words. A longer word has a line of its own.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && displaywidth.String(line)+1+displaywidth.String(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}

// writeTerm writes a term in a column, and what it means beside it, or below it if it is too long.
func writeTerm(b *strings.Builder, term string, column int, meaning string, width int) {
	if len(term) > column {
		fmt.Fprintf(b, "%s\n", term)
		term = ""
	}
	for _, line := range wrapped(meaning, width-column-1) {
		fmt.Fprintf(b, "%-*s %s\n", column, term, line)
		term = ""
	}
}

// overview is the help of the program: its commands by group, and the flags of the server.
func overview(root *cobra.Command, width int) string {
	const begin = "  minibus "
	column := len(begin) + min(36, width/3)
	var b strings.Builder
	b.WriteString(root.Long + "\n")
	for i, g := range root.Groups() {
		fmt.Fprintf(&b, "\n%s\n", g.Title)
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				writeTerm(&b, begin+usageOf(c), column, c.Short, width)
			}
		}
		if i == 0 {
			writeTerm(&b, begin+"COMMAND --help", column, "more about a command", width)
		}
	}
	writeFlags(&b, root, width)
	b.WriteString("\nExamples:\n" + reflowed(root.Example, width))
	return b.String()
}

// usageOf returns the name of a command with its arguments, or its second words.
func usageOf(c *cobra.Command) string {
	if !c.HasSubCommands() || c.Runnable() && strings.Contains(c.Use, " ") {
		return c.Use
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return c.Name() + " " + strings.Join(names, "|")
}

// usageText says how a command is called: its arguments, examples, second words and flags.
func usageText(c *cobra.Command, width int) string {
	c.InitDefaultHelpFlag() // the line of usage tells whether there are flags
	var b strings.Builder
	line := c.UseLine()
	if c.HasSubCommands() && !strings.Contains(c.Use, " ") {
		line += " COMMAND"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", line)
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAliases:\n  %s\n", c.NameAndAliases())
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				writeTerm(&b, "  "+sub.Name(), 13, sub.Short, width)
			}
		}
	}
	writeFlags(&b, c, width)
	return b.String()
}

// writeFlags lists the flags of a command by heading: its own, those of the server, those of all commands of a client.
func writeFlags(b *strings.Builder, c *cobra.Command, width int) {
	headings := []string{ownFlags}
	sets := make(map[string]*pflag.FlagSet)
	var variables []string // flags that have one
	every := true
	add := func(f *pflag.Flag) {
		heading := ownFlags
		if h := f.Annotations[headingKey]; len(h) > 0 {
			heading = h[0]
		}
		if f.Hidden || f.Name == "help" && !c.HasParent() {
			return
		}
		if sets[heading] == nil {
			sets[heading] = pflag.NewFlagSet("", pflag.ContinueOnError)
			sets[heading].SortFlags = heading == ownFlags
			if heading != ownFlags {
				headings = append(headings, heading)
			}
		}
		sets[heading].AddFlag(f)
		if _, has := f.Annotations[variableKey]; has {
			variables = append(variables, f.Name)
		} else if f.Name != "help" {
			every = false
		}
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	if len(variables) > 0 {
		text := "Each of these flags has a variable in the environment: "
		if !every {
			text = "Of these flags --" + strings.Join(variables, ", --") + " have a variable in the environment: "
		}
		if len(variables) == 1 {
			text = "One of these flags has a variable in the environment: "
		}
		example := variables[0]
		if slices.Contains(variables, "amqp-port") {
			example = "amqp-port" // shows what becomes of the hyphen
		}
		text += "--" + example + " is " + config.Variable(example) + ". A flag wins over its variable."
		b.WriteString("\n" + strings.Join(wrapped(text, width), "\n") + "\n")
	}
	for _, heading := range headings {
		if sets[heading] != nil {
			fmt.Fprintf(b, "\n%s:\n%s", heading, sets[heading].FlagUsagesWrapped(width))
		}
	}
}

// helpCommand is the command help.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND]", Short: "more about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, _, _ := root.Find(args)
			if c == root && len(args) > 0 {
				return unknownCommand(root, args[0])
			}
			return c.Help()
		}}
}

// flagError explains a mistake in a flag, with a guess for one that does not exist.
func flagError(c *cobra.Command, err error) error {
	if word := c.Flags().Arg(0); word != "" && !c.HasParent() && c.HasSubCommands() {
		return unknownCommand(c, word)
	}
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &missing):
		f := missing.GetFlag()
		arg, help := pflag.UnquoteUsage(f)
		return Usage("--%s needs a value: --%s %s (%s)", f.Name, f.Name, arg, help)
	case !errors.As(err, &unknown):
		return Usage("%v; see %s --help", err, c.CommandPath())
	case unknown.GetSpecifiedShortnames() != "":
		return Usage("there is no flag -%s, see %s --help", oneLine(unknown.GetSpecifiedName()), c.CommandPath())
	}
	name := unknown.GetSpecifiedName()
	var own []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			own = append(own, f.Name)
		}
	})
	if others := commandsWith(c.Root(), name); len(others) > 0 && len(others) <= 3 {
		return Usage("--%s belongs to the command %s", name, strings.Join(others, " or "))
	}
	if near := printable.Closest(name, own); near != "" {
		return Usage("there is no flag --%s, did you mean --%s?", oneLine(name), near)
	}
	return Usage("there is no flag --%s, see %s --help", oneLine(name), c.CommandPath())
}

// commandsWith returns the commands that have a flag.
func commandsWith(c *cobra.Command, flag string) (all []string) {
	if c.LocalFlags().Lookup(flag) != nil && c.HasParent() {
		all = append(all, called(c))
	}
	for _, sub := range c.Commands() {
		all = append(all, commandsWith(sub, flag)...)
	}
	return all
}

// unknownCommand is the error for a word that is no command, with a guess. The word may be a connection string,
// which is not shown.
func unknownCommand(root *cobra.Command, word string) error {
	if strings.Contains(word, "=") {
		return Usage("the first word is no command; a connection string belongs to minibus export, or to the flag " +
			"--connection")
	}
	if fix := fileFlag(word); fix != "" {
		return Usage("there is no command %q, %s", oneLine(word), fix)
	}
	var all []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			all = append(append(all, c.Name()), c.Aliases...)
		}
	}
	if near := printable.Closest(word, all); near != "" {
		return Usage("there is no command %q, did you mean %s?", oneLine(word), near)
	}
	return Usage("there is no command %q, see minibus --help", oneLine(word))
}

// unexpected is the error for an argument that a command does not take.
func unexpected(c *cobra.Command, word string) error {
	if fix := fileFlag(word); fix != "" {
		return Usage("%s takes no argument %q, %s", called(c), oneLine(word), fix)
	}
	return Usage("%s takes no argument %q; see %s --help", called(c), oneLine(word), c.CommandPath())
}

// File name extensions, by which an error can suggest a flag.
var (
	configEnds = []string{".json", ".jsonc"}
	dataEnds   = []string{".db", ".sqlite", ".sqlite3"}
)

// fileFlag returns the flag for a file name where none belongs; empty if the word does not look like one.
func fileFlag(word string) string {
	switch end := strings.ToLower(filepath.Ext(word)); {
	case slices.Contains(configEnds, end):
		return "a configuration is given with a flag: minibus --config " + ShellWord(word)
	case slices.Contains(dataEnds, end):
		return "a database is given with a flag: minibus --data " + ShellWord(word)
	case looksLikeFile(word):
		return "a file is given with a flag: --config for a configuration, --data for a database"
	}
	return ""
}

// ShellWord returns a word that can be copied into a shell as it is, or FILE for one that needs quotes.
func ShellWord(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/.-_+:@%~", r)
	}
	if len(word) > 500 || strings.ContainsFunc(word, special) {
		return "FILE"
	}
	return word
}

// looksLikeFile reports whether the word looks like the name of a file, or such a file exists.
func looksLikeFile(word string) bool {
	isPath := strings.ContainsAny(word, `/\`) && !strings.Contains(word, "://")
	if isPath || slices.Contains(configEnds, strings.ToLower(filepath.Ext(word))) {
		return true
	}
	info, err := os.Stat(word)
	return err == nil && !info.IsDir()
}
