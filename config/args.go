package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"minibus/internal/printable"
)

// The commands.
const (
	CommandServe       = "serve" // none given
	CommandCheck       = "config check"
	CommandHealthcheck = "healthcheck"
	CommandExport      = "export"
	CommandCert        = "cert"
	CommandHosts       = "hosts"
	CommandVersion     = "version"
	CommandHelp        = "help"
)

// Command is a parsed command line.
type Command struct {
	Name     string   // one of the constants
	File     string   // CommandCheck: the file to check; empty for the one that would be served
	Topic    string   // CommandHelp: the command to explain, one of the constants; empty for all
	Export   bool     // CommandCert: write the certificate instead of printing where it is
	Hosts    []string // CommandHosts: names of namespaces, or hosts
	Settings Settings

	// Connection is the connection string of CommandExport, a secret, from the argument or [ConnectionVariable]. "-" stands for
	// standard input; empty without either.
	Connection string

	others []string // commands of the caller, to guess from
}

// ConnectionVariable is the environment variable with the connection string of an export without that argument. It keeps the
// key out of the shell's history. Samples of the SDKs use the same name.
const ConnectionVariable = "SERVICEBUS_CONNECTION_STRING"

// ParseArgs reads the arguments (without the program's name) and the environment ("KEY=value" entries). A flag wins over
// the environment, and the environment over the default. An empty variable counts as unset, because compose files pass
// unset variables that way. The error is one line and names the flag or variable. others are commands that the caller knows besides; they are
// guessed for a word that is no command.
func ParseArgs(args, environ []string, others ...string) (*Command, error) {
	c := &Command{others: others}
	settings := table
	flags := pflag.NewFlagSet("minibus", pflag.ContinueOnError)
	flags.SetOutput(nowhere{})
	flags.Usage = func() {}
	help := flags.BoolP("help", "h", false, "")
	version := flags.BoolP("version", "v", false, "")
	values := make([]*flagValue, len(settings))
	for i := range settings {
		values[i] = &flagValue{setting: &settings[i]}
		f := flags.VarPF(values[i], settings[i].name, "", settings[i].help)
		if settings[i].arg == "" {
			f.NoOptDefVal = "true"
		}
	}
	if err := flags.Parse(args); err != nil {
		return nil, flagError(err, settings)
	}
	switch {
	case *help:
		c.Name, c.Topic = CommandHelp, topic(flags.Args())
		return c, nil
	case *version:
		c.Name = CommandVersion
		return c, nil
	}
	if err := c.words(flags.Args()); err != nil {
		return nil, err
	}
	env := environMap(environ)
	if err := c.apply(values, env); err != nil {
		return nil, err
	}
	if c.Name == CommandExport && c.Connection == "" {
		c.Connection = strings.TrimSpace(env[ConnectionVariable])
	}
	return c, nil
}

// apply fills the settings from flags, environment and defaults.
func (c *Command) apply(values []*flagValue, environ map[string]string) error {
	given := map[string]bool{}
	for _, v := range values {
		value, source := v.setting.initial, "default"
		for _, name := range append([]string{v.setting.variable()}, v.setting.aliases...) {
			if e := strings.TrimSpace(environ[name]); e != "" && source == "default" {
				value, source = e, name
			}
		}
		if v.changed {
			value, source = v.value, "--"+v.setting.name
			given[v.setting.name] = true
			if of := strings.Fields(v.setting.command); len(of) > 0 && !slices.Contains(of, c.Name) {
				return fmt.Errorf("--%s belongs to the command %s", v.setting.name, strings.Join(of, " or "))
			}
		}
		if value == "" && !v.changed {
			continue
		}
		if err := v.setting.set(&c.Settings, value); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
	if (c.Settings.TLSCert == "") != (c.Settings.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key belong together: give both")
	}
	if !c.Settings.Ephemeral || !given["data"] {
		return nil
	}
	if given["ephemeral"] {
		return errors.New("--ephemeral and --data cannot be combined: leave one out")
	}
	c.Settings.Ephemeral = false // a flag wins over the environment
	return nil
}

// words reads the arguments that are not flags.
func (c *Command) words(words []string) error {
	if len(words) == 0 {
		c.Name = CommandServe
		return nil
	}
	rest := words[1:]
	switch strings.ToLower(words[0]) {
	case CommandServe:
		c.Name = CommandServe
	case CommandHealthcheck:
		c.Name = CommandHealthcheck
	case CommandVersion:
		c.Name = CommandVersion
	case CommandHelp:
		c.Name, c.Topic = CommandHelp, topic(rest)
		if len(rest) > 0 && c.Topic == "" {
			return c.unknown(rest[0])
		}
		rest = nil
	case "config":
		return c.checkWords(rest)
	case CommandExport:
		return c.exportWords(rest)
	case CommandCert:
		c.Name = CommandCert
		if len(rest) > 0 && strings.EqualFold(rest[0], "export") {
			c.Export, rest = true, rest[1:]
		}
	case CommandHosts:
		return c.hostsWords(rest)
	default:
		if strings.Contains(words[0], "=") { // may be a connection string: don't show it
			return errors.New("the first word is no command; a connection string belongs to minibus export")
		}
		return c.unknown(words[0])
	}
	return noMore(rest)
}

func noMore(words []string) error {
	if len(words) > 0 {
		return fmt.Errorf("unexpected argument %q, %s", clip(words[0]), cmp.Or(fileFlag(words[0]), "see minibus --help"))
	}
	return nil
}

// checkWords reads the words after config.
func (c *Command) checkWords(words []string) error {
	if len(words) == 0 || !strings.EqualFold(words[0], "check") {
		if len(words) == 1 && fileName(words[0]) {
			return fmt.Errorf("config needs a second word: minibus config check %s", argument(words[0]))
		}
		return errors.New("config needs a second word: minibus config check FILE, print, diff FILE or apply FILE")
	}
	c.Name, words = CommandCheck, words[1:]
	if len(words) > 0 {
		c.File, words = words[0], words[1:]
	}
	return noMore(words)
}

// exportWords reads the words after export. Its error does not show surplus words, which may be pieces of the key.
func (c *Command) exportWords(words []string) error {
	c.Name = CommandExport
	if len(words) > 0 {
		c.Connection, words = words[0], words[1:]
	}
	if len(words) > 0 {
		return errors.New("minibus export takes one connection string; put it in quotation marks")
	}
	return nil
}

// hostsWords reads the words after hosts.
func (c *Command) hostsWords(words []string) error {
	c.Name, c.Hosts = CommandHosts, words
	for _, word := range words {
		if strings.ContainsAny(word, `/\`) || slices.Contains(configEnds, strings.ToLower(filepath.Ext(word))) {
			return fmt.Errorf("%q is no name of a namespace; a configuration is given with a flag: minibus hosts --config %s", clip(word), argument(word))
		}
	}
	return nil
}

// UnknownCommandError says that a word is no command.
type UnknownCommandError struct {
	word, cure string
}

// Error implements error.
func (e *UnknownCommandError) Error() string {
	return fmt.Sprintf("there is no command %q%s", clip(e.word), e.cure)
}

// ExitCode returns the exit code of the process, which is that of a wrong command line.
func (e *UnknownCommandError) ExitCode() int { return 2 }

// unknown returns the error for an unknown command, with a guess.
func (c *Command) unknown(word string) error {
	if cure := fileFlag(word); cure != "" {
		return &UnknownCommandError{word, ", " + cure}
	}
	commands := append([]string{CommandServe, "config", CommandExport, CommandHealthcheck, CommandCert, CommandHosts, CommandVersion, CommandHelp}, c.others...)
	return &UnknownCommandError{word, orHelp(printable.Closest(word, commands))}
}

// topic returns the command that the words name, or "".
func topic(words []string) string {
	if len(words) == 0 {
		return ""
	}
	switch name := strings.ToLower(words[0]); name {
	case "config":
		return CommandCheck
	case CommandServe, CommandHealthcheck, CommandExport, CommandCert, CommandHosts, CommandVersion, CommandHelp:
		return name
	}
	return ""
}

// File name extensions, by which an error can suggest a flag.
var (
	configEnds = []string{".json", ".jsonc"}
	dataEnds   = []string{".db", ".sqlite", ".sqlite3"}
)

// fileFlag returns the flag for a file name given in place of a command; empty if the word does not look like one.
func fileFlag(word string) string {
	switch end := strings.ToLower(filepath.Ext(word)); {
	case slices.Contains(configEnds, end):
		return "a configuration is given with a flag: minibus --config " + argument(word)
	case slices.Contains(dataEnds, end):
		return "a database is given with a flag: minibus --data " + argument(word)
	case fileName(word):
		return "a file is given with a flag: --config for a configuration, --data for a database"
	}
	return ""
}

// argument returns a word that can be copied into a shell as it is, or FILE for one that needs quotes.
func argument(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/.-_+:@%~", r)
	}
	if len(word) > 500 || strings.ContainsFunc(word, special) {
		return "FILE"
	}
	return word
}

// fileName reports whether the word looks like the name of a file, or such a file exists.
func fileName(word string) bool {
	if strings.ContainsAny(word, `/\`) && !strings.Contains(word, "://") || slices.Contains(configEnds, strings.ToLower(filepath.Ext(word))) {
		return true
	}
	info, err := os.Stat(word)
	return err == nil && !info.IsDir()
}

// flagError adds a guess to the library's message for an unknown flag.
func flagError(err error, settings []setting) error {
	var (
		unknown *pflag.NotExistError
		empty   *pflag.ValueRequiredError
	)
	if errors.As(err, &empty) {
		for _, s := range settings {
			if s.name == empty.GetSpecifiedName() {
				return fmt.Errorf("--%s needs a value: --%s %s (%s)", s.name, s.name, s.arg, s.help)
			}
		}
	}
	if !errors.As(err, &unknown) {
		return fmt.Errorf("read the command line: %w", err)
	}
	names := []string{"help", "version"}
	for _, s := range settings {
		names = append(names, s.name)
	}
	guess := printable.Closest(unknown.GetSpecifiedName(), names)
	if guess != "" {
		guess = "--" + guess
	}
	return fmt.Errorf("there is no flag --%s%s", clip(unknown.GetSpecifiedName()), orHelp(guess))
}

func orHelp(guess string) string {
	if guess != "" {
		return ", did you mean " + guess + "?"
	}
	return ", see minibus --help"
}

func environMap(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			m[name] = value
		}
	}
	return m
}

// flagValue records the value of a flag; apply uses it later, in order of precedence.
type flagValue struct {
	setting *setting
	value   string
	changed bool
}

func (v *flagValue) String() string { return v.value }

// Set implements pflag.Value.
func (v *flagValue) Set(s string) error {
	v.value, v.changed = s, true
	return nil
}

// Type implements pflag.Value.
func (v *flagValue) Type() string { return v.setting.arg }

// nowhere discards the flag library's output; the caller prints errors once.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
