package command

import (
	"errors"
	"fmt"
	"io"

	"minibus/config"
)

// check is the command config check: it prints every finding and fails if one is an error.
func check(c *config.Command, stdout io.Writer) error {
	named := c.File
	if named == "" {
		named = c.Settings.Config
	}
	path, ok := config.Find(named)
	if !ok {
		return errors.New("there is nothing to check: name a file, minibus config check FILE")
	}
	t, report, err := config.Load(path, c.Settings.Limits)
	if err != nil {
		return err
	}
	for _, f := range report.Findings {
		_, _ = fmt.Fprintln(stdout, f)
	}
	if report.Omitted > 0 {
		_, _ = fmt.Fprintf(stdout, "and %s\n", config.Plural(report.Omitted, "more finding"))
	}
	if n := report.Count(config.Error); n > 0 {
		_, _ = fmt.Fprintf(stdout, "%s: %s\n", path, config.Plural(n, "error"))
		return errSilent
	}
	_, _ = fmt.Fprintf(stdout, "%s: good: %s\n", path, t.Summary())
	return nil
}
