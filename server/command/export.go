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

	"minibus/config"
	"minibus/export"
	"minibus/internal/sas"
)

// maxConnectionString bounds the bytes read from standard input.
const maxConnectionString = 64 << 10

// exportNamespace is the command export. It writes one line to standard error for each setting that the format does not have, and
// writes the output only when it is complete.
func exportNamespace(ctx context.Context, c *config.Command, stdin io.Reader, stdout, stderr io.Writer) error {
	format, err := export.ParseFormat(c.Settings.Format)
	if err != nil {
		return err
	}
	if err := checkOut("the export", c.Settings.Out); err != nil {
		return err
	}
	connection, err := exportConnection(c.Connection, stdin)
	if err != nil {
		return err
	}
	found, err := export.Read(ctx, connection, export.Options{CAFile: c.Settings.CAFile, Namespace: c.Settings.Namespace})
	if err != nil {
		return err
	}
	data, warnings, err := export.Write(found, format)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		_, _ = fmt.Fprintln(stderr, "warning:", w)
	}
	if c.Settings.Out != "" {
		err = replaceFile(c.Settings.Out, data)
	} else if _, err = stdout.Write(data); err != nil {
		err = fmt.Errorf("write to standard output: %w", err)
	}
	if err == nil {
		_, _ = fmt.Fprintf(stderr, "exported from %s: %s\n", found.Source, found.Summary())
	}
	return err
}

// exportConnection parses the connection string, from standard input if text is "-". Errors never show it.
func exportConnection(text string, stdin io.Reader) (sas.Connection, error) {
	if text == "-" {
		line, err := bufio.NewReader(io.LimitReader(stdin, maxConnectionString)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return sas.Connection{}, fmt.Errorf("read the connection string from standard input: %w", err)
		}
		text = line
	}
	if strings.TrimSpace(text) == "" {
		return sas.Connection{}, fmt.Errorf("minibus export needs a connection string: as an argument, as %s, or - for standard input",
			config.ConnectionVariable)
	}
	if !strings.Contains(text, "=") && !strings.Contains(text, ";") {
		return sas.Connection{}, errors.New("minibus export takes a connection string, Endpoint=sb://..., and what it was given is none; " +
			"the file to write is named with --out")
	}
	c, err := sas.ParseConnection(strings.Trim(strings.TrimSpace(text), `"'`))
	if err != nil && !strings.Contains(text, ";") {
		return c, fmt.Errorf("%w; in a shell it needs quotation marks, for a semicolon ends a command", err)
	}
	return c, err
}

// replaceFile writes a file whole or not at all. It follows links, and writes directly to pipes and devices such as /dev/stdout.
func replaceFile(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return outError("the export", path, err)
		}
		return nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
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
