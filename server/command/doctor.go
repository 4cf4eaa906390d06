package command

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"minibus/cli"
	"minibus/config"
	"minibus/server"
)

// doctor looks at what a Minibus with some settings needs, for the command doctor. It makes nothing and changes
// nothing.
type doctor struct {
	settings config.Settings
	running  bool // a Minibus answers at one of the ports
	findings []cli.Finding
}

// examine looks at everything.
func examine(ctx context.Context, s config.Settings) []cli.Finding {
	d := &doctor{settings: withBoundPorts(s)}
	d.configuration()
	d.server(ctx)
	d.ports(ctx)
	d.clients(ctx)
	d.database()
	d.authority()
	return d.findings
}

func (d *doctor) good(about, format string, args ...any) { d.add(cli.Good, about, "", format, args...) }

func (d *doctor) note(about, fix, format string, args ...any) {
	d.add(cli.Note, about, fix, format, args...)
}

func (d *doctor) wrong(about, fix, format string, args ...any) {
	d.add(cli.Wrong, about, fix, format, args...)
}

func (d *doctor) add(l cli.Level, about, fix, format string, args ...any) {
	d.findings = append(d.findings,
		cli.Finding{Level: l, About: about, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

// configuration reads the file that the server would read.
func (d *doctor) configuration() {
	const about = "configuration"
	files := config.Find(d.settings.Config)
	if len(files) == 0 {
		d.good(about, "no file: the server makes queue.1 and topic.1")
		return
	}
	if slices.Contains(files, config.Input) {
		d.good(about, "the server reads it from standard input, which doctor leaves alone")
		return
	}
	t, report, err := config.Load(files, d.settings.Limits)
	path := strings.Join(files, " ")
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		d.wrong(about, "minibus config check "+path, "%v", err)
		return
	}
	if n := report.Count(config.Warning); n > 0 {
		d.note(about, "minibus config check "+path, "%s: %s, with %s", path, t.Summary(), config.Plural(n, "warning"))
		return
	}
	d.good(about, "%s: %s", path, t.Summary())
}

// server asks the running one, at the port that the healthcheck asks.
func (d *doctor) server(ctx context.Context) {
	const about = "server"
	port, err := healthPort(d.settings)
	if err != nil {
		d.note(about, "", "%v", err)
		return
	}
	version, status, text, err := d.ask(ctx, port)
	switch {
	case err != nil:
		d.note(about, "start it: minibus; or give its flags after --, and its MINIBUS_ variables",
			"no Minibus answers on port %d of %s", port, d.host())
	case version == "":
		d.wrong(about, "stop that program, or give Minibus another port with --http-port",
			"another program answers on port %d of %s", port, d.host())
	case status != http.StatusOK:
		d.running = true
		d.wrong(about, "", "Minibus %s on port %d is not healthy: %s", version, port, text)
	case version != server.ThisBuild().Version:
		d.running = true
		d.note(about, "", "Minibus %s is ready on port %d; this program is %s", version, port,
			server.ThisBuild().Version)
	default:
		d.running = true
		d.good(about, "Minibus %s is ready on port %d", version, port)
	}
}

// host is where the server is, from this machine.
func (d *doctor) host() string { return config.ClientAddress(d.settings.Host) }

// ask asks a port for health. version is empty if the answer is not that of a Minibus.
func (d *doctor) ask(ctx context.Context, port int) (version string, status int, text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, healthURL(d.host(), port), http.NoBody)
	if err != nil {
		return "", 0, "", err
	}
	answer, err := direct.Do(r)
	if err != nil {
		return "", 0, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
	version, _ = strings.CutPrefix(answer.Header.Get("Server"), "Minibus/")
	if version == answer.Header.Get("Server") {
		version = ""
	}
	return version, answer.StatusCode, strings.TrimSpace(string(body)), nil
}

// exists reports whether there is a file, and its size.
func exists(path string) (size int64, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Size(), true
}
