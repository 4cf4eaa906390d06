package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Finding is what doctor found out about one thing.
type Finding struct {
	Level  Level  `json:"level"`
	About  string `json:"about"` // such as "port 5672"
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Level says how good a finding is.
type Level string

// The levels.
const (
	Good  Level = "good"
	Note  Level = "note"  // may be as intended
	Wrong Level = "wrong" // something does not work
)

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{Use: "doctor [-- SERVER FLAGS]",
		Short: "look for what is wrong with the Minibus on this machine, and say how to mend it",
		Long: `Looks at the configuration, the running server, its ports and who has them, the clients that are
connected or were refused lately, the database and its disk, and the authority for TLS. It changes nothing. It takes
the settings of the server from the environment, as the server does, and its ports from MINIBUS_PORTS_FILE. If yours
has flags, write them after --. It also tries the connection string of --connection or of the environment, and says
what answers there. If that names a port of this machine and neither flags nor variables name ports of the server, it
looks at the server there. The exit code is 1 if something is wrong.`,
		Example: "  minibus doctor\n  minibus doctor -- --data bus.db --http-port 5301\n  minibus doctor -o json"}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
			return Usage("doctor takes no argument %q; flags of the server come after --", oneLine(args[0]))
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, args []string) error { return a.doctor(cmd.Context(), args) }
	return c
}

// doctor prints the findings, the wrong ones with what to do.
func (a *app) doctor(ctx context.Context, serverFlags []string) error {
	tried, port := a.tryConnection(ctx)
	if port != "" && len(serverFlags) == 0 && !a.namesPorts() {
		serverFlags = []string{"--amqp-port", port, "--tls-port", "off", "--http-port", port}
	}
	settings, err := a.serverSettings(serverFlags)
	if err != nil {
		return a.about("doctor", err)
	}
	findings := append(tried, a.env.Examine(ctx, settings)...)
	if a.out.format == formatTable {
		return a.doctorText(findings)
	}
	wrong := 0
	a.out.list()
	for _, f := range findings {
		if f.Level == Wrong {
			wrong++
		}
		if err := a.out.add(f); err != nil {
			return err
		}
	}
	return diagnosis(wrong)
}

// diagnosis is the error of a doctor that found something wrong.
func diagnosis(wrong int) error {
	switch wrong {
	case 0:
		return nil
	case 1:
		return failed(exitFailed, "doctor: 1 thing is wrong")
	}
	return failed(exitFailed, "doctor: %d things are wrong", wrong)
}

// doctorText writes the findings for people: a line each, and the fix below it.
func (a *app) doctorText(findings []Finding) error {
	wrong, width := 0, 0
	for _, f := range findings {
		width = max(width, len(f.About))
		if f.Level == Wrong {
			wrong++
		}
	}
	colours := map[Level]string{Good: "32", Note: "33", Wrong: "31"}
	for _, f := range findings {
		level := string(f.Level)
		a.out.coloured(colours[f.Level], level+"      "[:6-len(level)])
		a.out.write("%-*s  ", width, f.About)
		a.out.hanging(6+width+2, f.Detail)
		if f.Fix != "" {
			a.out.write("%*s-> ", 6+width+2, "")
			a.out.hanging(6+width+5, f.Fix)
		}
	}
	if err := a.out.push(); err != nil {
		return err
	}
	return diagnosis(wrong)
}

// tryPatience is how long doctor waits for what a connection string names.
const tryPatience = 5 * time.Second

// namesPorts reports whether the environment says which ports the server has.
func (a *app) namesPorts() bool {
	return slices.ContainsFunc([]string{"MINIBUS_AMQP_PORT", "MINIBUS_HTTP_PORT", "MINIBUS_PORTS_FILE"},
		func(name string) bool { return a.variable(name) != "" })
}

// tryConnection tries the connection string that other commands would use, if there is one. port is where the
// Minibus is that it names on this machine; empty if it names none.
func (a *app) tryConnection(ctx context.Context) (findings []Finding, port string) {
	const correct = "correct it: minibus env prints one for the Minibus of this machine"
	text, source := a.connectionString()
	if strings.TrimSpace(text) == "" {
		return nil, ""
	}
	f := Finding{Level: Wrong, About: "connection", Fix: correct}
	if err := a.connect(); err != nil {
		f.Detail = a.redact(err.Error())
		return []Finding{f}, ""
	}
	if host, given, err := net.SplitHostPort(a.target.Host()); err == nil && a.target.Emulator &&
		(host == "localhost" || host == "127.0.0.1") {
		port = given
	}
	f.Level, f.Detail, f.Fix = a.whatAnswers(ctx)
	f.Detail = a.redact(source + " names " + a.host() + ": " + f.Detail)
	return []Finding{f}, port
}

// whatAnswers finds out what the connection string leads to.
func (a *app) whatAnswers(ctx context.Context) (l Level, detail, fix string) {
	ctx, cancel := context.WithTimeout(ctx, tryPatience)
	defer cancel()
	const start = "start it, or correct the connection string: minibus env prints one for the Minibus of this machine"
	client, base, err := a.controlClient()
	if err != nil {
		return Wrong, err.Error(), ""
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health", http.NoBody)
	if err != nil {
		return Wrong, oneLine(err.Error()), start
	}
	answer, err := client.Do(r)
	if err != nil {
		return Wrong, a.explain(err).text, start
	}
	_ = answer.Body.Close()
	version, isMinibus := strings.CutPrefix(answer.Header.Get("Server"), "Minibus/")
	if !isMinibus {
		return Note, "what answers there is no Minibus; doctor looks no further", ""
	}
	var f *failure
	if err := a.control(ctx, http.MethodGet, thisNamespace, nil, nil); errors.As(err, &f) &&
		f.code == exitUnauthorized {
		return Wrong, fmt.Sprintf("Minibus %s answers, and refuses the key: %s", version, f.text), ""
	} else if errors.As(err, &f) && f.code == exitNotFound {
		return Wrong, fmt.Sprintf("Minibus %s answers: %s", version, f.text),
			"minibus namespace ls lists its namespaces"
	}
	return Good, fmt.Sprintf("Minibus %s answers", version), ""
}
