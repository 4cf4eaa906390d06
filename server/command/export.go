package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"minibus/cli"
	"minibus/export"
	"minibus/internal/sas"
)

// connectionVariable has the connection string of an export without that argument. It keeps the key out of the
// shell's history. Samples of the SDKs use the same name.
const connectionVariable = "SERVICEBUS_CONNECTION_STRING"

// maxConnectionString bounds the bytes read from standard input.
const maxConnectionString = 64 << 10

// exportFlags are the flags of export.
type exportFlags struct{ auth, format, out, caFile, namespace string }

func (p *program) exportCommand() *cobra.Command {
	f := &exportFlags{}
	c := &cobra.Command{Use: "export [CONNECTION]",
		Short: "write the entities of a namespace, in Azure or a Minibus, as a Config.json, Bicep, Terraform or az",
		Long: `Writes the entities of a namespace in Azure, or of a Minibus, as a Config.json, Bicep, Terraform or az.
CONNECTION is a connection string in quotation marks, with a key that has the Manage right. With - instead, export
reads it from standard input, with neither from the variable ` + connectionVariable + `. With --auth az the host of a
namespace is enough. It never writes keys.`,
		Example: `  minibus export "$CS" --out Config.json       the entities of the namespace of CS
  minibus export "$CS" --format bicep          the same for Azure
  minibus export contoso.servicebus.windows.net --auth az
                                               with the sign-in of az login
  minibus export "$CS" --namespace orders      another namespace of the same Minibus`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 { // surplus words may be pieces of the key
				return cli.Usage("minibus export takes one connection string; put it in quotation marks")
			}
			return nil
		}}
	c.Flags().StringVar(&f.format, "format", "", "`FORMAT` to write: config (the default), bicep, terraform or az")
	c.Flags().StringVar(&f.out, "out", "", "write to `FILE` (without: standard output)")
	c.Flags().StringVar(&f.caFile, "ca-file", "",
		"also trust the CA certificate in `FILE`, such as a Minibus's minibus-ca.pem")
	c.Flags().StringVar(&f.namespace, "namespace", "", "export the namespace `NAME` of a Minibus that has several "+
		"(without: the one that the connection string means)")
	cli.WithVariables(c, p.environ)
	c.Flags().StringVar(&f.auth, "auth", "", cli.AuthHelp) // MINIBUS_AUTH is the server's
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("namespace") && strings.TrimSpace(f.namespace) == "" { // an unset shell variable
			return cli.Usage("--namespace: found nothing; give the name of a namespace, or leave it out")
		}
		return p.export(cmd.Context(), strings.Join(args, ""), f)
	}
	return c
}

// export writes one line to standard error for each setting that the format does not have, and writes the output
// only when it is complete.
func (p *program) export(ctx context.Context, connection string, f *exportFlags) error {
	format, err := export.ParseFormat(f.format)
	if err != nil {
		return err
	}
	if err := checkOut("the export", f.out); err != nil {
		return err
	}
	for _, entry := range p.environ {
		if value, ok := strings.CutPrefix(entry, connectionVariable+"="); ok && connection == "" {
			connection = strings.TrimSpace(value)
		}
	}
	from, err := exportConnection(connection, f.auth, p.stdin)
	if err != nil {
		return err
	}
	found, err := export.Read(ctx, from.Connection, export.Options{CAFile: f.caFile,
		Namespace: strings.TrimSpace(f.namespace), Token: from.Token})
	if err != nil {
		return err
	}
	data, warnings, err := export.Write(found, format)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		_, _ = fmt.Fprintln(p.stderr, cli.Fit(p.stderr, "warning: "+w))
	}
	if f.out != "" {
		err = replaceFile(f.out, data)
	} else {
		err = p.print(string(data))
	}
	if err == nil {
		_, _ = fmt.Fprintf(p.stderr, "exported from %s: %s\n", found.Source, found.Summary())
	}
	return err
}

// exportConnection finds the namespace that a text names, which is on standard input if text is "-". Errors never show
// a connection string.
func exportConnection(text, auth string, stdin io.Reader) (cli.Source, error) {
	if text == "-" {
		line, err := bufio.NewReader(io.LimitReader(stdin, maxConnectionString)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return cli.Source{}, fmt.Errorf("read the connection string from standard input: %w", err)
		}
		text = line
	}
	if strings.TrimSpace(text) == "" {
		return cli.Source{},
			fmt.Errorf("minibus export needs a connection string: as an argument, as %s, or - for standard input",
				connectionVariable)
	}
	if auth != "" {
		return cli.SignIn(text, auth, "minibus export")
	}
	if !strings.Contains(text, "=") && !strings.Contains(text, ";") {
		return cli.Source{},
			errors.New("minibus export takes a connection string, Endpoint=sb://..., and what it was given is none; " +
				"the file to write is named with --out, and the host of a namespace needs --auth az")
	}
	c, err := sas.ParseConnection(strings.Trim(strings.TrimSpace(text), `"'`))
	if err != nil && !strings.Contains(text, ";") {
		return cli.Source{}, fmt.Errorf("%w; in a shell it needs quotation marks, for a semicolon ends a command", err)
	}
	return cli.Source{Connection: c}, err
}

// replaceFile writes a file whole or not at all. It follows links, and writes directly to pipes and devices such as
// /dev/stdout.
func replaceFile(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return outError("the export", path, err)
		}
		return nil
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".minibus-export-*")
	if err != nil {
		return outError("the export", path, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644) // containers read it as another user
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return outError("the export", path, err)
	}
	return nil
}
