package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"minibus/cli"
	"minibus/config"
	"minibus/emulator"
	"minibus/internal/seed"
	"minibus/mgmt/manual"
	"minibus/server"
)

// Exit codes of run. Those of a command that can't be started, or ends by a signal, are a shell's.
const (
	exitChecked     = 9 // the command succeeded, and what --fail-on names has happened
	exitNotRunnable = 126
	exitNoCommand   = 127
	exitSignal      = 128 // and the number of the signal
)

// ended is how the command of run has ended. Its text is empty if the user has seen the reason already.
type ended struct {
	code int
	text string
}

// Error implements error.
func (e *ended) Error() string { return e.text }

// ExitCode returns the exit code of the process.
func (e *ended) ExitCode() int { return e.code }

// connectionVariables are the variables from which programs read a connection string: Minibus's own and the SDKs'
// samples, Azure Functions, .NET configuration, Spring Cloud Azure.
var connectionVariables = []string{
	connectionVariable, "AZURE_SERVICEBUS_CONNECTION_STRING", "AzureWebJobsServiceBus", "ConnectionStrings__ServiceBus",
	"SPRING_CLOUD_AZURE_SERVICEBUS_CONNECTION_STRING", "SPRING_CLOUD_AZURE_SERVICEBUS_CONNECTIONSTRING",
}

// runSettings is what run does beside the settings of the server.
type runSettings struct {
	variables []string
	failOn    []string
	reports   []string
	quiet     bool
	keep      bool
}

// notOfTheShell are settings that a shell may have for its usual server, which the one of run must not share.
var notOfTheShell = []string{"data", "ephemeral", "amqp-port", "tls-port", "http-port", "extra-ports", "ports-file",
	"namespace-ports", "exit-with-stdin", "log-level"}

func (p *program) runCommand() *cobra.Command {
	r := &runSettings{}
	c := &cobra.Command{Use: "run [flags] -- COMMAND [ARGUMENT...]",
		Short: "run a command, such as your tests, with a server of its own",
		Long: `Starts a server on a free port, runs COMMAND with its connection string in the environment, and stops the
server when COMMAND ends. Everything is in memory unless you give --data. The exit code is that of COMMAND.

COMMAND finds the connection string in these variables, and in those that you name with --env:
  ` + strings.Join(connectionVariables, "\n  ") + `

At the end you see what happened to the messages. With --fail-on the exit code is ` +
			strconv.Itoa(exitChecked) + `, although COMMAND succeeded, if there were
  dead-letter   messages that were dead-lettered
  left          messages that nobody received
  refused       sends and settlements that Minibus refused
  azure         messages or entities that Minibus took and every tier of Azure refuses
  standard      the same for the Standard tier; premium, for the Premium tier`,
		Example: `  minibus run -- npm test
  minibus run --config Config.json --fail-on dead-letter,left -- pytest
  minibus run --env MyApp__Bus --report minibus.xml -- dotnet test`}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || cmd.ArgsLenAtDash() != 0 {
			return cli.Usage("run: write the command after --, such as: minibus run -- npm test")
		}
		return nil
	}
	f := c.Flags()
	f.StringSliceVar(&r.variables, "env", nil, "also put the connection string into this `variable`")
	f.StringSliceVar(&r.failOn, "fail-on", nil, "fail if this has happened: "+strings.Join(checkNames, ", "))
	f.StringSliceVar(&r.reports, "report", nil,
		"write the summary to this `file` too, as .json, .xml (JUnit) or .md; a GitHub job gets it without the flag")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "print no summary")
	f.BoolVar(&r.keep, "keep", false, "keep the server after the command, for a look in the explorer, until Ctrl-C")
	var environ []string
	for _, entry := range p.environ {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(notOfTheShell, func(s string) bool { return config.Variable(s) == name }) &&
			name != "EMULATOR_HTTP_PORT" {
			environ = append(environ, entry)
		}
	}
	settings := cli.ServerFlags(c, environ, "config", "config-json", "seed", "limits", "data", "amqp-port", "auth",
		"root-key", "log-level")
	cli.WithoutVariables(c, notOfTheShell)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := settings()
		if err != nil {
			return err
		}
		if slices.Contains(s.Config.Files(), config.Input) {
			return cli.Usage("--config: standard input belongs to the command; give a file")
		}
		given := func(name string) bool { return cmd.Flags().Changed(name) }
		s.Ephemeral = s.Data == ""
		if !given("amqp-port") {
			s.AMQPPort = 0
		}
		if !given("tls-port") {
			s.TLSPort = config.PortOff // one port speaks all protocols
		}
		if !given("http-port") {
			s.HTTPPort = config.PortOff
		}
		if !given("namespace-ports") {
			s.NamespacePorts = "0"
		}
		if !given("log-level") {
			s.LogLevel = slog.LevelError // the output is the command's
		}
		for name, values := range map[string][]string{"fail-on": r.failOn, "report": r.reports, "env": r.variables} {
			if given(name) && len(values) == 0 {
				return cli.Usage("--%s: found nothing; leave the flag out, or give it a value", name)
			}
		}
		if err := r.check(); err != nil {
			return err
		}
		tuneMemory(p.environ)
		return p.runWith(cmd.Context(), s, r, args)
	}
	return c
}

// check reports a wrong flag before anything starts.
func (r *runSettings) check() error {
	for _, name := range r.failOn {
		if !slices.Contains(checkNames, name) {
			return cli.Usage("--fail-on: found %q; allowed: %s", name, strings.Join(checkNames, ", "))
		}
	}
	for _, name := range r.variables {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return cli.Usage("--env: found %q; allowed: the name of a variable, without =", name)
		}
	}
	for _, file := range r.reports {
		if reportForm(file) == nil {
			return cli.Usage("--report: found %q; allowed: a file that ends in .json, .xml or .md", file)
		}
		if at, err := os.Stat(filepath.Dir(file)); err != nil || !at.IsDir() {
			return cli.Usage("--report: found %q; there is no directory %s: make it first", file, filepath.Dir(file))
		}
	}
	return nil
}

// runWith starts the server, runs the command and reports.
func (p *program) runWith(ctx context.Context, s config.Settings, r *runSettings, args []string) error {
	signals := make(chan os.Signal, 8)
	signal.Reset(os.Interrupt, syscall.SIGTERM) // they are for the command, which may take as many as it likes
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, hangUp)
	defer signal.Stop(signals)

	path, err := exec.LookPath(args[0])
	if err != nil {
		code := exitNotRunnable
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			code = exitNoCommand
		}
		return &ended{code, "run: " + err.Error()}
	}
	log := newLogger(onScreen(p.stderr), s)
	notes := log // of the configuration and of traces: the command's output lacks what they say
	if s.LogLevel == slog.LevelError {
		louder := s
		louder.LogLevel = slog.LevelWarn
		notes = newLogger(onScreen(p.stderr), louder)
	}
	a, err := startUnless(ctx, signals, s, log, notes)
	if err != nil {
		return err
	}
	endTraces, err := traced(a, s, notes)
	if err != nil {
		return errors.Join(err, a.Close(ctx))
	}
	defer func() {
		drain, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		_ = a.Close(drain) // nothing is kept that could be lost
		endTraces()
	}()
	defer announced(a, s, log)()
	address := explorerAt(s, a.Ports())
	if !r.quiet {
		fmt.Fprintf(p.stderr, "minibus: the explorer is at %s\n", address)
	}
	began := time.Now()
	code := p.runChild(path, args, r.environ(p.environ, a.ConnectionString()), signals)
	sum := summarize(a, args, code, time.Since(began))
	sum.judge(r.failOn)
	err = p.report(sum, r)
	if err != nil {
		fmt.Fprintf(p.stderr, "minibus: %v\n", err)
	}
	if r.keep {
		fmt.Fprintf(p.stderr, "minibus: kept at %s until you press Ctrl-C\n", address)
		<-signals
	}
	switch {
	case code != 0:
		return &ended{code: code}
	case sum.failed():
		return &ended{code: exitChecked}
	case err != nil:
		return &ended{code: 1}
	}
	return nil
}

// startUnless starts the server with the configuration and the seed, unless a signal comes before that is done.
func startUnless(
	ctx context.Context, signals <-chan os.Signal, s config.Settings, log, notes *slog.Logger,
) (*server.Server, error) {
	type outcome struct {
		a   *server.Server
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	started := make(chan outcome, 1)
	go func() {
		topology, _, err := loadTopology(ctx, s, nil, notes)
		var lines []*seed.Line
		if err == nil {
			lines, err = seed.Read(s.Seed.Files(), nil)
		}
		var a *server.Server
		if err == nil {
			a, err = server.Start(ctx, server.Config{Settings: s, Topology: topology, Seed: lines, Logger: log,
				Broker: emulator.Options{Clock: brokerClock}, Manual: manual.Handler()})
		}
		started <- outcome{a, err}
	}()
	select {
	case o := <-started:
		return o.a, o.err
	case signal := <-signals:
		cancel()
		select {
		case o := <-started:
			if o.err == nil {
				o.err = o.a.Close(ctx)
			}
		case <-time.After(time.Second): // it reads a pipe
		}
		code := exitSignal
		if n, ok := signal.(syscall.Signal); ok {
			code += int(n)
		}
		return nil, &ended{code: code}
	}
}

// environ returns the environment of the command. The connection string replaces what the variables had, and nothing
// leads the commands of a client to another server.
func (r *runSettings) environ(environ []string, connection string) []string {
	names := slices.Concat(connectionVariables, r.variables)
	list := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name) || name == "MINIBUS_PORTS_FILE"
	})
	for _, name := range names {
		list = append(list, name+"="+connection)
	}
	return list
}

// runChild runs the command and passes signals on to it. It returns the exit code.
func (p *program) runChild(path string, args, environ []string, signals <-chan os.Signal) int {
	cmd := &exec.Cmd{Path: path, Args: args, Env: environ, Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr}
	group, err := startGroup(cmd)
	if err != nil {
		fmt.Fprintf(p.stderr, "minibus: run: %v\n", err)
		return exitNotRunnable
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // ProcessState says how it ended
		close(done)
	}()
	for {
		select {
		case s := <-signals:
			group.signal(s)
		case <-done:
			group.end()
			return exitCode(cmd.ProcessState)
		}
	}
}

// report prints the summary and writes it to the files.
func (p *program) report(sum *summary, r *runSettings) error {
	if !r.quiet {
		if _, err := io.WriteString(onScreen(p.stderr), sum.text()); err != nil {
			return fmt.Errorf("write the summary: %w", err)
		}
	}
	var failures []error
	for _, file := range r.reports {
		if err := os.WriteFile(file, reportForm(file)(sum), 0o644); err != nil {
			failures = append(failures, fmt.Errorf("write the summary: %w", err))
		}
	}
	for _, entry := range p.environ {
		if file, ok := strings.CutPrefix(entry, "GITHUB_STEP_SUMMARY="); ok && file != "" {
			if err := appendTo(file, sum.markdown()); err != nil {
				failures = append(failures, fmt.Errorf("write the summary of the job: %w", err))
			}
		}
	}
	return errors.Join(failures...)
}

func appendTo(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
