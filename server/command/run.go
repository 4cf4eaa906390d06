package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"minibus/cli"
	"minibus/config"
	"minibus/export"
	"minibus/internal/printable"
	"minibus/internal/tlsca"
	"minibus/mgmt/control"
	"minibus/server"
)

// program is what the commands have around them.
type program struct {
	environ        []string // "KEY=value" entries
	stdin          io.Reader
	stdout, stderr io.Writer
}

// Run is the program. It runs the command that the arguments name, without the program's name; the server runs until
// ctx ends. environ has "KEY=value" entries. On an error the caller should print its text, if any, to standard error
// and exit with 1, or with what its method ExitCode says.
func Run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) error {
	p := &program{environ: environ, stdin: os.Stdin, stdout: stdout, stderr: stderr}
	return cli.Run(ctx, p.root(), args, cli.Environment{
		Stdin: p.stdin, Stdout: stdout, Stderr: stderr, Environ: environ,
		Authority: p.authority, Document: control.Document, Version: server.Version(), Examine: examine,
		SupportParts: supportParts, Identity: p.identity, Copy: startCopy,
	})
}

// Fit breaks the text of an error into lines that fit the terminal that it goes to.
func Fit(stream io.Writer, text string) string { return cli.Fit(stream, text) }

// root makes the commands of this package. The root runs the server, as serve does.
func (p *program) root() *cobra.Command {
	root := p.serveCommand("minibus")
	root.Long = "Minibus is a local Azure Service Bus in one binary."
	root.Example = `  minibus                                      queue.1 and topic.1, usual ports
  minibus --config Config.json --data bus.db   your entities, kept in bus.db
  minibus --ephemeral --amqp-port 0 --http-port 0 --ports-file ports.json
                                               for a test run
  minibus export --out Config.json             the entities of the namespace of
                                               ` + connectionVariable + `

Minibus ignores ACCEPT_EULA, SQL_SERVER, MSSQL_SA_PASSWORD and SQL_WAIT_INTERVAL, which Microsoft's emulator needs.`
	const group = "Usage:"
	root.AddGroup(&cobra.Group{ID: group, Title: group})
	for _, c := range []*cobra.Command{p.serveCommand("serve [flags]"), p.runCommand(), p.exportCommand(),
		p.certCommand(), p.hostsCommand(), p.healthcheckCommand(), p.versionCommand()} {
		c.GroupID = group
		root.AddCommand(c)
	}
	return root
}

func (p *program) serveCommand(use string) *cobra.Command {
	c := &cobra.Command{Use: use, Short: "run the server; the word may be left out", Args: cli.Arguments(),
		Long: `Runs the server until it gets an interrupt or SIGTERM. You may leave the word serve out. Without flags
Minibus has queue.1 and topic.1 on ports 5672, 5671 and 5300, and the database in the user's data directory.`}
	version := c.Flags().BoolP("version", "v", false, "print the version, as minibus version does")
	c.Flags().Lookup("version").Hidden = true // the command says it
	settings := cli.ServerFlags(c, p.environ)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return p.print(server.ThisBuild().String())
		}
		s, err := settings()
		if err != nil {
			return err
		}
		tuneMemory(p.environ)
		return serve(cmd.Context(), s, p.stdin, onScreen(p.stdout), onScreen(p.stderr))
	}
	return c
}

func (p *program) versionCommand() *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "print the version, commit, date, Go version and platform",
		Args: cli.Arguments(), Example: "  minibus version -o json"}
	format := c.Flags().StringP("output", "o", "table", "`format`: table, or json")
	c.RunE = func(*cobra.Command, []string) error {
		switch *format {
		case "table":
			return p.print(server.ThisBuild().String())
		case "json":
			text, err := json.MarshalIndent(server.ThisBuild(), "", "  ")
			if err != nil {
				return fmt.Errorf("encode the version: %w", err)
			}
			return p.print(string(text) + "\n")
		}
		return cli.Usage("--output: found %q; allowed: table, json", *format)
	}
	return c
}

// print writes what a command found to standard output.
func (p *program) print(text string) error {
	if _, err := io.WriteString(p.stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// onScreen returns a writer that keeps texts of clients and files from steering the terminal, if w is one.
func onScreen(w io.Writer) io.Writer {
	if isTerminal(w) {
		return forPerson{printable.Screen(w)}
	}
	return w
}

// forPerson is a writer to a terminal.
type forPerson struct{ io.Writer }

// authority returns where a Minibus with the settings in the environment keeps the certificate of its authority.
func (p *program) authority() (string, error) {
	s, err := config.Read(config.Flags(), p.environ)
	if err != nil {
		return "", err
	}
	dir, err := server.AuthorityDir(s)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, tlsca.CertificateFile), nil
}

// supportParts returns what a support bundle has of this program, and of the server that would run with the settings.
func supportParts(ctx context.Context, s config.Settings, from cli.Source) []cli.SupportPart {
	if s.RootKey != "" {
		s.RootKey = "***"
	}
	if s.IdentitySecret != "" {
		s.IdentitySecret = "***"
	}
	if s.ConfigJSON != "" {
		s.ConfigJSON = "***" // may have keys; the entities are another part
	}
	settings := cli.SupportPart{Name: "settings.json"}
	settings.Data, settings.Err = json.MarshalIndent(s, "", "  ")
	entities := cli.SupportPart{Name: "Config.json"}
	found, err := export.Read(ctx, from.Connection, export.Options{CAFile: from.CAFile, Token: from.Token})
	if err == nil {
		entities.Data, _, err = export.Write(found, export.FormatConfig)
	}
	entities.Err = err
	version := fmt.Sprintf("%sprocessors: %d\n", server.ThisBuild(), runtime.NumCPU())
	return []cli.SupportPart{{Name: "version.txt", Data: []byte(version)}, settings, entities}
}
