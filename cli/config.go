package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/sas"
	"minibus/mgmt/control/api"
)

func (a *app) configCommand() *cobra.Command {
	c := group("config", "a Config.json: check one, print a namespace of a Minibus as one, apply one to it",
		"check needs no server, and diff reads a namespace in Azure too. Otherwise print, diff and apply use the "+
			"control API of a Minibus.\n"+
			"With --auth sas they need a key of the default namespace with the Manage right.",
		a.configCheck(), a.configPrint(), a.configDiff(), a.configApply())
	other := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && looksLikeFile(args[0]) {
			return Usage("config needs a second word: minibus config check %s", ShellWord(args[0]))
		}
		return other(cmd, args)
	}
	return c
}

func (a *app) configCheck() *cobra.Command {
	c := &cobra.Command{Use: "check [FILE...]", Short: "check a Config.json; the exit code is 1 if it is wrong",
		Args: Arguments("[FILE]..."),
		Long: `Prints each mistake with its place and what to do, and warns of accepted settings that may surprise.
Several files count together, as with several --config. Without FILE it checks the configuration that the server
would use.`,
		Example: "  minibus config check Config.json"}
	settings := ServerFlags(c, a.env.Environ, "config", "limits")
	c.RunE = func(_ *cobra.Command, args []string) error {
		s, err := settings()
		if err != nil {
			return err
		}
		if len(args) == 0 && s.ConfigJSON != "" {
			t, report, err := s.ParseText()
			return a.checked("--config-json", t, report, err)
		}
		if len(args) == 0 {
			args = config.Find(s.Config)
		}
		return a.checkFiles(args, s.Limits)
	}
	return c
}

// checkFiles prints every finding about files and fails if one is an error.
func (a *app) checkFiles(files []string, limits config.Profile) error {
	if len(files) == 0 {
		return failed(exitFailed, "there is nothing to check: name a file, minibus config check FILE")
	}
	t, report, err := config.LoadFrom(files, bufio.NewReader(a.env.Stdin), false, limits)
	return a.checked(strings.Join(files, " "), t, report, err)
}

// checked prints what is known of a configuration.
func (a *app) checked(path string, t *config.Topology, report *config.Report, err error) error {
	if err != nil {
		return failed(exitFailed, "%v", err)
	}
	findings := []string{}
	for _, f := range report.Findings {
		findings = append(findings, f.String())
	}
	if report.Omitted > 0 {
		findings = append(findings, "and "+config.Plural(report.Omitted, "more finding"))
	}
	wrong := report.Count(config.Error)
	result := config.Plural(wrong, "error")
	if wrong == 0 {
		result = "good: " + t.Summary()
	}
	if a.out.format != formatTable {
		err = a.out.document(map[string]any{"file": path, "good": wrong == 0, "findings": findings})
	} else {
		for _, f := range findings {
			a.out.write("%s\n", f)
		}
		a.out.write("%s: %s\n", path, result)
		err = a.out.push()
	}
	if err == nil && wrong > 0 {
		err = &failure{code: exitFailed}
	}
	return err
}

func (a *app) configPrint() *cobra.Command {
	c := &cobra.Command{Use: "print [FILE...]", Short: "print the live namespace, or a file, as a Config.json",
		Args: Arguments("[FILE]..."),
		Long: `Prints the entities of the namespace as a Config.json, from which Minibus starts with the same
entities. With FILE it prints that file as Minibus reads it, without a server: with the defaults that differ from
Azure's, names spelled alike, and without what has no effect. Several files count together, as with several --config.
Warnings go to standard error.`,
		Example: "  minibus config print > Config.json\n  minibus config print main.json main.parameters.json"}
	keys := c.Flags().Bool("keys", false, "with policies and their keys")
	limits := c.Flags().String("limits", "relaxed",
		"of FILE: the `profile` of limits: relaxed, standard, premium or emulator")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return a.printFiles(args, *limits, *keys)
		}
		path := inThis("config")
		if *keys {
			path += "?keys=true"
		}
		answer, err := a.controlAnswer(cmd.Context(), http.MethodGet, path, nil)
		if err != nil {
			return a.about("print the configuration", err)
		}
		defer func() { _ = answer.Body.Close() }()
		if _, err := io.Copy(a.out.data, answer.Body); err != nil {
			return a.about("print the configuration", err)
		}
		return a.out.push()
	}
	return c
}

// printFiles prints files as they are read, and what is to be said about them to standard error.
func (a *app) printFiles(files []string, limits string, keys bool) error {
	profile, err := config.ParseProfile(limits)
	if err != nil {
		return Usage("--limits: %v", err)
	}
	t, report, err := config.LoadFrom(files, bufio.NewReader(a.env.Stdin), false, profile)
	if err != nil {
		return Usage("%v", err)
	}
	for _, f := range report.Findings {
		if f.Severity == config.Warning {
			a.note("%s", f)
		}
	}
	if t == nil {
		return failed(exitUsage, "%v", report.Err())
	}
	written, err := config.Write(t.All(), profile.Broker(), keys)
	if err != nil {
		return err
	}
	_, _ = a.out.data.Write(written)
	return a.out.push()
}

// maxConfigFile is how long a configuration may be, in bytes, as the control API says.
const maxConfigFile = 16 << 20

// configFile reads a configuration; - means standard input.
func (a *app) configFile(file string) ([]byte, error) {
	input := a.env.Stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, Usage("%v", err)
		}
		defer func() { _ = opened.Close() }()
		input = opened
	}
	text, err := io.ReadAll(io.LimitReader(input, maxConfigFile+1))
	if err != nil {
		return nil, failed(exitUsage, "read the configuration: %v", err)
	}
	if len(text) > maxConfigFile {
		return nil, Usage("%s has more than %d bytes", file, maxConfigFile)
	}
	return text, nil
}

// exitTrouble is the exit code of config diff for what is 1 elsewhere, as that of the program diff.
const exitTrouble = 2

func (a *app) configDiff() *cobra.Command {
	c := &cobra.Command{Use: "diff FILE",
		Short: "show what a file would change in the live namespace; the exit code is 1 if anything",
		Args:  Arguments("FILE"),
		Long: `Shows what config apply would do: + for an entity that is created, ~ for one that changes, with each
setting, - for one that is deleted, ! for one that can't be made what the file says. Entities that the file does not
have count only with --prune. FILE is a Config.json, or has Queues and Topics of one namespace; - is standard input.
Of a namespace that is no Minibus's it reads the entities first, and leaves policies out.
Exit code: 0 the same, 1 different, 2 and more an error.`,
		Example: "  minibus config diff Config.json\n" +
			"  minibus config diff Config.json --prune -o json | jq .summary\n" +
			"  minibus config diff Config.json --prune -c contoso.servicebus.windows.net --auth az"}
	prune := c.Flags().Bool("prune", false,
		"with the entities that the file does not have, which apply --prune deletes")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := a.configFile(args[0])
		var d api.ConfigDiff
		if err == nil {
			d, err = a.compare(cmd.Context(), args[0], text, *prune)
		}
		if err == nil {
			err = a.showDiff(d, "would ")
		}
		if err == nil && !d.Same {
			return &failure{code: exitFailed}
		}
		var f *failure
		if err = a.about("compare the configuration", err); errors.As(err, &f) && f.code == exitFailed {
			f.code = exitTrouble
		}
		return err
	}
	return c
}

func (a *app) configApply() *cobra.Command {
	c := &cobra.Command{Use: "apply FILE", Short: "make the live namespace what a file says, all or nothing",
		Args: Arguments("FILE"),
		Long: `Creates entities that are missing and changes settings and rules that differ, as a start with the file
would. Other entities stay, unless --prune is given. Messages stay, but for those of entities that --prune deletes. If
anything can't be done nothing is. It asks first if a person is at the terminal.`,
		Example: "  minibus config apply Config.json\n  minibus config apply Config.json --prune --yes"}
	prune := c.Flags().Bool("prune", false, "delete the entities that the file does not have, with their messages")
	yes := yesFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := a.configFile(args[0])
		if err != nil {
			return err
		}
		if !*yes && terminal(a.env.Stdin) && terminal(a.env.Stderr) {
			if done, err := a.askToApply(cmd, args[0], text, *prune); done || err != nil {
				return a.about("apply the configuration", err)
			}
		}
		d, err := a.sendConfig(cmd.Context(), args[0], text, "config", *prune)
		if err == nil {
			err = a.showDiff(d, "")
		}
		return a.about("apply the configuration", err)
	}
	return c
}

// askToApply shows what would be done and asks. It reports whether nothing is to be done.
func (a *app) askToApply(cmd *cobra.Command, file string, text []byte, prune bool) (done bool, err error) {
	d, err := a.sendConfig(cmd.Context(), file, text, "config/diff", prune)
	if err != nil {
		return false, err
	}
	if d.Same {
		return true, a.showDiff(d, "")
	}
	for _, line := range diffLines(&d) {
		a.note("%s", line)
	}
	if d.Refused != "" {
		return false, failed(exitFailed, "%s", oneLine(d.Refused))
	}
	loss := ""
	if d.Summary.Delete > 0 {
		loss = fmt.Sprintf(", and delete %s of its entities with all messages", config.Thousands(d.Summary.Delete))
	}
	return false, a.confirm(false, "Change the namespace at %s%s?", a.host(), loss)
}

// compare returns what a file would change. The namespace of another service it compares in a copy.
func (a *app) compare(ctx context.Context, file string, text []byte, prune bool) (d api.ConfigDiff, err error) {
	version, err := a.version(ctx)
	if err != nil {
		return d, err
	}
	if version != "" {
		return a.sendConfig(ctx, file, text, "config/diff", prune)
	}
	dial, notes, end, err := a.env.Copy(ctx, a.entitySource())
	if err != nil {
		return d, err
	}
	defer end()
	there := &app{env: a.env, command: a.command, flags: a.flags, source: a.source, target: sas.Local("localhost"),
		http: &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}}}
	if d, err = there.sendConfig(ctx, file, text, "config/diff", prune); err != nil {
		return d, err
	}
	withoutPolicies(&d)
	d.Notes = append(d.Notes, notes...)
	return d, nil
}

// withoutPolicies takes the policies out of a diff, which a copy does not have.
func withoutPolicies(d *api.ConfigDiff) {
	compared := true
	for i := range d.Entities {
		e := &d.Entities[i]
		n := len(e.Settings)
		isPolicies := func(s api.SettingDiff) bool { return s.Name == "AuthorizationRules" }
		e.Settings = slices.DeleteFunc(e.Settings, isPolicies)
		compared = compared && len(e.Settings) == n
		if n > 0 && len(e.Settings) == 0 && e.Action == "change" {
			e.Action = "keep"
			d.Summary.Change--
			d.Summary.Keep++
		}
	}
	if !compared {
		d.Notes = append(d.Notes, "policies of entities are not compared")
	}
	s := d.Summary
	d.Same = s.Create+s.Change+s.Delete+s.Refuse == 0
}

// showDiff prints a diff. would is put in front of what is done.
func (a *app) showDiff(d api.ConfigDiff, would string) error {
	for _, note := range d.Notes {
		a.note("%s", note)
	}
	if a.out.format != formatTable {
		return a.out.document(d)
	}
	for _, line := range diffLines(&d) {
		a.out.write("%s\n", visible(line))
	}
	s := d.Summary
	switch {
	case d.Same:
		a.out.write("the same: %s\n", config.Thousands(s.Keep))
	default:
		a.out.write("%screate %s, change %s, delete %s; the same: %s\n", would, config.Thousands(s.Create),
			config.Thousands(s.Change), config.Thousands(s.Delete), config.Thousands(s.Keep))
	}
	if s.Leave > 0 {
		a.note("not in the file, and left alone without --prune: %s", config.Thousands(s.Leave))
	}
	if d.Refused != "" {
		a.note("it can't be applied: %s", strings.TrimSpace(oneLine(d.Refused)))
	}
	return a.out.push()
}

// marks stand before an entity in the output, one for each kind of change.
var marks = map[string]string{"create": "+", "change": "~", "delete": "-", "refuse": "!"}

// diffLines returns the diff for people. Entities to which nothing is done are left out.
func diffLines(d *api.ConfigDiff) (lines []string) {
	for _, e := range d.Entities {
		mark := marks[e.Action]
		if mark == "" {
			continue
		}
		lines = append(lines, mark+" "+e.Kind+" "+e.Path)
		if e.Why != "" && len(e.Settings) == 0 {
			lines = append(lines, "    "+e.Why)
		}
		for _, s := range e.Settings {
			line := "    " + s.Name + ": " + jsonText(s.From) + " -> " + jsonText(s.To)
			if s.Fixed {
				line += "  (fixed: delete the " + e.Kind + " first)"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// sendConfig sends the text of a file to an operation of the control API that answers with a diff.
func (a *app) sendConfig(ctx context.Context, file string, text []byte, operation string,
	prune bool) (d api.ConfigDiff, err error) {
	path := thisNamespace + "/" + operation
	if prune {
		path += "?prune=true"
	}
	err = a.control(ctx, http.MethodPost, path, rawText(text), &d)
	if f := (*failure)(nil); errors.As(err, &f) {
		err = failed(f.code, "%s", strings.ReplaceAll(f.text, "body:", file+":"))
	}
	return d, err
}
