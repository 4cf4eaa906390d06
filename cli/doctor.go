package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// Finding is what doctor found out about one thing.
type Finding struct {
	Level  Level  `json:"level"`
	About  string `json:"about"` // such as "port 5672"
	Detail string `json:"detail"`
	Cure   string `json:"cure,omitempty"`
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
	c := &cobra.Command{Use: "doctor [-- SERVER FLAGS]", Short: "look for what is wrong with the Minibus on this machine, and say how to mend it",
		Long: `Looks at the configuration, the running server, its ports and who has them, the clients that are connected or were refused lately, the database and its disk, and the authority for TLS. It changes nothing.
It takes the settings of the server from the environment, as the server does, and its ports from MINIBUS_PORTS_FILE. If yours has flags, write them after --.
It also tries the connection string of --connection or of the environment, and says what answers there. If that names a port of this machine and neither flags nor variables name
ports of the server, it looks at the server there.
The exit code is 1 if something is wrong.`,
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
	if a.out.format == "table" {
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

// doctorText writes the findings for people: a line each, and the cure below it.
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
		a.out.write("%-*s  %s\n", width, f.About, visible(f.Detail))
		if f.Cure != "" {
			a.out.write("%*s-> %s\n", 6+width+2, "", visible(f.Cure))
		}
	}
	if err := a.out.push(); err != nil {
		return err
	}
	return diagnosis(wrong)
}
