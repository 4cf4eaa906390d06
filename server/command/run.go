package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"minibus/cli"
	"minibus/config"
	"minibus/emulator"
	"minibus/internal/printable"
	"minibus/internal/sas"
	"minibus/internal/tlsca"
	"minibus/mgmt/control"
	"minibus/server"
)

// drainTime is how long a shutdown may take before connections are cut. Container engines kill after ten seconds.
const drainTime = 8 * time.Second

// errSilent makes the exit code 1 without another message.
var errSilent = errors.New("")

// Run is the program. It parses the arguments (without the program's name) and runs the command; the server runs until
// ctx ends. environ has "KEY=value" entries. On an error the caller should print its text, if any, to standard error and
// exit with 1, or with what its method ExitCode says.
func Run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) error {
	if cli.Handles(args) {
		return cli.Run(ctx, args, cli.Environment{Stdin: os.Stdin, Stdout: stdout, Stderr: stderr, Environ: environ,
			Authority: func() (string, error) { return authorityFile(environ) },
			Document:  control.Document, Version: server.Version(),
			Examine: func(ctx context.Context, flags []string) ([]cli.Finding, error) { return examine(ctx, flags, environ) },
			Support: cli.Support{Parts: func(ctx context.Context, flags []string, c sas.Connection, caFile string) []cli.SupportPart {
				return supportParts(ctx, flags, environ, c, caFile)
			}}})
	}
	command, err := config.ParseArgs(args, environ, cli.Words()...)
	if err != nil {
		return err
	}
	switch command.Name {
	case config.CommandHelp:
		_, err = io.WriteString(stdout, config.Help(command.Topic, cli.Overview))
		return err
	case config.CommandVersion:
		_, err = io.WriteString(stdout, server.ThisBuild().String())
		return err
	case config.CommandCheck:
		return check(command, onScreen(stdout))
	case config.CommandExport:
		return exportNamespace(ctx, command, os.Stdin, stdout, stderr)
	case config.CommandCert:
		return cert(command, stdout)
	case config.CommandHosts:
		return hosts(command, stdout)
	case config.CommandHealthcheck:
		return healthcheck(ctx, command.Settings)
	}
	tuneMemory(environ)
	return serve(ctx, command.Settings, os.Stdin, onScreen(stdout), onScreen(stderr))
}

// onScreen returns a writer that keeps texts of clients and files from steering the terminal, if w is one.
func onScreen(w io.Writer) io.Writer {
	if isTerminal(w) {
		return printable.Screen(w)
	}
	return w
}

// authorityFile returns where a Minibus with the settings in the environment keeps the certificate of its authority.
func authorityFile(environ []string) (string, error) {
	command, err := config.ParseArgs(nil, environ)
	if err != nil {
		return "", err
	}
	dir, err := server.AuthorityDir(command.Settings)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, tlsca.CertificateFile), nil
}

// serve runs the server until ctx ends, then shuts it down cleanly.
func serve(ctx context.Context, s config.Settings, stdin io.Reader, stdout, stderr io.Writer) error {
	signal.Ignore(syscall.SIGPIPE) // who reads the log may go away
	log := slog.New(byLevel{newLogger(stdout, s).Handler(), newLogger(stderr, s).Handler()})
	input := bufio.NewReader(stdin)
	topology, source, err := loadTopology(ctx, s, input, log)
	if errors.Is(err, context.Canceled) {
		return nil // stopped while it waited for the input
	}
	if err != nil {
		return err
	}
	if s.ExitWithStdin {
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		defer end()
		go func() {
			_, _ = io.Copy(io.Discard, input) // an error is an end too
			log.Info("standard input was closed")
			end()
		}()
	}
	c := server.Config{Settings: s, Topology: topology, Logger: log, Broker: emulator.Options{Clock: brokerClock}}
	if s.Trace {
		c.Trace = stdout
	}
	published := &publication{path: s.PortsFile}
	c.Bound = published.clear
	a, err := server.Start(ctx, c)
	if errors.Is(err, context.Canceled) {
		return nil // stopped before it was ready
	}
	if err != nil {
		return err
	}
	err = announce(a, &c, source, stdout, published)
	if err == nil {
		<-ctx.Done()
		log.Info("shutting down")
	}
	if removeErr := published.remove(); err == nil {
		err = removeErr
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if closeErr := a.Close(drain); err == nil && closeErr != nil {
		err = fmt.Errorf("shut down: %w", closeErr)
	}
	return err
}

// announce writes the ports file and then prints the banner and the ready line: tools wait for either, and the line promises the file.
func announce(a *server.Server, c *server.Config, source string, stdout io.Writer, published *publication) error {
	if err := published.write(a.Ports()); err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, banner(a, c, source)); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// loadTopology reads the configuration file, if there is one, and logs its findings.
func loadTopology(ctx context.Context, s config.Settings, input *bufio.Reader, log *slog.Logger) (t *config.Topology, source string, err error) {
	path, ok := config.Find(s.Config)
	if !ok {
		return config.DefaultTopology(), "built in", nil
	}
	var report *config.Report
	if path == config.Input {
		path = "standard input"
		t, report, err = readInput(ctx, input, s)
	} else {
		t, report, err = config.Load(path, s.Limits)
	}
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return nil, "", err
	}
	for _, f := range report.Findings {
		level := slog.LevelInfo
		if f.Severity == config.Warning {
			level = slog.LevelWarn
		}
		log.Log(context.Background(), level, f.String())
	}
	return t, path, nil
}

// readInput reads the configuration from standard input until ctx ends. With --exit-with-stdin the input stays open behind it.
func readInput(ctx context.Context, input *bufio.Reader, s config.Settings) (*config.Topology, *config.Report, error) {
	type parsed struct {
		*config.Topology
		*config.Report
		error
	}
	read := make(chan parsed, 1)
	go func() {
		t, report, err := config.ReadInput(input, s.ExitWithStdin, s.Limits)
		read <- parsed{t, report, err}
	}()
	select {
	case p := <-read:
		return p.Topology, p.Report, p.error
	case <-ctx.Done():
		return nil, nil, ctx.Err() // the process ends, and with it the goroutine
	}
}

// newLogger writes to w.
func newLogger(w io.Writer, s config.Settings) *slog.Logger {
	options := &slog.HandlerOptions{Level: s.LogLevel}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// byLevel is a log handler with another one for warnings and errors, which belong on standard error. The rest does not: there are
// tools that take each line there for an error.
type byLevel struct{ usual, warnings slog.Handler }

// Enabled implements slog.Handler.
func (b byLevel) Enabled(ctx context.Context, level slog.Level) bool {
	return b.usual.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (b byLevel) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		return b.warnings.Handle(ctx, r)
	}
	return b.usual.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (b byLevel) WithAttrs(attrs []slog.Attr) slog.Handler {
	return byLevel{b.usual.WithAttrs(attrs), b.warnings.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (b byLevel) WithGroup(name string) slog.Handler {
	return byLevel{b.usual.WithGroup(name), b.warnings.WithGroup(name)}
}
