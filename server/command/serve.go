package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/seed"
	"minibus/mgmt/manual"
	"minibus/server"
)

// drainTime is how long a shutdown may take before connections are cut. Container engines kill after ten seconds.
const drainTime = 8 * time.Second

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
	lines, err := seed.Read(s.Seed.Files(), nil)
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
	c := server.Config{Settings: s, Topology: topology, Seed: lines, Logger: log,
		Broker: emulator.Options{Clock: brokerClock}}
	c.Manual = manual.Handler()
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
	endTraces, err := traced(a, s, log)
	if err != nil {
		return errors.Join(err, a.Close(ctx))
	}
	warnOfRefusals(a, log)
	leave := announced(a, s, log)
	err = announce(a, &c, source, stdout, published)
	if err == nil {
		c = server.Config{}
		go giveBack()
		<-ctx.Done()
		log.Info("shutting down")
	}
	leave()
	if removeErr := published.remove(); err == nil {
		err = removeErr
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if closeErr := a.Close(drain); err == nil && closeErr != nil {
		err = fmt.Errorf("shut down: %w", closeErr)
	}
	endTraces()
	return err
}

// announce writes the ports file and then prints the banner and the ready line: tools wait for either, and the line
// promises the file.
func announce(a *server.Server, c *server.Config, source string, stdout io.Writer, published *publication) error {
	if err := published.write(a.Ports()); err != nil {
		return err
	}
	text := banner(a, c, source)
	if _, ok := stdout.(forPerson); ok {
		text = aligned(text)
	}
	if _, err := io.WriteString(stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// loadTopology reads the configuration file, if there is one, and logs its findings.
func loadTopology(ctx context.Context, s config.Settings, input *bufio.Reader,
	log *slog.Logger) (t *config.Topology, source string, err error) {
	var report *config.Report
	files := config.Find(s.Config)
	for i, file := range files {
		if file == config.Input {
			file = "standard input"
		}
		if source += file; i < len(files)-1 {
			source += ", "
		}
	}
	switch {
	case s.ConfigJSON != "":
		source = "--config-json"
		t, report, err = s.ParseText()
	case len(files) == 0:
		return config.DefaultTopology(), "built in", nil
	case slices.Contains(files, config.Input):
		t, report, err = readInput(ctx, files, input, s)
	default:
		t, report, err = config.Load(files, s.Limits)
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
	return t, source, nil
}

// readInput reads the configuration, of which standard input has a part, until ctx ends. With --exit-with-stdin the
// input stays open behind it.
func readInput(ctx context.Context, files []string, input *bufio.Reader, s config.Settings) (*config.Topology,
	*config.Report, error) {
	type parsed struct {
		*config.Topology
		*config.Report
		error
	}
	read := make(chan parsed, 1)
	go func() {
		t, report, err := config.LoadFrom(files, input, s.ExitWithStdin, s.Limits)
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

// byLevel is a log handler with another one for warnings and errors, which belong on standard error. The rest does
// not: there are tools that take each line there for an error.
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
